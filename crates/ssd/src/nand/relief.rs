//! Costs of the array taken away, to see how fast a drive would be without them.

use super::operation::Purpose;
use crate::config::UNITY;
use crate::units::Nanos;

/// A cost of the array's operations that is taken away or reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandRelief {
    /// Operations of a purpose take this share of their time, of [`UNITY`]; for 0 they also wait
    /// for nothing. Erases count as reclaim.
    Work(Purpose, u32),
    /// Reads need no retries, and wear does not slow programs and erases down.
    Unworn,
    /// Reads overtake programs that have not begun.
    ReadsFirst,
    /// At least this number of dies may program at once.
    ProgramsAtOnce(u32),
    /// Every page is programmed as fast as one in SLC mode.
    SlcSpeed,
    /// Reads and programs take at most so long, on average over the `kinds` of pages.
    Cells {
        /// Mean time to sense a page.
        read: Nanos,
        /// Mean time to program a page.
        program: Nanos,
        /// Bits per cell.
        kinds: usize,
    },
}

/// Share of their time that operations take.
#[derive(Clone, Debug)]
pub(super) struct Charges {
    /// Whether anything is taken away at all.
    pub any: bool,
    pub unworn: bool,
    pub by_purpose: [u32; Purpose::COUNT],
}

impl Default for Charges {
    fn default() -> Charges {
        Charges {
            any: false,
            unworn: false,
            by_purpose: [UNITY as u32; Purpose::COUNT],
        }
    }
}
