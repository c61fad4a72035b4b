//! Commands one by one, for jobs that want a log of them.
//!
//! A phase with such a job runs on the target wrapped in [`LoggedTarget`], which records
//! submissions and completions by tag; other phases run without the wrapper and its cost. The
//! observer gets the commands of a second with that second.

use super::lane::Lane;
use super::observer::{LoggedCommand, Observer};
use super::phase::PhaseEngine;
use crate::device::health::ThermalSummary;
use crate::device::{Counters, Target, TargetCompletion, TargetFacts};
use crate::record::{RunEnding, RunRecord, Second};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_load::plan::PlanPhase;
use ssdlab_ssd::{Command, Nanos};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// A command that has completed without error.
struct CompletedEntry {
    command: Command,
    tag: u32,
    submitted: Nanos,
    completed: Nanos,
}

type SharedCommandLog = Rc<RefCell<Vec<CompletedEntry>>>;

/// Job and copy of a tag, and the time in which the job counts; `None`: not logged.
type TagOwner = Option<(u32, u32, Nanos, Nanos)>;

/// Runs a phase and logs the commands of jobs that ask for it. Returns whether others follow.
pub(super) fn run<T: Target>(
    number: usize,
    phase: &PlanPhase,
    lanes: Vec<Lane>,
    target: &mut T,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    record: &mut RunRecord,
) -> bool {
    let log = SharedCommandLog::default();
    let mut watch = CommandLogObserver {
        phase: number,
        owners: owners(phase, target.now()),
        log: Rc::clone(&log),
        observer,
    };
    let mut target = LoggedTarget {
        under_way: vec![Command::flush(); watch.owners.len()],
        target,
        log,
    };
    let engine = PhaseEngine::new(number, phase, lanes, &mut target, &mut watch, stop);
    let goes_on = engine.run(record);
    // Commands that completed at the instant at which the last second ended. After a stop, the
    // others were only waited for.
    if record.ending == RunEnding::Complete
        && let Err(error) = watch.pass_on()
    {
        record.ending = RunEnding::Failed(error.to_string());
    }
    goes_on && record.ending == RunEnding::Complete
}

/// By tag: lanes have theirs in order of job and copy.
fn owners(phase: &PlanPhase, now: Nanos) -> Vec<TagOwner> {
    let mut owners = Vec::new();
    for (number, job) in phase.jobs.iter().enumerate() {
        let from = now.saturating_add(job.time.delay + job.time.ramp);
        let end = |run| from.saturating_add(run);
        let to = job.time.run.map_or(Nanos::MAX, end);
        for copy in 0..job.copies {
            let owner = job.log_each.then_some((number as u32, copy, from, to));
            owners.extend((0..job.depth).map(|_| owner));
        }
    }
    owners
}

/// Passes the commands of a second on before the second itself.
struct CommandLogObserver<'a> {
    phase: usize,
    owners: Vec<TagOwner>,
    log: SharedCommandLog,
    observer: &'a mut dyn Observer,
}

impl CommandLogObserver<'_> {
    fn pass_on(&mut self) -> Result<(), LabError> {
        let entries = std::mem::take(&mut *self.log.borrow_mut());
        let counted = entries.iter().filter_map(|entry| {
            let (job, copy, from, to) = self.owners[entry.tag as usize]?;
            let counts = (from..to).contains(&entry.completed);
            counts.then(|| LoggedCommand {
                phase: self.phase,
                job,
                copy,
                command: entry.command,
                at: entry.completed.saturating_sub(from),
                latency: entry.completed.saturating_sub(entry.submitted),
            })
        });
        let commands: Vec<LoggedCommand> = counted.collect();
        self.observer.commands(&commands)
    }
}

impl Observer for CommandLogObserver<'_> {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        self.pass_on()?;
        self.observer.second(second, latencies)
    }
}

/// A target whose commands are recorded.
struct LoggedTarget<'a, T: Target> {
    target: &'a mut T,
    under_way: Vec<Command>,
    log: SharedCommandLog,
}

impl<T: Target> Target for LoggedTarget<'_, T> {
    fn facts(&self) -> &TargetFacts {
        self.target.facts()
    }

    fn depth_max(&self) -> u32 {
        self.target.depth_max()
    }

    fn now(&mut self) -> Nanos {
        self.target.now()
    }

    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        self.under_way[tag as usize] = *command;
        self.target.submit(tag, command)
    }

    fn reap(
        &mut self,
        until: Option<Nanos>,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let before = completions.len();
        let outcome = self.target.reap(until, completions);
        let good = completions[before..]
            .iter()
            .filter(|completion| completion.errno == 0);
        let entries = good.filter_map(|completion| {
            let command = *self.under_way.get(completion.tag as usize)?;
            Some(CompletedEntry {
                command,
                tag: completion.tag,
                submitted: completion.submitted,
                completed: completion.done,
            })
        });
        self.log.borrow_mut().extend(entries);
        outcome
    }

    fn prefetch(&self, command: &Command) {
        self.target.prefetch(command);
    }

    fn counters(&mut self) -> Counters {
        self.target.counters()
    }

    fn heat(&self) -> Option<ThermalSummary> {
        self.target.heat()
    }

    fn self_check(&mut self) -> Result<(), LabError> {
        self.target.self_check()
    }
}
