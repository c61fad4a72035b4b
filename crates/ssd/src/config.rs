//! What a drive is made of, checked once and never consulted as text again.

use crate::geometry::{Geometry, Shape};
use crate::nand::NandTiming;
use crate::units::{Bytes, Nanos};
use std::fmt;

/// Everything that makes one drive different from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveConfig {
    /// Name in the catalogue.
    pub name: String,
    /// The array's shape.
    pub shape: Shape,
    /// The array's times.
    pub timing: NandTiming,
    /// Bytes the host may address.
    pub user_bytes: u64,
    /// Translation layer.
    pub ftl: FtlConfig,
    /// Write buffer.
    pub buffer: BufferConfig,
    /// Host side.
    pub host: HostConfig,
}

/// Parameters of the translation layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtlConfig {
    /// Reclaim works, paid by host writes, while no more superblocks than this are free.
    pub free_superblocks_low: u32,
    /// Superblocks always used in SLC mode, as a cache for host writes. Folded when idle.
    pub slc_superblocks: u32,
    /// Bytes of map journal per changed map entry; 0 = the map costs nothing.
    pub journal_entry_bytes: u32,
    /// Map programs, one after another, that a commit needs after its data is on media.
    pub commit_map_programs: u32,
    /// A commit fills up the word line that it programs in native mode: data in a half-programmed
    /// word line is not yet safe.
    pub commit_closes_word_lines: bool,
    /// With no command outstanding for so long, the drive empties its buffer and folds its cache.
    pub idle_after: Nanos,
}

/// The write buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferConfig {
    /// Bytes of host data it holds, in-flight programs included.
    pub bytes: u64,
    /// Survives a power cut: an acknowledged write is durable, FUA and FLUSH wait for nothing.
    pub protected: bool,
}

/// The host side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Commands worked on at once; more wait their turn.
    pub queue_depth: u32,
    /// Payload bytes per second of the link.
    pub link_bytes_per_second: u64,
    /// Reads and writes do not share the link's time (PCIe), or do (SATA).
    pub full_duplex: bool,
    /// Time the controller is busy with each command; bounds the command rate.
    pub command_overhead: Nanos,
    /// Time each command takes without keeping anything busy (host stack, firmware pipeline).
    pub latency: Nanos,
}

/// A drive that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The parameter.
    pub what: String,
    /// What was given.
    pub given: String,
    /// What is allowed.
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

fn require(
    ok: bool,
    what: &str,
    given: impl fmt::Display,
    allowed: &str,
) -> Result<(), ConfigError> {
    if ok {
        return Ok(());
    }
    Err(ConfigError {
        what: what.into(),
        given: given.to_string(),
        allowed: allowed.into(),
    })
}

/// Map values from here up point into the write buffer, not at media.
pub(crate) const MEDIA_SLOTS_MAX: u64 = 0xFF00_0000;
/// Most slots a write buffer may have.
pub(crate) const BUFFER_SLOTS_MAX: u64 = 0x00FF_0000;

impl DriveConfig {
    /// Map entries: slots the host may address.
    pub fn user_slots(&self) -> u64 {
        self.user_bytes / u64::from(self.shape.slot_bytes)
    }

    /// Slots of map journal kept on media, at hidden addresses beyond the host's.
    pub fn journal_slots(&self) -> u64 {
        let used = self.ftl.journal_entry_bytes > 0 || self.ftl.commit_map_programs > 0;
        if used {
            16 * u64::from(self.shape.page_bytes / self.shape.slot_bytes)
        } else {
            0
        }
    }

    /// Superblocks that must exist beyond those full of user data, so that reclaim always has
    /// where to write: the free reserve, two open ones, one being emptied, one stale in part.
    pub fn reserve_superblocks(&self) -> u64 {
        u64::from(self.ftl.free_superblocks_low) + 4
    }

    /// Checks everything that a drive relies on.
    ///
    /// # Errors
    /// The first parameter that makes the drive impossible.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_shape()?;
        self.validate_timing()?;
        self.validate_sides()?;
        self.validate_capacity()
    }

    fn validate_shape(&self) -> Result<(), ConfigError> {
        let s = &self.shape;
        let counts = [
            ("channels", s.channel_count, 256),
            ("dies_per_channel", s.dies_per_channel, 256),
            ("planes_per_die", s.planes_per_die, 16),
            ("blocks_per_plane", s.blocks_per_plane, 1 << 24),
            ("pages_per_block", s.pages_per_block, 32_768),
            ("bits_per_cell", s.bits_per_cell, 4),
        ];
        for (what, given, most) in counts {
            require(
                (1..=most).contains(&given),
                what,
                given,
                &format!("1 to {most} is allowed"),
            )?;
        }
        require(
            s.slot_bytes >= 512 && s.slot_bytes.is_power_of_two() && s.slot_bytes <= 1 << 20,
            "mapping_unit",
            Bytes(s.slot_bytes.into()),
            "a power of two from 512 B to 1 MiB is allowed",
        )?;
        require(
            s.page_bytes >= s.slot_bytes && s.page_bytes.is_multiple_of(s.slot_bytes),
            "page",
            Bytes(s.page_bytes.into()),
            "a multiple of the mapping unit is allowed",
        )?;
        require(
            s.channel_count * s.dies_per_channel * (s.pages_per_block / s.bits_per_cell) >= 4,
            "pages_per_block",
            s.pages_per_block,
            "at least four program units in a superblock, in SLC mode too, are allowed: reclaim \
             needs them to make progress",
        )?;
        require(
            s.pages_per_block.is_multiple_of(s.bits_per_cell),
            "pages_per_block",
            s.pages_per_block,
            "a multiple of bits_per_cell (whole word lines) is allowed",
        )
    }

    fn validate_timing(&self) -> Result<(), ConfigError> {
        let bits = self.shape.bits_per_cell as usize;
        for (what, list) in [
            ("read", &self.timing.read),
            ("program", &self.timing.program),
        ] {
            let allowed = format!("one time per page of a word line ({bits}) is allowed");
            require(
                list.len() == bits,
                what,
                format!("{} times", list.len()),
                &allowed,
            )?;
            let longest = list.iter().max().copied().unwrap_or_default();
            require(
                longest <= Nanos::from_secs(1),
                what,
                longest,
                "at most 1 s is allowed",
            )?;
        }
        let rate = self.timing.channel_bytes_per_second;
        require(rate > 0, "channel rate", rate, "more than zero is allowed")
    }

    fn validate_sides(&self) -> Result<(), ConfigError> {
        let h = &self.host;
        require(
            (1..=65_536).contains(&h.queue_depth),
            "queue_depth",
            h.queue_depth,
            "1 to 65536 is allowed",
        )?;
        let rate = h.link_bytes_per_second;
        require(rate > 0, "link rate", rate, "more than zero is allowed")?;
        let slots = self.buffer.bytes / u64::from(self.shape.slot_bytes);
        let unit =
            u64::from(self.shape.planes_per_die * (self.shape.page_bytes / self.shape.slot_bytes));
        require(
            slots >= 2 * unit && slots <= BUFFER_SLOTS_MAX,
            "write buffer",
            Bytes(self.buffer.bytes),
            "at least two program units (planes x page) and at most 16 million slots is allowed",
        )?;
        require(
            self.ftl.free_superblocks_low >= 3,
            "free_superblocks_low",
            self.ftl.free_superblocks_low,
            "at least 3 is allowed: reclaim needs them to make progress",
        )
    }

    fn validate_capacity(&self) -> Result<(), ConfigError> {
        let slot = u64::from(self.shape.slot_bytes);
        require(
            self.user_bytes >= slot && self.user_bytes.is_multiple_of(slot),
            "user capacity",
            Bytes(self.user_bytes),
            "a multiple of the mapping unit, not zero, is allowed",
        )?;
        let s = &self.shape;
        let dies = u64::from(s.channel_count) * u64::from(s.dies_per_channel);
        let unit = u64::from(s.planes_per_die) * u64::from(s.page_bytes / s.slot_bytes);
        let per_superblock = dies * u64::from(s.pages_per_block) * unit;
        let media = per_superblock.saturating_mul(s.blocks_per_plane.into());
        require(
            media < MEDIA_SLOTS_MAX,
            "raw capacity",
            Bytes(media.saturating_mul(slot)),
            "fewer than 4,278,190,080 mapping units; a larger mapping_unit allows more bytes",
        )?;
        let slc = u64::from(self.ftl.slc_superblocks);
        let native = u64::from(s.blocks_per_plane).saturating_sub(slc);
        let usable = native.saturating_sub(self.reserve_superblocks()) * per_superblock * slot;
        let needed = self.user_bytes + self.journal_slots() * slot;
        require(
            needed < usable,
            "user capacity",
            Bytes(self.user_bytes),
            &format!(
                "raw capacity is {}; less {slc} superblocks of pSLC cache and {} kept in reserve, \
                 of {} each, the host can be given less than {}",
                Bytes(media * slot),
                self.reserve_superblocks(),
                Bytes(per_superblock * slot),
                Bytes(usable),
            ),
        )
    }

    /// Nominal over-provisioning OP = (raw - user) / user, from the capacities on paper.
    pub fn nominal_op(&self) -> f64 {
        let raw = Geometry::new(self.shape).raw_bytes();
        raw as f64 / self.user_bytes as f64 - 1.0
    }

    /// Effective over-provisioning: the same with what reclaim can really use, the N superblocks
    /// less those of the pSLC cache, the R kept free and one more for what is open, over the
    /// user's data and the map journal. This is the OP to put into formulas of write
    /// amplification (`tests/theory.rs` holds the drive to it).
    pub fn effective_op(&self) -> f64 {
        let geometry = Geometry::new(self.shape);
        let ftl = &self.ftl;
        let used = u64::from(ftl.slc_superblocks) + u64::from(ftl.free_superblocks_low) + 1;
        let usable = u64::from(geometry.superblock_count).saturating_sub(used);
        let media = usable * u64::from(geometry.slots_per_superblock);
        media as f64 / (self.user_slots() + self.journal_slots()) as f64 - 1.0
    }

    /// Bytes of memory that a modelled drive of this configuration needs, for its tables.
    pub fn memory_bytes(&self) -> u64 {
        let geometry = Geometry::new(self.shape);
        let media = geometry.raw_bytes() / u64::from(self.shape.slot_bytes);
        let blocks = u64::from(geometry.die_count) * u64::from(geometry.superblock_count);
        let buffer = self.buffer.bytes / u64::from(self.shape.slot_bytes);
        4 * (self.user_slots() + self.journal_slots())
            + 4 * media
            + media / 8
            + 2 * blocks
            + 16 * buffer
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
            timing: NandTiming {
                read: [60, 80, 100].map(Nanos::from_micros).to_vec(),
                program: [800, 2200, 5700].map(Nanos::from_micros).to_vec(),
                slc_read: Nanos::from_micros(40),
                slc_program: Nanos::from_micros(300),
                erase: Nanos::from_millis(3),
                channel_bytes_per_second: 400_000_000,
            },
            user_bytes: 448 * 4096,
            ftl: FtlConfig {
                free_superblocks_low: 3,
                slc_superblocks: 3,
                journal_entry_bytes: 8,
                commit_map_programs: 1,
                commit_closes_word_lines: true,
                idle_after: Nanos::from_millis(50),
            },
            buffer: BufferConfig {
                bytes: 16 * 4096,
                protected: false,
            },
            host: HostConfig {
                queue_depth: 32,
                link_bytes_per_second: 550_000_000,
                full_duplex: false,
                command_overhead: Nanos::from_micros(3),
                latency: Nanos::from_micros(10),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tiny_drive_is_possible() {
        DriveConfig::tiny().validate().unwrap();
    }

    #[test]
    fn a_drive_with_more_user_than_raw_bytes_is_refused_with_the_arithmetic() {
        let mut config = DriveConfig::tiny();
        config.user_bytes = 1 << 30;
        let error = config.validate().unwrap_err().to_string();
        assert!(error.contains("`user capacity` cannot be 1 GiB"), "{error}");
        assert!(error.contains("raw capacity is 4.5 MiB"), "{error}");
    }

    #[test]
    fn every_zero_is_refused() {
        let zero: [fn(&mut DriveConfig); 7] = [
            |c| c.shape.channel_count = 0,
            |c| c.shape.pages_per_block = 0,
            |c| c.shape.bits_per_cell = 0,
            |c| c.user_bytes = 0,
            |c| c.buffer.bytes = 0,
            |c| c.host.queue_depth = 0,
            |c| c.timing.channel_bytes_per_second = 0,
        ];
        for set in zero {
            let mut config = DriveConfig::tiny();
            set(&mut config);
            config.validate().unwrap_err();
        }
    }
}
