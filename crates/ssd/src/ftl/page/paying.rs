//! Paying for units: reclaim works before new data is placed, for as long as its trigger says.

use super::mover::MoverKind;
use super::placement::SLC_FRONTIER;
use super::{Gear, Layout, PageFtl};
use crate::config::Pace;
use crate::nand::Mode;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Whether reclaim must work before further writes: see [`Reclaimer::is_due`].
    #[inline(always)]
    pub(super) fn needs_reclaim(&self) -> bool {
        let open = self.placement.native_count();
        self.reclaim.is_due(&self.space, self.map.live(), open)
    }

    /// Whether reclaim is due in idle time.
    pub(super) fn wants_idle_reclaim(&self) -> bool {
        let open = self.placement.native_count();
        let live = self.map.live();
        self.reclaim.is_due_when_idle(&self.space, live, open)
    }

    /// Whether cuts have used up the reserve. Each cut leaves a half emptied victim and torn rows,
    /// and many in a row can do so before one victim is empty. A free superblock then has priority,
    /// and the emptiest superblock is the victim, whatever the policy.
    #[inline(always)]
    pub(super) fn is_short(&self) -> bool {
        G::KEEPS && self.space.free() <= self.placement.streams()
    }

    /// Makes room for one unit of data that is new to the native superblocks, and leaves its
    /// frontier open.
    #[inline(always)]
    pub(super) fn pay_for_unit(&mut self, from: u64, frontier: usize) {
        if self.is_short() {
            self.restore_reserve(from);
        }
        match self.reclaim.pace() {
            Pace::Spread => {
                self.pay_credits(from);
                // A frontier shared with reclaim may have just been filled.
                if !self.placement.is_open(frontier) {
                    self.open(frontier, Mode::Native);
                }
            }
            Pace::Whole => {
                if !self.placement.is_open(frontier) {
                    self.reclaim_whole(from, frontier);
                    if !self.placement.is_open(frontier) {
                        self.open(frontier, Mode::Native);
                    }
                }
            }
        }
    }

    /// Makes room for one unit of data that is moved by anything but reclaim.
    pub(super) fn pay_for_move(&mut self, from: u64) {
        if self.is_short() {
            self.restore_reserve(from);
        }
        match self.reclaim.pace() {
            Pace::Spread => self.pay_credits(from),
            Pace::Whole => self.reclaim_whole(from, SLC_FRONTIER),
        }
    }

    /// Does reclaim work until one unit is paid for, and pays for it, while few superblocks are
    /// free.
    #[inline(always)]
    fn pay_credits(&mut self, from: u64) {
        if self.needs_reclaim() {
            self.earn_credits(from);
            if self.needs_reclaim() {
                self.reclaim.spend(self.unit_slots());
            }
        }
    }

    fn earn_credits(&mut self, from: u64) {
        let price = i64::from(self.unit_slots());
        while self.reclaim.credits() < price && self.needs_reclaim() {
            let progress = self.reclaim_step(from);
            assert!(progress.is_some(), "reclaim found no victim");
        }
    }

    /// Empties whole victims until enough superblocks are free for `frontier` to have room. A
    /// frontier shared with reclaim may get room on the way.
    fn reclaim_whole(&mut self, from: u64, frontier: usize) {
        while self.needs_reclaim() {
            let between = self.reclaim.mover(MoverKind::Reclaim).victim.is_none();
            let enough = self.reclaim.has_reserve(&self.space);
            if between && enough && self.placement.is_open(frontier) {
                return;
            }
            let progress = self.reclaim_step(from);
            assert!(progress.is_some(), "reclaim found no victim");
        }
    }

    /// Empties victims one by one, without waiting for full units.
    #[cold]
    fn restore_reserve(&mut self, from: u64) {
        while self.is_short() && self.reclaim_step(from).is_some() {
            if self.reclaim.mover(MoverKind::Reclaim).victim.is_none() {
                self.finish_victims(from);
            }
        }
    }
}
