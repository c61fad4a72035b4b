//! When a lane may issue its next command: rates and pauses.
//!
//! A rate is a schedule of due times from the lane's start, `issued / rate`, in integers: it does
//! not drift, and a lane held up by a slow device catches up at once (fio's `rate_process=linear`).
//! With Poisson arrivals, the time to the next command is drawn when one is issued.
//! In a mix, commands keep their order: a write that is not yet due holds back the reads behind
//! it. A pause begins once every command issued before it has completed, as in fio.

use super::search::DepthSearch;
use ssdlab_load::plan;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos, Op};

/// What was issued of one kind of command, and its limits.
#[derive(Clone, Copy, Debug, Default)]
struct Schedule {
    bytes_per_s: u64,
    per_s: u64,
    bytes: u64,
    count: u64,
    /// Of Poisson arrivals: when the next command is due.
    drawn: Nanos,
}

impl Schedule {
    /// Mean time to the command after one of `bytes`.
    fn interval(&self, bytes: u32) -> Nanos {
        let once = Schedule {
            bytes: u64::from(bytes),
            count: 1,
            ..*self
        };
        once.due()
    }

    /// Time since the lane's start at which the next command is due.
    fn due(&self) -> Nanos {
        let due_ns = |issued: u64, rate: u64| {
            if rate == 0 {
                0
            } else {
                u128::from(issued) * 1_000_000_000 / u128::from(rate)
            }
        };
        let ns = due_ns(self.bytes, self.bytes_per_s).max(due_ns(self.count, self.per_s));
        Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// May the lane issue?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IssueDecision {
    /// At once.
    Now,
    /// Not before this time.
    At(Nanos),
    /// Not before its outstanding commands, or some of them, have completed.
    WhenIdle,
}

/// Rates and pauses of one lane.
#[derive(Clone, Debug)]
pub(super) struct LanePace {
    /// From the start of the phase to `start`.
    delay: Nanos,
    start: Nanos,
    schedules: [Schedule; 3],
    /// Draws the times between commands of Poisson arrivals.
    poisson: Option<Rng>,
    think: Nanos,
    think_blocks: u32,
    since_pause: u32,
    /// Time at work between pauses; zero: `think_blocks` count.
    think_after: Nanos,
    /// When work goes on, or went on, after the last pause.
    resume: Nanos,
    /// Of a replay: when the next command is due, since the lane's start.
    due: Nanos,
    late: LateCommands,
    /// The next command waits for all before it.
    after_all: bool,
    /// Searches the depth.
    pub search: Option<Box<DepthSearch>>,
    /// Fills the queue in batches.
    pub refill: Option<QueueRefill>,
}

/// A queue that is filled, and filled again only when few commands are left in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueRefill {
    depth: u32,
    low: u32,
    /// It was full, and has not fallen to `low` since.
    drains: bool,
}

impl QueueRefill {
    /// Up to `depth` commands, again when `low` are outstanding.
    pub fn new(depth: u32, low: u32) -> QueueRefill {
        QueueRefill {
            depth,
            low,
            drains: false,
        }
    }

    /// Whether another command may be sent beside `outstanding` ones.
    fn allows(&mut self, outstanding: u32) -> bool {
        self.drains &= outstanding > self.low;
        !self.drains
    }
}

/// Commands of a replay that left after their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LateCommands {
    /// How many left later than [`LATE_FROM`].
    pub count: u64,
    /// By how much the latest was late.
    pub most: Nanos,
}

/// Commands that leave later than this are counted as late: less is the host's own timer.
pub(super) const LATE_FROM: Nanos = Nanos::from_millis(1);

impl LanePace {
    /// `None` when nothing is limited. `rng` draws the times of Poisson arrivals.
    pub fn new(pace: &plan::JobRateLimits, delay: Nanos, rng: Rng) -> Option<LanePace> {
        let limited = pace
            .rate_bytes
            .iter()
            .chain(&pace.rate_iops)
            .any(|&r| r > 0);
        if !limited && pace.think == Nanos::ZERO && delay == Nanos::ZERO {
            return None;
        }
        let mut schedules = [Schedule::default(); 3];
        for (i, schedule) in schedules.iter_mut().enumerate() {
            schedule.bytes_per_s = pace.rate_bytes[i];
            schedule.per_s = pace.rate_iops[i];
        }
        Some(LanePace {
            delay,
            start: Nanos::ZERO,
            schedules,
            poisson: pace.poisson.then_some(rng),
            think: pace.think,
            think_blocks: pace.think_blocks.max(1),
            think_after: pace.think_after,
            since_pause: 0,
            resume: Nanos::ZERO,
            due: Nanos::ZERO,
            late: LateCommands::default(),
            after_all: false,
            search: None,
            refill: None,
        })
    }

    /// No limits but those set for each command: see [`LanePace::next_due`] and
    /// [`LanePace::next_waits`].
    pub fn scheduled() -> LanePace {
        LanePace {
            delay: Nanos::ZERO,
            start: Nanos::ZERO,
            schedules: [Schedule::default(); 3],
            poisson: None,
            think: Nanos::ZERO,
            think_blocks: 1,
            think_after: Nanos::ZERO,
            since_pause: 0,
            resume: Nanos::ZERO,
            due: Nanos::ZERO,
            late: LateCommands::default(),
            after_all: false,
            search: None,
            refill: None,
        }
    }

    /// Whether the next command waits until all before it have completed.
    pub fn next_waits(&mut self, waits: bool) {
        self.after_all = waits;
    }

    /// The next command is due at `due` since the start.
    pub fn next_due(&mut self, due: Nanos) {
        self.due = due;
    }

    /// Commands that left late.
    pub fn late(&self) -> LateCommands {
        self.late
    }

    /// The phase begins `now`: schedules count from the end of the delay.
    pub fn begin(&mut self, now: Nanos) {
        self.start = now.saturating_add(self.delay);
        self.resume = self.start;
        if let Some(search) = &mut self.search {
            search.begin(self.start);
        }
    }

    /// Whether it is time for a pause.
    fn pauses(&self, now: Nanos) -> bool {
        if self.think == Nanos::ZERO {
            return false;
        }
        if self.think_after > Nanos::ZERO {
            return now.saturating_sub(self.resume) >= self.think_after;
        }
        self.since_pause >= self.think_blocks
    }

    /// Whether `command` may go at `now`, with `outstanding` commands of this lane under way.
    pub fn leave(&mut self, command: &Command, now: Nanos, outstanding: u32) -> IssueDecision {
        let searched = self.search.as_mut();
        if searched.is_some_and(|search| !search.allows(outstanding)) {
            return IssueDecision::WhenIdle;
        }
        if let Some(refill) = &mut self.refill
            && !refill.allows(outstanding)
        {
            return IssueDecision::WhenIdle;
        }
        if self.after_all && outstanding > 0 {
            return IssueDecision::WhenIdle;
        }
        if self.pauses(now) {
            if outstanding > 0 {
                return IssueDecision::WhenIdle;
            }
            self.since_pause = 0;
            self.resume = now.saturating_add(self.think);
        }
        let due = match schedule_of(command.op) {
            Some(i) if self.poisson.is_some() => self.start.saturating_add(self.schedules[i].drawn),
            Some(i) => self.start.saturating_add(self.schedules[i].due()),
            None => Nanos::ZERO,
        };
        let scheduled = self.start.saturating_add(self.due);
        let due = due.max(self.resume).max(scheduled);
        if due <= now {
            let late = now.saturating_sub(scheduled);
            if self.due > Nanos::ZERO && late > LATE_FROM {
                self.late.count += 1;
                self.late.most = self.late.most.max(late);
            }
            if let Some(refill) = &mut self.refill {
                refill.drains = outstanding + 1 >= refill.depth;
            }
            IssueDecision::Now
        } else {
            IssueDecision::At(due)
        }
    }

    /// `command` was issued.
    pub fn issued(&mut self, command: &Command) {
        if let Some(i) = schedule_of(command.op) {
            self.schedules[i].bytes += u64::from(command.len);
            self.schedules[i].count += 1;
            self.since_pause += 1;
            if let Some(rng) = &mut self.poisson {
                let mean = self.schedules[i].interval(command.len);
                let drawn = &mut self.schedules[i].drawn;
                *drawn = drawn.saturating_add(exponential(rng.next_u64(), mean));
            }
        }
    }
}

/// An exponentially distributed time, from 64 random bits; at most 37 times its mean.
pub fn exponential(bits: u64, mean: Nanos) -> Nanos {
    // 53 bits, never 0.
    let uniform = ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
    Nanos((-uniform.ln() * mean.0 as f64) as u64)
}

/// Flushes are neither limited nor counted towards a pause.
fn schedule_of(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(0),
        Op::Write | Op::WriteZeroes => Some(1),
        Op::Trim => Some(2),
        Op::Flush => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(change: impl FnOnce(&mut plan::JobRateLimits)) -> LanePace {
        let mut spec = plan::JobRateLimits::default();
        change(&mut spec);
        LanePace::new(&spec, Nanos::ZERO, Rng::new(1)).expect("limited")
    }

    #[test]
    fn nothing_limited_is_no_pace() {
        assert!(LanePace::new(&plan::JobRateLimits::default(), Nanos::ZERO, Rng::new(1)).is_none());
    }

    #[test]
    fn a_pause_comes_after_so_much_time_at_work() {
        let mut pace = pace(|p| {
            p.think = Nanos(500);
            p.think_after = Nanos(1_000);
        });
        let write = Command::write(0, 4096);
        pace.begin(Nanos(100));
        for now in [100, 600, 1_099] {
            assert_eq!(pace.leave(&write, Nanos(now), 3), IssueDecision::Now);
            pace.issued(&write);
        }
        assert_eq!(pace.leave(&write, Nanos(1_100), 3), IssueDecision::WhenIdle);
        let resume = IssueDecision::At(Nanos(1_650));
        assert_eq!(pace.leave(&write, Nanos(1_150), 0), resume);
        assert_eq!(pace.leave(&write, Nanos(1_649), 0), resume);
        assert_eq!(pace.leave(&write, Nanos(1_650), 0), IssueDecision::Now);
        assert_eq!(pace.leave(&write, Nanos(2_649), 0), IssueDecision::Now);
        assert_eq!(pace.leave(&write, Nanos(2_650), 1), IssueDecision::WhenIdle);
    }

    #[test]
    fn a_rate_that_does_not_divide_a_second_does_not_drift() {
        let mut pace = pace(|p| p.rate_iops[1] = 3);
        pace.begin(Nanos(1_000));
        let write = Command::write(0, 4096);
        for _ in 0..3_000_000u64 {
            pace.issued(&write);
        }
        let due = Nanos(1_000 + 1_000_000 * 1_000_000_000);
        assert_eq!(
            pace.leave(&write, Nanos(due.0 - 1), 0),
            IssueDecision::At(due)
        );
        assert_eq!(pace.leave(&write, due, 0), IssueDecision::Now);
    }

    /// fio's iodepth_low: the queue of 4 is filled, falls to 1, and is filled again.
    #[test]
    fn a_queue_is_filled_again_when_few_are_left() {
        let mut pace = LanePace::scheduled();
        pace.refill = Some(QueueRefill::new(4, 1));
        pace.begin(Nanos::ZERO);
        let write = Command::write(0, 4096);
        let mut goes = |outstanding| pace.leave(&write, Nanos::ZERO, outstanding);
        for outstanding in 0..4 {
            assert_eq!(goes(outstanding), IssueDecision::Now, "{outstanding}");
        }
        assert_eq!(goes(3), IssueDecision::WhenIdle);
        assert_eq!(goes(2), IssueDecision::WhenIdle);
        for outstanding in 1..4 {
            assert_eq!(goes(outstanding), IssueDecision::Now, "{outstanding}");
        }
    }

    /// The mean is the rate, and the deviation is the mean: exponential, not even. Reads and writes
    /// have schedules of their own.
    #[test]
    fn poisson_arrivals_keep_the_rate_and_are_exponential() {
        let mut pace = pace(|p| {
            p.rate_iops[1] = 1_000;
            p.poisson = true;
        });
        let write = Command::write(0, 4096);
        let (mut now, mut gaps) = (Nanos::ZERO, Vec::new());
        for _ in 0..100_000 {
            pace.issued(&write);
            let due = match pace.leave(&write, now, 0) {
                IssueDecision::At(due) => due,
                _ => now,
            };
            gaps.push((due - now).0 as f64 / 1e6);
            now = due;
        }
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() - 1.0).abs() < 0.02, "{variance}");
        let longer = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / count;
        assert!((longer - (-1.0f64).exp()).abs() < 0.01, "{longer}");
        assert_eq!(
            pace.leave(&Command::read(0, 512), Nanos(1), 0),
            IssueDecision::Now
        );
    }

    #[test]
    fn the_tighter_of_two_rates_holds() {
        let mut pace = pace(|p| {
            p.rate_iops[0] = 1_000;
            p.rate_bytes[0] = 4096 * 10;
        });
        pace.issued(&Command::read(0, 4096));
        let due = Nanos::from_millis(100);
        assert_eq!(
            pace.leave(&Command::read(0, 4096), Nanos(1), 0),
            IssueDecision::At(due)
        );
        assert_eq!(
            pace.leave(&Command::write(0, 4096), Nanos(1), 0),
            IssueDecision::Now
        );
    }

    #[test]
    fn a_pause_waits_for_what_is_outstanding() {
        let mut pace = pace(|p| {
            p.think = Nanos(500);
            p.think_blocks = 2;
        });
        let read = Command::read(0, 512);
        pace.issued(&read);
        assert_eq!(pace.leave(&read, Nanos(10), 1), IssueDecision::Now);
        pace.issued(&read);
        assert_eq!(pace.leave(&read, Nanos(20), 1), IssueDecision::WhenIdle);
        assert_eq!(
            pace.leave(&read, Nanos(30), 0),
            IssueDecision::At(Nanos(530))
        );
        assert_eq!(pace.leave(&read, Nanos(530), 0), IssueDecision::Now);
    }
}
