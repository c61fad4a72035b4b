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
    let mut ftl = FtlConfig::default();
    ftl.mapping = mapping(r, t)?;
    ftl.reclaim = reclaim(r, t)?;
    ftl.slc = slc(r, t)?;
    ftl.journal = journal(r, t)?;
    ftl.compression_pack = t.compression_pack.as_ref().map_or(1, |pack| pack.value);
    ftl.parity = flag(t.parity.as_ref(), false);
    ftl.refresh_reads = number(t.refresh_reads.as_ref());
    ftl.idle_after = r.time("ftl.idle_after", &t.idle_after.value)?;
    ftl.trim_queued = flag(t.trim_queued.as_ref(), true);
    ftl.trim_time = match &t.trim_time {
        Some(time) => r.time("ftl.trim_time", &time.value)?,
        None => Nanos::ZERO,
    };
    ftl.recovery = choose(
        r,
        "ftl.recovery",
        t.recovery.as_ref(),
        &[("scan", RecoverBy::Scan), ("journal", RecoverBy::Journal)],
        RecoverBy::Scan,
    )?;
    ftl.seed = 0;
    Ok(ftl)
}

fn slc(r: &QuantityReader<'_>, t: &FtlTable) -> Result<SlcConfig, LabError> {
    let mut slc = SlcConfig::default();
    slc.superblocks = t.slc_superblocks.value;
    slc.commit_superblocks = number(t.slc_commit_superblocks.as_ref());
    slc.dynamic_above_free = number(t.slc_dynamic_above_free.as_ref());
    slc.dynamic_superblocks = number(t.slc_dynamic_superblocks.as_ref());
    slc.full = choose(
        r,
        "ftl.slc_full",
        t.slc_full.as_ref(),
        &[
            ("direct", SlcFull::Direct),
            ("fold", SlcFull::Fold),
            ("recycle", SlcFull::Recycle),
        ],
        SlcFull::Direct,
    )?;
    Ok(slc)
}

fn journal(r: &QuantityReader<'_>, t: &FtlTable) -> Result<JournalConfig, LabError> {
    let mut journal = JournalConfig::default();
    journal.entry_bytes = r.size_u32("ftl.journal_entry", &t.journal_entry)?;
    journal.commit_map_programs = t.commit_map_programs.value;
    journal.commit_closes_word_lines = t.commit_closes_word_lines.value;
    journal.checkpoint_pages = number(t.checkpoint_pages.as_ref());
    Ok(journal)
}

fn mapping(r: &QuantityReader<'_>, t: &FtlTable) -> Result<MappingConfig, LabError> {
    let mut mapping = MappingConfig::default();
    mapping.kind = choose(
        r,
        "ftl.mapping",
        t.mapping.as_ref(),
        &[
            ("flat", MappingKind::Flat),
            ("cached", MappingKind::Cached),
            ("tree", MappingKind::Tree),
            ("block", MappingKind::Block),
        ],
        mapping.kind,
    )?;
    if let Some(size) = &t.map_dram {
        mapping.dram_bytes = r.size("ftl.map_dram", size)?;
    }
    if let Some(size) = &t.map_entry {
        mapping.entry_bytes = r.size_u32("ftl.map_entry", size)?;
    }
    mapping.leaf_programs = number(t.map_leaf_programs.as_ref());
    mapping.serial_misses = flag(t.map_serial_misses.as_ref(), false);
    mapping.apart = flag(t.map_apart.as_ref(), false);
    Ok(mapping)
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
    let mut reclaim = ReclaimConfig::default();
    reclaim.victim = victim;
    reclaim.pace = choose(
        r,
        "ftl.pace",
        t.pace.as_ref(),
        &[("spread", Pace::Spread), ("whole", Pace::Whole)],
        Pace::Spread,
    )?;
    reclaim.free_superblocks_low = t.free_superblocks_low.value;
    reclaim.idle_free_superblocks = number(t.idle_free_superblocks.as_ref());
    reclaim.shared_frontier = flag(t.shared_frontier.as_ref(), false);
    reclaim.streams = t.streams.as_ref().map_or(1, |streams| streams.value);
    reclaim.separation = separation;
    reclaim.spare = spare;
    Ok(reclaim)
}
