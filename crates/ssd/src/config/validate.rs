//! Checks that a configured drive can work.

use super::ftl::COMMIT_SUPERBLOCKS_MAX;
use super::policy::VictimChoice;
use super::{BUFFER_SLOTS_MAX, ConfigError, DriveConfig, MEDIA_SLOTS_MAX, ReclaimConfig};

use crate::units::{Bytes, Nanos};
use std::fmt;

pub(super) fn require(
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

impl DriveConfig {
    /// Checks everything that a drive relies on.
    ///
    /// # Errors
    /// The first parameter that makes the drive impossible.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_shape()?;
        self.validate_timing()?;
        self.validate_sides()?;
        self.validate_ftl()?;
        self.validate_recovery()?;
        if self.ftl.mapping.kind.is_block_mapped() {
            self.validate_block_mapped()?;
        }
        self.validate_capacity()?;
        self.validate_wear()?;
        self.validate_heat()
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
            ("read", &self.nand.timing.read),
            ("program", &self.nand.timing.program),
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
        let suspend = self.nand.suspend.unwrap_or_default();
        for (what, time) in [
            ("slc_read", self.nand.timing.slc_read),
            ("slc_program", self.nand.timing.slc_program),
            ("erase", self.nand.timing.erase),
            ("suspend", suspend.suspend),
            ("resume", suspend.resume),
            ("command_overhead", self.host.command_overhead),
            ("write_overhead", self.host.write_overhead),
            ("moved_slot", self.host.moved_slot),
            ("latency", self.host.latency),
            ("write_latency", self.host.write_latency),
            ("trim_time", self.ftl.trim_time),
        ] {
            let allowed = "at most 1 s is allowed";
            require(time <= Nanos::from_secs(1), what, time, allowed)?;
        }
        let idle = self.ftl.idle_after;
        let year = Nanos::from_secs(365 * 86_400);
        require(
            idle <= year,
            "idle_after",
            idle,
            "at most a year is allowed",
        )?;
        let rate = self.nand.timing.channel_bytes_per_second;
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
        require(
            h.read_ahead <= 65_536,
            "read_ahead",
            format!("{} mapping units", h.read_ahead),
            "at most 65536 mapping units are allowed",
        )?;
        let rate = h.link_bytes_per_second;
        require(rate > 0, "link rate", rate, "more than zero is allowed")?;
        let slots = self.buffer.bytes / u64::from(self.shape.slot_bytes);
        let unit = u64::from(self.shape.planes_per_die)
            * u64::from(self.shape.page_bytes / self.shape.slot_bytes);
        let held = self.buffer.hold_bytes / u64::from(self.shape.slot_bytes);
        let pack = u64::from(self.pack());
        let stream = unit.saturating_mul(pack).saturating_add(held);
        let least = stream
            .saturating_mul(self.ftl.reclaim.streams.into())
            .saturating_add(unit);
        require(
            slots >= least && slots.saturating_mul(pack) <= BUFFER_SLOTS_MAX / 4,
            "write buffer",
            Bytes(self.buffer.bytes),
            &format!(
                "at least {} (for each stream what it holds back and a program unit, and one unit \
                 under way) and at most 4 million slots is allowed",
                Bytes(least.saturating_mul(self.shape.slot_bytes.into()))
            ),
        )
    }

    fn validate_ftl(&self) -> Result<(), ConfigError> {
        let reclaim = &self.ftl.reclaim;
        require(
            (1..=8).contains(&reclaim.streams),
            "streams",
            reclaim.streams,
            "1 to 8 is allowed",
        )?;
        self.validate_free()?;
        let pack = self.pack();
        require(
            pack.is_power_of_two() && pack <= 16 && self.shape.slot_bytes / pack >= 256,
            "compression_pack",
            pack,
            "1, 2, 4, 8 or 16 is allowed, with at least 256 B for each",
        )?;
        self.validate_dynamic_cache()?;
        require(
            self.buffer.fua_at_once <= 127,
            "fua_at_once",
            self.buffer.fua_at_once,
            "at most 127 is allowed",
        )?;
        let slc = &self.ftl.slc;
        require(
            slc.commit_superblocks <= COMMIT_SUPERBLOCKS_MAX,
            "slc_commit_superblocks",
            slc.commit_superblocks,
            &format!("at most {COMMIT_SUPERBLOCKS_MAX} is allowed"),
        )?;
        let dies = self.shape.channel_count * self.shape.dies_per_channel;
        require(
            !self.ftl.parity || dies >= 2,
            "parity",
            self.ftl.parity,
            "false is allowed on a drive of one die",
        )?;
        let mapping = &self.ftl.mapping;
        require(
            (1..=64).contains(&mapping.entry_bytes),
            "map_entry",
            Bytes(mapping.entry_bytes.into()),
            "1 B to 64 B is allowed",
        )?;
        require(
            mapping.leaf_programs <= 16,
            "map_leaf_programs",
            mapping.leaf_programs,
            "0 to 16 is allowed",
        )?;
        reclaim
            .victim
            .validate()
            .map_err(|(given, allowed)| ConfigError {
                what: "victim".into(),
                given,
                allowed,
            })
    }

    fn validate_free(&self) -> Result<(), ConfigError> {
        let reclaim = &self.ftl.reclaim;
        let least = self.free_superblocks_min(false);
        let apart = if self.map_is_apart() {
            " and a map apart"
        } else {
            ""
        };
        require(
            reclaim.free_superblocks_low >= least,
            "free_superblocks_low",
            reclaim.free_superblocks_low,
            &format!(
                "at least {least} is allowed with {} streams{apart}: reclaim needs them to make \
                 progress",
                reclaim.streams
            ),
        )
    }

    /// Recovery by the journal needs one that holds every change of the map.
    fn validate_recovery(&self) -> Result<(), ConfigError> {
        if !self.recovers_by_journal() {
            return Ok(());
        }
        let journal = &self.ftl.journal;
        let require = |ok, allowed: &str| require(ok, "recovery", "\"journal\"", allowed);
        require(
            !self.ftl.mapping.kind.is_block_mapped(),
            "\"scan\" is allowed: a block-mapped drive (mapping \"block\") has no \
             journal of single slots; the spare areas give the segment of each superblock",
        )?;
        require(
            journal.entry_bytes > 0 && journal.commit_map_programs > 0,
            "it is allowed with journal_entry and commit_map_programs of more than zero: without \
             a journal entry for each change, and a journal page for each commit, the journal does \
             not hold the map",
        )?;
        let entries = u64::from(self.shape.page_bytes).saturating_sub(self.root_bytes());
        require(
            2 * self.root_bytes() <= u64::from(self.shape.page_bytes)
                && entries >= u64::from(journal.entry_bytes),
            "it is allowed if the root (4 B for each mapping unit of the directory) takes at most \
             half of a journal page; a larger mapping_unit or page makes it smaller",
        )
    }

    fn validate_dynamic_cache(&self) -> Result<(), ConfigError> {
        let dynamic = self.ftl.slc.dynamic_above_free;
        require(
            dynamic == 0 || u64::from(dynamic) > self.reserve_superblocks() + 1,
            "slc_dynamic_above_free",
            dynamic,
            &format!(
                "0, or more than {} (what reclaim needs) is allowed",
                self.reserve_superblocks() + 1
            ),
        )?;
        let most = self.ftl.slc.dynamic_superblocks;
        require(
            most == 0 || dynamic > 0,
            "slc_dynamic_superblocks",
            most,
            "0 is allowed, or any number with slc_dynamic_above_free",
        )
    }

    /// Refuses options that have no effect on a block map.
    fn validate_block_mapped(&self) -> Result<(), ConfigError> {
        let ftl = &self.ftl;
        let reclaim = &ftl.reclaim;
        let usual = ReclaimConfig::default();
        let unknown = [
            ("slc_superblocks", ftl.slc.superblocks > 0),
            ("slc_dynamic_above_free", ftl.slc.dynamic_above_free > 0),
            ("slc_dynamic_superblocks", ftl.slc.dynamic_superblocks > 0),
            ("slc_commit_superblocks", ftl.slc.commit_superblocks > 0),
            ("compression_pack", self.pack() > 1),
            ("parity", ftl.parity),
            ("refresh_reads", ftl.refresh_reads > 0),
            ("map_dram", ftl.mapping.dram_bytes > 0),
            ("checkpoint_pages", ftl.journal.checkpoint_pages > 0),
            (
                "commit_closes_word_lines",
                ftl.journal.commit_closes_word_lines,
            ),
            ("victim", reclaim.victim != VictimChoice::greedy()),
            ("pace", reclaim.pace != usual.pace),
            ("idle_free_superblocks", reclaim.idle_free_superblocks > 0),
            ("shared_frontier", reclaim.shared_frontier),
            ("streams", reclaim.streams > 1),
            ("separation", reclaim.separation != usual.separation),
            ("spare", reclaim.spare != usual.spare),
        ];
        for (what, given) in unknown {
            require(
                !given,
                what,
                "anything but its default",
                "a block-mapped drive (mapping \"block\") has nothing of the kind",
            )?;
        }
        Ok(())
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
            media.saturating_mul(self.pack().into()) < MEDIA_SLOTS_MAX,
            "raw capacity",
            Bytes(media.saturating_mul(slot)),
            "fewer than 4,278,190,080 slots; a larger mapping_unit allows more bytes",
        )?;
        let data = if self.ftl.parity {
            per_superblock / dies * (dies - 1)
        } else {
            per_superblock
        };
        // Reclaim may have to pad one unit per victim and must gain more than that.
        let padding = if self.ftl.mapping.kind.is_block_mapped() {
            0
        } else {
            unit - 1
        };
        let data = data.saturating_sub(padding);
        let slc = u64::from(self.ftl.slc.static_superblocks());
        let native = u64::from(s.blocks_per_plane).saturating_sub(slc);
        let usable = native.saturating_sub(self.reserve_superblocks()) * data * slot;
        let needed = self.mapped_slots().saturating_mul(slot);
        // A block map gives its last segment a whole superblock, and may use all of it.
        let (fits, most) = if self.ftl.mapping.kind.is_block_mapped() {
            (needed <= usable, "at most")
        } else {
            (needed < usable, "less than")
        };
        require(
            fits,
            "user capacity",
            Bytes(self.user_bytes),
            &format!(
                "raw capacity is {}; less {slc} superblocks of pSLC cache and {} kept in reserve, \
                 of {} each, the host can be given {most} {}",
                Bytes(media * slot),
                self.reserve_superblocks(),
                Bytes(data * slot),
                Bytes(usable.saturating_sub(needed - self.user_bytes)),
            ),
        )?;
        if self.ftl.mapping.kind.is_block_mapped() {
            return Ok(());
        }
        self.validate_map_writes(unit, needed, usable)
    }

    fn validate_wear(&self) -> Result<(), ConfigError> {
        let Some(wear) = &self.wear else {
            return Ok(());
        };
        if let Some((what, given, allowed)) = wear.fault() {
            return require(false, what, given, allowed);
        }
        require(
            !self.ftl.mapping.kind.is_block_mapped(),
            "wear",
            "on",
            "a block-mapped drive (mapping \"block\") has no wear model",
        )?;
        let geometry = self.geometry();
        // A failed program uses up a unit without any gain.
        require(
            geometry.slots_per_superblock >= 8 * geometry.slots_per_unit,
            "pages_per_block",
            self.shape.pages_per_block,
            "with wear at least eight program units in a superblock are allowed",
        )?;
        let least = self.free_superblocks_min(true);
        require(
            self.ftl.reclaim.free_superblocks_low >= least,
            "free_superblocks_low",
            self.ftl.reclaim.free_superblocks_low,
            &format!("with wear at least {least} is allowed: a superblock may be given up"),
        )?;
        let native = u64::from(geometry.superblock_count - self.ftl.slc.static_superblocks());
        require(
            native >= self.native_superblocks_min(),
            "user capacity",
            Bytes(self.user_bytes),
            &format!(
                "with wear {} native superblocks are the least for it, there are {native}",
                self.native_superblocks_min()
            ),
        )
    }

    /// Moving data changes the map, and writing the map creates more data to move: this must
    /// converge. `unit` in mapping units, the others in bytes.
    fn validate_map_writes(&self, unit: u64, needed: u64, usable: u64) -> Result<(), ConfigError> {
        let journal = &self.ftl.journal;
        let page = self.shape.page_bytes;
        let page = page - self.root_bytes() as u32;
        let Some(entries) = page.checked_div(journal.entry_bytes) else {
            return Ok(());
        };
        let slots = self.map_slots();
        let checkpoint = slots.checked_div(journal.checkpoint_pages.into());
        let mut per_page = u128::from(unit + checkpoint.unwrap_or(0));
        if self.recovers_by_journal() {
            // A page of the ring is written again only when no leaf needs it any more.
            per_page += u128::from(unit + slots.div_ceil(u64::from(self.journal_pages() - 1)));
        }
        let moved = 2 * per_page * u128::from(needed);
        require(
            moved < u128::from(entries) * u128::from(usable - needed),
            "journal_entry",
            Bytes(journal.entry_bytes.into()),
            &format!(
                "less is allowed, or more checkpoint_pages, or less user capacity: each {entries} \
                 changes of the map write {per_page} mapping units, which on a drive so full make \
                 more changes than that"
            ),
        )
    }
}
