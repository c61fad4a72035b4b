//! The page of a plain run, or of several overlaid.

use crate::device::Counters;
use crate::record::{OpSecond, RunEnding, Second};
use crate::report::series::{self, RunTimeline};
use crate::report::{RunReport, headline, terminal, words};
use maud::{Markup, html};
use ssdlab_base::check::SelfCheck;
use ssdlab_ssd::Op;
use ssdlab_view::bars::swatch;
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartMark, ChartUnit, Charts, LINES_MAX};
use ssdlab_view::line::ChartPoints;
use ssdlab_view::page::page;
use ssdlab_view::{parts, units};

/// The page of one run, or of several overlaid for comparison.
pub fn run_page(runs: &[RunReport]) -> String {
    let mut charts = Charts::default();
    let body = body(runs, &mut charts);
    let title = match runs {
        [] => "no runs".to_owned(),
        [run] => format!("{} on {}", run.title, run.facts.name),
        runs => format!("{} runs compared", runs.len()),
    };
    page(&title, body, &charts)
}

fn body(runs: &[RunReport], charts: &mut Charts) -> Markup {
    let compared = runs.len() > 1;
    html! {
        @if runs.is_empty() { p { "There is no run to show." } }
        @if compared {
            header .answer {
                p .kicker .quiet { "ssdlab comparison" }
                @if let Some(sentence) = headline(runs) { h1 { (sentence) } }
                @else { h1 { (runs.len()) " runs" } }
                p .quiet { (runs.len()) " runs; the largest difference from the first one." }
            }
        }
        @for (i, run) in runs.iter().enumerate() { (header(i, run, compared)) }
        (totals(runs))
        @if compared { (ratios(runs)) }
        (over_time(runs, charts))
        (statements(runs))
        (device(runs))
        (measured_on(runs))
    }
}

fn header(i: usize, run: &RunReport, compared: bool) -> Markup {
    let class = match (&run.ending, failed_checks(run) > 0) {
        (RunEnding::Complete, false) => "run",
        _ => "fail",
    };
    html! {
        header .answer .(class) {
            p .kicker {
                @if compared { (swatch(i)) b { (run.label) } " on " }
                (run.facts.name)
                @if !compared { span .quiet { " - ssdlab run" } }
            }
            @if compared { h2 { (run.title) } } @else { h1 { (run.title) } }
            pre .command { (run.command) }
            (ending(&run.ending))
            @for premise in &run.premises { p { (premise) } }
            @for check in &run.checks {
                @if let Some(why) = &check.failure {
                    p .alarm { "✗ Self-check " (check.name) " failed: " (why) }
                }
            }
        }
    }
}

/// A run's label; its colour only where colours mean runs.
fn run_name(runs: &[RunReport], i: usize) -> Markup {
    html! { @if runs.len() > 1 { (swatch(i)) } (runs[i].label) }
}

fn failed_checks(run: &RunReport) -> usize {
    let failed = |check: &&SelfCheck| check.failure.is_some();
    run.checks.iter().filter(failed).count()
}

fn ending(ending: &RunEnding) -> Markup {
    match ending {
        RunEnding::Complete => html! {},
        RunEnding::Interrupted => html! { p .alarm { "Interrupted; what was measured stands." } },
        RunEnding::Failed(why) => html! {
            p .alarm { "✗ The target failed; what was measured until then stands: " (why) }
        },
    }
}

fn totals(runs: &[RunReport]) -> Markup {
    let head = parts::heads(&[
        "Run",
        "Phase",
        "Command",
        "IOPS",
        "Bandwidth",
        "Mean",
        "p50",
        "p99",
        "p99.9",
        "Longest",
        "Count",
        "Errors",
    ]);
    let mut rows = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        for t in &run.totals {
            let cells = [
                t.op.name().to_owned(),
                units::rate(t.iops()),
                words::bandwidth(t),
                units::time_mean(t.mean_ns),
                units::time(t.p50_ns),
                units::time(t.p99_ns),
                units::time(t.p999_ns),
                units::time(t.max_ns),
                units::count(t.count),
                units::count(t.errors),
            ];
            let name = run_name(runs, i);
            let names = [name, phase_cell(run, t.phase)];
            let cells = cells.iter().map(|text| parts::unbroken(text));
            rows.push(names.into_iter().chain(cells).collect());
        }
    }
    html! {
        section {
            h2 { "Totals" }
            @if rows.is_empty() { p .quiet { "Nothing completed." } }
            @else { (parts::table(&head, &rows)) }
        }
    }
}

/// A phase's number and name, and below what it does.
fn phase_cell(run: &RunReport, phase: usize) -> Markup {
    let action = run.phase_names.get(phase).map(|name| name.what.as_str());
    html! {
        (parts::unbroken(&run.phase_label(phase)))
        @if let Some(action) = action { br; span .quiet { (parts::unbroken(action)) } }
    }
}

fn ratios(runs: &[RunReport]) -> Markup {
    let columns: Vec<&RunReport> = runs.iter().collect();
    let mut head = vec![html! {}];
    head.extend(
        runs.iter()
            .enumerate()
            .map(|(i, run)| html! { (swatch(i)) (run.label) }),
    );
    let mut rows = Vec::new();
    for row in terminal::ratio_rows(&columns) {
        let texts = row.cells.iter().map(|c| c.as_deref().map(parts::joined));
        let cells = texts.map(|c| parts::cell(c.as_deref()));
        let label = html! { (row.label) };
        rows.push(std::iter::once(label).chain(cells).collect());
    }
    html! {
        section .comparison {
            h2 { "Beside each other" }
            p .quiet { "In brackets: the ratio to the first run." }
            (parts::table(&head, &rows))
        }
    }
}

/// Kinds of command whose latencies a page draws.
type PageLatencyField = fn(&OpSecond) -> u64;
const QUANTILES: [(&str, PageLatencyField); 4] = [
    ("p50", |o| o.p50_ns),
    ("p99", |o| o.p99_ns),
    ("p99.9", |o| o.p999_ns),
    ("longest", |o| o.max_ns),
];

fn over_time(runs: &[RunReport], charts: &mut Charts) -> Markup {
    let drawn = &runs[..runs.len().min(LINES_MAX)];
    let rates = rate_lines(drawn, series::iops);
    let bytes = rate_lines(drawn, series::throughput);
    html! {
        section {
            h2 { "Over time" }
            (parts::about_charts())
            @if runs.len() > drawn.len() {
                p { "The charts draw the first " (drawn.len()) " of " (runs.len()) " runs." }
            }
            div .stack {
                (charts.add(chart(drawn, "Commands per second", ChartUnit::Rate, rates)))
                (charts.add(chart(drawn, "Bandwidth", ChartUnit::Throughput, bytes)))
            }
            @for op in all_kinds(drawn) {
                h3 { "Latency of each second: " (op.name()) }
                (latency_charts(drawn, op, charts))
            }
        }
    }
}

fn chart(runs: &[RunReport], title: &str, unit: ChartUnit, lines: Vec<ChartLine>) -> Chart {
    Chart {
        title: title.to_owned(),
        unit,
        axis: ChartAxis::Time,
        lines,
        notes: if unit == ChartUnit::Rate {
            notes(runs)
        } else {
            vec![]
        },
        group: "run".into(),
        same_scale: false,
    }
}

/// The kinds of command that occur in a run, in `Op` order.
fn kinds(run: &RunReport) -> Vec<Op> {
    let occurs = |op: &Op| run.seconds.iter().any(|s| s.ops[*op as usize].count > 0);
    Op::ALL.into_iter().filter(occurs).collect()
}

fn all_kinds(runs: &[RunReport]) -> Vec<Op> {
    let occurs = |op: &Op| runs.iter().any(|run| kinds(run).contains(op));
    Op::ALL.into_iter().filter(occurs).collect()
}

fn line(label: &str, look: usize, line: ChartPoints) -> ChartLine {
    ChartLine {
        label: label.to_owned(),
        colour: look,
        dash: look,
        hidden: false,
        line,
    }
}

/// One run: each kind of command that moves data, and their total. Of several runs the totals.
fn rate_lines(runs: &[RunReport], value: fn(&Second, Op) -> Option<f64>) -> Vec<ChartLine> {
    let mut lines = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        let timeline = RunTimeline::new(&run.seconds);
        let mut kinds = kinds(run);
        kinds.retain(|op| *op != Op::Flush);
        if runs.len() == 1 {
            let line_of =
                |(k, op): (usize, &Op)| line(op.name(), k, timeline.line(|s| value(s, *op)));
            lines.extend(kinds.iter().enumerate().map(line_of));
        }
        if kinds.len() > 1 || runs.len() > 1 {
            let sum = |s: &Second| kinds.iter().map(|op| value(s, *op)).sum();
            let (label, look) = match runs.len() {
                1 => ("total", kinds.len()),
                _ => (run.label.as_str(), i),
            };
            lines.push(line(label, look, timeline.line(sum)));
        }
    }
    lines
}

/// One run: its quantiles in one chart. Several: a chart for each quantile, a line for each run,
/// all to one scale.
fn latency_charts(runs: &[RunReport], op: Op, charts: &mut Charts) -> Markup {
    let points = |run: &RunReport, pick: PageLatencyField| {
        let timeline = RunTimeline::new(&run.seconds);
        // Seconds of runs without histograms have no 99.9th percentile.
        let known = |s: &Second| series::latency(s, op, |s| pick(&s.ops[op as usize]));
        timeline.line(|s| known(s).filter(|ns| *ns > 0.0))
    };
    if let [run] = runs {
        let quantile = |(k, (name, pick)): (usize, &(&str, PageLatencyField))| ChartLine {
            hidden: *name == "longest",
            ..line(name, k, points(run, *pick))
        };
        let lines = QUANTILES.iter().enumerate().map(quantile).collect();
        return charts.add(chart(runs, "", ChartUnit::Time, lines));
    }
    let draw = |&(name, pick): &(&str, PageLatencyField)| {
        let of_run = |(i, run): (usize, &RunReport)| line(&run.label, i, points(run, pick));
        Chart {
            group: format!("latency {}", op.name()),
            same_scale: true,
            ..chart(
                runs,
                name,
                ChartUnit::Time,
                runs.iter().enumerate().map(of_run).collect(),
            )
        }
    };
    html! {
        div .trio { @for quantile in &QUANTILES[..3] { (charts.add(draw(quantile))) } }
    }
}

fn notes(runs: &[RunReport]) -> Vec<ChartMark> {
    let mut notes = Vec::new();
    for (colour, run) in runs.iter().enumerate() {
        let timeline = RunTimeline::new(&run.seconds);
        if colour == 0 {
            notes.extend(
                timeline
                    .later_starts()
                    .map(|start| ChartMark::Phase { at: start }),
            );
        }
        let Some(start) = timeline.start(run.analysed_phase) else {
            continue;
        };
        if let Some(steady) = run.steady.as_ref().filter(|s| s.attained) {
            let from = start + steady.window_start as f64 * run.steady_round_s;
            let to = from + steady.window.len() as f64 * run.steady_round_s;
            notes.push(ChartMark::Steady { from, to, colour });
        }
        notes.extend(run.cliff.as_ref().map(|c| ChartMark::Cliff {
            at: start + c.at_s,
            text: format!("{} to {}", units::rate(c.before), units::rate(c.after)),
            colour,
        }));
    }
    notes
}

fn statements(runs: &[RunReport]) -> Markup {
    let head = parts::heads(&["Run", "Write cliff", "Steady state", "Self-checks"]);
    let row = |(i, run): (usize, &RunReport)| {
        let checks = match (run.checks.len(), failed_checks(run)) {
            (0, _) => "none made".to_owned(),
            (n, 0) => format!("all {n} passed"),
            (n, failed) => format!("{failed} of {n} failed"),
        };
        vec![
            run_name(runs, i),
            html! { (words::cliff(run.cliff.as_ref())) },
            html! { (words::steady(run.steady.as_ref())) },
            html! { (checks) },
        ]
    };
    let rows: Vec<Vec<Markup>> = runs.iter().enumerate().map(row).collect();
    html! { section { h2 { "Cliff and steady state" } (parts::table(&head, &rows)) } }
}

fn device(runs: &[RunReport]) -> Markup {
    let head = parts::heads(&[
        "Run",
        "Phase",
        "Reads",
        "Writes",
        "of them FUA",
        "Flushes",
        "Trims",
        "Host writes",
        "NAND writes",
        "WAF",
    ]);
    let mut rows = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        for (phase, counters) in run.counters.iter().enumerate() {
            let cells = counter_cells(&counters.before, &counters.after);
            let mut row = vec![run_name(runs, i), phase_cell(run, phase)];
            let texts = cells.iter().map(|c| c.as_deref().map(parts::joined));
            row.extend(texts.map(|c| parts::cell(c.as_deref())));
            rows.push(row);
        }
    }
    html! {
        section {
            h2 { "What reached the device" }
            p .quiet { "From the device's own counters, around the counted part of each phase." }
            @if rows.is_empty() { p .quiet { "Not known." } }
            @else { (parts::table(&head, &rows)) }
        }
    }
}

fn counter_cells(before: &Counters, after: &Counters) -> Vec<Option<String>> {
    let delta =
        |pick: fn(&Counters) -> Option<u64>| Some(pick(after)?.saturating_sub(pick(before)?));
    let host = delta(|c| c.host_bytes_written);
    let nand = delta(|c| c.nand_bytes_written);
    let waf = host.zip(nand).filter(|(host, _)| *host > 0);
    vec![
        delta(|c| c.reads).map(units::count),
        delta(|c| c.writes).map(units::count),
        delta(|c| c.fua_writes).map(units::count),
        delta(|c| c.flushes).map(units::count),
        delta(|c| c.trims).map(units::count),
        host.map(units::bytes),
        nand.map(units::bytes),
        waf.map(|(host, nand)| format!("{:.2}", nand as f64 / host as f64)),
    ]
}

fn measured_on(runs: &[RunReport]) -> Markup {
    html! {
        section {
            h2 { "Measured on" }
            div .cards {
                @for (i, run) in runs.iter().enumerate() {
                    div .card {
                        h3 { @if runs.len() > 1 { (swatch(i)) } (run.facts.name) }
                        (words::facts_list(&run.facts))
                        (parts::list(&run.notes))
                    }
                }
            }
        }
    }
}
