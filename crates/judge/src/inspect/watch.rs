//! A record of a drive over time: asked again and again, one line of JSON each time.

use super::drives::reports;
use super::read::inspect;
use super::report::DriveReport;
use ssdlab_base::LabError;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a stop is looked for while waiting.
const TICK: Duration = Duration::from_millis(200);
/// A device to watch, and where its record goes.
#[derive(Clone, Debug)]
pub struct WatchPlan {
    /// The device.
    pub device: PathBuf,
    /// smartctl's `-d`.
    pub kind: Option<String>,
    /// Time between two records.
    pub interval: Duration,
    /// Number of records after which to stop.
    pub count: Option<u64>,
    /// The file that records are added to.
    pub out: PathBuf,
}

/// Records the device until the count is reached or `stop` is set. `recorded` is given the number
/// of records so far.
///
/// # Errors
/// When the interval is too short, the device cannot be read or the file cannot be written.
pub fn watch(
    watch: &WatchPlan,
    recorded: &mut dyn FnMut(u64),
    stop: &AtomicBool,
) -> Result<(), LabError> {
    if watch.interval < Duration::from_secs(1) {
        return Err(LabError::refused(
            "--watch cannot ask more often than once a second",
            "drives update their counters every minute to every hour",
        ));
    }
    // Asked once before the file is made, so that a drive that cannot be read leaves none.
    let kind = watch.kind.as_deref();
    let mut look = reports(&watch.device, kind)?.pop();
    let mut file = open(&watch.out)?;
    let mut records = 0_u64;
    let started = Instant::now();
    while let Some(report) = look.take() {
        inspect(&report)?;
        record(&mut file, &watch.out, &report)?;
        records += 1;
        recorded(records);
        let times = u32::try_from(records).unwrap_or(u32::MAX);
        let due = watch.interval.saturating_mul(times);
        if watch.count.is_some_and(|count| records >= count) || !wait(started, due, stop) {
            break;
        }
        look = match reports(&watch.device, kind) {
            Ok(mut found) => found.pop(),
            // Ctrl-C reaches smartctl too.
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) => return Err(error),
        };
    }
    Ok(())
}

/// Waits until `due` after `started`; false when `stop` is set.
fn wait(started: Instant, due: Duration, stop: &AtomicBool) -> bool {
    while !stop.load(Ordering::Relaxed) {
        let left = due.saturating_sub(started.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(TICK));
    }
    false
}

/// Opens the record for adding. A last line that was cut off is removed.
fn open(path: &Path) -> Result<File, LabError> {
    let failed = |error| LabError::file("writing", path, error);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(failed)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let is_record = bytes.is_empty() || bytes.starts_with(b"{");
    if !is_record || (whole == 0 && !bytes.is_empty()) {
        return Err(LabError::refused(
            format!("{} is not a record of `inspect --watch`", path.display()),
            "name a new file",
        ));
    }
    file.set_len(whole as u64).map_err(failed)?;
    file.seek(SeekFrom::End(0)).map_err(failed)?;
    Ok(file)
}

/// One line, on disk before the next is waited for.
fn record(file: &mut File, path: &Path, report: &DriveReport) -> Result<(), LabError> {
    let mut line = serde_json::to_string(report)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
    line.push('\n');
    file.write_all(line.as_bytes())
        .and_then(|()| file.sync_data())
        .map_err(|error| LabError::file("writing", path, error))
}
