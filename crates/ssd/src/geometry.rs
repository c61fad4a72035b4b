//! The shape of the NAND array and the arithmetic of addresses.
//!
//! ```text
//! superblock = block b of every plane of every die          (reclaimed as one)
//!   row      = page r of all those blocks
//!     unit   = page r of all planes of one die               (programmed as one)
//!       slot = one mapping unit, 4 KiB unless configured     (what the map points to)
//!
//! Ppn = superblock * slots_per_superblock + (row * dies + die) * slots_per_unit + slot
//! ```
//! Consecutive units lie on consecutive dies, and consecutive dies on consecutive channels, so
//! that sequential data is striped over everything.

use crate::image::{Image, ImageError, Reader, Writer, image_of};

/// A division by a number known only at run time, as a multiplication without branches.
///
/// With `m = floor((2^64 - 1) / d)`, `floor(m (n + 1) / 2^64) = floor(n / d)` for all 32-bit `n`
/// and `d`: `m (n + 1) / 2^64` is less than `(n + 1) / d`, and by no more than `(n + 1) / 2^64 < 1
/// / d` (after A. D. Robison, "N-bit unsigned division via N-bit multiply-add", 2005).
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    value: u32,
    reciprocal: u64,
}

impl Divisor {
    /// Prepares divisions by `value`.
    ///
    /// # Panics
    /// When `value` is zero.
    pub fn new(value: u32) -> Divisor {
        assert!(value > 0, "division by zero");
        Divisor {
            value,
            reciprocal: u64::MAX / u64::from(value),
        }
    }

    /// `n / value`.
    #[inline(always)]
    pub fn quotient(self, n: u32) -> u32 {
        ((u128::from(self.reciprocal) * u128::from(u64::from(n) + 1)) >> 64) as u32
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub fn div_rem(self, n: u32) -> (u32, u32) {
        let quotient = self.quotient(n);
        (quotient, n - quotient * self.value)
    }
}

impl Image for Divisor {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.value.save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Divisor, ImageError> {
        match u32::load(from)? {
            0 => Err(ImageError::Unknown("a division by zero".into())),
            value => Ok(Divisor::new(value)),
        }
    }
}

image_of! {
    /// Configured counts of the array's parts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Shape {
        /// Independent buses between controller and dies.
        pub channel_count: u32,
        /// Dies on each channel.
        pub dies_per_channel: u32,
        /// Planes of a die; programmed and read together.
        pub planes_per_die: u32,
        /// Blocks of a plane: the number of superblocks.
        pub blocks_per_plane: u32,
        /// Pages of a block in its native mode.
        pub pages_per_block: u32,
        /// Bytes of a page, without the spare area.
        pub page_bytes: u32,
        /// Bytes per entry of the map.
        pub slot_bytes: u32,
        /// Bits stored in a cell: 1 SLC, 2 MLC, 3 TLC, 4 QLC. Pages of a word line.
        pub bits_per_cell: u32,
    }
}

impl Default for Shape {
    /// One TLC die of one plane, 1,024 blocks of 768 pages of 16 KiB, and slots of 4 KiB.
    fn default() -> Shape {
        Shape {
            channel_count: 1,
            dies_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 1024,
            pages_per_block: 768,
            page_bytes: 16 << 10,
            slot_bytes: 4 << 10,
            bits_per_cell: 3,
        }
    }
}

/// A shape with every derived number.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// The configured shape.
    pub shape: Shape,
    /// Number of dies.
    pub die_count: u32,
    /// Bytes of a slot: the mapping unit, or a part of it on a drive that compresses.
    pub slot_bytes: u32,
    /// Slots of a unit.
    pub slots_per_unit: u32,
    /// Slots of a superblock in native mode.
    pub slots_per_superblock: u32,
    /// Superblocks.
    pub superblock_count: u32,
    per_superblock: Divisor,
    per_unit: Divisor,
    per_row: Divisor,
    per_channel: Divisor,
    per_word_line: Divisor,
}

/// Place of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Superblock number.
    pub superblock: u32,
    /// Unit within the superblock: `row * die_count + die`.
    pub unit: u32,
    /// Page number within the blocks.
    pub row: u32,
    /// Die, over all channels.
    pub die: u32,
}

impl Image for Geometry {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.shape.save(out)?;
        (self.shape.slot_bytes / self.slot_bytes).save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Geometry, ImageError> {
        let shape = Shape::load(from)?;
        let pack = u32::load(from)?;
        if pack == 0 || !shape.slot_bytes.is_multiple_of(pack) {
            return Err(ImageError::Unknown(format!(
                "{pack} slots to the mapping unit"
            )));
        }
        if !shape.fits(pack) {
            return Err(ImageError::Unknown(format!("an array of {shape:?}")));
        }
        Ok(Geometry::packed(shape, pack))
    }
}

impl Shape {
    /// Whether no count is zero and all slot numbers fit into 32 bits.
    fn fits(&self, pack: u32) -> bool {
        let slots_per_page = self.page_bytes.checked_div(self.slot_bytes / pack);
        let counts = [
            self.channel_count,
            self.dies_per_channel,
            self.planes_per_die,
            self.blocks_per_plane,
            self.pages_per_block,
            slots_per_page.unwrap_or(0),
        ];
        let slots = counts
            .iter()
            .try_fold(1_u32, |product, &count| product.checked_mul(count));
        self.bits_per_cell > 0 && slots.is_some_and(|slots| slots > 0)
    }
}

impl Geometry {
    /// Derives everything from `shape`, which [`crate::DriveConfig`] has checked.
    pub fn new(shape: Shape) -> Geometry {
        Geometry::packed(shape, 1)
    }

    /// The same with `pack` slots to the mapping unit, for data that compresses.
    pub fn packed(shape: Shape, pack: u32) -> Geometry {
        let die_count = shape.channel_count * shape.dies_per_channel;
        let slot_bytes = shape.slot_bytes / pack;
        let slots_per_unit = shape.planes_per_die * (shape.page_bytes / slot_bytes);
        let slots_per_superblock = die_count * shape.pages_per_block * slots_per_unit;
        Geometry {
            shape,
            die_count,
            slot_bytes,
            slots_per_unit,
            slots_per_superblock,
            superblock_count: shape.blocks_per_plane,
            per_superblock: Divisor::new(slots_per_superblock),
            per_unit: Divisor::new(slots_per_unit),
            per_row: Divisor::new(die_count),
            per_channel: Divisor::new(shape.channel_count),
            per_word_line: Divisor::new(shape.bits_per_cell),
        }
    }

    /// Bytes of the whole array, including everything set aside.
    pub fn raw_bytes(&self) -> u64 {
        u64::from(self.superblock_count) * self.superblock_bytes()
    }

    /// Bytes of a superblock in native mode.
    pub fn superblock_bytes(&self) -> u64 {
        u64::from(self.slots_per_superblock) * u64::from(self.slot_bytes)
    }

    /// Bytes programmed at once.
    pub fn unit_bytes(&self) -> u64 {
        u64::from(self.slots_per_unit) * u64::from(self.slot_bytes)
    }

    /// Units of a superblock in native mode.
    pub fn units_per_superblock(&self) -> u32 {
        self.die_count * self.shape.pages_per_block
    }

    /// The superblock of a slot.
    #[inline(always)]
    pub fn superblock_of(&self, ppn: u32) -> u32 {
        self.per_superblock.quotient(ppn)
    }

    /// Place of a slot.
    #[inline(always)]
    pub fn place(&self, ppn: u32) -> Place {
        let (superblock, in_superblock) = self.per_superblock.div_rem(ppn);
        let unit = self.per_unit.quotient(in_superblock);
        let (row, die) = self.row_and_die(unit);
        Place {
            superblock,
            unit,
            row,
            die,
        }
    }

    /// The row and the die of a unit of a superblock.
    #[inline(always)]
    pub fn row_and_die(&self, unit: u32) -> (u32, u32) {
        self.per_row.div_rem(unit)
    }

    /// The first slot of a unit.
    #[inline(always)]
    pub fn first_slot(&self, superblock: u32, row: u32, die: u32) -> u32 {
        superblock * self.slots_per_superblock + (row * self.die_count + die) * self.slots_per_unit
    }

    /// The channel of a die.
    #[inline(always)]
    pub fn channel_of(&self, die: u32) -> u32 {
        self.per_channel.div_rem(die).1
    }

    /// Index of a row's page within its word line: 0 is the fast (lower) one.
    #[inline(always)]
    pub fn page_kind(&self, row: u32) -> u32 {
        self.per_word_line.div_rem(row).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_multiplication_is_exact() {
        let numbers = [
            0,
            1,
            2,
            3,
            7,
            255,
            256,
            196_607,
            196_608,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ];
        for value in [1, 2, 3, 7, 8, 64, 384, 196_608, u32::MAX - 1, u32::MAX] {
            let divisor = Divisor::new(value);
            for n in numbers {
                assert_eq!(divisor.div_rem(n), (n / value, n % value), "{n} / {value}");
            }
        }
    }

    #[test]
    fn every_slot_has_one_place_and_back() {
        let geometry = Geometry::new(Shape {
            channel_count: 2,
            dies_per_channel: 3,
            planes_per_die: 2,
            blocks_per_plane: 5,
            pages_per_block: 9,
            page_bytes: 16384,
            slot_bytes: 4096,
            bits_per_cell: 3,
        });
        let total = geometry.superblock_count * geometry.slots_per_superblock;
        for ppn in 0..total {
            let at = geometry.place(ppn);
            let first = geometry.first_slot(at.superblock, at.row, at.die);
            assert!(ppn >= first && ppn < first + geometry.slots_per_unit);
            assert_eq!(geometry.superblock_of(ppn), at.superblock);
        }
        assert_eq!(geometry.raw_bytes(), u64::from(total) * 4096);
    }
}
