//! A tier as tables: for the terminal, 80 columns, and as CSV.

use super::result::{AccessLatency, LifeCost, Tier, TierSample, life_cost};
use crate::HostDrive;
use crate::show::{self, ScenarioCsvColumn, line, per_cent, ratio};
use ssdlab_base::check::lines;
use ssdlab_ssd::Bytes;
use ssdlab_view::text::wrap;
use ssdlab_view::units;
use std::fmt::Write as _;

const SERIES: [ScenarioCsvColumn<TierSample>; 10] = [
    ("t_s", |s| s.t_s.to_string()),
    ("hits", |s| s.hits.to_string()),
    ("misses", |s| s.misses.to_string()),
    ("writes", |s| s.writes.to_string()),
    ("write_mean_ns", |s| s.write_mean_ns.to_string()),
    ("destaged_bytes", |s| s.destaged_bytes.to_string()),
    ("backlog_bytes", |s| s.backlog_bytes.to_string()),
    ("dirty_share", |s| s.dirty_share.to_string()),
    ("device_bytes", |s| s.device_bytes.to_string()),
    ("nand_bytes", |s| s.nand_bytes.to_string()),
];

/// The samples of all runs as CSV.
pub fn csv(runs: &[Tier]) -> String {
    let named = |run: &'_ Tier| run.spec.durable.name().to_owned();
    show::csv(
        "durable",
        &SERIES,
        runs.iter().map(|run| (named(run), &run.samples[..])),
    )
}

/// All runs side by side, for the terminal; `drive` is the first cache device.
pub fn text(runs: &[Tier], drive: &HostDrive) -> String {
    let mut out = String::new();
    if let Some(first) = runs.first() {
        head(&mut out, first);
    }
    let mut widths = vec![28];
    widths.resize(runs.len() + 1, 15);
    let names: Vec<&str> = runs.iter().map(|run| run.spec.durable.name()).collect();
    let _ = write!(out, "\n{}", line("writes are durable by", &widths, &names));
    for (name, cell) in ROWS {
        let cells: Vec<String> = runs.iter().map(cell).collect();
        out += &line(name, &widths, &cells);
    }
    let costs: Vec<Option<LifeCost>> = runs.iter().map(|run| life_cost(run, drive)).collect();
    for (name, cell) in COST_ROWS {
        let text = |cost: &Option<LifeCost>| match cost {
            Some(cost) => cell(cost),
            None => units::NOTHING.into(),
        };
        let cells: Vec<String> = costs.iter().map(text).collect();
        out += &line(name, &widths, &cells);
    }
    if let Some(cost) = costs.into_iter().flatten().next() {
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

fn time(served: &AccessLatency, ns: u64) -> String {
    match served.count {
        0 => units::NOTHING.into(),
        _ => units::time(ns),
    }
}

/// A row of the table: its name, and its cell for each run.
type TierTableRow<R> = (&'static str, fn(&R) -> String);

const ROWS: [TierTableRow<Tier>; 15] = [
    ("reads and writes, /s", |r| units::rate(r.iops)),
    ("writes acknowledged, /s", |r| units::rate(r.writes_s)),
    ("write p50", |r| time(&r.writes, r.writes.p50_ns)),
    ("write p99", |r| time(&r.writes, r.writes.p99_ns)),
    ("read hit p50", |r| time(&r.hits, r.hits.p50_ns)),
    ("read hit p99", |r| time(&r.hits, r.hits.p99_ns)),
    ("read miss p50", |r| time(&r.misses, r.misses.p50_ns)),
    ("read miss p99", |r| time(&r.misses, r.misses.p99_ns)),
    ("reads found in the cache", hit_share),
    ("backlog at the end", |r| Bytes(r.backlog_bytes).to_string()),
    ("dirty at the end", dirty_share),
    ("destaged, a second", destaged),
    ("waits for a free slot", |r| units::count(r.stalls)),
    ("acknowledged, not durable", |r| units::count(r.not_durable)),
    ("NAND bytes per host byte", |r| ratio(r.nand_per_host_byte)),
];

const COST_ROWS: [TierTableRow<LifeCost>; 3] = [
    ("host data until worn out", |c| {
        units::decimal_bytes(c.host_bytes)
    }),
    ("days until then, this load", |c| units::rate(c.days)),
    ("years at the rated pace", |c| ratio(c.years_at_rated_pace)),
];

fn hit_share(run: &Tier) -> String {
    let reads = run.hits.count + run.misses.count;
    match reads {
        0 => units::NOTHING.into(),
        _ => format!("{:.1} %", 100.0 * run.hits.count as f64 / reads as f64),
    }
}

fn dirty_share(run: &Tier) -> String {
    per_cent(run.samples.last().map_or(0.0, |s| s.dirty_share))
}

fn destaged(run: &Tier) -> String {
    let seconds = run.spec.duration.as_secs_f64().max(1e-9);
    units::throughput(run.destaged_bytes as f64 / seconds)
}
