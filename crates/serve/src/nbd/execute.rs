//! Runs one request on the drive and appends its reply to a buffer. No socket here.

use super::handshake::NbdSession;
use super::reply::{Chunks, Reply, ReplyForm};
use super::wire::*;
use crate::landing::StoreLanding;
use crate::lint::{Coverage, SessionNotes};
use crate::sectors::SharedDrive;
use crate::store::{SectorDurability, StoreError, StoreExtent, ZeroFlags};

/// Maximum number of extents in one reply to BLOCK_STATUS.
const EXTENTS_MAX: usize = 4096;
/// Length in bytes from which a read is searched for holes.
const SPARSE_MIN: u32 = 128 << 10;

/// Runs the requests of one client.
pub struct Executor<'a> {
    /// The shared drive.
    pub drive: &'a SharedDrive,
    /// The agreement of the handshake.
    pub session: NbdSession,
    /// Notes on the session.
    pub notes: SessionNotes,
    /// Order of the flushes of all clients.
    pub coverage: &'a Coverage,
}

/// A failed request: error number for the client and message.
struct NbdFailure(u32, String);

impl From<StoreError> for NbdFailure {
    fn from(error: StoreError) -> Self {
        let number = match error {
            StoreError::Off => ESHUTDOWN,
            StoreError::ReadOnly => EPERM,
            StoreError::OutOfRange { .. } => EINVAL,
            StoreError::NoSpace(_) => ENOSPC,
            StoreError::Unsupported => ENOTSUP,
            StoreError::Io(_) => EIO,
        };
        NbdFailure(number, error.to_string())
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

impl<'a> Executor<'a> {
    /// A second executor for the same client, with empty notes.
    pub(super) fn alone(&self) -> Executor<'a> {
        Executor {
            drive: self.drive,
            session: self.session.clone(),
            notes: SessionNotes::default(),
            coverage: self.coverage,
        }
    }

    /// Runs `request` with its payload and appends the reply to `out`.
    pub fn run(&mut self, request: &ExtendedRequest, payload: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        if let Err(NbdFailure(number, text)) = self.try_run(request, payload, out) {
            out.truncate(start);
            self.notes.errors += 1;
            self.reply(request).error(out, number, &text);
        }
    }

    /// Room for the payload of a write, if the drive receives it itself.
    pub fn landing(&mut self, request: &ExtendedRequest) -> Option<Box<dyn StoreLanding>> {
        let (offset, length) = (request.offset, request.length);
        if !self.drive.is_aligned(offset, length) || self.check(request).is_err() {
            return None;
        }
        self.drive.landing(offset, length as usize)
    }

    /// Runs a write whose payload was received into such room, or could not be kept there.
    pub fn run_landed(
        &mut self,
        request: &ExtendedRequest,
        landed: Result<Box<dyn StoreLanding>, StoreError>,
        out: &mut Vec<u8>,
    ) {
        let fua = request.flags & FLAG_FUA != 0;
        let written = landed.and_then(|room| self.drive.write_landed(request.offset, room, fua));
        match written.map_err(NbdFailure::from) {
            Ok(()) => {
                self.notes.wrote(self.coverage, request.length, fua);
                self.reply(request).done(out);
            }
            Err(NbdFailure(number, text)) => {
                self.notes.errors += 1;
                self.reply(request).error(out, number, &text);
            }
        }
    }

    /// The reply to a request, still empty.
    pub fn reply(&self, request: &ExtendedRequest) -> Reply {
        let form = match (self.session.structured, self.session.extended) {
            (_, true) => ReplyForm::Extended,
            (true, false) => ReplyForm::Structured,
            (false, false) => ReplyForm::Simple,
        };
        Reply {
            form,
            cookie: request.cookie,
            offset: request.offset,
        }
    }

    /// Refuses all requests whose replies were not sent: what they did could not be kept.
    pub fn refuse_all(&mut self, replies: &[Reply], error: StoreError, out: &mut Vec<u8>) {
        let NbdFailure(number, text) = error.into();
        out.clear();
        self.notes.errors += replies.len() as u64;
        for reply in replies {
            reply.error(out, number, &text);
        }
    }

    fn try_run(
        &mut self,
        request: &ExtendedRequest,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), NbdFailure> {
        self.check(request)?;
        let ExtendedRequest {
            command,
            offset,
            length,
            ..
        } = *request;
        let fua = request.flags & FLAG_FUA != 0;
        match command {
            CMD_READ => return self.read(request, out),
            CMD_BLOCK_STATUS => return self.block_status(request, out),
            CMD_WRITE => {
                self.drive.write(offset, payload, fua)?;
                self.notes.wrote(self.coverage, length, fua);
            }
            CMD_WRITE_ZEROES => {
                let no_hole = request.flags & FLAG_NO_HOLE != 0;
                let fast = request.flags & FLAG_FAST_ZERO != 0;
                self.drive
                    .write_zeroes(offset, length, ZeroFlags { fua, no_hole, fast })?;
                self.notes.wrote(self.coverage, length, fua);
            }
            CMD_FLUSH => {
                let number = self.coverage.begin_flush();
                self.drive.flush()?;
                self.notes.flushed(self.coverage, number);
            }
            CMD_TRIM => {
                self.drive.trim(offset, length, fua)?;
                self.notes.trims += 1;
            }
            _ => self.drive.cache(offset, length)?,
        }
        self.reply(request).done(out);
        Ok(())
    }

    fn check(&mut self, request: &ExtendedRequest) -> Result<(), NbdFailure> {
        let ExtendedRequest {
            flags,
            command,
            offset,
            length,
            ..
        } = *request;
        let Some(allowed) = flags_allowed(command) else {
            return Err(NbdFailure(EINVAL, format!("unknown command {command}")));
        };
        let has_payload = self.session.extended && command == CMD_WRITE;
        let allowed = allowed | if has_payload { FLAG_PAYLOAD_LEN } else { 0 };
        if flags & !allowed != 0 {
            let text = format!("flags {flags:#x} do not fit command {command}");
            return Err(NbdFailure(EINVAL, text));
        }
        if command == CMD_FLUSH {
            // Offset and length are reserved; the protocol has the server ignore them.
            return Ok(());
        }
        if length == 0 {
            return Err(NbdFailure(EINVAL, "a request of 0 bytes".to_string()));
        }
        let size = self.drive.size();
        if offset.checked_add(length).is_none_or(|end| end > size) {
            let grows = command == CMD_WRITE || command == CMD_WRITE_ZEROES;
            let text = format!("{offset}..+{length} is beyond the end, {size} bytes");
            return Err(NbdFailure(if grows { ENOSPC } else { EINVAL }, text));
        }
        if command == CMD_READ && length > PAYLOAD_MAX.into() {
            return Err(NbdFailure(
                EINVAL,
                format!("more than {PAYLOAD_MAX} bytes in one read"),
            ));
        }
        if !self.drive.is_aligned(offset, length) {
            self.notes.unaligned += 1;
        }
        Ok(())
    }

    fn read(&mut self, request: &ExtendedRequest, out: &mut Vec<u8>) -> Result<(), NbdFailure> {
        let has_df = request.flags & FLAG_DF != 0;
        let reply = self.reply(request);
        // At most the largest payload, as `check` says.
        let length = request.length as u32;
        if reply.form == ReplyForm::Simple {
            if has_df {
                return Err(NbdFailure(
                    EINVAL,
                    "DF without structured replies".to_string(),
                ));
            }
            reply.simple(out, 0);
            self.append(request.offset, length, out)?;
        } else if has_df || length < SPARSE_MIN {
            reply.data_head(out, CHUNK_DONE, request.offset, length);
            self.append(request.offset, length, out)?;
        } else {
            self.read_sparse(reply, length, out)?;
        }
        self.notes.reads += 1;
        Ok(())
    }

    fn append(&self, offset: u64, length: u32, out: &mut Vec<u8>) -> Result<(), StoreError> {
        self.drive.read_onto(offset, length as usize, out)
    }

    /// A read as chunks of data and holes.
    fn read_sparse(&self, reply: Reply, length: u32, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let mut chunks = Chunks::new(reply, out);
        self.drive
            .read_pieces(reply.offset, length as usize, &mut |piece| {
                chunks.add(piece);
            })?;
        chunks.end();
        Ok(())
    }

    fn block_status(
        &mut self,
        request: &ExtendedRequest,
        out: &mut Vec<u8>,
    ) -> Result<(), NbdFailure> {
        let ExtendedRequest {
            flags,
            offset,
            length,
            ..
        } = *request;
        let selected: Vec<usize> = (0..2)
            .filter(|index| self.session.contexts[*index])
            .collect();
        let Some(last) = selected.last() else {
            return Err(NbdFailure(
                EINVAL,
                "no metadata context was selected".to_string(),
            ));
        };
        let one_extent = flags & FLAG_REQ_ONE != 0;
        let extents = self.drive.extents(offset, length, EXTENTS_MAX)?;
        let reply = self.reply(request);
        for index in &selected {
            let flags = if index == last { CHUNK_DONE } else { 0 };
            let mut extent_states =
                merge(&extents, if *index == 0 { allocation } else { durability });
            if one_extent {
                extent_states.truncate(1);
            }
            reply.states(out, flags, *index as u32 + 1, &extent_states);
        }
        Ok(())
    }
}

/// Merges adjacent extents of one state; returns pairs of bytes and state.
fn merge(extents: &[StoreExtent], state: fn(&StoreExtent) -> u32) -> Vec<(u64, u32)> {
    let mut merged: Vec<(u64, u32)> = Vec::new();
    for extent in extents {
        let (bytes, state) = (extent.length, state(extent));
        match merged.last_mut() {
            Some(last) if last.1 == state => last.0 += bytes,
            _ => merged.push((bytes, state)),
        }
    }
    merged
}

fn allocation(extent: &StoreExtent) -> u32 {
    let hole = if extent.is_allocated { 0 } else { STATE_HOLE };
    let zero = if extent.is_zero { STATE_ZERO } else { 0 };
    hole | zero
}

fn durability(extent: &StoreExtent) -> u32 {
    match extent.durability {
        SectorDurability::Durable => 0,
        SectorDurability::NeverWritten => STATE_NEVER_WRITTEN,
        SectorDurability::Cached => STATE_CACHED,
        SectorDurability::Older => STATE_OLDER,
        SectorDurability::Torn => STATE_TORN,
        SectorDurability::Lost => STATE_LOST,
    }
}
