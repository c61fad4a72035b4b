//! A ledger over TCP: the writer's end, and the messages that both ends use.
//!
//! The client says [`HELLO`] and what it wants. The server answers with the length of the ledger
//! and, if asked, its bytes. A writer then sends frames, each with its length before it, and has
//! one answer for each: the length of the ledger once the frame is on the server's disk. An answer
//! begins with 0; 1 is an error with its text. When the connection is lost, the writer connects
//! again for [`PATIENCE`] and sends the frame once more unless the ledger already has it.
//!
//! There is no encryption and no authentication: use it on a trusted network.

use super::frames::FramePosition;
use ssdlab_base::LabError;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// First bytes of a connection; the wish follows as one byte.
pub const HELLO: &[u8; 15] = b"ssdlab pull 1\n\0";
/// A writer looks for the ledger again for this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// At first, as long as a ledger takes to be started again.
const RESTART: Duration = Duration::from_secs(5);
/// A ledger that says nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(30);
/// Largest ledger or error text that is believed.
const LEN_MAX: u64 = 1 << 36;

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerRequest {
    /// The bytes.
    Read = 0,
    /// The bytes, and then to append.
    Write = 1,
    /// To append, after a lost connection.
    Continue = 2,
}

impl LedgerRequest {
    /// From its byte.
    pub fn from_byte(byte: u8) -> Option<LedgerRequest> {
        [
            LedgerRequest::Read,
            LedgerRequest::Write,
            LedgerRequest::Continue,
        ]
        .into_iter()
        .find(|wish| *wish as u8 == byte)
    }
}

/// Sends a good answer.
///
/// # Errors
/// When the connection is lost.
pub fn answer(stream: &mut TcpStream, len: u64) -> io::Result<()> {
    let mut bytes = [0; 9];
    bytes[1..].copy_from_slice(&len.to_le_bytes());
    stream.write_all(&bytes)
}

/// Sends a refusal.
///
/// # Errors
/// When the connection is lost.
pub fn refuse(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    let mut bytes = vec![1];
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
    stream.write_all(&bytes)
}

enum LedgerWireError {
    /// The connection: another try may help.
    Lost(io::Error),
    /// The ledger's word.
    Refused(String),
}

impl From<io::Error> for LedgerWireError {
    fn from(error: io::Error) -> LedgerWireError {
        LedgerWireError::Lost(error)
    }
}

fn hear(stream: &mut TcpStream) -> Result<u64, LedgerWireError> {
    let mut bytes = [0; 9];
    stream.read_exact(&mut bytes)?;
    let mut len = [0; 8];
    len.copy_from_slice(&bytes[1..]);
    let len = u64::from_le_bytes(len);
    let foreign = || io::Error::new(io::ErrorKind::InvalidData, "not a ledger's answer");
    match bytes[0] {
        _ if len > LEN_MAX => Err(foreign().into()),
        0 => Ok(len),
        1 => {
            let mut text = Vec::new();
            stream.take(len.min(1 << 16)).read_to_end(&mut text)?;
            Err(LedgerWireError::Refused(
                String::from_utf8_lossy(&text).into_owned(),
            ))
        }
        _ => Err(foreign().into()),
    }
}

/// The writer's end.
pub struct RemoteLedger {
    address: String,
    stream: TcpStream,
    /// The connection is not to be used any more.
    lost: bool,
}

impl RemoteLedger {
    /// Connects as a writer, and reads the ledger.
    ///
    /// # Errors
    /// When there is no ledger, or it refuses.
    pub fn open(address: &str) -> Result<(RemoteLedger, Vec<u8>), LabError> {
        let (stream, bytes) = all(address, LedgerRequest::Write)?;
        let remote = RemoteLedger {
            address: address.to_owned(),
            stream,
            lost: false,
        };
        Ok((remote, bytes))
    }

    /// Reads the ledger.
    ///
    /// # Errors
    /// When no ledger answers at `address`, or it refuses.
    pub fn read(address: &str) -> Result<Vec<u8>, LabError> {
        all(address, LedgerRequest::Read).map(|(_, bytes)| bytes)
    }

    /// Appends a frame at its place.
    ///
    /// # Errors
    /// When the ledger refuses, or cannot be reached any more.
    pub fn append(&mut self, frame: &[u8], at: FramePosition) -> Result<(), LabError> {
        let until = Instant::now() + PATIENCE;
        let error = loop {
            let error = match self.try_append(frame, at) {
                Ok(()) => return Ok(()),
                Err(LedgerWireError::Refused(why)) => return Err(refused(&self.address, &why)),
                Err(LedgerWireError::Lost(error)) => error,
            };
            self.lost = true;
            if Instant::now() >= until {
                break error;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        Err(unreachable(&self.address, &error))
    }

    fn try_append(&mut self, frame: &[u8], at: FramePosition) -> Result<(), LedgerWireError> {
        let after = at.len + frame.len() as u64;
        if self.lost {
            self.stream = connect(&self.address, LedgerRequest::Continue)?;
            let len = hear(&mut self.stream)?;
            if len != at.len && len != after {
                return Err(LedgerWireError::Refused(format!(
                    "it has {len} bytes and had confirmed {}",
                    at.len
                )));
            }
            self.lost = false;
            if len == after {
                return Ok(());
            }
        }
        let mut message = (frame.len() as u32).to_le_bytes().to_vec();
        message.extend(frame);
        self.stream.write_all(&message)?;
        match hear(&mut self.stream)? {
            len if len == after => Ok(()),
            len => Err(LedgerWireError::Refused(format!(
                "it has {len} bytes, not {after}"
            ))),
        }
    }
}

fn connect(address: &str, wish: LedgerRequest) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, Duration::from_secs(5)) {
            Ok(mut stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(SILENCE))?;
                stream.set_write_timeout(Some(SILENCE))?;
                stream.write_all(HELLO)?;
                stream.write_all(&[wish as u8])?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn all(address: &str, wish: LedgerRequest) -> Result<(TcpStream, Vec<u8>), LabError> {
    let whole = || -> Result<(TcpStream, Vec<u8>), LedgerWireError> {
        let mut stream = connect(address, wish)?;
        let len = hear(&mut stream)?;
        let mut bytes = Vec::new();
        (&mut stream).take(len).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == len {
            Ok((stream, bytes))
        } else {
            Err(io::Error::from(io::ErrorKind::UnexpectedEof).into())
        }
    };
    let until = Instant::now() + RESTART;
    loop {
        return match whole() {
            Ok(found) => Ok(found),
            Err(LedgerWireError::Lost(_)) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
            Err(LedgerWireError::Lost(error)) => Err(unreachable(address, &error)),
            Err(LedgerWireError::Refused(why)) => Err(refused(address, &why)),
        };
    }
}

fn unreachable(address: &str, error: &io::Error) -> LabError {
    LabError::refused(
        format!("the ledger at tcp:{address} cannot be reached: {error}"),
        "start `ssdlab pull ledger --listen ADDR:PORT --file FILE` there, and run this again: it \
         continues",
    )
}

fn refused(address: &str, why: &str) -> LabError {
    LabError::refused(
        format!("the ledger at tcp:{address} refuses: {why}"),
        "is another `pull run` writing to it?",
    )
}
