//! Pieces of the pages: report header, steady state, lines by round, histograms.

use super::load::SniaDemand;
use super::result::{ResponseHistogram, SniaPoint, SniaTestResult, Suite, TrackingVariable};
use maud::{Markup, html};
use ssdlab_bench::analysis::SteadyState;
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartUnit, Charts};
use ssdlab_view::line::ChartPoints;
use ssdlab_view::{parts, units};

/// Colours of lines, and dash patterns.
const COLOURS: usize = 5;

/// A named set of points.
pub type NamedPoints = (String, Vec<(f64, f64)>);

/// A chart of named points; without a point it is nothing.
pub fn chart(
    charts: &mut Charts,
    title: &str,
    unit: ChartUnit,
    axis: ChartAxis,
    all: Vec<NamedPoints>,
) -> Markup {
    let line = |(at, (label, mut points)): (usize, NamedPoints)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        ChartLine {
            label,
            colour: at % COLOURS,
            dash: (at / COLOURS + at) % COLOURS,
            hidden: false,
            line: ChartPoints {
                x: points.iter().map(|(x, _)| *x).collect(),
                y: points.iter().map(|(_, y)| Some(*y)).collect(),
            },
        }
    };
    charts.add(Chart {
        title: title.to_owned(),
        unit,
        axis,
        lines: all.into_iter().enumerate().map(line).collect(),
        notes: Vec::new(),
        group: title.to_owned(),
        same_scale: false,
    })
}

/// Rows by a name, in order of its first appearance; a point of each by `x` and `y`.
pub fn grouped<'a>(
    rows: impl Iterator<Item = &'a SniaPoint>,
    name: impl Fn(&SniaPoint) -> String,
    x: impl Fn(&SniaPoint) -> f64,
    y: impl Fn(&SniaPoint) -> f64,
) -> Vec<NamedPoints> {
    let mut series: Vec<NamedPoints> = Vec::new();
    for row in rows {
        let name = name(row);
        let point = (x(row), y(row));
        match series.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => series.push((name, vec![point])),
        }
    }
    series
}

/// The head of the specification's report page: four lists.
pub fn header(suite: &Suite, tested: &SniaTestResult, setup: &[(&str, String)]) -> Markup {
    let facts = &suite.facts;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".into());
    let platform = [
        (
            "Test platform",
            "a modelled drive, in virtual time".to_owned(),
        ),
        ("Test software", format!("ssdlab {}", suite.ssdlab)),
        ("Seed", suite.seed.to_string()),
    ];
    let device = [
        ("Model", known(&facts.model)),
        ("Name", facts.name.clone()),
        ("Capacity", units::bytes(facts.capacity)),
        ("Interface", known(&facts.interface)),
        ("Purge", "a drive fresh from the factory".to_owned()),
        ("Write cache", suite.class.write_cache().to_owned()),
    ];
    let SniaDemand { threads, depth } = suite.class.demand();
    let test = [
        ("Class", suite.class.name().to_owned()),
        ("Active range", format!("{} %", suite.class.active_range())),
        ("Data pattern", "random".to_owned()),
        ("Demand of the class", format!("TC {threads}, QD {depth}")),
    ];
    html! {
        header .answer .run {
            p .kicker { "SNIA SSS TWG - Solid State Storage Performance Test Specification 2.0.2" }
            h1 { (tested.test.title()) " Test - Report Page" }
            p .quiet { "Test run " (suite.started_at) " - " (facts.name) }
            pre .command { (suite.arguments.join(" ")) }
            @if !tested.complete { p .alarm { "Stopped; what was measured stands." } }
            @for failure in &tested.failures { p .alarm { "✗ Self-check failed: " (failure) } }
        }
        section {
            h2 { "Test Platform, Device Under Test, Set-Up and Test Parameters" }
            div .cards style="grid-template-columns:repeat(auto-fit,minmax(225px,1fr))" {
                (facts_list("Test Platform", &platform))
                (facts_list("Device Under Test", &device))
                (facts_list("Set-Up Parameters", setup))
                (facts_list("Test Parameters", &test))
            }
            (parts::list(&tested.notes))
        }
    }
}

fn facts_list(title: &str, lines: &[(&str, String)]) -> Markup {
    html! {
        div {
            h3 { (title) }
            dl .facts { @for (name, value) in lines { dt { (name) } dd { (value) } } }
        }
    }
}

/// Steady-state determination: the window's plot and its numbers, for each tracked variable.
pub fn steady(tracked: &[TrackingVariable], charts: &mut Charts) -> Markup {
    html! {
        section {
            h2 { "Steady State Determination" }
            @for one in tracked {
                @match &one.steady {
                    None => { p { (one.name) ": fewer than five rounds." } }
                    Some(state) => {
                        (window(one, state, charts))
                        (numbers(one, state))
                    }
                }
            }
        }
    }
}

fn unit_of(one: &TrackingVariable) -> ChartUnit {
    match one.column.as_str() {
        "iops" => ChartUnit::Rate,
        "bytes_per_second" => ChartUnit::Throughput,
        _ => ChartUnit::Time,
    }
}

fn shown(one: &TrackingVariable, value: f64) -> String {
    match unit_of(one) {
        ChartUnit::Rate => units::rate(value),
        ChartUnit::Throughput => units::throughput(value),
        _ => units::time_mean(value),
    }
}

fn slope(one: &TrackingVariable, value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", shown(one, value.abs()))
}

fn window(one: &TrackingVariable, state: &SteadyState, charts: &mut Charts) -> Markup {
    let round = |i: usize| (state.window_start + i + 1) as f64;
    let last = state.window.len() - 1;
    let points = |value: &dyn Fn(usize) -> f64| (0..=last).map(|i| (round(i), value(i))).collect();
    let fit = |i: usize| state.average + state.slope * (i as f64 - last as f64 / 2.0);
    let lines: Vec<NamedPoints> = vec![
        (one.name.clone(), points(&|i| state.window[i])),
        ("average".into(), points(&|_| state.average)),
        ("110 % of it".into(), points(&|_| 1.1 * state.average)),
        ("90 % of it".into(), points(&|_| 0.9 * state.average)),
        ("least-squares line".into(), points(&fit)),
    ];
    let title = format!("Steady State Window - {}", one.name);
    chart(charts, &title, unit_of(one), ChartAxis::Rounds, lines)
}

fn numbers(one: &TrackingVariable, state: &SteadyState) -> Markup {
    let first = state.window_start + 1;
    let rounds = format!("{first} to {}", first + state.window.len() - 1);
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let rows = [
        ("Rounds of the window", rounds),
        (
            "Values",
            state
                .window
                .iter()
                .map(|value| shown(one, *value))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("Average", shown(one, state.average)),
        (
            "Range, at most 20 % of the average",
            percent(state.range_share),
        ),
        (
            "Excursion of the line, at most 10 %",
            percent(state.excursion_share),
        ),
        ("Slope of the line per round", slope(one, state.slope)),
        (
            "Steady state",
            if state.attained {
                "attained".to_owned()
            } else {
                "not attained".to_owned()
            },
        ),
    ];
    let rows: Vec<Vec<Markup>> = rows
        .into_iter()
        .map(|(name, value)| vec![html! { (name) }, html! { (value) }])
        .collect();
    parts::table(&parts::heads(&["Steady state", &one.name]), &rows)
}

/// Response-time histograms: a bar per half octave, and the figures of the tail.
pub fn histograms(all: &[ResponseHistogram]) -> Markup {
    html! {
        @for histogram in all {
            section {
                h2 { "Response Time Histogram - " (histogram.title) }
                (bars(histogram))
                (tail(histogram))
            }
        }
    }
}

fn bars(histogram: &ResponseHistogram) -> Markup {
    let most = histogram.buckets.iter().map(|(_, count)| *count).max();
    // Tails are rare: lengths are logarithms, from one command on.
    let top = (most.unwrap_or(1) as f64).ln_1p();
    let width = |count: u64| format!("{:.2}%", 100.0 * (count as f64).ln_1p() / top);
    html! {
        figure .bars {
            figcaption {
                "Commands by response time, from the time given up to the next one."
                span .quiet { " Lengths are logarithms of the number of commands." }
            }
            @for (low, count) in &histogram.buckets {
                div .bar {
                    span .name { (units::time(*low)) }
                    span .track {
                        span .fill .c0 style={ "width:" (width(*count)) } {}
                    }
                    span .value { (units::count(*count)) }
                }
            }
        }
    }
}

fn tail(histogram: &ResponseHistogram) -> Markup {
    let row = &histogram.row;
    let mut cells = vec![
        ("IOPS".to_owned(), units::rate(row.iops)),
        ("Average (ART)".to_owned(), units::time_mean(row.mean_ns)),
    ];
    for (percent, ns) in &histogram.percentiles_ns {
        cells.push((format!("{percent} %"), units::time(*ns)));
    }
    cells.push(("Longest (MRT)".to_owned(), units::time(row.max_ns)));
    let heads: Vec<Markup> = cells.iter().map(|(name, _)| html! { (name) }).collect();
    let values = cells.iter().map(|(_, value)| parts::unbroken(value));
    parts::table(&heads, &[values.collect()])
}
