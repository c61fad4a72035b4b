//! Places on the drive: log, doublewrite area, tables, other files.

use super::spec::OltpSpec;
use crate::months::TrimSchedule;
use ssdlab_ssd::Command;

/// Bytes of a piece of other files.
pub(super) const PIECE: u64 = 1 << 20;
/// Bytes of log, written round and round (two files of 48 MiB in InnoDB; less on a small drive).
const LOG_MAX: u64 = 96 << 20;

/// The drive's bytes: log, doublewrite area, tables, other files.
#[derive(Clone, Copy, Debug)]
pub(super) struct OltpLayout {
    pub log: (u64, u64),
    pub doublewrite: (u64, u64),
    pub tables: u64,
    pub pages: u64,
    /// Other files: first byte, pieces there is room for, pieces that are alive at once.
    pub other: (u64, u64, u64),
}

impl OltpLayout {
    pub(super) fn new(spec: &OltpSpec, user: u64) -> OltpLayout {
        let page = u64::from(spec.page);
        let log = LOG_MAX.min(user / 32) / PIECE * PIECE;
        let doublewrite = 2 * u64::from(spec.batch) * page;
        let tables = log + doublewrite;
        let pages = user / 100 * u64::from(spec.tables_pct) / page;
        let first = (tables + pages * page).next_multiple_of(PIECE);
        let room = user.saturating_sub(first) / PIECE;
        let alive = user / 100 * u64::from(spec.used_pct - spec.tables_pct) / PIECE;
        OltpLayout {
            log: (0, log),
            doublewrite: (log, doublewrite),
            tables,
            pages,
            other: (first, room, alive.min(room.saturating_sub(1))),
        }
    }
}

/// Other files: pieces written in turn, the oldest given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct OtherFiles {
    pub(super) layout: (u64, u64, u64),
    pub(super) written: u64,
    pub(super) trim: TrimSchedule,
}

impl OtherFiles {
    /// The commands for one more piece.
    pub fn next_piece(&mut self) -> impl Iterator<Item = Command> + use<> {
        let (first, room, alive) = self.layout;
        let offset = |piece: u64| first + piece % room.max(1) * PIECE;
        let old = self.written.checked_sub(alive);
        let old = old.filter(|_| self.trim == TrimSchedule::AtOnce && alive > 0);
        let trim = old.map(|old| Command::trim(offset(old), PIECE as u32));
        let write = (alive > 0).then(|| Command::write(offset(self.written), PIECE as u32));
        self.written += 1;
        trim.into_iter().chain(write)
    }

    /// Trims of all free space, when the spec asks for them after `days` days.
    pub(super) fn batch(&self, month: u32) -> Vec<Command> {
        let TrimSchedule::Batch { days } = self.trim else {
            return Vec::new();
        };
        // Months have 30 days; what matters is that one has passed.
        if u64::from(month) * 30 < u64::from(days) {
            return Vec::new();
        }
        let (first, room, alive) = self.layout;
        let free = room - alive.min(self.written);
        let offset = |piece: u64| first + piece % room.max(1) * PIECE;
        let pieces = self.written..self.written + free;
        pieces
            .map(|n| Command::trim(offset(n), PIECE as u32))
            .collect()
    }
}
