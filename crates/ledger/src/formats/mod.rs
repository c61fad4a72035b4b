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

/// An output of a tool that is read in another form only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadForm {
    /// What fio prints for people, or its terse lines: neither says what was synced.
    FioText,
}

impl UnreadForm {
    /// The form of a text; `None`: none of these.
    pub fn of_text(text: &str) -> Option<UnreadForm> {
        fio::is_text(text).then_some(UnreadForm::FioText)
    }
}

impl ResultFormat {
    /// The tool that wrote a text; `None`: none of these.
    pub fn of_text(text: &str) -> Option<ResultFormat> {
        match () {
            () if text.contains("\"fio version\"") => Some(ResultFormat::Fio),
            () if pg_test_fsync::is_output(text) => Some(ResultFormat::PgTestFsync),
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
