//! Wear: ageing, failure and replacement of blocks, and the cost of reading them.
//!
//! Model. A *block* here is the same block of all planes of a die: it is programmed and erased as
//! one. Every block has a cycle count, a factor by which its raw bit error rate (RBER) differs from
//! the typical one, and a number of cycles at which it fails; factor and limit are drawn from the
//! seed when the drive is created. RBER is
//!
//! ```text
//! (cycles term + retention: cycles x hours + disturb: cycles x reads) x block x page
//! ```
//! looked up in the tables of [`WearConfig`]. A read is retried until the RBER is within the limit
//! of the try, and the data is lost beyond the last. A block that fails, or has no margin left for
//! fresh data, is retired when its superblock is next free, and a block of its die's reserve
//! replaces it. Without reserve the superblock is retired, and its other blocks become reserve of
//! their dies.
//!
//! Failures, which affect data placement, depend on cycles alone, so both gears agree. Hours pass
//! only through [`Reliability::rest`]: the timed gear calls it when a patrol is due (days), so no
//! data fades in a run of minutes.
//!
//! Left out: errors in SLC mode; dependence of one block's errors on another's; failure of whole
//! dies; data lost by a read beyond the last try stays mapped (it is counted).

mod state;

pub use crate::config::{Curve, EndOfLife, LevellingConfig, RBER_UNITY, UNITY, WearConfig};

use super::operation::{Mode, UnitPlace};
use crate::geometry::Geometry;
use crate::image::image_of;

/// Block number of a retired place.
const NOWHERE: u32 = u32::MAX;
/// Row number that means that no row fails in this cycle.
const NEVER: u16 = u16::MAX;
/// Classes of RBER in [`WearCounters::reads_by_rber`]: four to each doubling.
pub const RBER_CLASSES: usize = 208;

image_of! {
    /// Effects of wear so far.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WearCounters {
        /// Programs that failed.
        pub program_failures: u64,
        /// Erases that failed.
        pub erase_failures: u64,
        /// Blocks retired because freshly written data had no margin left.
        pub margin_failures: u64,
        /// Blocks (of all planes of a die) retired for any reason.
        pub blocks_retired: u64,
        /// Superblocks retired because a die had no reserve left.
        pub superblocks_retired: u64,
        /// Read retries.
        pub read_retries: u64,
        /// Reads that failed at the last try.
        pub reads_uncorrectable: u64,
        /// Commands refused because the drive has reached its end of life.
        pub commands_refused: u64,
        /// Unit reads in native mode by their RBER; see [`rber_class`].
        pub reads_by_rber: Vec<u64>,
    }
}

impl Default for WearCounters {
    fn default() -> WearCounters {
        WearCounters {
            program_failures: 0,
            erase_failures: 0,
            margin_failures: 0,
            blocks_retired: 0,
            superblocks_retired: 0,
            read_retries: 0,
            reads_uncorrectable: 0,
            commands_refused: 0,
            reads_by_rber: vec![0; RBER_CLASSES],
        }
    }
}

/// The class of an RBER in 10^-15: four to each doubling.
#[inline]
pub fn rber_class(rber: u64) -> usize {
    let rber = rber.max(4);
    let octave = rber.ilog2();
    let quarter = (rber >> (octave - 2)) & 3;
    ((4 * (octave - 2)) as usize + quarter as usize).min(RBER_CLASSES - 1)
}

/// The highest RBER of a class, 10^-15.
pub fn rber_class_top(class: usize) -> u64 {
    let (octave, quarter) = ((class / 4) as u32 + 2, (class % 4) as u64);
    ((5 + quarter) << (octave - 2)) - 1
}

/// Kinds of block failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Program,
    Erase,
    Margin,
}

/// Outcome of freeing a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erased {
    /// It can be used again.
    Usable,
    /// It is retired: a die has no reserve to replace a failed block.
    Retired,
    /// It should be retired, but the drive needs it now; it can be used again.
    Overdue,
}

/// Outcome of reading one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Number of retries.
    pub retries: u32,
    /// The data should be rewritten.
    pub faded: bool,
}

image_of! {
    /// The wear of every block.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Reliability {
        config: WearConfig,
        counters: WearCounters,
        dies: u32,
        pages_per_block: u32,
        /// The block behind each superblock's place on each die: `superblock * dies + die`.
        backing: Vec<u32>,
        /// Spare blocks of each die; the last one is used next.
        reserve: Vec<Vec<u32>>,
        /// Per block: erases.
        cycles: Vec<u32>,
        /// Per block: erases that were leapt over (see [`Reliability::add_cycles`]).
        leapt: Vec<u32>,
        /// Per block: cycles at which it fails; zero: it is retired.
        lasts: Vec<u32>,
        /// Per block: factor of its RBER.
        factor: Vec<u32>,
        /// Per place: row whose program fails in this cycle.
        failing_row: Vec<u16>,
        /// Per place: whether it has failed and is retired when its superblock is free.
        failed: Vec<bool>,
        /// Per place: reads since the erase.
        reads: Vec<u32>,
        /// Per place: hour of its first program since the erase.
        written_at: Vec<u32>,
        /// Number of places with a row that will fail: usually zero.
        failing_count: u32,
        /// Hours of retention at the reference temperature.
        hour: u32,
    }
}

impl Reliability {
    /// Wear of factory-fresh media.
    pub fn new(geometry: &Geometry, config: &WearConfig) -> Reliability {
        let dies = geometry.die_count;
        let places = dies as usize * geometry.superblock_count as usize;
        let blocks = places + (dies * config.reserve_blocks) as usize;
        let mut reliability = Reliability {
            counters: WearCounters::default(),
            dies,
            pages_per_block: geometry.shape.pages_per_block,
            backing: (0..places as u32).collect(),
            reserve: (0..dies)
                .map(|die| {
                    let spare = (0..config.reserve_blocks).rev();
                    spare.map(|n| places as u32 + n * dies + die).collect()
                })
                .collect(),
            cycles: vec![0; blocks],
            leapt: vec![0; blocks],
            lasts: vec![u32::MAX; blocks],
            factor: vec![UNITY as u32; blocks],
            failing_row: vec![NEVER; places],
            failed: vec![false; places],
            reads: vec![0; places],
            written_at: vec![0; places],
            failing_count: 0,
            hour: 0,
            config: config.clone(),
        };
        reliability.draw(blocks);
        reliability
    }

    /// Parameters of the wear.
    pub fn config(&self) -> &WearConfig {
        &self.config
    }

    /// Effects of wear so far.
    pub fn counters(&self) -> &WearCounters {
        &self.counters
    }

    /// Counts a refused command.
    pub fn count_refused(&mut self) {
        self.counters.commands_refused += 1;
    }

    #[inline(always)]
    fn place(&self, superblock: u32, die: u32) -> usize {
        (superblock * self.dies + die) as usize
    }

    /// Whether a superblock has been retired.
    pub fn is_retired(&self, superblock: u32) -> bool {
        self.backing[self.place(superblock, 0)] == NOWHERE
    }

    /// Cycles of the block at a place.
    #[inline(always)]
    pub fn cycles(&self, superblock: u32, die: u32) -> u32 {
        self.cycles[self.backing[self.place(superblock, die)] as usize]
    }

    /// Factors of the program and the erase time of the block at a place; see [`UNITY`].
    #[inline]
    pub fn pace(&self, superblock: u32, die: u32) -> (u32, u32) {
        let cycles = u64::from(self.cycles(superblock, die));
        // A block that is used beyond its end needs another try.
        let tries = 1 + u64::from(self.failed[self.place(superblock, die)]);
        let program = tries * self.config.program_time.at(cycles);
        let erase = self.config.erase_time.at(cycles);
        (program as u32, erase as u32)
    }

    /// Counts the erase of the block at a place before its first program.
    #[inline]
    pub fn erased(&mut self, superblock: u32, die: u32) {
        let place = self.place(superblock, die);
        self.cycles[self.backing[place] as usize] += 1;
    }

    /// The same after the fact: data programmed since counts as fresh.
    pub fn erased_before(&mut self, superblock: u32, die: u32) {
        self.erased(superblock, die);
        let place = self.place(superblock, die);
        self.reads[place] = 0;
        self.written_at[place] = self.hour;
    }

    /// Whether any program of this superblock will fail before it is erased again.
    #[inline]
    pub fn will_fail(&self, superblock: u32) -> bool {
        if self.failing_count == 0 {
            return false;
        }
        let first = self.place(superblock, 0);
        let rows = &self.failing_row[first..first + self.dies as usize];
        rows.iter().any(|&row| row != NEVER)
    }

    /// Whether the program of this row fails.
    #[inline(always)]
    pub fn program_fails(&self, superblock: u32, die: u32, row: u32) -> bool {
        self.failing_count > 0 && u32::from(self.failing_row[self.place(superblock, die)]) == row
    }

    /// Counts a programmed row; if its program fails, the block has failed.
    #[inline(always)]
    pub fn programmed(&mut self, superblock: u32, die: u32, row: u32) {
        if row == 0 {
            let place = self.place(superblock, die);
            self.reads[place] = 0;
            self.written_at[place] = self.hour;
        }
        if self.program_fails(superblock, die, row) {
            let place = self.place(superblock, die);
            self.failing_row[place] = NEVER;
            self.failing_count -= 1;
            self.failed[place] = true;
            self.counters.program_failures += 1;
        }
    }

    /// Whether a block of the superblock has failed since it was erased, so that its data should
    /// move.
    pub fn has_failed(&self, superblock: u32) -> bool {
        let first = self.place(superblock, 0);
        self.failed[first..first + self.dies as usize].contains(&true)
    }

    /// Counts the read of a page and returns its outcome.
    #[inline]
    pub(super) fn read(&mut self, at: UnitPlace) -> Reading {
        let place = self.place(at.superblock, at.die);
        self.reads[place] = self.reads[place].saturating_add(1);
        if at.mode == Mode::Slc {
            return Reading {
                retries: 0,
                faded: false,
            };
        }
        let rber = self.page_rber(place, at.row);
        self.counters.reads_by_rber[rber_class(rber)] += 1;
        let tries = &self.config.correctable;
        let retries = tries.iter().take_while(|&&limit| rber > limit).count();
        if retries == tries.len() {
            self.counters.reads_uncorrectable += 1;
        }
        let retries = retries.min(tries.len() - 1) as u32;
        self.counters.read_retries += u64::from(retries);
        Reading {
            retries,
            faded: rber > self.config.refresh_above,
        }
    }

    fn page_rber(&self, place: usize, row: u32) -> u64 {
        let pages = &self.config.page_spread;
        // The spread among the pages of a block is a fixed property of the block.
        let mixed = (self.backing[place] ^ row.wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
        let page = pages[(mixed >> 8) as usize % pages.len()];
        scaled(self.block_rber(place), page)
    }

    /// Present RBER of a typical page at a place, 10^-15.
    fn block_rber(&self, place: usize) -> u64 {
        let block = self.backing[place] as usize;
        let hours = self.hour - self.written_at[place];
        let reads = self.reads[place] / self.pages_per_block;
        scaled(
            self.rber(self.cycles[block], hours, reads),
            self.factor[block],
        )
    }

    /// RBER of typical media, 10^-15, at most one half.
    pub fn rber(&self, cycles: u32, hours: u32, reads_per_page: u32) -> u64 {
        let (c, cycles) = (&self.config, u64::from(cycles));
        let grown = |per: &Curve, by: &Curve, x: u32| {
            if x == 0 {
                return 0;
            }
            let product = u128::from(per.at(cycles)) * u128::from(by.at(x.into()));
            (product / u128::from(UNITY)).min(u128::from(RBER_UNITY)) as u64
        };
        let retention = grown(&c.rber_retention, &c.retention_hours, hours);
        let disturbed = grown(&c.rber_disturb, &c.disturb_reads, reads_per_page);
        let fresh = c.rber_cycles.at(cycles).min(RBER_UNITY);
        (fresh + retention + disturbed).min(RBER_UNITY / 2)
    }

    /// Lets `hours` pass at the reference temperature.
    pub fn rest(&mut self, hours: u32) {
        self.hour = self.hour.saturating_add(hours);
    }
}

fn scaled(rber: u64, factor: u32) -> u64 {
    let product = u128::from(rber) * u128::from(factor) / u128::from(UNITY);
    product.min(u128::from(RBER_UNITY / 2)) as u64
}

#[cfg(test)]
mod tests;
