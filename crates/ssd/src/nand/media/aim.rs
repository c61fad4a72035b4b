//! Count of the programs and erases booked, so that a cut can be aimed inside one of them.
//!
//! Reads are not counted: a cut inside a read has no effect that a cut beside it would not have.

use crate::nand::operation::Ticket;

/// The count and the target.
#[derive(Clone, Debug, Default)]
pub(super) struct Aim {
    pub booked: u64,
    pub target: Option<u64>,
    pub hit: Option<Aimed>,
}

/// The operation aimed at, once it is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aimed {
    /// The booking that it is part of.
    pub ticket: Ticket,
    /// The target is the erase of a booking that also programs.
    pub erase: bool,
    /// Currently known start, ns.
    pub start: u64,
    /// Currently known end, ns.
    pub end: u64,
}

impl Aim {
    /// Counts a booked operation.
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
