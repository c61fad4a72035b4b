//! The media: the rules of NAND, and the work done on it.
//!
//! Model. A die does one operation at a time; a channel carries one transfer at a time. A program
//! moves its data over the channel into the die's registers, then programs; a read senses, then
//! moves the wanted bytes out. All planes of a die work together. With cache operations a die
//! loads or unloads one register while its array works on another. Rules, asserted: the pages of
//! a block are programmed in order, once, after an erase.
//!
//! A [`Gear`] computes when operations end; everything independent of time is here.
//!
//! Wear is in [`reliability`].

mod bus;
mod clock;
mod gear;
mod leap;
pub mod media;
mod operation;
mod power;
mod queue;
mod recorder;
pub mod reliability;
mod relief;
mod used;

pub use bus::Bus;
pub use clock::Clock;
pub use gear::{Counting, Gear};
pub use operation::{
    Mode, NandWork, Program, Programmed, Purpose, Read, SLC_KIND, Ticket, UnitPlace,
};
pub use recorder::Recorder;
pub use reliability::{Erased, Reliability, WearCounters};
pub use relief::NandRelief;
pub use used::UsedArray;

pub use crate::config::{EndOfLife, NandConfig, NandTiming, Suspend, WearConfig};

use crate::config::UNITY;
use crate::geometry::Geometry;
use crate::image::image_of;

/// Factors of program and erase times of media that does not wear.
const FRESH: (u32, u32) = (UNITY as u32, UNITY as u32);

/// `next_row` of a block that holds stale data and must be erased before use.
const STALE: u16 = u16::MAX;

image_of! {
    /// The array.
    #[derive(Clone, Debug)]
    pub struct Nand<G: Gear> {
        /// Shape and addresses.
        pub geometry: Geometry,
        /// Work done so far.
        pub work: NandWork,
        /// Erases, per superblock.
        pub erase_count: Vec<u32>,
        gear: G,
        /// Next row to program, per superblock and die.
        next_row: Vec<u16>,
        /// Wear of the blocks, on media that wears.
        wear: Option<Reliability>,
        /// Superblocks whose data reads found faded, to be rewritten.
        faded: Vec<u32>,
    }
}

impl<G: Gear> Nand<G> {
    /// A factory-fresh, erased array.
    pub fn new(geometry: Geometry, config: &NandConfig, wear: Option<&WearConfig>) -> Nand<G> {
        let blocks = geometry.die_count as usize * geometry.superblock_count as usize;
        Nand {
            gear: G::new(&geometry, config),
            work: NandWork::default(),
            erase_count: vec![0; geometry.superblock_count as usize],
            next_row: vec![0; blocks],
            wear: wear.map(|wear| Reliability::new(&geometry, wear)),
            faded: Vec::new(),
            geometry,
        }
    }

    /// The same media in another gear, without operations in progress.
    pub fn regear<H: Gear>(self, config: &NandConfig) -> Nand<H> {
        Nand {
            gear: H::new(&self.geometry, config),
            geometry: self.geometry,
            work: self.work,
            erase_count: self.erase_count,
            next_row: self.next_row,
            wear: self.wear,
            faded: self.faded,
        }
    }

    /// The gear.
    pub fn gear(&self) -> &G {
        &self.gear
    }

    /// Takes a cost away from all later operations.
    pub fn relieve(&mut self, relief: NandRelief) {
        self.gear.relieve(relief);
    }

    /// See [`Gear::limit_programs`].
    pub fn limit_programs(&mut self, at_once: u32) {
        self.gear.limit_programs(at_once);
    }

    /// Sets a lower bound of the times of all later requests.
    #[inline(always)]
    pub fn set_now(&mut self, now: u64) {
        self.gear.set_now(now);
    }

    #[inline(always)]
    fn kind(&self, row: u32, mode: Mode) -> usize {
        match mode {
            Mode::Native => self.geometry.page_kind(row) as usize,
            Mode::Slc => SLC_KIND,
        }
    }

    /// Rows that a block offers in `mode`.
    pub fn rows(&self, mode: Mode) -> u32 {
        let shape = &self.geometry.shape;
        match mode {
            Mode::Native => shape.pages_per_block,
            Mode::Slc => shape.pages_per_block / shape.bits_per_cell,
        }
    }

    /// The next row to program of a block; a stale block's is 0.
    #[inline]
    pub fn next_row(&self, superblock: u32, die: u32) -> u32 {
        let row = self.next_row[(superblock * self.geometry.die_count + die) as usize];
        if row == STALE { 0 } else { u32::from(row) }
    }

    /// Reads `slots` slots of the unit at `at`, from `from` on; returns when they are in the
    /// controller.
    #[inline]
    pub fn read(&mut self, from: u64, at: UnitPlace, slots: u32, purpose: Purpose) -> u64 {
        let kind = self.kind(at.row, at.mode);
        self.work.reads[kind] += 1;
        self.work.slots_moved += u64::from(slots);
        let channel = self.geometry.channel_of(at.die);
        let (retries, retry_ns) = if self.wear.is_some() {
            self.read_worn(at)
        } else {
            (0, 0)
        };
        let read = Read {
            die: at.die,
            kind,
            slots,
            purpose,
            retries,
            retry_ns,
        };
        self.gear.read(from, channel, &read)
    }

    /// Reads an empty page: it occupies a die and its channel like any other read, without wear or
    /// correction.
    pub fn read_blank(
        &mut self,
        from: u64,
        die: u32,
        row: u32,
        slots: u32,
        purpose: Purpose,
    ) -> u64 {
        let kind = self.kind(row, Mode::Native);
        self.work.reads[kind] += 1;
        self.work.slots_moved += u64::from(slots);
        let read = Read {
            die,
            kind,
            slots,
            purpose,
            retries: 0,
            retry_ns: 0,
        };
        self.gear.read(from, self.geometry.channel_of(die), &read)
    }

    /// Whether a booked page has not been programmed yet, so that its data is still in the
    /// controller.
    #[inline]
    pub fn is_pending(&self, superblock: u32, row: u32, die: u32) -> bool {
        self.gear.is_pending(superblock, row, die)
    }

    /// Programs the next row of a block, erasing it first if it is stale.
    ///
    /// # Panics
    /// When `at.row` is not the block's next row: pages are programmed in order, once.
    #[inline(always)]
    pub fn program(
        &mut self,
        from: u64,
        at: UnitPlace,
        purpose: Purpose,
        firm: bool,
    ) -> Programmed {
        let block = (at.superblock * self.geometry.die_count + at.die) as usize;
        let erased = self.next_row[block] == STALE;
        if erased {
            self.next_row[block] = 0;
            self.work.erases += 1;
        }
        let mut pace = FRESH;
        if let Some(wear) = &mut self.wear {
            if erased {
                wear.erased(at.superblock, at.die);
            }
            wear.programmed(at.superblock, at.die, at.row);
            if G::TIMED {
                pace = wear.pace(at.superblock, at.die);
            }
        }
        assert_eq!(
            u32::from(self.next_row[block]),
            at.row,
            "block {}/{}: row order",
            at.superblock,
            at.die
        );
        self.next_row[block] += 1;
        let kind = self.kind(at.row, at.mode);
        self.work.programs[kind] += 1;
        self.work.slots_moved += u64::from(self.geometry.slots_per_unit);
        let op = Program {
            superblock: at.superblock,
            row: at.row,
            die: at.die,
            kind,
            erase: erased,
            firm,
            purpose,
            pace,
        };
        let channel = self.geometry.channel_of(at.die);
        let ticket = self.gear.program(from, channel, &op);
        Programmed { ticket, erased }
    }

    /// The next row of a superblock, where it is the same on every die.
    #[inline]
    pub fn even_row(&self, superblock: u32) -> Option<u32> {
        let rows = &self.next_row[self.blocks(superblock)];
        let first = rows[0];
        // No early exit, so that the loop is vectorised.
        let differ = rows.iter().fold(0, |differ, row| differ | (row ^ first));
        let row = if first == STALE { 0 } else { first };
        (differ == 0).then_some(row.into())
    }

    /// Programs a row on every die, without time; returns how many blocks were erased first.
    ///
    /// # Panics
    /// When it is not every block's next row.
    pub fn program_row(&mut self, superblock: u32, row: u32, mode: Mode) -> u32 {
        let dies = self.geometry.die_count;
        let blocks = self.blocks(superblock);
        let mut erased = 0;
        for next in &mut self.next_row[blocks] {
            if *next == STALE {
                *next = 0;
                erased += 1;
            }
            assert_eq!(u32::from(*next), row, "superblock {superblock}: row order");
            *next += 1;
        }
        self.work.erases += u64::from(erased);
        if let Some(wear) = &mut self.wear {
            if erased > 0 {
                // All or none: blocks become stale together, and rows are programmed together.
                assert_eq!(erased, dies, "superblock {superblock}: erased together");
                (0..dies).for_each(|die| wear.erased(superblock, die));
            }
            if row == 0 {
                (0..dies).for_each(|die| wear.programmed(superblock, die, 0));
            }
        }
        let kind = self.kind(row, mode);
        self.work.programs[kind] += u64::from(dies);
        self.work.slots_moved += u64::from(dies * self.geometry.slots_per_unit);
        erased
    }

    /// Marks a superblock's blocks stale: each is erased just before its first program. On media
    /// that wears, failed blocks are replaced; the superblock may be retired for lack of reserve
    /// only if `may_retire`.
    pub fn make_stale(&mut self, superblock: u32, may_retire: bool) -> Erased {
        self.erase_count[superblock as usize] += 1;
        let blocks = self.blocks(superblock);
        self.next_row[blocks].fill(STALE);
        self.gear.freed(superblock);
        self.renew(superblock, may_retire, false)
    }

    /// Erases a superblock now, all dies at once; returns the end and the outcome.
    pub fn erase(&mut self, from: u64, superblock: u32) -> (u64, Erased) {
        self.erase_count[superblock as usize] += 1;
        self.work.erases += u64::from(self.geometry.die_count);
        let blocks = self.blocks(superblock);
        self.next_row[blocks].fill(0);
        self.gear.freed(superblock);
        let outcome = self.renew(superblock, true, true);
        (self.gear.erase(from, superblock), outcome)
    }

    /// Replaces the failed blocks of a free superblock. `erased`: it is erased at once.
    fn renew(&mut self, superblock: u32, may_retire: bool, erased: bool) -> Erased {
        let Some(wear) = &mut self.wear else {
            return Erased::Usable;
        };
        // The table is copied only when a superblock may be retired: a copy for every freed
        // superblock would cost more than everything else.
        let may_go = G::KEEPS && may_retire && wear.may_lose(superblock, u32::from(erased));
        let before = may_go.then(|| wear.clone());
        if erased {
            // The erase has been done and counted, whether the superblock stays or not.
            (0..self.geometry.die_count).for_each(|die| wear.erased(superblock, die));
        }
        let outcome = wear.renew(superblock, may_retire);
        if let Some(before) = before.filter(|_| outcome == Erased::Retired) {
            self.gear.gave_up(before);
        }
        outcome
    }

    /// Erases everything, as from the factory; counts are kept.
    pub fn erase_all(&mut self, from: u64) -> u64 {
        self.next_row.fill(0);
        let mut superblocks = 0;
        for superblock in 0..self.geometry.superblock_count {
            if self.is_retired(superblock) {
                continue;
            }
            superblocks += 1;
            self.erase_count[superblock as usize] += 1;
            for die in 0..self.geometry.die_count {
                if let Some(wear) = &mut self.wear {
                    wear.erased(superblock, die);
                }
            }
        }
        self.work.erases += superblocks * u64::from(self.geometry.die_count);
        self.gear.erase_all(from, superblocks)
    }

    /// Retries of reading a page on media that wears, and the time of each, ns.
    #[inline(never)]
    fn read_worn(&mut self, at: UnitPlace) -> (u32, u64) {
        let Some(wear) = &mut self.wear else {
            return (0, 0);
        };
        let reading = wear.read(at);
        let retry_ns = wear.config().retry.0;
        // The list is bounded by the number of superblocks; later reads find the others again.
        let room = self.faded.len() < self.erase_count.len();
        if reading.faded && room && self.faded.last() != Some(&at.superblock) {
            self.faded.push(at.superblock);
        }
        (reading.retries, retry_ns)
    }

    /// Takes the superblocks with faded data.
    pub fn take_faded(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.faded)
    }

    /// Whether there are superblocks with faded data.
    #[inline(always)]
    pub fn has_faded(&self) -> bool {
        !self.faded.is_empty()
    }

    /// Whether a superblock has been retired.
    pub fn is_retired(&self, superblock: u32) -> bool {
        self.wear
            .as_ref()
            .is_some_and(|wear| wear.is_retired(superblock))
    }

    /// Wear, on media that wears.
    #[inline(always)]
    pub fn wear(&self) -> Option<&Reliability> {
        self.wear.as_ref()
    }

    /// Mutable access to the wear.
    pub fn wear_mut(&mut self) -> Option<&mut Reliability> {
        self.wear.as_mut()
    }

    /// Whether the program of the next row of a block will fail.
    #[inline(always)]
    pub fn program_fails(&self, at: UnitPlace) -> bool {
        match &self.wear {
            Some(wear) => wear.program_fails(at.superblock, at.die, at.row),
            None => false,
        }
    }

    fn blocks(&self, superblock: u32) -> std::ops::Range<usize> {
        let dies = self.geometry.die_count as usize;
        superblock as usize * dies..(superblock as usize + 1) * dies
    }

    /// Currently known end of a program; zero when it is over.
    #[inline]
    pub fn end_of(&self, ticket: Ticket) -> u64 {
        self.gear.end_of(ticket)
    }

    /// Fixes the end of a program, because others depend on it: no read overtakes it from now on.
    pub fn make_firm(&mut self, ticket: Ticket) -> u64 {
        self.gear.make_firm(ticket)
    }
}

#[cfg(test)]
mod tests;
