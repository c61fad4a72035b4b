//! An array that goes on under another translation layer: its wear and counts, not its data.

use super::{Gear, Nand, NandWork, Reliability};

/// What an array has been through, without its data; see [`Nand::used`].
#[derive(Clone, Debug)]
pub struct UsedArray {
    work: NandWork,
    erase_count: Vec<u32>,
    wear: Option<Reliability>,
}

impl UsedArray {
    /// Whether a superblock has been given up.
    pub fn is_retired(&self, superblock: u32) -> bool {
        let wear = self.wear.as_ref();
        wear.is_some_and(|wear| wear.is_retired(superblock))
    }
}

impl<G: Gear> Nand<G> {
    /// What it has been through.
    pub fn used(&self) -> UsedArray {
        UsedArray {
            work: self.work.clone(),
            erase_count: self.erase_count.clone(),
            wear: self.wear.clone(),
        }
    }

    /// Takes the place of an array of the same shape: its wear and counts, not its data.
    pub fn take_used(&mut self, used: UsedArray) {
        assert_eq!(self.erase_count.len(), used.erase_count.len(), "one shape");
        self.work = used.work;
        self.erase_count = used.erase_count;
        self.wear = used.wear;
    }
}
