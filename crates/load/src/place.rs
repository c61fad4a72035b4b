//! How a stream finds its next address: the orders, ready to draw from.

use super::distribution::{Normal, Pareto, Zipf, Zoned};
use super::permutation::Permutation;
use crate::plan::Zones;
use ssdlab_ssd::Op;
use ssdlab_ssd::rng::Rng;

/// One command size and the places it fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct AlignedSize {
    pub bytes: u32,
    /// Aligned starts at which it ends inside the region; at least 1.
    pub slots: u64,
}

/// Sizes drawn from a range as fio draws them: a number from `low` to `low + high`, rounded down to
/// a multiple of `low` and cut to `high`.
#[derive(Clone, Debug)]
pub(super) struct SizeRange {
    low: u64,
    high: u64,
    align: u64,
    region: u64,
}

impl SizeRange {
    pub fn new(low: u32, high: u32, align: u64, region: u64) -> SizeRange {
        SizeRange {
            low: u64::from(low.max(512)),
            high: u64::from(high),
            align,
            region,
        }
    }

    #[inline(never)]
    pub fn draw(&self, rng: &mut Rng) -> AlignedSize {
        let drawn = self.low + rng.below(self.high);
        let bytes = (drawn - drawn % self.low).min(self.high);
        AlignedSize {
            bytes: bytes as u32,
            slots: self.region.saturating_sub(bytes) / self.align + 1,
        }
    }
}

/// Zones of the region one after another, with gaps: fio's `zonemode=strided`.
#[derive(Clone, Debug)]
pub(super) struct StridedZones {
    pub zones: Zones,
    /// Where the zone starts in the region.
    pub start: u64,
    /// Bytes transferred in it.
    pub done: u64,
    /// Where the last command of each kind ended, from the region's start.
    pub ends: [u64; 3],
    /// Length of the region.
    pub len: u64,
    /// Of a random order: where to go in a zone.
    pub within: Option<AddressGenerator>,
}

impl StridedZones {
    #[inline(never)]
    pub fn next(&mut self, rng: &mut Rng, op: Op, size: AlignedSize) -> u64 {
        let (bytes, zones) = (u64::from(size.bytes), self.zones);
        if self.done >= zones.bytes {
            self.done = 0;
            self.start += zones.range + zones.skip;
            if self.start >= self.len {
                self.start = 0;
            }
            self.ends[op as usize] = self.start;
        }
        if self.ends[op as usize] >= self.start + zones.range {
            self.ends[op as usize] = self.start;
        }
        if self.done.is_multiple_of(zones.range) {
            self.ends = [self.start; 3];
            if let Some(within) = &mut self.within {
                within.renew(rng);
            }
        }
        let end = self.ends[op as usize];
        let position = match &mut self.within {
            Some(within) => self.start + within.next(rng, op, size),
            None => end,
        };
        // The last zone may be cut off by the end of the region.
        let position = position.min(self.len - bytes);
        self.ends[op as usize] = position + bytes;
        self.done += bytes;
        position
    }
}

/// A random order in which some commands follow the last one of their kind.
#[derive(Clone, Debug)]
pub(super) struct RandomRuns {
    pub turn_rng: Rng,
    /// Of reads, writes and trims.
    pub random_pct: [u8; 3],
    /// Commands that follow each one at a random address.
    pub followers: u32,
    /// How many of them are still to come.
    pub follow: u32,
    /// Where the last command of each kind ended, from the region's start.
    pub ends: [u64; 3],
    /// Length of the region.
    pub len: u64,
    /// Where the others go.
    pub random: AddressGenerator,
}

impl RandomRuns {
    /// Out of line, so that the orders without runs stay as fast as they are.
    #[inline(never)]
    pub fn next(&mut self, rng: &mut Rng, op: Op, size: AlignedSize) -> u64 {
        let (end, bytes) = (self.ends[op as usize], u64::from(size.bytes));
        let random = match self.follow.checked_sub(1) {
            Some(rest) => {
                self.follow = rest;
                false
            }
            None => {
                self.follow = self.followers;
                self.turn_rng
                    .percent(u32::from(self.random_pct[op as usize]))
            }
        };
        let position = if !random && end + bytes <= self.len {
            end
        } else {
            self.random.next(rng, op, size)
        };
        self.ends[op as usize] = position + bytes;
        position
    }
}

/// A sequential order with holes between commands, forwards or backwards. As in fio, the first
/// command of each kind is at the region's start; what leaves the region at its end goes on at
/// the start, what leaves it at the start goes on `skip` before the end.
#[derive(Clone, Debug)]
pub(super) struct SequentialHoles {
    /// Where the last command of each kind ended, from the region's start.
    pub ends: [u64; 3],
    pub skip: i64,
    /// Length of the region.
    pub len: u64,
}

impl SequentialHoles {
    #[inline(never)]
    pub fn next(&mut self, op: Op, size: AlignedSize) -> u64 {
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
pub(super) struct RoundRobinFiles {
    pub places: Box<[AddressGenerator]>,
    pub turn: usize,
    /// Length of a file.
    pub len: u64,
}

impl RoundRobinFiles {
    #[inline(never)]
    pub fn next(&mut self, rng: &mut Rng, op: Op, size: AlignedSize) -> u64 {
        let turn = self.turn;
        self.turn = (turn + 1) % self.places.len();
        turn as u64 * self.len + self.places[turn].next(rng, op, size)
    }
}

/// How the next address is found. Positions are in bytes from the region's start.
#[derive(Clone, Debug)]
pub(super) enum AddressGenerator {
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
    Runs(Box<RandomRuns>),
    /// Reads, writes and trims, each in its own way.
    Kinds(Box<[AddressGenerator; 3]>),
    Holes(Box<SequentialHoles>),
    Files(Box<RoundRobinFiles>),
    Normal {
        align: u64,
        normal: Box<Normal>,
    },
    Strided(Box<StridedZones>),
}

impl AddressGenerator {
    /// Forgets which blocks were visited.
    fn renew(&mut self, rng: &mut Rng) {
        match self {
            AddressGenerator::Once {
                pass,
                visited,
                slots,
                ..
            } => {
                *visited = 0;
                *pass = Permutation::new(*slots, rng);
            }
            AddressGenerator::Kinds(kinds) => kinds.iter_mut().for_each(|kind| kind.renew(rng)),
            _ => {}
        }
    }

    /// The next command's position in the region.
    #[inline(always)]
    pub fn next(&mut self, rng: &mut Rng, op: Op, size: AlignedSize) -> u64 {
        // Slots are counted for the smallest size; a larger command that would stick out is
        // moved back to the last slot where it fits.
        let last = size.slots - 1;
        // The commonest by a comparison, the others by a jump table.
        if let AddressGenerator::Uniform { align } = self {
            return rng.below(size.slots) * *align;
        }
        match self {
            AddressGenerator::Uniform { .. } => unreachable!("returned above"),
            AddressGenerator::Sequential {
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
            AddressGenerator::Once {
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
            AddressGenerator::Zipf { align, zipf } => zipf.slot(rng).min(last) * *align,
            AddressGenerator::Pareto { align, pareto } => pareto.slot(rng).min(last) * *align,
            AddressGenerator::Zoned { align, zoned } => zoned.slot(rng).min(last) * *align,
            AddressGenerator::Runs(runs) => runs.next(rng, op, size),
            AddressGenerator::Kinds(kinds) => kinds[op as usize].next(rng, op, size),
            AddressGenerator::Holes(holes) => holes.next(op, size),
            AddressGenerator::Files(files) => files.next(rng, op, size),
            AddressGenerator::Normal { align, normal } => normal.slot(rng).min(last) * *align,
            AddressGenerator::Strided(strided) => strided.next(rng, op, size),
        }
    }
}
