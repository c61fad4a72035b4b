//! Results of other tools as figures. Only numbers and words of closed lists leave a reader: no
//! name, path, host or comment of the input does, except what names the drive.

mod diskinfo;
mod fio;
mod pg_test_fsync;
mod results;

pub use results::{ReadResults, ReportedDrive, ReportedFigure};

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

impl ResultFormat {
    /// The tool that wrote a text; `None`: none of these.
    pub fn of_text(text: &str) -> Option<ResultFormat> {
        match () {
            () if text.contains("\"fio version\"") => Some(ResultFormat::Fio),
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
