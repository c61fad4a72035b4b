//! What is counted: seconds of a phase, and each job's totals over its counted part.
//!
//! A completion is recorded once, in its job's *span*: statistics since the last boundary. A
//! boundary is the end of a second, or the start or end of a job's counted part; there the span
//! is folded into the second's row and, if the job was being counted, into its totals.
//!
//! Seconds are aligned with the start of the first counted part. Those of the ramp have negative
//! numbers, and the earliest is short when the ramp is not whole seconds. The cool-down is not
//! recorded.

use super::observer::Observer;
use super::steady::Criterion;
use crate::device::{Counters, Target};
use crate::record::{JobRecord, OpSecond, OpStats, PhaseCounters, RunRecord, Second};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_base::latencies::{Latencies, latencies, merge_latencies};
use ssdlab_load::plan::{JobSpec, PlanPhase};
use ssdlab_ssd::{Nanos, Op};

const SECOND: u64 = 1_000_000_000;

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountingState {
    Ramp,
    Counted,
    CoolDown,
    Over,
}

/// One job's window and totals.
struct LedgerJob {
    state: CountingState,
    from: Nanos,
    to: Nanos,
    quit: Nanos,
    lanes: u32,
    totals: JobRecord,
    /// Completed since the row began while counted, for IOPS samples.
    row_counts: [u64; Op::COUNT],
    rows: usize,
    uncounted: u64,
}

/// The second being counted.
struct LedgerRow {
    start: Nanos,
    end: Nanos,
    t_s: i64,
    sums: [(u64, u64, u128, u64); Op::COUNT],
    latencies: Vec<Latencies>,
    counters: Counters,
}

/// Counts one phase.
pub(super) struct PhaseLedger<'a> {
    observer: &'a mut dyn Observer,
    phase: usize,
    jobs: Vec<LedgerJob>,
    /// Per job and op, made when first needed: an op never used costs nothing.
    spans: Vec<Option<Box<OpStats>>>,
    row: LedgerRow,
    seconds: Vec<Second>,
    counters: PhaseCounters,
    counting_began: bool,
    series_open: bool,
    /// The next instant at which [`PhaseLedger::pass`] has something to do.
    pub boundary: Nanos,
    recorded: u64,
    rows_sum: u64,
    criteria: Vec<Criterion>,
}

impl<'a> PhaseLedger<'a> {
    /// A phase that begins `now`; `lanes` per job, in order.
    pub fn new<T: Target>(
        number: usize,
        phase: &PlanPhase,
        target: &mut T,
        observer: &'a mut dyn Observer,
    ) -> PhaseLedger<'a> {
        let time = target.now();
        let jobs: Vec<LedgerJob> = phase
            .jobs
            .iter()
            .enumerate()
            .map(|(position, spec)| LedgerJob::new(number, position, spec, time))
            .collect();
        let origin = jobs.iter().map(|job| job.from).min().unwrap_or(time);
        let ramp = origin.saturating_sub(time).0;
        let whole = ramp.div_ceil(SECOND);
        let mut ledger = PhaseLedger {
            observer,
            phase: number,
            spans: (0..jobs.len() * Op::COUNT).map(|_| None).collect(),
            jobs,
            row: LedgerRow {
                start: time,
                end: Nanos(origin.0 - whole.saturating_sub(1) * SECOND),
                t_s: -(whole as i64),
                sums: [(0, 0, 0, 0); Op::COUNT],
                latencies: (0..Op::COUNT).map(|_| latencies()).collect(),
                counters: target.counters(),
            },
            seconds: Vec::new(),
            counters: PhaseCounters {
                before: Counters::default(),
                after: Counters::default(),
            },
            counting_began: false,
            series_open: true,
            boundary: time,
            recorded: 0,
            rows_sum: 0,
            criteria: Criterion::of(phase),
        };
        if whole == 0 {
            ledger.row.end = Nanos(origin.0 + SECOND);
        }
        ledger
    }

    /// Records a command of `job` that completed before [`PhaseLedger::boundary`].
    #[inline]
    pub fn count(&mut self, job: u32, op: Op, latency: Nanos, bytes: u32) {
        if self.series_open {
            self.recorded += 1;
            let index = job as usize * Op::COUNT + op as usize;
            self.spans[index]
                .get_or_insert_default()
                .record(latency, bytes);
        }
    }

    /// Records a command of `job` that failed.
    pub fn count_error(&mut self, job: u32, op: Op) {
        let index = job as usize * Op::COUNT + op as usize;
        self.spans[index].get_or_insert_default().errors += 1;
    }

    /// Whether `job` has reached the end of its time, cool-down included.
    pub fn quit(&self, job: u32) -> bool {
        self.jobs[job as usize].state == CountingState::Over
    }

    /// Whether every job is over.
    pub fn all_over(&self) -> bool {
        self.jobs.iter().all(|job| job.state == CountingState::Over)
    }

    /// A lane of `job` issues nothing more and has nothing under way.
    pub fn lane_over<T: Target>(
        &mut self,
        job: u32,
        now: Nanos,
        target: &mut T,
    ) -> Result<(), LabError> {
        let index = job as usize;
        self.jobs[index].lanes -= 1;
        if self.jobs[index].lanes > 0 || self.jobs[index].state == CountingState::Over {
            return Ok(());
        }
        self.fold(index);
        let job = &mut self.jobs[index];
        if job.state == CountingState::Counted {
            job.to = now;
            job.totals.length = now.saturating_sub(job.from);
        }
        job.state = CountingState::Over;
        self.close_series_if_done(now, target)?;
        self.find_boundary();
        Ok(())
    }

    /// Handles every boundary up to `now`.
    pub fn pass<T: Target>(&mut self, now: Nanos, target: &mut T) -> Result<(), LabError> {
        while self.boundary <= now {
            let time = self.boundary;
            for job in 0..self.jobs.len() {
                self.advance(job, time, target);
            }
            if self.series_open && time >= self.row.end {
                self.end_row(time, target)?;
            }
            self.close_series_if_done(time, target)?;
            self.find_boundary();
        }
        Ok(())
    }

    /// Ends all counting: the run was stopped.
    pub fn stop<T: Target>(&mut self, now: Nanos, target: &mut T) -> Result<(), LabError> {
        (0..self.jobs.len()).for_each(|job| self.finish(job, now));
        self.close_series_if_done(now, target)
    }

    /// Ends `job` before its time.
    pub fn end<T: Target>(
        &mut self,
        job: usize,
        now: Nanos,
        target: &mut T,
    ) -> Result<(), LabError> {
        if self.jobs[job].state == CountingState::Over {
            return Ok(());
        }
        self.finish(job, now);
        self.close_series_if_done(now, target)?;
        self.find_boundary();
        Ok(())
    }

    fn finish(&mut self, job: usize, now: Nanos) {
        self.fold(job);
        let job = &mut self.jobs[job];
        if job.state == CountingState::Counted {
            job.to = now;
            job.totals.length = now.saturating_sub(job.from);
        }
        job.state = CountingState::Over;
    }

    /// Ends the jobs whose rate is steady, at the end of a second of `length_s`.
    #[cold]
    fn judge(&mut self, time: Nanos, length_s: f64) {
        let mut criteria = std::mem::take(&mut self.criteria);
        for criterion in &mut criteria {
            let jobs = criterion.jobs.iter().map(|job| &self.jobs[*job]);
            let ops = jobs.clone().flat_map(|job| &job.totals.ops);
            let count = ops.clone().map(|op| op.count).sum();
            let bytes = ops.map(|op| op.bytes).sum();
            let from = jobs.map(|job| job.from).max().unwrap_or(time);
            if criterion.second(time.saturating_sub(from), length_s, count, bytes) {
                criterion
                    .jobs
                    .iter()
                    .for_each(|job| self.finish(*job, time));
            }
        }
        self.criteria = criteria;
    }

    /// Moves what was counted into `record`, with the ledger's own checks.
    pub fn close(self, record: &mut RunRecord) {
        let counted: u64 = self
            .jobs
            .iter()
            .map(|job| job.uncounted + job.totals.ops.iter().map(|op| op.count).sum::<u64>())
            .sum();
        let agree = counted == self.recorded && self.rows_sum == self.recorded;
        let counts = format!(
            "{} commands recorded, {} in the seconds, {counted} in the jobs",
            self.recorded, self.rows_sum
        );
        let name = format!("phase {}: seconds and jobs add up", self.phase);
        let failure = (!agree).then_some(counts);
        record.checks.push(SelfCheck { name, failure });
        let ops = self.jobs.iter().flat_map(|job| &job.totals.ops);
        let whole = ops.clone().all(|op| op.latencies.len() == op.count);
        let name = format!("phase {}: histograms are complete", self.phase);
        let mismatch =
            String::from("a histogram holds another number of latencies than were counted");
        let failure = (!whole).then_some(mismatch);
        record.checks.push(SelfCheck { name, failure });
        let notes = self.criteria.iter().map(Criterion::note);
        record.notes.extend(notes);
        record.seconds.extend(self.seconds);
        record.counters.push(self.counters);
        record
            .jobs
            .extend(self.jobs.into_iter().map(|job| job.totals));
    }

    /// Moves `job` from one state to the next at `time`.
    fn advance<T: Target>(&mut self, job: usize, time: Nanos, target: &mut T) {
        if self.jobs[job].next_change() > time {
            return;
        }
        self.fold(job);
        let job = &mut self.jobs[job];
        if job.state == CountingState::Ramp && job.from <= time {
            job.state = CountingState::Counted;
            if !self.counting_began {
                self.counting_began = true;
                self.counters.before = target.counters();
            }
        }
        if job.state == CountingState::Counted && job.to <= time {
            job.state = CountingState::CoolDown;
            job.totals.length = job.to.saturating_sub(job.from);
        }
        if job.state == CountingState::CoolDown && job.quit <= time {
            job.state = CountingState::Over;
        }
    }

    /// Empties the spans of `job` into the row and, while it is counted, its totals.
    fn fold(&mut self, job: usize) {
        let spans = &mut self.spans[job * Op::COUNT..(job + 1) * Op::COUNT];
        let job = &mut self.jobs[job];
        for (op, span) in spans.iter_mut().enumerate() {
            let Some(span) = span else { continue };
            if span.count == 0 && span.errors == 0 {
                continue;
            }
            let sums = &mut self.row.sums[op];
            sums.0 += span.count;
            sums.1 += span.bytes;
            sums.2 += span.latency_ns_sum;
            sums.3 = sums.3.max(span.latency_ns_max);
            if span.count > 0 {
                merge_latencies(&mut self.row.latencies[op], &span.latencies);
            }
            if job.state == CountingState::Counted {
                job.totals.ops[op].merge(span);
                job.row_counts[op] += span.count;
            } else {
                job.uncounted += span.count;
            }
            span.clear();
        }
    }

    fn close_series_if_done<T: Target>(
        &mut self,
        time: Nanos,
        target: &mut T,
    ) -> Result<(), LabError> {
        let live =
            |job: &LedgerJob| matches!(job.state, CountingState::Ramp | CountingState::Counted);
        if !self.series_open || self.jobs.iter().any(live) {
            return Ok(());
        }
        if time > self.row.start {
            self.end_row(time, target)?;
        } else {
            (0..self.jobs.len()).for_each(|job| self.fold(job));
            // An instant without length has no row; its commands still must not get lost.
            self.rows_sum += self.row.sums.iter().map(|sums| sums.0).sum::<u64>();
        }
        self.series_open = false;
        self.counters.after = target.counters();
        if !self.counting_began {
            self.counters.before = self.counters.after.clone();
        }
        Ok(())
    }

    /// Records the row that ends at `time` and begins the next.
    fn end_row<T: Target>(&mut self, time: Nanos, target: &mut T) -> Result<(), LabError> {
        let length_s = time.saturating_sub(self.row.start).as_secs_f64();
        for job in 0..self.jobs.len() {
            self.fold(job);
            self.jobs[job].sample_iops(self.row.start, time);
        }
        let counters = target.counters();
        let rise = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        let row = &mut self.row;
        let mut second = Second {
            phase: self.phase,
            t_s: row.t_s,
            length_s,
            ops: [OpSecond::default(); Op::COUNT],
            nand_bytes_written: rise(counters.nand_bytes_written, row.counters.nand_bytes_written),
            device_flushes: rise(counters.flushes, row.counters.flushes),
        };
        for (op, &(count, bytes, sum, max)) in row.sums.iter().enumerate() {
            if count > 0 {
                second.ops[op] = OpSecond {
                    count,
                    bytes,
                    mean_ns: sum as f64 / count as f64,
                    p50_ns: row.latencies[op].value_at_quantile(0.5).min(max),
                    p99_ns: row.latencies[op].value_at_quantile(0.99).min(max),
                    p999_ns: row.latencies[op].value_at_quantile(0.999).min(max),
                    max_ns: max,
                };
                self.rows_sum += count;
            }
        }
        let observed = self.observer.second(&second, &row.latencies);
        row.counters = counters;
        row.start = time;
        row.end = Nanos(row.end.0.max(time.0) + SECOND);
        row.t_s += 1;
        for (sums, latencies) in row.sums.iter_mut().zip(&mut row.latencies) {
            if sums.0 > 0 {
                latencies.reset();
            }
            *sums = (0, 0, 0, 0);
        }
        self.seconds.push(second);
        if !self.criteria.is_empty() {
            self.judge(time, length_s);
        }
        observed
    }

    fn find_boundary(&mut self) {
        let row = if self.series_open {
            self.row.end
        } else {
            Nanos::MAX
        };
        let jobs = self.jobs.iter().map(LedgerJob::next_change).min();
        self.boundary = row.min(jobs.unwrap_or(Nanos::MAX));
    }
}

impl LedgerJob {
    fn new(phase: usize, position: usize, spec: &JobSpec, now: Nanos) -> LedgerJob {
        let from = now.saturating_add(spec.time.delay + spec.time.ramp);
        let to = spec
            .time
            .run
            .map_or(Nanos::MAX, |run| from.saturating_add(run));
        LedgerJob {
            state: CountingState::Ramp,
            from,
            to,
            quit: to.saturating_add(spec.time.cool_down),
            lanes: spec.copies,
            totals: JobRecord {
                phase,
                job: position,
                start: from,
                length: Nanos::ZERO,
                ops: std::array::from_fn(|_| OpStats::default()),
                iops_samples: Default::default(),
            },
            row_counts: [0; Op::COUNT],
            rows: 0,
            uncounted: 0,
        }
    }

    fn next_change(&self) -> Nanos {
        match self.state {
            CountingState::Ramp => self.from,
            CountingState::Counted => self.to,
            CountingState::CoolDown => self.quit,
            CountingState::Over => Nanos::MAX,
        }
    }

    /// One IOPS sample per kind of command over the part of the row in which this job was
    /// counted. Less than half a second is too short, unless the job was counted no longer.
    fn sample_iops(&mut self, start: Nanos, end: Nanos) {
        let counts = std::mem::take(&mut self.row_counts);
        let counted = end.min(self.to).saturating_sub(start.max(self.from));
        if counted == Nanos::ZERO || (counted.0 < SECOND / 2 && self.rows > 0) {
            return;
        }
        for (samples, count) in self.totals.iops_samples.iter_mut().zip(counts) {
            if count > 0 || !samples.is_empty() {
                // A kind of command that is first seen now had none in the rows before.
                samples.resize(self.rows, 0.0);
                samples.push(count as f64 / counted.as_secs_f64());
            }
        }
        self.rows += 1;
    }
}
