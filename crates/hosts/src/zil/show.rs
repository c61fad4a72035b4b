//! A run of the intent log as text, at most 80 columns, and as JSON.

use super::fit::ZilTraceFit;
use super::run::LogDevicePattern;
use super::scenario::{LogDevice, Zil};
use crate::show::line;
use serde_json::{Value, json};
use ssdlab_base::check::lines;
use ssdlab_load::trace::PatternRow;
use ssdlab_ssd::Nanos;
use ssdlab_view::text::wrap;
use ssdlab_view::units;
use std::fmt::Write as _;

/// Columns of a bar.
const BAR: usize = 40;
/// Intervals shown on the terminal.
const ROWS: usize = 20;

/// The latency that `per_mille` of the writes were at most.
fn quantile(sorted: &[Nanos], per_mille: usize) -> u64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * per_mille / 1000).map_or(0, |t| t.0)
}

const QUANTILES: [(&str, usize); 5] = [
    ("50%", 500),
    ("90%", 900),
    ("99%", 990),
    ("99.9%", 999),
    ("max", 1000),
];

/// A run as JSON.
pub fn json(run: &Zil, device: &LogDevice) -> Value {
    let (spec, found, counts) = (&run.spec, &run.pattern, &run.counts);
    let mut sorted = counts.latencies.clone();
    sorted.sort_unstable();
    let latency: serde_json::Map<_, _> = QUANTILES
        .iter()
        .map(|(name, at)| ((*name).to_owned(), json!(quantile(&sorted, *at))))
        .collect();
    let rows: Vec<_> = found.rows.iter().map(row_json).collect();
    json!({
        "preset": spec.preset.name(),
        "writers": spec.writers,
        "datasets": spec.datasets,
        "seed": spec.seed,
        "device": device.name,
        "device_bytes": device.capacity,
        "elapsed_ns": found.elapsed.0,
        "interrupted": found.interrupted,
        "sync_writes": counts.writes,
        "sync_bytes": counts.bytes,
        "sync_latency_ns": latency,
        "log_blocks": counts.blocks,
        "flushes": counts.flushes,
        "groups": counts.groups,
        "log_full": counts.full,
        "trims": counts.trims,
        "trimmed_bytes": counts.trimmed_bytes,
        "pattern": rows,
        "pattern_total": row_json(&found.total),
        "seeks": found.seeks.buckets(),
        "checks": run.checks,
        "rests_on": device.rests_on,
        "fit": spec.fit.as_ref().map(|fit| fit_json(fit, found)),
    })
}

fn fit_json(fit: &ZilTraceFit, pattern: &LogDevicePattern) -> Value {
    let (structure, beside) = (&fit.structure, fit.beside(pattern));
    json!({
        "blocks": structure.blocks,
        "logs_by_allocator": structure.logs,
        "whole_blocks": structure.whole(),
        "gaps": structure.gaps,
        "sizes_of_2_1": structure.buckets(),
        "cycle_ns": structure.cycle.0,
        "cycle_per_kib_ns": structure.cycle_per_kib.0,
        "disorder": structure.disorder,
        "disorder_of_model": fit.disorder,
        "think_jitter_pct": fit.think_jitter_pct,
        "random_pct": {
            "trace": beside.random_trace,
            "trace_unmerged": beside.random_apart,
            "model": beside.random_model,
        },
        "seeks_total_variation": beside.seeks,
    })
}

/// What a trace shows, and how far the model is from it.
fn fit_text(out: &mut String, fit: &ZilTraceFit, pattern: &LogDevicePattern) {
    let (structure, beside) = (&fit.structure, fit.beside(pattern));
    let logs: Vec<String> = structure.logs.iter().map(usize::to_string).collect();
    let (whole, sizes) = (
        if structure.whole() {
            "written whole (pool version below 23)"
        } else {
            "written as far as used"
        },
        if structure.buckets() {
            "4, 12, 36, 68 or 128 KiB (ZFS 2.1)"
        } else {
            "any multiple of 4 KiB (2010)"
        },
    );
    let _ = writeln!(
        out,
        "\nThe trace: {} log blocks, {whole}, of\n{sizes}; logs by allocator: {}",
        units::count(structure.blocks as u64),
        logs.join(" + "),
    );
    let _ = writeln!(
        out,
        "A writer takes {} and {} per KiB; disorder {:.2} (0: in turn)",
        units::time(structure.cycle.0),
        units::time(structure.cycle_per_kib.0),
        structure.disorder,
    );
    let _ = writeln!(
        out,
        "Fitted: {} % of that time varies (disorder {:.2})\nPredicted: random {:.1} % (trace \
         {:.1} %, {:.1} % with merged neighbours taken\napart); seeks {:.2} apart in total \
         variation (0 to 1)",
        fit.think_jitter_pct,
        fit.disorder,
        beside.random_model,
        beside.random_trace,
        beside.random_apart,
        beside.seeks,
    );
}

fn row_json(row: &PatternRow) -> Value {
    json!({
        "interval": row.interval,
        "random_pct": row.random_pct(),
        "sequential_pct": row.sequential_pct(),
        "count": row.count,
        "random": row.random,
        "min": row.min,
        "max": row.max,
        "mean": row.mean(),
        "kib_read": row.kib_read(),
        "kib_written": row.kib_written(),
    })
}

/// A run for the terminal.
pub fn text(run: &Zil, device: &LogDevice) -> String {
    let (spec, found, counts) = (&run.spec, &run.pattern, &run.counts);
    let seconds = found.elapsed.as_secs_f64().max(1e-9);
    let mut out = format!(
        "ZFS intent log, code of {}: {} on {}\nlog device: {}, {}; {}\n\n",
        spec.preset.name(),
        counted(spec.writers, "writer"),
        counted(spec.datasets, "dataset"),
        device.name,
        units::bytes(device.capacity),
        units::time(found.elapsed.0),
    );
    pattern_text(&mut out, found);
    seeks_text(&mut out, found);
    let mut sorted = counts.latencies.clone();
    sorted.sort_unstable();
    let _ = writeln!(
        out,
        "\nSynchronous writes: {} ({}/s), {} ({}/s)",
        units::count(counts.writes),
        units::rate(counts.writes as f64 / seconds),
        units::bytes(counts.bytes),
        units::bytes((counts.bytes as f64 / seconds) as u64),
    );
    let _ = write!(out, "Latency:");
    for (name, at) in QUANTILES {
        let _ = write!(out, "  {name} {}", units::time(quantile(&sorted, at)));
    }
    let _ = writeln!(
        out,
        "\nLog: {} blocks, {} written, {} flushes, {} groups synced{}",
        units::count(counts.blocks),
        units::bytes(found.total.bytes_written),
        units::count(counts.flushes),
        counts.groups,
        match counts.full {
            0 => String::new(),
            times => format!("; full {times} times"),
        },
    );
    if spec.autotrim {
        let _ = writeln!(
            out,
            "Trims of freed blocks: {}, {}",
            units::count(counts.trims),
            units::bytes(counts.trimmed_bytes),
        );
    }
    if let Some(fit) = &spec.fit {
        fit_text(&mut out, fit, found);
    }
    for line in lines(&run.checks) {
        let _ = writeln!(out, "{line}");
    }
    for line in &device.rests_on {
        let text = wrap(line.as_ref(), 68).join("\n          ");
        let _ = writeln!(out, "rests on: {text}");
    }
    out
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

const WIDTHS: [usize; 9] = [8, 5, 5, 7, 7, 7, 7, 6, 9];

fn pattern_text(out: &mut String, pattern: &LogDevicePattern) {
    let head = ["%RAN", "%SEQ", "COUNT", "MIN", "MAX", "AVG", "KR", "KW"];
    *out += &line("interval", &WIDTHS, &head);
    for row in pattern.rows.iter().take(ROWS) {
        *out += &row_text(&row.interval.to_string(), row);
    }
    if pattern.rows.len() > ROWS {
        let more = pattern.rows.len() - ROWS;
        let _ = writeln!(out, "{:>8} {more} more (--json has all)", "...");
    }
    *out += &row_text("all", &pattern.total);
}

fn row_text(first: &str, row: &PatternRow) -> String {
    let cells = [
        row.random_pct(),
        row.sequential_pct(),
        row.count,
        row.min,
        row.max,
        row.mean(),
        row.kib_read(),
        row.kib_written(),
    ];
    line(
        &format!("{first:>8}"),
        &WIDTHS,
        &cells.map(|cell| cell.to_string()),
    )
}

fn seeks_text(out: &mut String, pattern: &LogDevicePattern) {
    let total = pattern.seeks.count().max(1);
    let _ = writeln!(
        out,
        "\nSeek distance, sectors of 512 B (0: follows the write before)"
    );
    for (bucket, count) in pattern.seeks.buckets() {
        let bar = (count as usize * BAR).div_ceil(total as usize);
        let _ = writeln!(
            out,
            "{bucket:>9} |{:<BAR$} {count:>9} {:>6.2} %",
            "@".repeat(bar),
            100.0 * count as f64 / total as f64
        );
    }
}
