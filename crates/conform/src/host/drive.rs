//! The drive behind a hypervisor: a volatile cache, and where each block of the guest is.

use crate::route::{BLOCK_BYTES, DRIVE_BYTES, LABEL, token};
use schemars::JsonSchema;
use ssdlab_serve::{MemoryStore, SectorDurability, Store, StoreError, StoreExtent, ZeroFlags};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Granularity at which a write is searched for blocks, in bytes.
const SECTOR: usize = 512;
/// Granularity of the file system's journal in bytes.
const JOURNAL_BLOCK: usize = 4096;
/// Beginning of a block with which jbd2 commits a transaction: magic number and type, most
/// significant byte first (Linux, `fs/jbd2`).
const COMMIT: [u8; 8] = [0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2];

/// Numbers of commands that have reached the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, JsonSchema)]
pub struct CommandCounts {
    /// Writes without FUA.
    pub writes: u64,
    /// Writes with FUA.
    pub fua_writes: u64,
    /// Flushes.
    pub flushes: u64,
}

impl CommandCounts {
    /// What came after `before`.
    pub fn since(self, before: CommandCounts) -> CommandCounts {
        CommandCounts {
            writes: self.writes - before.writes,
            fua_writes: self.fua_writes - before.fua_writes,
            flushes: self.flushes - before.flushes,
        }
    }
}

/// What is known of the commands so far.
#[derive(Default)]
struct ObservedCommands {
    counts: CommandCounts,
    /// Where the block of a token was written last.
    blocks: BTreeMap<u64, u64>,
    /// Where the last commit of a journal was written since it was asked for.
    commit: Option<u64>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDurability {
    /// It is durable, with what finds it again.
    Durable,
    /// It would be lost with the drive's power.
    Cached,
    /// It is durable, and the commit of the journal that makes it part of its file is not.
    CommitCached,
    /// It has not arrived.
    NotThere,
}

/// A drive that a guest tests.
pub struct GuestDrive {
    store: MemoryStore,
    seen: Mutex<ObservedCommands>,
}

impl GuestDrive {
    /// A drive named `name` that begins with the file system `ext4`.
    pub fn new(name: &str, ext4: &[u8]) -> GuestDrive {
        let store = MemoryStore::new(DRIVE_BYTES, SECTOR as u32);
        let pieces = ext4.chunks(BLOCK_BYTES).enumerate();
        for (number, piece) in pieces.filter(|(_, piece)| piece.iter().any(|byte| *byte != 0)) {
            let written = store.write((number * BLOCK_BYTES) as u64, piece, true);
            written.expect("a drive with power");
        }
        let mut label = [0; SECTOR];
        let text = format!("{LABEL}{name}\n");
        label[..text.len()].copy_from_slice(text.as_bytes());
        store.write(0, &label, true).expect("a drive with power");
        GuestDrive {
            store,
            seen: Mutex::default(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, ObservedCommands> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a route: a commit of the journal from before is not its.
    pub fn begin(&self) -> CommandCounts {
        let mut seen = self.seen();
        seen.commit = None;
        seen.counts
    }

    /// The numbers of commands so far.
    pub fn counts(&self) -> CommandCounts {
        self.seen().counts
    }

    /// Where the block with that token is. `with_commit`: a transaction of the journal that was
    /// committed since the route began must be durable, too.
    pub fn whereabouts(&self, token: u64, with_commit: bool) -> BlockDurability {
        let seen = self.seen();
        let Some(&offset) = seen.blocks.get(&token) else {
            return BlockDurability::NotThere;
        };
        if !self.is_durable(offset, BLOCK_BYTES) {
            return BlockDurability::Cached;
        }
        match seen.commit {
            Some(commit) if with_commit && !self.is_durable(commit, SECTOR) => {
                BlockDurability::CommitCached
            }
            _ => BlockDurability::Durable,
        }
    }

    fn is_durable(&self, offset: u64, bytes: usize) -> bool {
        let extents = self.store.extents(offset, bytes as u64, usize::MAX);
        let extents = extents.expect("a drive with power");
        extents
            .iter()
            .all(|extent| extent.durability == SectorDurability::Durable)
    }
}

impl ObservedCommands {
    fn wrote(&mut self, offset: u64, bytes: &[u8], fua: bool) {
        if fua {
            self.counts.fua_writes += 1
        } else {
            self.counts.writes += 1
        }
        for (at, piece) in (offset..).step_by(SECTOR).zip(bytes.chunks(SECTOR)) {
            if let Some(token) = token(piece) {
                self.blocks.insert(token, at);
            }
            if at % JOURNAL_BLOCK as u64 == 0 && piece.starts_with(&COMMIT) {
                self.commit = Some(at);
            }
        }
    }
}

impl Store for GuestDrive {
    fn size(&self) -> u64 {
        self.store.size()
    }

    fn sector_size(&self) -> u32 {
        self.store.sector_size()
    }

    fn is_powered(&self) -> bool {
        true
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.store.read(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        let mut seen = self.seen();
        self.store.write(offset, from, fua)?;
        seen.wrote(offset, from, fua);
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        let mut seen = self.seen();
        self.store.flush()?;
        seen.counts.flushes += 1;
        Ok(())
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        self.store.trim(offset, length, fua)
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        self.store.write_zeroes(offset, length, flags)
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.store.extents(offset, length, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::fill;

    fn block(token: u64) -> [u8; BLOCK_BYTES] {
        let mut block = [0; BLOCK_BYTES];
        fill(&mut block, token);
        block
    }

    #[test]
    fn a_block_is_durable_by_its_own_fua_or_a_later_flush() {
        let drive = GuestDrive::new("d", &[]);
        assert_eq!(drive.whereabouts(1, true), BlockDurability::NotThere);
        drive.write(1 << 20, &block(1), false).unwrap();
        drive.write(2 << 20, &block(2), true).unwrap();
        assert_eq!(drive.whereabouts(1, true), BlockDurability::Cached);
        assert_eq!(drive.whereabouts(2, true), BlockDurability::Durable);
        drive.flush().unwrap();
        assert_eq!(drive.whereabouts(1, true), BlockDurability::Durable);
        drive.write(1 << 20, &block(1), false).unwrap();
        assert_eq!(
            drive.whereabouts(1, true),
            BlockDurability::Cached,
            "written again"
        );
        let counts = drive.counts();
        assert_eq!(
            (counts.writes, counts.fua_writes, counts.flushes),
            (2, 1, 1)
        );
    }

    /// An appended block that nothing finds after a cut is lost, too.
    #[test]
    fn the_commit_of_the_journal_must_be_durable_as_well() {
        let drive = GuestDrive::new("d", &[]);
        let mut commit = [0; JOURNAL_BLOCK];
        commit[..8].copy_from_slice(&COMMIT);
        drive.write(8192, &commit, false).unwrap();
        drive.begin();
        drive.write(1 << 20, &block(1), true).unwrap();
        assert_eq!(
            drive.whereabouts(1, true),
            BlockDurability::Durable,
            "a commit from before"
        );
        drive.write(12288, &commit, false).unwrap();
        assert_eq!(drive.whereabouts(1, true), BlockDurability::CommitCached);
        assert_eq!(
            drive.whereabouts(1, false),
            BlockDurability::Durable,
            "an overwrite"
        );
        drive.flush().unwrap();
        assert_eq!(drive.whereabouts(1, true), BlockDurability::Durable);
    }
}
