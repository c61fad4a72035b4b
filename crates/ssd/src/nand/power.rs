//! The array when power fails and returns: what its media remember.

use super::{Gear, Nand, STALE, media};

impl<G: Gear> Nand<G> {
    /// The media that remember; none in a gear that does not.
    #[inline(always)]
    pub fn media_mut(&mut self) -> Option<&mut media::Media> {
        self.gear.media_mut()
    }

    /// The same, to look at.
    pub fn media(&self) -> Option<&media::Media> {
        self.gear.media()
    }

    /// A commit of the map that costs nothing is done at `time`, in ns.
    #[inline(always)]
    pub fn remember_commit(&mut self, time: u64) {
        if let Some(media) = self.gear.media_mut() {
            media.note_map(time);
        }
    }

    /// A mapping unit that may be on media is forgotten.
    #[inline(always)]
    pub fn remember_trim(&mut self, lpn: u32) {
        if let Some(media) = self.gear.media_mut() {
            media.forget(lpn);
        }
    }

    /// Brings what media remember up to now.
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

    /// A superblock is taken into use: its erase waits for what is booked now.
    pub fn wait_before_erase(&mut self, superblock: u32) {
        self.gear.freed(superblock);
    }

    /// Power is back at `at`: blocks are as the media say.
    pub fn power_on(&mut self, at: u64) {
        // Blocks of what was given up serve elsewhere, or are marked bad.
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

    /// A superblock that holds nothing needed: what is programmed in it is stale.
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
