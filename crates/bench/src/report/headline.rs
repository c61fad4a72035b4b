//! The difference between runs that matters most: found, not fixed.

use crate::report::{OpTotals, RunReport};
use ssdlab_ssd::Op;
use ssdlab_view::units;

/// A difference below this is none.
const SAME: f64 = 1.05;

/// What a figure is called, commands that it takes, how it is read off the totals, how it is shown.
type HeadlineFigure = (&'static str, u64, fn(&OpTotals) -> f64, fn(f64) -> String);

/// In order of preference: one whose ratio is hardly larger does not take the place of an earlier
/// one.
const TIMES: [HeadlineFigure; 3] = [
    ("median", 10, |t| t.p50_ns as f64, units::time_mean),
    (
        "99th percentile",
        100,
        |t| t.p99_ns as f64,
        units::time_mean,
    ),
    (
        "99.9th percentile",
        1_000,
        |t| t.p999_ns as f64,
        units::time_mean,
    ),
];
const RATE: HeadlineFigure = ("", 10, |t| t.iops(), units::rate);

struct HeadlineDifference {
    ratio: f64,
    text: String,
}

/// The largest ratio between the first run and another, over rates and latencies of every kind of
/// command: "Flush 260 times faster: protected 60.0 us, volatile 15.7 ms (median)". `None` when
/// nothing can be compared.
pub fn headline(runs: &[RunReport]) -> Option<String> {
    let (first, others) = runs.split_first()?;
    let mut best: Option<HeadlineDifference> = None;
    for other in others {
        for a in &first.totals {
            let same = |b: &&OpTotals| b.phase == a.phase && b.op == a.op;
            let Some(b) = other.totals.iter().find(same) else {
                continue;
            };
            for found in differences((first, a), (other, b)) {
                let least = best.as_ref().map_or(0.0, |best| best.ratio * SAME);
                if found.ratio > least {
                    best = Some(found);
                }
            }
        }
    }
    let best = best?;
    Some(if best.ratio < SAME {
        "No figure differs by more than 5 %".to_owned()
    } else {
        best.text
    })
}

fn differences(
    first: (&RunReport, &OpTotals),
    other: (&RunReport, &OpTotals),
) -> Vec<HeadlineDifference> {
    let counted = first.1.count.min(other.1.count);
    let is_time = |figure: &HeadlineFigure| figure.0 != RATE.0;
    TIMES
        .iter()
        .chain([&RATE])
        .filter(|figure| counted >= figure.1)
        .filter_map(|figure| difference(first, other, figure, is_time(figure)))
        .collect()
}

fn difference(
    (run_a, a): (&RunReport, &OpTotals),
    (run_b, b): (&RunReport, &OpTotals),
    &(name, _, value, show): &HeadlineFigure,
    is_time: bool,
) -> Option<HeadlineDifference> {
    let (va, vb) = (value(a), value(b));
    if !(va > 0.0 && vb > 0.0 && va.is_finite() && vb.is_finite()) {
        return None;
    }
    // The better one is named first.
    let b_is_better = (vb < va) == is_time;
    let ((better, good), (worse, bad)) = if b_is_better {
        ((run_b, vb), (run_a, va))
    } else {
        ((run_a, va), (run_b, vb))
    };
    let ratio = (va / vb).max(vb / va);
    let phase = if run_a.phase_names.is_empty() {
        String::new()
    } else {
        format!("Phase {}: ", run_a.phase_label(a.phase))
    };
    let times = times(ratio);
    let (what, unit) = if is_time {
        (
            format!("{} {times} times faster", kind(a.op)),
            format!(" ({name})"),
        )
    } else {
        (
            format!("{} {times} times as many a second", kinds(a.op)),
            String::new(),
        )
    };
    Some(HeadlineDifference {
        ratio,
        text: format!(
            "{phase}{what}: {} {}, {} {}{unit}",
            better.label,
            show(good),
            worse.label,
            show(bad)
        ),
    })
}

fn times(ratio: f64) -> String {
    match ratio {
        r if r >= 9.95 => units::count(r.round() as u64),
        r => format!("{r:.1}"),
    }
}

fn kind(op: Op) -> &'static str {
    match op {
        Op::Read => "Read",
        Op::Write => "Write",
        Op::Trim => "Trim",
        Op::Flush => "Flush",
        Op::WriteZeroes => "Zeroing",
    }
}

fn kinds(op: Op) -> &'static str {
    match op {
        Op::Read => "Reads",
        Op::Write => "Writes",
        Op::Trim => "Trims",
        Op::Flush => "Flushes",
        Op::WriteZeroes => "Zeroings",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{TargetFacts, TargetKind};
    use crate::record::{RunEnding, RunRecord};

    fn run(label: &str, times: &[(Op, u64, u64)]) -> RunReport {
        let facts = TargetFacts::unknown("null:1GiB".into(), TargetKind::Null);
        let record = RunRecord {
            facts,
            ending: RunEnding::Complete,
            jobs: Vec::new(),
            seconds: Vec::new(),
            counters: Vec::new(),
            cpu_ns: (0, 0),
            wall_ns: 0,
            checks: Vec::new(),
            notes: Vec::new(),
        };
        let mut run = RunReport::new(&record, label, "", "");
        run.totals = times
            .iter()
            .map(|&(op, p50_ns, p99_ns)| OpTotals {
                phase: 0,
                op,
                count: 1_000,
                bytes: 4_096,
                errors: 0,
                length_s: 1.0,
                mean_ns: p50_ns as f64,
                p50_ns,
                p99_ns,
                p999_ns: p99_ns,
                max_ns: p99_ns,
            })
            .collect();
        run
    }

    /// The pages led with the p99 of writes, where both drives were equal.
    #[test]
    fn the_largest_ratio_leads_whichever_run_is_better() {
        let slow = [
            (Op::Write, 20_000, 50_000),
            (Op::Flush, 15_600_000, 16_000_000),
        ];
        let fast = [(Op::Write, 20_000, 50_000), (Op::Flush, 60_000, 61_000)];
        let said = "Flush 260 times faster: protected 60.0 us, volatile 15.6 ms (median)";
        let (volatile, protected) = (run("volatile", &slow), run("protected", &fast));
        let both = [volatile.clone(), protected.clone()];
        assert_eq!(headline(&both).as_deref(), Some(said));
        assert_eq!(headline(&[protected, volatile]).as_deref(), Some(said));
    }

    #[test]
    fn equal_runs_and_none_say_so() {
        let same = run("a", &[(Op::Write, 20_000, 50_000)]);
        let said = headline(&[same.clone(), same.clone()]);
        assert_eq!(said.as_deref(), Some("No figure differs by more than 5 %"));
        let other = run("b", &[(Op::Read, 20_000, 50_000)]);
        assert_eq!(headline(&[same.clone(), other]), None);
        assert_eq!(headline(&[same]), None);
        assert_eq!(headline(&[]), None);
    }
}
