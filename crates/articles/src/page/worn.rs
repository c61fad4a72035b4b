//! Plots of article worn, new against worn, and of the lives of mirrored drives.

use super::{bars, measure, outcome};
use crate::reproduce::Reproduction;
use crate::reproduce::figures::number;
use maud::{Markup, html};
use ssdlab_view::chart::{Axis, Chart, ChartLine, Charts, Unit};
use ssdlab_view::line::Line;
use ssdlab_view::parts;

const NEW: &str = "worn.new";
const AGED: &str = "worn.aged";
const DATA: [(&str, &str); 2] = [("repeating", "compressible"), ("random", "incompressible")];

type Points = Vec<(f64, f64)>;

/// A curve of the new drive, and of the worn one where it was measured.
fn pair(found: &Reproduction, name: &str) -> [Option<Points>; 2] {
    let of = |experiment: &str, when: &str| {
        let curves = &outcome(found, experiment)?.curves;
        curves.get(&format!("{when}_{name}")).cloned()
    };
    [of(NEW, "new"), of(AGED, "worn")]
}

fn line(label: String, colour: usize, dash: usize, points: Points) -> ChartLine {
    ChartLine {
        label,
        colour,
        dash,
        hidden: false,
        line: Line {
            x: points.iter().map(|point| point.0).collect(),
            y: points.iter().map(|point| Some(point.1)).collect(),
        },
    }
}

fn chart(title: &str, group: &str, axis: Axis, lines: Vec<ChartLine>) -> Chart {
    Chart {
        title: title.to_owned(),
        unit: Unit::Rate,
        axis,
        lines,
        notes: Vec::new(),
        group: group.to_owned(),
        same_scale: false,
    }
}

/// IOPS over queue depth: colour says the data, dash says new or worn.
fn over_depth(found: &Reproduction, title: &str, group: &str, name: &str) -> Chart {
    let mut lines = Vec::new();
    for (colour, (data, called)) in DATA.iter().enumerate() {
        let found = pair(found, &format!("{data}_{name}"));
        for (dash, (points, when)) in found.into_iter().zip(["new", "worn"]).enumerate() {
            let Some(mut points) = points else { continue };
            for point in &mut points {
                point.0 = point.0.log2();
            }
            lines.push(line(format!("{called}, {when}"), colour, dash, points));
        }
    }
    chart(title, group, Axis::Depth, lines)
}

/// The loads that the 270 TB may have been.
pub(super) fn life(found: &Reproduction, _: &mut Charts) -> Markup {
    let head = parts::heads(&[
        "Load",
        "Write amplification",
        "Life left after 270 TB",
        "Days at the array's rate",
    ]);
    let of = |n: usize, what: &str| measure(found, NEW, &format!("load_{n}_{what}"));
    let row = |n: usize| -> Option<Vec<Markup>> {
        let name = outcome(found, NEW)?.texts.get(&format!("load_{n}"))?;
        let left = of(n, "life_left_pct")?;
        let left = if left < 0.0 {
            format!("used up {} times over", number(1.0 - left / 100.0))
        } else {
            format!("{} %", number(left))
        };
        Some(vec![
            html! { (name) },
            html! { (number(of(n, "waf")?)) },
            html! { (left) },
            html! { (number(of(n, "days")?)) },
        ])
    };
    let rows: Vec<Vec<Markup>> = (0..).map_while(row).collect();
    let how = outcome(found, AGED).and_then(|outcome| outcome.texts.get("life"));
    html! {
        @if let Some(how) = how { p { "The life that was played: " (how) "." } }
        @if !rows.is_empty() {
            (parts::table(&head, &rows))
            p .quiet {
                "Published: 21 % left, in the better part of a month. The loads are lived on the \
                 drive scaled to 4 GiB until their write amplification is steady."
            }
        }
    }
}

pub(super) fn small(found: &Reproduction, charts: &mut Charts) -> Markup {
    let iops = |title, kind| over_depth(found, title, "4k", kind);
    let reads = iops("4 KiB random reads: IOPS over queue depth", "4k_read");
    let writes = iops("4 KiB random writes: IOPS over queue depth", "4k_write");
    html! {
        div .pair {
            (charts.add(reads))
            (charts.add(writes))
        }
    }
}

pub(super) fn mixed(found: &Reproduction, charts: &mut Charts) -> Markup {
    let profiles = [
        ["database", "Database: IOPS over queue depth"],
        ["workstation", "Workstation"],
        ["file_server", "File server"],
        ["web_server", "Web server"],
    ];
    html! {
        @for two in profiles.chunks(2) {
            div .pair {
                @for [name, title] in two {
                    (charts.add(over_depth(found, title, "mixed", name)))
                }
            }
        }
    }
}

/// A label, and the name of a measure.
type Named<'a> = (&'a str, &'a str);

/// Bars of measures, new and worn.
fn beside(found: &Reproduction, title: &str, unit: &str, names: &[Named<'_>]) -> Markup {
    let mut groups = Vec::new();
    for (label, name) in names {
        let of = |experiment: &str, when: &'static str| {
            let value = measure(found, experiment, &format!("{when}_{name}"));
            value.map(|value| (when, value))
        };
        let both = [of(NEW, "new"), of(AGED, "worn")];
        groups.push((*label, both.into_iter().flatten().collect()));
    }
    bars::grouped(title, unit, &groups)
}

pub(super) fn large(found: &Reproduction, _: &mut Charts) -> Markup {
    let names = [
        (
            "2 MB in order, read, compressible",
            "repeating_sequential_read_mb_s",
        ),
        (
            "2 MB in order, write, compressible",
            "repeating_sequential_write_mb_s",
        ),
        (
            "2 MB in order, read, incompressible",
            "random_sequential_read_mb_s",
        ),
        (
            "2 MB in order, write, incompressible",
            "random_sequential_write_mb_s",
        ),
        (
            "2 MB at random, read, incompressible",
            "random_random_2m_read_mb_s",
        ),
        (
            "2 MB at random, write, incompressible",
            "random_random_2m_write_mb_s",
        ),
        (
            "CrystalDiskMark, sequential write",
            "cdm_sequential_write_mb_s",
        ),
        ("CrystalDiskMark, 512 KiB write", "cdm_512k_write_mb_s"),
    ];
    beside(found, "Throughput.", "MB/s", &names)
}

pub(super) fn power(found: &Reproduction, _: &mut Charts) -> Markup {
    let latency = [
        ("Home theatre", "trace_htpc_ms"),
        ("Office", "trace_productivity_ms"),
        ("Games", "trace_gaming_ms"),
    ];
    let power = [
        (
            "Reading in order, incompressible",
            "random_sequential_read_w",
        ),
        (
            "Writing in order, incompressible",
            "random_sequential_write_w",
        ),
        (
            "Writing in order, compressible",
            "repeating_sequential_write_w",
        ),
        ("Reading 4 KiB at random", "random_4k_read_w"),
        (
            "Writing 4 KiB at random, incompressible",
            "random_4k_write_w",
        ),
        ("Idle", "random_idle_w"),
    ];
    html! {
        div .pair {
            (beside(found, "Traces: mean latency.", "ms", &latency))
            (beside(found, "Power.", "W", &power))
        }
    }
}

/// The gaps between the deaths of mirrored drives, and E9 over a life.
pub(super) fn mirror(found: &Reproduction, charts: &mut Charts) -> Markup {
    let Some(outcome) = outcome(found, "mirror") else {
        return html! {};
    };
    let curve = |name: &str| outcome.curves.get(name).cloned().unwrap_or_default();
    let gaps = [
        ("equal_gaps", "100 GB with 100 GB"),
        ("with_200_gaps", "100 GB with 200 GB"),
        ("with_300_gaps", "100 GB with 300 GB"),
    ];
    let lines = gaps.iter().enumerate().map(|(i, (name, label))| {
        let mut points = curve(name);
        // A distribution begins at nothing.
        if let Some(&(least, _)) = points.first() {
            points.insert(0, (least, 0.0));
        }
        line((*label).to_owned(), i, i, points)
    });
    let title =
        "Mirrors whose drives die within this gap, %, over the gap in % of the shorter life";
    let gaps = chart(title, "gaps", Axis::Percent, lines.collect());
    let e9 = curve("e9")
        .into_iter()
        .map(|(share, e9)| (100.0 * share, e9));
    let e9 = vec![line("E9".into(), 0, 0, e9.collect())];
    let title = "Media wear indicator (E9) over host writes, % of what uses up the rated cycles";
    html! {
        div .pair {
            (charts.add(gaps))
            (charts.add(chart(title, "e9", Axis::Percent, e9)))
        }
    }
}
