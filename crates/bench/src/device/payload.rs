//! Contents of writes to real targets, and the memory that reads go to.
//!
//! Writes take turns in a pool of buffers filled with random data beforehand, so that no time is
//! spent on data while measuring. Each 4 KiB of a write is stamped with the write's number and
//! its own address: no two blocks are ever equal, so a drive that looks for equal blocks finds
//! none. With `compress_pct` that share of every 512 bytes is zero. With `refill` every write
//! gets fresh random data, at about 1 us per 4 KiB; so does every write with blocks that are to
//! equal others ([`PayloadContents`]).
//!
//! Reads share a few buffers whose contents are not used, unless a job verifies: then each
//! command has its own, and writes hold [`Stamps`].

use super::contents::{Repeats, fill};
use super::needs::PayloadContents;
use super::slab::Slab;
use super::stamps::Stamps;
use ssdlab_base::LabError;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;
use std::collections::VecDeque;
use std::io;

const STAMP_EVERY: usize = 4096;
const CHUNK: usize = 512;
/// The pool holds at least this much, unless one buffer is larger.
const POOL_BYTES: usize = 4 << 20;
const READ_BYTES: usize = 1 << 20;

/// Buffers for commands under way.
pub(super) struct PayloadBuffers {
    /// The kernel only reads these.
    writes: Slab,
    /// The kernel only writes to these.
    reads: Slab,
    write_len: usize,
    read_len: usize,
    free: VecDeque<u32>,
    /// How compressible each buffer's contents are.
    compress_pct: Vec<u8>,
    read_next: usize,
    number: u64,
    refill: bool,
    rng: Rng,
    stamps: Option<Box<Stamps>>,
    /// Buffers hold a pattern, and nothing else.
    patterned: bool,
    /// Some blocks equal others.
    repeats: Option<Box<Repeats>>,
}

/// What a run does to contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerifyScope {
    /// Nothing is verified.
    Never,
    /// What the run itself wrote.
    Own,
    /// What earlier runs wrote, too.
    All,
}

impl PayloadBuffers {
    /// Buffers for `depth` commands, given the largest length in bytes; 0 where there are none.
    pub fn new(
        depth: u32,
        read_bytes: u32,
        write_bytes: u32,
        refill: bool,
        checked: VerifyScope,
    ) -> io::Result<PayloadBuffers> {
        let round = |bytes: u32| (bytes as usize).next_multiple_of(STAMP_EVERY);
        let (read_len, write_len) = (round(read_bytes), round(write_bytes));
        let depth = depth as usize;
        let write_count = match write_len {
            0 => 0,
            len => depth.max(POOL_BYTES / len),
        };
        let read_count = match read_len {
            0 => 0,
            _ if checked != VerifyScope::Never => depth,
            len => (READ_BYTES / len).clamp(1, depth),
        };
        let mut payload = PayloadBuffers {
            writes: Slab::new(write_count * write_len)?,
            reads: Slab::new(read_count * read_len)?,
            write_len,
            read_len,
            free: (0..write_count as u32).collect(),
            compress_pct: vec![0; write_count],
            read_next: 0,
            number: 0,
            refill,
            rng: Rng::named(0, "payload"),
            stamps: match checked {
                VerifyScope::Never => None,
                VerifyScope::Own => Some(Box::new(Stamps::new(false))),
                VerifyScope::All => Some(Box::new(Stamps::new(true))),
            },
            patterned: false,
            repeats: None,
        };
        fill(&mut payload.rng, payload.writes.bytes());
        // Pages are made now rather than while measuring.
        payload.reads.bytes().fill(0);
        Ok(payload)
    }

    /// Makes every write hold `contents`, on a target of `capacity` bytes. Runs that verify write
    /// stamps instead.
    ///
    /// # Errors
    /// When its working set holds no block.
    pub fn hold(&mut self, contents: &PayloadContents, capacity: u64) -> Result<(), LabError> {
        if self.write_len == 0 || self.stamps.is_some() {
            return Ok(());
        }
        if let Some(repeated) = &contents.repeated {
            self.repeats = Some(Box::new(Repeats::new(repeated, capacity)?));
        }
        let pattern = &contents.pattern[..];
        if pattern.is_empty() {
            return Ok(());
        }
        self.patterned = true;
        for buffer in self.writes.bytes().chunks_mut(self.write_len) {
            for part in buffer.chunks_mut(pattern.len()) {
                part.copy_from_slice(&pattern[..part.len()]);
            }
        }
        Ok(())
    }

    /// Both regions, write buffers first, for registration with the kernel.
    pub fn regions(&self) -> [(*mut u8, usize); 2] {
        let region = |slab: &Slab| (slab.address(0, 0), slab.len());
        [region(&self.writes), region(&self.reads)]
    }

    /// A buffer with the data for `write`; its number must be given back.
    #[inline]
    pub fn take_write(&mut self, write: &Command) -> (u32, *mut u8) {
        let len = write.len as usize;
        let buffer = self.free.pop_front().expect("a buffer per tag");
        let start = buffer as usize * self.write_len;
        if self.patterned {
            return (buffer, self.writes.address(start, len));
        }
        if let Some(repeats) = &mut self.repeats {
            let bytes = &mut self.writes.bytes()[start..start + len];
            repeats.fill(bytes);
            squeeze(bytes, write.compress_pct);
            return (buffer, self.writes.address(start, len));
        }
        let held = self.compress_pct[buffer as usize];
        if self.refill || held != write.compress_pct {
            self.prepare(buffer, write.compress_pct);
        }
        let bytes = &mut self.writes.bytes()[start..start + len];
        if let Some(stamps) = &mut self.stamps {
            stamps.seal(bytes, write.offset, self.number);
            self.number += 1;
            return (buffer, self.writes.address(start, len));
        }
        let mut offset = write.offset;
        for block in bytes.chunks_mut(STAMP_EVERY) {
            block[..8].copy_from_slice(&self.number.to_le_bytes());
            block[8..16].copy_from_slice(&offset.to_le_bytes());
            offset += STAMP_EVERY as u64;
        }
        self.number += 1;
        (buffer, self.writes.address(start, len))
    }

    /// The command that used this buffer is done.
    #[inline]
    pub fn give_back(&mut self, buffer: u32) {
        self.free.push_back(buffer);
    }

    /// Room for `len` bytes to be read into.
    #[inline]
    pub fn read_room(&mut self, len: u32) -> *mut u8 {
        let start = self.read_next;
        self.read_next += self.read_len;
        if self.read_next >= self.reads.len() {
            self.read_next = 0;
        }
        self.reads.address(start, len as usize)
    }

    /// Room for what the command with `tag` reads, and the number of the next write. Only for
    /// runs that verify.
    pub fn read_room_of(&mut self, tag: u32, len: u32) -> (*mut u8, u64) {
        let start = tag as usize * self.read_len;
        (self.reads.address(start, len as usize), self.number)
    }

    /// Whether what the command with `tag` has read from `offset` is the written data.
    pub fn agrees(&mut self, tag: u32, offset: u64, len: u32, before: u64) -> bool {
        let start = tag as usize * self.read_len;
        let Some(stamps) = &self.stamps else {
            return true;
        };
        stamps.agree(
            &self.reads.bytes()[start..start + len as usize],
            offset,
            before,
        )
    }

    /// A write has completed.
    pub fn written(&mut self, offset: u64, len: u32) {
        if let Some(stamps) = &mut self.stamps {
            stamps.written(offset, len);
        }
    }

    /// Blocks are trimmed or zeroed.
    pub fn forget(&mut self, offset: u64, len: u32) {
        if let Some(stamps) = &mut self.stamps {
            stamps.forget(offset, len);
        }
    }

    #[cold]
    fn prepare(&mut self, buffer: u32, compress_pct: u8) {
        let start = buffer as usize * self.write_len;
        let bytes = &mut self.writes.bytes()[start..start + self.write_len];
        fill(&mut self.rng, bytes);
        squeeze(bytes, compress_pct);
        self.compress_pct[buffer as usize] = compress_pct;
    }
}

/// Makes `bytes`, a multiple of 512 long, compressible.
fn squeeze(bytes: &mut [u8], compress_pct: u8) {
    let zeroes = CHUNK * usize::from(compress_pct.min(100)) / 100;
    for chunk in bytes.chunks_mut(CHUNK) {
        chunk[CHUNK - zeroes..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(payload: &mut PayloadBuffers, write: &Command) -> Vec<u8> {
        let (buffer, _) = payload.take_write(write);
        let at = buffer as usize * payload.write_len;
        let bytes = payload.writes.bytes()[at..at + write.len as usize].to_vec();
        payload.give_back(buffer);
        bytes
    }

    #[test]
    fn no_two_blocks_are_equal_however_often_a_buffer_comes_round() {
        let mut payload = PayloadBuffers::new(1, 0, 1 << 20, false, VerifyScope::Never).unwrap();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..16 {
            let bytes = contents(&mut payload, &Command::write(0, 1 << 20));
            assert!(bytes.chunks(4096).all(|block| seen.insert(block.to_vec())));
        }
    }

    #[test]
    fn a_share_of_every_chunk_is_zero() {
        let mut payload = PayloadBuffers::new(4, 0, 4096, false, VerifyScope::Never).unwrap();
        let mut write = Command::write(4096, 4096);
        write.compress_pct = 75;
        let bytes = contents(&mut payload, &write);
        assert!(
            bytes
                .chunks(512)
                .all(|chunk| chunk[128..].iter().all(|&b| b == 0))
        );
        assert!(
            bytes
                .chunks(512)
                .all(|chunk| chunk[..128].iter().any(|&b| b != 0))
        );
        assert_eq!(bytes[8..16], 4096u64.to_le_bytes());
    }

    #[test]
    fn a_pattern_is_repeated_from_the_start_of_each_write() {
        let mut payload = PayloadBuffers::new(2, 0, 4096, false, VerifyScope::Never).unwrap();
        let held = PayloadContents {
            pattern: b"abcde".to_vec(),
            repeated: None,
        };
        payload.hold(&held, 1 << 20).unwrap();
        for _ in 0..3 {
            let bytes = contents(&mut payload, &Command::write(8192, 1024));
            assert!(
                bytes
                    .iter()
                    .zip(b"abcde".iter().cycle())
                    .all(|(a, b)| a == b)
            );
        }
    }

    #[test]
    fn refilling_gives_fresh_contents() {
        let mut payload = PayloadBuffers::new(1, 0, 8 << 20, true, VerifyScope::Never).unwrap();
        let write = Command::write(0, 4096);
        let first = contents(&mut payload, &write);
        assert_ne!(first[16..], contents(&mut payload, &write)[16..]);
    }

    #[test]
    fn every_tag_finds_a_buffer_and_reads_stay_inside() {
        let mut payload =
            PayloadBuffers::new(256, 1 << 20, 1 << 16, false, VerifyScope::Never).unwrap();
        let taken: Vec<u32> = (0..256)
            .map(|_| payload.take_write(&Command::write(0, 512)).0)
            .collect();
        assert_eq!(taken.len(), 256);
        for _ in 0..1000 {
            payload.read_room(1 << 20);
        }
    }
}
