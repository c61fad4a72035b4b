//! `[ftl]` of a drive file. What a file does not name is absent from the drive.

use crate::catalogue::reader::QuantityReader;
use crate::catalogue::sourced::SourcedValue;
use crate::catalogue::tables::FtlTable;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::config::{
    FtlConfig, JournalConfig, MappingConfig, MappingKind, Pace, ReclaimConfig, RecoverBy,
    SlcConfig, SlcFull, SpareArea,
};
use ssdlab_ssd::ftl::policies::{Separation, VictimChoice};

/// One of a list of names.
fn choose<T: Copy>(
    r: &QuantityReader<'_>,
    key: &str,
    sourced: Option<&SourcedValue<String>>,
    names: &[(&str, T)],
    usual: T,
) -> Result<T, LabError> {
    let Some(sourced) = sourced else {
        return Ok(usual);
    };
    let entry = names.iter().find(|(name, _)| *name == sourced.value);
    entry.map(|&(_, value)| value).ok_or_else(|| {
        let allowed_names: Vec<&str> = names.iter().map(|&(name, _)| name).collect();
        r.bad(
            key,
            &sourced.value,
            format!("one of {} is allowed", allowed_names.join(", ")),
        )
    })
}

fn number(sourced: Option<&SourcedValue<u32>>) -> u32 {
    sourced.map_or(0, |sourced| sourced.value)
}

fn flag(sourced: Option<&SourcedValue<bool>>, usual: bool) -> bool {
    sourced.map_or(usual, |sourced| sourced.value)
}

pub(super) fn config(r: &QuantityReader<'_>, t: &FtlTable) -> Result<FtlConfig, LabError> {
    Ok(FtlConfig {
        mapping: mapping(r, t)?,
        reclaim: reclaim(r, t)?,
        slc: SlcConfig {
            superblocks: t.slc_superblocks.value,
            dynamic_above_free: number(t.slc_dynamic_above_free.as_ref()),
            full: choose(
                r,
                "ftl.slc_full",
                t.slc_full.as_ref(),
                &[("direct", SlcFull::Direct), ("fold", SlcFull::Fold)],
                SlcFull::Direct,
            )?,
        },
        journal: JournalConfig {
            entry_bytes: r.size_u32("ftl.journal_entry", &t.journal_entry)?,
            commit_map_programs: t.commit_map_programs.value,
            commit_closes_word_lines: t.commit_closes_word_lines.value,
            checkpoint_pages: number(t.checkpoint_pages.as_ref()),
        },
        compression_pack: t.compression_pack.as_ref().map_or(1, |pack| pack.value),
        parity: flag(t.parity.as_ref(), false),
        refresh_reads: number(t.refresh_reads.as_ref()),
        idle_after: r.time("ftl.idle_after", &t.idle_after.value)?,
        trim_queued: flag(t.trim_queued.as_ref(), true),
        trim_time: match &t.trim_time {
            Some(time) => r.time("ftl.trim_time", &time.value)?,
            None => Nanos::ZERO,
        },
        recovery: choose(
            r,
            "ftl.recovery",
            t.recovery.as_ref(),
            &[("scan", RecoverBy::Scan), ("journal", RecoverBy::Journal)],
            RecoverBy::Scan,
        )?,
        seed: 0,
    })
}

fn mapping(r: &QuantityReader<'_>, t: &FtlTable) -> Result<MappingConfig, LabError> {
    let usual = MappingConfig::default();
    Ok(MappingConfig {
        kind: choose(
            r,
            "ftl.mapping",
            t.mapping.as_ref(),
            &[
                ("flat", MappingKind::Flat),
                ("cached", MappingKind::Cached),
                ("tree", MappingKind::Tree),
                ("block", MappingKind::Block),
            ],
            usual.kind,
        )?,
        dram_bytes: match &t.map_dram {
            Some(size) => r.size("ftl.map_dram", size)?,
            None => usual.dram_bytes,
        },
        entry_bytes: match &t.map_entry {
            Some(size) => r.size_u32("ftl.map_entry", size)?,
            None => usual.entry_bytes,
        },
        leaf_programs: number(t.map_leaf_programs.as_ref()),
        serial_misses: flag(t.map_serial_misses.as_ref(), false),
        apart: flag(t.map_apart.as_ref(), false),
    })
}

fn reclaim(r: &QuantityReader<'_>, t: &FtlTable) -> Result<ReclaimConfig, LabError> {
    let victim = match &t.victim {
        Some(sourced) => VictimChoice::parse(&sourced.value)
            .map_err(|allowed| r.bad("ftl.victim", &sourced.value, allowed))?,
        None => VictimChoice::greedy(),
    };
    let separation = match &t.separation {
        Some(sourced) => Separation::parse(&sourced.value)
            .map_err(|allowed| r.bad("ftl.separation", &sourced.value, allowed))?,
        None => Separation::Single,
    };
    let spare = match &t.spare {
        None => SpareArea::Dynamic,
        Some(sourced) => match sourced.value.as_str() {
            "dynamic" => SpareArea::Dynamic,
            "fixed" => SpareArea::Fixed,
            _ => SpareArea::Limited(r.size("ftl.spare", sourced)?),
        },
    };
    Ok(ReclaimConfig {
        victim,
        pace: choose(
            r,
            "ftl.pace",
            t.pace.as_ref(),
            &[("spread", Pace::Spread), ("whole", Pace::Whole)],
            Pace::Spread,
        )?,
        free_superblocks_low: t.free_superblocks_low.value,
        idle_free_superblocks: number(t.idle_free_superblocks.as_ref()),
        shared_frontier: flag(t.shared_frontier.as_ref(), false),
        streams: t.streams.as_ref().map_or(1, |streams| streams.value),
        separation,
        spare,
    })
}
