//! The array when power fails and returns.

use super::{Gear, Nand, STALE, media};

impl<G: Gear> Nand<G> {
    /// The media, in a gear that keeps data.
    #[inline(always)]
    pub fn media_mut(&mut self) -> Option<&mut media::Media> {
        self.gear.media_mut()
    }

    /// Shared access to the same.
    pub fn media(&self) -> Option<&media::Media> {
        self.gear.media()
    }

    /// Records a commit of a map that costs nothing at `time`, ns.
    #[inline(always)]
    pub fn remember_commit(&mut self, time: u64) {
        if let Some(media) = self.gear.media_mut() {
            media.note_map(time);
        }
    }

    /// Trims a mapping unit that may be on media.
    #[inline(always)]
    pub fn remember_trim(&mut self, lpn: u32) {
        if let Some(media) = self.gear.media_mut() {
            media.forget(lpn);
        }
    }

    /// Applies everything that has ended by now to the media.
    pub fn settle_all(&mut self) {
        self.gear.settle_all();
    }

    /// See [`Gear::cut`].
    pub fn cut(&mut self, hold: Option<u64>) -> media::CutDamage {
        let damage = self.gear.cut(hold);
        if let (Some(now), Some(before)) = (&mut self.wear, self.gear.worn_at_cut()) {
            now.go_back(before);
        }
        damage
    }

    /// Makes the erase of a superblock taken into use wait for the operations booked now.
    pub fn wait_before_erase(&mut self, superblock: u32) {
        self.gear.freed(superblock);
    }

    /// Restores power at `at`: the rows of all blocks are taken from the media.
    pub fn power_on(&mut self, at: u64) {
        // Blocks of retired superblocks replace others or are marked bad.
        for superblock in 0..self.geometry.superblock_count {
            if self.is_retired(superblock)
                && let Some(media) = self.gear.media_mut()
            {
                media.drop_superblock(superblock);
            }
        }
        let rows = self.gear.power_on(at);
        for (next, rows) in self.next_row.iter_mut().zip(rows) {
            *next = rows.map_or(STALE, |rows| rows as u16);
        }
    }

    /// Marks the programmed blocks of a superblock without needed data as stale.
    pub fn make_rest_stale(&mut self, superblock: u32) {
        let blocks = self.blocks(superblock);
        for next in &mut self.next_row[blocks] {
            if *next != 0 {
                *next = STALE;
            }
        }
        self.gear.freed(superblock);
    }
}
