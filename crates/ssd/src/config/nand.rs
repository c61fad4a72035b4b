//! Parameters of the array: times of its operations, and rules for concurrent ones.

use crate::image::image_of;
use crate::units::Nanos;

image_of! {
    /// Times of the array's operations, by kind of page (0 = lower page of a word line).
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct NandTiming {
        /// Sense a page, by page kind; `bits_per_cell` of them.
        pub read: Vec<Nanos>,
        /// Program a page, by page kind; `bits_per_cell` of them.
        pub program: Vec<Nanos>,
        /// Sense a page written in SLC mode.
        pub slc_read: Nanos,
        /// Program a page in SLC mode.
        pub slc_program: Nanos,
        /// Erase a block.
        pub erase: Nanos,
        /// Bytes per second of a channel.
        pub channel_bytes_per_second: u64,
    }
}

image_of! {
    /// Suspension of a program or erase in progress by a read.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Suspend {
        /// Time from the read's arrival until the die can sense.
        pub suspend: Nanos,
        /// Time from the end of the read until the operation resumes.
        pub resume: Nanos,
        /// Maximum number of suspensions of one operation.
        pub most: u8,
    }
}

image_of! {
    /// Times of the array and rules for concurrent operations.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct NandConfig {
        /// Times.
        pub timing: NandTiming,
        /// Whether reads overtake programs and erases that have not begun.
        pub read_first: bool,
        /// Whether and how reads suspend programs and erases in progress; needs `read_first`.
        pub suspend: Option<Suspend>,
        /// Whether a die senses the next page while the previous one's data is still being
        /// transferred.
        pub cache_read: bool,
        /// Whether a die's register is loaded while its array still programs the previous page.
        pub cache_program: bool,
        /// Number of dies that may program at once (the supply's power); 0 = all.
        pub programs_at_once: u32,
    }
}

impl NandTiming {
    /// SLC mode is as fast as the lower page.
    pub fn new(
        read: Vec<Nanos>,
        program: Vec<Nanos>,
        erase: Nanos,
        channel_bytes_per_second: u64,
    ) -> NandTiming {
        NandTiming {
            slc_read: read.first().copied().unwrap_or_default(),
            slc_program: program.first().copied().unwrap_or_default(),
            read,
            program,
            erase,
            channel_bytes_per_second,
        }
    }
}

impl Suspend {
    /// All three values.
    pub fn new(suspend: Nanos, resume: Nanos, most: u8) -> Suspend {
        Suspend {
            suspend,
            resume,
            most,
        }
    }
}

impl NandConfig {
    /// Reads go first; no suspension, no cache operations, and all dies may program at once.
    pub fn new(timing: NandTiming) -> NandConfig {
        NandConfig {
            timing,
            read_first: true,
            suspend: None,
            cache_read: false,
            cache_program: false,
            programs_at_once: 0,
        }
    }
}
