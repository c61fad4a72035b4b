//! Laws of a row by itself.

use super::breach::breach;
use super::personal::personal;
use crate::metric::Metric;
use crate::row::{DriveState, FigureKind, LedgerRow, LoadKind, RowUse, Through};
use ssdlab_base::LabError;

type RowLaw = fn(&LedgerRow) -> Option<LabError>;

pub(super) const LAWS: [RowLaw; 11] = [
    drive_is_named_in_a_family,
    value_is_in_range,
    value_is_within_its_spread,
    spread_has_samples,
    figure_of_a_drive_is_of_one_named_drive,
    rate_is_below_the_link,
    rate_has_a_load,
    mixed_load_has_its_share,
    counters_are_of_drives_in_service,
    sheet_goes_with_sheet,
    text_has_nothing_personal,
];

/// A row has a maker, a model, and the family of its file.
fn drive_is_named_in_a_family(row: &LedgerRow) -> Option<LabError> {
    let drive = &row.drive;
    for (column, text) in [("maker", &drive.maker), ("model", &drive.model)] {
        if text.is_empty() {
            let allowed = "a name is allowed; `unnamed` where the source gives none";
            return Some(breach(
                row,
                column,
                "",
                allowed,
                "a row without a drive is no use",
            ));
        }
    }
    let is_slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (drive.family.is_empty() || !drive.family.chars().all(is_slug)).then(|| {
        let allowed = "lower case, digits and hyphens are allowed: maker and series";
        breach(row, "family", &drive.family, allowed, "as in crucial-t500")
    })
}

/// A value is one that a drive can have.
fn value_is_in_range(row: &LedgerRow) -> Option<LabError> {
    let metric = row.figure.metric;
    let (least, most) = metric.range();
    let figure = &row.figure;
    let values = [Some(figure.value), figure.low, figure.high];
    let outside = values
        .into_iter()
        .flatten()
        .find(|value| !(least..=most).contains(value))?;
    let allowed = format!(
        "`{}` is from {least} to {most} {}",
        metric.name(),
        metric.unit()
    );
    let shown_value = outside.to_string();
    Some(breach(
        row,
        "value",
        &shown_value,
        allowed.trim_end(),
        "is it in another unit?",
    ))
}

/// Rounding of values, as a share.
const ROUNDING: f64 = 0.002;

/// A value lies between the least and the most of its runs.
fn value_is_within_its_spread(row: &LedgerRow) -> Option<LabError> {
    let figure = &row.figure;
    let is_above = figure
        .low
        .is_none_or(|low| low <= figure.value * (1.0 + ROUNDING));
    let is_below = figure
        .high
        .is_none_or(|high| high >= figure.value * (1.0 - ROUNDING));
    (!(is_above && is_below)).then(|| {
        let shown = |bound: Option<f64>| bound.map_or("nothing".into(), |bound| bound.to_string());
        let allowed = format!(
            "a value from `low` {} to `high` {} is allowed",
            shown(figure.low),
            shown(figure.high)
        );
        breach(row, "value", &figure.value.to_string(), &allowed, "")
    })
}

/// A spread says of how many runs or drives it is.
fn spread_has_samples(row: &LedgerRow) -> Option<LabError> {
    let figure = &row.figure;
    let has_spread = figure.low.is_some() || figure.high.is_some();
    (has_spread && figure.samples.is_none_or(|samples| samples < 2)).then(|| {
        let shown_value = figure
            .samples
            .map_or(String::new(), |samples| samples.to_string());
        let allowed = "2 or more where `low` or `high` is given";
        breach(
            row,
            "samples",
            &shown_value,
            allowed,
            "count the runs, or the drives of a fleet",
        )
    })
}

/// A figure from a RAID, or of a drive without a name, is no drive's.
fn figure_of_a_drive_is_of_one_named_drive(row: &LedgerRow) -> Option<LabError> {
    let is_named = !row.drive.model.contains("unnamed") && row.drive.maker != "unnamed";
    let is_one = row.path.through != Through::Raid;
    (row.row_use == RowUse::Drive && !(is_named && is_one)).then(|| {
        let allowed = "only `context` is allowed for a RAID or a drive without a name";
        let hint = "such a figure is never used as a drive's";
        breach(row, "use", row.row_use.word(), allowed, hint)
    })
}

/// What a sheet may claim above the net rate of its link: sheets round up.
const SHEET_ROUNDING: f64 = 1.05;

/// A drive moves no more bytes than its link.
fn rate_is_below_the_link(row: &LedgerRow) -> Option<LabError> {
    let link = row.drive.interface?;
    // Several drives have several links.
    if row.path.through == Through::Raid {
        return None;
    }
    let figure = &row.figure;
    let bytes_per_second = match figure.metric.unit() {
        "MB/s" => figure.value * 1e6,
        "1/s" => figure.value * row.load.block_bytes? as f64,
        _ => return None,
    };
    // Reads and writes go either way at once.
    let ways = match row.load.rw {
        Some(LoadKind::RandRw | LoadKind::Rw) if figure.metric == Metric::MixedIops => 2.0,
        _ => 1.0,
    };
    let limit = link.bytes_per_second() * ways * SHEET_ROUNDING;
    (bytes_per_second > limit).then(|| {
        let shown_value = format!("{} {}", figure.value, figure.metric.unit());
        let allowed = format!(
            "{} carries {:.0} MB/s, and this is {:.0} MB/s",
            link.word(),
            link.bytes_per_second() / 1e6,
            bytes_per_second / 1e6
        );
        let hint = "a page cache, a compressed file, a RAID, or another unit?";
        breach(row, "value", &shown_value, &allowed, hint)
    })
}

/// A measured rate or latency says of what: commands, and their size for a count of them.
fn rate_has_a_load(row: &LedgerRow) -> Option<LabError> {
    let needs_load = matches!(row.figure.metric.unit(), "1/s" | "MB/s" | "us");
    if !needs_load {
        return None;
    }
    if row.load.rw.is_none() {
        let allowed = LoadKind::allowed();
        return Some(breach(
            row,
            "rw",
            "",
            &allowed,
            "a rate without a load says nothing",
        ));
    }
    let is_count = row.figure.metric.unit() == "1/s";
    (is_count && row.load.block_bytes.is_none()).then(|| {
        let allowed = "bytes of a command are needed for a count of commands";
        breach(row, "block_bytes", "", allowed, "4096 for 4 KiB")
    })
}

/// A mixed load says how much it reads.
fn mixed_load_has_its_share(row: &LedgerRow) -> Option<LabError> {
    let is_mixed = matches!(row.load.rw, Some(LoadKind::RandRw | LoadKind::Rw));
    (is_mixed != row.load.read_pct.is_some()).then(|| {
        let shown_value = row
            .load
            .read_pct
            .map_or(String::new(), |pct| pct.to_string());
        let allowed = "a share of reads is given for `randrw` and `rw`, and only for these";
        breach(row, "read_pct", &shown_value, allowed, "70 for 70 % reads")
    })
}

/// Counters come from drives in service, by `counters`, as `field`.
fn counters_are_of_drives_in_service(row: &LedgerRow) -> Option<LabError> {
    let is_field = row.kind == FigureKind::Field;
    let is_in_service = row.state.state == DriveState::InService;
    (is_field && !is_in_service).then(|| {
        let allowed = "`in-service` is the state of drives that are counted in service";
        breach(row, "state", row.state.state.word(), allowed, "")
    })
}

/// What a maker's sheet says was measured by nobody here.
fn sheet_goes_with_sheet(row: &LedgerRow) -> Option<LabError> {
    let is_sheet = row.kind == FigureKind::Sheet;
    (is_sheet != (row.path.through == Through::Sheet)).then(|| {
        let allowed = "`sheet` is allowed with kind `sheet`, and only with it";
        breach(row, "through", row.path.through.word(), allowed, "")
    })
}

/// No cell has what could name a person, a host or a single drive.
fn text_has_nothing_personal(row: &LedgerRow) -> Option<LabError> {
    let cells = [
        ("model", &row.drive.model),
        ("firmware", &row.drive.firmware),
        ("state_how", &row.state.how),
        ("through_how", &row.path.how),
        ("trap", &row.trap),
        ("note", &row.note),
    ];
    cells.into_iter().find_map(|(column, text)| {
        let trace = personal(text)?;
        let allowed = format!("{} does not belong into the ledger", trace.words());
        let hint = "take it out: no serial number, host, path, address or user";
        Some(breach(row, column, text, &allowed, hint))
    })
}
