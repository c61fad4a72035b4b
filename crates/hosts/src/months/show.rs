//! Months as tables: for the terminal, 80 columns, and as CSV.

use super::{Months, Sample};
use ssdlab_base::check::lines;
use ssdlab_ssd::Bytes;
use ssdlab_view::units;
use std::fmt::Write as _;

/// Rows of the table of one run.
const ROWS: usize = 9;

/// The samples of all runs as CSV.
pub fn csv(runs: &[Months]) -> String {
    let mut text = String::from(
        "trim,day,host_bytes,waf,write_bytes_s,write_p99_ns,write_max_ns,used_share,\
         mapped_share,trims,free_superblocks,probe_iops,probe_read_bytes_s,probe_write_bytes_s,\
         probe_read_p99_ns,probe_write_p99_ns\n",
    );
    for run in runs {
        for s in &run.samples {
            let waf = s.waf.map_or(String::new(), |waf| waf.to_string());
            let _ = writeln!(
                text,
                "{},{},{},{waf},{},{},{},{},{},{},{},{},{},{},{},{}",
                run.spec.trim.name(),
                s.day,
                s.host_bytes,
                s.write_bytes_s,
                s.write_p99_ns,
                s.write_max_ns,
                s.used_share,
                s.mapped_share,
                s.trims,
                s.free_superblocks,
                s.probe.iops,
                s.probe.read_bytes_s,
                s.probe.write_bytes_s,
                s.probe.read_p99_ns,
                s.probe.write_p99_ns,
            );
        }
    }
    text
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

fn table(out: &mut String, run: &Months) {
    let _ = writeln!(
        out,
        "\nTRIM {}\n{:>5} {:>7} {:>7} {:>6} {:>10} {:>9} {:>10} {:>9} {:>7}",
        run.spec.trim.name(),
        "day",
        "used",
        "mapped",
        "WAF",
        "writes",
        "p99",
        "reads",
        "p99",
        "TRIMs"
    );
    let step = run.samples.len().div_ceil(ROWS).max(1);
    let last = run.samples.len().saturating_sub(1);
    for (index, sample) in run.samples.iter().enumerate() {
        if index % step == 0 || index == last {
            row(out, sample);
        }
    }
    let _ = writeln!(
        out,
        "after day 0: {} written, WAF {}; {}",
        units::decimal_bytes(run.host_bytes as f64),
        run.waf
            .map_or(units::NOTHING.into(), |waf| format!("{waf:.2}")),
        lines(&run.checks).join("\n")
    );
}

fn row(out: &mut String, s: &Sample) {
    let _ = writeln!(
        out,
        "{:>5} {:>5.1} % {:>5.1} % {:>6} {:>10} {:>9} {:>10} {:>9} {:>7}",
        s.day,
        s.used_share * 100.0,
        s.mapped_share * 100.0,
        s.waf
            .map_or(units::NOTHING.into(), |waf| format!("{waf:.2}")),
        units::throughput(s.write_bytes_s),
        units::time(s.write_p99_ns),
        units::throughput(s.probe.read_bytes_s),
        units::time(s.probe.read_p99_ns),
        units::rate(s.trims as f64),
    );
}

/// The last quarter of each run, side by side.
fn compare(out: &mut String, runs: &[Months]) {
    let _ = writeln!(
        out,
        "\nlast quarter    {:>8} {:>8} {:>12} {:>12} {:>12}",
        "mapped", "WAF", "writes", "reads", "longest"
    );
    for run in runs {
        let last = last_quarter(run);
        let _ = writeln!(
            out,
            "{:15} {:>6.1} % {:>8.2} {:>12} {:>12} {:>12}",
            run.spec.trim.name(),
            last.mapped_share * 100.0,
            last.waf,
            units::throughput(last.write_bytes_s),
            units::throughput(last.read_bytes_s),
            units::time(last.write_max_ns),
        );
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
    let mean = |of: fn(&Sample) -> f64| last.iter().map(of).sum::<f64>() / last.len().max(1) as f64;
    LastQuarter {
        mapped_share: mean(|s| s.mapped_share),
        waf: mean(|s| s.waf.unwrap_or_default()),
        write_bytes_s: mean(|s| s.write_bytes_s),
        read_bytes_s: mean(|s| s.probe.read_bytes_s),
        write_max_ns: last.iter().map(|s| s.write_max_ns).max().unwrap_or(0),
    }
}
