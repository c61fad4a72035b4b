//! Sockets and threads: one thread for each client, requests run in the order they arrive.
//!
//! A thread reads as much as the socket holds and runs every whole request of it. Replies are
//! sent some at a time, so that a client that queues works on the first while the next are done:
//! two system calls for a request alone, fewer when there are more.
//! Memory of a client is bounded by one payload in and one reply out, and a payload's room
//! grows only as its bytes arrive.

use super::eager::Eager;
use super::execute::Executor;
use super::handshake::{Export, Handshake, Session, Step};
use super::wire::*;
use crate::clients::{Clients, Listening};
use crate::lint::{Lint, SessionNotes};
use crate::sectors::Sectors;
use crate::socket::{Address, Stream};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// Bytes asked of a socket at once.
const INPUT: usize = 256 << 10;
/// Room for what was received: what is left of a request is moved to its beginning when less than
/// [`INPUT`] is behind it.
const HELD: usize = 1 << 20;
/// Replies are sent when so many bytes have gathered, though more requests wait: the client
/// copies them meanwhile.
const OUTPUT: usize = 64 << 10;
/// The same of requests answered.
const ANSWERS: usize = 8;
/// Room for replies on their way, so that the next request is run while the client takes them.
const ROOM: usize = 1 << 20;
/// A buffer that has grown beyond this is given back after use.
const KEEP: usize = 2 << 20;

/// How the drive is offered.
#[derive(Debug, Clone)]
pub struct NbdOptions {
    /// Name of the export; the empty name is always good too.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Whether FUA is offered.
    pub fua: bool,
    /// Clients at once; more are hung up on.
    pub clients_max: usize,
    /// How long a client may be silent in the handshake.
    pub handshake_patience: Duration,
}

impl Default for NbdOptions {
    fn default() -> Self {
        Self {
            name: "drive".to_string(),
            description: "a modelled SSD".to_string(),
            fua: true,
            clients_max: 32,
            handshake_patience: Duration::from_secs(30),
        }
    }
}

impl NbdOptions {
    /// What a client is told of `drive`.
    pub fn export(&self, drive: &Sectors) -> Export {
        let mut flags = HAS_FLAGS | SEND_FLUSH | SEND_TRIM | SEND_WRITE_ZEROES;
        flags |= CAN_MULTI_CONN | SEND_CACHE | SEND_FAST_ZERO;
        if drive.is_read_only() {
            flags |= READ_ONLY;
        }
        if self.fua {
            flags |= SEND_FUA;
        }
        Export {
            name: self.name.clone(),
            description: self.description.clone(),
            size: drive.size(),
            flags,
            block_min: 512,
            block_preferred: drive.sector_size().clamp(4096, 32 << 20) as u32,
        }
    }
}

struct Shared {
    drive: Arc<Sectors>,
    lint: Arc<Lint>,
    options: NbdOptions,
}

/// A server that runs until it is stopped or dropped.
pub struct NbdServer {
    listening: Listening,
}

impl NbdServer {
    /// Serves `drive` at `address`; notes of each client go to `lint`.
    ///
    /// # Errors
    /// When the address cannot be listened to.
    pub fn start(
        drive: Arc<Sectors>,
        lint: Arc<Lint>,
        address: &Address,
        options: NbdOptions,
    ) -> io::Result<Self> {
        let most = options.clients_max;
        let shared = Shared {
            drive,
            lint,
            options,
        };
        let one = move |_: &Clients, stream: Stream, number| {
            let _ = serve(&shared, stream, number);
        };
        let listening = Listening::start(address, "nbd", most, one)?;
        Ok(Self { listening })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        self.listening.address()
    }

    /// Clients at this moment.
    pub fn client_count(&self) -> usize {
        self.listening.client_count()
    }

    /// Hangs up on all clients and waits for their threads.
    pub fn stop(&mut self) {
        self.listening.stop();
    }
}

/// One client from greeting to end.
fn serve(shared: &Shared, mut stream: Stream, number: u64) -> io::Result<()> {
    // A wish: less is slower, no less right.
    let _ = stream.set_send_room(ROOM);
    stream.set_read_timeout(Some(shared.options.handshake_patience))?;
    let mut input = Input::new();
    let Some(session) = shake_hands(shared, &mut stream, &mut input)? else {
        return Ok(());
    };
    stream.set_read_timeout(None)?;
    let notes = SessionNotes::new(format!("nbd {number}"), shared.options.fua);
    let coverage = &shared.lint.coverage;
    let mut executor = Executor {
        drive: &shared.drive,
        session,
        notes,
        coverage,
    };
    let result = transmit(&mut executor, &mut Eager::new(&mut stream), &mut input);
    shared.lint.keep(executor.notes);
    result
}

fn shake_hands(
    shared: &Shared,
    stream: &mut Stream,
    input: &mut Input,
) -> io::Result<Option<Session>> {
    let mut handshake = Handshake::new(shared.options.export(&shared.drive));
    loop {
        let (taken, step) = handshake.feed(input.ready());
        input.take(taken);
        stream.write_all(&handshake.out)?;
        handshake.out.clear();
        match step {
            Step::Transmit(session) => return Ok(Some(session)),
            Step::Close(_) => return Ok(None),
            Step::More if input.fill(stream)? == 0 => return Ok(None),
            Step::More => {}
        }
    }
}

/// Requests until the client goes, breaks the protocol or the connection ends.
fn transmit<S: Read + Write>(
    executor: &mut Executor<'_>,
    stream: &mut S,
    input: &mut Input,
) -> io::Result<()> {
    let mut out = Vec::with_capacity(64 << 10);
    let mut payload = Vec::new();
    let mut answers = 0;
    loop {
        let Some(head) = input.ready().first_chunk::<REQUEST_BYTES>() else {
            tell(executor, stream, &mut out)?;
            if input.fill(stream)? == 0 {
                return Ok(());
            }
            continue;
        };
        let Some(request) = Request::parse(head) else {
            return tell(executor, stream, &mut out);
        };
        if request.command == CMD_DISC {
            executor.notes.said_goodbye = true;
            return tell(executor, stream, &mut out);
        }
        let bytes = request.payload() as usize;
        let whole = REQUEST_BYTES + bytes;
        if let Some(from) = input.ready().get(REQUEST_BYTES..whole) {
            executor.run(&request, from, &mut out);
            input.take(whole);
        } else if whole <= INPUT {
            tell(executor, stream, &mut out)?;
            if input.fill(stream)? == 0 {
                return Ok(());
            }
        } else {
            input.take(REQUEST_BYTES);
            tell(executor, stream, &mut out)?;
            if request.length > PAYLOAD_MAX {
                input.skip(stream, bytes)?;
                let text = format!("more than {PAYLOAD_MAX} bytes in one write");
                executor.notes.errors += 1;
                executor.refuse(request.cookie, EINVAL, &text, &mut out);
            } else {
                input.collect(stream, bytes, &mut payload)?;
                executor.run(&request, &payload, &mut out);
                reuse(&mut payload);
            }
        }
        answers += 1;
        if out.len() >= OUTPUT || answers >= ANSWERS {
            tell(executor, stream, &mut out)?;
            answers = 0;
        }
    }
}

/// Sends replies, once what they tell is settled.
fn tell<S: Write>(executor: &Executor<'_>, stream: &mut S, out: &mut Vec<u8>) -> io::Result<()> {
    if !out.is_empty() {
        let settled = executor.drive.settle();
        settled.map_err(|error| io::Error::other(error.to_string()))?;
    }
    send(stream, out)
}

fn send<S: Write>(stream: &mut S, out: &mut Vec<u8>) -> io::Result<()> {
    if !out.is_empty() {
        stream.write_all(out)?;
        reuse(out);
    }
    Ok(())
}

fn reuse(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(KEEP);
}

/// Bytes received and not yet used.
struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Input {
    fn new() -> Self {
        Self {
            bytes: vec![0; HELD].into(),
            start: 0,
            end: 0,
        }
    }

    fn ready(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    fn take(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Room for what comes next.
    fn room(&mut self) -> &mut [u8] {
        if HELD - self.end < INPUT {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.bytes[self.end..][..INPUT]
    }

    /// Receives what there is; 0 when the client has gone.
    fn fill<S: Read>(&mut self, stream: &mut S) -> io::Result<usize> {
        let got = read_some(stream, self.room())?;
        self.end += got;
        Ok(got)
    }

    /// Moves the next `count` bytes into `payload`, whose room grows as they arrive.
    fn collect<S: Read>(
        &mut self,
        stream: &mut S,
        count: usize,
        payload: &mut Vec<u8>,
    ) -> io::Result<()> {
        payload.clear();
        let here = self.ready().len().min(count);
        payload.extend(&self.ready()[..here]);
        self.take(here);
        while payload.len() < count {
            let had = payload.len();
            payload.resize(count.min(had + had.max(1 << 20)), 0);
            stream.read_exact(&mut payload[had..])?;
        }
        Ok(())
    }

    /// Receives and forgets `count` bytes.
    fn skip<S: Read>(&mut self, stream: &mut S, mut count: usize) -> io::Result<()> {
        while count > 0 {
            if self.ready().is_empty() && self.fill(stream)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let here = self.ready().len().min(count);
            self.take(here);
            count -= here;
        }
        Ok(())
    }
}

fn read_some<S: Read>(stream: &mut S, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
