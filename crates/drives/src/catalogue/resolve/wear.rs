//! `[wear]` of a drive file: units and ranges.

use crate::catalogue::reader::QuantityReader;
use crate::catalogue::sourced::SourcedValue;
use crate::catalogue::tables::WearTable;
use crate::media::{ApplicationClass, Codeword, Media, MediaOverrides};
use ssdlab_base::LabError;
use ssdlab_ssd::nand::EndOfLife;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The values that the table gives.
///
/// # Errors
/// With key and what is allowed.
pub(in crate::catalogue) fn given(
    r: &QuantityReader<'_>,
    t: &WearTable,
    bits_per_cell: u32,
) -> Result<MediaOverrides, LabError> {
    let whole = |key, value, range| number(r, key, value, range);
    let number = |key, value, range| number(r, key, value, range);
    let percent = |key, value| Ok(number(key, value, 0.0..=100.0)?.map(|pct: f64| pct / 100.0));
    let overrides = MediaOverrides {
        cycles: whole("cycles", &t.cycles, 1..=10_000_000)?,
        class: class(r, t)?,
        law: [
            number("rber_eps", &t.rber_eps, 0.0..=0.1)?,
            number("rber_alpha", &t.rber_alpha, 0.0..=1.0)?,
            number("rber_k", &t.rber_k, 0.0..=10.0)?,
            number("rber_beta", &t.rber_beta, 0.0..=1.0)?,
            number("rber_m", &t.rber_m, 0.0..=10.0)?,
            number("rber_n", &t.rber_n, 0.0..=10.0)?,
            number("rber_gamma", &t.rber_gamma, 0.0..=1.0)?,
            number("rber_p", &t.rber_p, 0.0..=10.0)?,
            number("rber_q", &t.rber_q, 0.0..=10.0)?,
        ],
        ecc_bits: whole("ecc_bits", &t.ecc_bits, 1..=1000)?,
        ecc_data_bytes: ecc_data(r, t)?,
        retries: whole("retries", &t.retries, 0..=63)?,
        retry_gain: number("retry_gain", &t.retry_gain, 1.0..=10.0)?,
        retry_ns: time(r, t)?,
        block_spread: number("block_spread", &t.block_spread, 0.0..=2.0)?,
        page_spread: number("page_spread", &t.page_spread, 0.0..=2.0)?,
        failure_median: number("failure_median", &t.failure_median, 0.1..=1000.0)?,
        failure_spread: number("failure_spread", &t.failure_spread, 0.0..=3.0)?,
        failure_early: percent("failure_early_pct", &t.failure_early_pct)?,
        failure_programs: percent("failure_programs_pct", &t.failure_programs_pct)?,
        reserve: number("reserve_pct", &t.reserve_pct, 0.0..=50.0)?.map(|pct| pct / 100.0),
        program_faster: number("program_faster_pct", &t.program_faster_pct, 0.0..=45.0)?
            .map(|pct| pct / 100.0),
        erase_slower: number("erase_slower_pct", &t.erase_slower_pct, 0.0..=1000.0)?
            .map(|pct| pct / 100.0),
        refresh: t.refresh.as_ref().map(|on| on.value),
        refresh_above: percent("refresh_above_pct", &t.refresh_above_pct)?,
        patrol_pages: whole("patrol_pages", &t.patrol_pages, 0..=65_536)?,
        patrol_hours: whole("patrol_hours", &t.patrol_hours, 0..=87_600)?,
        retire_above: percent("retire_above_pct", &t.retire_above_pct)?,
        level_dynamic: t.level_dynamic.as_ref().map(|on| on.value),
        level_gap: whole("level_gap", &t.level_gap, 0..=10_000_000)?,
        level_every: whole("level_every", &t.level_every, 1..=1_000_000)?,
        end_of_life: end_of_life(r, t)?,
    };
    check_code(r, t, &overrides, bits_per_cell)?;
    Ok(overrides)
}

fn key(name: &str) -> String {
    format!("wear.{name}")
}

/// A number within its range.
fn number<T: Copy + PartialOrd + Display>(
    r: &QuantityReader<'_>,
    name: &str,
    value: &Option<SourcedValue<T>>,
    range: RangeInclusive<T>,
) -> Result<Option<T>, LabError> {
    let Some(value) = value.as_ref().map(|sourced| sourced.value) else {
        return Ok(None);
    };
    if range.contains(&value) {
        return Ok(Some(value));
    }
    let allowed = format!("{} to {} is allowed", range.start(), range.end());
    Err(r.bad(&key(name), &value.to_string(), allowed))
}

/// One of several words.
fn word<T: Copy>(
    r: &QuantityReader<'_>,
    name: &str,
    value: &Option<SourcedValue<String>>,
    words: &[(&str, T)],
) -> Result<Option<T>, LabError> {
    let Some(value) = value else {
        return Ok(None);
    };
    let entry = words.iter().find(|(word, _)| *word == value.value);
    entry.map(|(_, meant)| Some(*meant)).ok_or_else(|| {
        let allowed_words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let allowed = format!("{} is allowed", allowed_words.join(" or "));
        r.bad(&key(name), &value.value, allowed)
    })
}

fn class(r: &QuantityReader<'_>, t: &WearTable) -> Result<Option<ApplicationClass>, LabError> {
    let words = [
        ("client", ApplicationClass::Client),
        ("enterprise", ApplicationClass::Enterprise),
    ];
    word(r, "class", &t.class, &words)
}

fn end_of_life(r: &QuantityReader<'_>, t: &WearTable) -> Result<Option<EndOfLife>, LabError> {
    let words = EndOfLife::ALL.map(|policy| (policy.name(), policy));
    word(r, "end_of_life", &t.end_of_life, &words)
}

fn ecc_data(r: &QuantityReader<'_>, t: &WearTable) -> Result<Option<u32>, LabError> {
    let Some(sourced) = &t.ecc_data else {
        return Ok(None);
    };
    let bytes = r.size_u32(&key("ecc_data"), sourced)?;
    if (256..=16384).contains(&bytes) {
        return Ok(Some(bytes));
    }
    let allowed = "256 B to 16 KiB is allowed".into();
    Err(r.bad(&key("ecc_data"), &sourced.value, allowed))
}

fn time(r: &QuantityReader<'_>, t: &WearTable) -> Result<Option<u64>, LabError> {
    let Some(sourced) = &t.retry_time else {
        return Ok(None);
    };
    let time = r.time(&key("retry_time"), &sourced.value)?;
    if time.0 <= 1_000_000_000 {
        return Ok(Some(time.0));
    }
    let allowed = "at most 1 s is allowed".into();
    Err(r.bad(&key("retry_time"), &sourced.value, allowed))
}

/// Refuses a code with more check bits than data. Data that is not given is that of the code usual
/// for the cells.
fn check_code(
    r: &QuantityReader<'_>,
    t: &WearTable,
    overrides: &MediaOverrides,
    bits: u32,
) -> Result<(), LabError> {
    let (Some(corrected), Some(sourced)) = (overrides.ecc_bits, &t.ecc_bits) else {
        return Ok(());
    };
    let usual = Media::usual_code(bits).data_bytes;
    let data = overrides.ecc_data_bytes.unwrap_or(usual);
    let code = Codeword::bch_of(data, corrected);
    if code.parity_bytes <= data {
        return Ok(());
    }
    let allowed = format!("fewer bits of {data} B of data are allowed");
    Err(r.bad(&key("ecc_bits"), &sourced.value.to_string(), allowed))
}
