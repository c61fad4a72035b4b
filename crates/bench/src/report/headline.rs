//! The largest difference between runs, as a sentence.

use crate::report::{OpTotals, RunReport};
use ssdlab_ssd::Op;
use ssdlab_view::units;

/// Ratios below this count as equal.
const SAME: f64 = 1.05;

/// A figure that runs are compared by. `count_min`: the fewest commands that it needs.
struct HeadlineFigure {
    name: &'static str,
    count_min: u64,
    value: fn(&OpTotals) -> f64,
    show: fn(f64) -> String,
}

/// In order of preference: a later figure replaces an earlier one only with a clearly larger ratio.
const TIMES: [HeadlineFigure; 3] = [
    HeadlineFigure {
        name: "median",
        count_min: 10,
        value: |totals| totals.p50_ns as f64,
        show: units::time_mean,
    },
    HeadlineFigure {
        name: "99th percentile",
        count_min: 100,
        value: |totals| totals.p99_ns as f64,
        show: units::time_mean,
    },
    HeadlineFigure {
        name: "99.9th percentile",
        count_min: 1_000,
        value: |totals| totals.p999_ns as f64,
        show: units::time_mean,
    },
];
const RATE: HeadlineFigure = HeadlineFigure {
    name: "",
    count_min: 10,
    value: |totals| totals.iops(),
    show: units::rate,
};

/// One kind of command of a run.
#[derive(Clone, Copy)]
struct RunTotals<'a> {
    run: &'a RunReport,
    totals: &'a OpTotals,
}

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
    for run in others {
        for a in &first.totals {
            let same = |b: &&OpTotals| b.phase == a.phase && b.op == a.op;
            let Some(b) = run.totals.iter().find(same) else {
                continue;
            };
            let a = RunTotals {
                run: first,
                totals: a,
            };
            for candidate in differences(a, RunTotals { run, totals: b }) {
                let least = best.as_ref().map_or(0.0, |best| best.ratio * SAME);
                if candidate.ratio > least {
                    best = Some(candidate);
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

fn differences(a: RunTotals<'_>, b: RunTotals<'_>) -> Vec<HeadlineDifference> {
    let counted = a.totals.count.min(b.totals.count);
    let is_time = |figure: &HeadlineFigure| figure.name != RATE.name;
    TIMES
        .iter()
        .chain([&RATE])
        .filter(|figure| counted >= figure.count_min)
        .filter_map(|figure| difference(a, b, figure, is_time(figure)))
        .collect()
}

fn difference(
    a: RunTotals<'_>,
    b: RunTotals<'_>,
    figure: &HeadlineFigure,
    is_time: bool,
) -> Option<HeadlineDifference> {
    let (va, vb) = ((figure.value)(a.totals), (figure.value)(b.totals));
    if !(va > 0.0 && vb > 0.0 && va.is_finite() && vb.is_finite()) {
        return None;
    }
    // The better one is named first.
    let b_is_better = (vb < va) == is_time;
    let ((better, good), (worse, bad)) = if b_is_better {
        ((b.run, vb), (a.run, va))
    } else {
        ((a.run, va), (b.run, vb))
    };
    let ratio = (va / vb).max(vb / va);
    let op = a.totals.op;
    let phase = if a.run.phase_names.is_empty() {
        String::new()
    } else {
        format!("Phase {}: ", a.run.phase_label(a.totals.phase))
    };
    let times = times(ratio);
    let (claim, unit) = if is_time {
        (
            format!("{} {times} times faster", kind(op)),
            format!(" ({})", figure.name),
        )
    } else {
        (
            format!("{} {times} times as many a second", kinds(op)),
            String::new(),
        )
    };
    Some(HeadlineDifference {
        ratio,
        text: format!(
            "{phase}{claim}: {} {}, {} {}{unit}",
            better.label,
            (figure.show)(good),
            worse.label,
            (figure.show)(bad)
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
