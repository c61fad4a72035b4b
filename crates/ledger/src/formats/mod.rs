//! Results of other tools as figures. Only numbers and words of closed lists leave a reader: no
//! name, path, host or comment of the input does, except what names the drive.

mod diskinfo;
mod fio;
mod pg_test_fsync;

use crate::metric::Metric;
use crate::row::{RowLoad, RowPath};

/// A tool whose results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFormat {
    /// fio's JSON, versions 2 and 3.
    Fio,
    /// The text of PostgreSQL's `pg_test_fsync`.
    PgTestFsync,
    /// The text of FreeBSD's `diskinfo -wS`.
    Diskinfo,
}

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
    /// What was left out, and why, in words of ours.
    pub left_out: Vec<String>,
}

impl ResultFormat {
    /// The tool that wrote a text; `None`: none of these.
    pub fn of_text(text: &str) -> Option<ResultFormat> {
        match () {
            () if text.contains("\"jobs\"") && text.contains("\"fio version\"") => {
                Some(ResultFormat::Fio)
            }
            () if text.contains("Compare file sync methods") => Some(ResultFormat::PgTestFsync),
            () if text.contains("Synchronous random writes") => Some(ResultFormat::Diskinfo),
            () => None,
        }
    }

    /// Reads a text of this tool; `None`: it cannot be read.
    pub fn read(self, text: &str) -> Option<ReadResults> {
        match self {
            ResultFormat::Fio => fio::read(text),
            ResultFormat::PgTestFsync => Some(pg_test_fsync::read(text)),
            ResultFormat::Diskinfo => Some(diskinfo::read(text)),
        }
    }
}
