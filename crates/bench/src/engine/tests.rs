//! Do the engine's numbers follow from what a target of known behaviour does?

use super::*;
use crate::device::null::NullTarget;
use crate::device::{Counters, Target, TargetCompletion, TargetFacts, TargetKind};
use crate::record::{RunEnding, RunRecord, Second};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_load::plan::{
    Distribution, JobSpec, JobTiming, Language, Mix, Order, PlanPhase, WorkloadPlan,
};
use ssdlab_ssd::{Command, Nanos, Op};
use std::sync::atomic::{AtomicBool, Ordering};

/// Virtual time: every command takes `latency`, flushes twice as long; may fail or hang.
struct Clockwork {
    facts: TargetFacts,
    now: Nanos,
    latency: Nanos,
    under_way: Vec<(Nanos, u32, Nanos)>,
    seen: Vec<(Nanos, Command)>,
    errno_after: Option<(usize, i32)>,
    twice: bool,
}

impl Clockwork {
    fn new(latency_ns: u64) -> Clockwork {
        let mut facts = TargetFacts::unknown(String::from("clockwork"), TargetKind::Modelled);
        facts.capacity = 1 << 30;
        Clockwork {
            facts,
            now: Nanos::ZERO,
            latency: Nanos(latency_ns),
            under_way: Vec::new(),
            seen: Vec::new(),
            errno_after: None,
            twice: false,
        }
    }

    fn times_of(&self, op: Op) -> Vec<u64> {
        let seen = self.seen.iter().filter(|(_, c)| c.op == op);
        seen.map(|(at, _)| at.0).collect()
    }
}

impl Target for Clockwork {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn depth_max(&self) -> u32 {
        64
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        let factor = if command.op == Op::Flush { 2 } else { 1 };
        let done = self.now + Nanos(self.latency.0 * factor);
        self.under_way.push((done, tag, self.now));
        self.seen.push((self.now, *command));
        Ok(())
    }

    fn reap(
        &mut self,
        until: Option<Nanos>,
        done: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let first = self.under_way.iter().min().copied();
        let until = until.unwrap_or(Nanos::MAX);
        match first {
            Some(next) if next.0 <= until => {
                self.now = next.0;
                self.under_way.retain(|other| *other != next);
                let errno = match self.errno_after {
                    Some((count, errno)) if self.seen.len() > count => errno,
                    _ => 0,
                };
                for _ in 0..=u32::from(self.twice) {
                    done.push(TargetCompletion {
                        tag: next.1,
                        submitted: next.2,
                        done: next.0,
                        errno,
                    });
                }
            }
            _ => self.now = until,
        }
        Ok(())
    }

    fn counters(&mut self) -> Counters {
        Counters {
            flushes: Some(self.times_of(Op::Flush).len() as u64),
            ..Counters::default()
        }
    }
}

/// Keeps what it is shown.
#[derive(Default)]
struct Notes(Vec<(Second, u64)>);

impl Observer for Notes {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        let len = latencies.iter().map(|histogram| histogram.len()).sum();
        self.0.push((second.clone(), len));
        Ok(())
    }
}

/// Random 4 KiB writes, one outstanding, for one second.
pub(crate) fn job() -> JobSpec {
    JobSpec {
        name: String::from("test"),
        mix: Mix::Write,
        order: Order::Random {
            align: 4096,
            distribution: Distribution::Uniform,
            each_once: false,
        },
        region: Some(1 << 20),
        time: JobTiming {
            run: Some(Nanos::from_secs(1)),
            time_based: true,
            ..JobTiming::default()
        },
        ..JobSpec::default()
    }
}

pub(crate) fn plan(jobs: Vec<JobSpec>) -> WorkloadPlan {
    WorkloadPlan {
        language: Language::Ssdlab,
        phases: vec![PlanPhase { jobs }],
    }
}

fn go<T: Target>(plan: &WorkloadPlan, target: &mut T) -> (RunRecord, Notes) {
    let mut notes = Notes::default();
    let record = run(plan, target, &mut notes, &AtomicBool::new(false)).expect("fits");
    assert_eq!(record.failed_checks(), Vec::<String>::new());
    (record, notes)
}

#[test]
fn counts_and_latencies_are_exact() {
    let mut target = Clockwork::new(100_000);
    let mut spec = job();
    spec.depth = 4;
    spec.time.run = Some(Nanos::from_millis(2_500));
    let (record, notes) = go(&plan(vec![spec]), &mut target);
    assert_eq!(record.ending, RunEnding::Complete);
    // A command that completes at the very end is outside: [0, 2.5 s) holds 24,999 rounds.
    let writes = &record.jobs[0].ops[Op::Write as usize];
    assert_eq!(writes.count, 4 * 24_999);
    assert_eq!(
        (writes.latency_ns_min, writes.latency_ns_max),
        (100_000, 100_000)
    );
    let counts: Vec<u64> = record.seconds.iter().map(|s| s.ops[1].count).collect();
    assert_eq!(counts, [4 * 9_999, 4 * 10_000, 4 * 5_000]);
    assert_eq!(record.seconds[2].length_s, 0.5);
    assert_eq!(notes.0.len(), 3);
    assert!(
        notes
            .0
            .iter()
            .all(|(second, len)| second.ops[1].count == *len)
    );
    assert_eq!(
        record.jobs[0].iops_samples[1],
        [39_996.0, 40_000.0, 40_000.0]
    );
    assert!(record.jobs[0].iops_samples[0].is_empty());
}

#[test]
fn the_ramp_has_negative_seconds_and_is_not_in_the_totals() {
    let mut target = Clockwork::new(1_000_000);
    let mut spec = job();
    spec.time.ramp = Nanos::from_millis(1_500);
    spec.time.cool_down = Nanos::from_millis(700);
    let (record, _) = go(&plan(vec![spec]), &mut target);
    let seconds: Vec<(i64, f64, u64)> = record
        .seconds
        .iter()
        .map(|s| (s.t_s, s.length_s, s.ops[1].count))
        .collect();
    assert_eq!(seconds, [(-2, 0.5, 499), (-1, 1.0, 1_000), (0, 1.0, 1_000)]);
    assert_eq!(record.jobs[0].ops[1].count, 1_000);
    assert_eq!(record.jobs[0].start, Nanos::from_millis(1_500));
    assert_eq!(record.jobs[0].length, Nanos::from_secs(1));
    assert!(target.now >= Nanos::from_millis(3_200), "cooled down");
}

#[test]
fn jobs_with_their_own_windows_are_counted_in_them() {
    let mut target = Clockwork::new(1_000_000);
    let mut late = job();
    late.time.ramp = Nanos::from_millis(300);
    late.time.run = Some(Nanos::from_millis(400));
    let (record, _) = go(&plan(vec![job(), late]), &mut target);
    assert_eq!(record.jobs[0].ops[1].count, 999);
    assert_eq!(record.jobs[1].ops[1].count, 400);
    assert_eq!(record.jobs[1].iops_samples[1], [1_000.0]);
    assert_eq!(record.seconds.len(), 1);
}

#[test]
fn a_limit_ends_the_job_and_all_of_it_counts() {
    let mut target = Clockwork::new(1_000);
    let mut spec = job();
    spec.time = JobTiming::default();
    spec.io_limit = Some(4096 * 1_000);
    spec.depth = 8;
    spec.copies = 2;
    let (record, _) = go(&plan(vec![spec]), &mut target);
    assert_eq!(record.jobs[0].ops[1].count, 2_000);
    assert_eq!(record.jobs[0].length, Nanos(125_000));
    assert_eq!(target.seen.len(), 2_000);
}

#[test]
fn a_rate_is_kept_without_drift() {
    let mut target = Clockwork::new(10_000);
    let mut spec = job();
    spec.pace.rate_iops[1] = 300;
    spec.time.run = Some(Nanos::from_secs(10));
    let (record, _) = go(&plan(vec![spec]), &mut target);
    assert_eq!(record.jobs[0].ops[1].count, 3_000);
    let times = target.times_of(Op::Write);
    assert!((0..3_000).all(|i| times[i] == i as u64 * 1_000_000_000 / 300));
}

/// fio's `startdelay`: the job's own time begins with its first command.
#[test]
fn a_delayed_job_begins_late_and_runs_as_long() {
    let mut target = Clockwork::new(10_000);
    let mut late = job();
    late.time.delay = Nanos::from_secs(3);
    late.time.run = Some(Nanos::from_secs(2));
    late.pace.rate_iops[1] = 100;
    let (record, _) = go(&plan(vec![late]), &mut target);
    let of = &record.jobs[0];
    assert_eq!((of.ops[1].count, of.length), (200, Nanos::from_secs(2)));
    let times = target.times_of(Op::Write);
    assert_eq!((times[0], times[1]), (3_000_000_000, 3_010_000_000));
}

#[test]
fn pauses_come_after_each_block_of_commands() {
    let mut target = Clockwork::new(1_000);
    let mut spec = job();
    spec.depth = 2;
    spec.pace.think = Nanos(50_000);
    spec.pace.think_blocks = 4;
    spec.time.run = Some(Nanos::from_micros(200));
    go(&plan(vec![spec]), &mut target);
    let times = target.times_of(Op::Write);
    assert_eq!(
        times[..8],
        [0, 0, 1_000, 1_000, 52_000, 52_000, 53_000, 53_000]
    );
}

#[test]
fn flushes_are_counted_apart_and_seen_per_second() {
    let mut target = Clockwork::new(100_000);
    let mut spec = job();
    spec.durability.flush_every = 1;
    let (record, _) = go(&plan(vec![spec]), &mut target);
    let ops = &record.jobs[0].ops;
    assert_eq!(ops[Op::Flush as usize].latency_ns_min, 200_000);
    assert!(
        ops[Op::Write as usize]
            .count
            .abs_diff(ops[Op::Flush as usize].count)
            <= 1
    );
    let flushes = record.seconds[0].device_flushes.unwrap();
    assert!(flushes.abs_diff(3_333) <= 1, "{flushes}");
    assert!(record.counters[0].after.flushes >= Some(3_333));
}

#[test]
fn phases_follow_one_another() {
    let mut target = Clockwork::new(1_000_000);
    let mut two = plan(vec![job()]);
    two.phases.push(PlanPhase { jobs: vec![job()] });
    let (record, _) = go(&two, &mut target);
    let seen: Vec<(usize, i64)> = record.seconds.iter().map(|s| (s.phase, s.t_s)).collect();
    assert_eq!(seen, [(0, 0), (1, 0)]);
    assert!(record.jobs[1].start >= record.jobs[0].start + Nanos::from_secs(1));
    assert_eq!(record.counters.len(), 2);
}

#[test]
fn a_command_slower_than_the_run_does_not_hold_up_the_end() {
    let mut target = Clockwork::new(90_000_000_000);
    let (record, _) = go(&plan(vec![job()]), &mut target);
    assert_eq!(record.jobs[0].ops[1].count, 0);
    assert_eq!(record.jobs[0].length, Nanos::from_secs(1));
    assert_eq!(record.seconds.len(), 1);
}

#[test]
fn a_full_device_ends_the_run_and_keeps_what_was_measured() {
    let mut target = Clockwork::new(100_000);
    target.errno_after = Some((5_000, rustix::io::Errno::NOSPC.raw_os_error()));
    let (record, _) = go(&plan(vec![job()]), &mut target);
    let RunEnding::Failed(why) = &record.ending else {
        panic!("{:?}", record.ending);
    };
    assert!(why.contains("write at byte"), "{why}");
    assert_eq!(record.jobs[0].ops[1].count, 5_000);
    assert_eq!(record.jobs[0].ops[1].errors, 1);
    assert_eq!(record.seconds[0].ops[1].count, 5_000);
}

#[test]
fn other_errors_are_counted_until_nothing_else_comes() {
    let mut target = Clockwork::new(100_000);
    target.errno_after = Some((5_000, rustix::io::Errno::INVAL.raw_os_error()));
    let (record, _) = go(&plan(vec![job()]), &mut target);
    assert!(matches!(record.ending, RunEnding::Failed(_)));
    assert_eq!(record.jobs[0].ops[1].errors, 100);
}

#[test]
fn a_completion_too_many_fails_the_check() {
    let mut target = Clockwork::new(100_000);
    target.twice = true;
    let stop = AtomicBool::new(false);
    let record = run(&plan(vec![job()]), &mut target, &mut Unobserved, &stop).unwrap();
    let failed = record.failed_checks();
    assert!(failed[0].contains("completed once"), "{failed:?}");
}

#[test]
fn a_plan_too_deep_is_refused() {
    let mut spec = job();
    spec.depth = 65;
    let stop = AtomicBool::new(false);
    let refused = run(
        &plan(vec![spec]),
        &mut Clockwork::new(1),
        &mut Unobserved,
        &stop,
    );
    assert!(refused.is_err_and(|e| e.to_string().contains("65")));
}

/// Stops the run from within, as Ctrl-C does from without.
struct StopAfter<'a>(&'a AtomicBool);

impl Observer for StopAfter<'_> {
    fn second(&mut self, _: &Second, _: &[Latencies]) -> Result<(), LabError> {
        self.0.store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_stop_keeps_what_was_measured() {
    let mut spec = job();
    spec.time.run = Some(Nanos::from_secs(3_600));
    let stop = AtomicBool::new(false);
    let mut target = Clockwork::new(100_000);
    let record = run(&plan(vec![spec]), &mut target, &mut StopAfter(&stop), &stop).unwrap();
    assert_eq!(record.ending, RunEnding::Interrupted);
    assert_eq!(record.failed_checks(), Vec::<String>::new());
    assert_eq!(record.jobs[0].length, Nanos::from_secs(1));
}

#[test]
fn an_observer_that_cannot_write_ends_the_run() {
    struct Full;
    impl Observer for Full {
        fn second(&mut self, _: &Second, _: &[Latencies]) -> Result<(), LabError> {
            Err(LabError::refused("no room for results", ""))
        }
    }
    let mut spec = job();
    spec.time.run = Some(Nanos::from_secs(9));
    let stop = AtomicBool::new(false);
    let record = run(
        &plan(vec![spec]),
        &mut Clockwork::new(100_000),
        &mut Full,
        &stop,
    )
    .unwrap();
    assert!(matches!(&record.ending, RunEnding::Failed(why) if why.contains("no room")));
    assert_eq!(record.seconds.len(), 1);
}

#[test]
fn the_null_target_passes_every_check_in_real_time() {
    let mut spec = job();
    spec.depth = 32;
    spec.time.run = Some(Nanos::from_millis(50));
    let wall = std::time::Instant::now();
    let (record, _) = go(&plan(vec![spec]), &mut NullTarget::new(1 << 30, 32));
    assert!(record.jobs[0].ops[1].count > 10_000);
    assert!(wall.elapsed().as_secs() < 5, "stops on time");
    assert!(record.cpu_ns.0 + record.cpu_ns.1 > 0);
}

/// DISKSPD's own example: two threads with four commands each over five files. Every command takes
/// 1 ms, so 8 complete in each of 999 ms within the second; each file gets a fifth of them.
#[test]
fn threads_share_their_depth_over_their_targets() {
    let line = "-F2 -O4 -b4K -r -d1 -W0 -Sh file1 file2 file3 file4 file5";
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    let plan = ssdlab_load::diskspd::parse(&words).unwrap();
    assert_eq!(depth_needed(&plan), 8);
    let mut target = Clockwork::new(1_000_000);
    let (record, _) = go(&plan, &mut target);
    let counts: Vec<u64> = record.jobs.iter().map(|job| job.ops[0].count).collect();
    assert_eq!(counts.iter().sum::<u64>(), 8 * 999);
    // A binomial of 7992 at 0.2: five standard deviations are 179.
    for count in &counts {
        assert!(count.abs_diff(1598) < 179, "{counts:?}");
    }
    // As many are under way at each instant: no two batches of eight differ in time.
    let times = target.times_of(Op::Read);
    assert_eq!(times.iter().filter(|at| **at == 0).count(), 8);
    assert_eq!(times.iter().filter(|at| **at == 500_000_000).count(), 8);
    // Fewer commands than targets, as -O1 on two: never two at once.
    let words: Vec<String> = "-F1 -O1 -b4K -r -d1 -W0 -Sh a b"
        .split(' ')
        .map(String::from)
        .collect();
    let plan = ssdlab_load::diskspd::parse(&words).unwrap();
    let (record, _) = go(&plan, &mut Clockwork::new(1_000_000));
    let counts: Vec<u64> = record.jobs.iter().map(|job| job.ops[0].count).collect();
    assert_eq!(counts.iter().sum::<u64>(), 999);
    assert!(counts.iter().all(|count| *count > 400), "{counts:?}");
}
