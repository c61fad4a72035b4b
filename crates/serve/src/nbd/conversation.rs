//! One client's conversation over any byte stream: the handshake, then requests in the order in
//! which they arrive.
//!
//! Each read takes as many bytes as the stream has, and every complete request among them runs.
//! Replies are sent in batches, so that a client that queues requests works on the first replies
//! while the next requests run: two system calls for a single request, fewer for several.
//! A client takes at most one payload in and one reply out of memory, of 2 MiB each; what is larger
//! comes out of a [`PayloadBudget`] of all clients. Where commands take time, requests run side by
//! side instead ([`overlapped`]), unless they are encrypted.

use super::budget::{FREE_BYTES, PayloadBudget};
use super::direct::DirectReceiver;
use super::execute::Executor;
use super::handshake::{Encryption, Export, Handshake, HandshakeStep, NbdSession};
use super::head::RequestHead;
use super::input::{READ_BYTES, ReceiveBuffer, is_silence};
use super::overlapped;
use super::reply::Reply;
use super::wire::*;
use crate::lint::{Lint, SessionNotes};
use crate::sectors::SharedDrive;
use crate::socket::SocketStream;
use std::io::{self, Read, Write};

/// Bytes of pending replies at which they are sent although more requests wait: the client copies
/// them in the meantime.
const BATCH_BYTES: usize = 64 << 10;
/// Number of requests run after which pending replies are sent.
const BATCH_REQUESTS: usize = 8;
/// Number of writes received straight into their places after which replies are sent.
const BATCH_LANDED: usize = 4;
/// Capacity that a buffer keeps.
const KEEP_BYTES: usize = FREE_BYTES;

/// The server's side of one connection.
pub struct Conversation<'a> {
    drive: &'a SharedDrive,
    lint: &'a Lint,
    budget: &'a PayloadBudget,
    fua_offered: bool,
    handshake: Handshake,
    input: ReceiveBuffer,
    socket: Option<&'a SocketStream>,
}

/// The end of a handshake, or of the part of it without TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeResult {
    /// Requests follow.
    Transmit(NbdSession),
    /// The client begins TLS; the handshake continues inside.
    Encrypt,
    /// None; the connection ends.
    None,
}

impl<'a> Conversation<'a> {
    /// Offers `drive` as `export`; notes of the session go to `lint`.
    pub fn new(
        drive: &'a SharedDrive,
        lint: &'a Lint,
        budget: &'a PayloadBudget,
        export: Export,
        encryption: Encryption,
    ) -> Self {
        Self {
            drive,
            lint,
            budget,
            fua_offered: export.flags & SEND_FUA != 0,
            handshake: Handshake::new(export, encryption),
            input: ReceiveBuffer::new(),
            socket: None,
        }
    }

    /// The same over this socket, without encryption: the stream that requests come from is it, and
    /// large writes may be received straight into where the drive keeps them.
    pub fn over(self, socket: &'a SocketStream) -> Self {
        let socket = Some(socket);
        Self { socket, ..self }
    }

    /// Runs the handshake, or after [`HandshakeResult::Encrypt`] the rest of it. Once the client
    /// wants to begin transmission, `admit` grants or refuses that, with the reason for the client.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn shake_hands<S: Read + Write>(
        &mut self,
        stream: &mut S,
        mut admit: impl FnMut() -> Result<(), String>,
    ) -> io::Result<HandshakeResult> {
        loop {
            let (taken, mut step) = self.handshake.feed(self.input.ready());
            self.input.take(taken);
            if let HandshakeStep::Transmit(_) = step
                && let Err(why) = admit()
            {
                step = self.handshake.refuse(&why);
            }
            stream.write_all(&self.handshake.out)?;
            stream.flush()?;
            self.handshake.out.clear();
            match step {
                HandshakeStep::Transmit(session) => return Ok(HandshakeResult::Transmit(session)),
                // Bytes that arrive before our reply may be injected; refuse TLS.
                HandshakeStep::Encrypt if self.input.ready().is_empty() => {
                    return Ok(HandshakeResult::Encrypt);
                }
                HandshakeStep::Encrypt | HandshakeStep::Close(_) => {
                    return Ok(HandshakeResult::None);
                }
                HandshakeStep::More if self.input.fill(stream, READ_BYTES)? == 0 => {
                    return Ok(HandshakeResult::None);
                }
                HandshakeStep::More => {}
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
        session: NbdSession,
        name: String,
        stream: &mut S,
    ) -> io::Result<()> {
        let mut executor = Executor {
            drive: self.drive,
            session,
            notes: SessionNotes::new(name, self.fua_offered),
            coverage: &self.lint.coverage,
        };
        let (budget, input) = (self.budget, &mut self.input);
        let result = match self.socket {
            Some(socket) if self.drive.takes_time() => {
                overlapped::run(&mut executor, budget, socket, input)
            }
            socket => {
                let direct = socket.map(DirectReceiver::from);
                run_requests(&mut executor, budget, stream, direct, input)
            }
        };
        self.lint.keep(executor.notes);
        result
    }
}

fn run_requests<S: Read + Write>(
    executor: &mut Executor<'_>,
    budget: &PayloadBudget,
    stream: &mut S,
    mut direct: Option<DirectReceiver<'_>>,
    input: &mut ReceiveBuffer,
) -> io::Result<()> {
    let (mut replies, mut payload) = (Replies::default(), Vec::new());
    loop {
        let Some(head) = RequestHead::next(executor.session.extended, input.ready()) else {
            let way = direct.as_ref().filter(|way| way.is_usual());
            if !receive_head(executor, stream, way, input, &mut replies, &mut payload)? {
                return Ok(());
            }
            continue;
        };
        let Some((request, head_bytes)) = head.request() else {
            return replies.send(executor, stream);
        };
        if request.command == CMD_DISC {
            executor.notes.said_goodbye = true;
            return replies.send(executor, stream);
        }
        let bytes = request.payload() as usize;
        let whole = head_bytes + bytes;
        if PayloadBudget::is_asked_for(&request) {
            input.take(head_bytes);
            replies.send(executor, stream)?;
            run_large(executor, budget, &request, stream, input)?;
            continue;
        }
        if let Some(from) = input.ready().get(head_bytes..whole) {
            executor.run(&request, from, &mut replies.out);
            input.take(whole);
        } else if let Some(way) = &mut direct
            && let Some(room) = way.landing(executor, &request)
        {
            input.take(head_bytes);
            let before_waiting = |stream: &mut S| replies.send(executor, stream);
            let landed = way.receive(room, stream, input, before_waiting)?;
            executor.run_landed(&request, landed, &mut replies.out);
            replies.end(executor, stream, BATCH_LANDED, &request)?;
            continue;
        } else if whole <= READ_BYTES {
            replies.send(executor, stream)?;
            if receive(stream, input, READ_BYTES, [&mut replies.out, &mut payload])? == 0 {
                return Ok(());
            }
            continue;
        } else {
            input.take(head_bytes);
            replies.send(executor, stream)?;
            input.collect(stream, bytes, &mut payload)?;
            executor.run(&request, &payload, &mut replies.out);
            payload.clear();
        }
        direct
            .iter_mut()
            .for_each(|way| way.came_otherwise(&request));
        replies.end(executor, stream, BATCH_REQUESTS, &request)?;
    }
}

/// Receives the next head, alone if its payload may go `way`, or more; false at the end of the
/// stream. Replies are sent before the client is waited for.
fn receive_head<S: Read + Write>(
    executor: &mut Executor<'_>,
    stream: &mut S,
    way: Option<&DirectReceiver<'_>>,
    input: &mut ReceiveBuffer,
    replies: &mut Replies,
    payload: &mut Vec<u8>,
) -> io::Result<bool> {
    let missing = RequestHead::bytes(executor.session.extended) - input.ready().len();
    if let Some(way) = way
        && way.head_now(input, missing)?
    {
        return Ok(true);
    }
    replies.send(executor, stream)?;
    let most = if way.is_some() { missing } else { READ_BYTES };
    Ok(receive(stream, input, most, [&mut replies.out, payload])? > 0)
}

/// Runs a large read or write, if there is memory for it.
fn run_large<S: Read + Write>(
    executor: &mut Executor<'_>,
    budget: &PayloadBudget,
    request: &ExtendedRequest,
    stream: &mut S,
    input: &mut ReceiveBuffer,
) -> io::Result<()> {
    let bytes = request.payload() as usize;
    let mut replies = Replies::default();
    let share = budget.share(request);
    if let Err((number, text)) = &share {
        input.skip(stream, bytes)?;
        executor.notes.errors += 1;
        executor
            .reply(request)
            .error(&mut replies.out, *number, text);
    } else {
        let mut payload = Vec::new();
        input.collect(stream, bytes, &mut payload)?;
        executor.run(request, &payload, &mut replies.out);
    }
    replies.begun.push(executor.reply(request));
    replies.send(executor, stream)
}

/// Receives more bytes. While the client is silent, it gives back the memory of its buffers.
fn receive<S: Read>(
    stream: &mut S,
    input: &mut ReceiveBuffer,
    most: usize,
    buffers: [&mut Vec<u8>; 2],
) -> io::Result<usize> {
    let [out, payload] = buffers;
    loop {
        match input.fill(stream, most) {
            Err(error) if is_silence(&error) => {
                input.rest();
                (*out, *payload) = (Vec::new(), Vec::new());
            }
            result => return result,
        }
    }
}

/// Replies that were not sent yet.
#[derive(Default)]
struct Replies {
    out: Vec<u8>,
    /// Each of them, without its content.
    begun: Vec<Reply>,
}

impl Replies {
    /// The reply to this request is complete; of `most` of them the last sends all.
    fn end<S: Write>(
        &mut self,
        executor: &mut Executor<'_>,
        stream: &mut S,
        most: usize,
        request: &ExtendedRequest,
    ) -> io::Result<()> {
        self.begun.push(executor.reply(request));
        if self.out.len() >= BATCH_BYTES || self.begun.len() >= most {
            self.send(executor, stream)?;
        }
        Ok(())
    }

    /// Sends them once the drive has settled what they acknowledge. Where it cannot, all of them
    /// are its error: what one reads may be what another wrote.
    fn send<S: Write>(&mut self, executor: &mut Executor<'_>, stream: &mut S) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        if let Err(error) = executor.drive.settle() {
            executor.refuse_all(&self.begun, error, &mut self.out);
        }
        stream.write_all(&self.out)?;
        stream.flush()?;
        self.begun.clear();
        self.out.clear();
        self.out.shrink_to(KEEP_BYTES);
        Ok(())
    }
}
