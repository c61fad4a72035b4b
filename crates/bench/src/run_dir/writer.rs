//! Writes a run directory while the run goes on.

use super::{
    FORMAT_VERSION, HISTOGRAMS_DIR, HISTOGRAMS_FILE, HISTOGRAMS_FILE_1, PARQUET_FILE, RESULT_FILE,
    RUN_FILE, RunHeader, RunResult, SERIES_FILE, csv,
};
use crate::engine::Observer;
use crate::record::Second;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_ssd::Op;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What to do with a directory that already has something in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse to touch it.
    Refuse,
    /// Remove the files of the run in it; other files stay.
    Replace,
}

/// A run directory being written; an [`Observer`] of the run.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    pub(super) series: BufWriter<File>,
    pub(super) histograms: BufWriter<File>,
    rows: String,
}

impl RunWriter {
    /// Creates the directory (parents too) with `run.json` and the headers of both CSV files, on
    /// disk when this returns.
    ///
    /// # Errors
    /// When the directory has something in it and may not be replaced, is a file, or cannot be
    /// written.
    pub fn create(
        path: impl Into<PathBuf>,
        header: &RunHeader,
        existing: Existing,
    ) -> Result<RunWriter, LabError> {
        let path = path.into();
        make_room(&path, existing)?;
        write_json(&path.join(RUN_FILE), header)?;
        let histograms = path.join(HISTOGRAMS_DIR);
        std::fs::create_dir_all(&histograms)
            .map_err(|error| write_error("creating", &histograms, error))?;
        let create = |name: &str| {
            let file = path.join(name);
            let created = File::options().write(true).create_new(true).open(&file);
            created
                .map(BufWriter::new)
                .map_err(|error| write_error("creating", &file, error))
        };
        let mut writer = RunWriter {
            series: create(SERIES_FILE)?,
            histograms: create(HISTOGRAMS_FILE)?,
            rows: String::new(),
            path,
        };
        writer.append(
            &format!("{}\n", csv::series_header(FORMAT_VERSION)),
            SERIES_FILE,
        )?;
        writer.append(&format!("{}\n", csv::HISTOGRAMS_HEADER), HISTOGRAMS_FILE)?;
        Ok(writer)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `result.json`, whole or not at all; replaces one that is there.
    ///
    /// # Errors
    /// When it cannot be written; everything else stays readable.
    pub fn finish(&mut self, result: &RunResult) -> Result<(), LabError> {
        for (file, name) in [
            (&mut self.series, SERIES_FILE),
            (&mut self.histograms, HISTOGRAMS_FILE),
        ] {
            let synced = file.flush().and_then(|()| file.get_ref().sync_all());
            synced.map_err(|error| write_error("writing", &self.path.join(name), error))?;
        }
        write_json(&self.path.join(RESULT_FILE), result)
    }

    fn append(&mut self, rows: &str, name: &str) -> Result<(), LabError> {
        let file = if name == SERIES_FILE {
            &mut self.series
        } else {
            &mut self.histograms
        };
        let written = file.write_all(rows.as_bytes()).and_then(|()| file.flush());
        written.map_err(|error| write_error("writing", &self.path.join(name), error))
    }
}

impl Observer for RunWriter {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        for (op, latencies) in Op::ALL.into_iter().zip(latencies) {
            csv::histogram_rows(second, op, latencies, &mut rows);
        }
        let appended = self.append(&rows, HISTOGRAMS_FILE);
        self.rows = rows;
        // The series last: a second that it has, the histograms have too.
        appended.and_then(|()| self.append(&csv::series_row(second), SERIES_FILE))
    }
}

/// Writes `value` as indented JSON to `path`: to a file beside it, synced, then renamed, so that
/// readers see the old file or the whole new one.
///
/// # Errors
/// When it cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| write_error("writing", path, io::Error::other(error)))?;
    text.push('\n');
    write_text(path, &text)
}

/// Writes `text` to `path` as [`write_json`] does: whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<(), LabError> {
    write_bytes(path, text.as_bytes())
}

/// Writes `bytes` to `path` as [`write_json`] does: whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    let temporary = PathBuf::from(name);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|error| {
        // Best effort: the error that is reported is the first one.
        let _ = std::fs::remove_file(&temporary);
        write_error("writing", path, error)
    })
}

fn make_room(path: &Path, existing: Existing) -> Result<(), LabError> {
    std::fs::create_dir_all(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => LabError::refused(
            format!("{} is a file, not a directory", path.display()),
            "name a directory that does not exist yet",
        ),
        _ => write_error("creating", path, error),
    })?;
    let mut entries =
        std::fs::read_dir(path).map_err(|error| LabError::file("reading", path, error))?;
    if entries.next().is_none() {
        return Ok(());
    }
    if existing == Existing::Refuse {
        return Err(LabError::refused(
            format!("{} already has something in it", path.display()),
            "name another directory, or ask for the run in it to be replaced",
        ));
    }
    for name in [
        RESULT_FILE,
        RUN_FILE,
        SERIES_FILE,
        HISTOGRAMS_FILE,
        HISTOGRAMS_FILE_1,
        PARQUET_FILE,
    ] {
        let file = path.join(name);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(LabError::file("removing", file, error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn write_error(action: &'static str, path: &Path, source: io::Error) -> LabError {
    let hint = match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space or write to another file system; the rows written until now can be \
             read"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a directory that you may write to"
        }
        _ => "",
    };
    LabError::File {
        action,
        path: path.to_path_buf(),
        source,
        hint: hint.to_string(),
    }
}
