//! The media: dies and channels as resources in time, and the rules of NAND.
//!
//! Model. A die does one operation at a time, in the order given; a channel carries one transfer
//! at a time. A program moves its data over the channel into the die's registers, then programs;
//! a read senses, then moves the wanted bytes out, and holds the die until they are out. All
//! planes of a die work together. Rules, asserted: the pages of a block are programmed in order,
//! once, after an erase.
//!
//! Left out here: errors, wear, suspend, cache operations, read priority.

mod bus;

pub use bus::Bus;

use crate::geometry::Geometry;
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

/// How the cells of a block are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All bits of a cell: all rows.
    Native,
    /// One bit of a cell: `1 / bits_per_cell` of the rows, faster.
    Slc,
}

/// The array.
#[derive(Clone, Debug)]
pub struct Nand {
    /// Shape and addresses.
    pub geometry: Geometry,
    read_ns: [u64; 8],
    program_ns: [u64; 8],
    erase_ns: u64,
    /// ns to move 0..=slots_per_unit slots, each rounded once.
    transfer_ns: Vec<u64>,
    die_free_at: Vec<u64>,
    die_busy_ns: Vec<u64>,
    channels: Vec<Bus>,
    /// Next row to program, per superblock and die.
    next_row: Vec<u16>,
    /// Erases, per superblock.
    pub erase_count: Vec<u32>,
}

/// `next_row` of a block that holds stale data and must be erased before use.
const STALE: u16 = u16::MAX;
const SLC_KIND: usize = 7;

impl Nand {
    /// A factory-fresh, erased array.
    pub fn new(geometry: Geometry, timing: &NandTiming) -> Nand {
        let mut read_ns = [0; 8];
        let mut program_ns = [0; 8];
        for (kind, time) in timing.read.iter().enumerate() {
            read_ns[kind] = time.0;
        }
        for (kind, time) in timing.program.iter().enumerate() {
            program_ns[kind] = time.0;
        }
        read_ns[SLC_KIND] = timing.slc_read.0;
        program_ns[SLC_KIND] = timing.slc_program.0;
        let slot = u128::from(geometry.shape.slot_bytes) * 1_000_000_000;
        let rate = u128::from(timing.channel_bytes_per_second);
        let transfer_ns = (0..=geometry.slots_per_unit)
            .map(|slots| (slot * u128::from(slots)).div_ceil(rate) as u64)
            .collect();
        let dies = geometry.die_count as usize;
        Nand {
            read_ns,
            program_ns,
            erase_ns: timing.erase.0,
            transfer_ns,
            die_free_at: vec![0; dies],
            die_busy_ns: vec![0; dies],
            channels: vec![Bus::default(); geometry.shape.channel_count as usize],
            next_row: vec![0; dies * geometry.superblock_count as usize],
            erase_count: vec![0; geometry.superblock_count as usize],
            geometry,
        }
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

    /// When the die will have finished everything given to it.
    #[inline(always)]
    pub fn die_free_at(&self, die: u32) -> u64 {
        self.die_free_at[die as usize]
    }

    /// The next row to program of a block; a stale block's is 0.
    #[inline]
    pub fn next_row(&self, superblock: u32, die: u32) -> u32 {
        let row = self.next_row[(superblock * self.geometry.die_count + die) as usize];
        if row == STALE { 0 } else { u32::from(row) }
    }

    /// Reads `slots` slots of one unit, from `from` on; returns when they are in the controller.
    /// `now` bounds all later requests from below.
    #[inline]
    pub fn read(&mut self, now: u64, from: u64, die: u32, row: u32, mode: Mode, slots: u32) -> u64 {
        let free = self.die_free_at[die as usize];
        let start = from.max(free);
        let sensed = start + self.read_ns[self.kind(row, mode)];
        let channel = self.geometry.channel_of(die) as usize;
        let end = self.channels[channel].reserve(now, sensed, self.transfer_ns[slots as usize]);
        self.die_free_at[die as usize] = end;
        self.die_busy_ns[die as usize] += end - start;
        end
    }

    /// Programs the next row of a block, erasing it first if it is stale; returns the end.
    ///
    /// # Panics
    /// When `row` is not the block's next row: pages are programmed in order, once.
    #[inline]
    pub fn program(
        &mut self,
        now: u64,
        from: u64,
        superblock: u32,
        die: u32,
        row: u32,
        mode: Mode,
    ) -> Programmed {
        let block = (superblock * self.geometry.die_count + die) as usize;
        let mut free = self.die_free_at[die as usize].max(from);
        let begin = free;
        let erased = self.next_row[block] == STALE;
        if erased {
            free += self.erase_ns;
            self.next_row[block] = 0;
        }
        assert_eq!(
            u32::from(self.next_row[block]),
            row,
            "block {superblock}/{die}: row order"
        );
        self.next_row[block] += 1;
        let channel = self.geometry.channel_of(die) as usize;
        let length = self.transfer_ns[self.geometry.slots_per_unit as usize];
        let loaded = self.channels[channel].reserve(now, free, length);
        let end = loaded + self.program_ns[self.kind(row, mode)];
        self.die_free_at[die as usize] = end;
        self.die_busy_ns[die as usize] += end - begin;
        Programmed { end, erased }
    }

    /// Marks a superblock's blocks stale: each is erased just before its first program.
    pub fn make_stale(&mut self, superblock: u32) {
        self.erase_count[superblock as usize] += 1;
        for block in self.blocks(superblock) {
            self.next_row[block] = STALE;
        }
    }

    /// Erases a superblock now, all dies at once; returns the end.
    pub fn erase(&mut self, from: u64, superblock: u32) -> u64 {
        self.erase_count[superblock as usize] += 1;
        let mut end = from;
        for die in 0..self.geometry.die_count as usize {
            let start = self.die_free_at[die].max(from);
            self.die_free_at[die] = start + self.erase_ns;
            self.die_busy_ns[die] += self.erase_ns;
            end = end.max(start + self.erase_ns);
        }
        for block in self.blocks(superblock) {
            self.next_row[block] = 0;
        }
        end
    }

    /// Everything erased, as from the factory; counts stay.
    pub fn erase_all(&mut self, from: u64) -> u64 {
        self.next_row.fill(0);
        let each = self.erase_ns * u64::from(self.geometry.superblock_count);
        for die in 0..self.geometry.die_count as usize {
            self.die_free_at[die] = self.die_free_at[die].max(from) + each;
            self.die_busy_ns[die] += each;
        }
        for count in &mut self.erase_count {
            *count += 1;
        }
        self.die_free_at.iter().copied().max().unwrap_or(from)
    }

    fn blocks(&self, superblock: u32) -> std::ops::Range<usize> {
        let dies = self.geometry.die_count as usize;
        superblock as usize * dies..(superblock as usize + 1) * dies
    }

    /// Busy time of each die and of each channel, ns, for utilisation.
    pub fn busy_ns(&self) -> (Vec<u64>, Vec<u64>) {
        (
            self.die_busy_ns.clone(),
            self.channels.iter().map(|bus| bus.busy_ns).collect(),
        )
    }
}

/// Outcome of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Programmed {
    /// When the data is on media.
    pub end: u64,
    /// The block had to be erased first.
    pub erased: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Shape;

    fn nand() -> Nand {
        let shape = Shape {
            channel_count: 1,
            dies_per_channel: 2,
            planes_per_die: 1,
            blocks_per_plane: 4,
            pages_per_block: 6,
            page_bytes: 16384,
            slot_bytes: 4096,
            bits_per_cell: 3,
        };
        let timing = NandTiming {
            read: [50, 60, 70].map(Nanos::from_micros).to_vec(),
            program: [500, 1000, 2000].map(Nanos::from_micros).to_vec(),
            slc_read: Nanos::from_micros(25),
            slc_program: Nanos::from_micros(200),
            erase: Nanos::from_millis(3),
            channel_bytes_per_second: 409_600_000,
        };
        Nand::new(Geometry::new(shape), &timing)
    }

    #[test]
    fn a_program_loads_over_the_channel_then_takes_its_page_kinds_time() {
        let mut nand = nand();
        // 16 KiB at 409.6 MB/s is 40 us.
        assert_eq!(nand.program(0, 0, 0, 0, 0, Mode::Native).end, 540_000);
        assert_eq!(
            nand.program(0, 0, 0, 0, 1, Mode::Native).end,
            540_000 + 1_040_000
        );
        assert_eq!(
            nand.program(0, 0, 0, 0, 2, Mode::Native).end,
            1_580_000 + 2_040_000
        );
    }

    #[test]
    fn two_dies_share_their_channel_but_not_their_program_time() {
        let mut nand = nand();
        nand.program(0, 0, 0, 0, 0, Mode::Native);
        assert_eq!(
            nand.program(0, 0, 0, 1, 0, Mode::Native).end,
            40_000 + 540_000
        );
    }

    #[test]
    fn a_read_waits_for_its_die_to_the_nanosecond() {
        let mut nand = nand();
        let end = nand.program(0, 0, 0, 0, 0, Mode::Native).end;
        let mut early = nand.clone();
        assert_eq!(
            early.read(end - 1, end - 1, 0, 0, Mode::Native, 1),
            end + 60_000
        );
        assert_eq!(nand.read(end, end, 0, 0, Mode::Native, 1), end + 60_000);
        assert_eq!(nand.read(end, end, 1, 1, Mode::Native, 4), end + 100_000);
    }

    #[test]
    fn a_stale_block_is_erased_before_its_first_program() {
        let mut nand = nand();
        nand.program(0, 0, 1, 0, 0, Mode::Slc);
        nand.make_stale(1);
        let done = nand.program(0, 10_000_000, 1, 0, 0, Mode::Slc);
        assert_eq!(
            done,
            Programmed {
                end: 10_000_000 + 3_000_000 + 240_000,
                erased: true
            }
        );
    }

    #[test]
    #[should_panic(expected = "row order")]
    fn rows_are_programmed_in_order() {
        nand().program(0, 0, 0, 0, 1, Mode::Native);
    }
}
