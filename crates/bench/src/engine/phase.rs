//! The loop that moves commands between lanes and target, for one phase.

use super::flows::Flows;
use super::lane::Lane;
use super::ledger::PhaseLedger;
use super::observer::Observer;
use super::pace::IssueDecision;
use super::pools::Pools;
use crate::device::status::{NvmeStatus, error_of};
use crate::device::{Target, TargetCompletion, TargetKind};
use crate::record::{RunEnding, RunRecord};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_load::plan::{ExitScope, JobSpec, PlanPhase};
use ssdlab_ssd::{Command, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

/// A real target is never waited for longer than this at a time, so that a stop is seen.
const WAIT_MAX: Nanos = Nanos::from_millis(200);
/// A command outstanding for this long after the end counts as lost.
const DRAIN_MAX: Nanos = Nanos::from_secs(120);
/// Number of failed commands in a row that ends a run whose errors are otherwise only counted.
const FAILURES_MAX: u32 = 100;
// Linux's numbers on every system: targets give them.
const EIO: i32 = 5;
/// A block holds something else than was written: fio's error for that, too.
const EILSEQ: i32 = 84;
const ENOSPC: i32 = 28;

/// A command under way, by tag.
#[derive(Clone, Copy)]
struct TagSlot {
    command: Command,
    lane: u32,
    /// [`PhaseEngine::round`] in which it was submitted; 0 when the tag is idle.
    round: u32,
}

/// Outstanding commands integrated over time, independently of the latencies: by Little's law
/// the two must agree.
struct LittleCheck {
    /// Commands times nanoseconds, if each is handed over when the target is next entered.
    area: u128,
    /// More, if each is handed over at the completion that made room for it. The target decides.
    area_early: u128,
    last: Nanos,
    outstanding: u32,
    /// Submitted since the target was last entered; under way from its next entry on at latest.
    fresh: u32,
    latency_sum: u128,
    /// Time of the last entry, and time between the entry and the hand-over of commands that
    /// completed in the same one: the thread may lose its processor there.
    entered: Nanos,
    handing_over: u128,
    entries: u64,
}

/// Runs one phase.
pub(super) struct PhaseEngine<'a, T: Target> {
    target: &'a mut T,
    stop: &'a AtomicBool,
    phase: usize,
    lanes: Vec<Lane>,
    slots: Vec<TagSlot>,
    /// Lanes that wait for a time.
    waiting: BinaryHeap<Reverse<(Nanos, u32)>>,
    ledger: PhaseLedger<'a>,
    little: LittleCheck,
    wait_max: Nanos,
    submitted: u64,
    completed: u64,
    strays: u64,
    failures: u32,
    /// Times the target was entered, never 0 (wraps).
    round: u32,
    /// The round before.
    round_before: u32,
    flows: Flows,
    pools: Pools,
    /// By job: its group, and the jobs that stop when it exits.
    exits: Vec<(u32, Option<ExitScope>)>,
    /// By job: a block that fails verification does not end the run.
    go_on: Vec<bool>,
    /// The phases after this one do not run.
    ends_all: bool,
}

impl<'a, T: Target> PhaseEngine<'a, T> {
    pub fn new(
        number: usize,
        phase: &PlanPhase,
        mut lanes: Vec<Lane>,
        target: &'a mut T,
        observer: &'a mut dyn Observer,
        stop: &'a AtomicBool,
    ) -> PhaseEngine<'a, T> {
        let ledger = PhaseLedger::new(number, phase, target, observer);
        let kind = target.facts().kind;
        let modelled = matches!(kind, TargetKind::Modelled | TargetKind::Volume);
        let tags = lanes.iter().map(|lane| lane.idle.len()).sum();
        let pools = Pools::new(phase, &mut lanes);
        let unused = TagSlot {
            command: Command::flush(),
            lane: 0,
            round: 0,
        };
        PhaseEngine {
            stop,
            phase: number,
            lanes,
            slots: vec![unused; tags],
            waiting: BinaryHeap::new(),
            ledger,
            little: LittleCheck {
                area: 0,
                area_early: 0,
                last: target.now(),
                outstanding: 0,
                fresh: 0,
                latency_sum: 0,
                entered: Nanos::ZERO,
                handing_over: 0,
                entries: 0,
            },
            wait_max: if modelled { Nanos::MAX } else { WAIT_MAX },
            submitted: 0,
            completed: 0,
            strays: 0,
            failures: 0,
            round: 1,
            round_before: 0,
            flows: Flows::new(phase),
            pools,
            exits: phase.jobs.iter().map(exit_of).collect(),
            go_on: phase.jobs.iter().map(goes_on).collect(),
            ends_all: false,
            target,
        }
    }

    /// Runs the phase to its end and writes it into `record`. Returns whether others follow it.
    pub fn run(mut self, record: &mut RunRecord) -> bool {
        let outcome = self.work();
        let time = self.target.now();
        let stopped = self.ledger.stop(time, self.target);
        let mut drained = self.drain();
        if drained.is_ok() && matches!(outcome, Ok(RunEnding::Complete)) {
            drained = self.flush_at_end();
        }
        record.ending = match outcome.and_then(|ending| {
            stopped?;
            drained?;
            Ok(ending)
        }) {
            Ok(ending) => ending,
            Err(error) => RunEnding::Failed(error.to_string()),
        };
        self.check(record);
        record
            .notes
            .extend(self.lanes.iter().filter_map(Lane::note));
        self.ledger.close(record);
        !self.ends_all && record.ending == RunEnding::Complete
    }

    /// Until every job is over or the user stops.
    fn work(&mut self) -> Result<RunEnding, LabError> {
        let time = self.target.now();
        self.ledger.pass(time, self.target)?;
        for lane in 0..self.lanes.len() {
            if let Some(pace) = &mut self.lanes[lane].pace {
                pace.begin(time);
            }
            self.issue(lane, time)?;
        }
        let mut completions = Vec::with_capacity(self.slots.len());
        while !self.ledger.all_over() {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(RunEnding::Interrupted);
            }
            let entered = self.enter();
            let mut until = self.ledger.boundary;
            until = until.min(entered.saturating_add(self.wait_max));
            if let Some(Reverse((due, _))) = self.waiting.peek() {
                until = until.min(*due);
            }
            self.target.reap(Some(until), &mut completions)?;
            for finished in &completions {
                self.complete(finished, true)?;
            }
            let time = match completions.last() {
                Some(last) => last.done,
                None => self.target.now(),
            };
            completions.clear();
            if time >= self.ledger.boundary {
                self.pass(time)?;
            }
            if !self.waiting.is_empty() {
                self.wake(time)?;
            }
        }
        Ok(RunEnding::Complete)
    }

    /// The target is about to be entered: what was submitted is under way from now on.
    #[inline]
    fn enter(&mut self) -> Nanos {
        let time = self.target.now();
        let little = &mut self.little;
        little.advance(time);
        little.fresh = 0;
        little.entered = time;
        little.entries += 1;
        self.round_before = self.round;
        self.round = self.round.wrapping_add(1).max(1);
        time
    }

    /// One command is done: count it and, if `refill`, let its lane issue the next.
    #[inline]
    fn complete(&mut self, completion: &TargetCompletion, refill: bool) -> Result<(), LabError> {
        let slot = self.slots.get_mut(completion.tag as usize);
        // What was submitted since the target was entered cannot have completed: a second
        // completion of the tag's command before.
        let Some(slot) = slot.filter(|slot| slot.round != 0 && slot.round != self.round) else {
            self.strays += 1;
            return Ok(());
        };
        let handed_over_now = slot.round == self.round_before;
        slot.round = 0;
        let TagSlot { command, lane, .. } = *slot;
        self.completed += 1;
        let latency = completion.done.saturating_sub(completion.submitted);
        let little = &mut self.little;
        little.advance(completion.done);
        little.outstanding -= 1;
        little.latency_sum += u128::from(latency.0);
        if handed_over_now {
            let wait = completion.submitted.saturating_sub(little.entered);
            little.handing_over += u128::from(wait.0);
        }
        if completion.done >= self.ledger.boundary {
            self.pass(completion.done)?;
        }
        let lane_index = lane as usize;
        let job = self.lanes[lane_index].job;
        if completion.errno == 0 {
            self.ledger.count(job, command.op, latency, command.len);
            self.failures = 0;
        } else {
            self.fail(job, &command, completion.errno)?;
        }
        let lane = &mut self.lanes[lane_index];
        lane.outstanding -= 1;
        if lane.pace.is_some() {
            lane.search(latency, completion.done);
        } else if refill && lane.open && lane.next.is_some() {
            // The common case, written out: no limits, and more to do.
            return self.submit(lane_index, completion.tag);
        }
        let to = self.pools.next(lane_index, &self.lanes);
        self.lanes[to].idle.push(completion.tag);
        if refill {
            self.issue(to, completion.done)?;
            if to != lane_index {
                // It may be over.
                self.issue(lane_index, completion.done)?;
            }
        }
        Ok(())
    }

    /// Hands over the lane's next command and prepares the one after it.
    #[inline]
    fn submit(&mut self, lane_index: usize, tag: u32) -> Result<(), LabError> {
        let lane = &mut self.lanes[lane_index];
        let Some(command) = lane.next else {
            return Ok(());
        };
        lane.outstanding += 1;
        let slot = &mut self.slots[tag as usize];
        *slot = TagSlot {
            command,
            lane: lane_index as u32,
            round: self.round,
        };
        self.little.outstanding += 1;
        self.little.fresh += 1;
        self.submitted += 1;
        self.target.submit(tag, &slot.command)?;
        if let Some(next) = lane.advance() {
            self.target.prefetch(next);
        }
        Ok(())
    }

    /// Issues what the lane may issue at `now`, and what lanes of its flow may then.
    fn issue(&mut self, lane_index: usize, now: Nanos) -> Result<(), LabError> {
        let before = self.submitted;
        self.issue_alone(lane_index, now)?;
        let mut issued = self.submitted != before || !self.lanes[lane_index].open;
        while issued && !self.flows.held.is_empty() {
            let before = self.submitted;
            for lane in std::mem::take(&mut self.flows.held) {
                self.issue_alone(lane as usize, now)?;
            }
            issued = self.submitted != before;
        }
        Ok(())
    }

    fn issue_alone(&mut self, lane_index: usize, now: Nanos) -> Result<(), LabError> {
        loop {
            let lane = &mut self.lanes[lane_index];
            if !lane.open {
                return Ok(());
            }
            let Some(next) = lane.next else {
                if let Some(failure) = lane.failure() {
                    return Err(failure);
                }
                if lane.outstanding == 0 {
                    lane.open = false;
                    let job = lane.job;
                    self.flows.leave(lane_index);
                    self.ledger.lane_over(job, now, self.target)?;
                    return self.over(job, now);
                }
                return Ok(());
            };
            if lane.waiting || lane.idle.is_empty() {
                return Ok(());
            }
            if let Some(pace) = &mut lane.pace {
                if self.flows.holds(lane_index) {
                    return Ok(());
                }
                match pace.leave(&next, now, lane.outstanding) {
                    IssueDecision::Now => {
                        pace.issued(&next);
                        self.flows.issued(lane_index);
                    }
                    IssueDecision::At(due) => {
                        lane.waiting = true;
                        self.waiting.push(Reverse((due, lane_index as u32)));
                        return Ok(());
                    }
                    IssueDecision::WhenIdle => return Ok(()),
                }
            }
            if let Some(tag) = lane.idle.pop() {
                self.submit(lane_index, tag)?;
            }
        }
    }

    /// Issues for lanes whose time has come.
    fn wake(&mut self, now: Nanos) -> Result<(), LabError> {
        while let Some(&Reverse((due, lane))) = self.waiting.peek() {
            if due > now {
                break;
            }
            self.waiting.pop();
            self.lanes[lane as usize].waiting = false;
            self.issue(lane as usize, now)?;
        }
        Ok(())
    }

    /// A boundary has been reached: seconds end, jobs begin and end.
    #[cold]
    fn pass(&mut self, now: Nanos) -> Result<(), LabError> {
        self.ledger.pass(now, self.target)?;
        for lane_index in 0..self.lanes.len() {
            let lane = &mut self.lanes[lane_index];
            if lane.open && self.ledger.quit(lane.job) {
                lane.open = false;
                let job = lane.job;
                self.flows.leave(lane_index);
                self.over(job, now)?;
            }
        }
        for lane in std::mem::take(&mut self.flows.held) {
            self.issue(lane as usize, now)?;
        }
        Ok(())
    }

    /// A lane of `job` is over: the jobs that end with it end now.
    #[cold]
    fn over(&mut self, job: u32, now: Nanos) -> Result<(), LabError> {
        let (group, exit) = self.exits[job as usize];
        let Some(exit) = exit else {
            return Ok(());
        };
        self.exits[job as usize].1 = None;
        self.ends_all |= exit == ExitScope::All;
        for member in 0..self.exits.len() {
            if exit != ExitScope::Group || self.exits[member].0 == group {
                self.ledger.end(member, now, self.target)?;
            }
        }
        for lane_index in 0..self.lanes.len() {
            let lane = &mut self.lanes[lane_index];
            if lane.open && self.ledger.quit(lane.job) {
                lane.open = false;
                let ended = lane.job;
                self.flows.leave(lane_index);
                // It may end other jobs, too.
                self.over(ended, now)?;
            }
        }
        Ok(())
    }

    /// A command failed. A full or broken device ends the run at once.
    #[cold]
    fn fail(&mut self, job: u32, command: &Command, errno: i32) -> Result<(), LabError> {
        self.ledger.count_error(job, command.op);
        if errno == EILSEQ && self.go_on[job as usize] {
            return Ok(());
        }
        self.failures += 1;
        let status = NvmeStatus::in_errno(errno);
        let at_once = status.is_some() || [EIO, EILSEQ, ENOSPC].contains(&errno);
        if !at_once && self.failures < FAILURES_MAX {
            return Ok(());
        }
        let hint = match (status, errno) {
            (Some(status), _) => status.hint(),
            (_, EILSEQ) => {
                "the block holds something else than was written; continue_on_error=verify goes on"
            }
            (_, ENOSPC) => "free some space, or use a smaller file",
            (_, EIO) => "see the kernel log (dmesg) and the drive's SMART log",
            _ => "every command fails alike: the target does not take this kind of command",
        };
        Err(LabError::Io {
            target: self.target.facts().name.clone(),
            op: command.op.name(),
            offset: command.offset,
            len: command.len,
            source: error_of(errno),
            hint: String::from(hint),
        })
    }

    /// The last flush of jobs that a time limit has ended; it counts no more.
    fn flush_at_end(&mut self) -> Result<(), LabError> {
        for lane_index in 0..self.lanes.len() {
            let lane = &mut self.lanes[lane_index];
            if lane.flush_at_end()
                && let Some(tag) = lane.idle.pop()
            {
                self.submit(lane_index, tag)?;
            }
        }
        self.drain()
    }

    /// Waits for everything outstanding; nothing of it counts.
    fn drain(&mut self) -> Result<(), LabError> {
        let mut completions = Vec::new();
        let give_up = self.target.now().saturating_add(DRAIN_MAX);
        while self.little.outstanding > 0 {
            let time = self.enter();
            if time >= give_up {
                let message = format!(
                    "{}: {} commands have not completed {DRAIN_MAX} after the end",
                    self.target.facts().name,
                    self.little.outstanding
                );
                return Err(LabError::refused(message, "see the kernel log (dmesg)"));
            }
            let until = time.saturating_add(WAIT_MAX).min(give_up);
            self.target.reap(Some(until), &mut completions)?;
            for finished in completions.drain(..) {
                self.complete(&finished, false)?;
            }
        }
        Ok(())
    }

    fn check(&self, record: &mut RunRecord) {
        let once = self.strays == 0 && self.submitted == self.completed;
        let counts = format!(
            "{} submitted, {} completed, {} completions of nothing under way",
            self.submitted, self.completed, self.strays
        );
        let name = format!("phase {}: every command completed once", self.phase);
        let failure = (!once).then_some(counts);
        record.checks.push(SelfCheck { name, failure });
        let name = format!("phase {}: Little's law", self.phase);
        let failure = self.little.contradiction(self.submitted, self.wait_max);
        record.checks.push(SelfCheck { name, failure });
    }
}

/// Group of a job, and the jobs that stop when it exits.
fn exit_of(job: &JobSpec) -> (u32, Option<ExitScope>) {
    (job.ties.group, job.ties.exit)
}

fn goes_on(job: &JobSpec) -> bool {
    job.verify.is_some_and(|verify| verify.go_on)
}

impl LittleCheck {
    #[inline]
    fn advance(&mut self, now: Nanos) {
        // Most completions of one entry share its time.
        if now <= self.last {
            return;
        }
        let passed = u128::from(now.0 - self.last.0);
        self.area += u128::from(self.outstanding - self.fresh) * passed;
        self.area_early += u128::from(self.fresh) * passed;
        self.last = now;
    }

    /// What is wrong, if the sum of latencies lies outside the integral's two bounds by more
    /// than sampling explains.
    ///
    /// In virtual time the integral is exact but for the order of simultaneous events. On a real
    /// clock a command's hand-over and its entry here are two readings, some tens of ns apart and
    /// more when the thread is preempted between them: the known part of that is subtracted.
    fn contradiction(&self, commands: u64, wait_max: Nanos) -> Option<String> {
        let slack = if wait_max == Nanos::MAX {
            self.latency_sum / 1000
        } else {
            let readings = 100 * u128::from(commands.max(self.entries));
            self.latency_sum / 100 + readings + 50_000_000
        };
        let area = self.area.saturating_sub(self.handing_over);
        let low = area.saturating_sub(slack);
        let high = area + self.area_early + slack;
        (!(low..=high).contains(&self.latency_sum)).then(|| {
            format!(
                "outstanding commands integrate to {} to {} ns, latencies sum to {} ns",
                self.area,
                self.area + self.area_early,
                self.latency_sum
            )
        })
    }
}
