//! Operations of the array: purpose, place and outcome.

use crate::geometry::Place;
use crate::image::{image_of, image_of_choice};

/// Mode of the cells of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// All bits of a cell: all rows.
    Native = 0,
    /// One bit of a cell: `1 / bits_per_cell` of the rows, faster.
    Slc = 1,
}

image_of_choice!(Mode { Native, Slc });

/// Purpose of an operation of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Data of the host, read or written.
    Host = 0,
    /// The map: journal, checkpoints, map pages.
    Map = 1,
    /// Reclaim.
    Relocation = 2,
    /// Folding data out of the pSLC cache.
    Fold = 3,
    /// Patrol reads, and data rewritten before it fades.
    Refresh = 4,
    /// Parity over dies.
    Parity = 5,
}

impl Purpose {
    /// Number of purposes, for tables indexed by `purpose as usize`.
    pub const COUNT: usize = 6;
    /// Names for reports, in index order.
    pub const NAMES: [&'static str; Purpose::COUNT] =
        ["host", "map", "relocation", "fold", "refresh", "parity"];
}

image_of_choice!(Purpose {
    Host,
    Map,
    Relocation,
    Fold,
    Refresh,
    Parity
});

/// Index of SLC-mode pages in tables by kind of page.
pub const SLC_KIND: usize = 7;

image_of! {
    /// Work done on the array, by kind of page (see [`SLC_KIND`]); for energy and reports.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct NandWork {
        /// Unit reads (all planes of a die).
        pub reads: [u64; 8],
        /// Unit programs.
        pub programs: [u64; 8],
        /// Block erases (all planes of a die).
        pub erases: u64,
        /// Slots moved over channels.
        pub slots_moved: u64,
    }
}

/// Place of a programmed unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitPlace {
    /// Superblock.
    pub superblock: u32,
    /// Row in it.
    pub row: u32,
    /// Die.
    pub die: u32,
    /// Mode of the superblock's cells.
    pub mode: Mode,
}

impl UnitPlace {
    /// The unit of a slot's place.
    #[inline(always)]
    pub fn of(place: Place, mode: Mode) -> UnitPlace {
        UnitPlace {
            superblock: place.superblock,
            row: place.row,
            die: place.die,
            mode,
        }
    }
}

/// One program of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Superblock.
    pub superblock: u32,
    /// Row in it.
    pub row: u32,
    /// Die.
    pub die: u32,
    /// Kind of page, or [`SLC_KIND`].
    pub kind: usize,
    /// The block must be erased first.
    pub erase: bool,
    /// Others depend on its end: no read may overtake it.
    pub firm: bool,
    /// Purpose.
    pub purpose: Purpose,
    /// Factors of the program's and the erase's time; see [`crate::config::UNITY`].
    pub pace: (u32, u32),
}

/// One read of some slots of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Die.
    pub die: u32,
    /// Kind of page, or [`SLC_KIND`].
    pub kind: usize,
    /// Slots moved over the channel.
    pub slots: u32,
    /// Purpose.
    pub purpose: Purpose,
    /// Number of retries.
    pub retries: u32,
    /// Time of each retry besides sensing, ns.
    pub retry_ns: u64,
}

image_of! {
    /// Handle of a program in progress.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Ticket {
        /// Currently known end; a read that overtakes it delays it.
        pub end: u64,
        /// Its die.
        pub die: u32,
        /// Its number on that die.
        pub id: u32,
    }
}

/// Outcome of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Programmed {
    /// Handle to query when the data is on media.
    pub ticket: Ticket,
    /// The block had to be erased first.
    pub erased: bool,
}
