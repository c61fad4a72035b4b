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
    /// When the stream fails.
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
    let mut replies = Replies {
        out: Vec::with_capacity(BATCH_BYTES),
        cookies: Vec::with_capacity(BATCH_REQUESTS),
    };
    let mut payload = Vec::new();
    loop {
        let Some(head) = input.ready().first_chunk::<REQUEST_BYTES>() else {
            replies.send(executor, stream)?;
            if input.fill(stream)? == 0 {
                return Ok(());
            }
            continue;
        };
        let Some(request) = Request::parse(head) else {
            return replies.send(executor, stream);
        };
        if request.command == CMD_DISC {
            executor.notes.said_goodbye = true;
            return replies.send(executor, stream);
        }
        let bytes = request.payload() as usize;
        let whole = REQUEST_BYTES + bytes;
        if let Some(from) = input.ready().get(REQUEST_BYTES..whole) {
            executor.run(&request, from, &mut replies.out);
            input.take(whole);
        } else if whole <= READ_BYTES {
            replies.send(executor, stream)?;
            if input.fill(stream)? == 0 {
                return Ok(());
            }
            continue;
        } else {
            input.take(REQUEST_BYTES);
            replies.send(executor, stream)?;
            if request.length > PAYLOAD_MAX {
                input.skip(stream, bytes)?;
                let text = format!("more than {PAYLOAD_MAX} bytes in one write");
                executor.notes.errors += 1;
                executor.refuse(request.cookie, EINVAL, &text, &mut replies.out);
            } else {
                input.collect(stream, bytes, &mut payload)?;
                executor.run(&request, &payload, &mut replies.out);
                clear(&mut payload);
            }
        }
        replies.cookies.push(request.cookie);
        if replies.out.len() >= BATCH_BYTES || replies.cookies.len() >= BATCH_REQUESTS {
            replies.send(executor, stream)?;
        }
    }
}

/// Replies that were not sent yet.
struct Replies {
    out: Vec<u8>,
    /// Of the requests that they answer.
    cookies: Vec<u64>,
}

impl Replies {
    /// Sends them once the drive has settled what they acknowledge. Where it cannot, all of them
    /// are its error: what one reads may be what another wrote.
    fn send<S: Write>(&mut self, executor: &mut Executor<'_>, stream: &mut S) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        if let Err(error) = executor.drive.settle() {
            executor.refuse_all(&self.cookies, error, &mut self.out);
        }
        stream.write_all(&self.out)?;
        self.cookies.clear();
        clear(&mut self.out);
        Ok(())
    }
}

fn clear(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(KEEP_BYTES);
}
