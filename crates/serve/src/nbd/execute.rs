//! Runs one request on the drive and appends its reply to a buffer. No socket here.

use super::handshake::Session;
use super::reply;
use super::wire::*;
use crate::lint::{Coverage, SessionNotes};
use crate::sectors::Sectors;
use crate::store::{Durability, Extent, StoreError, ZeroFlags};

/// Maximum number of extents in one reply to BLOCK_STATUS.
const EXTENTS_MAX: usize = 4096;
/// Length in bytes from which a read is searched for holes.
const SPARSE_MIN: u32 = 128 << 10;

/// Runs the requests of one client.
pub struct Executor<'a> {
    /// The shared drive.
    pub drive: &'a Sectors,
    /// The agreement of the handshake.
    pub session: Session,
    /// Notes on the session.
    pub notes: SessionNotes,
    /// Order of the flushes of all clients.
    pub coverage: &'a Coverage,
}

/// A failed request: error number for the client and message.
struct Failure(u32, String);

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let number = match error {
            StoreError::Off => ESHUTDOWN,
            StoreError::ReadOnly => EPERM,
            StoreError::OutOfRange { .. } => EINVAL,
            StoreError::NoSpace(_) => ENOSPC,
            StoreError::Unsupported => ENOTSUP,
            StoreError::Io(_) => EIO,
        };
        Failure(number, error.to_string())
    }
}

/// The flags that a command accepts; FUA is accepted, without effect, where nothing is written.
fn flags_allowed(command: u16) -> Option<u16> {
    Some(
        FLAG_FUA
            | match command {
                CMD_READ => FLAG_DF,
                CMD_WRITE | CMD_FLUSH | CMD_TRIM | CMD_CACHE => 0,
                CMD_WRITE_ZEROES => FLAG_NO_HOLE | FLAG_FAST_ZERO,
                CMD_BLOCK_STATUS => FLAG_REQ_ONE,
                _ => return None,
            },
    )
}

impl Executor<'_> {
    /// Runs `request` with its payload and appends the reply to `out`.
    pub fn run(&mut self, request: &Request, payload: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        if let Err(Failure(number, text)) = self.try_run(request, payload, out) {
            out.truncate(start);
            self.notes.errors += 1;
            self.refuse(request.cookie, number, &text, out);
        }
    }

    /// Appends a reply that reports an error.
    pub fn refuse(&self, cookie: u64, number: u32, text: &str, out: &mut Vec<u8>) {
        if self.session.structured {
            reply::error(out, cookie, number, text);
        } else {
            reply::simple(out, cookie, number);
        }
    }

    /// Refuses all requests whose replies were not sent: what they did could not be kept.
    pub fn refuse_all(&mut self, cookies: &[u64], error: StoreError, out: &mut Vec<u8>) {
        let Failure(number, text) = error.into();
        out.clear();
        self.notes.errors += cookies.len() as u64;
        for &cookie in cookies {
            self.refuse(cookie, number, &text, out);
        }
    }

    fn try_run(
        &mut self,
        request: &Request,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        self.check(request)?;
        let Request {
            command,
            offset,
            length,
            ..
        } = *request;
        let bytes = u64::from(length);
        let fua = request.flags & FLAG_FUA != 0;
        match command {
            CMD_READ => return self.read(request, out),
            CMD_BLOCK_STATUS => return self.block_status(request, out),
            CMD_WRITE => {
                self.drive.write(offset, payload, fua)?;
                self.notes.wrote(self.coverage, bytes, fua);
            }
            CMD_WRITE_ZEROES => {
                let no_hole = request.flags & FLAG_NO_HOLE != 0;
                let fast = request.flags & FLAG_FAST_ZERO != 0;
                self.drive
                    .write_zeroes(offset, bytes, ZeroFlags { fua, no_hole, fast })?;
                self.notes.wrote(self.coverage, bytes, fua);
            }
            CMD_FLUSH => {
                let number = self.coverage.begin_flush();
                self.drive.flush()?;
                self.notes.flushed(self.coverage, number);
            }
            CMD_TRIM => {
                self.drive.trim(offset, bytes, fua)?;
                self.notes.trims += 1;
            }
            _ => self.drive.cache(offset, bytes)?,
        }
        self.done(request.cookie, out);
        Ok(())
    }

    fn done(&self, cookie: u64, out: &mut Vec<u8>) {
        if self.session.structured {
            reply::none(out, cookie);
        } else {
            reply::simple(out, cookie, 0);
        }
    }

    fn check(&mut self, request: &Request) -> Result<(), Failure> {
        let Request {
            flags,
            command,
            offset,
            length,
            ..
        } = *request;
        let Some(allowed) = flags_allowed(command) else {
            return Err(Failure(EINVAL, format!("unknown command {command}")));
        };
        if flags & !allowed != 0 {
            let text = format!("flags {flags:#x} do not fit command {command}");
            return Err(Failure(EINVAL, text));
        }
        if command == CMD_FLUSH {
            // Offset and length are reserved; the protocol has the server ignore them.
            return Ok(());
        }
        if length == 0 {
            return Err(Failure(EINVAL, "a request of 0 bytes".to_string()));
        }
        let size = self.drive.size();
        if offset
            .checked_add(length.into())
            .is_none_or(|end| end > size)
        {
            let grows = command == CMD_WRITE || command == CMD_WRITE_ZEROES;
            let text = format!("{offset}..+{length} is beyond the end, {size} bytes");
            return Err(Failure(if grows { ENOSPC } else { EINVAL }, text));
        }
        if command == CMD_READ && length > PAYLOAD_MAX {
            return Err(Failure(
                EINVAL,
                format!("more than {PAYLOAD_MAX} bytes in one read"),
            ));
        }
        if !self.drive.is_aligned(offset, length.into()) {
            self.notes.unaligned += 1;
        }
        Ok(())
    }

    fn read(&mut self, request: &Request, out: &mut Vec<u8>) -> Result<(), Failure> {
        let Request {
            flags,
            cookie,
            offset,
            length,
            ..
        } = *request;
        let has_df = flags & FLAG_DF != 0;
        if !self.session.structured {
            if has_df {
                return Err(Failure(EINVAL, "DF without structured replies".to_string()));
            }
            reply::simple(out, cookie, 0);
            self.append(offset, length, out)?;
        } else if has_df || length < SPARSE_MIN {
            reply::data_head(out, cookie, CHUNK_DONE, offset, length);
            self.append(offset, length, out)?;
        } else {
            self.read_sparse(cookie, offset, length, out)?;
        }
        self.notes.reads += 1;
        Ok(())
    }

    fn append(&self, offset: u64, length: u32, out: &mut Vec<u8>) -> Result<(), StoreError> {
        self.drive.read_onto(offset, length as usize, out)
    }

    /// A read as chunks of data and holes.
    fn read_sparse(
        &self,
        cookie: u64,
        offset: u64,
        length: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut chunks = reply::Chunks::new(cookie, offset, out);
        self.drive
            .read_pieces(offset, length as usize, &mut |piece| chunks.add(piece))?;
        chunks.end();
        Ok(())
    }

    fn block_status(&mut self, request: &Request, out: &mut Vec<u8>) -> Result<(), Failure> {
        let Request {
            flags,
            cookie,
            offset,
            length,
            ..
        } = *request;
        let selected: Vec<usize> = (0..2)
            .filter(|index| self.session.contexts[*index])
            .collect();
        let Some(last) = selected.last() else {
            return Err(Failure(
                EINVAL,
                "no metadata context was selected".to_string(),
            ));
        };
        let one = flags & FLAG_REQ_ONE != 0;
        let extents = self.drive.extents(offset, length.into(), EXTENTS_MAX)?;
        for index in &selected {
            let flags = if index == last { CHUNK_DONE } else { 0 };
            let mut found = merge(&extents, if *index == 0 { allocation } else { durability });
            if one {
                found.truncate(1);
            }
            reply::states(out, cookie, flags, *index as u32 + 1, &found);
        }
        Ok(())
    }
}

/// Merges adjacent extents of one state; returns pairs of bytes and state.
fn merge(extents: &[Extent], state: fn(&Extent) -> u32) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for extent in extents {
        let (bytes, state) = (extent.length as u32, state(extent));
        match found.last_mut() {
            Some(last) if last.1 == state => last.0 += bytes,
            _ => found.push((bytes, state)),
        }
    }
    found
}

fn allocation(extent: &Extent) -> u32 {
    let hole = if extent.is_allocated { 0 } else { STATE_HOLE };
    let zero = if extent.is_zero { STATE_ZERO } else { 0 };
    hole | zero
}

fn durability(extent: &Extent) -> u32 {
    match extent.durability {
        Durability::Durable => 0,
        Durability::NeverWritten => STATE_NEVER_WRITTEN,
        Durability::Cached => STATE_CACHED,
        Durability::Older => STATE_OLDER,
        Durability::Torn => STATE_TORN,
        Durability::Lost => STATE_LOST,
    }
}
