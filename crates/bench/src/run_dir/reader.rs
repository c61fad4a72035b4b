//! Reads a run directory, finished or cut off.

use super::csv::{self, HistogramRow};
use super::{
    FORMAT_VERSION, HISTOGRAMS_FILE, HISTOGRAMS_FILE_1, RESULT_FILE, RUN_FILE, RunHeader,
    RunResult, SERIES_FILE,
};
use crate::record::Second;
use serde::de::DeserializeOwned;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_ssd::Op;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// A run directory as found.
#[derive(Clone, Debug)]
pub struct RunDir {
    /// Where.
    pub path: PathBuf,
    /// What was run.
    pub header: RunHeader,
    /// Every whole row of `series.csv`.
    pub seconds: Vec<Second>,
    /// `None`: the run was cut off before it could write its result.
    pub result: Option<RunResult>,
}

impl RunDir {
    /// Reads `run.json`, `series.csv` and, if the run came to its end, `result.json`. An
    /// unfinished last row is left out.
    ///
    /// # Errors
    /// When `path` is no run directory, is of another version, or a file in it is damaged.
    pub fn open(path: impl Into<PathBuf>) -> Result<RunDir, LabError> {
        let path = path.into();
        let hint = "name a directory that `ssdlab run` wrote";
        if !path.is_dir() {
            let problem = if path.exists() {
                "is not a directory"
            } else {
                "does not exist"
            };
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let refused = LabError::refused(format!("{} {problem}", path.display()), hint);
            let source = path.display().to_string();
            return Err(refused.unless_recognised(&source, &text, "a run directory"));
        }
        let header: RunHeader = read_json(&path.join(RUN_FILE))?.ok_or_else(|| {
            let problem = format!("{} has no {RUN_FILE}", path.display());
            let page = path.join("report.html");
            if page.is_file() {
                let hint = format!("its report is there already: open {}", page.display());
                return LabError::refused(problem, hint);
            }
            LabError::refused(problem, hint)
        })?;
        let mut seconds = Vec::new();
        read_rows(
            &path.join(SERIES_FILE),
            &csv::series_header(header.version),
            |line, place| {
                seconds.push(csv::parse_series_row(line, header.version, place)?);
                Ok(())
            },
        )?;
        let result = read_json(&path.join(RESULT_FILE))?;
        Ok(RunDir {
            path,
            header,
            seconds,
            result,
        })
    }

    /// Calls `each` with every whole row of the histograms, in order. The file can be large: it
    /// is not held in memory.
    ///
    /// # Errors
    /// When the file is missing or damaged.
    pub fn histogram_rows(&self, mut visit: impl FnMut(HistogramRow)) -> Result<(), LabError> {
        let path = self.path.join(match self.header.version {
            1 => HISTOGRAMS_FILE_1,
            _ => HISTOGRAMS_FILE,
        });
        read_rows(&path, csv::HISTOGRAMS_HEADER, |line, place| {
            visit(csv::parse_histogram_row(line, place)?);
            Ok(())
        })
    }

    /// Takes the 99.9th percentile of each second from the histograms, within their 1 %, where
    /// `series.csv` does not have it: in runs of version 1. Seconds that are not in them keep none.
    ///
    /// # Errors
    /// As for [`RunDir::histogram_rows`].
    pub fn read_tails(&mut self) -> Result<(), LabError> {
        if self.header.version > 1 {
            return Ok(());
        }
        let mut rows: HashMap<(usize, i64, usize), Vec<HistogramRow>> = HashMap::new();
        self.histogram_rows(|row| {
            let key = (row.phase, row.t_s, row.op as usize);
            rows.entry(key).or_default().push(row);
        })?;
        for second in &mut self.seconds {
            for (op, of_op) in second.ops.iter_mut().enumerate() {
                let key = (second.phase, second.t_s, op);
                let Some(buckets) = rows.get(&key) else {
                    continue;
                };
                let total: u64 = buckets.iter().map(|row| row.count).sum();
                let mut beyond = total / 1000 + 1;
                for row in buckets.iter().rev() {
                    if row.count >= beyond {
                        of_op.p999_ns = row.latency_ns_high.min(of_op.max_ns);
                        break;
                    }
                    beyond -= row.count;
                }
            }
        }
        Ok(())
    }

    /// All latencies of one kind of command in the counted part of a phase.
    ///
    /// # Errors
    /// As for [`RunDir::histogram_rows`].
    pub fn latencies(&self, phase: usize, op: Op) -> Result<Latencies, LabError> {
        let mut merged = latencies();
        self.histogram_rows(|row| {
            if row.phase == phase && row.op == op && row.t_s >= 0 {
                let middle = row.latency_ns_low.midpoint(row.latency_ns_high);
                // Beyond the histogram's bounds is its last bucket.
                merged.saturating_record_n(middle, row.count);
            }
        })?;
        Ok(merged)
    }
}

/// A versioned JSON file; `None` when there is no such file.
fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, LabError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LabError::file("reading", path, error)),
    };
    let damaged = |error: serde_json::Error| {
        LabError::refused(
            format!("{} is not what ssdlab writes: {error}", path.display()),
            "is this a run directory, and unchanged since?",
        )
    };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version.is_none_or(|version| version == 0 || version > u64::from(FORMAT_VERSION)) {
        let version_text = value
            .get("version")
            .map_or("missing".to_string(), ToString::to_string);
        let writer = value
            .get("ssdlab")
            .and_then(|v| v.as_str())
            .unwrap_or("that wrote it");
        return Err(LabError::BadValue {
            option: "version".to_string(),
            given: version_text,
            allowed: format!("this program reads versions 1 to {FORMAT_VERSION}"),
            place: InputLocation {
                source: path.display().to_string(),
                line: None,
            },
            hint: format!("open it with ssdlab {writer}"),
        });
    }
    serde_json::from_value(value).map(Some).map_err(damaged)
}

/// Calls `each` with every whole line after the header. A line without its line feed is one that
/// was being written when the run was cut off.
fn read_rows(
    path: &Path,
    header: &str,
    mut parse_row: impl FnMut(&str, &InputLocation) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let file_error = |error| LabError::file("reading", path, error);
    let mut file = BufReader::new(File::open(path).map_err(file_error)?);
    let mut place = InputLocation {
        source: path.display().to_string(),
        line: None,
    };
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        file.read_until(b'\n', &mut bytes).map_err(file_error)?;
        let whole = bytes.pop_if(|last| *last == b'\n').is_some();
        let line = String::from_utf8_lossy(&bytes);
        place.line = Some(number);
        if !whole && (number > 1 || header.starts_with(&*line)) {
            break;
        }
        if number > 1 {
            parse_row(&line, &place)?;
        } else if line != header {
            return Err(csv::bad_value(
                "header",
                &line,
                &format!("it must be `{header}`"),
                &place,
            ));
        }
    }
    Ok(())
}
