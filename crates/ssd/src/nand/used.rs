//! An array taken over by another translation layer or another process: its wear and counts, not
//! its data.

use super::{Gear, Nand, NandWork, Reliability};
use crate::image::image_of;

image_of! {
    /// Wear and work counts of an array, without its data; see [`Nand::used`].
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UsedArray {
        work: NandWork,
        erase_count: Vec<u32>,
        wear: Option<Reliability>,
    }
}

impl UsedArray {
    /// Wear of its blocks, on media that wears.
    pub fn reliability(&self) -> Option<&Reliability> {
        self.wear.as_ref()
    }

    /// Erases, per superblock.
    pub fn erases(&self) -> &[u32] {
        &self.erase_count
    }

    /// Counts an erase of a block (superblock times `dies` plus die) after this was taken.
    pub fn count_erase(&mut self, block: u32, dies: u32) {
        let (superblock, die) = (block / dies, block % dies);
        let Some(erases) = self.erase_count.get_mut(superblock as usize) else {
            return;
        };
        // Superblocks are counted with their first die.
        *erases += u32::from(die == 0);
        match &mut self.wear {
            // Clearing a retired superblock does not wear it.
            Some(wear) if wear.is_retired(superblock) => {}
            Some(wear) => {
                wear.erased_before(superblock, die);
                self.work.erases += 1;
            }
            None => self.work.erases += 1,
        }
    }

    /// Whether the array has this number of superblocks.
    pub fn has(&self, superblocks: u32) -> bool {
        self.erase_count.len() == superblocks as usize
    }

    /// Whether a superblock has been retired.
    pub fn is_retired(&self, superblock: u32) -> bool {
        let wear = self.wear.as_ref();
        wear.is_some_and(|wear| wear.is_retired(superblock))
    }
}

impl<G: Gear> Nand<G> {
    /// Wear and work counts; where media keep data, as after a cut now: retirements that have not
    /// taken effect are undone.
    pub fn used(&self) -> UsedArray {
        UsedArray {
            work: self.work.clone(),
            erase_count: self.erase_count.clone(),
            wear: self.worn_if_cut(),
        }
    }

    /// Takes over the wear and counts, not the data, of an array of the same shape.
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

    /// Wear of the array without the retirements that have not taken effect, where media keep data.
    pub fn settled_wear(&self) -> Option<&Reliability> {
        self.gear.worn_before().or(self.wear.as_ref())
    }
}
