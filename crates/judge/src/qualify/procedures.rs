//! Measuring the evidence: a list of named steps, each a plan run on the target.
//!
//! The steps are the same for a modelled drive in virtual time and for a real file or device, on
//! a region of the same size and with the same seed, so both see the same stream of commands and
//! their numbers can be put side by side. A file of one GiB on a large drive exercises little of
//! its spare area, so the whole of a modelled drive is looked at in a step of its own, which the
//! longer profiles add: filled once, then written at random. On a real drive that step would
//! destroy data and take hours; it is only run when asked for.
//!
//! Order: probes before heavy loads, reads before heavy writes, so that each step finds the
//! drive as little disturbed by the one before as may be. Nothing is idled away in between.
//!
//! Source: SNIA SSS PTS 2.0.2 (rounds, preconditioning); the probes follow S. Han's journal test,
//! the Ceph documentation's fio line and FreeBSD's `diskinfo -wS` (docs/methods.md, section 2.4).

use super::account;
use super::evidence::{Evidence, Qualification};
use super::extract;
use super::plans::QualifyRegion;
use super::settings::{Precondition, QualifySettings, fill_of, region_of};
use super::states::{self, LoadDurations, PlannedLoad};
use super::steps::{PlannedStep, StepYield, steps};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::device::{Target, TargetFacts};
use ssdlab_bench::engine;
use ssdlab_bench::engine::Observer;
use ssdlab_bench::record::{RunEnding, RunRecord, Second};
use ssdlab_ssd::{Bytes, Nanos};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// One step, for progress.
#[derive(Clone, Debug, PartialEq)]
pub struct QualifyStep {
    /// From 1.
    pub number: usize,
    /// How many there are.
    pub count: usize,
    /// What it measures.
    pub title: String,
    /// About how long it takes on the target's clock, s; for a fill, 0.
    pub expected_s: f64,
}

/// Sees a qualification as it happens. Only [`QualifyProgress::step`] has to be written.
pub trait QualifyProgress {
    /// A step begins.
    fn step(&mut self, step: &QualifyStep);

    /// A second of it has been counted.
    ///
    /// # Errors
    /// When results cannot be written: the run ends.
    fn second(
        &mut self,
        _step: &QualifyStep,
        _second: &Second,
        _latencies: &[Latencies],
    ) -> Result<(), LabError> {
        Ok(())
    }

    /// A new file is being filled: bytes written, and their total.
    fn filling(&mut self, _file: &Path, _done: u64, _total: u64) {}

    /// The target is open; nothing has been measured yet.
    ///
    /// # Errors
    /// When results cannot be written: the run ends.
    fn opened(&mut self, _facts: &TargetFacts) -> Result<(), LabError> {
        Ok(())
    }

    /// The target has been measured and judged; the references follow.
    ///
    /// # Errors
    /// When results cannot be written: the run ends.
    fn judged(&mut self, _so_far: &Qualification) -> Result<(), LabError> {
        Ok(())
    }

    /// A model is being overwritten: bytes so far, and those needed at least.
    fn overwriting(&mut self, _done: u64, _needed: u64) {}

    /// Number of reference drives that have been measured, from 0, and of all.
    fn references(&mut self, _measured: usize, _count: usize) {}
}

/// Progress that is not shown.
pub struct SilentProgress;

impl QualifyProgress for SilentProgress {
    fn step(&mut self, _step: &QualifyStep) {}
}

struct QualifyStepObserver<'a> {
    step: &'a QualifyStep,
    progress: &'a mut dyn QualifyProgress,
}

impl Observer for QualifyStepObserver<'_> {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        self.progress.second(self.step, second, latencies)
    }
}

/// Measures everything of the profile on `target`. When `stop` is set or the target fails, what
/// was measured so far is returned and the rest is listed in [`Evidence::incomplete`].
///
/// # Errors
/// When the region does not fit the target, or no step at all could be run.
pub fn measure<T: Target>(
    target: &mut T,
    settings: &QualifySettings,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<Evidence, LabError> {
    let facts = target.facts().clone();
    let region = region_of(settings, facts.capacity)?;
    let list = steps(settings, region, facts.capacity, facts.block_size);
    let mut evidence = blank(facts, settings, region);
    let mut refused = None;
    let count = list.len() + settings.loads.len() + usize::from(settings.overwrite.is_some());
    for (index, work) in list.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            not_run(&list[index..], "stopped", &mut evidence);
            break;
        }
        let step = QualifyStep {
            number: index + 1,
            count,
            title: work.title.clone(),
            expected_s: work.expected_s,
        };
        if work.yields == StepYield::Account {
            if account::is_suspected(&evidence) {
                progress.step(&step);
                look_for_account(region, &step, target, &mut evidence, stop);
            }
            continue;
        }
        match run_step(work, &step, target, progress, stop) {
            Ok(record) => {
                keep(work, &record, &mut evidence);
                if let Some(why) = ended_early(&record, work) {
                    not_run(&list[index + 1..], why, &mut evidence);
                    break;
                }
            }
            Err(error) if work.needed => return Err(error),
            Err(error) => {
                let note = format!("{}: not run: {error}", work.title);
                evidence.incomplete.push(note);
                refused.get_or_insert(error);
            }
        }
    }
    let durations = LoadDurations::of(settings.profile);
    if !evidence.sustained.is_empty() {
        for (index, load) in settings.loads.iter().enumerate() {
            let step = QualifyStep {
                number: list.len() + index + 1,
                count,
                title: format!("the role's load: {}", load.title),
                expected_s: durations.total_s(),
            };
            let plan = PlannedLoad {
                load,
                region,
                durations,
            };
            progress.step(&step);
            run_load(&plan, &step.title, target, &mut evidence, stop);
        }
    }
    evidence.facts.heat = target.heat();
    match refused {
        Some(error) if evidence.probes.is_empty() && evidence.sustained.is_empty() => Err(error),
        _ => Ok(evidence),
    }
}

fn blank(facts: TargetFacts, settings: &QualifySettings, region: QualifyRegion) -> Evidence {
    let precondition = match &settings.precondition {
        Precondition::Fill(_) => {
            let bytes = Bytes(fill_of(settings, region, facts.capacity).bytes);
            format!("{bytes} from the region's start were written once, front to back")
        }
        Precondition::Done(what) => what.clone(),
    };
    Evidence {
        region_bytes: region.bytes,
        precondition,
        ..Evidence::none(facts)
    }
}

fn run_step<T: Target>(
    work: &PlannedStep,
    step: &QualifyStep,
    target: &mut T,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<RunRecord, LabError> {
    progress.step(step);
    let mut watch = QualifyStepObserver { step, progress };
    engine::run(&work.plan, target, &mut watch, stop)
}

/// Asks whether the target's speed is an account.
fn look_for_account<T: Target>(
    region: QualifyRegion,
    step: &QualifyStep,
    target: &mut T,
    evidence: &mut Evidence,
    stop: &AtomicBool,
) {
    let plan = account::plan_of(region, step.expected_s);
    match account::evidence(target, plan, evidence, stop) {
        Ok(account) => evidence.account = Some(account),
        Err(error) => evidence.incomplete.push(format!("{}: {error}", step.title)),
    }
}

/// Runs one of the role's loads on a real drive that the steps before have overwritten.
fn run_load<T: Target>(
    plan: &PlannedLoad,
    title: &str,
    target: &mut T,
    evidence: &mut Evidence,
    stop: &AtomicBool,
) {
    let mut note = |why: String| evidence.incomplete.push(format!("{title}: {why}"));
    if stop.load(Ordering::Relaxed) {
        return note("not run: stopped".to_owned());
    }
    let run = match states::used(target, plan, stop) {
        Ok(Some(run)) => run,
        Ok(None) => return note("nothing completed within its time".to_owned()),
        Err(error) => return note(format!("failed: {error}")),
    };
    let later = evidence.later.get_or_insert_default();
    later.idle_s = plan.durations.idle_s;
    later.region_bytes = later.region_bytes.max(plan.region_bytes());
    later.used.push(run);
}

fn not_run(rest: &[PlannedStep], why: &str, evidence: &mut Evidence) {
    let notes = rest.iter().map(|w| format!("{}: not run: {why}", w.title));
    evidence.incomplete.extend(notes);
}

/// Why no further step should run, if so.
fn ended_early(record: &RunRecord, work: &PlannedStep) -> Option<&'static str> {
    match &record.ending {
        RunEnding::Complete if work.needed && extract::errors(record) > 0 => {
            Some("preparing for it failed")
        }
        RunEnding::Complete => None,
        RunEnding::Interrupted => Some("stopped"),
        RunEnding::Failed(_) => Some("the target failed before"),
    }
}

fn keep(work: &PlannedStep, record: &RunRecord, evidence: &mut Evidence) {
    let length = record.jobs.first().map_or(Nanos::ZERO, |job| job.length);
    match &record.ending {
        RunEnding::Complete => {}
        RunEnding::Interrupted => evidence.incomplete.push(format!(
            "{}: stopped after {length} of {} s",
            work.title, work.expected_s
        )),
        RunEnding::Failed(why) => evidence
            .incomplete
            .push(format!("{}: failed after {length}: {why}", work.title)),
    }
    let errors = extract::errors(record);
    if errors > 0 {
        let note = format!("{}: {errors} commands failed", work.title);
        evidence.incomplete.push(note);
    }
    for check in &record.checks {
        if let Some(why) = &check.failure {
            let note = format!("{}: self-check `{}` failed: {why}", work.title, check.name);
            evidence.incomplete.push(note);
        }
    }
    let is_recorded = match work.yields {
        StepYield::Preparation => true,
        StepYield::Probe(method, writers, series) => {
            let run = series.and_then(|name| extract::sustained(record, name, &work.title));
            evidence.sustained.extend(run);
            let probe = extract::probe(record, method, writers);
            probe.map(|p| evidence.probes.push(p)).is_some()
        }
        StepYield::Flush(dirty) => {
            let point = extract::flush_point(record, dirty);
            point.map(|p| evidence.flush_by_dirty.push(p)).is_some()
        }
        StepYield::WorstCase(method) => {
            let probe = extract::probe(record, method, 1);
            let run = probe.map(|probe| states::worst_case(&probe, evidence.probe(method, 1)));
            let worst = &mut evidence.later.get_or_insert_default().worst;
            run.map(|run| worst.push(run)).is_some()
        }
        StepYield::Account => true,
        StepYield::Series(name) => {
            let run = extract::sustained(record, name, &work.title);
            run.map(|r| evidence.sustained.push(r)).is_some()
        }
    };
    if !is_recorded && record.ending == RunEnding::Complete {
        let note = format!("{}: nothing completed within its time", work.title);
        evidence.incomplete.push(note);
    }
}
