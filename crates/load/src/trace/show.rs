//! A trace's description as text for a terminal, within 80 columns.

use super::blocks::HOTTEST;
use super::describe::{Bucket, Description, OpShare, PatternDisplayRow};
use super::read::TraceReadStats;
use ssdlab_view::units;
use std::fmt::Write as _;

/// Columns of a bar, as DTrace draws it.
const BAR: usize = 40;

/// Everything `ssdlab trace show` prints of one trace. `name` is the trace's own.
pub fn text(name: &str, reading: &TraceReadStats, d: &Description) -> String {
    let span = match d.span_ns {
        Some(span) => format!(" in {}", units::time(span)),
        None => ", no times recorded".into(),
    };
    let mut out = format!(
        "{name}: {}, {} commands{span}\n\n",
        reading.format.name(),
        units::count(d.commands),
    );
    kinds(&mut out, d);
    durability(&mut out, d);
    latencies(&mut out, d);
    pattern(&mut out, d);
    seeks(&mut out, d);
    for op in d.ops.iter().filter(|op| op.op != "flush") {
        let _ = writeln!(out, "\nSize of {}s, bytes", op.op);
        histogram(&mut out, &op.sizes, &units::bytes);
    }
    if let Some(gaps) = &d.gaps_ns {
        out += "\nTime between issues\n";
        histogram(&mut out, gaps, &|ns| units::time(ns));
    }
    sequentiality(&mut out, d);
    footprint(&mut out, d);
    out
}

/// Rate a second, where the trace has times.
fn rate(count: u64, d: &Description) -> Option<String> {
    let seconds = d.span_ns? as f64 / 1e9;
    Some(units::rate(count as f64 / seconds))
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn kinds(out: &mut String, d: &Description) {
    let _ = writeln!(
        out,
        "{:<12} {:>12} {:>7} {:>12} {:>12} {:>10}",
        "kind", "commands", "%", "bytes", "mean size", "per s"
    );
    for op in &d.ops {
        let _ = writeln!(
            out,
            "{:<12} {:>12} {:>7.2} {:>12} {:>12} {:>10}",
            op.op,
            units::count(op.count),
            percent(op.count, d.commands),
            units::bytes(op.bytes),
            units::bytes(op.bytes / op.count.max(1)),
            rate(op.count, d).unwrap_or_else(|| "-".into()),
        );
    }
}

fn share<'a>(d: &'a Description, name: &str) -> Option<&'a OpShare> {
    d.ops.iter().find(|op| op.op == name)
}

fn durability(out: &mut String, d: &Description) {
    let count = |name| share(d, name).map_or(0, |op| op.count);
    let (writes, flushes) = (count("write"), count("flush"));
    let per_write = match (writes, flushes) {
        (0, _) => String::from("no writes"),
        (_, 0) => String::from("none"),
        _ => format!(
            "{} ({:.3} for each write{})",
            units::count(flushes),
            flushes as f64 / writes as f64,
            rate(flushes, d).map_or_else(String::new, |rate| format!(", {rate}/s"))
        ),
    };
    let _ = writeln!(out, "\nflushes        {per_write}");
    for (name, part) in [
        ("FUA writes", d.fua_writes),
        ("flush first", d.preflush_writes),
    ] {
        let _ = writeln!(
            out,
            "{name:<14} {} ({:.2} % of writes)",
            units::count(part),
            percent(part, writes)
        );
    }
}

fn latencies(out: &mut String, d: &Description) {
    if d.latencies.is_empty() {
        *out += "\nThe trace does not tell when commands completed.\n";
        return;
    }
    let _ = writeln!(
        out,
        "\n{:<12} {:>12} {:>10} {:>10} {:>10} {:>10}",
        "latency", "commands", "mean", "p50", "p99", "max"
    );
    for l in &d.latencies {
        let _ = writeln!(
            out,
            "{:<12} {:>12} {:>10} {:>10} {:>10} {:>10}",
            l.op,
            units::count(l.count),
            units::time_mean(l.mean_ns),
            units::time(l.p50_ns),
            units::time(l.p99_ns),
            units::time(l.max_ns)
        );
    }
    if let (Some(mean), Some(max)) = (d.mean_depth, d.max_depth) {
        let _ = writeln!(out, "outstanding: {mean:.3} on average, {max} at most");
    }
}

fn row(out: &mut String, first: &str, row: &PatternDisplayRow) {
    let _ = writeln!(
        out,
        "{first:>9} {:>4} {:>4} {:>9} {:>7} {:>8} {:>8} {:>10} {:>10}",
        row.random_pct,
        row.sequential_pct,
        row.count,
        row.min,
        row.max,
        row.mean,
        row.kib_read,
        row.kib_written
    );
}

fn pattern(out: &mut String, d: &Description) {
    let by = match d.span_ns {
        Some(_) => format!("by {} ", units::time(d.interval_ns)),
        None => String::new(),
    };
    let _ = writeln!(
        out,
        "\nPattern {by}in order of completion, as iopattern prints it\n\
         {:>9} {:>4} {:>4} {:>9} {:>7} {:>8} {:>8} {:>10} {:>10}",
        "START(s)", "%RAN", "%SEQ", "COUNT", "MIN", "MAX", "AVG", "KR", "KW"
    );
    for pattern_row in &d.rows {
        let start = pattern_row.start_ns as f64 / 1e9;
        row(
            out,
            format!("{start:.3}").trim_end_matches(".000"),
            pattern_row,
        );
    }
    if d.rows_left_out > 0 {
        let _ = writeln!(
            out,
            "      ... {} more rows; all with --rows all",
            units::count(d.rows_left_out)
        );
    }
    row(out, "whole", &d.whole);
    if let Some((low, mean, high)) = d.row_random_pct {
        let _ = writeln!(
            out,
            "%RAN of the rows: {low} to {high}, mean {mean:.1} (idle intervals have no row)"
        );
    }
}

/// A bar of `count` in `total`, and the count.
fn bar(out: &mut String, label: &str, count: u64, total: u64) {
    let filled = (u128::from(count) * BAR as u128 / u128::from(total.max(1))) as usize;
    let _ = writeln!(out, "{label:>16} |{:<BAR$} {count}", "@".repeat(filled));
}

fn seeks(out: &mut String, d: &Description) {
    let total: u64 = d.seeks.iter().map(|(_, count)| count).sum();
    *out += "\nSeek distance in sectors in order of issue, as seeksize prints it\n";
    let _ = writeln!(
        out,
        "{:>16}  ------------- Distribution ------------- count",
        "value"
    );
    for (from, count) in &d.seeks {
        bar(out, &from.to_string(), *count, total);
    }
}

fn histogram(out: &mut String, buckets: &[Bucket], label: &dyn Fn(u64) -> String) {
    let total: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    for bucket in buckets {
        let label = match bucket.from {
            0 => "0".to_owned(),
            from => format!("from {}", label(from)),
        };
        bar(out, &label, bucket.count, total);
    }
}

fn sequentiality(out: &mut String, d: &Description) {
    let _ = writeln!(
        out,
        "\nsequential     {:.2} % start where the one completed before ended",
        100.0 - percent(d.random, d.whole.count)
    );
    for (name, follow) in ["read", "write"].into_iter().zip(d.follow_own_kind) {
        if let Some(op) = share(d, name) {
            let _ = writeln!(
                out,
                "{:<14} {:.2} % start where the {name} issued before ended",
                "",
                percent(follow, op.count)
            );
        }
    }
}

fn footprint(out: &mut String, d: &Description) {
    let Some((low, high)) = d.extent else {
        return;
    };
    let r = &d.reuse;
    let about = if r.sampled_1_in > 1 { "about " } else { "" };
    let size = |blocks: u64| units::bytes(blocks.saturating_mul(4096));
    let _ = writeln!(
        out,
        "footprint      {about}{} in blocks of 4 KiB ({} read, {} written),\n{:<14} between \
         byte {low} and byte {high}",
        size(r.blocks),
        size(r.blocks_read),
        size(r.blocks_written),
        ""
    );
    if let Some(hottest) = r.hottest_pct {
        let _ = writeln!(
            out,
            "reuse          {about}{:.2} % of block writes are rewrites;\n{:<14} \
             a written block is written {:.2} times",
            percent(r.rewrites, r.block_writes),
            "",
            r.block_writes as f64 / r.blocks_written.max(1) as f64
        );
        for (share, part) in HOTTEST.into_iter().zip(hottest) {
            let name = if share == 20 { "write skew" } else { "" };
            let _ = writeln!(
                out,
                "{name:<14} {about}{part:.2} % of block writes go to the hottest {share} % of \
                 written blocks"
            );
        }
    }
    if r.block_reads > 0 {
        let _ = writeln!(
            out,
            "{:<14} {about}{:.2} % of block reads read what the trace wrote",
            "",
            percent(r.reads_back, r.block_reads)
        );
    }
    if r.sampled_1_in > 1 {
        let _ = writeln!(
            out,
            "{:<14} (blocks: estimated from one address in {})",
            "", r.sampled_1_in
        );
    }
}
