//! The whole suite: one test after the other, each on a fresh drive.

use super::load::SniaClass;
use super::result::{SniaTest, SniaTestResult, Suite};
use super::rig::SniaRig;
use super::{demand, idle, short, stimulus};
use ssdlab_base::LabError;
use ssdlab_bench::device::ModelledTarget;
use ssdlab_bench::device::Target;
use ssdlab_bench::run::RunProgress;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};

/// Version of `snia.json`.
const FORMAT_VERSION: u32 = 1;

/// What to test.
#[derive(Clone, Debug)]
pub struct SniaRequest {
    /// A drive of the catalogue, or a file of one.
    pub drive: String,
    /// Class of the tests.
    pub class: SniaClass,
    /// The tests, in this order.
    pub tests: Vec<SniaTest>,
    /// Scale the drive down to about this many bytes.
    pub to: Option<u64>,
    /// Seed of every random stream.
    pub seed: u64,
    /// When it started (RFC 3339).
    pub started_at: String,
    /// The command line.
    pub arguments: Vec<String>,
}

/// Runs the tests; `each` is given the suite after every one. When `stop` is set, what was measured
/// is kept.
///
/// # Errors
/// When the drive cannot be built or fails, or `each` does.
pub fn suite(
    request: &SniaRequest,
    progress: &mut dyn RunProgress,
    stop: &AtomicBool,
    each: &mut dyn FnMut(&Suite) -> Result<(), LabError>,
) -> Result<Suite, LabError> {
    let mut drive = catalogue::open(&request.drive)?;
    let whole = drive.config.user_bytes;
    let small = request.to.map(|to| scaled(&drive.config, to)).transpose()?;
    let reduction_note = small.as_ref().map(|small| small.said.clone());
    if let Some(small) = small {
        drive.config = small.config;
    }
    let reduction = whole as f64 / drive.config.user_bytes as f64;
    // Else no reduced wait would be long enough for a drive to begin its work in idle time.
    let idle_after = &mut drive.config.ftl.idle_after;
    *idle_after = Nanos((idle_after.0 as f64 / reduction).round() as u64);
    let reduced = reduction_note.filter(|_| reduction > 1.0).map(|said| {
        format!(
            "Reduced: {said}. Every time of the specification was divided by {reduction:.1}, as \
             the capacity was, and so was the time after which the drive counts as idle: a minute \
             is {:.3} s.",
            60.0 / reduction
        )
    });
    let target = ModelledTarget::new(&drive, None)?;
    let mut suite = Suite {
        version: FORMAT_VERSION,
        ssdlab: env!("CARGO_PKG_VERSION").into(),
        started_at: request.started_at.clone(),
        arguments: request.arguments.clone(),
        class: request.class,
        seed: request.seed,
        facts: target.facts().clone(),
        reduction,
        reduced,
        rests_on: drive.rests_on(),
        tests: Vec::new(),
    };
    for test in &request.tests {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        progress.begins(&format!("SNIA PTS {}", test.title()), 0.0);
        let mut rig = SniaRig {
            drive: &drive,
            class: request.class,
            reduction,
            seed: request.seed,
            stop,
            observer: progress,
            target: target.clone(),
            rows: Vec::new(),
            failures: Vec::new(),
        };
        let (tracked, histograms, mut notes) = run(*test, &mut rig)?;
        notes.extend(suite.reduced.clone());
        suite.tests.push(SniaTestResult {
            test: *test,
            rows: rig.rows,
            tracked,
            histograms,
            notes,
            complete: !stop.load(Ordering::Relaxed),
            failures: rig.failures,
        });
        each(&suite)?;
    }
    Ok(suite)
}

fn run(test: SniaTest, rig: &mut SniaRig<'_>) -> Result<short::SniaFindings, LabError> {
    match test {
        SniaTest::Iops => short::iops(rig),
        SniaTest::Throughput => short::throughput(rig),
        SniaTest::Latency => short::latency(rig),
        SniaTest::WriteSaturation => idle::write_saturation(rig),
        SniaTest::HostIdleRecovery => idle::host_idle_recovery(rig),
        SniaTest::CrossStimulusRecovery => stimulus::cross_stimulus_recovery(rig),
        SniaTest::Composite => demand::composite(rig),
        SniaTest::DemandIntensity => demand::demand_intensity(rig),
    }
}
