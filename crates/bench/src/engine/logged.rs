//! Commands one by one, for jobs that want a log of them.
//!
//! A phase with such a job runs on the target wrapped in [`Logged`], which notes what goes in and
//! comes out by tag; the loop of other phases knows nothing of it and pays nothing. The
//! observer gets the commands of a second with that second.

use super::lane::Lane;
use super::observer::{LoggedCommand, Observer};
use super::phase::Engine;
use crate::device::health::HeatSeen;
use crate::device::{Counters, Done, Target, TargetFacts};
use crate::record::{Ending, RunRecord, Second};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_load::plan::Phase;
use ssdlab_ssd::{Command, Nanos};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// A command that has completed without error.
struct Entry {
    command: Command,
    tag: u32,
    submitted: Nanos,
    done: Nanos,
}

type Log = Rc<RefCell<Vec<Entry>>>;

/// Job and copy of a tag, and the time in which the job counts; `None`: not logged.
type Owner = Option<(u32, u32, Nanos, Nanos)>;

/// Runs a phase and logs the commands of the jobs that want it. Whether other phases follow it.
pub(super) fn run<T: Target>(
    number: usize,
    phase: &Phase,
    lanes: Vec<Lane>,
    target: &mut T,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    record: &mut RunRecord,
) -> bool {
    let log = Log::default();
    let mut watch = Watch {
        phase: number,
        owners: owners(phase, target.now()),
        log: Rc::clone(&log),
        observer,
    };
    let mut target = Logged {
        under_way: vec![Command::flush(); watch.owners.len()],
        target,
        log,
    };
    let engine = Engine::new(number, phase, lanes, &mut target, &mut watch, stop);
    let goes_on = engine.run(record);
    // Commands that completed at the instant at which the last second ended. After a stop, the
    // others were only waited for.
    if record.ending == Ending::Complete
        && let Err(error) = watch.pass_on()
    {
        record.ending = Ending::Failed(error.to_string());
    }
    goes_on && record.ending == Ending::Complete
}

/// By tag: lanes have theirs in order of job and copy.
fn owners(phase: &Phase, now: Nanos) -> Vec<Owner> {
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
struct Watch<'a> {
    phase: usize,
    owners: Vec<Owner>,
    log: Log,
    observer: &'a mut dyn Observer,
}

impl Watch<'_> {
    fn pass_on(&mut self) -> Result<(), LabError> {
        let entries = std::mem::take(&mut *self.log.borrow_mut());
        let counted = entries.iter().filter_map(|entry| {
            let (job, copy, from, to) = self.owners[entry.tag as usize]?;
            let counts = (from..to).contains(&entry.done);
            counts.then(|| LoggedCommand {
                phase: self.phase,
                job,
                copy,
                command: entry.command,
                at: entry.done.saturating_sub(from),
                latency: entry.done.saturating_sub(entry.submitted),
            })
        });
        let commands: Vec<LoggedCommand> = counted.collect();
        self.observer.commands(&commands)
    }
}

impl Observer for Watch<'_> {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        self.pass_on()?;
        self.observer.second(second, latencies)
    }
}

/// A target whose commands are noted.
struct Logged<'a, T: Target> {
    target: &'a mut T,
    under_way: Vec<Command>,
    log: Log,
}

impl<T: Target> Target for Logged<'_, T> {
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

    fn reap(&mut self, until: Option<Nanos>, done: &mut Vec<Done>) -> Result<(), LabError> {
        let before = done.len();
        let outcome = self.target.reap(until, done);
        let good = done[before..].iter().filter(|done| done.errno == 0);
        let entries = good.filter_map(|done| {
            let command = *self.under_way.get(done.tag as usize)?;
            Some(Entry {
                command,
                tag: done.tag,
                submitted: done.submitted,
                done: done.done,
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

    fn heat(&self) -> Option<HeatSeen> {
        self.target.heat()
    }

    fn self_check(&mut self) -> Result<(), LabError> {
        self.target.self_check()
    }
}
