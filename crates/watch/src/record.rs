//! Recordings: the requests of a watch without their data, to be looked at elsewhere.
//!
//! Text compressed with gzip, one member for each second, so that a recording that was broken off
//! is readable to its last whole second. The first line is a header that `ssdlab trace` and
//! `ssdlab diagnose --trace` know; lines that begin with `#` carry settings as JSON.

use crate::judge::LayerTimes;
use crate::report::{
    SourceState, WatchHistory, WatchOutcome, WatchProgress, WatchReport, WatchSurroundings,
    WatchedDrive,
};
use crate::request::{BlockRequest, InFlight};
use crate::source::event::{BioOrigin, ProcessName, RequestFlags, RequestKind};
use crate::source::host_counters::HostCounters;
use crate::source::settings::HostSettings;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_load::trace::WATCH_HEADER;
use std::fmt::Write as _;
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a recording at most, unless the user says otherwise.
pub const BYTES_MAX: u64 = 256 << 20;

/// What stands in a line of its own.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedNote {
    /// What was watched and from when on, ns of the recording's clock.
    Drive(WatchedDrive),
    Sources(Vec<SourceState>),
    Settings(Box<HostSettings>),
    Layers(Vec<LayerTimes>),
    Counters(Box<HostCounters>),
    /// Events that the kernel had lost so far.
    Lost(u64),
    /// A second has ended at this time, ns.
    Second(u64),
    /// The recording is as large as it may be: later requests are not in it.
    Full,
}

/// Writes a recording.
pub struct WatchRecorder {
    path: PathBuf,
    file: File,
    begun_ns: u64,
    bytes: u64,
    bytes_max: u64,
    hashes_names: bool,
    is_full: bool,
    text: String,
}

/// The name of a process as it is recorded: without what separates columns, or hashed.
fn recorded_name(name: &str, is_hashed: bool) -> String {
    if is_hashed && !crate::figures::is_kernel_thread(name) {
        let hasher: BuildHasherDefault<DefaultHasher> = BuildHasherDefault::default();
        return format!("p{:08x}", hasher.hash_one(name) as u32);
    }
    let is_plain = |c: char| !c.is_control() && c != ',' && c != '#';
    name.chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

fn counts(in_flight: &InFlight) -> String {
    RequestKind::ALL
        .map(|kind| in_flight.count(kind).to_string())
        .join(".")
}

impl WatchRecorder {
    /// Makes a new file.
    ///
    /// # Errors
    /// When it exists or cannot be made.
    pub fn create(
        path: &Path,
        begun_ns: u64,
        hashes_names: bool,
    ) -> Result<WatchRecorder, LabError> {
        let file = File::create_new(path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                return LabError::refused(
                    format!("{} exists", path.display()),
                    "name a new file for --record, or remove that one",
                );
            }
            LabError::file("creating", path, error)
        })?;
        Ok(WatchRecorder {
            path: path.to_owned(),
            file,
            begun_ns,
            bytes: 0,
            bytes_max: BYTES_MAX,
            hashes_names,
            is_full: false,
            text: format!("{WATCH_HEADER}\n"),
        })
    }

    fn note(&mut self, note: &RecordedNote) {
        let json = serde_json::to_string(note).unwrap_or_default();
        let _ = writeln!(self.text, "# {json}");
    }

    /// What surrounds the requests from now on.
    pub fn surroundings(&mut self, surroundings: &WatchSurroundings) {
        let mut drive = surroundings.drive.clone();
        let mut settings = surroundings.settings.clone();
        if self.hashes_names {
            let hide = |text: &mut String| *text = recorded_name(text, true);
            hide(&mut drive.given);
            settings.backing_file.as_mut().map(hide);
            settings
                .limits
                .iter_mut()
                .for_each(|limit| hide(&mut limit.group));
            for mounted in &mut settings.file_systems {
                hide(&mut mounted.point);
                hide(&mut mounted.device);
            }
        }
        self.note(&RecordedNote::Drive(drive));
        self.note(&RecordedNote::Sources(surroundings.sources.clone()));
        self.note(&RecordedNote::Settings(Box::new(settings)));
    }

    /// Adds a request.
    pub fn request(&mut self, request: &BlockRequest) {
        if self.is_full {
            return;
        }
        let us = |ns: u64| {
            let ns = ns.saturating_sub(self.begun_ns);
            format!("{}.{:03}", ns / 1000, ns % 1000)
        };
        let op = match request.kind {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Flush => "flush",
            RequestKind::Discard => "trim",
        };
        let _ = writeln!(
            self.text,
            "{},{op},{},{},{},{},{},{},{},{}/{},{},{}",
            us(request.issued_ns),
            request.sector * 512,
            request.bytes,
            us(request.done_ns),
            u8::from(request.flags.fua),
            u8::from(request.flags.preflush),
            us(request.queued_ns),
            letters(request),
            counts(&request.beside),
            counts(&request.joined),
            request.origin.pid,
            recorded_name(&request.origin.name.to_string(), self.hashes_names),
        );
    }

    /// Ends a second: what is recorded so far is in the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_second(
        &mut self,
        now_ns: u64,
        surroundings: &WatchSurroundings,
    ) -> Result<(), LabError> {
        self.note(&RecordedNote::Layers(surroundings.layers.clone()));
        self.note(&RecordedNote::Counters(Box::new(
            surroundings.counters.clone(),
        )));
        self.note(&RecordedNote::Lost(surroundings.lost_events));
        self.note(&RecordedNote::Second(now_ns.saturating_sub(self.begun_ns)));
        if !self.is_full && self.bytes >= self.bytes_max {
            self.is_full = true;
            self.note(&RecordedNote::Full);
        }
        let fail = |error| LabError::file("writing", &self.path, error);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(self.text.as_bytes()).map_err(fail)?;
        let packed = packed.finish().map_err(fail)?;
        self.file.write_all(&packed).map_err(fail)?;
        self.bytes += packed.len() as u64;
        self.text.clear();
        Ok(())
    }
}

/// What of the letters the other columns do not have.
fn letters(request: &BlockRequest) -> String {
    let flags = &request.flags;
    let letters = [
        (flags.sync, 'S'),
        (flags.ahead, 'A'),
        (flags.metadata, 'M'),
        (request.failed, 'E'),
    ];
    letters
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, letter)| letter)
        .collect()
}

/// Whether this is a recording: gzip whose first line is the header.
pub fn is_recording(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut line = String::new();
    let reader = BufReader::new(MultiGzDecoder::new(file));
    reader.take_line(&mut line) && line.trim() == WATCH_HEADER
}

trait TakeLine {
    fn take_line(self, line: &mut String) -> bool;
}

impl<R: BufRead> TakeLine for R {
    fn take_line(self, line: &mut String) -> bool {
        let mut limited = std::io::Read::take(self, 4096);
        limited.read_line(line).is_ok()
    }
}

fn parse_counts(text: &str) -> Option<InFlight> {
    let mut counts = [0; RequestKind::ALL.len()];
    let mut numbers = text.split('.');
    for count in &mut counts {
        *count = numbers.next()?.parse().ok()?;
    }
    Some(InFlight::new(counts))
}

fn parse_us(text: &str) -> Option<u64> {
    let (us, ns) = text.split_once('.')?;
    Some(us.parse::<u64>().ok()? * 1000 + ns.parse::<u64>().ok()?)
}

fn parse_row(line: &str) -> Option<BlockRequest> {
    let columns: Vec<&str> = line.split(',').collect();
    let &[
        issued,
        op,
        offset,
        bytes,
        done,
        fua,
        preflush,
        queued,
        letters,
        besides,
        pid,
        name,
    ] = columns.as_slice()
    else {
        return None;
    };
    let kind = match op {
        "read" => RequestKind::Read,
        "write" => RequestKind::Write,
        "flush" => RequestKind::Flush,
        "trim" => RequestKind::Discard,
        _ => return None,
    };
    let (beside, joined) = besides.split_once('/')?;
    Some(BlockRequest {
        kind,
        flags: RequestFlags {
            kind: Some(kind),
            preflush: preflush == "1",
            fua: fua == "1",
            sync: letters.contains('S'),
            ahead: letters.contains('A'),
            metadata: letters.contains('M'),
        },
        sector: offset.parse::<u64>().ok()? / 512,
        bytes: bytes.parse().ok()?,
        queued_ns: parse_us(queued)?,
        issued_ns: parse_us(issued)?,
        done_ns: parse_us(done)?,
        origin: BioOrigin {
            pid: pid.parse().ok()?,
            name: ProcessName::new(name.as_bytes()),
        },
        beside: parse_counts(beside)?,
        joined: parse_counts(joined)?,
        failed: letters.contains('E'),
    })
}

/// Shows a recording as it went on.
pub struct RecordingReplay<'a> {
    /// Sees each request and each second.
    pub progress: &'a mut dyn WatchProgress,
    /// Set when what comes later is not wanted.
    pub stop: &'a AtomicBool,
}

/// Reads a recording to its last whole second.
///
/// # Errors
/// When it cannot be read, or is not a recording.
pub fn read_recording(path: &Path) -> Result<WatchOutcome, LabError> {
    replay_recording(path, None)
}

/// Reads a recording to its last whole second, or until it is stopped, and shows it as it went on.
///
/// # Errors
/// When it cannot be read, or is not a recording.
pub fn replay_recording(
    path: &Path,
    mut replay: Option<RecordingReplay<'_>>,
) -> Result<WatchOutcome, LabError> {
    let file = File::open(path).map_err(|error| LabError::file("reading", path, error))?;
    let not_ours = || {
        LabError::refused(
            format!("{} is not a recording of `ssdlab watch`", path.display()),
            "record one: ssdlab watch DEVICE --record FILE",
        )
    };
    let mut lines = BufReader::new(MultiGzDecoder::new(file)).lines();
    match lines.next() {
        Some(Ok(line)) if line.trim() == WATCH_HEADER => {}
        _ => return Err(not_ours()),
    }
    let mut history = WatchHistory::new(0);
    let mut surroundings = WatchSurroundings::default();
    surroundings.origin.counts = "the recording".to_owned();
    surroundings.origin.single_requests = Some("the recording".to_owned());
    surroundings.origin.share_seen = 1.0;
    if let Some(replay) = &mut replay {
        replay.progress.begins(history.begun_ns());
    }
    // A member that was cut off ends the recording; the seconds before it are whole.
    for line in lines.map_while(Result::ok) {
        let is_stopped = |replay: &RecordingReplay<'_>| replay.stop.load(Ordering::Relaxed);
        if replay.as_ref().is_some_and(is_stopped) {
            break;
        }
        if let Some(json) = line.strip_prefix("# ") {
            match serde_json::from_str(json) {
                Ok(RecordedNote::Drive(drive)) => surroundings.drive = drive,
                Ok(RecordedNote::Sources(sources)) => surroundings.sources = sources,
                Ok(RecordedNote::Settings(settings)) => surroundings.settings = *settings,
                Ok(RecordedNote::Layers(layers)) => surroundings.layers = layers,
                Ok(RecordedNote::Counters(counters)) => surroundings.counters = *counters,
                Ok(RecordedNote::Lost(lost)) => surroundings.lost_events = lost,
                Ok(RecordedNote::Second(now_ns)) => {
                    history.advance(now_ns);
                    if let Some(replay) = &mut replay {
                        let figures = history.figures();
                        let report = WatchReport::new(&history, figures, &surroundings);
                        replay.progress.second(&report);
                    }
                }
                Ok(RecordedNote::Full) => surroundings.sources.push(SourceState {
                    name: "recording".to_owned(),
                    missing: Some(format!("full after {:.0} s", history.watched_s())),
                }),
                // A newer version's note.
                Err(_) => {}
            }
        } else if let Some(request) = parse_row(&line) {
            if let Some(replay) = &mut replay {
                replay.progress.request(&request);
            }
            history.add(request);
        } else {
            surroundings.seen_in_part += 1;
        }
    }
    let figures = history.figures();
    Ok(WatchOutcome {
        report: WatchReport::new(&history, figures, &surroundings),
        events: history.events(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::LiveCause;
    use crate::figures::tests::request;
    use crate::judge::LiveAnswer;

    /// Commits of a drive with a volatile buffer, 5 seconds of 100 each.
    fn record(path: &Path, hashes: bool) {
        let mut recorder = WatchRecorder::create(path, 0, hashes).expect("a new file");
        let surroundings = WatchSurroundings {
            drive: WatchedDrive {
                given: "/srv/db".into(),
                device: "sda".into(),
                ..WatchedDrive::default()
            },
            settings: HostSettings {
                write_cache: Some("write back".into()),
                interface: "sata".into(),
                ..HostSettings::default()
            },
            ..WatchSurroundings::default()
        };
        recorder.surroundings(&surroundings);
        for second in 0..5_u64 {
            for i in 0..100 {
                let begin = second * 1_000_000_000 + i * 10_000_000;
                let mut write = request("WS", 8 * i, 4096, begin, 5_000, 60_000);
                write.origin.name = ProcessName::new(b"my,db#1");
                recorder.request(&write);
                recorder.request(&request("FF", 0, 0, begin + 70_000, 1_000, 6_000_000));
            }
            recorder
                .end_second((second + 1) * 1_000_000_000, &surroundings)
                .expect("written");
        }
    }

    #[test]
    fn a_recording_gives_the_answer_of_the_watch_and_survives_being_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hour.gz");
        record(&path, false);
        assert!(is_recording(&path));
        let whole = read_recording(&path).expect("a recording").report;
        assert_eq!(whole.seconds.len(), 5);
        assert_eq!(whole.figures.flushes.count(), 500);
        let LiveAnswer::Causes { findings } = &whole.answer else {
            panic!("{:?}", whole.answer)
        };
        assert_eq!(findings[0].cause, LiveCause::VolatileBuffer);
        assert!(
            whole
                .figures
                .processes
                .iter()
                .any(|process| process.name == "my_db_1")
        );
        let bytes = std::fs::read(&path).expect("read");
        std::fs::write(&path, &bytes[..bytes.len() - 400]).expect("cut");
        let cut = read_recording(&path).expect("still a recording").report;
        assert!(
            (400..500).contains(&cut.figures.flushes.count()),
            "{}",
            cut.figures.flushes.count()
        );
    }

    #[test]
    fn names_are_hashed_on_request_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hour.gz");
        record(&path, true);
        let report = read_recording(&path).expect("a recording").report;
        let text = serde_json::to_string(&report).expect("JSON");
        assert!(
            !text.contains("my_db") && !text.contains("/srv/db"),
            "{text}"
        );
        let again = WatchRecorder::create(&path, 0, false)
            .err()
            .expect("refused");
        assert!(again.to_string().contains("exists"), "{again}");
        std::fs::write(folder.path().join("x"), "t_us,op\n").expect("written");
        assert!(read_recording(&folder.path().join("x")).is_err());
    }
}
