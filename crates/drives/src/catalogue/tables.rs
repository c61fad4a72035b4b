//! The tables of a drive file. Each value has its source and kind; see [`SourcedValue`].

use super::sourced::SourcedValue;
use crate::smart::AttributeSet;
use serde::{Deserialize, Serialize};

/// Declares a table of a drive file: needed values, then those that may be left out.
macro_rules! table {
    ($(#[$about:meta])* struct $table:ident:
        needed { $($(#[$needed_about:meta])* $needed:ident: $needed_kind:ty,)* }
        optional { $($(#[$about_optional:meta])* $optional:ident: $optional_kind:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $table {
            $($(#[$needed_about])* pub $needed: SourcedValue<$needed_kind>,)*
            $($(#[$about_optional])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $optional: Option<SourcedValue<$optional_kind>>,)*
        }
    };
}

table! {
    /// `[documented]`. Only the first is needed: the rest was not found for every drive.
    struct DocumentedTable: needed {
        /// Whether acknowledged writes survive a power cut.
        power_loss_protection: bool,
    } optional {
        /// Rated endurance in bytes written by the host.
        rated_writes: String,
        /// The same for 8 KiB random writes, where the papers tell both.
        rated_writes_8k: String,
        /// The same for 4 KiB random writes with a fifth of the drive left unused.
        rated_writes_20_spare: String,
        /// Warranty, or the years that the endurance is rated for, in years.
        warranty_years: u32,
        /// Drive writes per day over the warranty, where the papers say so themselves.
        dwpd: f64,
        /// Flash on the board.
        raw: String,
        /// DRAM on the board.
        dram: String,
        /// Program/erase cycles that the cells are rated for.
        program_erase_cycles: u32,
        /// 4 KiB random reads per second, QD32.
        random_read_iops: u32,
        /// 4 KiB random writes per second, QD32.
        random_write_iops: u32,
        /// Bytes per second read in order.
        sequential_read: String,
        /// Bytes per second written in order.
        sequential_write: String,
        /// 4 KiB random commands per second, 70 % of them reads.
        mixed_iops: u32,
        /// Mean time of 4 KiB read in order, one at a time.
        sequential_read_latency: String,
        /// The same of writes.
        sequential_write_latency: String,
        /// Time within which 99.9 % of 4 KiB random reads, one at a time, complete.
        random_read_999: String,
        /// The same of writes.
        random_write_999: String,
        /// Commands outstanding at which random and mixed rates were taken; without it, 32.
        random_depth: u32,
        /// Span of addresses that random rates were taken over; without it, the whole drive in a
        /// steady state.
        random_span: String,
        /// Compressibility of the data that rates were taken with, in per cent.
        compress_pct: u32,
        /// 4 KiB random writes per second at the end of the 80 minutes of article zil.
        rw80_iops: u32,
        /// Price in US dollars.
        price_usd: u32,
    }
}

table! {
    /// `[capacity]`.
    struct CapacityTable: needed {
        /// Bytes the host may address.
        user: String,
    } optional {}
}

table! {
    /// `[nand]`: shape and times of the array.
    // The names are those of `Shape` and `NandTiming`, where they are explained.
    #[allow(missing_docs)]
    struct NandTable: needed {
        channels: u32,
        dies_per_channel: u32,
        planes_per_die: u32,
        blocks_per_plane: u32,
        pages_per_block: u32,
        page: String,
        bits_per_cell: u32,
        read: Vec<String>,
        program: Vec<String>,
        slc_read: String,
        slc_program: String,
        erase: String,
        channel_rate: String,
    } optional {
        read_first: bool,
        suspend: String,
        resume: String,
        suspends_max: u32,
        cache_read: bool,
        cache_program: bool,
        programs_at_once: u32,
    }
}

table! {
    /// `[ftl]`: see [`ssdlab_ssd::config::FtlConfig`].
    #[allow(missing_docs)]
    struct FtlTable: needed {
        mapping_unit: String,
        free_superblocks_low: u32,
        slc_superblocks: u32,
        journal_entry: String,
        commit_map_programs: u32,
        commit_closes_word_lines: bool,
        idle_after: String,
    } optional {
        mapping: String,
        map_dram: String,
        map_entry: String,
        map_leaf_programs: u32,
        map_serial_misses: bool,
        map_apart: bool,
        victim: String,
        pace: String,
        idle_free_superblocks: u32,
        shared_frontier: bool,
        streams: u32,
        separation: String,
        spare: String,
        slc_dynamic_above_free: u32,
        slc_dynamic_superblocks: u32,
        slc_commit_superblocks: u32,
        slc_full: String,
        checkpoint_pages: u32,
        recovery: String,
        compression_pack: u32,
        parity: bool,
        refresh_reads: u32,
        trim_queued: bool,
        trim_time: String,
    }
}

/// `[buffer]`: see [`ssdlab_ssd::config::BufferConfig`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct BufferTable {
    pub size: SourcedValue<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<SourcedValue<String>>,
    pub protected: SourcedValue<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined_flushes: Option<SourcedValue<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<SourcedValue<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_time: Option<SourcedValue<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua_time: Option<SourcedValue<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua_at_once: Option<SourcedValue<u32>>,
}

table! {
    /// `[host]`: see [`ssdlab_ssd::config::HostConfig`].
    #[allow(missing_docs)]
    struct HostTable: needed {
        queue_depth: u32,
        link_rate: String,
        full_duplex: bool,
        command_overhead: String,
        latency: String,
    } optional {
        write_overhead: String,
        write_limit: String,
        write_latency: String,
        moved_slot: String,
        read_ahead: String,
    }
}

table! {
    /// `[energy]`: see [`ssdlab_ssd::config::EnergyConfig`]. Lists are by page kind, SLC mode last.
    #[allow(missing_docs)]
    struct EnergyTable: needed {
        read: Vec<String>,
        program: Vec<String>,
        erase: String,
        channel: String,
        link: String,
        command: String,
        idle: String,
    } optional {
        active: String,
        state_after: Vec<String>,
        state_entry: Vec<String>,
        state_exit: Vec<String>,
        state_power: Vec<String>,
    }
}

table! {
    /// `[heat]`: see [`ssdlab_ssd::config::HeatConfig`].
    #[allow(missing_docs)]
    struct HeatTable: needed {
        capacity: String,
        resistance: String,
        ambient: String,
        light_at: String,
        light_programs: u32,
        heavy_at: String,
        heavy_programs: u32,
        critical_at: String,
        critical_programs: u32,
        hysteresis: String,
        warning: String,
        overheated: String,
    } optional {
        light_pause: String,
        heavy_pause: String,
        critical_pause: String,
    }
}

table! {
    /// `[smart]`: how the drive shows its health.
    struct SmartTable: needed {
        /// The vendor's attributes.
        set: AttributeSet,
    } optional {}
}

table! {
    /// `[wear]`: how the media wears. Everything may be left out; see
    /// [`crate::media::Media`] for the defaults and `docs/wear-and-life.md` for units.
    #[derive(Default)]
    struct WearTable: needed {} optional {
        /// Rated program and erase cycles; without it `documented.program_erase_cycles`.
        cycles: u32,
        /// Class of JESD218: `client` or `enterprise`.
        class: String,
        /// RBER = eps + alpha c^k + beta c^m t^n + gamma c^p r^q (c cycles, t hours at 40 C, r
        /// reads of the block / its pages): eps.
        rber_eps: f64,
        /// alpha of it.
        rber_alpha: f64,
        /// k of it.
        rber_k: f64,
        /// beta of it.
        rber_beta: f64,
        /// m of it.
        rber_m: f64,
        /// n of it.
        rber_n: f64,
        /// gamma of it.
        rber_gamma: f64,
        /// p of it.
        rber_p: f64,
        /// q of it.
        rber_q: f64,
        /// Bits of a code word that are corrected.
        ecc_bits: u32,
        /// User data of a code word, a size.
        ecc_data: String,
        /// Tries of a read beyond the first.
        retries: u32,
        /// How much higher an RBER each retry corrects than the try before.
        retry_gain: f64,
        /// Time of a retry besides sensing again.
        retry_time: String,
        /// Sigma of ln RBER between blocks.
        block_spread: f64,
        /// Sigma of ln RBER between the pages of a block.
        page_spread: f64,
        /// Median of the cycles at which blocks fail, in rated cycles.
        failure_median: f64,
        /// Sigma of its logarithm.
        failure_spread: f64,
        /// Per cent of the blocks that fail within the rated cycles.
        failure_early_pct: f64,
        /// Percentage of failures that are failed programs; the others are failed erases.
        failure_programs_pct: f64,
        /// Reserve blocks, per cent of a die's.
        reserve_pct: f64,
        /// By how many per cent programs are faster at the rated cycles.
        program_faster_pct: f64,
        /// By how many per cent erases are slower then.
        erase_slower_pct: f64,
        /// Whether data that has faded is rewritten.
        refresh: bool,
        /// Percentage of the tries beyond which data counts as faded.
        refresh_above_pct: f64,
        /// Pages of each full block that a patrol reads, others each time; 0: there are no patrols.
        patrol_pages: u32,
        /// Hours between two patrols; 0: none begins by itself.
        patrol_hours: u32,
        /// A block is retired when the RBER of fresh data exceeds this percentage of the RBER that
        /// the last try corrects.
        retire_above_pct: f64,
        /// Whether the least worn free superblock is taken for the host's data.
        level_dynamic: bool,
        /// Erase-count gap that triggers static wear levelling; 0: never.
        level_gap: u32,
        /// Superblocks freed between two looks for one.
        level_every: u32,
        /// When the reserve is used up: `read-only`, `failed` or `slow`.
        end_of_life: String,
    }
}
