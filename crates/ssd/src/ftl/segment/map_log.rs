//! What keeping a block map on media costs: pages of its own superblock, written in order.
//!
//! The map is small (an entry per segment, the log's slots, what is trimmed). Its changes are
//! written as a map journal; when its superblock is full, the next one begins and the old one is
//! free. Left out: the copy of the whole map that the new one begins with (a few pages).

use super::{Core, Role};
use crate::config::DriveConfig;
use crate::ftl::frontier::Frontier;
use crate::image::image_of;
use crate::nand::{Gear, Mode, Purpose};

/// See the module's text.
#[derive(Clone, Debug)]
pub(super) struct MapLog {
    frontier: Frontier,
    /// The superblock that holds the map now.
    superblock: Option<u32>,
    slots_per_page: u32,
    /// Changes that fill a page; 0 = changes cost nothing until a commit.
    changes_per_page: u32,
    commit_programs: u32,
    pending: u32,
}

image_of!(MapLog {
    frontier,
    superblock,
    slots_per_page,
    changes_per_page,
    commit_programs,
    pending
});

impl MapLog {
    pub fn new(config: &DriveConfig) -> MapLog {
        let journal = &config.ftl.journal;
        let shape = &config.shape;
        MapLog {
            frontier: Frontier::default(),
            superblock: None,
            slots_per_page: shape.page_bytes / shape.slot_bytes,
            changes_per_page: shape
                .page_bytes
                .checked_div(journal.entry_bytes)
                .unwrap_or(0),
            commit_programs: journal.commit_map_programs,
            pending: 0,
        }
    }

    #[inline(always)]
    pub fn change(&mut self, entries: u32) {
        self.pending = self.pending.saturating_add(entries);
    }

    pub fn has_changes(&self) -> bool {
        self.pending > 0
    }

    pub fn superblock(&self) -> Option<u32> {
        self.superblock
    }

    /// Goes on with the superblock that held the map before power failed.
    pub fn resume(&mut self, superblock: u32, frontier: Frontier) {
        self.superblock = Some(superblock);
        self.frontier = frontier;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.frontier = Frontier::default();
        self.superblock = None;
        self.pending = 0;
    }
}

impl<G: Gear> Core<G> {
    /// Programs the pages of the map journal that have filled up.
    #[inline(always)]
    pub(super) fn program_due_map(&mut self, from: u64) {
        let per_page = self.map_log.changes_per_page;
        while per_page > 0 && self.map_log.pending >= per_page {
            self.map_log.pending -= per_page;
            self.program_map(from, false);
        }
    }

    /// Programs the map pages of a commit, each after the one before; returns the end.
    pub(super) fn commit(&mut self, from: u64) -> u64 {
        let mut end = from;
        for _ in 0..self.map_log.commit_programs {
            end = self.program_map(end, true);
        }
        self.map_log.pending = 0;
        if self.map_log.commit_programs == 0 {
            self.nand.remember_commit(end);
        }
        end
    }

    fn program_map(&mut self, from: u64, firm: bool) -> u64 {
        let mut frontier = std::mem::take(&mut self.map_log.frontier);
        if frontier.open().is_none() {
            let fresh = self.take_free(Role::Map);
            if let Some(old) = self.map_log.superblock.replace(fresh) {
                self.release(old);
            }
            frontier.start(fresh, Mode::Native, &self.nand);
        }
        let at = frontier.take(&self.nand);
        frontier.close_if_full();
        self.map_log.frontier = frontier;
        let done = self.nand.program(from, at, Purpose::Map, firm);
        self.remember_map(at.die);
        let slots = u64::from(self.map_log.slots_per_page);
        let unit = u64::from(self.nand.geometry.slots_per_unit);
        let c = &mut self.counters;
        c.nand_programs += 1;
        c.nand_erases += u64::from(done.erased);
        c.slots_map += slots;
        c.slots_padding += unit - slots;
        done.ticket.end
    }
}
