//! The programs and erases booked, counted, so that a cut can be aimed inside one of them.
//!
//! Reads are not counted: a cut inside one leaves nothing that a cut beside it would not.

use super::Media;
use crate::nand::gear::Ticket;

/// Counts, and what is aimed at.
#[derive(Clone, Debug, Default)]
pub(super) struct Aim {
    booked: u64,
    target: Option<u64>,
    hit: Option<Aimed>,
}

/// The operation aimed at, once it is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aimed {
    /// The booking that it is part of.
    pub ticket: Ticket,
    /// It is the erase of a booking that also programs.
    pub erase: bool,
    /// When it begins, as is now known; ns.
    pub start: u64,
    /// When it ends; ns.
    pub end: u64,
}

impl Aim {
    /// One more was booked.
    pub fn count(&mut self, die: u32, id: u32, erase: bool) {
        self.booked += 1;
        if self.target == Some(self.booked) {
            let ticket = Ticket { end: 0, die, id };
            self.hit = Some(Aimed {
                ticket,
                erase,
                start: 0,
                end: 0,
            });
        }
    }
}

impl Media {
    /// Programs and erases booked since the drive was made or read from files; a block's erase
    /// and the program behind it are two.
    pub fn booked_count(&self) -> u64 {
        self.aim.booked
    }

    /// Aims at the `nth` program or erase booked from now on, counted from 1; `None`: at nothing.
    pub fn aim_at(&mut self, nth: Option<u64>) {
        self.aim.target = nth.map(|nth| self.aim.booked.saturating_add(nth));
        self.aim.hit = None;
    }

    /// Power fails: an operation that is booked will not be struck any more. One that is not yet
    /// booked stays aimed at, it may be one of recovery.
    pub(super) fn miss_aim(&mut self) {
        if self.aim.hit.take().is_some() {
            self.aim.target = None;
        }
    }

    /// Whether something is aimed at.
    pub fn is_aiming(&self) -> bool {
        self.aim.target.is_some()
    }

    /// What is aimed at, once it is booked.
    pub fn aimed(&self) -> Option<Aimed> {
        self.aim.hit
    }

    /// Where in time it is, as is now known.
    pub(in crate::nand) fn aimed_lies(&mut self, start: u64, end: u64) {
        if let Some(hit) = &mut self.aim.hit {
            (hit.start, hit.end) = (start, end);
        }
    }
}
