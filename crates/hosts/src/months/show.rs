//! Months as tables: for the terminal, 80 columns, and as CSV.

use super::result::{DaySample, Months};
use crate::show::{self, ScenarioCsvColumn, line, per_cent, ratio};
use ssdlab_base::check::lines;
use ssdlab_ssd::Bytes;
use ssdlab_view::units;
use std::fmt::Write as _;

/// Rows of the table of one run.
const ROWS: usize = 9;

const SERIES: [ScenarioCsvColumn<DaySample>; 15] = [
    ("day", |s| s.day.to_string()),
    ("host_bytes", |s| s.host_bytes.to_string()),
    ("waf", |s| {
        s.waf.map_or(String::new(), |waf| waf.to_string())
    }),
    ("write_bytes_s", |s| s.write_bytes_s.to_string()),
    ("write_p99_ns", |s| s.write_p99_ns.to_string()),
    ("write_max_ns", |s| s.write_max_ns.to_string()),
    ("used_share", |s| s.used_share.to_string()),
    ("mapped_share", |s| s.mapped_share.to_string()),
    ("trims", |s| s.trims.to_string()),
    ("free_superblocks", |s| s.free_superblocks.to_string()),
    ("probe_iops", |s| s.probe.iops.to_string()),
    ("probe_read_bytes_s", |s| s.probe.read_bytes_s.to_string()),
    ("probe_write_bytes_s", |s| s.probe.write_bytes_s.to_string()),
    ("probe_read_p99_ns", |s| s.probe.read_p99_ns.to_string()),
    ("probe_write_p99_ns", |s| s.probe.write_p99_ns.to_string()),
];

/// The samples of all runs as CSV.
pub fn csv(runs: &[Months]) -> String {
    let named = |run: &'_ Months| run.spec.trim.name();
    show::csv(
        "trim",
        &SERIES,
        runs.iter().map(|run| (named(run), &run.samples[..])),
    )
}

/// All runs, for the terminal.
pub fn text(runs: &[Months]) -> String {
    let mut out = String::new();
    if let Some(first) = runs.first() {
        let s = &first.spec;
        let _ = writeln!(
            out,
            "{} days; each day {} % of the drive written to files, {} % of it updates in\nplace; \
             files take up {} % of {}; seed {}",
            s.days,
            s.daily_pct,
            s.update_pct,
            s.used_pct,
            Bytes(first.fs_bytes),
            s.seed
        );
        let _ = writeln!(
            out,
            "Writes: while there are some. Reads: on a fork, {} B random, QD{}, {} % reads.",
            s.probe.block, s.probe.depth, s.probe.read_pct
        );
    }
    for run in runs {
        table(&mut out, run);
    }
    if runs.len() > 1 {
        compare(&mut out, runs);
    }
    out
}

const WIDTHS: [usize; 9] = [5, 7, 7, 6, 10, 9, 10, 9, 7];

fn table(out: &mut String, run: &Months) {
    let _ = writeln!(out, "\nTRIM {}", run.spec.trim.name());
    let head = [
        "used", "mapped", "WAF", "writes", "p99", "reads", "p99", "TRIMs",
    ];
    *out += &line("  day", &WIDTHS, &head);
    let step = run.samples.len().div_ceil(ROWS).max(1);
    let last = run.samples.len().saturating_sub(1);
    for (index, sample) in run.samples.iter().enumerate() {
        if index % step == 0 || index == last {
            *out += &row(sample);
        }
    }
    let _ = writeln!(
        out,
        "after day 0: {} written, WAF {}; {}",
        units::decimal_bytes(run.host_bytes as f64),
        ratio(run.waf),
        lines(&run.checks).join("\n")
    );
}

fn row(s: &DaySample) -> String {
    let cells = [
        per_cent(s.used_share),
        per_cent(s.mapped_share),
        ratio(s.waf),
        units::throughput(s.write_bytes_s),
        units::time(s.write_p99_ns),
        units::throughput(s.probe.read_bytes_s),
        units::time(s.probe.read_p99_ns),
        units::rate(s.trims as f64),
    ];
    line(&format!("{:>5}", s.day), &WIDTHS, &cells)
}

/// The last quarter of each run, side by side.
fn compare(out: &mut String, runs: &[Months]) {
    let widths = [15, 8, 8, 12, 12, 12];
    let head = ["mapped", "WAF", "writes", "reads", "longest"];
    *out += "\n";
    *out += &line("last quarter", &widths, &head);
    for run in runs {
        let last = last_quarter(run);
        let cells = [
            per_cent(last.mapped_share),
            format!("{:.2}", last.waf),
            units::throughput(last.write_bytes_s),
            units::throughput(last.read_bytes_s),
            units::time(last.write_max_ns),
        ];
        *out += &line(&run.spec.trim.name(), &widths, &cells);
    }
}

/// Means over the last quarter of the samples after day 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LastQuarter {
    /// Share of its blocks that the drive takes for valid data.
    pub mapped_share: f64,
    /// Mean WAF.
    pub waf: f64,
    /// Bytes written per second while there was something to write.
    pub write_bytes_s: f64,
    /// Bytes read per second in the probes.
    pub read_bytes_s: f64,
    /// The longest write command, ns.
    pub write_max_ns: u64,
}

/// The last quarter of a run.
pub fn last_quarter(run: &Months) -> LastQuarter {
    let samples = run.samples.get(1..).unwrap_or_default();
    let last = &samples[samples.len() - samples.len().div_ceil(4)..];
    let mean = |metric: fn(&DaySample) -> f64| {
        last.iter().map(metric).sum::<f64>() / last.len().max(1) as f64
    };
    LastQuarter {
        mapped_share: mean(|s| s.mapped_share),
        waf: mean(|s| s.waf.unwrap_or_default()),
        write_bytes_s: mean(|s| s.write_bytes_s),
        read_bytes_s: mean(|s| s.probe.read_bytes_s),
        write_max_ns: last.iter().map(|s| s.write_max_ns).max().unwrap_or(0),
    }
}
