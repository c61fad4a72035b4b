//! The host of the experiments: keeps a drive at a queue depth, in virtual time.

use crate::keys::ExperimentKey;
use crate::outcome::ExperimentOutcome;
use hdrhistogram::Histogram;
use ssdlab_base::{LabError, check};
use ssdlab_bench::engine::devices::{CommandSource, DeviceCompletion, Devices};
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::{Command, Drive, DriveConfig, DriveCounters, Nanos, Op};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a drive did between two times.
#[derive(Clone, Debug)]
pub(super) struct IntervalStats {
    /// Commands completed, by kind; indexed by [`Op`].
    pub commands: [u64; Op::COUNT],
    /// Bytes read by the host.
    pub bytes_read: u64,
    /// Bytes written by the host.
    pub bytes_written: u64,
    /// Virtual time from the first submission to the last completion.
    pub time: Nanos,
    /// Write amplification factor within; `None` when nothing was written.
    pub waf: Option<f64>,
    /// Busy time of the dies by purpose as a share of all their busy time; by [`Purpose`].
    pub die_share: [f64; Purpose::COUNT],
    /// Latency of reads, ns.
    pub read_latency: Histogram<u64>,
    /// Latency of writes, ns.
    pub write_latency: Histogram<u64>,
}

impl IntervalStats {
    fn rate(&self, amount: u64) -> f64 {
        amount as f64 / (self.time.0.max(1) as f64 / 1e9)
    }

    /// Reads and writes a second.
    pub fn iops(&self) -> f64 {
        self.rate(self.commands[Op::Read as usize] + self.commands[Op::Write as usize])
    }

    /// MB (10^6 B) read a second.
    pub fn read_mb_s(&self) -> f64 {
        self.rate(self.bytes_read) / 1e6
    }

    /// MB (10^6 B) written a second.
    pub fn write_mb_s(&self) -> f64 {
        self.rate(self.bytes_written) / 1e6
    }

    /// MB (10^6 B) read and written a second.
    pub fn mb_s(&self) -> f64 {
        self.read_mb_s() + self.write_mb_s()
    }

    /// Latency of reads at `percentile`, ms.
    pub fn read_ms(&self, percentile: f64) -> f64 {
        self.read_latency.value_at_percentile(percentile) as f64 / 1e6
    }
}

/// Self-checks of an experiment's drives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DriveSelfChecks {
    /// Drives checked.
    pub drives: u32,
    /// Commands given to them.
    pub commands: u64,
    faults: Vec<String>,
}

impl DriveSelfChecks {
    pub fn add(&mut self, name: &str, host: &ExperimentHost<'_>) {
        self.drives += 1;
        self.commands += host.devices.given();
        if let Err(what) = host.check() {
            self.faults.push(format!("{name}: {what}"));
        }
    }

    /// Whether no drive contradicted itself and every command was served.
    pub fn passed(&self) -> bool {
        self.drives > 0 && self.faults.is_empty()
    }

    /// Keeps the checks of all drives as one.
    pub fn keep<M: ExperimentKey, L: ExperimentKey>(&self, outcome: &mut ExperimentOutcome<M, L>) {
        let name = format!("{} drives, {} commands", self.drives, self.commands);
        let faults = self.faults.join("; ");
        outcome.check(name, if self.passed() { Ok(()) } else { Err(faults) });
    }
}

/// A drive and what has been asked of it. Cloning it forks the drive.
#[derive(Clone, Debug)]
pub(super) struct ExperimentHost<'a> {
    /// When it is set, no more commands are given: what was measured then is worth nothing.
    stop: Option<&'a AtomicBool>,
    devices: Devices,
}

/// The range that figures of the articles were taken with: 1 us to 100 s, three digits.
fn latencies() -> Histogram<u64> {
    Histogram::new_with_bounds(1_000, 100_000_000_000, 3)
        .unwrap_or_else(|_| unreachable!("the bounds are allowed"))
}

/// Commands given between two looks at whether to stop.
const CHUNK: u64 = 1024;

impl<'a> ExperimentHost<'a> {
    pub fn new(config: DriveConfig) -> Result<ExperimentHost<'a>, LabError> {
        let name = config.name.clone();
        let drive = Drive::new(config).map_err(|error| {
            LabError::refused(
                format!("drive `{name}` of the experiment is not possible: {error}"),
                "choose a scale that leaves it more blocks",
            )
        })?;
        Ok(ExperimentHost::around(drive))
    }

    /// Of a drive that has not been given a command yet.
    pub fn around(drive: Drive) -> ExperimentHost<'a> {
        ExperimentHost {
            stop: None,
            devices: Devices::one(drive),
        }
    }

    /// Looks at `stop` from now on, as do its forks.
    pub fn watching(self, stop: &'a AtomicBool) -> ExperimentHost<'a> {
        ExperimentHost {
            stop: Some(stop),
            ..self
        }
    }

    /// Whether what it watches has been set.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Energy used so far, nJ.
    pub fn energy_nj(&self) -> u128 {
        self.drive().energy().total_nj()
    }

    pub fn config(&self) -> &DriveConfig {
        self.drive().config()
    }

    pub fn counters(&self) -> &DriveCounters {
        self.drive().counters()
    }

    /// Slots of media that hold valid data, and all that there are.
    pub fn valid_slots(&self) -> (u64, u64) {
        let views = self.drive().superblocks();
        let valid = views.iter().map(|view| u64::from(view.valid)).sum();
        let geometry = self.config().geometry();
        (
            valid,
            views.len() as u64 * u64::from(geometry.slots_per_superblock),
        )
    }

    /// Write amplification factor since then.
    pub fn waf_since(&self, before: &DriveCounters) -> Option<f64> {
        // On a drive that compresses, slots of media are smaller than mapping units.
        let slot = self.config().geometry().slot_bytes;
        self.counters().waf_since(before, slot)
    }

    /// Leaves the drive alone for `time`.
    pub fn rest(&mut self, time: Nanos) {
        self.devices.rest(time);
    }

    /// Gives `commands` all at once and waits for all; returns the time from first to last.
    pub fn burst(&mut self, commands: &[Command]) -> Nanos {
        let began = self.devices.now();
        if self.is_stopped() {
            return Nanos(0);
        }
        for command in commands {
            self.devices.submit(0, command, 0);
        }
        self.devices.settle();
        Nanos(self.devices.now().0 - began.0)
    }

    /// Gives `commands`, always `depth` of them outstanding, and waits for all.
    pub fn run(
        &mut self,
        depth: u32,
        commands: impl IntoIterator<Item = Command>,
    ) -> IntervalStats {
        let begin = (
            self.devices.now(),
            self.counters().clone(),
            self.drive().busy_by_purpose(),
        );
        let mut load = CountedCommands {
            commands: commands.into_iter(),
            given: self.devices.given(),
            stop: self.stop,
            done: [0; Op::COUNT],
            latency: [latencies(), latencies()],
        };
        self.devices.keep(depth, Nanos::MAX, &mut load);
        self.devices.settle_with(|_, done| load.count(done));
        let [read_latency, write_latency] = load.latency;
        self.span(begin, load.done, read_latency, write_latency)
    }

    fn span(
        &self,
        (began, before, busy): (Nanos, DriveCounters, [u64; Purpose::COUNT]),
        commands: [u64; Op::COUNT],
        read_latency: Histogram<u64>,
        write_latency: Histogram<u64>,
    ) -> IntervalStats {
        let counters = self.counters();
        let mut die_share = [0.0; Purpose::COUNT];
        let busy_now = self.drive().busy_by_purpose();
        let total: u64 = busy_now
            .iter()
            .zip(busy)
            .map(|(counters, then)| counters - then)
            .sum();
        for (share, (counters, then)) in die_share.iter_mut().zip(busy_now.iter().zip(busy)) {
            *share = (counters - then) as f64 / total.max(1) as f64;
        }
        IntervalStats {
            commands,
            bytes_read: counters.host_bytes_read - before.host_bytes_read,
            bytes_written: counters.host_bytes_written - before.host_bytes_written,
            time: Nanos(self.devices.now().0 - began.0),
            waf: self.waf_since(&before),
            die_share,
            read_latency,
            write_latency,
        }
    }

    /// The self-checks of drive and queue.
    pub fn check(&self) -> Result<(), String> {
        let failed = check::failures(&self.devices.checks());
        if failed.is_empty() {
            Ok(())
        } else {
            Err(failed.join("; "))
        }
    }

    fn drive(&self) -> &Drive {
        self.devices.drive(0)
    }
}

/// Commands on their way to the drive, counted as they complete.
struct CountedCommands<'a, I> {
    commands: I,
    given: u64,
    stop: Option<&'a AtomicBool>,
    done: [u64; Op::COUNT],
    /// Of reads and of writes.
    latency: [Histogram<u64>; 2],
}

impl<I> CountedCommands<'_, I> {
    fn count(&mut self, completion: &DeviceCompletion) {
        self.done[completion.op as usize] += 1;
        if let Some(table) = self.latency.get_mut(completion.op as usize) {
            table.saturating_record(completion.done.0 - completion.submitted.0);
        }
    }
}

impl<I: Iterator<Item = Command>> CommandSource for CountedCommands<'_, I> {
    fn next(&mut self, _: &Drive) -> Option<Command> {
        let stopped = |stop: &AtomicBool| stop.load(Ordering::Relaxed);
        if self.given.is_multiple_of(CHUNK) && self.stop.is_some_and(stopped) {
            return None;
        }
        self.given += 1;
        self.commands.next()
    }

    fn done(&mut self, _: &Drive, completion: &DeviceCompletion) {
        self.count(completion);
    }
}
