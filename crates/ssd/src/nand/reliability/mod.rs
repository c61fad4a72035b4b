//! Wear: how blocks age, when they fail, what takes their place, and what reading them costs.
//!
//! Model. A *block* here is the same block of all planes of a die: it is programmed and erased as
//! one. Every block has cycles, a factor by which its raw bit error rate (RBER) differs from the
//! typical one, and a number of cycles at which it fails, all drawn from the seed when the drive
//! is made. RBER is
//!
//! ```text
//! (cycles term + retention: cycles x hours + disturb: cycles x reads) x block x page
//! ```
//! looked up in the tables of [`WearConfig`]. A read tries again until the RBER is within what
//! the try corrects, and is lost beyond the last. A block that fails, or whose margin is gone
//! when its data is fresh, is retired when its superblock is next free, and one of its die's
//! reserve takes its place. Without reserve the superblock goes, and its other blocks become
//! reserve of their dies.
//!
//! What decides where data goes (failures) depends on cycles alone, so both gears agree. Hours
//! are those told by [`Reliability::rest`]: the timed gear tells its own once a patrol is due
//! (days), so a run of minutes fades nothing.
//!
//! Left out: errors in SLC mode; dependence of one block's errors on another's; dies that fail
//! whole; data lost by a read beyond the last try stays mapped (it is counted).

mod state;

pub use crate::config::{Curve, EndOfLife, LevellingConfig, RBER_UNITY, UNITY, WearConfig};

use super::operation::{Mode, UnitPlace};
use crate::geometry::Geometry;
use crate::image::image_of;

/// The block behind a place that has been given up.
const NOWHERE: u32 = u32::MAX;
/// No row fails in this cycle.
const NEVER: u16 = u16::MAX;
/// Classes of RBER in [`WearCounters::reads_by_rber`]: four to each doubling.
pub const RBER_CLASSES: usize = 208;

/// What wear has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WearCounters {
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Blocks retired because data just written to them had no margin left.
    pub margin_failures: u64,
    /// Blocks retired, for whatever reason; of all planes of a die.
    pub blocks_retired: u64,
    /// Superblocks given up because a die had no reserve left.
    pub superblocks_retired: u64,
    /// Tries beyond the first that reads took.
    pub read_retries: u64,
    /// Reads beyond the last try.
    pub reads_uncorrectable: u64,
    /// Commands refused because the drive is at its end.
    pub commands_refused: u64,
    /// Unit reads in native mode by their RBER; see [`rber_class`].
    pub reads_by_rber: Vec<u64>,
}

image_of!(WearCounters {
    program_failures,
    erase_failures,
    margin_failures,
    blocks_retired,
    superblocks_retired,
    read_retries,
    reads_uncorrectable,
    commands_refused,
    reads_by_rber
});

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

/// How one block failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Program,
    Erase,
    Margin,
}

/// What an erase of a superblock came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erased {
    /// It can be used again.
    Usable,
    /// It is given up: a die has nothing to put in the place of a block that failed.
    Retired,
    /// It would be given up, but the drive cannot do with fewer now; it can be used again.
    Overdue,
}

/// What reading one unit comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Tries beyond the first.
    pub retries: u32,
    /// The data should be written anew.
    pub faded: bool,
}

/// The wear of every block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reliability {
    config: WearConfig,
    counters: WearCounters,
    dies: u32,
    pages_per_block: u32,
    /// The block behind each superblock's place on each die: `superblock * dies + die`.
    backing: Vec<u32>,
    /// Spare blocks of each die, the next to use last.
    reserve: Vec<Vec<u32>>,
    /// Per block: erases.
    cycles: Vec<u32>,
    /// Per block: of these, those that were not played (see [`Reliability::add_cycles`]).
    leapt: Vec<u32>,
    /// Per block: cycles at which it fails; zero: it is retired.
    lasts: Vec<u32>,
    /// Per block: factor of its RBER.
    factor: Vec<u32>,
    /// Per place: the row whose program fails in this cycle.
    failing_row: Vec<u16>,
    /// Per place: it has failed and is retired when its superblock is free.
    failed: Vec<bool>,
    /// Per place: reads since the erase.
    reads: Vec<u32>,
    /// Per place: the hour of its first program since the erase.
    written_at: Vec<u32>,
    /// Places with a row that will fail: none is the usual case.
    failing_count: u32,
    /// Hours at the reference temperature that data has lain.
    hour: u32,
}

image_of!(Reliability {
    config,
    counters,
    dies,
    pages_per_block,
    backing,
    reserve,
    cycles,
    leapt,
    lasts,
    factor,
    failing_row,
    failed,
    reads,
    written_at,
    failing_count,
    hour
});

impl Reliability {
    /// Of factory-fresh media.
    pub fn new(geometry: &Geometry, config: &WearConfig) -> Reliability {
        let dies = geometry.die_count;
        let places = dies as usize * geometry.superblock_count as usize;
        let blocks = places + (dies * config.reserve_blocks) as usize;
        let mut all = Reliability {
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
        all.draw(blocks);
        all
    }

    /// What it wears like.
    pub fn config(&self) -> &WearConfig {
        &self.config
    }

    /// What wear has done so far.
    pub fn counters(&self) -> &WearCounters {
        &self.counters
    }

    /// The host was refused.
    pub fn count_refused(&mut self) {
        self.counters.commands_refused += 1;
    }

    #[inline(always)]
    fn place(&self, superblock: u32, die: u32) -> usize {
        (superblock * self.dies + die) as usize
    }

    /// Whether a superblock has been given up.
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
        // A block that is used beyond its end takes another try.
        let tries = 1 + u64::from(self.failed[self.place(superblock, die)]);
        let program = tries * self.config.program_time.at(cycles);
        let erase = self.config.erase_time.at(cycles);
        (program as u32, erase as u32)
    }

    /// The block at a place was erased for its first program.
    #[inline]
    pub fn erased(&mut self, superblock: u32, die: u32) {
        let place = self.place(superblock, die);
        self.cycles[self.backing[place] as usize] += 1;
    }

    /// The same, told afterwards: what was programmed since is fresh.
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

    /// A row was programmed; when it fails, its block is done for.
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

    /// Whether a block of the superblock has failed since it was erased: its data should move.
    pub fn has_failed(&self, superblock: u32) -> bool {
        let first = self.place(superblock, 0);
        self.failed[first..first + self.dies as usize].contains(&true)
    }

    /// What reading a page comes to, and counts it.
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
        // Which page of a block is worse belongs to the block, and stays with it.
        let mixed = (self.backing[place] ^ row.wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
        let page = pages[(mixed >> 8) as usize % pages.len()];
        scaled(self.block_rber(place), page)
    }

    /// RBER of a typical page at a place, 10^-15, as its data is now.
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
        let kept = grown(&c.rber_retention, &c.retention_hours, hours);
        let disturbed = grown(&c.rber_disturb, &c.disturb_reads, reads_per_page);
        let fresh = c.rber_cycles.at(cycles).min(RBER_UNITY);
        (fresh + kept + disturbed).min(RBER_UNITY / 2)
    }

    /// So many more hours at the reference temperature go by.
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
