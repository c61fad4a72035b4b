//! Cost of keeping a block map on media: pages of its own superblock, written in order.
//!
//! The map is small (an entry per segment, and the trims). Its changes are written as
//! a map journal; when its superblock is full, the next one begins and the old one is free. Left
//! out: the copy of the whole map that the new one begins with (a few pages).

use crate::config::DriveConfig;
use crate::ftl::frontier::Frontier;
use crate::image::image_of;

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct MapLog {
        pub frontier: Frontier,
        /// The superblock that holds the map now.
        pub superblock: Option<u32>,
        pub slots_per_page: u32,
        /// Changes that fill a page; 0 = changes cost nothing until a commit.
        pub changes_per_page: u32,
        pub commit_programs: u32,
        pub pending: u32,
    }
}

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

    /// Continues the superblock that held the map before power failed.
    pub fn resume(&mut self, superblock: u32, frontier: Frontier) {
        self.superblock = Some(superblock);
        self.frontier = frontier;
    }

    /// Discards all state.
    pub fn clear(&mut self) {
        self.frontier = Frontier::default();
        self.superblock = None;
        self.pending = 0;
    }
}
