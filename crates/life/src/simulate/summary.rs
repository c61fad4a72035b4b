//! The summary of a life on a terminal of 80 columns.

use super::result::{LoadLatency, PurposeWork, Simulation};
use ssdlab_ssd::Bytes;
use ssdlab_view::units;

/// Width of the bars.
const BAR: usize = 30;

/// Per cent, one decimal.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// WAF as it is shown everywhere.
pub(crate) fn waf(value: Option<f64>) -> String {
    value.map_or(units::NOTHING.into(), |waf| format!("{waf:.3}"))
}

/// The figures of the drive that every WAF depends on, name and value.
pub(crate) fn drive_rows(s: &Simulation) -> Vec<(&'static str, String)> {
    let d = &s.drive;
    let mut rows = vec![
        (
            "capacity",
            format!("user {}, raw {}", Bytes(d.user_bytes), Bytes(d.raw_bytes)),
        ),
        (
            "superblocks",
            format!(
                "N = {} of Np = {} mapping units; R = {} kept free, K = {} open",
                d.superblocks, d.slots_per_superblock, d.free_superblocks_low, d.open_superblocks
            ),
        ),
        (
            "over-provisioning",
            format!(
                "nominal {} (raw - user) / user; effective {}",
                percent(d.op_nominal),
                percent(d.op_effective)
            ),
        ),
        (
            "spare factor",
            format!(
                "{} (raw - user) / raw: not the same number",
                percent(d.spare_factor)
            ),
        ),
        ("victim policy", d.victim.clone()),
    ];
    if !d.settings.is_empty() {
        rows.push(("set", d.settings.join(" ")));
    }
    rows.extend(d.history.iter().map(|line| ("before", line.clone())));
    rows
}

/// What was done, in a line.
pub(crate) fn load_text(s: &Simulation) -> String {
    let mut text = format!("{} {}", s.load, Bytes(s.block.into()));
    let writes = 100 - s.read_pct - s.trim_pct;
    if writes < 100 {
        text += &format!(", {writes} % writes, {} % reads", s.read_pct);
    }
    if s.trim_pct > 0 {
        text += &format!(", {} % trims", s.trim_pct);
    }
    if let Some(depth) = s.depth {
        text += &format!(", QD{depth}");
    }
    if s.used_pct < 100 {
        text += &format!(", {} % of the capacity in use", s.used_pct);
    }
    text + &format!(", seed {}; fill {}", s.seed, s.fill)
}

/// Bytes written, and the time that the drive took.
pub(crate) fn extent(s: &Simulation) -> String {
    let written = units::decimal_bytes(s.host_bytes as f64);
    let times = format!("{:.2} times the user capacity", s.drive_writes);
    let mut text = format!("{written} written, {times}");
    if let Some(seconds) = s.virtual_s {
        text += &format!(", {} of virtual time", units::clock(seconds));
    }
    text
}

/// The purpose's share of the work, by time where there is time; and what it was.
pub(crate) fn shares(work: &[PurposeWork]) -> Vec<(&'static str, f64, String)> {
    let timed = work.iter().any(|w| w.busy_s.is_some());
    let amount = |w: &PurposeWork| {
        if timed {
            w.busy_s.unwrap_or(0.0)
        } else {
            w.slots as f64
        }
    };
    let whole: f64 = work.iter().map(amount).sum();
    let rows = work.iter().filter(|w| !timed || w.busy_s.is_some());
    rows.filter(|w| amount(w) > 0.0)
        .map(|w| {
            let amount_text = if timed {
                format!("{} of dies", units::clock(amount(w)))
            } else {
                format!("{} mapping units", units::count(w.slots))
            };
            (w.purpose, amount(w) / whole, amount_text)
        })
        .collect()
}

/// The summary, without a line end at its end.
pub fn summary(s: &Simulation) -> String {
    let mut lines = vec![
        format!("{}: {}", s.drive.name, s.drive.title),
        format!("{} gear; {}", s.gear, load_text(s)),
        extent(s),
    ];
    if s.stopped {
        lines.push("stopped early: what follows is what there is".into());
    }
    lines.push(String::new());
    lines.push(format!(
        "WAF               {} under this load; last quarter {}",
        waf(s.waf),
        waf(s.waf_last_quarter)
    ));
    if let Some(iops) = s.iops {
        let last = s
            .iops_last_quarter
            .map_or(units::NOTHING.into(), units::rate);
        lines.push(format!(
            "IOPS              {}; last quarter {last}",
            units::rate(iops)
        ));
    }
    if let Some(watts) = s.watts {
        lines.push(format!("power             {watts:.2} W on average"));
    }
    if let Some([dies, channels]) = s.utilisation {
        let text = format!("dies {}, channels {}", percent(dies), percent(channels));
        lines.push(format!("busy              {text} of the drive's life"));
    }
    lines.extend(
        drive_rows(s)
            .iter()
            .map(|(name, value)| format!("{name:18}{value}")),
    );
    latencies(&s.latency, &mut lines);
    let timed = s.work.iter().any(|w| w.busy_s.is_some());
    lines.push(String::new());
    lines.push(if timed {
        "where the NAND time went under this load".into()
    } else {
        "what the NAND was programmed with under this load".into()
    });
    for (name, share, what) in shares(&s.work) {
        let length = (share * BAR as f64).round() as usize;
        lines.push(format!(
            "  {name:11}{:>7}  {:BAR$} {what}",
            percent(share),
            "#".repeat(length)
        ));
    }
    counters(s, &mut lines);
    placement(s, &mut lines);
    lines.extend(
        s.failures()
            .iter()
            .map(|f| format!("self-check FAILED: {f}")),
    );
    if s.failures().is_empty() {
        let names: Vec<&str> = s.checks.iter().map(|c| c.name.as_str()).collect();
        lines.push(format!("self-checks passed: {}", names.join(", ")));
    }
    lines.join("\n")
}

fn latencies(latencies: &[LoadLatency], lines: &mut Vec<String>) {
    if latencies.is_empty() {
        return;
    }
    let row = |[op, count, times @ ..]: [String; 8]| {
        let times: String = times.iter().map(|time| format!("{time:>10}")).collect();
        format!("{op:8}{count:>12}{times}")
    };
    lines.push(String::new());
    let head = [
        "latency", "commands", "mean", "p50", "p99", "p99.9", "p99.99", "longest",
    ];
    lines.push(row(head.map(str::to_owned)));
    lines.extend(latencies.iter().map(|l| row(l.cells())));
}

/// The figures of the FDP statistics and events logs, where the host names streams.
fn placement(s: &Simulation, lines: &mut Vec<String>) {
    let Some(p) = &s.placement else { return };
    lines.push(String::new());
    lines.push(format!(
        "data placement: {} handles, {}, reclaim units of {}",
        p.handle_count,
        p.handles,
        Bytes(p.reclaim_unit_bytes)
    ));
    for (name, bytes) in [
        ("host bytes with metadata", p.host_bytes_with_metadata),
        ("media bytes written", p.media_bytes_written),
        ("media bytes erased", p.media_bytes_erased),
    ] {
        lines.push(format!("  {name:26}{:>16}", units::count(bytes)));
    }
    let moved = units::count(p.media_reallocated);
    lines.push(format!("  {:26}{moved:>16}", "events: media reallocated"));
}

/// Counters that are not zero, two a line, and wear.
fn counters(s: &Simulation, lines: &mut Vec<String>) {
    lines.push(String::new());
    let cells: Vec<String> = s
        .counters
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| format!("{name:22}{:>16}", units::count(*count)))
        .collect();
    lines.extend(cells.chunks(2).map(|pair| pair.join("   ")));
    let e = &s.erases;
    lines.push(format!(
        "erases of a superblock since the factory: {} to {}, mean {:.1}",
        e.min, e.max, e.mean
    ));
}
