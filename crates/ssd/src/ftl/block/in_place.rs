//! The naive baseline: every slot is written in its place.
//!
//! A slot that is not programmed yet and does not lie before a programmed one is simply programmed
//! (skipped rows on its die are padded, and need a rewrite when they are written later). Everything
//! else rewrites the whole segment: a page updated at random in a full segment of n pages programs
//! n pages. (J. He, "The Myth of SSD Performance Degradation": up to 256x.)

use super::{BlockFtl, Gear, NONE, Range, SegmentUnit, Ticket};

impl<G: Gear> BlockFtl<G> {
    /// Programs the oldest buffered data, with other data that fits its unit; does nothing when the
    /// buffer is empty.
    pub(super) fn place_oldest(&mut self, from: u64) -> Ticket {
        self.program_due_map(from);
        let Some(oldest) = self.gather.oldest() else {
            return Ticket::default();
        };
        self.place(from, self.target(oldest.lpn), &(0..0), false)
    }

    /// Programs slots of one unit without buffering them.
    pub(super) fn place_fresh(&mut self, from: u64, fresh: Range<u32>) -> Ticket {
        self.program_due_map(from);
        self.place(from, self.target(fresh.start), &fresh, true)
    }

    fn place(&mut self, from: u64, at: SegmentUnit, fresh: &Range<u32>, firm: bool) -> Ticket {
        let is_moving = self.rewrite.is_some_and(|r| r.segment == at.segment);
        if self.home[at.segment as usize] == NONE {
            self.give_home(at.segment);
        } else if is_moving && self.is_open(at) {
            self.copy_until(from, at.unit);
        } else if !self.is_open(at) {
            self.finish_rewrite(from);
            self.begin_rewrite(at.segment);
            self.copy_until(from, at.unit);
        }
        let ticket = self.program(from, at, fresh, firm);
        self.pass(at);
        ticket
    }
}
