//! Parameters of the translation layer.

use super::policy::{Separation, VictimChoice};
use crate::image::{Image, ImageError, Reader, Writer, image_of, image_of_choice};
use crate::units::Nanos;

image_of! {
    /// Parameters of the translation layer.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct FtlConfig {
        /// Mapping of logical addresses to media.
        pub mapping: MappingConfig,
        /// Reclaim.
        pub reclaim: ReclaimConfig,
        /// The pSLC cache.
        pub slc: SlcConfig,
        /// NAND work for the map.
        pub journal: JournalConfig,
        /// Maximum slots of compressed data that one mapping unit may hold; 1 = data is stored
        /// uncompressed. Data is compressed before placement and takes `1 / pack` mapping units or
        /// a multiple.
        pub compression_pack: u32,
        /// Whether one die of each row of a superblock, in turn, holds the parity of the others.
        pub parity: bool,
        /// Unit reads of a superblock after which it is rewritten (read disturb); 0 = never.
        pub refresh_reads: u32,
        /// Time without an outstanding command after which the drive begins idle work.
        pub idle_after: Nanos,
        /// Whether TRIM is queued with other commands (NVMe, SATA with queued TRIM). Otherwise it
        /// waits until all outstanding commands are done, and later commands wait for it.
        pub trim_queued: bool,
        /// Controller time of each TRIM, in addition to the overhead of every command.
        pub trim_time: Nanos,
        /// Source of the map after a power failure, on drives that hold data.
        pub recovery: RecoverBy,
        /// Seed of random draws (policies that sample).
        pub seed: u64,
    }
}

/// Source of the map after a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum RecoverBy {
    /// The spare areas of all data on media.
    #[default]
    Scan = 0,
    /// Map pages and the map journal, which hold the map itself; spare areas only of the pages
    /// programmed since the last journal page.
    Journal = 1,
}

image_of_choice!(RecoverBy { Scan, Journal });

impl Default for FtlConfig {
    /// A flat map without NAND work, greedy reclaim, no pSLC cache.
    fn default() -> FtlConfig {
        FtlConfig {
            mapping: MappingConfig::default(),
            reclaim: ReclaimConfig::default(),
            slc: SlcConfig::default(),
            journal: JournalConfig::default(),
            compression_pack: 1,
            parity: false,
            refresh_reads: 0,
            idle_after: Nanos::from_millis(500),
            trim_queued: true,
            trim_time: Nanos::ZERO,
            recovery: RecoverBy::Scan,
            seed: 0,
        }
    }
}

/// Kinds of map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MappingKind {
    /// A table of all mapping units, in DRAM.
    Flat = 0,
    /// A table of all mapping units on media; limited DRAM holds the part in use.
    Cached = 1,
    /// A tree of extents on media: small while data is written in long runs, growing as the runs
    /// are broken up; limited DRAM holds the part in use.
    Tree = 2,
    /// One entry per superblock; a change inside it rewrites the rest of it.
    Block = 3,
}

image_of_choice!(MappingKind {
    Flat,
    Cached,
    Tree,
    Block
});

/// Mapping of logical addresses to media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappingConfig {
    /// Kind.
    pub kind: MappingKind,
    /// `Cached`, `Tree`: bytes of DRAM for the map.
    pub dram_bytes: u64,
    /// `Cached`: bytes per mapping unit. `Tree`: bytes per extent.
    pub entry_bytes: u32,
    /// `Cached`, `Tree`: unit programs for writing out one changed leaf: the leaf alone in a unit,
    /// then nodes above it, each alone in a unit and stale with the next such write; 0 = leaves are
    /// gathered until they fill a unit, and nothing else is written.
    pub leaf_programs: u32,
    /// `Cached`, `Tree`: whether leaves are loaded into DRAM one at a time, like firmware that
    /// handles its map in one thread, or in parallel where dies allow.
    pub serial_misses: bool,
    /// `Cached`, `Tree`: whether pages of the map have superblocks of their own, as in DFTL (Gupta,
    /// Kim, Urgaonkar, ASPLOS 2009), or share those of data. If so, a leaf that is not in DRAM is
    /// found through as many pages as `leaf_programs` writes, read one after another, and moving
    /// data does not wait for its leaves.
    pub apart: bool,
}

/// Set in `leaf_programs` as saved where the map lies apart: directories of drives made before that
/// was possible are read as they are.
const APART: u32 = 1 << 31;

/// Saved where the number of log superblocks was (decision 065), for the same reason.
const GONE: u32 = 0;

impl Image for MappingConfig {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        let apart = if self.apart { APART } else { 0 };
        (self.kind, self.dram_bytes).save(out)?;
        (self.entry_bytes, self.leaf_programs | apart).save(out)?;
        (self.serial_misses, GONE).save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<MappingConfig, ImageError> {
        let (kind, dram_bytes) = Image::load(from)?;
        let (entry_bytes, programs): (u32, u32) = Image::load(from)?;
        let (serial_misses, _gone): (bool, u32) = Image::load(from)?;
        Ok(MappingConfig {
            kind,
            dram_bytes,
            entry_bytes,
            leaf_programs: programs & !APART,
            serial_misses,
            apart: programs & APART != 0,
        })
    }
}

impl MappingKind {
    /// Whether the map is cut into leaves, of which DRAM holds a part.
    pub fn has_leaves(self) -> bool {
        matches!(self, MappingKind::Cached | MappingKind::Tree)
    }

    /// Whether regions the size of a superblock are mapped instead of single slots.
    pub fn is_block_mapped(self) -> bool {
        self == MappingKind::Block
    }
}

impl Default for MappingConfig {
    fn default() -> MappingConfig {
        MappingConfig {
            kind: MappingKind::Flat,
            dram_bytes: 0,
            entry_bytes: 4,
            leaf_programs: 0,
            serial_misses: false,
            apart: false,
        }
    }
}

/// Pacing of reclaim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Pace {
    /// Spread over host writes: each host unit pays for the space that it uses.
    Spread = 0,
    /// Whole victims, when the host needs a new superblock: long stalls, as in simple
    /// controllers and in the theory of write amplification.
    Whole = 1,
}

image_of_choice!(Pace { Spread, Whole });

/// Definition of the spare area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpareArea {
    /// All space without valid data, including addresses that the host never wrote or has trimmed.
    Dynamic,
    /// The space beyond the user capacity (raw - user), however little is written. The controller
    /// then need not know which addresses were never written, and reads of them cost a page.
    Fixed,
    /// This number of bytes; further free space is not used. As with `Fixed`, the controller need
    /// not know which addresses were never written, and reads of them cost a page.
    Limited(u64),
}

impl Image for SpareArea {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        let (kind, bytes) = match *self {
            SpareArea::Dynamic => (0_u8, 0),
            SpareArea::Fixed => (1, 0),
            SpareArea::Limited(bytes) => (2, bytes),
        };
        (kind, bytes).save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<SpareArea, ImageError> {
        match <(u8, u64)>::load(from)? {
            (0, _) => Ok(SpareArea::Dynamic),
            (1, _) => Ok(SpareArea::Fixed),
            (2, bytes) => Ok(SpareArea::Limited(bytes)),
            (other, _) => Err(ImageError::Unknown(format!("spare area of kind {other}"))),
        }
    }
}

image_of! {
    /// Reclaim.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ReclaimConfig {
        /// Victim policy: the superblock that is emptied next.
        pub victim: VictimChoice,
        /// Pacing of reclaim.
        pub pace: Pace,
        /// R: reclaim works, paid by host writes, while no more superblocks than this are free. A
        /// block-mapped drive has this number beyond its segments and logs, to rewrite segments
        /// into.
        pub free_superblocks_low: u32,
        /// Number of free superblocks up to which reclaim works when idle; 0 = idle time is not
        /// used.
        pub idle_free_superblocks: u32,
        /// Whether relocated data goes to the host's open superblocks instead of its own.
        pub shared_frontier: bool,
        /// Open superblocks for host data, 1 to 8.
        pub streams: u32,
        /// Choice of the open superblock for a slot.
        pub separation: Separation,
        /// Definition of the spare area.
        pub spare: SpareArea,
    }
}

impl Default for ReclaimConfig {
    fn default() -> ReclaimConfig {
        ReclaimConfig {
            victim: VictimChoice::greedy(),
            pace: Pace::Spread,
            free_superblocks_low: 3,
            idle_free_superblocks: 0,
            shared_frontier: false,
            streams: 1,
            separation: Separation::Single,
            spare: SpareArea::Dynamic,
        }
    }
}

/// Behaviour of host writes when the pSLC cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SlcFull {
    /// They go to native superblocks; the cache is emptied when idle.
    Direct = 0,
    /// They wait until enough of the cache is folded.
    Fold = 1,
    /// As `Direct`, but superblocks of the cache of which the host has overwritten half or more are
    /// folded and used again first.
    Recycle = 2,
}

/// The pSLC cache: superblocks written in SLC mode first, folded into native ones later.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlcConfig {
    /// Superblocks always used in SLC mode.
    pub superblocks: u32,
    /// More of them, kept for commits: units of a flush, of a write by FUA and of the map go to SLC
    /// mode however full drive and cache are; 0 = commits go where other host data goes.
    pub commit_superblocks: u32,
    /// Dynamic cache: while more native superblocks than this are free, one is opened in SLC mode;
    /// 0 = no dynamic cache.
    pub dynamic_above_free: u32,
    /// Most full superblocks of the dynamic cache at one time; 0 = as many as the free ones let.
    pub dynamic_superblocks: u32,
    /// Behaviour when the cache is full.
    pub full: SlcFull,
}

impl SlcConfig {
    /// Superblocks that are never used in native mode: the first ones.
    pub fn static_superblocks(&self) -> u32 {
        self.superblocks.saturating_add(self.commit_superblocks)
    }
}

/// Most of `commit_superblocks`.
pub const COMMIT_SUPERBLOCKS_MAX: u32 = 64;
/// Lowest bit of `commit_superblocks` where it is saved, above `superblocks`: directories of drives
/// made before it was there are read as they are.
const COMMIT_SHIFT: u32 = 25;
/// Bit beside `full` where it is saved: the most of the dynamic cache follows.
const HAS_MOST: u8 = 0x80;

impl std::fmt::Debug for SlcConfig {
    /// As derived, without the superblocks of commits and the most of the dynamic cache where they
    /// are 0: kept references are found by a hash of this text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = f.debug_struct("SlcConfig");
        text.field("superblocks", &self.superblocks);
        if self.commit_superblocks > 0 {
            text.field("commit_superblocks", &self.commit_superblocks);
        }
        text.field("dynamic_above_free", &self.dynamic_above_free);
        if self.dynamic_superblocks > 0 {
            text.field("dynamic_superblocks", &self.dynamic_superblocks);
        }
        text.field("full", &self.full).finish()
    }
}

impl Image for SlcConfig {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        let superblocks = self.superblocks | self.commit_superblocks << COMMIT_SHIFT;
        (superblocks, self.dynamic_above_free).save(out)?;
        if self.dynamic_superblocks == 0 {
            return (self.full as u8).save(out);
        }
        (self.full as u8 | HAS_MOST, self.dynamic_superblocks).save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<SlcConfig, ImageError> {
        let (superblocks, dynamic_above_free): (u32, u32) = Image::load(from)?;
        let choice = u8::load(from)?;
        let full = match choice & !HAS_MOST {
            0 => SlcFull::Direct,
            1 => SlcFull::Fold,
            2 => SlcFull::Recycle,
            other => return Err(ImageError::Unknown(format!("{other} for SlcFull"))),
        };
        Ok(SlcConfig {
            superblocks: superblocks & ((1 << COMMIT_SHIFT) - 1),
            commit_superblocks: superblocks >> COMMIT_SHIFT,
            dynamic_above_free,
            dynamic_superblocks: match choice & HAS_MOST {
                0 => 0,
                _ => u32::load(from)?,
            },
            full,
        })
    }
}

impl Default for SlcConfig {
    fn default() -> SlcConfig {
        SlcConfig {
            superblocks: 0,
            commit_superblocks: 0,
            dynamic_above_free: 0,
            dynamic_superblocks: 0,
            full: SlcFull::Direct,
        }
    }
}

image_of! {
    /// Cost of keeping the map on media.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct JournalConfig {
        /// Bytes of map journal per changed map entry; 0 = the map costs nothing.
        pub entry_bytes: u32,
        /// Serial map programs that a commit needs after its data is on media.
        pub commit_map_programs: u32,
        /// Whether a commit fills up the word line that it programs in native mode: data in a
        /// half-programmed word line is not yet safe.
        pub commit_closes_word_lines: bool,
        /// Journal pages within which the whole map is written once (a rolling checkpoint), so that
        /// recovery never replays more; 0 = no checkpoints.
        pub checkpoint_pages: u32,
    }
}
