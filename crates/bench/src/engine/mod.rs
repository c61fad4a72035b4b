//! The host: runs a plan on a target and records what happens.
//!
//! One loop, one thread, for every target: it keeps each stream's commands outstanding, honours
//! rates and pauses, and counts. The loop is monomorphised per target. Its own cost on one core,
//! stream included, is some tens of nanoseconds per command (`benches/against_fio.py` measures).
//!
//! * A *lane* is one copy of one job with its stream ([`lane`]).
//! * The *ledger* counts: per second, and per job within its counted part ([`ledger`]).
//! * The *engine* moves commands between lanes and target ([`engine`]).
//!
//! Latency runs from the time the target reports a command as handed over until it reports it
//! done. A command counts when it completes within its job's counted part, whenever it was
//! handed over; commands still outstanding at the end are waited for but not counted. A
//! rate-limited lane that fell behind catches up at once, as fio does, so its latencies leave
//! out the wait for the schedule.

mod cpu;
mod engine;
mod lane;
mod ledger;
mod pace;
#[cfg(test)]
mod replay_tests;
#[cfg(test)]
pub(crate) mod tests;

use crate::device::{Target, TargetFacts};
use crate::record::{Ending, RunRecord, Second};
use lane::Lane;
use ssdlab_base::LabError;
use ssdlab_load::plan::{Phase, Plan};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Sees a run as it happens: progress, and results written as they come.
pub trait Observer {
    /// A second has been counted. `latencies` are that second's histograms in `Op` order.
    ///
    /// # Errors
    /// When results cannot be written: the run ends, and what was measured is kept.
    fn second(
        &mut self,
        second: &Second,
        latencies: &[ssdlab_base::latencies::Latencies],
    ) -> Result<(), LabError>;
}

/// An observer that looks away.
pub struct Unobserved;

impl Observer for Unobserved {
    fn second(
        &mut self,
        _: &Second,
        _: &[ssdlab_base::latencies::Latencies],
    ) -> Result<(), LabError> {
        Ok(())
    }
}

/// Commands outstanding at the same time that `plan` needs of its target.
pub fn depth_needed(plan: &Plan) -> u64 {
    plan.phases.iter().map(phase_depth).max().unwrap_or(0)
}

fn phase_depth(phase: &Phase) -> u64 {
    let depth = |job: &ssdlab_load::plan::JobSpec| u64::from(job.depth) * u64::from(job.copies);
    phase.jobs.iter().map(depth).sum()
}

/// Whether `plan` fits a target of these facts: what [`run`] checks before the first command.
///
/// # Errors
/// When it keeps more commands outstanding than the target takes, or a job's region does not fit.
pub fn check(plan: &Plan, facts: &TargetFacts, depth_max: u32) -> Result<(), LabError> {
    lanes_of(plan, facts, depth_max).map(|_| ())
}

/// All lanes of all phases, before anything is written.
fn lanes_of(plan: &Plan, facts: &TargetFacts, depth_max: u32) -> Result<Vec<Vec<Lane>>, LabError> {
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
        .map(|phase| lane::lanes(phase, capacity))
        .collect()
}

/// Runs `plan` on `target` until it is done, `stop` is set, or the target fails. A failing target
/// is not an `Err`: the record says how the run ended and keeps what was measured.
///
/// # Errors
/// When the plan does not fit the target; nothing has been written then.
pub fn run<T: Target>(
    plan: &Plan,
    target: &mut T,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<RunRecord, LabError> {
    let phases = lanes_of(plan, target.facts(), target.depth_max())?;
    let mut record = RunRecord {
        facts: target.facts().clone(),
        ending: Ending::Complete,
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
        let engine = engine::Engine::new(number, phase, lanes, target, observer, stop);
        engine.run(&mut record);
        if record.ending != Ending::Complete {
            break;
        }
    }
    record.cpu_ns = cpu::since(cpu);
    record.wall_ns = u64::try_from(wall.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let own = target.self_check().err().map(|error| error.to_string());
    record.checks.push((String::from("target"), own));
    Ok(record)
}
