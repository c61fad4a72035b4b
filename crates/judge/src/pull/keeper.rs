//! `ssdlab pull ledger`: keeps a ledger for a writer on another machine.
//!
//! The newest writer has the ledger: one whose host lost power cannot say goodbye. An older one
//! is refused from then on.

use super::frames::{FramePosition, PAYLOAD_MAX};
use super::ledger::LedgerFile;
use super::wire::{HELLO, LedgerRequest, answer, refuse};
use ssdlab_base::LabError;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

struct KeeperState {
    file: LedgerFile,
    end: FramePosition,
    /// Number of the newest writer.
    writer: u64,
}

/// A ledger that listens.
pub struct Keeper {
    listener: TcpListener,
    kept: Arc<Mutex<KeeperState>>,
}

impl Keeper {
    /// Opens or creates the ledger in `file`, and listens at `address`.
    ///
    /// # Errors
    /// When the file cannot be used ([`LedgerFile::open`]) or the address not be had.
    pub fn new(address: &str, file: &Path) -> Result<Keeper, LabError> {
        let (file, contents) = LedgerFile::open(file)?;
        let no = |error: io::Error| {
            LabError::refused(
                format!("cannot listen at {address}: {error}"),
                "an address of this machine and a free port, as in 192.0.2.7:7040",
            )
        };
        let listener = TcpListener::bind(address).map_err(no)?;
        listener.set_nonblocking(true).map_err(no)?;
        let state = KeeperState {
            file,
            end: contents.end,
            writer: 0,
        };
        Ok(Keeper {
            listener,
            kept: Arc::new(Mutex::new(state)),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> Result<SocketAddr, LabError> {
        let no = |error: io::Error| LabError::refused(format!("listening: {error}"), "");
        self.listener.local_addr().map_err(no)
    }

    /// Serves until `stop`.
    pub fn serve(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let state = Arc::clone(&self.kept);
                    // A connection that fails concerns its client, which says so.
                    std::thread::spawn(move || serve_one(stream, &state));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

fn serve_one(mut stream: TcpStream, shared_state: &Mutex<KeeperState>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let mut hello = [0; HELLO.len() + 1];
    stream.read_exact(&mut hello)?;
    let wish = LedgerRequest::from_byte(hello[HELLO.len()]);
    let Some(wish) = wish.filter(|_| hello[..HELLO.len()] == HELLO[..]) else {
        return refuse(&mut stream, "this is a ledger of `ssdlab pull`");
    };
    let (writer, len, bytes) = {
        let mut state = shared_state.lock().unwrap_or_else(PoisonError::into_inner);
        state.writer += u64::from(wish != LedgerRequest::Read);
        let bytes = match wish {
            LedgerRequest::Continue => Ok(Vec::new()),
            LedgerRequest::Read | LedgerRequest::Write => state.file.bytes(state.end.len),
        };
        (state.writer, state.end.len, bytes)
    };
    match bytes {
        Ok(bytes) => {
            answer(&mut stream, len)?;
            stream.write_all(&bytes)?;
        }
        Err(error) => return refuse(&mut stream, &error.to_string()),
    }
    if wish == LedgerRequest::Read {
        return Ok(());
    }
    loop {
        let mut len = [0; 4];
        stream.read_exact(&mut len)?;
        let len = u32::from_le_bytes(len) as usize;
        if len > PAYLOAD_MAX + 64 {
            return refuse(&mut stream, "a frame that is too large");
        }
        let mut frame = Vec::new();
        (&mut stream).take(len as u64).read_to_end(&mut frame)?;
        match append(shared_state, writer, &frame) {
            Ok(len) => answer(&mut stream, len)?,
            Err(why) => return refuse(&mut stream, &why),
        }
    }
}

fn append(shared_state: &Mutex<KeeperState>, writer: u64, frame: &[u8]) -> Result<u64, String> {
    let mut state = shared_state.lock().unwrap_or_else(PoisonError::into_inner);
    if state.writer != writer {
        return Err("a newer writer has it".into());
    }
    let (position, after) = (state.end, state.end.after(frame));
    let after = after.ok_or("a frame that does not follow the last one")?;
    let written = state.file.append(frame, position);
    written.map_err(|error| error.to_string())?;
    state.end = after;
    Ok(after.len)
}
