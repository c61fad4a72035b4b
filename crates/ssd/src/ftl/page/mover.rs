//! Movers: the state of emptying a superblock.

use crate::ftl::gather::GatherEntry;
use crate::image::image_of;
use crate::nand::Purpose;

image_of! {
    /// State of emptying superblocks for one purpose.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Mover {
        pub victim: Option<u32>,
        /// Next unit of the victim to scan.
        pub unit: u32,
        /// Valid slots read but not yet programmed, with their present map values.
        pub moving: Vec<GatherEntry>,
        /// Epoch in which all of `moving` was known to be valid.
        pub epoch: u64,
        /// Time at which the slots in `moving` are in the controller.
        pub read_end: u64,
        /// Scanned victims whose last slots are in `moving`.
        pub retiring: Vec<u32>,
    }
}

impl Mover {
    /// Superblocks being emptied.
    pub fn victims(&self) -> impl Iterator<Item = u32> + '_ {
        self.victim.iter().chain(&self.retiring).copied()
    }

    /// The victim, if the only work left is to scan it.
    pub fn scanning_only(&self) -> Option<u32> {
        let idle = self.moving.is_empty() && self.retiring.is_empty();
        self.victim.filter(|_| idle)
    }

    /// Whether it has a victim or slots to move.
    pub fn is_working(&self) -> bool {
        self.victim.is_some() || !self.moving.is_empty()
    }

    /// Drops the slots that no longer are `valid`; returns their total weight.
    pub fn drop_stale(&mut self, valid: impl Fn(u32) -> bool) -> u32 {
        let mut dropped = 0;
        self.moving.retain(|entry| {
            let stays = valid(entry.old - 1);
            dropped += if stays { 0 } else { entry.weight };
            stays
        });
        dropped
    }
}

/// What superblocks are emptied for: the index of a mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoverKind {
    Reclaim = 0,
    Fold = 1,
    Refresh = 2,
    Level = 3,
}

impl MoverKind {
    /// The mover, as a compile-time constant where it is reclaim.
    #[inline(always)]
    pub fn or_reclaim<const RECLAIM: bool>(self) -> MoverKind {
        if RECLAIM { MoverKind::Reclaim } else { self }
    }

    pub fn purpose(self) -> Purpose {
        match self {
            MoverKind::Reclaim => Purpose::Relocation,
            MoverKind::Fold => Purpose::Fold,
            MoverKind::Refresh | MoverKind::Level => Purpose::Refresh,
        }
    }
}
