//! The naive baseline: every slot is written in its place.
//!
//! A slot that is not programmed yet and does not lie before a programmed one is simply programmed
//! (skipped rows on its die are padded, and need a rewrite when they are written later). Everything
//! else rewrites the whole segment: a page updated at random in a full segment of n pages programs
//! n pages. (J. He, "The Myth of SSD Performance Degradation": up to 256x.)

use super::{Core, DriveConfig, Gear, NONE, Placement, Range, Target, Ticket};
use crate::image::image_of;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct InPlace;

image_of!(InPlace {});

impl Placement for InPlace {
    fn new(_: &DriveConfig) -> InPlace {
        InPlace
    }

    fn place_oldest<G: Gear>(&mut self, core: &mut Core<G>, from: u64) -> Ticket {
        core.program_due_map(from);
        let Some(oldest) = core.gather.oldest() else {
            return Ticket::default();
        };
        place(core, from, core.target(oldest.lpn), &(0..0), false)
    }

    fn place_fresh<G: Gear>(&mut self, core: &mut Core<G>, from: u64, fresh: Range<u32>) -> Ticket {
        core.program_due_map(from);
        place(core, from, core.target(fresh.start), &fresh, true)
    }

    fn superblocks(&self) -> impl Iterator<Item = u32> {
        std::iter::empty()
    }

    fn owns(&self, _: u32, _: u32, _: u32) -> bool {
        false
    }

    fn clear(&mut self) {}
}

fn place<G: Gear>(
    core: &mut Core<G>,
    from: u64,
    at: Target,
    fresh: &Range<u32>,
    firm: bool,
) -> Ticket {
    let is_moving = |core: &Core<G>| core.rewrite.is_some_and(|r| r.segment == at.segment);
    if core.home[at.segment as usize] == NONE {
        core.give_home(at.segment);
    } else if is_moving(core) && core.is_open(at) {
        core.copy_until(from, at.unit);
    } else if !core.is_open(at) {
        core.finish_rewrite(from);
        core.begin_rewrite(at.segment);
        core.copy_until(from, at.unit);
    }
    let ticket = core.program(from, at, fresh, firm);
    core.pass(at);
    ticket
}
