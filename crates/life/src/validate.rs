//! Drives of the catalogue against the figures that their own data sheets give.
//!
//! Each figure is measured on the model, made smaller by [`ssdlab_drives::scaling`], at 32 commands
//! outstanding unless the sheet says otherwise:
//!
//! * sequential writes, 128 KiB: the second pass over the drive;
//! * sequential reads, 128 KiB: one pass over the full drive;
//! * random reads, 4 KiB, of the full drive, over the span that the sheet names;
//! * random writes, 4 KiB: over a span that the sheet names, on a drive that holds nothing else, as
//!   much as the span; over the whole drive, after two passes in order, rounds of half of the user
//!   capacity until the last [`WINDOW`] differ by at most [`RANGE_MAX`] of their mean and WAF by at
//!   most [`WAF_CHANGE_MAX`], at least three times the user capacity in all;
//! * after that, random commands of which 70 % are reads, and random ones one at a time, for the
//!   time that 99.9 % of them keep;
//! * one at a time in order, on the drive filled in order: their mean time.

mod interval;
mod measure;
mod page;
mod show;

pub use measure::validate;
pub use page::page;
pub use show::{table, text};

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_drives::catalogue::{CatalogueDrive, CatalogueParameter, Provenance};

/// Largest difference between model and data sheet at which a figure holds, as a share of the
/// sheet's.
pub const ERROR_MAX: f64 = 0.15;
/// Rounds that a steady state is seen in (SNIA PTS-E 2.0.2, 3.1.1).
pub const WINDOW: usize = 5;
/// Largest difference of their rates, as a share of the mean (the same).
pub const RANGE_MAX: f64 = 0.2;
/// Largest change of WAF over them, as a share of its mean.
pub const WAF_CHANGE_MAX: f64 = 0.02;

/// A figure of data sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatasheetFigure {
    /// 4 KiB random reads per second.
    RandomRead,
    /// 4 KiB random writes per second.
    RandomWrite,
    /// 4 KiB random commands per second, 70 % of them reads.
    Mixed,
    /// Bytes read in order per second.
    SequentialRead,
    /// Bytes written in order per second.
    SequentialWrite,
    /// Mean ns of 4 KiB read in order, one at a time.
    ReadLatency,
    /// Mean ns of 4 KiB written in order, one at a time.
    WriteLatency,
    /// ns that 99.9 % of 4 KiB random reads keep, one at a time.
    Read999,
    /// ns that 99.9 % of 4 KiB random writes keep, one at a time.
    Write999,
}

impl DatasheetFigure {
    /// All, as tables list them.
    pub const ALL: [DatasheetFigure; 9] = [
        DatasheetFigure::RandomRead,
        DatasheetFigure::RandomWrite,
        DatasheetFigure::Mixed,
        DatasheetFigure::SequentialRead,
        DatasheetFigure::SequentialWrite,
        DatasheetFigure::ReadLatency,
        DatasheetFigure::WriteLatency,
        DatasheetFigure::Read999,
        DatasheetFigure::Write999,
    ];

    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            DatasheetFigure::RandomRead => "random read",
            DatasheetFigure::RandomWrite => "random write",
            DatasheetFigure::Mixed => "random, 70 % read",
            DatasheetFigure::SequentialRead => "sequential read",
            DatasheetFigure::SequentialWrite => "sequential write",
            DatasheetFigure::ReadLatency => "read in order, QD1",
            DatasheetFigure::WriteLatency => "write in order, QD1",
            DatasheetFigure::Read999 => "99.9 % of reads, QD1",
            DatasheetFigure::Write999 => "99.9 % of writes, QD1",
        }
    }

    /// Its key in `[documented]`.
    pub fn key(self) -> &'static str {
        match self {
            DatasheetFigure::RandomRead => "random_read_iops",
            DatasheetFigure::RandomWrite => "random_write_iops",
            DatasheetFigure::Mixed => "mixed_iops",
            DatasheetFigure::SequentialRead => "sequential_read",
            DatasheetFigure::SequentialWrite => "sequential_write",
            DatasheetFigure::ReadLatency => "sequential_read_latency",
            DatasheetFigure::WriteLatency => "sequential_write_latency",
            DatasheetFigure::Read999 => "random_read_999",
            DatasheetFigure::Write999 => "random_write_999",
        }
    }

    /// Whether the sheet promises that it is not exceeded, however much less it is.
    pub fn is_promise(self) -> bool {
        matches!(self, DatasheetFigure::Read999 | DatasheetFigure::Write999)
    }
}

/// A figure that a data sheet or review gives.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DocumentedFigure {
    /// Which.
    pub figure: DatasheetFigure,
    /// Commands or bytes per second, or ns.
    pub value: f64,
    /// How it is known.
    pub kind: Provenance,
    /// Who says so.
    pub source: String,
    /// A constant of the model was fitted to it, or follows from it.
    pub fitted: bool,
}

/// A documented figure and the model's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ValidationRow {
    /// The sheet's.
    #[serde(flatten)]
    pub documented: DocumentedFigure,
    /// The model's, in the same unit.
    pub ours: f64,
    /// That of the null model: the controller's time per command, the link and the latency that
    /// every command adds, without any flash.
    pub null: f64,
    /// Whether random writes reached a steady state; `None` where none is asked for.
    pub steady: Option<bool>,
    /// The factor on either side of the model's within which 90 % of such figures of other families
    /// are; `None` of a promise.
    pub factor: Option<f64>,
}

impl ValidationRow {
    /// (model - sheet) / sheet.
    pub fn error(&self) -> f64 {
        self.ours / self.documented.value - 1.0
    }

    /// Whether the model is within [`ERROR_MAX`] of the sheet, or keeps its promise, in a steady
    /// state where one is asked for.
    pub fn holds(&self) -> bool {
        self.is_met_by(self.ours) && self.steady != Some(false)
    }

    /// The same of the null model.
    pub fn null_holds(&self) -> bool {
        self.is_met_by(self.null)
    }

    fn is_met_by(&self, ours: f64) -> bool {
        let sheet = self.documented.value;
        let promised = self.documented.figure.is_promise() && ours <= sheet;
        promised || (ours / sheet - 1.0).abs() <= ERROR_MAX
    }
}

/// A drive against its data sheet.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Validation {
    /// Name in the catalogue.
    pub drive: String,
    /// How it was made smaller.
    pub scaled: String,
    /// One per documented figure.
    pub rows: Vec<ValidationRow>,
    /// Self-checks of the model.
    pub checks: Vec<SelfCheck>,
}

impl Validation {
    /// Whether every documented figure holds, and there is one.
    pub fn is_validated(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(ValidationRow::holds)
    }
}

/// The figures that a drive's own file gives.
///
/// # Errors
/// When one is not written as such.
pub fn documented(drive: &CatalogueDrive) -> Result<Vec<DocumentedFigure>, LabError> {
    let parameters = drive.parameters();
    let mut figures = Vec::new();
    for figure in DatasheetFigure::ALL {
        let key = format!("documented.{}", figure.key());
        let Some(parameter) = parameters.iter().find(|p| p.key == key) else {
            continue;
        };
        figures.push(DocumentedFigure {
            figure,
            value: value(&parameter.value)?,
            kind: parameter.kind,
            source: parameter.source.clone(),
            fitted: is_fitted(&drive.file.name, figure, &parameters),
        });
    }
    Ok(figures)
}

/// Whether a constant of the model names this figure. One that follows from a rate of random reads
/// gives those of the whole family, by arithmetic.
fn is_fitted(drive: &str, figure: DatasheetFigure, parameters: &[CatalogueParameter]) -> bool {
    let own = format!("sheet.{drive}.{}", figure.key());
    let mut ids = parameters.iter().flat_map(|p| &p.fitted_to);
    ids.any(|id| {
        *id == own || (figure == DatasheetFigure::RandomRead && id.ends_with(figure.key()))
    })
}

/// A number, bytes per second, or a time in ns.
fn value(text: &str) -> Result<f64, LabError> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    match text.strip_suffix("/s") {
        Some(bytes) => Ok(parse_size(bytes)? as f64),
        None => Ok(parse_duration(text)?.0 as f64),
    }
}

#[cfg(test)]
mod tests;
