//! Plots and sections of article worn, new against worn.

use super::measure::{Cdm, Data, Iometer, Number, Played, Sweep, TraceName};
use super::run::{AGED, AgedLine, AgedMeasure, Cost, Load, NEW, NewLine, NewMeasure};
use crate::keys::Key;
use crate::number::number;
use crate::outcome::Outcomes;
use crate::plot::{bars, chart, line};
use crate::story::Section;
use maud::{Markup, html};
use ssdlab_view::chart::{Axis, Chart, ChartLine, Charts};
use ssdlab_view::parts;

pub(crate) static LIFE: Section = Section {
    anchor: "life",
    title: "What 270 TB cost",
    text: &[
        "Every page write is played. The article says that the data was incompressible and that \
         writing it took the better part of a month, but not how it was written. Written in order \
         it costs its parity; other loads cost more of the life, and more days.",
    ],
    ids: &["worn.life", "worn.day"],
    plots: life,
};

pub(crate) static SMALL: Section = Section {
    anchor: "small",
    title: "4 KiB at random",
    text: &[
        "Reads and writes over queue depth, on a test file of 8 GiB; writes one at a time for the \
         latency. Data that repeats compresses as far as it can, random data not at all.",
    ],
    ids: &[
        "worn.rr_peak",
        "worn.w_lat_rep",
        "worn.w_lat_rand",
        "worn.w_lat_max",
        "worn.4k_gain",
    ],
    plots: small,
};

pub(crate) static LARGE: Section = Section {
    anchor: "large",
    title: "Large transfers",
    text: &[
        "2 MB in order and at random, and CrystalDiskMark's writes. Incompressible data waits for \
         the array: worn cells are programmed faster.",
    ],
    ids: &["worn.seq", "worn.cdm"],
    plots: large,
};

pub(crate) static MIXED: Section = Section {
    anchor: "mixed",
    title: "Server profiles",
    text: &["Iometer's database, file server, web server and workstation, over queue depth."],
    ids: &["worn.mixed"],
    plots: mixed,
};

pub(crate) static TRACES: Section = Section {
    anchor: "traces",
    title: "Client traces and power",
    text: &[
        "Home theatre, office and games, with the volumes that were published; then power by \
         activity.",
    ],
    ids: &[
        "worn.traces",
        "worn.power",
        "worn.office",
        "worn.gaming",
        "worn.startup",
    ],
    plots: power,
};

/// IOPS over queue depth: colour says the data, dash says new or worn.
fn over_depth(found: &Outcomes, title: &str, group: &str, sweep: Sweep) -> Chart {
    let mut lines = Vec::new();
    let data = [
        (Data::Repeating, "compressible"),
        (Data::Random, "incompressible"),
    ];
    for (colour, (data, called)) in data.into_iter().enumerate() {
        let new = found.curve(&NEW, NewLine::New((data, sweep)));
        let worn = found.curve(&AGED, AgedLine::Worn((data, sweep)));
        for (dash, (points, when)) in [(new, "new"), (worn, "worn")].into_iter().enumerate() {
            if points.is_empty() {
                continue;
            }
            let points = points.into_iter().map(|(depth, y)| (depth.log2(), y));
            lines.push(ChartLine {
                dash,
                ..line(format!("{called}, {when}"), colour, points)
            });
        }
    }
    Chart {
        axis: Axis::Depth,
        ..chart(title, group, lines)
    }
}

/// The loads that the 270 TB may have been.
fn life(found: &Outcomes, _: &mut Charts) -> Markup {
    let head = parts::heads(&[
        "Load",
        "Write amplification",
        "Life left after 270 TB",
        "Days at the array's rate",
    ]);
    let row = |load: Load| -> Option<Vec<Markup>> {
        let of = |cost| found.value(&NEW, NewMeasure::Cost((load, cost)));
        let left = of(Cost::LifeLeftPct)?;
        let left = if left < 0.0 {
            format!("used up {} times over", number(1.0 - left / 100.0))
        } else {
            format!("{} %", number(left))
        };
        Some(vec![
            html! { (found.text(&NEW, NewMeasure::Load(load))?) },
            html! { (number(of(Cost::Waf)?)) },
            html! { (left) },
            html! { (number(of(Cost::Days)?)) },
        ])
    };
    let rows: Vec<Vec<Markup>> = Load::all().into_iter().filter_map(row).collect();
    html! {
        @if let Some(how) = found.text(&AGED, AgedMeasure::Life) {
            p { "The life that was played: " (how) "." }
        }
        @if !rows.is_empty() {
            (parts::table(&head, &rows))
            p .quiet {
                "Published: 21 % left, in the better part of a month. The loads are played on the \
                 drive scaled to 4 GiB until their write amplification is steady."
            }
        }
    }
}

fn small(found: &Outcomes, charts: &mut Charts) -> Markup {
    let reads = "4 KiB random reads: IOPS over queue depth";
    let writes = "4 KiB random writes: IOPS over queue depth";
    html! {
        div .pair {
            (charts.add(over_depth(found, reads, "4k", Sweep::Read4k)))
            (charts.add(over_depth(found, writes, "4k", Sweep::Write4k)))
        }
    }
}

fn mixed(found: &Outcomes, charts: &mut Charts) -> Markup {
    let profiles = [
        (Sweep::Database, "Database: IOPS over queue depth"),
        (Sweep::Workstation, "Workstation"),
        (Sweep::FileServer, "File server"),
        (Sweep::WebServer, "Web server"),
    ];
    html! {
        @for two in profiles.chunks(2) {
            div .pair {
                @for (sweep, title) in two {
                    (charts.add(over_depth(found, title, "mixed", *sweep)))
                }
            }
        }
    }
}

/// Bars of numbers, new and worn.
fn beside(found: &Outcomes, title: &str, unit: &str, numbers: &[(&'static str, Number)]) -> Markup {
    let group = |(label, number): &(&'static str, Number)| {
        let new = found.value(&NEW, NewMeasure::New(*number));
        let worn = found.value(&AGED, AgedMeasure::Worn(*number));
        let both = [("new", new), ("worn", worn)].into_iter();
        let bars = both.filter_map(|(when, value)| Some((when, value?)));
        (*label, bars.collect())
    };
    let groups: Vec<(&str, Vec<(&str, f64)>)> = numbers.iter().map(group).collect();
    bars(title, unit, &groups)
}

fn large(found: &Outcomes, _: &mut Charts) -> Markup {
    let repeating = |number| Number::Iometer((Data::Repeating, number));
    let random = |number| Number::Iometer((Data::Random, number));
    let numbers = [
        (
            "2 MB in order, read, compressible",
            repeating(Iometer::SequentialReadMbS),
        ),
        (
            "2 MB in order, write, compressible",
            repeating(Iometer::SequentialWriteMbS),
        ),
        (
            "2 MB in order, read, incompressible",
            random(Iometer::SequentialReadMbS),
        ),
        (
            "2 MB in order, write, incompressible",
            random(Iometer::SequentialWriteMbS),
        ),
        (
            "2 MB at random, read, incompressible",
            random(Iometer::Random2mReadMbS),
        ),
        (
            "2 MB at random, write, incompressible",
            random(Iometer::Random2mWriteMbS),
        ),
        (
            "CrystalDiskMark, sequential write",
            Number::Cdm(Cdm::SequentialWrite),
        ),
        (
            "CrystalDiskMark, 512 KiB write",
            Number::Cdm(Cdm::Write512k),
        ),
    ];
    beside(found, "Throughput.", "MB/s", &numbers)
}

fn power(found: &Outcomes, _: &mut Charts) -> Markup {
    let latency = [
        ("Home theatre", TraceName::Htpc),
        ("Office", TraceName::Productivity),
        ("Games", TraceName::Gaming),
    ]
    .map(|(label, trace)| (label, Number::Trace((trace, Played::Ms))));
    let random = |number| Number::Iometer((Data::Random, number));
    let writing = Number::Iometer((Data::Repeating, Iometer::SequentialWriteW));
    let power = [
        (
            "Reading in order, incompressible",
            random(Iometer::SequentialReadW),
        ),
        (
            "Writing in order, incompressible",
            random(Iometer::SequentialWriteW),
        ),
        ("Writing in order, compressible", writing),
        ("Reading 4 KiB at random", random(Iometer::Read4kW)),
        (
            "Writing 4 KiB at random, incompressible",
            random(Iometer::Write4kW),
        ),
        ("Idle", random(Iometer::IdleW)),
    ];
    html! {
        div .pair {
            (beside(found, "Traces: mean latency.", "ms", &latency))
            (beside(found, "Power.", "W", &power))
        }
    }
}
