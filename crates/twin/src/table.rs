//! What was measured of a drive: a CSV table, a row a load.
//!
//! ```text
//! load,used_pct,overwrites,write_mibs,waf,drift_pct
//! sequential,,,1400,,
//! uniform,100,5,620,1.89,-0.6
//! zipf:0.8,100,5,553,,0.1
//! ```

use crate::structure::SLOT;
use crate::surface::SimulatedLoad;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_load::synthetic::SyntheticPattern;

/// The largest drift, in per cent, of a rate that counts as settled (SNIA's steady state allows
/// 10 % over its window; the last quarter against the one before is asked for here).
const DRIFT_MAX: f64 = 3.0;
/// Fewest overwrites after which a rate counts as settled.
const OVERWRITES_MIN: f64 = 2.0;
/// Most overwrites that are simulated.
const OVERWRITES_MAX: f64 = 100.0;
/// Overwrites are simulated in steps of this: rows that differ by less are one load.
const OVERWRITES_STEP: f64 = 0.25;
/// Measurements of one load that differ by more than this contradict each other.
const APART_MAX: f64 = 0.15;
/// How far a random rate may be above the sequential one: noise of the measurements.
const ABOVE_SEQUENTIAL: f64 = 1.02;
/// A rate below the sequential one by more than this counts as a wrong unit.
const BELOW_SEQUENTIAL: f64 = 50.0;
/// A rate before the cliff above this part of the sequential one is a cache's: its cliff says
/// nothing about spare area, and the rate nothing about the cost of scattered writes.
pub(crate) const CACHE: f64 = 1.15;
/// Most rows.
const ROWS_MAX: usize = 200;

const COLUMNS: &str = "load, overwrites, one of write_mibs, write_mbs and iops (of 4 KiB); and \
                       where known used_pct or used_share, waf, cliff, \
                       before_mibs (or before_mbs, before_iops), settled, drift_pct";

/// A load and what was measured of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasurementRow {
    /// Line in its file, from 1.
    pub line: usize,
    /// The load.
    pub load: SimulatedLoad,
    /// Settled rate of writes by the host, B/s.
    pub rate: f64,
    /// Write amplification that the drive counted.
    pub waf: Option<f64>,
    /// Position of the write cliff, user capacities: the host had written this much after the fill
    /// when the rate first left that of the beginning.
    #[serde(default)]
    pub cliff: Option<f64>,
    /// Rate of writes by the host before that cliff, while free space lasts and nothing is moved,
    /// B/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// Why the row is no evidence of a settled rate.
    pub left_out: Option<String>,
}

/// What was measured of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasurementTable {
    /// File.
    pub source: String,
    /// Rate of sequential writes, B/s.
    pub sequential: f64,
    /// WAF that the drive counted under it: parity and metadata.
    pub sequential_waf: Option<f64>,
    /// Rows, in their order.
    pub rows: Vec<MeasurementRow>,
}

/// A row before it is known whether it is the sequential one.
pub(crate) struct RawMeasurementRow {
    pub line: usize,
    pub load: String,
    pub used: f64,
    pub overwrites: Option<f64>,
    pub rate: f64,
    pub waf: Option<f64>,
    pub cliff: Option<f64>,
    pub before: Option<f64>,
    pub left_out: Option<String>,
}

/// An error in an entry of a table, at a line from 1, or 0 for the whole table.
pub(crate) fn bad_entry(
    source: &str,
    line: usize,
    key: &str,
    problem: String,
    hint: &str,
) -> LabError {
    LabError::BadEntry {
        key: key.into(),
        what: problem,
        place: InputLocation {
            source: source.into(),
            line: (line > 0).then_some(line),
        },
        hint: hint.into(),
    }
}

/// What the cells of a column are.
#[derive(Clone, Copy, PartialEq)]
enum MeasurementColumn {
    Load,
    UsedPct,
    UsedShare,
    Overwrites,
    /// Throughput, with its B/s.
    Rate(f64),
    Waf,
    Cliff,
    /// Rate before the cliff, with its B/s.
    Before(f64),
    Settled,
    Drift,
}

fn column(name: &str) -> Option<MeasurementColumn> {
    Some(match name {
        "load" => MeasurementColumn::Load,
        "used_pct" => MeasurementColumn::UsedPct,
        "used_share" => MeasurementColumn::UsedShare,
        "overwrites" => MeasurementColumn::Overwrites,
        "write_mibs" => MeasurementColumn::Rate(1_048_576.0),
        "write_mbs" => MeasurementColumn::Rate(1e6),
        "iops" => MeasurementColumn::Rate(SLOT as f64),
        "waf" => MeasurementColumn::Waf,
        "cliff" => MeasurementColumn::Cliff,
        "before_mibs" => MeasurementColumn::Before(1_048_576.0),
        "before_mbs" => MeasurementColumn::Before(1e6),
        "before_iops" => MeasurementColumn::Before(SLOT as f64),
        "settled" => MeasurementColumn::Settled,
        "drift_pct" => MeasurementColumn::Drift,
        _ => return None,
    })
}

fn header(
    names: &csv::StringRecord,
    line: usize,
    source: &str,
) -> Result<Vec<MeasurementColumn>, LabError> {
    let hint = format!("columns are {COLUMNS}");
    let mut columns = Vec::new();
    for name in names {
        let parsed = column(name).ok_or_else(|| {
            let problem = "no such column; the unit of a rate is in its column's name".to_owned();
            bad_entry(source, line, name, problem, &hint)
        })?;
        if columns.contains(&parsed) {
            return Err(bad_entry(
                source,
                line,
                name,
                "the column is there twice".into(),
                &hint,
            ));
        }
        columns.push(parsed);
    }
    let rates = columns
        .iter()
        .filter(|c| matches!(c, MeasurementColumn::Rate(_)));
    let before = columns
        .iter()
        .filter(|c| matches!(c, MeasurementColumn::Before(_)));
    let missing = match rates.count() {
        _ if before.count() > 1 => Some("more than one column is a rate before the cliff"),
        _ if !columns.contains(&MeasurementColumn::Load) => Some("`load` is missing"),
        _ if !columns.contains(&MeasurementColumn::Overwrites) => Some("`overwrites` is missing"),
        0 => Some("a rate is missing: write_mibs, write_mbs or iops"),
        1 => None,
        _ => Some("more than one column is a rate: one unit for all rows is allowed"),
    };
    match missing {
        Some(problem) => Err(bad_entry(source, line, "columns", problem.into(), &hint)),
        None => Ok(columns),
    }
}

fn number(cell: &str) -> Option<f64> {
    cell.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Why a rate that drifts by `percent` is not settled, if it is not.
pub(crate) fn drift(percent: f64) -> Option<String> {
    let drifts = percent.abs() > DRIFT_MAX;
    drifts.then(|| format!("not settled: still drifting by {percent} %"))
}

/// Puts one cell into its row.
fn set_cell(
    raw: &mut RawMeasurementRow,
    column: MeasurementColumn,
    cell: &str,
) -> Result<(), &'static str> {
    let within = |low: f64, high: f64, allowed| {
        let value = number(cell).filter(|v| (low..=high).contains(v));
        value.ok_or(allowed)
    };
    match column {
        MeasurementColumn::Load => raw.load = cell.to_owned(),
        MeasurementColumn::UsedPct => raw.used = within(1.0, 100.0, "1 to 100 is allowed")? / 100.0,
        MeasurementColumn::UsedShare => raw.used = within(0.01, 1.0, "0.01 to 1 is allowed")?,
        MeasurementColumn::Overwrites => {
            let allowed = "up to 100 user capacities written after the fill are allowed";
            raw.overwrites = Some(within(0.0, OVERWRITES_MAX, allowed)?);
        }
        MeasurementColumn::Rate(unit) => {
            raw.rate = within(1e-6, 1e12, "a rate above 0 is allowed")? * unit
        }
        MeasurementColumn::Waf => raw.waf = Some(within(1.0, 1000.0, "1 or more is allowed")?),
        MeasurementColumn::Cliff => {
            let allowed = "0.001 to 3 user capacities written after the fill are allowed";
            raw.cliff = Some(within(0.001, 3.0, allowed)?);
        }
        MeasurementColumn::Before(unit) => {
            raw.before = Some(within(1e-6, 1e12, "a rate above 0 is allowed")? * unit);
        }
        MeasurementColumn::Settled => match cell {
            "1" | "yes" | "true" => {}
            "0" | "no" | "false" => raw.left_out = Some("not settled, as the table says".into()),
            _ => return Err("1, yes, 0 or no is allowed"),
        },
        MeasurementColumn::Drift => {
            let drift = within(-1e4, 1e4, "per cent are allowed")?;
            if let Some(why) = self::drift(drift) {
                raw.left_out = Some(why);
            }
        }
    }
    Ok(())
}

/// The cells of a line. Lines are read one by one, so that each mistake has its line.
fn cells(text: &str, line: usize, source: &str) -> Result<csv::StringRecord, LabError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(_) => Ok(record),
        Err(e) => Err(bad_entry(
            source,
            line,
            "table",
            e.to_string(),
            "cells are separated by commas",
        )),
    }
}

/// Reads a table.
///
/// # Errors
/// With file and line: unknown columns and loads, impossible values, contradictions.
pub fn parse(text: &str, source: &str) -> Result<MeasurementTable, LabError> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text
        .lines()
        .zip(1..)
        .map(|(text, line)| (text.trim(), line));
    let mut lines = lines.filter(|(text, _)| !text.is_empty() && !text.starts_with('#'));
    let (first, line) = lines.next().unwrap_or(("", 1));
    let columns = header(&cells(first, line, source)?, line, source)?;
    let mut raws = Vec::new();
    for (text, line) in lines {
        let record = cells(text, line, source)?;
        if record.len() != columns.len() {
            let problem = format!("{} cells, the header has {}", record.len(), columns.len());
            return Err(bad_entry(
                source,
                line,
                "table",
                problem,
                "leave unknown cells empty",
            ));
        }
        let mut raw = RawMeasurementRow {
            line,
            load: String::new(),
            used: 1.0,
            overwrites: None,
            rate: 0.0,
            waf: None,
            cliff: None,
            before: None,
            left_out: None,
        };
        // An empty cell is one that was not measured.
        let full = record
            .iter()
            .zip(&columns)
            .filter(|(cell, _)| !cell.is_empty());
        for (cell, column) in full {
            set_cell(&mut raw, *column, cell).map_err(|allowed| {
                let (what, hint) = (
                    format!("`{cell}`: {allowed}"),
                    format!("columns are {COLUMNS}"),
                );
                bad_entry(source, line, name_of(*column), what, &hint)
            })?;
        }
        raws.push(raw);
    }
    table(raws, source)
}

fn name_of(column: MeasurementColumn) -> &'static str {
    match column {
        MeasurementColumn::Load => "load",
        MeasurementColumn::UsedPct => "used_pct",
        MeasurementColumn::UsedShare => "used_share",
        MeasurementColumn::Overwrites => "overwrites",
        MeasurementColumn::Rate(_) => "rate",
        MeasurementColumn::Waf => "waf",
        MeasurementColumn::Cliff => "cliff",
        MeasurementColumn::Before(_) => "before_mibs",
        MeasurementColumn::Settled => "settled",
        MeasurementColumn::Drift => "drift_pct",
    }
}

/// The table of rows that were read, checked against each other.
///
/// # Errors
/// As [`parse`].
pub(crate) fn table(
    raws: Vec<RawMeasurementRow>,
    source: &str,
) -> Result<MeasurementTable, LabError> {
    if raws.len() > ROWS_MAX {
        let problem = format!("{} rows: up to {ROWS_MAX} are allowed", raws.len());
        return Err(bad_entry(source, 0, "table", problem, "one row a load"));
    }
    let mut sequential: Option<(f64, Option<f64>)> = None;
    let mut rows = Vec::new();
    for raw in raws {
        if raw.rate <= 0.0 {
            let hint = "every row needs its rate";
            return Err(bad_entry(
                source,
                raw.line,
                "rate",
                "the cell is empty".into(),
                hint,
            ));
        }
        let pattern = SyntheticPattern::parse(&raw.load).map_err(|error| {
            let problem = format!("`{}` is not a load that is known", raw.load);
            bad_entry(
                source,
                raw.line,
                "load",
                problem,
                &format!("{} {}", allowed(&error), error.hint()),
            )
        })?;
        if pattern != SyntheticPattern::Sequential {
            rows.push(row(raw, pattern, source)?);
        } else if sequential.replace((raw.rate, raw.waf)).is_some() {
            let problem = "a second row `sequential`".into();
            return Err(bad_entry(
                source,
                raw.line,
                "load",
                problem,
                "give the rate that it settles at",
            ));
        }
    }
    let Some((sequential, sequential_waf)) = sequential else {
        let problem = "no row `sequential`: other rates are measured against it".into();
        let hint = "add the rate of sequential writes over the whole drive: sequential,,,RATE";
        return Err(bad_entry(source, 0, "table", problem, hint));
    };
    let table = MeasurementTable {
        source: source.into(),
        sequential,
        sequential_waf,
        rows,
    };
    agree(&table)?;
    Ok(table)
}

fn allowed(error: &LabError) -> &str {
    match error {
        LabError::BadValue { allowed, .. } => allowed,
        _ => "",
    }
}

fn row(
    raw: RawMeasurementRow,
    pattern: SyntheticPattern,
    source: &str,
) -> Result<MeasurementRow, LabError> {
    let Some(overwrites) = raw.overwrites else {
        let problem = "how often the drive was overwritten is not given".into();
        let hint = "bytes written by the host after the fill / user capacity: what a drive has \
                    seen decides its rate, so as much is simulated";
        return Err(bad_entry(source, raw.line, "overwrites", problem, hint));
    };
    let few = overwrites < OVERWRITES_MIN * raw.used;
    let few = few.then(|| format!("not settled: {overwrites} overwrites, {OVERWRITES_MIN} needed"));
    Ok(MeasurementRow {
        line: raw.line,
        load: SimulatedLoad {
            pattern: pattern.to_string(),
            used: raw.used,
            overwrites: (overwrites / OVERWRITES_STEP).round() * OVERWRITES_STEP,
        },
        rate: raw.rate,
        waf: raw.waf,
        cliff: raw.cliff,
        before: raw.before,
        left_out: raw.left_out.or(few),
    })
}

/// Refuses rates that contradict each other.
fn agree(table: &MeasurementTable) -> Result<(), LabError> {
    let source = &table.source;
    let mib = |rate: f64| format!("{:.1} MiB/s", rate / 1_048_576.0);
    for (i, row) in table.rows.iter().enumerate() {
        let (rate, top) = (mib(row.rate), mib(table.sequential));
        if row.rate > table.sequential * ABOVE_SEQUENTIAL {
            let problem = format!("{rate} is above the sequential rate, {top}");
            let hint = "measure both with the drive full, and look at the units: a cache or a \
                        drive that was not full makes rates too high";
            return Err(bad_entry(source, row.line, "rate", problem, hint));
        }
        if row.rate * BELOW_SEQUENTIAL < table.sequential {
            let problem =
                format!("{rate} is below a {BELOW_SEQUENTIAL}th of {top}, the sequential rate");
            let hint = "the unit in the column's name is probably not that of this row";
            return Err(bad_entry(source, row.line, "rate", problem, hint));
        }
        if let Some(before) = row.before {
            let first = mib(before);
            let problem = if before > table.sequential * CACHE {
                Some(format!(
                    "{first} before the cliff is above the sequential rate, {top}"
                ))
            } else if before * ABOVE_SEQUENTIAL < row.rate {
                Some(format!(
                    "{first} before the cliff is below the settled rate, {rate}"
                ))
            } else {
                None
            };
            if let Some(problem) = problem {
                let hint = "it is the rate after the fill, before anything is moved; that of a \
                            pSLC cache says nothing: leave it empty";
                return Err(bad_entry(source, row.line, "before_mibs", problem, hint));
            }
        }
        let same = |other: &&MeasurementRow| other.load == row.load && other.left_out.is_none();
        let earlier = table.rows[..i].iter().filter(same);
        for other in earlier.filter(|_| row.left_out.is_none()) {
            let apart = (row.rate / other.rate).ln().abs();
            if apart > APART_MAX {
                let (was, line) = (mib(other.rate), other.line);
                let problem = format!("{rate}, but line {line} has {was} of the same load");
                let hint = "one of them did not settle, or the drive was in another state: leave \
                            that row out";
                return Err(bad_entry(source, row.line, "rate", problem, hint));
            }
        }
    }
    Ok(())
}

impl MeasurementTable {
    /// Refuses a table that a drive with this link cannot have given.
    ///
    /// # Errors
    /// When the sequential rate is above the link's.
    pub fn within_link(&self, link: u64) -> Result<(), LabError> {
        if self.sequential <= link as f64 {
            return Ok(());
        }
        let (rate, link) = (self.sequential / 1e6, link as f64 / 1e6);
        let problem =
            format!("{rate:.0} MB/s sequential is above the link of --from, {link:.0} MB/s");
        let hint = "look at the unit, or give a drive with that link (host.link_rate)";
        Err(bad_entry(&self.source, 0, "sequential", problem, hint))
    }

    /// Rows that are evidence.
    pub fn used(&self) -> impl Iterator<Item = &MeasurementRow> {
        self.rows.iter().filter(|row| row.left_out.is_none())
    }
}

#[cfg(test)]
mod tests;
