//! Reclaim of native superblocks: when it must work, which superblock it empties, and the credits
//! of writes that pay for it. How they pay is in [`super::paying`], how a superblock is emptied in
//! [`super::emptying`].
//!
//! Spread over host writes, reclaim works with credits: while few superblocks are free, programming
//! a unit of new data costs credits, and each slot of the victim that need not be moved earns one.
//! Over a victim's life the slots written equal the slots it frees, so the free reserve never
//! shrinks and reclaim never gets stuck. (Write credits: NVMeVirt, `conv_ftl.c`.)

use super::mover::{Mover, MoverKind};
use super::scan::Scan;
use super::space::Space;
use crate::config::{DriveConfig, Pace, SpareArea};
use crate::ftl::policies::{Victim, VictimPolicy};
use crate::image::image_of;
use crate::rng::Rng;

/// One over the part of a superblock that is hardly worth waiting for.
const HARDLY: u32 = 32;

/// Value of `spare_slots` for all space without valid data.
const SPARE_IS_ALL: u64 = u64::MAX;

image_of! {
    /// Decides when reclaim works and what it empties; holds the movers.
    #[derive(Clone, Debug)]
    pub(super) struct Reclaimer {
        /// Reclaim, folding, refresh, wear levelling.
        movers: [Mover; 4],
        credits: i64,
        victim: Victim,
        rng: Rng,
        pace: Pace,
        free_low: u32,
        idle_free: u32,
        /// Slots that reclaim may use beyond the valid ones; `u64::MAX`: unlimited.
        spare_slots: u64,
        /// Slots of a superblock that hold data, without its parity.
        data_slots: u32,
        /// Whether native superblocks serve as pSLC cache for the time being.
        dynamic_slc: bool,
        /// Superblocks that a tree's own pages may fill.
        tree_superblocks: u32,
    } afresh {
        scan: Scan,
    }
}

impl Reclaimer {
    pub fn new(
        config: &DriveConfig,
        own: Option<Box<dyn VictimPolicy>>,
        data_slots: u32,
    ) -> Reclaimer {
        let ftl = &config.ftl;
        let geometry = config.geometry();
        let slot_bytes = u64::from(geometry.slot_bytes);
        Reclaimer {
            movers: Default::default(),
            credits: 0,
            victim: Victim::new(&ftl.reclaim.victim, own),
            rng: victim_rng(config),
            scan: Scan::default(),
            pace: ftl.reclaim.pace,
            free_low: ftl.reclaim.free_superblocks_low,
            idle_free: ftl.reclaim.idle_free_superblocks,
            spare_slots: match ftl.reclaim.spare {
                SpareArea::Dynamic => SPARE_IS_ALL,
                SpareArea::Fixed => (geometry.raw_bytes() - config.user_bytes) / slot_bytes,
                SpareArea::Limited(bytes) => bytes / slot_bytes,
            },
            data_slots,
            dynamic_slc: ftl.slc.dynamic_above_free > 0,
            tree_superblocks: config.tree_superblocks() as u32,
        }
    }

    /// Discards everything under way; nothing is left to reclaim.
    pub fn clear(&mut self) {
        self.movers = Default::default();
        self.credits = 0;
    }

    /// Discards all that is not on media, before recovery. The draw among equal victims must not
    /// depend on the number of power failures.
    pub fn forget(&mut self, config: &DriveConfig) {
        self.movers = Default::default();
        self.rng = victim_rng(config);
    }

    /// The trigger: whether reclaim must work before further writes, because few superblocks are
    /// free, or because a controller that does not know unused addresses has filled its spare area.
    /// `live`: valid slots; `open`: frontiers.
    #[inline(always)]
    pub fn is_due(&self, space: &Space, live: u64, open: usize) -> bool {
        if space.free() <= self.free_low {
            return true;
        }
        !self.knows_unused() && self.spare_is_used_up(space, live, open)
    }

    fn spare_is_used_up(&self, space: &Space, live: u64, open: usize) -> bool {
        let used = u64::from(space.native() - space.free());
        let allowed = live + self.spare_slots;
        used > allowed.div_ceil(self.data_slots.into()) + open as u64
    }

    /// The trigger in idle time: whether there is something to gain before enough superblocks are
    /// free.
    pub fn is_due_when_idle(&self, space: &Space, live: u64, open: usize) -> bool {
        space.free() < self.idle_free
            && space.candidate_count() > 0
            && live + u64::from(self.data_slots) < self.usable_slots(space, open)
    }

    /// Slots that can hold data when `idle_free` superblocks are free and the rest is full.
    fn usable_slots(&self, space: &Space, open: usize) -> u64 {
        let reserved = self.idle_free.saturating_add(open as u32);
        u64::from(space.native().saturating_sub(reserved)) * u64::from(self.data_slots)
    }

    /// Whether the controller knows which addresses were never written or were trimmed: it must if
    /// it uses them as spare area, and need not with a fixed spare area.
    #[inline]
    pub fn knows_unused(&self) -> bool {
        self.spare_slots == SPARE_IS_ALL
    }

    /// Whether reclaim keeps pace with host writes, or empties whole victims.
    #[inline(always)]
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Whether the reserve is whole.
    pub fn has_reserve(&self, space: &Space) -> bool {
        space.free() >= self.free_low
    }

    /// Chooses the superblock to reclaim: one used as pSLC cache for the time being, as it frees
    /// more space than any native one; then a tree's; then by the policy, or the `emptiest`.
    pub fn choose(&mut self, space: &mut Space, written: u64, emptiest: bool) -> Option<u32> {
        if self.dynamic_slc
            && let Some(victim) = space.take_dynamic_slc()
        {
            return Some(victim);
        }
        space.set_now(written);
        // The oldest of a tree's, when nearly all of its pages have been written again, for they
        // are written as a ring; the emptiest, when they fill more than the ring takes.
        if let Some(victim) = space.take_tree_full(HARDLY, self.tree_superblocks) {
            return Some(victim);
        }
        let candidates = space.candidates();
        let victim = if emptiest {
            candidates.fewest_valid()?
        } else {
            self.victim.pick(candidates, &mut self.rng)?
        };
        candidates.withdraw(victim);
        Some(victim)
    }

    #[inline(always)]
    pub fn credits(&self) -> i64 {
        self.credits
    }

    /// Adds credits for slots that need not be moved.
    #[inline(always)]
    pub fn earn(&mut self, slots: u32) {
        self.credits += i64::from(slots);
    }

    /// Takes credits for slots that are programmed.
    #[inline(always)]
    pub fn spend(&mut self, slots: u32) {
        self.credits -= i64::from(slots);
    }

    pub fn set_credits(&mut self, credits: i64) {
        self.credits = credits;
    }

    /// Credits that were spent in advance may be lost with the power: the shortfall of free space
    /// against the reserve becomes the debt.
    pub fn restore_credits(&mut self, space: &Space, superblock_slots: u32) {
        let slots = i64::from(superblock_slots);
        let reserve = i64::from(self.free_low) * slots;
        self.credits = (i64::from(space.free()) * slots - reserve).min(0);
    }

    #[inline(always)]
    pub fn mover(&self, kind: MoverKind) -> &Mover {
        &self.movers[kind as usize]
    }

    #[inline(always)]
    pub fn mover_mut(&mut self, kind: MoverKind) -> &mut Mover {
        &mut self.movers[kind as usize]
    }

    /// Superblocks that movers empty.
    pub fn victims(&self) -> impl Iterator<Item = u32> + '_ {
        self.movers.iter().flat_map(Mover::victims)
    }

    /// Slots that plain reclaim has found and not moved yet.
    #[inline(always)]
    pub fn scan_mut(&mut self) -> &mut Scan {
        &mut self.scan
    }

    /// The same, beside the mover of reclaim.
    #[inline(always)]
    pub fn scan_and_mover(&mut self) -> (&mut Scan, &mut Mover) {
        (
            &mut self.scan,
            &mut self.movers[MoverKind::Reclaim as usize],
        )
    }
}

fn victim_rng(config: &DriveConfig) -> Rng {
    Rng::named(config.ftl.seed, "victim")
}
