//! A whole plan on a target: checked first, then phase by phase.

use super::cpu;
use super::lane::{Lane, lanes};
use super::logged;
use super::observer::Observer;
use super::phase::PhaseEngine;
use crate::device::{Target, TargetFacts};
use crate::record::{RunEnding, RunRecord};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_load::plan::{JobSpec, PlanPhase, WorkloadPlan};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Commands outstanding at the same time that `plan` needs of its target.
pub fn depth_needed(plan: &WorkloadPlan) -> u64 {
    plan.phases.iter().map(phase_depth).max().unwrap_or(0)
}

fn phase_depth(phase: &PlanPhase) -> u64 {
    let depth = |job: &JobSpec| u64::from(job.depth) * u64::from(job.copies);
    let (shared, own): (Vec<_>, Vec<_>) = phase.jobs.iter().partition(|j| j.ties.shares_depth);
    let shared = shared.into_iter().map(depth).max().unwrap_or(0);
    shared + own.into_iter().map(depth).sum::<u64>()
}

/// Whether `plan` fits a target of these facts: what [`run`] checks before the first command.
///
/// # Errors
/// When it keeps more commands outstanding than the target takes, or a job's region does not fit.
pub fn check(plan: &WorkloadPlan, facts: &TargetFacts, depth_max: u32) -> Result<(), LabError> {
    lanes_of(plan, facts, depth_max).map(|_| ())
}

/// All lanes of all phases, before anything is written.
fn lanes_of(
    plan: &WorkloadPlan,
    facts: &TargetFacts,
    depth_max: u32,
) -> Result<Vec<Vec<Lane>>, LabError> {
    let depth = depth_needed(plan);
    if depth > u64::from(depth_max) {
        return Err(LabError::refused(
            format!(
                "the plan keeps {depth} commands outstanding; {} takes {} at most",
                facts.name, depth_max
            ),
            "lower iodepth or numjobs (-o or -t), or open the target with a larger depth",
        ));
    }
    // All streams first: a plan that does not fit must not have written anything.
    let capacity = facts.capacity;
    plan.phases
        .iter()
        .map(|phase| lanes(phase, capacity))
        .collect()
}

/// Runs `plan` on `target` until it is done, `stop` is set, or the target fails. A failing target
/// is not an `Err`: the record says how the run ended and keeps what was measured.
///
/// # Errors
/// When the plan does not fit the target; nothing has been written then.
pub fn run<T: Target>(
    plan: &WorkloadPlan,
    target: &mut T,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<RunRecord, LabError> {
    let phases = lanes_of(plan, target.facts(), target.depth_max())?;
    let mut record = RunRecord {
        facts: target.facts().clone(),
        ending: RunEnding::Complete,
        jobs: Vec::new(),
        seconds: Vec::new(),
        counters: Vec::new(),
        cpu_ns: (0, 0),
        wall_ns: 0,
        checks: Vec::new(),
        notes: Vec::new(),
    };
    let wall = Instant::now();
    let cpu = cpu::process_time_ns();
    for ((number, phase), lanes) in plan.phases.iter().enumerate().zip(phases) {
        let goes_on = if phase.jobs.iter().any(|job| job.log_each) {
            logged::run(number, phase, lanes, target, observer, stop, &mut record)
        } else {
            PhaseEngine::new(number, phase, lanes, target, observer, stop).run(&mut record)
        };
        if !goes_on {
            break;
        }
    }
    record.cpu_ns = cpu::since(cpu);
    record.wall_ns = u64::try_from(wall.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let own = target.self_check().map_err(|error| error.to_string());
    record.checks.push(SelfCheck::new("target", own));
    Ok(record)
}
