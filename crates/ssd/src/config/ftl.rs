//! Parameters of the translation layer.

use super::policy::{Separation, VictimChoice};
use crate::image::{Image, ImageError, Reader, Writer, image_of, image_of_choice};
use crate::units::Nanos;

/// Parameters of the translation layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtlConfig {
    /// How logical addresses lead to media.
    pub mapping: MappingConfig,
    /// How room is made.
    pub reclaim: ReclaimConfig,
    /// The pSLC cache.
    pub slc: SlcConfig,
    /// What the map costs in NAND work.
    pub journal: JournalConfig,
    /// Most slots of compressed data that one mapping unit may hold; 1 = data is stored as it is.
    /// Data is compressed before placement and takes `1 / pack` mapping units or a multiple.
    pub compression_pack: u32,
    /// One die of each row of a superblock, in turn, holds the parity of the others.
    pub parity: bool,
    /// A superblock is rewritten after so many unit reads since it was written (read disturb);
    /// 0 = never.
    pub refresh_reads: u32,
    /// With no command outstanding for so long, the drive does what it left for later.
    pub idle_after: Nanos,
    /// TRIM is queued with other commands (NVMe, SATA with queued TRIM); if not, it waits until
    /// all outstanding commands are done, and those after it wait for it.
    pub trim_queued: bool,
    /// Time that each TRIM keeps the controller busy, besides the overhead of any command.
    pub trim_time: Nanos,
    /// Seed of what is drawn at random (policies that sample).
    pub seed: u64,
}

image_of!(FtlConfig {
    mapping,
    reclaim,
    slc,
    journal,
    compression_pack,
    parity,
    refresh_reads,
    idle_after,
    trim_queued,
    trim_time,
    seed
});

impl Default for FtlConfig {
    /// A flat map that costs nothing, greedy reclaim, no pSLC cache.
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
    /// A table of all mapping units on media; the part in use is held in limited DRAM.
    Cached = 1,
    /// A tree of extents on media: small while data is written in long runs, growing as it is
    /// broken up; the part in use is held in limited DRAM.
    Tree = 2,
    /// One entry per superblock; a change within rewrites the rest of it.
    Block = 3,
    /// One entry per superblock, and a few page-mapped log superblocks that are merged in.
    Hybrid = 4,
}

image_of_choice!(MappingKind {
    Flat,
    Cached,
    Tree,
    Block,
    Hybrid
});

/// How logical addresses lead to media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappingConfig {
    /// Kind.
    pub kind: MappingKind,
    /// `Cached`, `Tree`: bytes of DRAM for the map.
    pub dram_bytes: u64,
    /// `Cached`: bytes per mapping unit. `Tree`: bytes per extent.
    pub entry_bytes: u32,
    /// `Cached`, `Tree`: unit programs that writing out one changed leaf takes: the leaf alone in
    /// a unit, then nodes above it, each alone in a unit and stale with the next such write;
    /// 0 = leaves are gathered until they fill a unit, and nothing else is written.
    pub leaf_programs: u32,
    /// `Cached`, `Tree`: leaves are brought into DRAM one at a time, as firmware does that works
    /// on its map in one thread; if not, at the same time wherever dies allow.
    pub serial_misses: bool,
    /// `Hybrid`: log superblocks.
    pub log_superblocks: u32,
}

image_of!(MappingConfig {
    kind,
    dram_bytes,
    entry_bytes,
    leaf_programs,
    serial_misses,
    log_superblocks
});

impl MappingKind {
    /// Regions of a superblock each, not single slots, are what is mapped.
    pub fn is_block_mapped(self) -> bool {
        matches!(self, MappingKind::Block | MappingKind::Hybrid)
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
            log_superblocks: 0,
        }
    }
}

/// When reclaim does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Pace {
    /// Spread over host writes: each unit of the host pays for as much as it uses up.
    Spread = 0,
    /// Whole victims, when the host needs a new superblock: long stalls, as in simple
    /// controllers and in the theory of write amplification.
    Whole = 1,
}

image_of_choice!(Pace { Spread, Whole });

/// What counts as spare area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpareArea {
    /// All that holds no valid data: what the host never wrote or has trimmed counts too.
    Dynamic,
    /// What the product has beyond its user capacity (raw - user), however little is written. The
    /// controller then need not know what was never written, and reads of it cost a page.
    Fixed,
    /// So many bytes; free space beyond is not used. As with `Fixed` the controller need not know
    /// what was never written, and reads of it cost a page.
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

/// How room is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReclaimConfig {
    /// Which superblock is emptied next.
    pub victim: VictimChoice,
    /// When.
    pub pace: Pace,
    /// R: reclaim works, paid by host writes, while no more superblocks than this are free. A
    /// block-mapped drive has so many beyond its segments and logs, to rewrite segments into.
    pub free_superblocks_low: u32,
    /// When idle, reclaim goes on until so many are free; 0 = idle time is not used.
    pub idle_free_superblocks: u32,
    /// Relocated data goes to the host's open superblocks, not to its own.
    pub shared_frontier: bool,
    /// Open superblocks for host data, 1 to 8.
    pub streams: u32,
    /// Which of them a slot goes to.
    pub separation: Separation,
    /// What counts as spare area.
    pub spare: SpareArea,
}

image_of!(ReclaimConfig {
    victim,
    pace,
    free_superblocks_low,
    idle_free_superblocks,
    shared_frontier,
    streams,
    separation,
    spare
});

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

/// What host writes do when the pSLC cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SlcFull {
    /// Go to native superblocks; the cache is emptied when idle.
    Direct = 0,
    /// Wait until enough of the cache is folded.
    Fold = 1,
}

image_of_choice!(SlcFull { Direct, Fold });

/// The pSLC cache: superblocks written in SLC mode first, folded into native ones later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcConfig {
    /// Superblocks always used in SLC mode.
    pub superblocks: u32,
    /// Dynamic cache: while more native superblocks than this are free, one is opened in SLC
    /// mode; 0 = no dynamic cache.
    pub dynamic_above_free: u32,
    /// When full.
    pub full: SlcFull,
}

image_of!(SlcConfig {
    superblocks,
    dynamic_above_free,
    full
});

impl Default for SlcConfig {
    fn default() -> SlcConfig {
        SlcConfig {
            superblocks: 0,
            dynamic_above_free: 0,
            full: SlcFull::Direct,
        }
    }
}

/// What keeping the map on media costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalConfig {
    /// Bytes of map journal per changed map entry; 0 = the map costs nothing.
    pub entry_bytes: u32,
    /// Map programs, one after another, that a commit needs after its data is on media.
    pub commit_map_programs: u32,
    /// A commit fills up the word line that it programs in native mode: data in a half-programmed
    /// word line is not yet safe.
    pub commit_closes_word_lines: bool,
    /// The whole map is written once per so many journal pages (a rolling checkpoint), so that
    /// recovery never replays more; 0 = no checkpoints.
    pub checkpoint_pages: u32,
}

image_of!(JournalConfig {
    entry_bytes,
    commit_map_programs,
    commit_closes_word_lines,
    checkpoint_pages
});
