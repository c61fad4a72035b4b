//! Movers: the state of an emptying in progress.

use crate::ftl::gather::Entry;
use crate::image::image_of;
use crate::nand::Purpose;

/// One emptying in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Mover {
    pub victim: Option<u32>,
    /// Next unit of the victim to look at.
    pub unit: u32,
    /// Valid slots read but not yet programmed: logical slot and map value of where it lies.
    pub moving: Vec<Entry>,
    /// The drive's epoch in which all of `moving` was known to be valid.
    pub epoch: u64,
    /// When the slots in `moving` are in the controller.
    pub read_end: u64,
    /// Victims looked through whose last slots are in `moving`.
    pub retiring: Vec<u32>,
}

image_of!(Mover {
    victim,
    unit,
    moving,
    epoch,
    read_end,
    retiring
});

impl Mover {
    /// Superblocks being emptied.
    pub fn victims(&self) -> impl Iterator<Item = u32> + '_ {
        self.victim.iter().chain(&self.retiring).copied()
    }

    /// The victim, when all there is to do is to look through it.
    pub fn looking_only(&self) -> Option<u32> {
        let idle = self.moving.is_empty() && self.retiring.is_empty();
        self.victim.filter(|_| idle)
    }

    /// Whether it has a victim or slots to move.
    pub fn is_working(&self) -> bool {
        self.victim.is_some() || !self.moving.is_empty()
    }
}

/// Which of the movers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Reclaim = 0,
    Fold = 1,
    Refresh = 2,
    Level = 3,
}

impl Which {
    /// What it is, known to the compiler where it is reclaim.
    #[inline(always)]
    pub fn or_reclaim<const RECLAIM: bool>(self) -> Which {
        if RECLAIM { Which::Reclaim } else { self }
    }

    pub fn purpose(self) -> Purpose {
        match self {
            Which::Reclaim => Purpose::Relocation,
            Which::Fold => Purpose::Fold,
            Which::Refresh | Which::Level => Purpose::Refresh,
        }
    }
}
