//! A watch of this machine: sources opened, seconds counted, until it is stopped.

use crate::counted::KernelWindow;
use crate::forecast::ForecastBeginning;
use crate::judge::LayerTimes;
use crate::record::WatchRecorder;
use crate::report::{
    SourceState, WINDOW_S, WatchHistory, WatchOutcome, WatchReport, WatchSurroundings, WatchedDrive,
};
use crate::request::RequestAssembler;
use crate::source::counters::{DiskStat, LayerCounters};
use crate::source::event::BlockEvent;
use crate::source::group_io::GroupIoReader;
use crate::source::host::read_settings;
use crate::source::host_counters::HostCounters;
use crate::source::layers::LayerReader;
use crate::source::process_io::ProcessIoReader;
use crate::source::settings::HostSettings;
use crate::source::smart::DriveLooks;
use crate::source::tracepoints::{BlockTracepoints, monotonic_ns};
use crate::subject::{WatchSubject, has_open_on};
use ssdlab_base::LabError;
use ssdlab_bench::device::system::SystemPaths;
use ssdlab_bench::device::{TargetFacts, TargetKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use crate::report::WatchProgress;

/// How often the rings are emptied.
const TICK: Duration = Duration::from_millis(100);
/// And how often where many events come, so that they fit.
const SHORT_TICK: Duration = Duration::from_millis(10);
/// Events of a tick that are many.
const MANY_EVENTS: usize = 3000;
const SECOND_NS: u64 = 1_000_000_000;
/// How often settings are read again, s.
const SETTINGS_EVERY: u64 = 5;
/// Names of sources, for the report.
const TRACEPOINTS: &str = "block tracepoints (perf)";
const COUNTERS: &str = "/sys/block counters";
const SETTINGS: &str = "host settings";
const DRIVE: &str = "the drive's own counters (SMART)";
const GROUPS: &str = "control groups (io.stat)";
const PROCESSES: &str = "bytes of processes (/proc/*/io)";
const HISTOGRAMS: &str = "histograms in the kernel (eBPF)";
/// Requests a second from which the kernel counts them, unless a source is chosen: a single event
/// takes some 2 us, so these are 2 % of a core.
const COUNTED_ABOVE: u64 = 10_000;
/// Requests a second from which, where the kernel counts, a part of them is seen singly.
const SAMPLED_ABOVE: u64 = 5000;
/// Seconds in a row below that after which all are seen again.
const CALM_SECONDS: u64 = 5;
/// Requests that are seen singly in a second then.
const SAMPLED: u64 = 2000;
/// The shortest and the longest part of a second in which requests are seen singly.
const SAMPLED_FOR: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(400)];

/// Which source counts requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchSource {
    /// Single events; the kernel's histograms from 10,000 requests a second on, or where events
    /// are lost.
    #[default]
    Auto,
    /// The kernel's histograms, with single events of a part of each second at high rates.
    Ebpf,
    /// Single events alone.
    Perf,
    /// Counters of sysfs alone.
    Counters,
}

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
    /// Which source counts requests.
    pub source: WatchSource,
    /// See every request singly at any rate: it is replayed or exported. A recording does.
    pub every_request: bool,
}

impl WatchOrder {
    fn source(&self) -> WatchSource {
        if self.counters_only {
            return WatchSource::Counters;
        }
        self.source
    }

    /// Whether a part of the requests may do.
    fn may_sample(&self) -> bool {
        self.record.is_none() && !self.every_request
    }

    /// Watches what the user named until it is stopped.
    pub fn new(given: impl Into<String>) -> WatchOrder {
        WatchOrder {
            given: given.into(),
            seconds: None,
            counters_only: false,
            record: None,
            hashes_names: false,
            source: WatchSource::Auto,
            every_request: false,
        }
    }
}

struct LiveWatch {
    system: SystemPaths,
    subject: WatchSubject,
    events: Option<BlockTracepoints>,
    kernel: Option<KernelWindow>,
    /// How long single requests are looked at in each second; `None`: always.
    sampled_for: Option<Duration>,
    /// Seconds in a row in which all requests could have been seen singly.
    calm_seconds: u64,
    source: WatchSource,
    may_sample: bool,
    assembler: RequestAssembler,
    history: WatchHistory,
    surroundings: WatchSurroundings,
    begun: DiskStat,
    last: DiskStat,
    /// When requests in the device were last counted.
    marked: DiskStat,
    layers: Vec<LayerCounters>,
    recorder: Option<WatchRecorder>,
    lost_before: u64,
    tick: Duration,
    layer_reader: LayerReader,
    /// Where single requests are not seen.
    process_reader: Option<ProcessIoReader>,
    group_reader: Option<GroupIoReader>,
    looks: DriveLooks,
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

type Opened<T> = Result<T, String>;

/// Events and the kernel's counts, or why they are not used.
fn open_sources(
    order: &WatchOrder,
    subject: &WatchSubject,
    begun_ns: u64,
    begun: DiskStat,
) -> (Opened<BlockTracepoints>, Opened<KernelWindow>) {
    let events = match order.source() {
        WatchSource::Counters => Err("left out by --counters".to_owned()),
        _ => BlockTracepoints::open(&subject.disk),
    };
    let kernel = match order.source() {
        WatchSource::Ebpf => KernelWindow::open(&subject.disk, WINDOW_S, begun_ns, begun),
        WatchSource::Auto => Err(format!(
            "not needed below {COUNTED_ABOVE} requests a second"
        )),
        WatchSource::Perf => Err("left out by --source perf".to_owned()),
        WatchSource::Counters => Err("left out by --counters".to_owned()),
    };
    (events, kernel)
}

fn layer_counters(system: &SystemPaths, settings: &HostSettings) -> Vec<LayerCounters> {
    let layers = settings.stack.iter().filter_map(|layer| {
        let folder = system.sys.join("block").join(&layer.name);
        Some(LayerCounters {
            name: format!("{} ({})", layer.name, layer.kind),
            begun: DiskStat::read(&folder)?,
            folder,
        })
    });
    layers.collect()
}

fn recorder(
    order: &WatchOrder,
    begun_ns: u64,
    surroundings: &WatchSurroundings,
) -> Result<Option<WatchRecorder>, LabError> {
    let Some(path) = &order.record else {
        return Ok(None);
    };
    let mut recorder = WatchRecorder::create(path, begun_ns, order.hashes_names)?;
    recorder.surroundings(surroundings);
    Ok(Some(recorder))
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
        let (events, kernel) = open_sources(order, &subject, begun_ns, begun);
        let settings = read_settings(&system, &subject.disk);
        let layers = layer_counters(&system, &settings);
        let state = |name: &str, missing: Option<String>| SourceState {
            name: name.to_owned(),
            missing,
        };
        let sources = vec![
            state(TRACEPOINTS, events.as_ref().err().cloned()),
            state(COUNTERS, None),
            state(SETTINGS, None),
            state(HISTOGRAMS, kernel.as_ref().err().cloned()),
        ];
        let surroundings = WatchSurroundings {
            drive: described(&system, &subject),
            sources,
            beginning: ForecastBeginning::new(&begun.second(), &settings),
            settings,
            ..WatchSurroundings::default()
        };
        let recorder = recorder(order, begun_ns, &surroundings)?;
        let mut watch = LiveWatch {
            layer_reader: LayerReader::new(
                &system,
                &subject.disk.disk,
                &surroundings.settings,
                subject.pid,
            ),
            process_reader: (events.is_err() && kernel.is_err())
                .then(|| ProcessIoReader::begin(&system.proc))
                .flatten(),
            group_reader: GroupIoReader::begin(&system, subject.disk.id),
            looks: DriveLooks::begin(&Path::new("/dev").join(subject.disk.disk_name())),
            system,
            subject,
            events: events.ok(),
            kernel: kernel.ok(),
            sampled_for: None,
            calm_seconds: 0,
            source: order.source(),
            may_sample: order.may_sample(),
            assembler: RequestAssembler::default(),
            history: WatchHistory::new(begun_ns),
            surroundings,
            begun,
            last: begun,
            marked: begun,
            layers,
            recorder,
            lost_before: 0,
            tick: TICK,
        };
        watch.read_counters();
        Ok(watch)
    }

    /// Counters of layers and of the drive; each source says whether it is there.
    fn read_counters(&mut self) {
        let watched_s = self.history.watched_s();
        self.looks.poll(watched_s);
        let mut counters = self.layer_reader.read(watched_s);
        counters.drive = self.looks.counters();
        self.read_movers(watched_s, &mut counters);
        let mut states = self.layer_reader.states(&counters);
        let groups_missing = self.group_reader.is_none();
        states.push((
            GROUPS,
            groups_missing.then(|| "groups do not count I/O, or are too many".to_owned()),
        ));
        if self.events.is_none() && self.kernel.is_none() {
            let missing = self.process_reader.is_none();
            states.push((PROCESSES, missing.then(|| "needs root".to_owned())));
        }
        states.push((DRIVE, self.looks.missing()));
        for (name, missing) in states {
            match self.source_state(name) {
                Some(state) => state.missing = missing,
                None => self.surroundings.sources.push(SourceState {
                    name: name.to_owned(),
                    missing,
                }),
            }
        }
        self.surroundings.counters = counters;
    }

    /// Who moved bytes; with thousands of processes or groups a look takes a tenth of a second.
    fn read_movers(&mut self, watched_s: f64, counters: &mut HostCounters) {
        let last = &mut self.surroundings.counters;
        counters.processes = std::mem::take(&mut last.processes);
        counters.groups = std::mem::take(&mut last.groups);
        if !(watched_s as u64).is_multiple_of(SETTINGS_EVERY) {
            return;
        }
        if let Some(reader) = &self.group_reader {
            counters.groups = reader.read();
        }
        if let Some(reader) = &self.process_reader {
            let disk = self.subject.disk.disk_name();
            counters.processes = reader.read(|pid| has_open_on(&self.system, pid, &disk));
        }
    }

    /// Lets requests go that the kernel has no more in the device.
    fn mark_in_flight(&mut self) {
        let Some(stat) = DiskStat::read(&self.subject.disk.disk) else {
            return;
        };
        if stat.has_advanced(&self.marked) {
            self.assembler.expect(monotonic_ns(), stat.in_flight());
        }
        self.marked = stat;
    }

    /// Takes the events since the last call.
    fn drain(&mut self, progress: &mut dyn WatchProgress) -> Result<(), LabError> {
        if self.tick == TICK && self.events.is_some() {
            self.mark_in_flight();
        }
        let Some(events) = &mut self.events else {
            return Ok(());
        };
        let batch = events.drain()?;
        self.take(batch, progress);
        Ok(())
    }

    fn take(&mut self, batch: Vec<BlockEvent>, progress: &mut dyn WatchProgress) {
        self.tick = match batch.len() {
            0..MANY_EVENTS => TICK,
            _ => SHORT_TICK,
        };
        for event in batch {
            if let Some(request) = self.assembler.take(&event) {
                if let Some(recorder) = &mut self.recorder {
                    recorder.request(&request);
                }
                progress.request(&request);
                self.history.add(request);
            }
        }
        let lost = self.events.as_ref().map_or(0, BlockTracepoints::lost);
        if lost > self.surroundings.lost_events {
            // What is in the device is no longer known.
            self.assembler.forget_all();
        }
        let unmatched = self.assembler.unmatched();
        self.surroundings.lost_events = lost;
        self.surroundings.seen_in_part = unmatched.completions + unmatched.dropped;
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
        // A loop device that was detached stays, without a size.
        let is_here = self.subject.disk.capacity() != Some(0);
        let stat = DiskStat::read(&self.subject.disk.disk).filter(|_| is_here);
        let now_ns = monotonic_ns();
        if let Some(stat) = stat {
            if self.events.is_none() && self.kernel.is_none() {
                self.history.add_second(stat.since(&self.last).second());
            }
            self.last = stat;
            self.surroundings.layers = self.layer_times(&stat);
            self.read_counters();
        } else {
            self.surroundings.sources[1].missing = Some("the device is gone".to_owned());
        }
        self.history.advance(now_ns);
        self.count_second(now_ns)?;
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
        let report = self.report();
        self.count_in_kernel(now_ns);
        Ok(report)
    }

    /// From here on the kernel counts, if requests come too fast to be seen singly. What was seen
    /// until now is reported first: this second may be the last.
    fn count_in_kernel(&mut self, now_ns: u64) {
        let last = self.history.seconds().last();
        let rate = last.map_or(0, crate::steps::WatchedSecond::count);
        let loses = self.surroundings.lost_events > self.lost_before;
        self.lost_before = self.surroundings.lost_events;
        let is_auto = self.source == WatchSource::Auto && self.may_sample;
        if is_auto && self.kernel.is_none() && (loses || rate > COUNTED_ABOVE) {
            self.source = WatchSource::Ebpf;
            let opened = KernelWindow::open(&self.subject.disk, WINDOW_S, now_ns, self.last);
            if let Some(state) = self.source_state(HISTOGRAMS) {
                state.missing = opened.as_ref().err().cloned();
            }
            self.kernel = opened.ok();
            if self.kernel.is_some() {
                self.history.forget_requests();
            }
        }
    }

    /// Takes over what the kernel counted, and decides how much is seen singly in the next second.
    fn count_second(&mut self, now_ns: u64) -> Result<(), LabError> {
        let Some(kernel) = &mut self.kernel else {
            return Ok(());
        };
        let counted = kernel.end_second(now_ns, self.last);
        let misses = kernel.source().misses();
        self.surroundings.counted = Some(kernel.total());
        self.surroundings.origin.uncounted = misses.uncounted();
        self.surroundings.origin.queue_from_allocation = misses.without_bio;
        self.history.replace_second(now_ns, counted);
        let was_sampled = self.sampled_for.is_some();
        let rate = counted.count();
        // A second in which everything stands still is no reason to look at all again.
        self.calm_seconds = if rate > SAMPLED_ABOVE {
            0
        } else {
            self.calm_seconds + 1
        };
        let is_calm = self.calm_seconds >= CALM_SECONDS || (!was_sampled && rate <= SAMPLED_ABOVE);
        self.sampled_for = (self.may_sample && !is_calm).then(|| {
            let rate = rate.max(SAMPLED_ABOVE);
            let share = Duration::from_secs(SAMPLED) / u32::try_from(rate).unwrap_or(u32::MAX);
            share.clamp(SAMPLED_FOR[0], SAMPLED_FOR[1])
        });
        if was_sampled == self.sampled_for.is_some() {
            return Ok(());
        }
        self.assembler = RequestAssembler::default();
        let Some(events) = &mut self.events else {
            return Ok(());
        };
        let switched = if was_sampled {
            events.resume()
        } else {
            events.pause()
        };
        switched.map_err(|error| LabError::refused(format!("perf: {error}"), "--source counters"))
    }

    fn source_state(&mut self, name: &str) -> Option<&mut SourceState> {
        let mut sources = self.surroundings.sources.iter_mut();
        sources.find(|source| source.name == name)
    }

    /// Sees requests singly for a part of this second.
    fn sample(&mut self, progress: &mut dyn WatchProgress) -> Result<(), LabError> {
        let (Some(duration), Some(events)) = (self.sampled_for, &mut self.events) else {
            return Ok(());
        };
        let failed = |error| LabError::refused(format!("perf: {error}"), "--source counters");
        events.resume().map_err(failed)?;
        std::thread::sleep(duration);
        events.pause().map_err(failed)?;
        let batch = events.drain_all()?;
        self.take(batch, progress);
        // What was in the device at the end ends unseen.
        self.assembler = RequestAssembler::default();
        self.tick = TICK;
        Ok(())
    }

    fn report(&mut self) -> WatchReport {
        let has_events = self.events.is_some();
        let mut figures = if has_events || self.kernel.is_some() {
            self.history.figures()
        } else {
            self.last
                .since(&self.begun)
                .figures(self.history.watched_s())
        };
        let origin = &mut self.surroundings.origin;
        let counts = match (&self.kernel, has_events) {
            (Some(_), _) => HISTOGRAMS,
            (None, true) => TRACEPOINTS,
            (None, false) => COUNTERS,
        };
        origin.counts = counts.to_owned();
        origin.single_requests = has_events.then(|| TRACEPOINTS.to_owned());
        origin.share_seen = match &self.kernel {
            Some(kernel) => kernel.complete(&mut figures),
            None => f64::from(u8::from(has_events)),
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
    progress.begins(watch.history.begun_ns());
    let begun_ns = monotonic_ns();
    let mut seconds = 0;
    let mut begins_second = true;
    loop {
        if std::mem::take(&mut begins_second) {
            watch.sample(progress)?;
        }
        std::thread::sleep(watch.tick);
        if watch.sampled_for.is_none() {
            watch.drain(progress)?;
        }
        let is_stopped = stop.load(Ordering::Relaxed);
        if monotonic_ns() < begun_ns + (seconds + 1) * SECOND_NS && !is_stopped {
            continue;
        }
        seconds += 1;
        begins_second = true;
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
