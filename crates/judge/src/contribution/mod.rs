//! Results as rows for the ledger, without anything personal.
//!
//! Only typed values leave a reader: numbers, words of closed lists, and the drive by the name that
//! a table has for it or its owner gives. A serial number, a host, a path, a user or a comment has
//! no way into a row. What the input does not say stays blank.

mod drive;
mod figures;
mod runs;
mod smart;

use crate::pull::{self, LedgerLocation, PullRecord};
use figures::{DriveFigures, pulls};
use ssdlab_base::LabError;
use ssdlab_ledger::formats::{ReportedFigure, ResultFormat, UnreadForm};
use ssdlab_ledger::row::{
    DriveState, FigureKind, LedgerDrive, LedgerRow, RowFigure, RowLocation, RowState, RowUse,
};
use std::path::Path;

/// What the contributor says of a source.
#[derive(Clone, Debug)]
pub struct ContributionSettings {
    /// The drive's name; `None`: as the source names it.
    pub drive: Option<String>,
    /// What the drive held.
    pub state: DriveState,
    /// Id of the source in `ledger/sources.toml`.
    pub source: String,
}

/// Rows of a source.
#[derive(Debug)]
pub struct Contribution {
    /// The rows.
    pub rows: Vec<LedgerRow>,
    /// Reasons why parts of it made no row.
    pub left_out: Vec<String>,
}

/// The rows of a source: a run directory, a ledger of pulls, or a file of another tool.
///
/// # Errors
/// When it cannot be read, is none of these, holds no figure, or does not name its drive.
pub fn contribution(
    path: &Path,
    settings: &ContributionSettings,
) -> Result<Contribution, LabError> {
    let sets = read(path)?;
    let mut contribution = Contribution {
        rows: Vec::new(),
        left_out: Vec::new(),
    };
    for set in sets {
        contribution.left_out.extend(set.left_out.iter().cloned());
        if set.figures.is_empty() {
            continue;
        }
        let drive = drive::named(&set.drive, settings.drive.as_deref(), path)?;
        let rows = set
            .figures
            .iter()
            .map(|figure| row(&drive, &set, figure, settings));
        contribution.rows.extend(rows);
    }
    if contribution.rows.is_empty() {
        let mut why = contribution.left_out.join("; ");
        if why.is_empty() {
            why = "nothing in it is a figure of the ledger".into();
        }
        return Err(LabError::refused(
            format!("{}: no row: {why}", path.display()),
            "`ssdlab ledger add --help` lists the sources that are read",
        ));
    }
    Ok(contribution)
}

fn read(path: &Path) -> Result<Vec<DriveFigures>, LabError> {
    if path.is_dir() {
        return Ok(vec![runs::read(path)?]);
    }
    let bytes = std::fs::read(path).map_err(|error| LabError::file("reading", path, error))?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        // UTF-16 text, or a ledger of pulls.
        return smart::read(path).or_else(|error| {
            let book = LedgerLocation::parse(&path.display().to_string())
                .and_then(|place| pull::read(&place));
            book.map(|book| vec![pulls(&pull::verdict(&book))])
                .map_err(|_| error)
        });
    };
    if let Some(format) = ResultFormat::of_text(text) {
        let results = format.read(text).ok_or_else(|| {
            LabError::refused(
                format!("{}: the document is cut off or damaged", path.display()),
                "give the whole output, from its first brace to its last",
            )
        })?;
        return Ok(vec![DriveFigures {
            drive: results.drive,
            figures: results.figures,
            left_out: results.left_out,
            ..DriveFigures::default()
        }]);
    }
    if let Ok(record) = serde_json::from_str::<PullRecord>(text) {
        return Ok(vec![pulls(&record)]);
    }
    if let Some(UnreadForm::FioText) = UnreadForm::of_text(text) {
        return Err(LabError::refused(
            format!(
                "{}: fio's text is not read: it does not say how writes were made durable",
                path.display()
            ),
            "run the job again with --output-format=json --output=FILE, and give FILE",
        ));
    }
    smart::read(path)
}

fn row(
    drive: &LedgerDrive,
    set: &DriveFigures,
    figure: &ReportedFigure,
    settings: &ContributionSettings,
) -> LedgerRow {
    LedgerRow {
        drive: drive.clone(),
        state: RowState {
            state: set.state.unwrap_or(settings.state),
            how: String::new(),
        },
        path: figure.path.clone(),
        load: figure.load.clone(),
        figure: RowFigure {
            metric: figure.metric,
            value: figure.value,
            low: None,
            high: None,
            samples: None,
        },
        kind: set.kind.unwrap_or(FigureKind::Test),
        row_use: if figure.is_of_drive {
            RowUse::Drive
        } else {
            RowUse::Context
        },
        source: settings.source.clone(),
        place: String::new(),
        trap: figure.trap.clone(),
        note: figure.note.clone(),
        location: RowLocation {
            file: String::new(),
            line: 0,
        },
    }
}
