//! From a run's record to the small facts that [`Evidence`](super::Evidence) keeps.

use super::{DurableRun, FlushPoint, SustainedRun, WriteProbe, names};
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_bench::analysis::{change, series, steady};
use ssdlab_bench::device::Counters;
use ssdlab_bench::record::{OpStats, PhaseCounters, RunRecord, Second};
use ssdlab_ssd::Op;

/// The steady-state test looks at five rounds of at least this many seconds (SNIA: one minute).
pub const ROUND_S: usize = 60;

fn op(record: &RunRecord, op: Op) -> Option<&OpStats> {
    Some(&record.jobs.first()?.ops[op as usize]).filter(|stats| stats.count > 0)
}

/// Commands of any kind that failed.
pub fn errors(record: &RunRecord) -> u64 {
    let jobs = record.jobs.iter();
    jobs.flat_map(|job| &job.ops).map(|op| op.errors).sum()
}

/// A quantile in ns. A histogram answers with the upper end of its bucket, which may lie beyond
/// the longest latency there was.
fn quantile(latencies: &Latencies, q: f64, longest: u64) -> u64 {
    latencies.value_at_quantile(q).min(longest)
}

fn delta(c: &PhaseCounters, pick: fn(&Counters) -> Option<u64>) -> Option<u64> {
    pick(&c.after)?.checked_sub(pick(&c.before)?)
}

/// NAND bytes programmed per host byte written over the counted part.
fn waf(record: &RunRecord) -> Option<f64> {
    let counters = record.counters.first()?;
    let host = delta(counters, |c| c.host_bytes_written).filter(|b| *b > 0)?;
    let nand = delta(counters, |c| c.nand_bytes_written)?;
    Some(nand as f64 / host as f64)
}

/// The distribution of the sum of a latency of `a` and one of `b`, taken as independent.
fn sum_of(a: &Latencies, b: &Latencies) -> Latencies {
    let mut sum = latencies();
    for x in a.iter_recorded() {
        for y in b.iter_recorded() {
            let ns = x.value_iterated_to().saturating_add(y.value_iterated_to());
            sum.saturating_record_n(ns, x.count_at_value().saturating_mul(y.count_at_value()));
        }
    }
    sum
}

/// The probe of `method` in `record`; `None` when no write was counted.
pub fn probe(record: &RunRecord, method: &str, writers: u32) -> Option<WriteProbe> {
    let write = op(record, Op::Write)?;
    let flush = op(record, Op::Flush).filter(|_| method == names::WRITE_FLUSH);
    if method == names::WRITE_FLUSH && flush.is_none() {
        return None;
    }
    let whole = flush.map_or_else(
        || write.latencies.clone(),
        |flush| sum_of(&write.latencies, &flush.latencies),
    );
    // With a flush after each write it is the flush that makes one durable.
    let count = flush.map_or(write.count, |flush| flush.count.min(write.count));
    let longest = write.latency_ns_max + flush.map_or(0, |f| f.latency_ns_max);
    let counters = record.counters.first();
    let per_write =
        |pick| Some(delta(counters?, pick)? as f64 / count as f64).filter(|n| n.is_finite());
    let length_s = record.jobs.first()?.length.as_secs_f64();
    Some(WriteProbe {
        method: method.to_owned(),
        block_size: 4096,
        writers,
        per_second: if length_s > 0.0 {
            count as f64 / length_s
        } else {
            0.0
        },
        mean_ns: write.mean_ns() + flush.map_or(0.0, OpStats::mean_ns),
        p50_ns: quantile(&whole, 0.5, longest),
        p99_ns: quantile(&whole, 0.99, longest),
        p999_ns: quantile(&whole, 0.999, longest),
        p9999_ns: quantile(&whole, 0.9999, longest),
        max_ns: longest,
        flush_p99_ns: flush.map(|f| quantile(&f.latencies, 0.99, f.latency_ns_max)),
        count,
        device_writes: per_write(|c| c.writes),
        device_fua: per_write(|c| c.fua_writes),
        device_flushes: per_write(|c| c.flushes),
        waf: waf(record),
    })
}

/// The durable writes of a probe that follows the random writes; `fresh` is the one before them.
pub fn worst_case(probe: &WriteProbe, fresh: Option<&WriteProbe>) -> DurableRun {
    DurableRun {
        method: probe.method.clone(),
        before: fresh.map_or(0.0, |fresh| fresh.per_second),
        after: probe.per_second,
        count: probe.count,
        p50_ns: probe.p50_ns,
        p99_ns: probe.p99_ns,
        p999_ns: probe.p999_ns,
        p9999_ns: probe.p9999_ns,
        max_ns: probe.max_ns,
        after_80_min: None,
    }
}

/// The flush time after `dirty` bytes; `None` when no flush was counted.
pub fn flush_point(record: &RunRecord, dirty_bytes: u64) -> Option<FlushPoint> {
    let flush = op(record, Op::Flush)?;
    Some(FlushPoint {
        dirty_bytes,
        p50_ns: quantile(&flush.latencies, 0.5, flush.latency_ns_max),
        max_ns: flush.latency_ns_max,
        count: flush.count,
    })
}

fn counted(seconds: &[Second]) -> impl DoubleEndedIterator<Item = &Second> {
    seconds.iter().filter(|s| s.t_s >= 0)
}

fn commands(second: &Second) -> u64 {
    let kinds = Op::ALL.iter().filter(|op| **op != Op::Flush);
    kinds.map(|op| second.ops[*op as usize].count).sum()
}

/// Commands per second, flushes left out, over the last fifth of the counted seconds.
pub fn iops_end(seconds: &[Second]) -> f64 {
    let count = counted(seconds).count();
    let last = counted(seconds).rev().take(count.div_ceil(5));
    let (commands, length_s) = last.fold((0, 0.0), |(n, s), second| {
        (n + commands(second), s + second.length_s)
    });
    if length_s > 0.0 {
        commands as f64 / length_s
    } else {
        0.0
    }
}

/// IOPS per round of [`ROUND_S`] whole seconds.
pub fn rounds(seconds: &[Second]) -> Vec<f64> {
    let kinds = [Op::Read, Op::Write];
    steady::rounds(&series::iops(seconds, 0, &kinds), ROUND_S)
}

/// A sustained load; `None` when nothing was counted.
pub fn sustained(record: &RunRecord, name: &str, title: &str) -> Option<SustainedRun> {
    let latency_ns =
        |kind, q| op(record, kind).map_or(0, |s| quantile(&s.latencies, q, s.latency_ns_max));
    if op(record, Op::Write).is_none() && op(record, Op::Read).is_none() {
        return None;
    }
    let writes = op(record, Op::Write).is_some();
    Some(SustainedRun {
        name: name.to_owned(),
        title: title.to_owned(),
        steady: steady::steady_state(&rounds(&record.seconds)),
        cliff: writes
            .then(|| change::write_cliff(&record.seconds, 0))
            .flatten(),
        iops_end: iops_end(&record.seconds),
        write_p99_ns: latency_ns(Op::Write, 0.99),
        read_p50_ns: latency_ns(Op::Read, 0.5),
        read_p99_ns: latency_ns(Op::Read, 0.99),
        waf: waf(record),
        seconds: record.seconds.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qualify::fixtures::second;

    #[test]
    fn the_sum_of_two_constants_is_their_sum_and_tails_add_as_often_as_they_meet() {
        let mut write = latencies();
        write.record_n(1_000, 99).unwrap();
        write.record_n(100_000, 1).unwrap();
        let mut flush = latencies();
        flush.record_n(2_000, 100).unwrap();
        let sum = sum_of(&write, &flush);
        assert_eq!(sum.len(), 10_000);
        let near = |q, ns: u64| sum.value_at_quantile(q).abs_diff(ns) <= ns / 64;
        assert!(near(0.5, 3_000) && near(0.99, 3_000) && near(0.995, 102_000));
    }

    #[test]
    fn the_end_is_the_last_fifth_without_the_ramp_and_without_flushes() {
        let mut seconds: Vec<_> = (-2..10).map(|t| second(t, Op::Write, 100)).collect();
        seconds[10].ops[Op::Write as usize].count = 40;
        seconds[11].ops[Op::Write as usize].count = 20;
        seconds[11].ops[Op::Flush as usize].count = 900;
        assert_eq!(iops_end(&seconds), 30.0);
        assert_eq!(iops_end(&[]), 0.0);
    }

    #[test]
    fn rounds_are_whole_minutes() {
        let minutes = |s| rounds(&(0..s).map(|t| second(t, Op::Write, 7)).collect::<Vec<_>>());
        assert_eq!(minutes(300), [7.0; 5]);
        assert_eq!(minutes(299).len(), 4);
    }
}
