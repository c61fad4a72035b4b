//! Drives of the catalogue against the rates that their own data sheets give.
//!
//! Each rate is measured on the model, made smaller by [`ssdlab_drives::scaling`], at 32 commands
//! outstanding:
//!
//! * sequential writes, 128 KiB: the second pass over the drive;
//! * sequential reads, 128 KiB: one pass over the full drive;
//! * random reads, 4 KiB, of the full drive, over the span that the sheet names;
//! * random writes, 4 KiB: over a span that the sheet names, on a drive that holds nothing else, as
//!   much as the span; over the whole drive, after two passes in order, rounds of half of the user
//!   capacity until the last [`WINDOW`] differ by at most [`RANGE_MAX`] of their mean and WAF by at
//!   most [`WAF_CHANGE_MAX`], at least three times the user capacity in all.

mod measure;
mod show;

pub use measure::validate;
pub use show::text;

use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::{CatalogueDrive, Kind, Sourced};

/// Largest difference between model and data sheet at which a figure holds, as a share of the
/// sheet's.
pub const ERROR_MAX: f64 = 0.15;
/// Rounds that a steady state is seen in (SNIA PTS-E 2.0.2, 3.1.1).
pub const WINDOW: usize = 5;
/// Largest difference of their rates, as a share of the mean (the same).
pub const RANGE_MAX: f64 = 0.2;
/// Largest change of WAF over them, as a share of its mean.
pub const WAF_CHANGE_MAX: f64 = 0.02;

/// A rate of data sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// 4 KiB random reads per second, QD32.
    RandomRead,
    /// 4 KiB random writes per second, QD32.
    RandomWrite,
    /// Bytes read in order per second.
    SequentialRead,
    /// Bytes written in order per second.
    SequentialWrite,
}

impl Figure {
    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Figure::RandomRead => "random read",
            Figure::RandomWrite => "random write",
            Figure::SequentialRead => "sequential read",
            Figure::SequentialWrite => "sequential write",
        }
    }
}

/// A rate that a data sheet or review gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Documented {
    /// Which.
    pub figure: Figure,
    /// Commands or bytes per second.
    pub rate: f64,
    /// How it is known.
    pub kind: Kind,
    /// Who says so.
    pub source: String,
}

/// A documented rate and the model's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The sheet's.
    #[serde(flatten)]
    pub documented: Documented,
    /// The model's, in the same unit.
    pub ours: f64,
    /// Whether random writes reached a steady state; `None` where none is asked for.
    pub steady: Option<bool>,
}

impl Row {
    /// (model - sheet) / sheet.
    pub fn error(&self) -> f64 {
        self.ours / self.documented.rate - 1.0
    }

    /// Whether the model is within [`ERROR_MAX`] of the sheet, in a steady state where one is asked
    /// for.
    pub fn holds(&self) -> bool {
        self.error().abs() <= ERROR_MAX && self.steady != Some(false)
    }
}

/// A drive against its data sheet.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    /// Name in the catalogue.
    pub drive: String,
    /// How it was made smaller.
    pub scaled: String,
    /// One per documented rate.
    pub rows: Vec<Row>,
    /// Self-checks of the model.
    pub checks: Vec<Check>,
}

impl Validation {
    /// Whether every documented rate holds, and there is one.
    pub fn is_validated(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(Row::holds)
    }
}

/// The rates that a drive's own file gives.
///
/// # Errors
/// When a rate is not written as one.
pub fn documented(drive: &CatalogueDrive) -> Result<Vec<Documented>, LabError> {
    let of = &drive.file.documented;
    let mut all = Vec::new();
    let mut add = |figure, rate: f64, kind, source: &str| {
        all.push(Documented {
            figure,
            rate,
            kind,
            source: source.to_owned(),
        });
    };
    for (figure, iops) in [
        (Figure::RandomRead, &of.random_read_iops),
        (Figure::RandomWrite, &of.random_write_iops),
    ] {
        if let Some(found) = iops {
            add(figure, f64::from(found.value), found.kind, &found.source);
        }
    }
    for (figure, rate) in [
        (Figure::SequentialRead, &of.sequential_read),
        (Figure::SequentialWrite, &of.sequential_write),
    ] {
        if let Some(found) = rate {
            add(figure, bytes_per_second(found)?, found.kind, &found.source);
        }
    }
    Ok(all)
}

fn bytes_per_second(rate: &Sourced<String>) -> Result<f64, LabError> {
    let bytes = rate.value.strip_suffix("/s").unwrap_or(&rate.value);
    Ok(parse_size(bytes)? as f64)
}

#[cfg(test)]
mod tests;
