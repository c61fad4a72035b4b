//! The parameters that can be set.

/// What a parameter's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterForm {
    /// A whole number.
    Number,
    /// A number.
    Decimal,
    /// Words, sizes, times, rates: read by the drive file's reader.
    Text,
    /// `true` or `false`.
    Flag,
    /// Several texts, with commas.
    List,
}

use ParameterForm::{Decimal, Flag, List, Number, Text};

/// Every parameter that can be set, with an example.
pub(super) const ALL: &[(&str, ParameterForm, &str)] = &[
    ("capacity.user", Text, "300GB"),
    ("nand.channels", Number, "8"),
    ("nand.dies_per_channel", Number, "4"),
    ("nand.planes_per_die", Number, "2"),
    ("nand.blocks_per_plane", Number, "1024"),
    ("nand.pages_per_block", Number, "384"),
    ("nand.page", Text, "16KiB"),
    ("nand.bits_per_cell", Number, "3"),
    ("nand.read", List, "60us,80us,100us"),
    ("nand.program", List, "800us,2200us,5700us"),
    ("nand.slc_read", Text, "40us"),
    ("nand.slc_program", Text, "300us"),
    ("nand.erase", Text, "3ms"),
    ("nand.channel_rate", Text, "400MB/s"),
    ("nand.read_first", Flag, "true"),
    ("nand.suspend", Text, "20us"),
    ("nand.resume", Text, "20us"),
    ("nand.suspends_max", Number, "4"),
    ("nand.cache_read", Flag, "true"),
    ("nand.cache_program", Flag, "true"),
    ("nand.programs_at_once", Number, "32"),
    ("ftl.mapping_unit", Text, "16KiB"),
    ("ftl.mapping", Text, "cached"),
    ("ftl.map_dram", Text, "32MiB"),
    ("ftl.map_entry", Text, "4B"),
    ("ftl.map_leaf_programs", Number, "2"),
    ("ftl.map_serial_misses", Flag, "true"),
    ("ftl.map_apart", Flag, "true"),
    ("ftl.victim", Text, "d-choices:10"),
    ("ftl.pace", Text, "whole"),
    ("ftl.free_superblocks_low", Number, "5"),
    ("ftl.idle_free_superblocks", Number, "20"),
    ("ftl.idle_after", Text, "500ms"),
    ("ftl.shared_frontier", Flag, "true"),
    ("ftl.streams", Number, "2"),
    ("ftl.separation", Text, "hint"),
    ("ftl.spare", Text, "fixed"),
    ("ftl.slc_superblocks", Number, "0"),
    ("ftl.slc_dynamic_above_free", Number, "50"),
    ("ftl.slc_dynamic_superblocks", Number, "300"),
    ("ftl.slc_commit_superblocks", Number, "2"),
    ("ftl.slc_full", Text, "fold"),
    ("ftl.journal_entry", Text, "8B"),
    ("ftl.checkpoint_pages", Number, "1024"),
    ("ftl.recovery", Text, "journal"),
    ("ftl.commit_map_programs", Number, "2"),
    ("ftl.commit_closes_word_lines", Flag, "false"),
    ("ftl.compression_pack", Number, "4"),
    ("ftl.parity", Flag, "true"),
    ("ftl.refresh_reads", Number, "100000"),
    ("ftl.trim_queued", Flag, "false"),
    ("ftl.trim_time", Text, "1ms"),
    ("buffer.size", Text, "32MiB"),
    ("buffer.hold", Text, "16MiB"),
    ("buffer.protected", Flag, "true"),
    ("buffer.joined_flushes", Flag, "true"),
    ("buffer.write_cache", Flag, "false"),
    ("buffer.flush_time", Text, "300us"),
    ("buffer.fua_time", Text, "600us"),
    ("buffer.fua_at_once", Number, "3"),
    ("host.queue_depth", Number, "32"),
    ("host.link_rate", Text, "550MB/s"),
    ("host.write_limit", Text, "1484.8MB/s"),
    ("host.full_duplex", Flag, "true"),
    ("host.command_overhead", Text, "3us"),
    ("host.write_overhead", Text, "3us"),
    ("host.moved_slot", Text, "20us"),
    ("host.latency", Text, "10us"),
    ("host.write_latency", Text, "35us"),
    ("host.read_ahead", Text, "64KiB"),
    ("heat.capacity", Text, "9J/K"),
    ("heat.resistance", Text, "14K/W"),
    ("heat.ambient", Text, "35C"),
    ("heat.light_at", Text, "75C"),
    ("heat.light_programs", Number, "8"),
    ("heat.light_pause", Text, "2us"),
    ("heat.heavy_at", Text, "82C"),
    ("heat.heavy_programs", Number, "4"),
    ("heat.heavy_pause", Text, "20us"),
    ("heat.critical_at", Text, "90C"),
    ("heat.critical_programs", Number, "1"),
    ("heat.critical_pause", Text, "5ms"),
    ("heat.hysteresis", Text, "3K"),
    ("heat.warning", Text, "80C"),
    ("heat.overheated", Text, "85C"),
    ("wear.cycles", Number, "3000"),
    ("wear.class", Text, "enterprise"),
    ("wear.rber_eps", Decimal, "1.48e-3"),
    ("wear.rber_alpha", Decimal, "3.9e-10"),
    ("wear.rber_k", Decimal, "2.05"),
    ("wear.rber_beta", Decimal, "6.28e-5"),
    ("wear.rber_m", Decimal, "0.14"),
    ("wear.rber_n", Decimal, "0.54"),
    ("wear.rber_gamma", Decimal, "3.73e-9"),
    ("wear.rber_p", Decimal, "0.33"),
    ("wear.rber_q", Decimal, "1.71"),
    ("wear.ecc_bits", Number, "72"),
    ("wear.ecc_data", Text, "1KiB"),
    ("wear.retries", Number, "20"),
    ("wear.retry_gain", Decimal, "1.2"),
    ("wear.retry_time", Text, "20us"),
    ("wear.block_spread", Decimal, "0.15"),
    ("wear.page_spread", Decimal, "0.08"),
    ("wear.failure_median", Decimal, "3"),
    ("wear.failure_spread", Decimal, "0.25"),
    ("wear.failure_early_pct", Decimal, "1"),
    ("wear.failure_programs_pct", Decimal, "50"),
    ("wear.reserve_pct", Decimal, "2"),
    ("wear.program_faster_pct", Decimal, "10"),
    ("wear.erase_slower_pct", Decimal, "50"),
    ("wear.refresh", Flag, "true"),
    ("wear.refresh_above_pct", Decimal, "50"),
    ("wear.patrol_pages", Number, "4"),
    ("wear.patrol_hours", Number, "168"),
    ("wear.retire_above_pct", Decimal, "50"),
    ("wear.level_dynamic", Flag, "true"),
    ("wear.level_gap", Number, "60"),
    ("wear.level_every", Number, "16"),
    ("wear.end_of_life", Text, "read-only"),
];

#[cfg(test)]
mod tests {
    use super::ALL;

    /// Every key of wear stands in the guide's table.
    #[test]
    fn every_key_of_wear_is_documented() {
        let guide = include_str!("../../../../docs/wear-and-life.md");
        let names = ALL.iter().filter_map(|(key, ..)| key.strip_prefix("wear."));
        for name in names {
            assert!(guide.contains(&format!("`{name}`")), "{name}");
        }
    }
}
