//! One client's conversation over any byte stream: the handshake, then requests in the order in
//! which they arrive.
//!
//! Each read takes as many bytes as the stream has, and every complete request among them runs.
//! Replies are sent in batches, so that a client that queues requests works on the first replies
//! while the next requests run: two system calls for a single request, fewer for several.
//! Memory is bounded by one payload in and one reply out.

use super::execute::Executor;
use super::handshake::{Export, Handshake, Session, Step};
use super::input::{Input, READ_BYTES};
use super::wire::*;
use crate::lint::{Lint, SessionNotes};
use crate::sectors::Sectors;
use std::io::{self, Read, Write};

/// Bytes of pending replies at which they are sent although more requests wait: the client copies
/// them in the meantime.
const BATCH_BYTES: usize = 64 << 10;
/// Number of requests run after which pending replies are sent.
const BATCH_REQUESTS: usize = 8;
/// Capacity beyond which a buffer is shrunk after use.
const KEEP_BYTES: usize = 2 << 20;

/// The server's side of one connection.
pub struct Conversation<'a> {
    drive: &'a Sectors,
    lint: &'a Lint,
    export: Export,
    input: Input,
}

impl<'a> Conversation<'a> {
    /// Offers `drive` as `export`; notes of the session go to `lint`.
    pub fn new(drive: &'a Sectors, lint: &'a Lint, export: Export) -> Self {
        Self {
            drive,
            lint,
            export,
            input: Input::new(),
        }
    }

    /// Runs the handshake. Returns `None` if it ended without an agreement.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn shake_hands<S: Read + Write>(&mut self, stream: &mut S) -> io::Result<Option<Session>> {
        let mut handshake = Handshake::new(self.export.clone());
        loop {
            let (taken, step) = handshake.feed(self.input.ready());
            self.input.take(taken);
            stream.write_all(&handshake.out)?;
            handshake.out.clear();
            match step {
                Step::Transmit(session) => return Ok(Some(session)),
                Step::Close(_) => return Ok(None),
                Step::More if self.input.fill(stream)? == 0 => return Ok(None),
                Step::More => {}
            }
        }
    }

    /// Serves requests until the client disconnects, breaks the protocol or the stream ends. The
    /// notes of the session are kept under `name`.
    ///
    /// # Errors
    /// When the stream fails, or the drive cannot settle what was done.
    pub fn transmit<S: Read + Write>(
        mut self,
        session: Session,
        name: String,
        stream: &mut S,
    ) -> io::Result<()> {
        let fua_offered = self.export.flags & SEND_FUA != 0;
        let mut executor = Executor {
            drive: self.drive,
            session,
            notes: SessionNotes::new(name, fua_offered),
            coverage: &self.lint.coverage,
        };
        let result = run_requests(&mut executor, stream, &mut self.input);
        self.lint.keep(executor.notes);
        result
    }
}

fn run_requests<S: Read + Write>(
    executor: &mut Executor<'_>,
    stream: &mut S,
    input: &mut Input,
) -> io::Result<()> {
    let mut out = Vec::with_capacity(BATCH_BYTES);
    let mut payload = Vec::new();
    let mut batched = 0;
    loop {
        let Some(head) = input.ready().first_chunk::<REQUEST_BYTES>() else {
            send(executor, stream, &mut out)?;
            if input.fill(stream)? == 0 {
                return Ok(());
            }
            continue;
        };
        let Some(request) = Request::parse(head) else {
            return send(executor, stream, &mut out);
        };
        if request.command == CMD_DISC {
            executor.notes.said_goodbye = true;
            return send(executor, stream, &mut out);
        }
        let bytes = request.payload() as usize;
        let whole = REQUEST_BYTES + bytes;
        if let Some(from) = input.ready().get(REQUEST_BYTES..whole) {
            executor.run(&request, from, &mut out);
            input.take(whole);
        } else if whole <= READ_BYTES {
            send(executor, stream, &mut out)?;
            if input.fill(stream)? == 0 {
                return Ok(());
            }
        } else {
            input.take(REQUEST_BYTES);
            send(executor, stream, &mut out)?;
            if request.length > PAYLOAD_MAX {
                input.skip(stream, bytes)?;
                let text = format!("more than {PAYLOAD_MAX} bytes in one write");
                executor.notes.errors += 1;
                executor.refuse(request.cookie, EINVAL, &text, &mut out);
            } else {
                input.collect(stream, bytes, &mut payload)?;
                executor.run(&request, &payload, &mut out);
                clear(&mut payload);
            }
        }
        batched += 1;
        if out.len() >= BATCH_BYTES || batched >= BATCH_REQUESTS {
            send(executor, stream, &mut out)?;
            batched = 0;
        }
    }
}

/// Sends the pending replies once the drive has settled what they acknowledge.
fn send<S: Write>(executor: &Executor<'_>, stream: &mut S, out: &mut Vec<u8>) -> io::Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    executor.drive.settle().map_err(io::Error::other)?;
    stream.write_all(out)?;
    clear(out);
    Ok(())
}

fn clear(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(KEEP_BYTES);
}
