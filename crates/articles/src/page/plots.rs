//! The plots that the articles drew.

use super::{bars, measure, outcome};
use crate::reproduce::Reproduction;
use crate::reproduce::figures::number;
use maud::{Markup, html};
use ssdlab_hosts::zil::published::{SEEKS_FIVE, SEEKS_ONE};
use ssdlab_view::chart::{Axis, Chart, ChartLine, Charts, Note, Unit};
use ssdlab_view::line::Line;
use ssdlab_view::parts;

const MINUTE: f64 = 60.0;

/// No plot.
pub(super) fn none(_: &Reproduction, _: &mut Charts) -> Markup {
    html! {}
}

fn line(label: &str, colour: usize, x: Vec<f64>, y: Vec<f64>) -> ChartLine {
    ChartLine {
        label: label.to_owned(),
        colour,
        dash: colour,
        hidden: false,
        line: Line {
            x,
            y: y.into_iter().map(Some).collect(),
        },
    }
}

fn chart(title: &str, group: &str, lines: Vec<ChartLine>, notes: Vec<Note>) -> Chart {
    Chart {
        title: title.to_owned(),
        unit: Unit::Rate,
        axis: Axis::Time,
        lines,
        notes,
        group: group.to_owned(),
        same_scale: false,
    }
}

/// A series of an experiment, its points `from` seconds into the chart.
fn series(found: &Reproduction, experiment: &str, name: &str, from: f64) -> (Vec<f64>, Vec<f64>) {
    let series = outcome(found, experiment)
        .and_then(|outcome| outcome.series.iter().find(|series| series.name == name));
    series.map_or((vec![], vec![]), |series| {
        let x = (0..series.y.len()).map(|i| from + i as f64 * series.step_s);
        (x.collect(), series.y.clone())
    })
}

fn whole(
    found: &Reproduction,
    experiment: &str,
    name: &str,
    label: &str,
    colour: usize,
) -> ChartLine {
    let (x, y) = series(found, experiment, name, 0.0);
    line(label, colour, x, y)
}

/// A published level, from end to end.
fn level(label: &str, colour: usize, to_s: f64, value: f64) -> ChartLine {
    line(label, colour, vec![0.0, to_s / 2.0, to_s], vec![value; 3])
}

pub(super) fn buffered(found: &Reproduction, charts: &mut Charts) -> Markup {
    let cliff = Note::Cliff {
        at: 120.0,
        text: "as published, by about 10,000".into(),
        colour: 1,
    };
    let lines = vec![whole(found, "s2d.drive", "buffered", "ours", 0)];
    charts.add(chart(
        "Buffered (-Su): IOPS over 30 minutes",
        "s2d",
        lines,
        vec![cliff],
    ))
}

pub(super) fn through(found: &Reproduction, charts: &mut Charts) -> Markup {
    let lines = vec![
        whole(found, "s2d.drive", "through", "ours", 0),
        level("published: about 220", 1, 1800.0, 220.0),
    ];
    charts.add(chart(
        "Written through (-Suw): IOPS over 30 minutes",
        "s2d",
        lines,
        vec![],
    ))
}

pub(super) fn twin(found: &Reproduction, charts: &mut Charts) -> Markup {
    let lines = vec![
        whole(found, "s2d.twin", "buffered", "buffered", 0),
        whole(found, "s2d.twin", "through", "written through", 1),
    ];
    charts.add(chart(
        "Protected buffer: IOPS over 30 minutes",
        "s2d",
        lines,
        vec![],
    ))
}

pub(super) fn cost(found: &Reproduction, _: &mut Charts) -> Markup {
    let of = |name| measure(found, "s2d.drive", name);
    let (Some(buffered), Some(through)) = (of("buffered_waf_after"), of("through_waf_after"))
    else {
        return html! {};
    };
    html! {
        p {
            "Bytes programmed per byte written by the host, over the last twenty minutes: "
            (number(buffered)) " buffered, " (number(through)) " written through."
        }
    }
}

pub(super) fn shares(found: &Reproduction, charts: &mut Charts) -> Markup {
    let of = |experiment: &str, label: &str, colour| {
        let random = outcome(found, experiment).map_or(&[][..], |o| &o.random_pct[..]);
        let x = (0..random.len()).map(|i| i as f64).collect();
        line(
            label,
            colour,
            x,
            random.iter().map(|share| *share as f64).collect(),
        )
    };
    let lines = vec![
        of("zil.one", "one stream", 0),
        of("zil.five", "five streams", 1),
        level("published, five: highest 71", 2, 299.0, 71.0),
        level("lowest 21", 2, 299.0, 21.0),
    ];
    charts.add(Chart {
        unit: Unit::Percent,
        ..chart(
            "Random share of each interval of 1 s",
            "share",
            lines,
            vec![],
        )
    })
}

pub(super) fn seeks(found: &Reproduction, _: &mut Charts) -> Markup {
    let of = |experiment| outcome(found, experiment).map(|outcome| &outcome.seeks[..]);
    html! {
        @if let Some(ours) = of("zil.one") {
            (bars::seeks("One stream: share of the seeks, logarithmic", &SEEKS_ONE, ours))
        }
        @if let Some(ours) = of("zil.five") {
            (bars::seeks("Five streams: share of the seeks, logarithmic", &SEEKS_FIVE, ours))
        }
    }
}

/// Experiment, label, published IOPS.
type Drive = (&'static str, &'static str, f64);

const INTEL_710: [Drive; 3] = [
    ("rw80.710_100", "710 100 GB", 1661.0),
    ("rw80.710_200", "710 200 GB", 2536.0),
    ("rw80.710_300", "710 300 GB", 1926.0),
];
const INTEL_320: [Drive; 3] = [
    ("rw80.320_40", "320 40 GB", 391.0),
    ("rw80.320_160", "320 160 GB", 765.0),
    ("rw80.320_300", "320 300 GB", 922.0),
];
const X1: [Drive; 1] = [("rw80.x1", "X1", 44026.0)];

/// 80 minutes, ten idle ones left out of the line, and what comes after; published values as points
/// at the end.
fn eighty(found: &Reproduction, title: &str, drives: &[Drive]) -> Chart {
    let mut lines = Vec::new();
    for (i, (experiment, label, published)) in drives.iter().enumerate() {
        let (mut x, mut y) = series(found, experiment, "iops", 0.0);
        if x.is_empty() {
            continue;
        }
        let (x_after, y_after) = series(found, experiment, "after_idle", 90.0 * MINUTE);
        let mut values: Vec<Option<f64>> = y.drain(..).map(Some).collect();
        x.push(85.0 * MINUTE);
        values.push(None);
        x.extend(x_after);
        values.extend(y_after.into_iter().map(Some));
        let mut ours = line(label, i, vec![], vec![]);
        ours.line = Line { x, y: values };
        lines.push(ours);
        let at = vec![79.0 * MINUTE];
        lines.push(line(
            &format!("{label}, published"),
            i + 3,
            at,
            vec![*published],
        ));
    }
    chart(
        title,
        "rw80",
        lines,
        vec![Note::Phase { at: 90.0 * MINUTE }],
    )
}

pub(super) fn random_writes(found: &Reproduction, charts: &mut Charts) -> Markup {
    html! {
        div .pair {
            (charts.add(eighty(found, "Intel 710: IOPS per minute", &INTEL_710)))
            (charts.add(eighty(found, "Intel 320: IOPS per minute", &INTEL_320)))
        }
        (charts.add(eighty(found, "DDRdrive X1: IOPS per minute", &X1)))
        p .quiet {
            "Points: what was published for the last minute. The vertical line is where writing \
             begins again after ten idle minutes."
        }
    }
}

/// Every drive in one table: what a minute of it is worth.
pub(super) fn money(found: &Reproduction, _: &mut Charts) -> Markup {
    let head = parts::heads(&[
        "Drive",
        "IOPS, minute 80",
        "WAF",
        "Minute 11 / 1",
        "After idle / before",
        "Price",
        "IOPS per dollar",
        "Rated writes",
        "Used up at this rate",
    ]);
    let text = |value: Option<f64>, unit: &str| match value {
        Some(value) => html! { (number(value)) (unit) },
        None => parts::cell(None),
    };
    let row = |drive: &Drive| -> Option<Vec<Markup>> {
        let of = |name| measure(found, drive.0, name);
        of("iops")?;
        let price = of("price_usd").map(|price| format!("${}", number(price)));
        Some(vec![
            html! { (drive.1) },
            text(of("iops"), ""),
            text(of("waf"), ""),
            text(of("minute_11_over_1"), ""),
            text(of("after_idle_over_before"), ""),
            parts::cell(price.as_deref()),
            text(of("iops_per_dollar"), ""),
            text(of("rated_tb"), " TB"),
            text(of("days_to_rating"), " days"),
        ])
    };
    let drives = INTEL_710.iter().chain(&INTEL_320).chain(&X1);
    let rows: Vec<Vec<Markup>> = drives.filter_map(row).collect();
    html! { @if !rows.is_empty() { (parts::table(&head, &rows)) } }
}

/// Short name and title of article spare's drives.
const SPARE: [(&str, &str); 4] = [
    ("sf28", "SF-1200, 28 % spare"),
    ("sf13", "SF-1200, 13 % spare"),
    ("x25m", "X25-M G2"),
    ("barefoot", "Indilinx Barefoot"),
];

fn per_cent_of_new(found: &Reproduction, title: &str, state: &str) -> Markup {
    let groups = [("light", "Light trace"), ("heavy", "Heavy trace")].map(|(weight, name)| {
        let of = |(short, title): &(&str, &'static str)| {
            let value = measure(found, "spare", &format!("{short}_{weight}_{state}"))?;
            Some((*title, value))
        };
        (name, SPARE.iter().filter_map(of).collect())
    });
    bars::grouped(title, "%", &groups)
}

pub(super) fn full(found: &Reproduction, _: &mut Charts) -> Markup {
    per_cent_of_new(found, "Full: per cent of new performance.", "full")
}

pub(super) fn dirty(found: &Reproduction, charts: &mut Charts) -> Markup {
    html! {
        (per_cent_of_new(found, "Full and dirty: per cent of new performance.", "dirty"))
        div .pair {
            @for weight in ["light", "heavy"] { (charts.add(by(found, weight, "share"))) }
        }
        p {
            "That is a pass in order with some random writes. Random writes and nothing else after \
             the fill, which is worse than what the article did:"
        }
        div .pair {
            @for weight in ["light", "heavy"] { (charts.add(by(found, weight, "dirt"))) }
        }
    }
}

/// What is left by the random share of the second pass, or by how much was written at random alone.
fn by(found: &Reproduction, weight: &str, what: &str) -> Chart {
    let lines = SPARE.iter().enumerate().map(|(i, (short, title))| {
        let points = curve(found, "spare", &format!("{short}_{weight}_by_{what}"));
        line(title, i, points.0, points.1)
    });
    let (by, axis) = match what {
        "share" => ("random share of the second pass", Axis::Percent),
        _ => ("user capacities written at random alone", Axis::Writes),
    };
    let title = format!("Of new performance, {weight} trace, by {by}");
    Chart {
        axis,
        unit: Unit::Percent,
        ..chart(&title, what, lines.collect(), vec![])
    }
}

/// A curve of an experiment; empty when it is not there.
fn curve(found: &Reproduction, experiment: &str, name: &str) -> (Vec<f64>, Vec<f64>) {
    let points = outcome(found, experiment).and_then(|outcome| outcome.curves.get(name));
    points.into_iter().flatten().copied().unzip()
}

/// Curves of an experiment by name and label, over `axis`.
fn curves(
    found: &Reproduction,
    experiment: &str,
    title: &str,
    axis: Axis,
    wanted: &[(&str, &str)],
) -> Chart {
    let lines = wanted.iter().enumerate().map(|(i, (name, label))| {
        let points = curve(found, experiment, name);
        line(label, i, points.0, points.1)
    });
    let lines: Vec<ChartLine> = lines.filter(|line| !line.line.x.is_empty()).collect();
    Chart {
        axis,
        ..chart(title, title, lines, vec![])
    }
}

pub(super) fn production(found: &Reproduction, charts: &mut Charts) -> Markup {
    let wanted = [
        ("earlier_throughput", "earlier drive, no TRIM"),
        ("trim_throughput", "TRIM alone"),
        ("op_throughput", "32 % spare alone"),
        ("flat_throughput", "flat map alone"),
        ("all_throughput", "all remedies"),
        ("bought_throughput", "DC S3700, no TRIM"),
    ];
    let title = "Random reads in the mixed load, over user capacities written";
    let chart = curves(found, "myth", title, Axis::Writes, &wanted);
    let months = [
        ("never_writes", "writes, never trimmed"),
        ("trimmed_writes", "writes, TRIM at once"),
        ("never_reads", "reads, never trimmed"),
        ("trimmed_reads", "reads, TRIM at once"),
    ];
    let title = "A file system over months: throughput without and with TRIM";
    let over_months = curves(found, "myth.months", title, Axis::Months, &months);
    html! {
        (charts.add(in_bytes(chart)))
        (charts.add(in_bytes(over_months)))
    }
}

/// Values in MB/s as bytes a second, which charts know how to write.
fn in_bytes(mut chart: Chart) -> Chart {
    chart.unit = Unit::Throughput;
    for y in chart.lines.iter_mut().flat_map(|line| &mut line.line.y) {
        *y = y.map(|mb_s| mb_s * 1e6);
    }
    chart
}

pub(super) fn upkeep(found: &Reproduction, charts: &mut Charts) -> Markup {
    let wanted = [
        ("tree_upkeep", "tree, all other remedies"),
        ("flat_upkeep", "flat, all other remedies"),
    ];
    let title = "Share of the dies' time that the map takes, over user capacities written";
    let chart = curves(found, "myth", title, Axis::Writes, &wanted);
    html! { (charts.add(Chart { unit: Unit::Percent, ..chart })) }
}

pub(super) fn whole_disk(found: &Reproduction, charts: &mut Charts) -> Markup {
    let wanted = [
        ("disk_write", "random writes, first pass"),
        ("disk_steady", "random writes, for good"),
        ("disk_read", "random reads of the full drive"),
        ("disk_mixed_read", "reads beside writes"),
        ("disk_mixed_write", "writes beside reads"),
    ];
    let title = "DC S3700: IOPS over the share of the disk covered";
    html! { (charts.add(curves(found, "myth", title, Axis::Percent, &wanted))) }
}

pub(super) fn database(found: &Reproduction, charts: &mut Charts) -> Markup {
    let wanted = [("tps", "transactions a second")];
    let title = "Transactions a second over months";
    html! { (charts.add(curves(found, "myth.database", title, Axis::Months, &wanted))) }
}
