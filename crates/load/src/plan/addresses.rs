//! Where the commands of a job go and how large they are.

use schemars::JsonSchema;
use serde::Serialize;

/// What fio adds to an order and a region; the default adds nothing.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq)]
pub struct AddressSteps {
    /// Of a sequential order: bytes between the end of a command and the next of its kind
    /// (`rw=read:8k`). Negative values go backwards, from the region's end.
    pub skip: i64,
    /// Of a random order: a command at a random address, then this many that follow it
    /// (`rw=randread:8` has 7); they follow the last of their kind.
    pub followers: u32,
    /// Of a random order: where reads, writes and trims may start, each with a pass of its own,
    /// instead of the order's alignment for all (`bs=4k,64k`).
    pub align: Option<[u64; 3]>,
    /// Bytes by which each copy's region starts further on than the one before
    /// (`offset_increment`, or a file of its own for each copy).
    pub copy: u64,
    /// The region is this many files of equal length, served in turn, one command each; 0 and
    /// 1: one file.
    pub files: u32,
    /// The copies and their files are several files to the user: only one target that holds
    /// them all can stand for them.
    pub several_files: bool,
    /// Go through the region zone by zone (`zonemode=strided`).
    pub zones: Option<Zones>,
    /// Sizes are drawn evenly from a range, by kind: smallest and largest in bytes
    /// (`bsrange=4k-64k`). The block sizes hold both ends then.
    pub size_range: Option<[(u32, u32); 3]>,
    /// What a write is to the drive.
    pub write_as: WriteAs,
    /// Of a random order: percentage of the commands that go to a random address, for reads,
    /// writes and trims, instead of the job's for all (`percentage_random=80,20`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_pct: Option<[u8; 3]>,
    /// The commands go through a page cache: the drive gets the pages of 4 KiB that they touch, and
    /// sizes need not be multiples of 512.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pages: bool,
}

/// Zones of fio's `zonemode=strided`, in bytes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct Zones {
    /// Bytes transferred in a zone before the next one is entered.
    pub bytes: u64,
    /// Length of a zone; it is gone over again until `bytes` are transferred.
    pub range: u64,
    /// Bytes left out between two zones.
    pub skip: u64,
}

/// What a write of the job is to the drive.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq)]
pub enum WriteAs {
    /// A write.
    #[default]
    Write,
    /// A trim of the same blocks, and then the write (`rw=trimwrite`).
    TrimAndWrite,
    /// Zeroes by a command without data (`sg_write_mode=write_same_ndob`).
    Zeroes,
    /// A read, which is what SCSI's VERIFY costs the media (`sg_write_mode=verify_bytchk_*`).
    Read,
    /// A durable write, and then a read of the same blocks (SCSI's WRITE AND VERIFY).
    WriteAndRead,
}

impl AddressSteps {
    pub(super) fn are_plain(&self) -> bool {
        *self == AddressSteps::default()
    }
}

/// Sizes in per cent, which only a target's capacity turns into bytes.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq)]
pub struct CapacityShares {
    /// [`super::JobSpec::offset`] in per cent of the capacity.
    pub offset: Option<u8>,
    /// [`super::JobSpec::region`] in per cent of the capacity, at most what lies after the offset.
    pub region: Option<u8>,
    /// [`super::JobSpec::io_limit`] in per cent of the region, above 100 for several passes.
    /// Where both are given, the smaller one holds.
    pub io_limit: Option<u64>,
}

/// Where the next command goes.
#[derive(Clone, Debug, Serialize, JsonSchema, PartialEq)]
pub enum Order {
    /// One after another, wrapping at the region's end.
    Sequential {
        /// Distance between starts; `None`: the command's own length.
        stride: Option<u64>,
        /// Bytes by which each copy starts further on than the one before (DISKSPD `-T`;
        /// fio's `offset_increment` is another thing). 0: all start at the region's first byte.
        start_step: u64,
        /// The reads and the writes of a mix keep a position each, as in fio; otherwise they
        /// share one, as in DISKSPD.
        split_positions: bool,
    },
    /// Anywhere on a multiple of `align`.
    Random {
        /// In bytes; the smallest block size unless the user said otherwise.
        align: u64,
        /// Which addresses are likelier.
        distribution: Distribution,
        /// fio's default: visit each block once before any is visited again.
        each_once: bool,
    },
}

/// Which addresses are likelier.
#[derive(Clone, Debug, Serialize, JsonSchema, PartialEq)]
pub enum Distribution {
    /// All alike.
    Uniform,
    /// Zipf with exponent theta > 0, != 1 as fio takes it; ranks are scattered over the region.
    Zipf {
        /// The exponent.
        theta: f64,
    },
    /// Pareto with h in (0, 1); ranks are scattered over the region.
    Pareto {
        /// The power.
        h: f64,
    },
    /// Zones in order of address: share of accesses, share of the region, both in per cent.
    Zoned {
        /// Sums of both columns are at most 100; the rest goes to the last zone. Not empty.
        zones: Vec<(u8, u8)>,
    },
    /// Zones in order of address: share of accesses in per cent, and length in bytes.
    ZonedBytes {
        /// The shares sum to at most 100; the rest goes to the last zone, which ends with the
        /// region when its length is 0. Not empty.
        zones: Vec<(u8, u64)>,
    },
    /// Reads, writes and trims, each zoned in its own way (`zoned:...,...`).
    Kinds {
        /// In this order.
        kinds: Box<[Distribution; 3]>,
    },
    /// Normal as fio has it; ranks are scattered over the region.
    Normal {
        /// In per cent of the region, 0 to 100.
        deviation: f64,
    },
}

/// One command size with its weight.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct BlockSize {
    /// A multiple of 512.
    pub bytes: u32,
    /// Share in per cent; weights of a list sum to 100.
    pub percent: u8,
}

impl BlockSize {
    /// One size for reads, writes and trims.
    pub fn always(bytes: u32) -> [Vec<BlockSize>; 3] {
        let size = BlockSize {
            bytes,
            percent: 100,
        };
        [vec![size], vec![size], vec![size]]
    }
}
