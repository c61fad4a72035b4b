//! Latency of drives that is published at many rates, predicted from the lowest rate and from all
//! others: `cargo run --release -p ssdlab-twin --example latency -- LATENCY.csv`
//!
//! The table has a row a run: drive, write_iops, share_of_max_write, and percentiles of the probe's
//! reads and writes in us (r_p50 .. r_p9999, w_p50 ..); runs of one nominal_iops are repetitions,
//! and their median counts. Rates above 80 % of the largest are left out. Beside each prediction is
//! the null hypothesis, "as at the lowest rate".

use ssdlab_base::LabError;
use ssdlab_twin::latency::{
    MeasuredBusyShare, MeasuredLatency, Quantile, ReadOrWrite, RequestedRate, SHARE_MAX, predict,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Percentiles that are compared, with the error that is allowed.
const ASKED: [(f64, f64); 2] = [(50.0, 0.15), (99.0, 0.30)];
const COLUMNS: [(&str, f64); 5] = [
    ("p50", 50.0),
    ("p90", 90.0),
    ("p99", 99.0),
    ("p999", 99.9),
    ("p9999", 99.99),
];

type Row = BTreeMap<String, String>;

fn median(rows: &[&Row], key: &str) -> f64 {
    let mut all: Vec<f64> = rows
        .iter()
        .filter_map(|r| r.get(key)?.parse().ok())
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The rates of a drive, lowest first, with their shares of the largest.
fn rates(rows: &[&Row]) -> Vec<(MeasuredLatency, f64)> {
    let mut by_rate: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let nominal = row["nominal_iops"].parse::<f64>().unwrap_or(0.0);
        by_rate.entry(nominal as u64).or_default().push(row);
    }
    let quantiles = |rows: &[&Row], of: &str| {
        let each = COLUMNS.iter().map(|(name, percent)| Quantile {
            percent: *percent,
            us: median(rows, &format!("{of}_{name}")),
        });
        each.collect()
    };
    let each = by_rate.values().map(|rows| {
        let measured = MeasuredLatency {
            line: 0,
            load: "uniform".into(),
            used: 1.0,
            rate: median(rows, "write_iops") * 4096.0,
            reads: quantiles(rows, "r"),
            writes: quantiles(rows, "w"),
        };
        (measured, median(rows, "share_of_max_write"))
    });
    each.filter(|(_, share)| *share <= SHARE_MAX).collect()
}

#[derive(Default)]
struct Score {
    all: usize,
    right: usize,
    null: usize,
    inside: usize,
    errors: Vec<f64>,
}

fn main() -> Result<(), LabError> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| LabError::file("reading", Path::new(&path), error))?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<Row> = reader.deserialize().filter_map(Result::ok).collect();
    let mut drives: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &rows {
        drives.entry(&row["drive"]).or_default().push(row);
    }
    for all_but_one in [false, true] {
        println!(
            "{}",
            if all_but_one {
                "each left out"
            } else {
                "from the lowest"
            }
        );
        for (drive, rows) in &drives {
            let rates = rates(rows);
            for kind in [ReadOrWrite::Read, ReadOrWrite::Write] {
                for (percent, limit) in ASKED {
                    let score = score(&rates, all_but_one, kind, percent, limit);
                    let errors: Vec<_> = score.errors.iter().map(|e| format!("{e:+.2}")).collect();
                    println!(
                        "{drive:4} {kind:?} p{percent}: {} of {} within {limit}, null {}, {} in \
                         90 %: {}",
                        score.right,
                        score.all,
                        score.null,
                        score.inside,
                        errors.join(" ")
                    );
                }
            }
        }
    }
    Ok(())
}

fn score(
    rates: &[(MeasuredLatency, f64)],
    all_but_one: bool,
    kind: ReadOrWrite,
    percent: f64,
    limit: f64,
) -> Score {
    let truth = |one: &MeasuredLatency| {
        let all = if kind == ReadOrWrite::Read {
            &one.reads
        } else {
            &one.writes
        };
        let found = all.iter().find(|q| q.percent == percent);
        found.map_or(f64::NAN, |q| q.us)
    };
    let mut score = Score::default();
    for (i, (one, share)) in rates.iter().enumerate().skip(1) {
        let given = rates
            .iter()
            .enumerate()
            .filter(|(j, _)| if all_but_one { *j != i } else { *j == 0 });
        let busy: Vec<MeasuredBusyShare<'_>> = given
            .map(|(_, (measured, share))| MeasuredBusyShare {
                measured,
                share: *share,
            })
            .collect();
        let found = predict(&busy, RequestedRate::Share(*share), 1.0);
        let figure = found
            .figures
            .iter()
            .find(|f| (f.kind, f.percent) == (kind, percent));
        let us = figure.map_or([f64::NAN; 3], |f| f.us);
        let error = us[1] / truth(one) - 1.0;
        score.all += 1;
        score.right += usize::from(error.abs() <= limit);
        score.null += usize::from((truth(&rates[0].0) / truth(one) - 1.0).abs() <= limit);
        score.inside += usize::from((us[0]..=us[2]).contains(&truth(one)));
        score.errors.push(error);
    }
    score
}
