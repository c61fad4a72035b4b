//! A watch of this machine: sources opened, seconds counted, until it is stopped.

use crate::forecast::ForecastBeginning;
use crate::judge::LayerTimes;
use crate::record::WatchRecorder;
use crate::report::{
    SourceState, WatchHistory, WatchOutcome, WatchReport, WatchSurroundings, WatchedDrive,
};
use crate::request::{BlockRequest, RequestAssembler};
use crate::source::counters::{DiskStat, LayerCounters};
use crate::source::host::read_settings;
use crate::source::tracepoints::{BlockTracepoints, monotonic_ns};
use crate::subject::WatchSubject;
use ssdlab_base::LabError;
use ssdlab_bench::device::system::SystemPaths;
use ssdlab_bench::device::{TargetFacts, TargetKind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the rings are emptied.
const TICK: Duration = Duration::from_millis(100);
const SECOND_NS: u64 = 1_000_000_000;
/// How often settings are read again, s.
const SETTINGS_EVERY: u64 = 5;
/// Names of sources, for the report.
const TRACEPOINTS: &str = "block tracepoints (perf)";
const COUNTERS: &str = "/sys/block counters";
const SETTINGS: &str = "host settings";

/// What to watch, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WatchOrder {
    /// What the user named: a device, a mount point, a file, a process number.
    pub given: String,
    /// Stop after this many seconds; `None`: when stopped.
    pub seconds: Option<u64>,
    /// Only counters, even where tracepoints are to be had.
    pub counters_only: bool,
    /// Record to this new file.
    pub record: Option<PathBuf>,
    /// Record names of processes and paths as hashes.
    pub hashes_names: bool,
}

impl WatchOrder {
    /// Watches what the user named until it is stopped.
    pub fn new(given: impl Into<String>) -> WatchOrder {
        WatchOrder {
            given: given.into(),
            seconds: None,
            counters_only: false,
            record: None,
            hashes_names: false,
        }
    }
}

/// Sees each second as it ends.
pub trait WatchProgress {
    /// A request is done.
    fn request(&mut self, _request: &BlockRequest) {}

    /// A second has ended.
    fn second(&mut self, report: &WatchReport);
}

struct LiveWatch {
    system: SystemPaths,
    subject: WatchSubject,
    events: Option<BlockTracepoints>,
    assembler: RequestAssembler,
    history: WatchHistory,
    surroundings: WatchSurroundings,
    begun: DiskStat,
    last: DiskStat,
    layers: Vec<LayerCounters>,
    recorder: Option<WatchRecorder>,
}

fn described(system: &SystemPaths, subject: &WatchSubject) -> WatchedDrive {
    let mut facts = TargetFacts::unknown(subject.disk.disk_name(), TargetKind::BlockDevice);
    subject.disk.describe(system, &mut facts);
    WatchedDrive {
        given: subject.given.clone(),
        device: subject.disk.disk_name(),
        model: facts.model,
        capacity: subject.disk.capacity(),
        pid: subject.pid,
    }
}

impl LiveWatch {
    fn new(order: &WatchOrder) -> Result<LiveWatch, LabError> {
        let system = SystemPaths::live();
        let subject = WatchSubject::find(&system, &order.given)?;
        let no_counters = || {
            LabError::refused(
                format!(
                    "the counters of {} cannot be read",
                    subject.disk.disk_name()
                ),
                "it may have been removed; `lsblk` lists devices",
            )
        };
        // No event is older than the beginning.
        let begun_ns = monotonic_ns();
        let begun = DiskStat::read(&subject.disk.disk).ok_or_else(no_counters)?;
        let events = if order.counters_only {
            Err("left out by --counters".to_owned())
        } else {
            BlockTracepoints::open(subject.disk.id)
        };
        let settings = read_settings(&system, &subject.disk);
        let layers = settings
            .stack
            .iter()
            .filter_map(|layer| {
                let folder = system.sys.join("block").join(&layer.name);
                Some(LayerCounters {
                    name: format!("{} ({})", layer.name, layer.kind),
                    begun: DiskStat::read(&folder)?,
                    folder,
                })
            })
            .collect();
        let state = |name: &str, missing: Option<String>| SourceState {
            name: name.to_owned(),
            missing,
        };
        let sources = vec![
            state(TRACEPOINTS, events.as_ref().err().cloned()),
            state(COUNTERS, None),
            state(SETTINGS, None),
        ];
        let surroundings = WatchSurroundings {
            drive: described(&system, &subject),
            sources,
            beginning: ForecastBeginning::new(&begun.second(), &settings),
            settings,
            ..WatchSurroundings::default()
        };
        let recorder = match &order.record {
            Some(path) => {
                let mut recorder = WatchRecorder::create(path, begun_ns, order.hashes_names)?;
                recorder.surroundings(&surroundings);
                Some(recorder)
            }
            None => None,
        };
        Ok(LiveWatch {
            system,
            subject,
            events: events.ok(),
            assembler: RequestAssembler::default(),
            history: WatchHistory::new(begun_ns),
            surroundings,
            begun,
            last: begun,
            layers,
            recorder,
        })
    }

    /// Takes the events since the last call.
    fn drain(&mut self, progress: &mut dyn WatchProgress) -> Result<(), LabError> {
        let Some(events) = &mut self.events else {
            return Ok(());
        };
        for event in events.drain()? {
            if let Some(request) = self.assembler.take(&event) {
                if let Some(recorder) = &mut self.recorder {
                    recorder.request(&request);
                }
                progress.request(&request);
                self.history.add(request);
            }
        }
        let unmatched = self.assembler.unmatched();
        self.surroundings.lost_events = events.lost();
        self.surroundings.seen_in_part = unmatched.completions + unmatched.dropped;
        Ok(())
    }

    /// Means of the layers above since the watch began, beside the drive's.
    fn layer_times(&self, drive: &DiskStat) -> Vec<LayerTimes> {
        let Some(drive_ns) = drive.since(&self.begun).mean_ns() else {
            return Vec::new();
        };
        let times = self.layers.iter().filter_map(|layer| {
            Some(LayerTimes {
                layer: layer.name.clone(),
                above_ns: DiskStat::read(&layer.folder)?
                    .since(&layer.begun)
                    .mean_ns()?,
                drive_ns,
            })
        });
        times.collect()
    }

    /// Ends a second; an error when the device is gone.
    fn end_second(&mut self, second: u64) -> Result<WatchReport, LabError> {
        let stat = DiskStat::read(&self.subject.disk.disk);
        let now_ns = monotonic_ns();
        if let Some(stat) = stat {
            if self.events.is_none() {
                self.history.add_second(stat.since(&self.last).second());
            }
            self.last = stat;
            self.surroundings.layers = self.layer_times(&stat);
        } else {
            self.surroundings.sources[1].missing = Some("the device is gone".to_owned());
        }
        self.history.advance(now_ns);
        if second.is_multiple_of(SETTINGS_EVERY) && stat.is_some() {
            self.surroundings.settings = read_settings(&self.system, &self.subject.disk);
            let celsius = self.surroundings.settings.temperature_c;
            self.surroundings
                .beginning
                .warmed(self.history.watched_s(), celsius);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.end_second(now_ns, &self.surroundings)?;
        }
        Ok(self.report())
    }

    fn report(&mut self) -> WatchReport {
        let figures = if self.events.is_some() {
            self.history.figures()
        } else {
            self.last
                .since(&self.begun)
                .figures(self.history.watched_s())
        };
        WatchReport::new(&self.history, figures, &self.surroundings)
    }
}

/// Watches until the order's time is up or `stop` is set. Nothing is written to the device.
///
/// # Errors
/// When what the user named is on no drive, or the recording cannot be written.
pub fn watch(
    order: &WatchOrder,
    progress: &mut dyn WatchProgress,
    stop: &AtomicBool,
) -> Result<WatchOutcome, LabError> {
    let mut watch = LiveWatch::new(order)?;
    let begun_ns = monotonic_ns();
    let mut seconds = 0;
    loop {
        std::thread::sleep(TICK);
        watch.drain(progress)?;
        let is_stopped = stop.load(Ordering::Relaxed);
        if monotonic_ns() < begun_ns + (seconds + 1) * SECOND_NS && !is_stopped {
            continue;
        }
        seconds += 1;
        let report = watch.end_second(seconds)?;
        if is_stopped || order.seconds.is_some_and(|limit| seconds >= limit) {
            return Ok(WatchOutcome {
                report,
                events: watch.history.events(),
            });
        }
        progress.second(&report);
    }
}
