//! The two gears: with time and without.
//!
//! The translation layer is written once, over a [`Gear`] chosen at compile time. The timed gear
//! ([`super::Clock`]) says when each operation ends; the counting gear ([`Counting`]) answers
//! zero to everything and costs nothing. Where data goes never depends on an answer, so that both
//! leave the same map for the same commands.

use super::media::{CutDamage, Media};
use super::operation::{Program, Purpose, Read, Ticket};
use super::reliability::Reliability;
use crate::config::NandConfig;
use crate::geometry::Geometry;
use crate::image::{Image, image_of};
use std::fmt::Debug;

/// When operations end.
pub trait Gear: Clone + Debug + Image {
    /// Whether time exists.
    const TIMED: bool;
    /// For an array of this shape.
    fn new(geometry: &Geometry, config: &NandConfig) -> Self;
    /// No later request will be for a time before `now`.
    fn set_now(&mut self, now: u64);
    /// Books a read from `from` on; returns when its data is in the controller.
    fn read(&mut self, from: u64, channel: u32, op: &Read) -> u64;
    /// Books a program from `from` on.
    fn program(&mut self, from: u64, channel: u32, op: &Program) -> Ticket;
    /// Books the erase of a superblock's block on every die; returns the end of the last.
    fn erase(&mut self, from: u64, superblock: u32) -> u64;
    /// Erases everything, once all is quiet; returns the end.
    fn erase_all(&mut self, from: u64, blocks_per_die: u64) -> u64;
    /// Whether a page is still to be programmed: its data is then in the controller.
    fn is_pending(&self, superblock: u32, row: u32, die: u32) -> bool;
    /// When a program ends as is now known; zero when it is over.
    fn end_of(&self, ticket: Ticket) -> u64;
    /// Somebody relies on when this program ends; from now on no read overtakes it.
    fn make_firm(&mut self, ticket: Ticket) -> u64;
    /// When a die will have finished everything booked.
    fn die_free_at(&self, die: u32) -> u64;
    /// Busy time of all dies by what it was for, ns; indexed by [`Purpose`].
    fn busy_by_purpose(&self) -> [u64; Purpose::COUNT];
    /// Busy time of each die and of each channel, ns.
    fn busy_ns(&self) -> (Vec<u64>, Vec<u64>);
    /// Whether the media remember what is programmed; if not, what follows does nothing.
    const KEEPS: bool = false;
    /// A superblock is free: its next erase waits for what is booked now.
    fn freed(&mut self, _superblock: u32) {}
    /// A superblock was given up: its good blocks may serve elsewhere once all that is booked now
    /// has ended. `before`: how the media were worn until then.
    fn gave_up(&mut self, _before: Reliability) {}
    /// Wear of the media at the last cut, where what was given up since had not come about.
    fn worn_at_cut(&mut self) -> Option<Reliability> {
        None
    }
    /// The same if power failed now.
    fn worn_before(&self) -> Option<&Reliability> {
        None
    }
    /// The media that remember.
    fn media(&self) -> Option<&Media> {
        None
    }
    /// The same, to change.
    fn media_mut(&mut self) -> Option<&mut Media> {
        None
    }
    /// Brings the media up to now.
    fn settle_all(&mut self) {}
    /// Power fails now. What ends within `hold` ns is finished; `None`: nothing holds it up.
    fn cut(&mut self, _hold: Option<u64>) -> CutDamage {
        CutDamage::default()
    }
    /// Power is back at `at`: the rows programmed of each block, or `None` where it must be
    /// erased.
    fn power_on(&mut self, _at: u64) -> Vec<Option<u32>> {
        Vec::new()
    }
}

/// No time: for write amplification and wear, as fast as memory allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

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

image_of!(Counting {});
