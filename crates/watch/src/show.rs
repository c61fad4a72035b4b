//! The report as text of 80 columns, the answer last.

use crate::cause::CauseLayer;
use crate::figures::{KindFigures, WatchFigures};
use crate::forecast;
use crate::judge::{Certainty, LiveAnswer, LiveFinding};
use crate::model::{ModelComparison, WORSE};
use crate::report::WatchReport;
use crate::show_latency;
use crate::source::event::RequestKind;
use crate::source::host_counters::HostCounters;
use crate::stall::Stall;
use ssdlab_judge::others;
use ssdlab_view::text::{self, PLAIN};
use ssdlab_view::{spark, units};
use std::fmt::Write as _;

/// Processes that are shown.
const PROCESSES: usize = 4;
/// Costs of a model that are shown.
const COSTS: usize = 3;
/// Stalls that are shown.
const STALLS: usize = 3;
/// Seconds that are shown as a line.
const LINE_SECONDS: usize = 48;

/// The whole report.
pub fn text(report: &WatchReport) -> String {
    let figures = &report.figures;
    let mut out = head(report);
    out.push('\n');
    out += &table(figures);
    out += &show_latency::table(report);
    out += &lines(report);
    if !figures.processes.is_empty() {
        out += &processes(figures);
    }
    out += &movers(&report.counters);
    if !report.stalls.is_empty() {
        let lines: Vec<String> = report.stalls.iter().take(STALLS).map(stall).collect();
        out += &text::list("Longest waits", &lines);
    }
    if let Some(model) = &report.model {
        out += &text::paragraph("its kind", &modelled(model));
    }
    for credit in &report.credits {
        out += &text::paragraph("credit", &credit.sentence());
    }
    if let Some(forecast) = &report.forecast {
        out += &forecast::lines(forecast);
    }
    let drive = &report.drive;
    if let Some(others) = others::said(drive.model.as_deref(), drive.capacity, None) {
        out += &text::paragraph("others", &format!("measured of this model: {others}"));
    }
    out.push('\n');
    out += &answer(&report.answer);
    out
}

fn head(report: &WatchReport) -> String {
    let drive = &report.drive;
    let model = drive.model.as_deref().unwrap_or("unknown model");
    let size = drive.capacity.map_or(String::new(), |bytes| {
        format!(", {}", units::decimal_bytes(bytes as f64))
    });
    let mut out = text::paragraph(
        "",
        &format!(
            "{} on {} ({model}{size}), watched for {}",
            drive.given,
            drive.device,
            units::clock(report.watched_s)
        ),
    );
    let used: Vec<&str> = report
        .sources
        .iter()
        .filter(|source| source.missing.is_none())
        .map(|source| source.name.as_str())
        .collect();
    out += &text::paragraph("by", &used.join(", "));
    for (why, names) in missing(report) {
        out += &text::paragraph("without", &format!("{}: {why}", names.join(", ")));
    }
    out += &show_latency::origin(report);
    if report.lost_events > 0 {
        let lost = units::plural(report.lost_events, "event");
        out += &text::paragraph("lost", &format!("{lost}: the rings were full"));
    }
    out
}

/// Sources that were not there, by reason.
fn missing(report: &WatchReport) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for source in &report.sources {
        let Some(why) = source.missing.as_deref() else {
            continue;
        };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, names)) => names.push(&source.name),
            None => reasons.push((why, vec![&source.name])),
        }
    }
    reasons
}

fn table(figures: &WatchFigures) -> String {
    let mut table = text::new_table(PLAIN);
    let (middle, late) = if figures.only_means {
        ("mean", "")
    } else {
        ("median", "99 %")
    };
    table.set_header(["", "a second", "", "in host", middle, late, "longest"]);
    for kind in RequestKind::ALL {
        let of_kind = figures.kind(kind);
        if of_kind.count() == 0 {
            continue;
        }
        table.add_row(row(kind, of_kind, figures));
    }
    text::finish(&table)
}

fn row(kind: RequestKind, of_kind: &KindFigures, figures: &WatchFigures) -> [String; 7] {
    let seconds = figures.seconds.max(1e-3);
    let bytes = match kind {
        RequestKind::Flush => String::new(),
        _ => units::throughput(of_kind.bytes as f64 / seconds),
    };
    let unless_mean = |time: u64| {
        if figures.only_means {
            String::new()
        } else {
            units::time(time)
        }
    };
    [
        kind.name().to_owned(),
        units::rate(of_kind.count() as f64 / seconds),
        bytes,
        unless_mean(of_kind.queue.median_ns),
        units::time(of_kind.device.median_ns),
        unless_mean(of_kind.device.p99_ns),
        unless_mean(of_kind.device.max_ns),
    ]
}

/// Seconds as lines, and what the drive was doing.
fn lines(report: &WatchReport) -> String {
    let figures = &report.figures;
    let mut out = String::new();
    let seconds = &report.seconds[report.seconds.len().saturating_sub(LINE_SECONDS)..];
    let longest: Vec<f64> = seconds
        .iter()
        .map(|second| {
            let kinds = [second.reads, second.writes, second.flushes];
            kinds.iter().map(|kind| kind.max_ns).max().unwrap_or(0) as f64 / 1e6
        })
        .collect();
    let highest = longest.iter().copied().fold(0.0, f64::max);
    if seconds.len() > 2 && highest > 0.0 {
        let _ = writeln!(
            out,
            "longest wait of each second, ms; up to {}",
            units::time_mean(highest * 1e6)
        );
        for row in spark::chart(&longest, LINE_SECONDS, 2) {
            let _ = writeln!(out, "  {row}");
        }
    }
    let _ = writeln!(
        out,
        "busy {:.0} % of the time, {:.1} other requests in the drive when one comes",
        100.0 * figures.busy,
        figures.depth
    );
    if figures.writes.count() > 0 && !figures.only_means {
        let _ = writeln!(
            out,
            "writes: {:.0} % in order, over {}",
            100.0 * figures.pattern.sequential,
            units::bytes(figures.pattern.span_bytes)
        );
    }
    out
}

/// Who moved bytes, as counters say.
fn movers(counters: &HostCounters) -> String {
    let mut out = String::new();
    let mut add = |head: &str, movers: Vec<(&str, u64)>| {
        let parts: Vec<String> = movers
            .iter()
            .take(PROCESSES)
            .map(|(name, bytes)| format!("{name} {}", units::decimal_bytes(*bytes as f64)))
            .collect();
        if !parts.is_empty() {
            out += &text::paragraph(head, &parts.join(", "));
        }
    };
    let groups = counters.groups.iter();
    let groups: Vec<_> = groups
        .map(|group| (group.group.as_str(), group.bytes))
        .collect();
    // A single group says nothing.
    add(
        "by control group",
        if groups.len() > 1 { groups } else { Vec::new() },
    );
    let processes = counters.processes.iter();
    let processes = processes.map(|process| (process.name.as_str(), process.bytes()));
    add("by process, all drives", processes.collect());
    out
}

fn processes(figures: &WatchFigures) -> String {
    let all: u64 = figures
        .processes
        .iter()
        .map(|process| process.device_ns)
        .sum();
    let parts: Vec<String> = figures
        .processes
        .iter()
        .take(PROCESSES)
        .map(|process| {
            let share = 100.0 * process.device_ns as f64 / all.max(1) as f64;
            format!("{} {share:.0} %", process.name)
        })
        .collect();
    text::paragraph("the drive's time by", &parts.join(", "))
}

fn stall(stall: &Stall) -> String {
    format!(
        "{} at {:.1} s, {}: a {} of {} by {}, {} in the host and {} in the drive, beside {}",
        units::time(stall.total_ns()),
        stall.at_s,
        stall.cause_name(),
        stall.kind,
        units::bytes(stall.bytes),
        stall.process,
        units::time(stall.queue_ns),
        units::time(stall.device_ns),
        stall.beside
    )
}

fn modelled(model: &ModelComparison) -> String {
    let costs: Vec<String> = model
        .costs
        .iter()
        .take(COSTS)
        .map(|cost| format!("{} {}", cost.cause, units::time_mean(cost.ns)))
        .collect();
    let verdict = if model.is_worse() {
        format!("{} times as long as its kind", short(model.factor()))
    } else if model.factor() < 1.0 / WORSE {
        "faster than its kind in that state, which it may come to".to_owned()
    } else {
        "as its kind does".to_owned()
    };
    format!(
        "{} commands took {} each; the model of {}, overwritten until steady, takes {}: {verdict}. \
         Of the model's time: {}",
        model.commands,
        units::time_mean(model.watched_ns),
        model.drive,
        units::time_mean(model.modelled_ns),
        costs.join(", ")
    )
}

fn answer(answer: &LiveAnswer) -> String {
    match answer {
        LiveAnswer::TooLittle { requests } => text::paragraph(
            "",
            &format!(
                "UNKNOWN: {} in the last seconds say too little. Watch while it is slow.",
                units::plural(*requests, "request")
            ),
        ),
        LiveAnswer::AsExpected { why } => {
            text::paragraph("", "IT IS NOT THE DRIVE: it answers as a healthy one does.")
                + &text::paragraph("because", why)
        }
        LiveAnswer::Causes { findings } => causes(findings),
    }
}

fn causes(findings: &[LiveFinding]) -> String {
    let Some((first, others)) = findings.split_first() else {
        return String::new();
    };
    let sure = match first.certainty {
        Certainty::Shown => "",
        Certainty::Likely => " (likely: other causes would look alike)",
    };
    let mut out = String::new();
    for other in others {
        let head = format!("also {}", other.cause.name());
        let times = other
            .factor
            .map_or(String::new(), |factor| format!("{}x; ", short(factor)));
        out += &text::paragraph(&head, &format!("{times}{}", other.why));
    }
    let layer = match first.layer {
        CauseLayer::Host => "THE HOST",
        CauseLayer::Link => "THE LINK",
        CauseLayer::Drive => "THE DRIVE",
    };
    out += &text::paragraph(
        "",
        &format!(
            "{layer}: {}{sure}. {}",
            first.cause.name(),
            first.cause.sentence()
        ),
    );
    out += &text::paragraph("because", &first.why);
    if let Some(factor) = first.factor {
        let costs = format!(
            "awaited I/O would be {} times as fast without it",
            short(factor)
        );
        out += &text::paragraph("costs", &costs);
    }
    out + &text::paragraph("do", first.cause.advice())
}

fn short(factor: f64) -> String {
    if factor >= 9.95 {
        format!("{factor:.0}")
    } else {
        format!("{factor:.1}")
    }
}
