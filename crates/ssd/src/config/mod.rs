//! Configuration of a drive, checked once and never consulted as text again. Every layer imports
//! it: it imports none of them, so that the arrows run config <- nand <- ftl <- drive.

mod curve;
mod ftl;
mod heat;
mod host;
mod nand;
pub mod policy;
mod validate;
mod validate_heat;
mod wear;

pub use curve::Curve;

pub use ftl::{
    FtlConfig, JournalConfig, MappingConfig, MappingKind, Pace, ReclaimConfig, RecoverBy,
    SlcConfig, SlcFull, SpareArea,
};
pub use heat::{HeatConfig, PowerState, ThrottleStep};
pub use host::HostConfig;
pub use nand::{NandConfig, NandTiming, Suspend};
pub use wear::{EndOfLife, LevellingConfig, RBER_UNITY, UNITY, WearConfig};

use crate::geometry::{Geometry, Shape};
use crate::image::{Image, ImageError, Reader, Writer, image_of};
use crate::units::Nanos;
use policy::Separation;
use std::fmt;

image_of! {
    /// Everything that makes one drive different from another.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct DriveConfig {
        /// Name in the catalogue.
        pub name: String,
        /// The array's shape.
        pub shape: Shape,
        /// The array's times.
        pub nand: NandConfig,
        /// Bytes the host may address.
        pub user_bytes: u64,
        /// Translation layer.
        pub ftl: FtlConfig,
        /// Write buffer.
        pub buffer: BufferConfig,
        /// Host side.
        pub host: HostConfig,
        /// Energy per operation and at rest.
        pub energy: EnergyConfig,
        /// Wear of the media; `None`: it does not wear.
        pub wear: Option<WearConfig>,
        /// Heat and throttling; `None`: its temperature is not modelled.
        pub heat: Option<HeatConfig>,
    }
}

image_of! {
    /// Energy of the array's operations and of everything else, for power over time.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct EnergyConfig {
        /// nJ to read a unit (all planes of a die), by page kind, SLC mode last; see
        /// [`crate::nand::SLC_KIND`].
        pub read_nj: [u64; 8],
        /// nJ to program a unit.
        pub program_nj: [u64; 8],
        /// nJ to erase the blocks of all planes of a die.
        pub erase_nj: u64,
        /// pJ per byte moved between dies and controller.
        pub channel_pj_per_byte: u64,
        /// pJ per byte moved over the host link.
        pub link_pj_per_byte: u64,
        /// nJ of the controller per command.
        pub command_nj: u64,
        /// Constant power draw, mW: controller, DRAM, regulators, idle dies.
        pub idle_mw: u64,
        /// Power draw while a command is in progress, in addition, mW.
        pub active_mw: u64,
        /// Non-operational power states, the one entered first first.
        pub states: Vec<PowerState>,
    }
}

/// The write buffer.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferConfig {
    /// Bytes of host data it holds, in-flight programs included.
    pub bytes: u64,
    /// Part of `bytes` that is held back, in case it is overwritten, before whole units are
    /// programmed.
    pub hold_bytes: u64,
    /// The buffer survives a power cut: an acknowledged write is durable, and FUA and FLUSH
    /// wait for nothing.
    pub protected: bool,
    /// Volatile: flushes that come while a commit runs wait for its end and share the next;
    /// else each has a commit of its own unless nothing has changed, and takes in all writes
    /// submitted before it.
    pub joined_flushes: bool,
    /// The host leaves the write cache on. Off, writes, trims and zeroes to a volatile buffer
    /// are on media when they complete, as with FUA (ATA SET FEATURES 82h; NVMe feature 06h).
    /// Of no effect where the buffer is protected.
    pub write_cache: bool,
    /// Time of the controller for a flush, in addition to its programs, also where it finds nothing
    /// to commit: one flush after another.
    pub flush_time: Nanos,
    /// The same for a write by FUA; to a protected buffer, a latency beside all others.
    pub fua_time: Nanos,
    /// Volatile: writes by FUA that may take `fua_time` side by side; 0 and 1 = one after another.
    pub fua_at_once: u8,
}

impl Image for BufferConfig {
    /// `fua_at_once` is saved above `write_cache`: directories of drives made before it was there
    /// are read as they are.
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        (self.bytes, self.hold_bytes).save(out)?;
        (self.protected, self.joined_flushes).save(out)?;
        (u8::from(self.write_cache) | self.fua_at_once << 1).save(out)?;
        (self.flush_time, self.fua_time).save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<BufferConfig, ImageError> {
        let (bytes, hold_bytes) = Image::load(from)?;
        let (protected, joined_flushes) = Image::load(from)?;
        let write_cache = u8::load(from)?;
        let (flush_time, fua_time) = Image::load(from)?;
        Ok(BufferConfig {
            bytes,
            hold_bytes,
            protected,
            joined_flushes,
            write_cache: write_cache & 1 == 1,
            flush_time,
            fua_time,
            fua_at_once: write_cache >> 1,
        })
    }
}

impl std::fmt::Debug for BufferConfig {
    /// As derived, without the times of commits where there are none: kept references are found by
    /// a hash of this text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = f.debug_struct("BufferConfig");
        text.field("bytes", &self.bytes)
            .field("hold_bytes", &self.hold_bytes)
            .field("protected", &self.protected)
            .field("joined_flushes", &self.joined_flushes)
            .field("write_cache", &self.write_cache);
        for (name, time) in [("flush_time", self.flush_time), ("fua_time", self.fua_time)] {
            if time > Nanos::ZERO {
                text.field(name, &time);
            }
        }
        if self.fua_at_once > 0 {
            text.field("fua_at_once", &self.fua_at_once);
        }
        text.finish()
    }
}

impl Default for BufferConfig {
    /// A volatile buffer of 1 MiB with the write cache on.
    fn default() -> BufferConfig {
        BufferConfig {
            bytes: 1 << 20,
            hold_bytes: 0,
            protected: false,
            joined_flushes: false,
            write_cache: true,
            flush_time: Nanos::ZERO,
            fua_time: Nanos::ZERO,
            fua_at_once: 0,
        }
    }
}

impl BufferConfig {
    /// Whether what has completed is durable.
    pub fn completes_durably(&self) -> bool {
        self.protected || !self.write_cache
    }

    /// Whether writes wait for the media because the host has switched the write cache off.
    pub fn writes_through(&self) -> bool {
        !self.protected && !self.write_cache
    }
}

/// A drive that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The parameter.
    pub what: String,
    /// The value given.
    pub given: String,
    /// The values allowed.
    pub allowed: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` cannot be {}: {}",
            self.what, self.given, self.allowed
        )
    }
}

impl std::error::Error for ConfigError {}

/// Minimum number of pages of the map journal.
pub(crate) const JOURNAL_PAGES: u32 = 16;
/// Bytes of an entry of the map's directory, and of the root.
const DIRECTORY_ENTRY_BYTES: u64 = 4;

/// Map values from here up point into the write buffer, not to media.
pub(crate) const MEDIA_SLOTS_MAX: u64 = 0xFF00_0000;
/// Most slots a write buffer may have.
pub(crate) const BUFFER_SLOTS_MAX: u64 = 0x00FF_0000;

impl DriveConfig {
    /// A drive with the default translation layer, buffer and host side that uses no energy and
    /// does not wear.
    pub fn new(
        name: impl Into<String>,
        shape: Shape,
        nand: NandConfig,
        user_bytes: u64,
    ) -> DriveConfig {
        DriveConfig {
            name: name.into(),
            shape,
            nand,
            user_bytes,
            ftl: FtlConfig::default(),
            buffer: BufferConfig::default(),
            host: HostConfig::default(),
            energy: EnergyConfig::default(),
            wear: None,
            heat: None,
        }
    }

    /// Map entries: slots the host may address.
    pub fn user_slots(&self) -> u64 {
        self.user_bytes / u64::from(self.shape.slot_bytes)
    }

    /// Slots of media to a mapping unit: more than one on a drive that compresses.
    pub fn pack(&self) -> u32 {
        self.ftl.compression_pack
    }

    /// The array's geometry, in slots.
    pub fn geometry(&self) -> Geometry {
        Geometry::packed(self.shape, self.pack())
    }

    /// Mapping units of map journal kept on media, at hidden addresses beyond the host's.
    pub fn journal_slots(&self) -> u64 {
        let journal = &self.ftl.journal;
        if self.ftl.mapping.kind.is_block_mapped() {
            // Its map has superblocks of its own.
            0
        } else if journal.entry_bytes > 0 || journal.commit_map_programs > 0 {
            let page_slots = self.shape.page_bytes / self.shape.slot_bytes;
            u64::from(self.journal_pages()) * u64::from(page_slots)
        } else {
            0
        }
    }

    /// Pages of the map journal, which is written as a ring. Recovery by the journal needs all
    /// changes that a leaf lacks to be in it: two cycles of checkpoints, or without checkpoints
    /// enough pages that each makes eight leaves due at most.
    pub(crate) fn journal_pages(&self) -> u32 {
        if !self.recovers_by_journal() {
            return JOURNAL_PAGES;
        }
        let pages = match self.ftl.journal.checkpoint_pages {
            0 => self.leaf_slots().div_ceil(8),
            cycle => 2 * u64::from(cycle),
        };
        pages.clamp(JOURNAL_PAGES.into(), 1 << 20) as u32
    }

    /// Mapping units of map kept on media (checkpoints, a map that is not all in DRAM, or one that
    /// recovery needs), at hidden addresses beyond the journal's.
    pub fn map_slots(&self) -> u64 {
        let kind = self.ftl.mapping.kind;
        let on_media = matches!(kind, MappingKind::Cached | MappingKind::Tree)
            || self.ftl.journal.checkpoint_pages > 0
            || self.recovers_by_journal();
        if on_media {
            self.leaf_slots() + self.directory_slots()
        } else {
            0
        }
    }

    /// Mapping units of the map itself on media.
    pub(crate) fn leaf_slots(&self) -> u64 {
        let mapping = &self.ftl.mapping;
        let bytes = self.user_slots() * u64::from(mapping.entry_bytes);
        bytes.div_ceil(u64::from(self.shape.slot_bytes))
    }

    /// Mapping units of the map's directory, the place of each leaf and journal page: only drives
    /// that recover by their journal need it on media.
    pub(crate) fn directory_slots(&self) -> u64 {
        if self.recovers_by_journal() {
            let slots = self.leaf_slots() + self.journal_slots();
            let bytes = slots * DIRECTORY_ENTRY_BYTES;
            bytes.div_ceil(u64::from(self.shape.slot_bytes))
        } else {
            0
        }
    }

    /// Bytes of the root in each journal page: the places of the directory's pages.
    pub(crate) fn root_bytes(&self) -> u64 {
        if self.recovers_by_journal() {
            DIRECTORY_ENTRY_BYTES * self.directory_slots()
        } else {
            0
        }
    }

    /// Whether the map after a power failure comes from the journal.
    pub fn recovers_by_journal(&self) -> bool {
        self.ftl.recovery == RecoverBy::Journal
    }

    /// Number of mapped addresses: the host's and the hidden ones.
    pub fn mapped_slots(&self) -> u64 {
        self.user_slots() + self.journal_slots() + self.map_slots()
    }

    /// Number of segments, the size of a superblock each, that a block-mapped drive divides the
    /// host's slots into.
    pub fn segments(&self) -> u64 {
        let superblock = self.geometry().slots_per_superblock;
        self.user_slots().div_ceil(superblock.into())
    }

    /// Whether pages of the map have superblocks of their own.
    pub fn map_is_apart(&self) -> bool {
        self.ftl.mapping.apart && self.ftl.mapping.kind.has_leaves()
    }

    /// Maximum number of open superblocks, not counting those of the pSLC cache.
    pub fn open_superblocks(&self) -> u32 {
        let reclaim = &self.ftl.reclaim;
        let own = if reclaim.shared_frontier {
            0
        } else {
            reclaim.streams
        };
        reclaim.streams + own + u32::from(self.map_is_apart())
    }

    /// The fewest free superblocks with which reclaim makes progress; one more where the media
    /// wear, because a superblock may be given up.
    pub fn free_superblocks_min(&self, wears: bool) -> u32 {
        let apart = self.map_is_apart();
        2 * self.ftl.reclaim.streams + 1 + u32::from(apart) + u32::from(wears)
    }

    /// Superblocks that must exist beyond those full of user data, so that reclaim always has
    /// somewhere to write: the free reserve, the open ones, one being emptied, one partly stale. On
    /// a block-mapped drive: the free reserve.
    pub fn reserve_superblocks(&self) -> u64 {
        if self.ftl.mapping.kind.is_block_mapped() {
            return self.ftl.reclaim.free_superblocks_low.into();
        }
        let reserved = self.ftl.reclaim.free_superblocks_low + self.open_superblocks();
        u64::from(reserved) + 2 + self.tree_superblocks()
    }

    /// Superblocks that the ring of a tree's pages takes where they lie apart: every map slot with
    /// the nodes written with it, and one at each end.
    pub(crate) fn tree_superblocks(&self) -> u64 {
        if !self.map_is_apart() || self.ftl.mapping.kind != MappingKind::Tree {
            return 0;
        }
        let geometry = self.geometry();
        let dies = u64::from(geometry.die_count);
        let rows = u64::from(self.shape.pages_per_block);
        let dies = dies - u64::from(self.ftl.parity);
        let units = self.map_slots() * u64::from(self.ftl.mapping.leaf_programs.max(1));
        units.div_ceil((dies * rows).max(1)) + 2
    }

    /// Minimum number of native superblocks with which reclaim can still make room for everything
    /// mapped; worn media may shrink to this.
    pub fn native_superblocks_min(&self) -> u64 {
        let geometry = self.geometry();
        let unit = u64::from(geometry.slots_per_unit / self.pack());
        let slots = u64::from(geometry.slots_per_superblock / self.pack());
        let dies = u64::from(geometry.die_count);
        let data = if self.ftl.parity {
            slots / dies * (dies - 1)
        } else {
            slots
        };
        let data = data.saturating_sub(unit - 1).max(1);
        // Wear levelling and refresh empty one more at a time.
        self.mapped_slots() / data + 1 + self.reserve_superblocks() + 2
    }

    /// Nominal over-provisioning OP = (raw - user) / user, from the stated capacities.
    pub fn nominal_op(&self) -> f64 {
        let raw = Geometry::new(self.shape).raw_bytes();
        raw as f64 / self.user_bytes as f64 - 1.0
    }

    /// Effective over-provisioning: the same ratio for the space that reclaim can use, which is the
    /// N superblocks less those of the pSLC cache, the R kept free and the open ones, over
    /// everything mapped. Open superblocks count as in the theory that `tests/theory.rs` checks the
    /// drive against, with half of each lost: N_eff = N - R - K (K superblocks open per kind of
    /// data), which is slightly conservative.
    ///
    /// A block-mapped drive uses no spare area: segments x slots of a superblock / user slots - 1,
    /// however many superblocks it has.
    pub fn effective_op(&self) -> f64 {
        let geometry = Geometry::new(self.shape);
        if self.ftl.mapping.kind.is_block_mapped() {
            let slots = self.segments() * u64::from(geometry.slots_per_superblock);
            return slots as f64 / self.mapped_slots() as f64 - 1.0;
        }
        let reclaim = &self.ftl.reclaim;
        let used = u64::from(self.ftl.slc.static_superblocks() + reclaim.free_superblocks_low)
            + u64::from(reclaim.streams)
            + self.tree_superblocks();
        let usable = u64::from(geometry.superblock_count).saturating_sub(used);
        let slots = u64::from(geometry.slots_per_superblock);
        let parity = if self.ftl.parity {
            u64::from(geometry.die_count)
        } else {
            0
        };
        let data = slots - slots.checked_div(parity).unwrap_or(0);
        (usable * data) as f64 / self.mapped_slots() as f64 - 1.0
    }

    /// Bytes of memory that the tables of a modelled drive of this configuration take.
    pub fn memory_bytes(&self) -> u64 {
        let geometry = self.geometry();
        let media = geometry.raw_bytes() / u64::from(geometry.slot_bytes);
        let blocks = u64::from(geometry.die_count) * u64::from(geometry.superblock_count);
        let buffer = self.buffer.bytes / u64::from(self.shape.slot_bytes);
        if self.ftl.mapping.kind.is_block_mapped() {
            return 4 * self.mapped_slots() + 2 * blocks + 16 * buffer;
        }
        let weights = if self.pack() > 1 { media } else { 0 };
        let ages = match self.ftl.reclaim.separation {
            Separation::Lifespan => 4 * self.user_slots(),
            _ => 0,
        };
        4 * self.mapped_slots() + 4 * media + media / 8 + weights + ages + 2 * blocks + 16 * buffer
    }

    /// A drive of 3 MiB for examples and tests: TLC, volatile buffer, pSLC cache, map journal.
    pub fn tiny() -> DriveConfig {
        DriveConfig {
            name: "tiny".into(),
            shape: Shape {
                channel_count: 2,
                dies_per_channel: 1,
                planes_per_die: 2,
                blocks_per_plane: 24,
                pages_per_block: 6,
                page_bytes: 8192,
                slot_bytes: 4096,
                bits_per_cell: 3,
            },
            nand: NandConfig {
                timing: NandTiming {
                    read: [60, 80, 100].map(Nanos::from_micros).to_vec(),
                    program: [800, 2200, 5700].map(Nanos::from_micros).to_vec(),
                    slc_read: Nanos::from_micros(40),
                    slc_program: Nanos::from_micros(300),
                    erase: Nanos::from_millis(3),
                    channel_bytes_per_second: 400_000_000,
                },
                read_first: true,
                suspend: None,
                cache_read: false,
                cache_program: false,
                programs_at_once: 0,
            },
            user_bytes: 448 * 4096,
            ftl: FtlConfig {
                slc: SlcConfig {
                    superblocks: 3,
                    ..SlcConfig::default()
                },
                journal: JournalConfig {
                    entry_bytes: 8,
                    commit_map_programs: 1,
                    commit_closes_word_lines: true,
                    checkpoint_pages: 0,
                },
                idle_after: Nanos::from_millis(50),
                ..FtlConfig::default()
            },
            buffer: BufferConfig {
                bytes: 16 * 4096,
                hold_bytes: 0,
                protected: false,
                joined_flushes: false,
                write_cache: true,
                flush_time: Nanos::ZERO,
                fua_time: Nanos::ZERO,
                fua_at_once: 0,
            },
            host: HostConfig {
                queue_depth: 32,
                link_bytes_per_second: 550_000_000,
                write_bytes_per_second: 0,
                full_duplex: false,
                command_overhead: Nanos::from_micros(3),
                write_overhead: Nanos::from_micros(3),
                moved_slot: Nanos::ZERO,
                latency: Nanos::from_micros(10),
                write_latency: Nanos::ZERO,
                read_ahead: 0,
            },
            energy: EnergyConfig::default(),
            wear: None,
            heat: None,
        }
    }
}

#[cfg(test)]
mod tests;
