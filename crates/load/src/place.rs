//! How a stream finds its next address: the orders, ready to draw from.

use super::distribution::{Pareto, Zipf, Zoned};
use super::permutation::Permutation;
use ssdlab_ssd::Op;
use ssdlab_ssd::rng::Rng;

/// One command size and the places it fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub bytes: u32,
    /// Aligned starts at which it ends inside the region; at least 1.
    pub slots: u64,
}

/// A random order in which some commands follow the last one of their kind.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    pub turn_rng: Rng,
    pub random_pct: u8,
    /// Commands that follow each one at a random address.
    pub followers: u32,
    /// How many of them are still to come.
    pub follow: u32,
    /// Where the last command of each kind ended, from the region's start.
    pub ends: [u64; 3],
    /// Length of the region.
    pub len: u64,
    /// Where the others go.
    pub random: Place,
}

impl Runs {
    /// Out of line, so that the orders without runs stay as fast as they are.
    #[inline(never)]
    pub fn next(&mut self, rng: &mut Rng, op: Op, size: Size) -> u64 {
        let (end, bytes) = (self.ends[op as usize], u64::from(size.bytes));
        let random = match self.follow.checked_sub(1) {
            Some(rest) => {
                self.follow = rest;
                false
            }
            None => {
                self.follow = self.followers;
                self.turn_rng.percent(u32::from(self.random_pct))
            }
        };
        let position = match !random && end + bytes <= self.len {
            true => end,
            false => self.random.next(rng, op, size),
        };
        self.ends[op as usize] = position + bytes;
        position
    }
}

/// A sequential order with holes between commands, forwards or backwards. As in fio, the first
/// command of each kind is at the region's start; what leaves the region at its end goes on at
/// the start, what leaves it at the start goes on `skip` before the end.
#[derive(Clone, Debug)]
pub(super) struct Holes {
    /// Where the last command of each kind ended, from the region's start.
    pub ends: [u64; 3],
    pub skip: i64,
    /// Length of the region.
    pub len: u64,
}

impl Holes {
    #[inline(never)]
    pub fn next(&mut self, op: Op, size: Size) -> u64 {
        let (end, bytes) = (self.ends[op as usize], u64::from(size.bytes));
        let next = match end.checked_add_signed(self.skip) {
            _ if end == 0 => 0,
            Some(next) if next < self.len => next,
            _ if self.skip > 0 => 0,
            _ => self.len.saturating_sub(self.skip.unsigned_abs()),
        };
        let position = next.min(self.len - bytes);
        self.ends[op as usize] = position + bytes;
        position
    }
}

/// Files of equal length, one after another, served in turn: fio's
/// `file_service_type=roundrobin:1`. Each keeps its own position and its own pass.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub places: Box<[Place]>,
    pub turn: usize,
    /// Length of a file.
    pub len: u64,
}

impl Files {
    #[inline(never)]
    pub fn next(&mut self, rng: &mut Rng, op: Op, size: Size) -> u64 {
        let turn = self.turn;
        self.turn = (turn + 1) % self.places.len();
        turn as u64 * self.len + self.places[turn].next(rng, op, size)
    }
}

/// How the next address is found. Positions are in bytes from the region's start.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Sequential {
        /// Next position of each kind; all kinds use the first unless `split`.
        next: [u64; 3],
        split: bool,
        /// Where to go on after the end.
        wrap: u64,
        /// Distance between starts; 0: the command's own length.
        stride: u64,
        end: u64,
    },
    Uniform {
        align: u64,
    },
    Once {
        align: u64,
        pass: Permutation,
        visited: u64,
        slots: u64,
    },
    Zipf {
        align: u64,
        zipf: Box<Zipf>,
    },
    Pareto {
        align: u64,
        pareto: Box<Pareto>,
    },
    Zoned {
        align: u64,
        zoned: Zoned,
    },
    Runs(Box<Runs>),
    /// Reads, writes and trims, each in its own way.
    Kinds(Box<[Place; 3]>),
    Holes(Box<Holes>),
    Files(Box<Files>),
}

impl Place {
    /// The next command's position in the region.
    #[inline(always)]
    pub fn next(&mut self, rng: &mut Rng, op: Op, size: Size) -> u64 {
        // Slots are counted for the smallest size; a larger command that would stick out is
        // moved back to the last slot where it fits.
        let last = size.slots - 1;
        match self {
            Place::Uniform { align } => rng.below(size.slots) * *align,
            Place::Sequential {
                next,
                split,
                wrap,
                stride,
                end,
            } => {
                let position = &mut next[if *split { op as usize } else { 0 }];
                let len = u64::from(size.bytes);
                if *position > *end - len {
                    *position = *wrap;
                }
                let start = (*position).min(*end - len);
                *position = start + if *stride == 0 { len } else { *stride };
                start
            }
            Place::Once {
                align,
                pass,
                visited,
                slots,
            } => {
                if *visited == *slots {
                    *visited = 0;
                    *pass = Permutation::new(*slots, rng);
                }
                *visited += 1;
                pass.at(*visited - 1).min(last) * *align
            }
            Place::Zipf { align, zipf } => zipf.slot(rng).min(last) * *align,
            Place::Pareto { align, pareto } => pareto.slot(rng).min(last) * *align,
            Place::Zoned { align, zoned } => zoned.slot(rng).min(last) * *align,
            Place::Runs(runs) => runs.next(rng, op, size),
            Place::Kinds(kinds) => kinds[op as usize].next(rng, op, size),
            Place::Holes(holes) => holes.next(op, size),
            Place::Files(files) => files.next(rng, op, size),
        }
    }
}
