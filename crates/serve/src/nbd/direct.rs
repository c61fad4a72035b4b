//! Large writes straight from a client's socket into where the store keeps their bytes.
//!
//! A pipe passes on the memory in which the kernel has received them, so that they are copied once
//! instead of twice. The head of a request is then received alone: behind it lies what goes
//! elsewhere. Other requests come in large pieces, through memory.

use super::execute::Executor;
use super::input::{ReceiveBuffer, is_silence};
use super::wire::{CMD_WRITE, ExtendedRequest};
use crate::landing::StoreLanding;
use crate::socket::SocketStream;
use crate::store::StoreError;
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

/// Bytes of a write from which the way through the pipe is the shorter one.
const BYTES_MIN: usize = 64 << 10;

/// Size of the pipe.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 256 << 10;
/// Large writes that come through memory after one for which the store had no room.
const PAUSE: u32 = 32;

fn fits(request: &ExtendedRequest) -> bool {
    request.command == CMD_WRITE && request.payload() as usize >= BYTES_MIN
}

/// The direct way from one client's socket.
pub(super) struct DirectReceiver<'a> {
    socket: &'a SocketStream,
    /// Its two ends, once it is used; it is empty between two uses.
    pipe: Option<(OwnedFd, OwnedFd)>,
    /// Whether the next request may come this way, as the last one might have.
    is_usual: bool,
    /// Large writes until one is tried again.
    pause: u32,
}

/// What has become of a payload.
type LandingResult = Result<Box<dyn StoreLanding>, StoreError>;

impl<'a> DirectReceiver<'a> {
    /// From a socket whose bytes are what the client says.
    pub fn from(socket: &'a SocketStream) -> DirectReceiver<'a> {
        DirectReceiver {
            socket,
            pipe: None,
            is_usual: false,
            pause: 0,
        }
    }

    /// Whether the head of the next request is received alone.
    pub fn is_usual(&self) -> bool {
        self.is_usual
    }

    /// A request came through memory.
    pub fn came_otherwise(&mut self, request: &ExtendedRequest) {
        let is_large = fits(request);
        self.is_usual = is_large && self.pause == 0;
        self.pause = self.pause.saturating_sub(is_large.into());
    }

    /// Room for the payload of a request, if it goes this way.
    pub fn landing(
        &mut self,
        executor: &mut Executor<'_>,
        request: &ExtendedRequest,
    ) -> Option<Box<dyn StoreLanding>> {
        if self.pause > 0 || !fits(request) {
            return None;
        }
        let landing = executor.landing(request);
        match landing {
            Some(_) => self.is_usual = true,
            None => self.pause = PAUSE,
        }
        landing
    }

    /// Receives up to `most` bytes into `input`, if some are there.
    pub fn head_now(&self, input: &mut ReceiveBuffer, most: usize) -> io::Result<bool> {
        let mut stream = NonblockingSocket(self.socket);
        match input.fill(&mut stream, most) {
            Err(error) if is_silence(&error) => Ok(false),
            got => Ok(got? > 0),
        }
    }

    /// Receives all that is missing: first from `input`, which has the beginning. `before_waiting`
    /// is called when the client must send more.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn receive<S: Read>(
        &mut self,
        mut landing: Box<dyn StoreLanding>,
        stream: &mut S,
        input: &mut ReceiveBuffer,
        mut before_waiting: impl FnMut(&mut S) -> io::Result<()>,
    ) -> io::Result<LandingResult> {
        let mut missing = landing.missing();
        let available = input.ready().len().min(missing);
        let mut stored = landing.put(&input.ready()[..available]);
        input.take(available);
        missing -= available;
        let mut may_wait = false;
        while missing > 0 && stored.is_ok() {
            match self.next(missing, may_wait) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(got) => {
                    stored = self.pass_on(&mut *landing, got);
                    missing -= got;
                }
                Err(Errno::AGAIN) if !may_wait => {
                    before_waiting(stream)?;
                    may_wait = true;
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::INVAL | Errno::NOSYS | Errno::MFILE | Errno::NFILE) => {
                    self.pause = u32::MAX;
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        while missing > 0 && stored.is_ok() {
            // Without a pipe.
            before_waiting(stream)?;
            if input.wait(stream)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let available = input.ready().len().min(missing);
            stored = landing.put(&input.ready()[..available]);
            input.take(available);
            missing -= available;
        }
        input.skip(stream, missing)?;
        Ok(stored.map(|()| landing).map_err(not_kept))
    }

    /// Other systems have no such way.
    #[cfg(not(target_os = "linux"))]
    fn next(&mut self, _most: usize, _may_wait: bool) -> Result<usize, Errno> {
        Err(Errno::INVAL)
    }

    /// Lets up to `most` of the next bytes into the pipe.
    #[cfg(target_os = "linux")]
    fn next(&mut self, most: usize, may_wait: bool) -> Result<usize, Errno> {
        let flags = match (may_wait, self.socket) {
            (false, SocketStream::Unix(_)) => SpliceFlags::NONBLOCK,
            // With TCP the flag is about the pipe only.
            (false, SocketStream::Tcp(_)) => return Err(Errno::AGAIN),
            (true, _) => SpliceFlags::empty(),
        };
        if self.pipe.is_none() {
            let ends = pipe_with(PipeFlags::CLOEXEC)?;
            // A smaller one is slower and just as correct.
            let _ = fcntl_setpipe_size(&ends.1, PIPE_BYTES);
            self.pipe = Some(ends);
        }
        let Some((_, into)) = &self.pipe else {
            return Err(Errno::INVAL);
        };
        match self.socket {
            SocketStream::Unix(socket) => splice(socket, None, into, None, most, flags),
            SocketStream::Tcp(socket) => splice(socket, None, into, None, most, flags),
        }
    }

    fn pass_on(&mut self, landing: &mut dyn StoreLanding, count: usize) -> io::Result<()> {
        let Some((from, _)) = &self.pipe else {
            return Ok(());
        };
        landing.splice(from.as_fd(), count).inspect_err(|_| {
            // Something is left in it.
            self.pipe = None;
        })
    }
}

fn not_kept(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::NoSpace(error.to_string())
        }
        _ => StoreError::Io(error.to_string()),
    }
}

/// A socket of which only what has come is read.
struct NonblockingSocket<'a>(&'a SocketStream);

impl Read for NonblockingSocket<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.0.read_now(into)?;
        got.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }
}
