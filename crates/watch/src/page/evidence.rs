//! Tables and lines of the page: rates, stalls, layers, limits of a role.

use crate::preflight::{LimitState, RoleCheck, SEEN, WatchedLimit};
use crate::report::WatchReport;
use crate::source::event::RequestKind;
use crate::stall::Stall;
use crate::steps::{KindSecond, WatchedSecond};
use maud::{Markup, html};
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartMark, ChartUnit, Charts};
use ssdlab_view::line::ChartPoints;
use ssdlab_view::{parts, units};
use std::collections::BTreeSet;

/// Processes that are shown.
const PROCESSES: usize = 10;

fn of_kind(second: &WatchedSecond, kind: RequestKind) -> KindSecond {
    match kind {
        RequestKind::Read => second.reads,
        RequestKind::Write => second.writes,
        RequestKind::Flush => second.flushes,
        RequestKind::Discard => second.discards,
    }
}

/// A line for each kind of request.
fn lines(report: &WatchReport, value: impl Fn(&KindSecond) -> Option<f64>) -> Vec<ChartLine> {
    let kinds = RequestKind::ALL.into_iter().enumerate();
    kinds
        .map(|(colour, kind)| {
            let counted = |second| of_kind(second, kind);
            let is_used = report.seconds.iter().any(|s| counted(s).count > 0);
            let y = report.seconds.iter().map(|second| value(&counted(second)));
            ChartLine {
                label: kind.name().to_owned(),
                colour,
                dash: colour,
                hidden: false,
                line: ChartPoints {
                    x: (1..=report.seconds.len()).map(|s| s as f64).collect(),
                    y: if is_used { y.collect() } else { Vec::new() },
                },
            }
        })
        .collect()
}

/// Rates and the longest time of each second, with the stalls.
pub(super) fn time_line(report: &WatchReport, charts: &mut Charts) -> Markup {
    if report.seconds.len() < 2 {
        return html! {};
    }
    // One line for the stalls of a second.
    let stalls: BTreeSet<u64> = report
        .stalls
        .iter()
        .map(|stall| stall.at_s as u64)
        .collect();
    let marks = || {
        let seconds = stalls
            .iter()
            .map(|&second| ChartMark::Phase { at: second as f64 });
        seconds.collect::<Vec<_>>()
    };
    let mut chart = |title: &str, unit, lines| {
        charts.add(Chart {
            title: title.to_owned(),
            unit,
            axis: ChartAxis::Time,
            lines,
            notes: marks(),
            group: "watch".to_owned(),
            same_scale: false,
        })
    };
    let rate = lines(report, |second| Some(second.count as f64));
    let longest = lines(report, |second| {
        (second.max_ns > 0).then_some(second.max_ns as f64)
    });
    html! {
        div .pair {
            (chart("Requests a second", ChartUnit::Rate, rate))
            (chart("Longest time in each second", ChartUnit::Time, longest))
        }
        @if !stalls.is_empty() {
            p .quiet { "Upright lines: seconds of the longest stalls; the table below names them." }
        }
    }
}

/// Rates and times by kind, what the drive was doing, and who asked.
pub(super) fn figures(report: &WatchReport) -> Markup {
    let figures = &report.figures;
    let seconds = figures.seconds.max(1e-3);
    let middle = if figures.only_means { "Mean" } else { "Median" };
    let head = parts::heads(&[
        "",
        "A second",
        "Bytes",
        "In the host",
        middle,
        "99 %",
        "Longest",
    ]);
    let unless_mean = |ns: u64| {
        let text = (!figures.only_means).then(|| units::time(ns));
        parts::cell(text.as_deref())
    };
    let kinds = RequestKind::ALL.into_iter();
    let rows: Vec<Vec<Markup>> = kinds
        .filter(|kind| figures.kind(*kind).count() > 0)
        .map(|kind| {
            let of_kind = figures.kind(kind);
            let bytes = units::throughput(of_kind.bytes as f64 / seconds);
            let bytes = (kind != RequestKind::Flush).then_some(bytes);
            vec![
                html! { (kind.name()) },
                html! { (units::rate(of_kind.count() as f64 / seconds)) },
                parts::cell(bytes.as_deref()),
                unless_mean(of_kind.queue.median_ns),
                html! { (units::time(of_kind.device.median_ns)) },
                unless_mean(of_kind.device.p99_ns),
                unless_mean(of_kind.device.max_ns),
            ]
        })
        .collect();
    html! {
        section {
            h2 { "Rates and times" }
            p .quiet { "Of the last " (units::clock(figures.seconds)) "; times in the drive, where \
                not said otherwise." }
            (parts::table(&head, &rows))
            p {
                "The drive was busy " (format!("{:.0}", 100.0 * figures.busy))
                " % of the time, with "
                (format!("{:.1}", figures.depth)) " other requests in it when one came."
                @if figures.writes.count() > 0 && !figures.only_means {
                    " Writes: " (format!("{:.0}", 100.0 * figures.pattern.sequential))
                    " % in order, over " (units::bytes(figures.pattern.span_bytes)) "."
                }
            }
            (processes(report))
        }
    }
}

fn processes(report: &WatchReport) -> Markup {
    let processes = &report.figures.processes;
    let all_ns: u64 = processes.iter().map(|process| process.device_ns).sum();
    let head = parts::heads(&["Process", "Number", "Requests", "Share of the drive's time"]);
    let rows: Vec<Vec<Markup>> = processes
        .iter()
        .take(PROCESSES)
        .map(|process| {
            let share = 100.0 * process.device_ns as f64 / all_ns.max(1) as f64;
            vec![
                html! { (process.name) },
                html! { (process.pid) },
                html! { (units::count(process.requests)) },
                html! { (format!("{share:.0} %")) },
            ]
        })
        .collect();
    html! { @if !rows.is_empty() { h3 { "Who asked" } (parts::table(&head, &rows)) } }
}

/// The longest stalls.
pub(super) fn stalls(stalls: &[Stall]) -> Markup {
    if stalls.is_empty() {
        return html! {
            section {
                h2 { "Stalls" }
                p { "No request that somebody waited for took 100 ms or more." }
            }
        };
    }
    let head = parts::heads(&[
        "At",
        "Request",
        "Took",
        "In the host",
        "Cause",
        "Beside it",
        "By",
    ]);
    let row = |stall: &Stall| {
        let bytes = if stall.bytes > 0 {
            format!(" of {}", units::bytes(stall.bytes))
        } else {
            String::new()
        };
        vec![
            html! { (format!("{:.1} s", stall.at_s)) },
            html! { (stall.kind) (bytes) },
            html! { (units::time(stall.total_ns())) },
            html! { (units::time(stall.queue_ns)) },
            html! { (stall.cause_name()) },
            html! { (stall.beside) },
            html! { (stall.process) },
        ]
    };
    html! {
        section {
            h2 { "Stalls" }
            p .quiet {
                "The longest requests of 100 ms or more that somebody waited for; the cause is \
                 judged by that request alone."
            }
            (parts::table(&head, &stalls.iter().map(row).collect::<Vec<_>>()))
        }
    }
}

/// Where the time goes: host and drive, and what stands above.
pub(super) fn layers(report: &WatchReport) -> Markup {
    let figures = &report.figures;
    let share = 100.0 * figures.awaited_queue_ns as f64 / figures.awaited.sum_ns.max(1) as f64;
    let head = parts::heads(&["Layer", "Its requests, mean", "The drive's, mean"]);
    let rows: Vec<Vec<Markup>> = report
        .layers
        .iter()
        .map(|layer| {
            vec![
                html! { (layer.layer) },
                html! { (units::time_mean(layer.above_ns)) },
                html! { (units::time_mean(layer.drive_ns)) },
            ]
        })
        .collect();
    html! {
        section {
            h2 { "Layers" }
            @if figures.awaited.count > 0 {
                p {
                    "Awaited requests spend " (format!("{share:.0}"))
                    " % of their time in the host's queue and "
                    (format!("{:.0}", 100.0 - share)) " % in the drive."
                }
            }
            @if rows.is_empty() { p { "Nothing stands between file system and drive." } }
            @else { (parts::table(&head, &rows)) }
        }
    }
}

/// What a model did with the same commands.
pub(super) fn model(report: &WatchReport) -> Markup {
    let Some(model) = &report.model else {
        return html! {};
    };
    let head = parts::heads(&["What costs the model time", "Each command"]);
    let rows: Vec<Vec<Markup>> = model
        .costs
        .iter()
        .map(|cost| {
            vec![
                html! { (cost.cause) },
                html! { (units::time_mean(cost.ns)) },
            ]
        })
        .collect();
    html! {
        section {
            h2 { "Its kind" }
            p {
                (units::count(model.commands as u64)) " commands took "
                (units::time_mean(model.watched_ns)) " each; on the model of " (model.drive)
                ", overwritten until steady, " (units::time_mean(model.modelled_ns)) ": "
                @if model.is_worse() {
                    (units::ratio(model.factor())) " as long as its kind."
                } @else { "not worse than its kind." }
            }
            (parts::table(&head, &rows))
        }
    }
}

/// A role's limits.
pub(super) fn limits(check: &RoleCheck) -> Markup {
    let head = parts::heads(&["", "Limit", "Seen", "Requests"]);
    let row = |limit: &WatchedLimit| {
        let (class, word) = match limit.state {
            LimitState::Met => ("pass", "met"),
            LimitState::Missed => ("fail", "missed"),
            LimitState::TooFew => ("unknown", "too few"),
        };
        let bound = match (limit.at_least, limit.at_most) {
            (Some(least), _) => format!("at least {least} {}", limit.unit),
            (None, Some(most)) => format!("at most {most} {}", limit.unit),
            (None, None) => String::new(),
        };
        let value = limit
            .value
            .map(|value| format!("{value:.2} {}", limit.unit));
        vec![
            html! {
                span .badge .(class) { (word) } " " (limit.title)
                @if !limit.must { span .need { "should" } }
            },
            html! { (bound) },
            parts::cell(value.as_deref()),
            html! { (units::count(limit.samples)) },
        ]
    };
    let not_seen: Vec<String> = check
        .not_seen
        .iter()
        .map(|limit| format!("{}: {}", limit.title, limit.settled_by))
        .collect();
    html! {
        p .quiet { (SEEN) }
        div .comparison {
            (parts::table(&head, &check.limits.iter().map(row).collect::<Vec<_>>()))
        }
        @if let Some(ceph) = &check.ceph {
            p { (ceph.option) ": " (ceph.sentence) "." }
            p .command { (ceph.command) }
        }
        @if !not_seen.is_empty() {
            h3 { "Not seen by watching; settled by" }
            (parts::list(&not_seen))
        }
    }
}
