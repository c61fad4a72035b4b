//! Transactions as tables: for the terminal, 80 columns, and as CSV.

use super::result::{Oltp, OltpSecond, OltpWindow};
use crate::show::{self, ScenarioCsvColumn, line, per_cent, ratio};
use ssdlab_base::check::lines;
use ssdlab_view::units;
use std::fmt::Write as _;

const SERIES: [ScenarioCsvColumn<OltpSecond>; 7] = [
    ("month", |s| s.month.to_string()),
    ("t_s", |s| s.t_s.to_string()),
    ("transactions", |s| s.transactions.to_string()),
    ("p50_ns", |s| s.p50_ns.to_string()),
    ("p99_ns", |s| s.p99_ns.to_string()),
    ("read_bytes", |s| s.read_bytes.to_string()),
    ("write_bytes", |s| s.write_bytes.to_string()),
];

/// The seconds of all runs as CSV.
pub fn csv(runs: &[Oltp]) -> String {
    let named = |run: &'_ Oltp| run.spec.trim.name();
    show::csv(
        "trim",
        &SERIES,
        runs.iter().map(|run| (named(run), &run.seconds[..])),
    )
}

const WIDTHS: [usize; 9] = [5, 7, 8, 9, 9, 9, 10, 9, 6];

/// All runs, for the terminal.
pub fn text(runs: &[Oltp]) -> String {
    let mut out = String::new();
    if let Some(first) = runs.first() {
        head(&mut out, first);
    }
    let head = [
        "mapped", "TPS", "p50", "p99", "longest", "reads", "p99", "WAF",
    ];
    for run in runs {
        let _ = writeln!(out, "\nTRIM {}", run.spec.trim.name());
        out += &line("month", &WIDTHS, &head);
        out.extend(run.windows.iter().map(row));
        let _ = writeln!(
            out,
            "{} written; {}",
            units::decimal_bytes(run.host_bytes as f64),
            lines(&run.checks).join("\n")
        );
    }
    out
}

fn head(out: &mut String, run: &Oltp) {
    let s = &run.spec;
    let _ = writeln!(
        out,
        "{} transactions/s offered on {} connections, windows of {}; between\nthem {} % of \
         the drive written a month, {} % of it other files; tables {} %,\nall files {} %; \
         flushes {}, doublewrite {}; seed {}",
        units::count(s.offered_s.into()),
        s.connections,
        s.window,
        s.monthly_pct,
        s.other_pct,
        s.tables_pct,
        s.used_pct,
        on(s.flushes),
        on(s.doublewrite),
        s.seed
    );
    let _ = writeln!(
        out,
        "Reads: on a fork of the drive, {} KiB random, QD{}, {} % reads.",
        s.probe.block >> 10,
        s.probe.depth,
        s.probe.read_pct
    );
}

fn on(yes: bool) -> &'static str {
    if yes { "on" } else { "off" }
}

fn row(w: &OltpWindow) -> String {
    let cells = [
        per_cent(w.mapped_share),
        units::count(w.tps.round() as u64),
        units::time(w.p50_ns),
        units::time(w.p99_ns),
        units::time(w.max_ns),
        units::throughput(w.probe.read_bytes_s),
        units::time(w.probe.read_p99_ns),
        ratio(w.waf_month.or(w.waf)),
    ];
    line(&format!("{:>5}", w.month), &WIDTHS, &cells)
}
