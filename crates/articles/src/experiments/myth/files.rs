//! The server's file system: which addresses are live, and which are trimmed.
//!
//! Files come and go in extents; the random writes of the database go to live ones. A file that is
//! deleted is forgotten by the file system at once; the drive learns of it only by TRIM.

use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;
use std::collections::VecDeque;

/// Bytes of each read and write: a page of the database (InnoDB's). Assumed.
pub(super) const PAGE: u32 = 16 * 1024;
/// Bytes of an extent: log files, temporary tables, partitions. Assumed.
pub(super) const EXTENT: u64 = 1 << 20;
const PAGES: u64 = EXTENT / PAGE as u64;

/// A file system with a constant share of its extents in use.
#[derive(Clone, Debug)]
pub(super) struct ServerFileSystem {
    live: Vec<u32>,
    free: Vec<u32>,
    trim: bool,
    rng: Rng,
    /// Writes that have begun: the rest of a new extent.
    pending: VecDeque<Command>,
}

impl ServerFileSystem {
    /// `used_pct` of `bytes` in use, from the front; whether deletes are trimmed.
    pub fn new(bytes: u64, used_pct: u32, trim: bool, seed: u64) -> ServerFileSystem {
        let extents = (bytes / EXTENT) as u32;
        let used = (u64::from(extents) * u64::from(used_pct) / 100) as u32;
        ServerFileSystem {
            live: (0..used).collect(),
            free: (used..extents).collect(),
            trim,
            rng: Rng::named(seed, "myth: files"),
            pending: VecDeque::new(),
        }
    }

    /// Every live extent, written front to back.
    pub fn install(&self) -> impl Iterator<Item = Command> {
        let block = 128 * 1024;
        self.live.iter().flat_map(move |&extent| {
            let start = u64::from(extent) * EXTENT;
            (0..EXTENT / block).map(move |n| Command::write(start + n * block, block as u32))
        })
    }

    /// A page of a live extent.
    fn place(&mut self) -> u64 {
        let extent = self.live[self.rng.below(self.live.len() as u64) as usize];
        u64::from(extent) * EXTENT + self.rng.below(PAGES) * u64::from(PAGE)
    }

    /// A read of a live page.
    pub fn read(&mut self) -> Command {
        Command::read(self.place(), PAGE)
    }

    /// The next write, or a TRIM that comes before one. Half of all bytes update pages at random,
    /// half are new files in place of deleted ones.
    pub fn write(&mut self) -> Command {
        if let Some(command) = self.pending.pop_front() {
            return command;
        }
        // A new extent of N pages for N single updates.
        if self.free.is_empty() || self.rng.below(PAGES + 1) < PAGES {
            return Command::write(self.place(), PAGE);
        }
        let deleted = self.rng.below(self.live.len() as u64) as usize;
        let chosen = self.rng.below(self.free.len() as u64) as usize;
        let (old, new) = (self.live[deleted], self.free[chosen]);
        self.live[deleted] = new;
        self.free[chosen] = old;
        if self.trim {
            self.pending
                .push_back(Command::trim(u64::from(old) * EXTENT, EXTENT as u32));
        }
        for page in 0..PAGES {
            let offset = u64::from(new) * EXTENT + page * u64::from(PAGE);
            self.pending.push_back(Command::write(offset, PAGE));
        }
        self.pending.pop_front().unwrap_or_else(|| self.read())
    }

    /// `count` commands, `read_pct` per cent of them reads.
    pub fn mixed(&mut self, count: u32, read_pct: u32) -> Vec<Command> {
        (0..count)
            .map(|_| {
                if self.rng.percent(read_pct) {
                    self.read()
                } else {
                    self.write()
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::Op;

    #[test]
    fn half_of_the_bytes_are_new_files_and_each_delete_is_trimmed_if_asked() {
        for trim in [false, true] {
            let mut files = ServerFileSystem::new(1000 * EXTENT, 70, trim, 1);
            let all: Vec<Command> = (0..200_000).map(|_| files.write()).collect();
            let trims = all.iter().filter(|c| c.op == Op::Trim).count();
            let written = all.len() - trims;
            // A new file's pages follow each other.
            let on = all
                .windows(2)
                .filter(|w| w[0].op == Op::Write && w[0].offset + u64::from(PAGE) == w[1].offset);
            let share = on.count() as f64 / written as f64;
            assert!((0.45..0.55).contains(&share), "{share}");
            assert_eq!(trims > 0, trim);
            assert_eq!(files.live.len(), 700);
            let mut both: Vec<u32> = files.live.iter().chain(&files.free).copied().collect();
            both.sort_unstable();
            assert!(both.into_iter().eq(0..1000));
        }
    }
}
