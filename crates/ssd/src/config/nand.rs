//! Parameters of the array: times of its operations, and how they go together.

use crate::image::image_of;
use crate::units::Nanos;

/// Times of the array's operations, by kind of page (0 = lower page of a word line).
#[derive(Clone, Debug, PartialEq, Eq)]
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

image_of!(NandTiming {
    read,
    program,
    slc_read,
    slc_program,
    erase,
    channel_bytes_per_second
});

/// How a program or erase at work is interrupted by a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspend {
    /// From the read's arrival until the die can sense.
    pub suspend: Nanos,
    /// From the end of the read until the operation goes on.
    pub resume: Nanos,
    /// How often one operation may be interrupted.
    pub most: u8,
}

image_of!(Suspend {
    suspend,
    resume,
    most
});

/// The array's times and how its operations go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NandConfig {
    /// Times.
    pub timing: NandTiming,
    /// Reads overtake programs and erases that have not begun.
    pub read_first: bool,
    /// Reads interrupt programs and erases at work; needs `read_first`.
    pub suspend: Option<Suspend>,
    /// A die senses the next page while the last one's data still moves out.
    pub cache_read: bool,
    /// A die's register is loaded while its array still programs the page before.
    pub cache_program: bool,
}

image_of!(NandConfig {
    timing,
    read_first,
    suspend,
    cache_read,
    cache_program
});
