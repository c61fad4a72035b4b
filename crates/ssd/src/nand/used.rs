//! An array that goes on under another translation layer, or in another process: its wear and
//! counts, not its data.

use super::{Gear, Nand, NandWork, Reliability};
use crate::image::image_of;

/// What an array has been through, without its data; see [`Nand::used`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedArray {
    work: NandWork,
    erase_count: Vec<u32>,
    wear: Option<Reliability>,
}

image_of!(UsedArray {
    work,
    erase_count,
    wear
});

impl UsedArray {
    /// Wear of its blocks, on media that wears.
    pub fn reliability(&self) -> Option<&Reliability> {
        self.wear.as_ref()
    }

    /// Erases, per superblock.
    pub fn erases(&self) -> &[u32] {
        &self.erase_count
    }

    /// A block (superblock times `dies` plus die) was erased after this was taken.
    pub fn count_erase(&mut self, block: u32, dies: u32) {
        let (superblock, die) = (block / dies, block % dies);
        let Some(erases) = self.erase_count.get_mut(superblock as usize) else {
            return;
        };
        // Counted by superblock, as its first die is.
        *erases += u32::from(die == 0);
        match &mut self.wear {
            // What is given up is cleared away without being worn.
            Some(wear) if wear.is_retired(superblock) => {}
            Some(wear) => {
                wear.erased_before(superblock, die);
                self.work.erases += 1;
            }
            None => self.work.erases += 1,
        }
    }

    /// Whether it is an array of so many superblocks.
    pub fn has(&self, superblocks: u32) -> bool {
        self.erase_count.len() == superblocks as usize
    }

    /// Whether a superblock has been given up.
    pub fn is_retired(&self, superblock: u32) -> bool {
        let wear = self.wear.as_ref();
        wear.is_some_and(|wear| wear.is_retired(superblock))
    }
}

impl<G: Gear> Nand<G> {
    /// What it has been through; where media remember, as it would be after a cut now: what was
    /// given up, and has not come about yet, is in use.
    pub fn used(&self) -> UsedArray {
        UsedArray {
            work: self.work.clone(),
            erase_count: self.erase_count.clone(),
            wear: self.worn_if_cut(),
        }
    }

    /// Takes the place of an array of the same shape: its wear and counts, not its data.
    pub fn take_used(&mut self, used: UsedArray) {
        assert_eq!(self.erase_count.len(), used.erase_count.len(), "one shape");
        self.work = used.work;
        self.erase_count = used.erase_count;
        self.wear = used.wear;
    }

    fn worn_if_cut(&self) -> Option<Reliability> {
        let mut wear = self.wear.clone()?;
        if let Some(before) = self.gear.worn_before() {
            wear.go_back(before.clone());
        }
        Some(wear)
    }

    /// The array's wear but for what was given up and has not come about yet, where media remember.
    pub fn settled_wear(&self) -> Option<&Reliability> {
        self.gear.worn_before().or(self.wear.as_ref())
    }
}
