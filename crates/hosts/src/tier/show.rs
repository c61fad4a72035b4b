//! A tier as tables: for the terminal, 80 columns, and as CSV.

use super::{Served, Tier, life_cost};
use crate::HostDrive;
use ssdlab_base::check::lines;
use ssdlab_ssd::Bytes;
use ssdlab_view::text::wrap;
use ssdlab_view::units;
use std::fmt::Write as _;

/// The samples of all runs as CSV.
pub fn csv(runs: &[Tier]) -> String {
    let mut text = String::from(
        "durable,t_s,hits,misses,writes,write_mean_ns,destaged_bytes,backlog_bytes,dirty_share,\
         device_bytes,nand_bytes\n",
    );
    for run in runs {
        for s in &run.samples {
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{},{}",
                run.spec.durable.name(),
                s.t_s,
                s.hits,
                s.misses,
                s.writes,
                s.write_mean_ns,
                s.destaged_bytes,
                s.backlog_bytes,
                s.dirty_share,
                s.device_bytes,
                s.nand_bytes
            );
        }
    }
    text
}

/// A row of the table: what it is, and its cell for each run.
type Row<'a> = (&'a str, Box<dyn Fn(&Tier) -> String + 'a>);

/// All runs side by side, for the terminal; `drive` is the first cache device.
pub fn text(runs: &[Tier], drive: &HostDrive) -> String {
    let mut out = String::new();
    if let Some(first) = runs.first() {
        head(&mut out, first);
    }
    let _ = write!(out, "\n{:28}", "writes are durable by");
    for run in runs {
        let _ = write!(out, "{:>16}", run.spec.durable.name());
    }
    out.push('\n');
    for (name, cell) in rows(drive) {
        let _ = write!(out, "{name:28}");
        for run in runs {
            let _ = write!(out, "{:>16}", cell(run));
        }
        out.push('\n');
    }
    if let Some(cost) = runs.iter().find_map(|run| life_cost(run, drive)) {
        let allowed = units::decimal_bytes(cost.rated_nand_bytes);
        let text = format!("rated life: {allowed} of NAND writes ({})", cost.why);
        out += &wrap(&text, 78).join("\n  ");
        out.push('\n');
    }
    for run in runs {
        for line in lines(&run.checks) {
            let _ = writeln!(out, "{}: {line}", run.spec.durable.name());
        }
    }
    out
}

fn head(out: &mut String, run: &Tier) {
    let s = &run.spec;
    let _ = writeln!(
        out,
        "{} sides, {} copies of each write; {} of cache and {} disks a side\n{} workers, {} \
         random on {}, {} % reads; {} after {} fills; seed {}",
        run.sides,
        s.copies,
        Bytes(run.cache_bytes),
        s.disks,
        s.workers,
        Bytes(s.block.into()),
        Bytes(run.working_set_bytes),
        s.read_pct,
        s.duration,
        s.fill_passes,
        s.seed
    );
}

fn time(served: &Served, ns: u64) -> String {
    match served.count {
        0 => units::NOTHING.into(),
        _ => units::time(ns),
    }
}

fn rows(drive: &HostDrive) -> Vec<Row<'_>> {
    let cost = |run: &Tier| life_cost(run, drive);
    let nothing = || units::NOTHING.to_owned();
    vec![
        ("reads and writes, /s", Box::new(|r| units::rate(r.iops))),
        (
            "writes acknowledged, /s",
            Box::new(|r| units::rate(r.writes_s)),
        ),
        ("write p50", Box::new(|r| time(&r.writes, r.writes.p50_ns))),
        ("write p99", Box::new(|r| time(&r.writes, r.writes.p99_ns))),
        ("read hit p50", Box::new(|r| time(&r.hits, r.hits.p50_ns))),
        ("read hit p99", Box::new(|r| time(&r.hits, r.hits.p99_ns))),
        (
            "read miss p50",
            Box::new(|r| time(&r.misses, r.misses.p50_ns)),
        ),
        (
            "read miss p99",
            Box::new(|r| time(&r.misses, r.misses.p99_ns)),
        ),
        ("reads found in the cache", Box::new(hit_share)),
        (
            "backlog at the end",
            Box::new(|r| Bytes(r.backlog_bytes).to_string()),
        ),
        ("dirty at the end", Box::new(dirty_share)),
        ("destaged, a second", Box::new(destaged)),
        (
            "waits for a free slot",
            Box::new(|r| units::count(r.stalls)),
        ),
        (
            "acknowledged, not durable",
            Box::new(|r| units::count(r.not_durable)),
        ),
        (
            "NAND bytes per host byte",
            Box::new(|r| {
                r.nand_per_host_byte
                    .map_or(units::NOTHING.into(), |n| format!("{n:.2}"))
            }),
        ),
        (
            "host data until worn out",
            Box::new(move |r| cost(r).map_or_else(nothing, |c| units::decimal_bytes(c.host_bytes))),
        ),
        (
            "days until then, this load",
            Box::new(move |r| cost(r).map_or_else(nothing, |c| units::rate(c.days))),
        ),
        (
            "years at the rated pace",
            Box::new(move |r| {
                let years = cost(r).and_then(|c| c.years_at_rated_pace);
                years.map_or_else(nothing, |years| format!("{years:.2}"))
            }),
        ),
    ]
}

fn hit_share(run: &Tier) -> String {
    let reads = run.hits.count + run.misses.count;
    match reads {
        0 => units::NOTHING.into(),
        _ => format!("{:.1} %", 100.0 * run.hits.count as f64 / reads as f64),
    }
}

fn dirty_share(run: &Tier) -> String {
    let share = run.samples.last().map_or(0.0, |s| s.dirty_share);
    format!("{:.1} %", share * 100.0)
}

fn destaged(run: &Tier) -> String {
    let seconds = run.spec.duration.as_secs_f64().max(1e-9);
    units::throughput(run.destaged_bytes as f64 / seconds)
}
