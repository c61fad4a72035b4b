//! The page of a fingerprint: every value with the plot behind it.

use super::course::Fingerprint;
use super::probes::Probe;
use super::series::AckSeries;
use super::show::cells;
use maud::{Markup, html};
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartUnit, Charts};
use ssdlab_view::line::ChartPoints;
use ssdlab_view::{page, parts, units};

/// Windows of a series that is drawn.
const WINDOWS: f64 = 300.0;

/// The page.
pub fn fingerprint_page(fingerprint: &Fingerprint) -> String {
    let charts = &mut Charts::default();
    let known = fingerprint
        .values
        .iter()
        .filter(|value| value.value.is_some())
        .count();
    let body = html! {
        header .answer {
            p .kicker { "ssdlab fingerprint" span .quiet { " - " (fingerprint.target.name) } }
            h1 { (known) " of " (fingerprint.values.len()) " values measured, the others UNKNOWN" }
            p .quiet {
                "Through the block interface alone. fingerprint.toml holds the drive: measured \
                 values with their intervals; what is UNKNOWN is taken from an archetype there."
            }
        }
        @for probe in Probe::ALL { (section(fingerprint, probe, charts)) }
        (cost(fingerprint))
    };
    page::page("fingerprint of a drive", body, charts)
}

fn section(fingerprint: &Fingerprint, probe: Probe, charts: &mut Charts) -> Markup {
    let head = parts::heads(&["Of the drive", "Value", "Interval", "Seen, or why not"]);
    let values = fingerprint
        .values
        .iter()
        .filter(|value| value.probe == probe);
    let rows: Vec<Vec<Markup>> = values
        .map(|value| {
            let cells = cells(value).into_iter().chain([value.why.clone()]);
            cells.map(|cell| html! { (cell) }).collect()
        })
        .collect();
    let left_out = fingerprint
        .left_out
        .iter()
        .find(|(omitted, _)| *omitted == probe);
    html! {
        section {
            h2 { (probe.purpose()) }
            p .quiet { "Probe: " (probe.name()) }
            @if let Some((_, why)) = left_out { p { "Left out: " (why) } }
            @if !rows.is_empty() { (parts::table(&head, &rows)) }
            (plot(fingerprint, probe, charts))
        }
    }
}

fn chart(title: &str, unit: ChartUnit, axis: ChartAxis, points: (Vec<f64>, Vec<f64>)) -> Chart {
    let line = ChartPoints {
        x: points.0,
        y: points.1.into_iter().map(Some).collect(),
    };
    Chart {
        title: title.into(),
        unit,
        axis,
        lines: vec![ChartLine {
            label: "measured".into(),
            colour: 0,
            dash: 0,
            hidden: false,
            line,
        }],
        notes: Vec::new(),
        group: title.into(),
        same_scale: false,
    }
}

fn rates(series: &AckSeries, bytes: u64) -> (Vec<f64>, Vec<f64>) {
    let (x, y) = series.rates(series.bytes() / WINDOWS);
    (
        x.into_iter()
            .map(|position| position / bytes as f64)
            .collect(),
        y,
    )
}

fn plot(fingerprint: &Fingerprint, probe: Probe, charts: &mut Charts) -> Markup {
    let r = &fingerprint.readings;
    let mut add_chart =
        |title: &str, unit, axis, points| charts.add(chart(title, unit, axis, points));
    let over = |series: &Option<AckSeries>| {
        series
            .as_ref()
            .map_or_else(Default::default, |series| rates(series, fingerprint.bytes))
    };
    let (writes, rate) = (ChartAxis::Writes, ChartUnit::Throughput);
    match probe {
        Probe::Fill => add_chart(
            "Rate while the emptied drive is filled",
            rate,
            writes,
            over(&r.fill),
        ),
        Probe::Rewrite => add_chart(
            "Rate while one half is rewritten, twice",
            rate,
            writes,
            over(&r.rewrite),
        ),
        Probe::Trimmed => add_chart(
            "Rate at random, the other half trimmed",
            rate,
            writes,
            over(&r.trimmed),
        ),
        Probe::Reads => {
            let points = r
                .reads
                .iter()
                .map(|reading| (f64::from(reading.depth).log2(), reading.iops));
            add_chart(
                "Random reads a second by depth",
                ChartUnit::Rate,
                ChartAxis::Depth,
                points.unzip(),
            )
        }
        Probe::Spans => {
            let points = r
                .spans
                .iter()
                .map(|(span, ns)| ((*span as f64).log2(), *ns));
            add_chart(
                "Time of a single read by span",
                ChartUnit::Time,
                ChartAxis::Size,
                points.unzip(),
            )
        }
        Probe::Buffer => {
            let shown = r.bursts.as_ref().map(|bursts| bursts.shown.as_slice());
            let steps = burst_rates(shown.unwrap_or_default());
            let title = "Rate of a burst by bytes acknowledged since it began";
            add_chart(title, rate, ChartAxis::Size, steps.into_iter().unzip())
        }
        Probe::Flush => singles(r.singles.as_ref()),
    }
}

/// Rate of a burst over windows that grow with the bytes acknowledged, by their logarithm.
fn burst_rates(acks: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut rates = Vec::new();
    let mut from = 0;
    while let Some(part) = acks.get(from..=from + 8 + from / 6) {
        from += part.len() - 1;
        if let (Some(first), Some(last)) = (part.first(), part.last()) {
            let rate = (last.1 - first.1) / (last.0 - first.0).max(1e-9);
            rates.push((last.1.log2(), rate));
        }
    }
    rates
}

/// Single writes: quantiles.
fn singles(measured: Option<&[Vec<f64>; 3]>) -> Markup {
    let head = parts::heads(&["Write of 4 KiB", "Median", "90 %", "Longest"]);
    let names = ["plain", "with FUA", "with a FLUSH after it"];
    let rows = measured
        .into_iter()
        .flatten()
        .zip(names)
        .map(|(times, name)| {
            let mut sorted = times.clone();
            sorted.sort_by(f64::total_cmp);
            let quantile = |share: usize| sorted.get(((sorted.len() - 1) * share) / 100).copied();
            let cells = [quantile(50), quantile(90), quantile(100)]
                .map(|ns| units::time_mean(ns.unwrap_or(f64::NAN)));
            let cells = std::iter::once(name.to_string()).chain(cells);
            cells.map(|cell| html! { (cell) }).collect()
        });
    let rows: Vec<Vec<Markup>> = rows.collect();
    html! { @if !rows.is_empty() { (parts::table(&head, &rows)) } }
}

fn cost(fingerprint: &Fingerprint) -> Markup {
    let head = parts::heads(&["Probe", "Written", "Announced", "Seconds", "Announced"]);
    let bytes = |count: u64| units::decimal_bytes(count as f64);
    let rows = fingerprint.done.iter().map(|completed| {
        let cells = [
            completed.probe.name().to_string(),
            bytes(completed.cost.bytes),
            bytes(completed.announced.bytes),
            format!("{:.0}", completed.cost.seconds),
            format!("{:.0}", completed.announced.seconds),
        ];
        cells.map(|cell| html! { (cell) }).to_vec()
    });
    let rows: Vec<Vec<Markup>> = rows.collect();
    html! { section { h2 { "Cost" } (parts::table(&head, &rows)) } }
}
