//! Figures of a report, before they are rows.

use crate::metric::Metric;
use crate::row::{RowLoad, RowPath};

/// What a report says of its drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedDrive {
    /// Model, as reported.
    pub model: Option<String>,
    /// Firmware, as reported.
    pub firmware: Option<String>,
    /// Bytes.
    pub capacity: Option<u64>,
}

/// A figure of a report, without its drive.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedFigure {
    /// What it measures.
    pub metric: Metric,
    /// The value.
    pub value: f64,
    /// The way to the drive.
    pub path: RowPath,
    /// The load.
    pub load: RowLoad,
    /// Whether it may be a drive's figure; `false`: it went through a page cache.
    pub is_of_drive: bool,
    /// What misleads about it.
    pub trap: String,
    /// What else decides it, in words of ours.
    pub note: String,
}

/// What a report gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadResults {
    /// The drive, as far as the report names it.
    pub drive: ReportedDrive,
    /// Its figures.
    pub figures: Vec<ReportedFigure>,
    /// Reasons why parts of it gave no figure, in words of ours.
    pub left_out: Vec<String>,
}
