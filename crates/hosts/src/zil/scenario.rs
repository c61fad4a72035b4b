//! A run of the intent log on a log device, with counts and latencies of the writers.

use super::fit::ZilTraceFit;
use super::fixed::FixedTarget;
use super::host::LogHost;
use super::preset::ZfsPreset;
use super::run::{LogDevicePattern, RunOptions, run};
use super::spec::{HostCounts, HostSpec};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_bench::device::Target;
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_load::trace::write::TraceWriter;
use ssdlab_load::trace::{TraceEvent, TraceFormat};
use ssdlab_ssd::Nanos;
use std::sync::atomic::AtomicBool;

/// Time of every write and flush of the device without a target.
const FIXED: Nanos = Nanos::from_micros(50);

/// Writers, datasets and the age of the code.
#[derive(Clone, Debug)]
pub struct ZilSpec {
    /// Age of the code.
    pub preset: ZfsPreset,
    /// Synchronous writers.
    pub writers: usize,
    /// Datasets, each with a log of its own.
    pub datasets: usize,
    /// Length of the run, in the time of the device.
    pub duration: Nanos,
    /// Length of an interval of the pattern.
    pub interval: Nanos,
    /// Seed of every random stream.
    pub seed: u64,
    /// Keep every command for the series.
    pub keep_commands: bool,
    /// Trim freed log blocks.
    pub autotrim: bool,
    /// The host is one fitted to a trace; its age, writers and datasets are those above.
    pub fit: Option<ZilTraceFit>,
}

impl Default for ZilSpec {
    /// One writer on one dataset for 20 s, code of 2010, as in the slides of article zil.
    fn default() -> ZilSpec {
        ZilSpec {
            preset: ZfsPreset::V2010,
            writers: 1,
            datasets: 1,
            duration: Nanos::from_secs(20),
            interval: Nanos::from_secs(1),
            seed: 1,
            keep_commands: false,
            autotrim: false,
            fit: None,
        }
    }
}

/// A log device.
pub struct LogDevice {
    /// Name for the report.
    pub name: String,
    /// Bytes that the log may use.
    pub capacity: u64,
    /// Calibrated and assumed values that its figures rest on.
    pub rests_on: Vec<RestsOn>,
    /// Where commands go.
    pub target: Box<dyn Target>,
}

impl LogDevice {
    /// Capacity of the log device of the slides, bytes.
    pub const USUAL: u64 = 4 << 30;

    /// A device of `capacity` bytes that takes 50 us for every write and flush.
    pub fn fixed(capacity: u64) -> LogDevice {
        LogDevice {
            name: "fixed, 50 us".into(),
            capacity,
            rests_on: Vec::new(),
            target: Box::new(FixedTarget::new(capacity, FIXED, FIXED)),
        }
    }

    /// The first `capacity` bytes of a target, or all of it.
    ///
    /// # Errors
    /// When the target is smaller.
    pub fn of(
        target: Box<dyn Target>,
        rests_on: Vec<RestsOn>,
        capacity: Option<u64>,
    ) -> Result<LogDevice, LabError> {
        let facts = target.facts();
        let (name, most) = (facts.name.clone(), facts.capacity);
        let capacity = capacity.unwrap_or(most);
        if capacity > most {
            return Err(LabError::refused(
                format!("a log device of {capacity} bytes on a target of {most}"),
                "choose a smaller --device, or leave it out to use all",
            ));
        }
        Ok(LogDevice {
            name,
            capacity,
            rests_on,
            target,
        })
    }
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Zil {
    /// As run.
    pub spec: ZilSpec,
    /// Access pattern of the device.
    pub pattern: LogDevicePattern,
    /// Counts and latencies of the writers.
    pub counts: HostCounts,
    /// Every command, where the spec keeps them.
    pub commands: Vec<TraceEvent>,
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
}

impl ZilSpec {
    /// The same run of a host that was fitted to a trace.
    pub fn fitted(self, fit: ZilTraceFit) -> ZilSpec {
        ZilSpec {
            preset: fit.preset,
            writers: fit.writers(),
            datasets: fit.writers(),
            fit: Some(fit),
            ..self
        }
    }

    /// Checks that the log can be run on a device of `capacity` bytes.
    ///
    /// # Errors
    /// The first value that is impossible.
    pub fn validate(&self, capacity: u64) -> Result<(), LabError> {
        for (option, time) in [("--duration", self.duration), ("--interval", self.interval)] {
            if time == Nanos::ZERO {
                return Err(LabError::refused(
                    format!("{option} {time}: some time is needed"),
                    "try 20s",
                ));
            }
        }
        self.host(capacity).map(drop)
    }

    fn host(&self, capacity: u64) -> Result<HostSpec, LabError> {
        let mut host = match &self.fit {
            Some(fit) => fit.host(capacity, self.seed),
            None => self
                .preset
                .host(self.writers, self.datasets, capacity, self.seed),
        }?;
        host.autotrim = self.autotrim;
        Ok(host)
    }

    /// Runs the log until its end or until `stop` is set.
    ///
    /// # Errors
    /// When the spec is impossible, the device or a command fails, or nothing completes for two
    /// minutes.
    pub fn run_on(&self, device: &mut LogDevice, stop: &AtomicBool) -> Result<Zil, LabError> {
        let mut host = LogHost::new(self.host(device.capacity)?);
        let mut commands = Vec::new();
        let options = RunOptions {
            duration: self.duration,
            interval: self.interval,
            stop,
        };
        let pattern = run(&mut host, &mut *device.target, &options, &mut |event| {
            if self.keep_commands {
                commands.push(*event);
            }
            Ok(())
        })?;
        commands.sort_by_key(|event| event.issued_ns);
        let mut checks = pattern.checks.clone();
        checks.push(SelfCheck::new(
            "no two live log blocks overlap",
            host.check(),
        ));
        Ok(Zil {
            spec: self.clone(),
            counts: host.counts().clone(),
            pattern,
            commands,
            checks,
        })
    }
}

/// Commands of all runs as a trace in CSV.
///
/// # Errors
/// When a command cannot be written.
pub(super) fn csv(runs: &[Zil]) -> Result<String, LabError> {
    let mut bytes = Vec::new();
    let mut out = TraceWriter::new(TraceFormat::Csv, &mut bytes)?;
    for event in runs.iter().flat_map(|run| &run.commands) {
        out.event(event)?;
    }
    out.finish()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
