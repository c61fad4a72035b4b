//! Transactions as tables: for the terminal, 80 columns, and as CSV.

use super::{Oltp, Window};
use ssdlab_base::check::lines;
use ssdlab_view::units;
use std::fmt::Write as _;

/// The seconds of all runs as CSV.
pub fn csv(runs: &[Oltp]) -> String {
    let mut text =
        String::from("trim,month,t_s,transactions,p50_ns,p99_ns,read_bytes,write_bytes\n");
    for run in runs {
        for s in &run.seconds {
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{}",
                run.spec.trim.name(),
                s.month,
                s.t_s,
                s.transactions,
                s.p50_ns,
                s.p99_ns,
                s.read_bytes,
                s.write_bytes
            );
        }
    }
    text
}

/// All runs, for the terminal.
pub fn text(runs: &[Oltp]) -> String {
    let mut out = String::new();
    if let Some(first) = runs.first() {
        let s = &first.spec;
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
    for run in runs {
        let _ = writeln!(
            out,
            "\nTRIM {}\n{:>5} {:>7} {:>8} {:>9} {:>9} {:>9} {:>10} {:>9} {:>6}",
            run.spec.trim.name(),
            "month",
            "mapped",
            "TPS",
            "p50",
            "p99",
            "longest",
            "reads",
            "p99",
            "WAF"
        );
        for window in &run.windows {
            row(&mut out, window);
        }
        let _ = writeln!(
            out,
            "{} written; {}",
            units::decimal_bytes(run.host_bytes as f64),
            lines(&run.checks).join("\n")
        );
    }
    out
}

fn on(yes: bool) -> &'static str {
    if yes { "on" } else { "off" }
}

fn row(out: &mut String, w: &Window) {
    let waf = w.waf_month.or(w.waf);
    let _ = writeln!(
        out,
        "{:>5} {:>5.1} % {:>8} {:>9} {:>9} {:>9} {:>10} {:>9} {:>6}",
        w.month,
        w.mapped_share * 100.0,
        units::count(w.tps.round() as u64),
        units::time(w.p50_ns),
        units::time(w.p99_ns),
        units::time(w.max_ns),
        units::throughput(w.probe.read_bytes_s),
        units::time(w.probe.read_p99_ns),
        waf.map_or(units::NOTHING.into(), |waf| format!("{waf:.2}")),
    );
}
