//! The two gears: with time and without.
//!
//! The translation layer is written once, over a [`Gear`] chosen at compile time. The timed gear
//! ([`super::Clock`]) computes when each operation ends; the counting gear ([`Counting`]) returns
//! zero for every time and costs nothing. Data placement never depends on a time, so that both
//! produce the same map for the same commands.

use super::media::{CutDamage, Media};
use super::operation::{Program, Purpose, Read, Ticket};
use super::reliability::Reliability;
use super::relief::NandRelief;
use crate::config::NandConfig;
use crate::geometry::Geometry;
use crate::image::{Image, image_of};
use std::fmt::Debug;

/// When operations end.
pub trait Gear: Clone + Debug + Image {
    /// Whether time exists.
    const TIMED: bool;
    /// Creates the gear of an array of this shape.
    fn new(geometry: &Geometry, config: &NandConfig) -> Self;
    /// Sets a lower bound of the times of all later requests.
    fn set_now(&mut self, now: u64);
    /// Books a read from `from` on; returns when its data is in the controller.
    fn read(&mut self, from: u64, channel: u32, op: &Read) -> u64;
    /// Books a program from `from` on.
    fn program(&mut self, from: u64, channel: u32, op: &Program) -> Ticket;
    /// Books the erase of a superblock's block on every die; returns the end of the last.
    fn erase(&mut self, from: u64, superblock: u32) -> u64;
    /// Erases everything once all operations have ended; returns the end.
    fn erase_all(&mut self, from: u64, blocks_per_die: u64) -> u64;
    /// Whether a page has not been programmed yet, so that its data is still in the controller.
    fn is_pending(&self, superblock: u32, row: u32, die: u32) -> bool;
    /// Currently known end of a program; zero when it is over.
    fn end_of(&self, ticket: Ticket) -> u64;
    /// Fixes the end of this program, because others depend on it: no read overtakes it from now
    /// on. Returns the end.
    fn make_firm(&mut self, ticket: Ticket) -> u64;
    /// Takes a cost away from all later operations.
    fn relieve(&mut self, _relief: NandRelief) {}
    /// Limits the dies that program at once, besides the configuration's own limit; 0: no further
    /// limit.
    fn limit_programs(&mut self, _at_once: u32) {}
    /// End of everything booked on a die.
    fn die_free_at(&self, die: u32) -> u64;
    /// Busy time of all dies by purpose, ns; indexed by [`Purpose`].
    fn busy_by_purpose(&self) -> [u64; Purpose::COUNT];
    /// Busy time of each die and of each channel, ns.
    fn busy_ns(&self) -> (Vec<u64>, Vec<u64>);
    /// Whether the media keep the data programmed; if not, the methods below do nothing.
    const KEEPS: bool = false;
    /// Reports a superblock as free: its next erase waits for the operations booked now.
    fn freed(&mut self, _superblock: u32) {}
    /// Reports a superblock as retired: its good blocks may replace others once all operations
    /// booked now have ended. `before`: wear of the media until then.
    fn gave_up(&mut self, _before: Reliability) {}
    /// Wear of the media at the last cut, if retirements had not taken effect by then.
    fn worn_at_cut(&mut self) -> Option<Reliability> {
        None
    }
    /// The same for a cut now.
    fn worn_before(&self) -> Option<&Reliability> {
        None
    }
    /// The media, where they keep data.
    fn media(&self) -> Option<&Media> {
        None
    }
    /// Mutable access to the same.
    fn media_mut(&mut self) -> Option<&mut Media> {
        None
    }
    /// Applies everything that has ended by now to the media.
    fn settle_all(&mut self) {}
    /// Cuts power now. Operations that end within `hold` ns are finished; `None`: no operation is.
    fn cut(&mut self, _hold: Option<u64>) -> CutDamage {
        CutDamage::default()
    }
    /// Restores power at `at`; returns the programmed rows of each block, or `None` where it must
    /// be erased.
    fn power_on(&mut self, _at: u64) -> Vec<Option<u32>> {
        Vec::new()
    }
}

image_of! {
    /// The gear without time: for write amplification and wear, as fast as memory allows.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Counting;
}

impl Gear for Counting {
    const TIMED: bool = false;

    fn new(_: &Geometry, _: &NandConfig) -> Counting {
        Counting
    }

    #[inline(always)]
    fn set_now(&mut self, _: u64) {}

    #[inline(always)]
    fn read(&mut self, _: u64, _: u32, _: &Read) -> u64 {
        0
    }

    #[inline(always)]
    fn program(&mut self, _: u64, _: u32, _: &Program) -> Ticket {
        Ticket::default()
    }

    #[inline(always)]
    fn erase(&mut self, _: u64, _: u32) -> u64 {
        0
    }

    #[inline(always)]
    fn erase_all(&mut self, _: u64, _: u64) -> u64 {
        0
    }

    #[inline(always)]
    fn is_pending(&self, _: u32, _: u32, _: u32) -> bool {
        false
    }

    #[inline(always)]
    fn end_of(&self, _: Ticket) -> u64 {
        0
    }

    #[inline(always)]
    fn make_firm(&mut self, _: Ticket) -> u64 {
        0
    }

    fn die_free_at(&self, _: u32) -> u64 {
        0
    }

    fn busy_by_purpose(&self) -> [u64; Purpose::COUNT] {
        [0; Purpose::COUNT]
    }

    fn busy_ns(&self) -> (Vec<u64>, Vec<u64>) {
        (Vec::new(), Vec::new())
    }
}
