//! Plots and sections of article worn, new against worn.

use super::measure::{
    BenchmarkMetric, ClientTraceName, CrystalDiskMarkMetric, DataCompressibility, DepthSweep,
    IometerMetric, TracePlaybackMetric,
};
use super::run::{
    AGED, CandidateLoad, LoadCost, NEW, NewDriveCurve, NewDriveMeasure, WornDriveCurve,
    WornDriveMeasure,
};
use crate::keys::ExperimentKey;
use crate::number::number;
use crate::outcome::ExperimentRecords;
use crate::plot::{bars, chart, line};
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, Charts};
use ssdlab_view::parts;

pub(crate) static LIFE: ArticleSection = ArticleSection {
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

pub(crate) static SMALL: ArticleSection = ArticleSection {
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

pub(crate) static LARGE: ArticleSection = ArticleSection {
    anchor: "large",
    title: "Large transfers",
    text: &[
        "2 MB in order and at random, and CrystalDiskMark's writes. Incompressible data waits for \
         the array: worn cells are programmed faster.",
    ],
    ids: &["worn.seq", "worn.cdm"],
    plots: large,
};

pub(crate) static MIXED: ArticleSection = ArticleSection {
    anchor: "mixed",
    title: "Server profiles",
    text: &["Iometer's database, file server, web server and workstation, over queue depth."],
    ids: &["worn.mixed"],
    plots: mixed,
};

pub(crate) static TRACES: ArticleSection = ArticleSection {
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
fn over_depth(found: &ExperimentRecords, title: &str, group: &str, sweep: DepthSweep) -> Chart {
    let mut lines = Vec::new();
    let data = [
        (DataCompressibility::Repeating, "compressible"),
        (DataCompressibility::Random, "incompressible"),
    ];
    for (colour, (data, called)) in data.into_iter().enumerate() {
        let new = found.curve(&NEW, NewDriveCurve::New((data, sweep)));
        let worn = found.curve(&AGED, WornDriveCurve::Worn((data, sweep)));
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
        axis: ChartAxis::Depth,
        ..chart(title, group, lines)
    }
}

/// The loads that the 270 TB may have been.
fn life(found: &ExperimentRecords, _: &mut Charts) -> Markup {
    let head = parts::heads(&[
        "Load",
        "Write amplification",
        "Life left after 270 TB",
        "Days at the array's rate",
    ]);
    let row = |load: CandidateLoad| -> Option<Vec<Markup>> {
        let of = |cost| found.value(&NEW, NewDriveMeasure::Cost((load, cost)));
        let left = of(LoadCost::LifeLeftPct)?;
        let left = if left < 0.0 {
            format!("used up {} times over", number(1.0 - left / 100.0))
        } else {
            format!("{} %", number(left))
        };
        Some(vec![
            html! { (found.text(&NEW, NewDriveMeasure::Load(load))?) },
            html! { (number(of(LoadCost::Waf)?)) },
            html! { (left) },
            html! { (number(of(LoadCost::Days)?)) },
        ])
    };
    let rows: Vec<Vec<Markup>> = CandidateLoad::all().into_iter().filter_map(row).collect();
    html! {
        @if let Some(how) = found.text(&AGED, WornDriveMeasure::Life) {
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

fn small(found: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let reads = "4 KiB random reads: IOPS over queue depth";
    let writes = "4 KiB random writes: IOPS over queue depth";
    html! {
        div .pair {
            (charts.add(over_depth(found, reads, "4k", DepthSweep::Read4k)))
            (charts.add(over_depth(found, writes, "4k", DepthSweep::Write4k)))
        }
    }
}

fn mixed(found: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let profiles = [
        (DepthSweep::Database, "Database: IOPS over queue depth"),
        (DepthSweep::Workstation, "Workstation"),
        (DepthSweep::FileServer, "File server"),
        (DepthSweep::WebServer, "Web server"),
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
fn beside(
    found: &ExperimentRecords,
    title: &str,
    unit: &str,
    numbers: &[(&'static str, BenchmarkMetric)],
) -> Markup {
    let group = |(label, number): &(&'static str, BenchmarkMetric)| {
        let new = found.value(&NEW, NewDriveMeasure::New(*number));
        let worn = found.value(&AGED, WornDriveMeasure::Worn(*number));
        let both = [("new", new), ("worn", worn)].into_iter();
        let bars = both.filter_map(|(when, value)| Some((when, value?)));
        (*label, bars.collect())
    };
    let groups: Vec<(&str, Vec<(&str, f64)>)> = numbers.iter().map(group).collect();
    bars(title, unit, &groups)
}

fn large(found: &ExperimentRecords, _: &mut Charts) -> Markup {
    let repeating = |number| BenchmarkMetric::Iometer((DataCompressibility::Repeating, number));
    let random = |number| BenchmarkMetric::Iometer((DataCompressibility::Random, number));
    let numbers = [
        (
            "2 MB in order, read, compressible",
            repeating(IometerMetric::SequentialReadMbS),
        ),
        (
            "2 MB in order, write, compressible",
            repeating(IometerMetric::SequentialWriteMbS),
        ),
        (
            "2 MB in order, read, incompressible",
            random(IometerMetric::SequentialReadMbS),
        ),
        (
            "2 MB in order, write, incompressible",
            random(IometerMetric::SequentialWriteMbS),
        ),
        (
            "2 MB at random, read, incompressible",
            random(IometerMetric::Random2mReadMbS),
        ),
        (
            "2 MB at random, write, incompressible",
            random(IometerMetric::Random2mWriteMbS),
        ),
        (
            "CrystalDiskMark, sequential write",
            BenchmarkMetric::Cdm(CrystalDiskMarkMetric::SequentialWrite),
        ),
        (
            "CrystalDiskMark, 512 KiB write",
            BenchmarkMetric::Cdm(CrystalDiskMarkMetric::Write512k),
        ),
    ];
    beside(found, "Throughput.", "MB/s", &numbers)
}

fn power(found: &ExperimentRecords, _: &mut Charts) -> Markup {
    let latency = [
        ("Home theatre", ClientTraceName::Htpc),
        ("Office", ClientTraceName::Productivity),
        ("Games", ClientTraceName::Gaming),
    ]
    .map(|(label, trace)| {
        (
            label,
            BenchmarkMetric::Trace((trace, TracePlaybackMetric::Ms)),
        )
    });
    let random = |number| BenchmarkMetric::Iometer((DataCompressibility::Random, number));
    let writing = BenchmarkMetric::Iometer((
        DataCompressibility::Repeating,
        IometerMetric::SequentialWriteW,
    ));
    let power = [
        (
            "Reading in order, incompressible",
            random(IometerMetric::SequentialReadW),
        ),
        (
            "Writing in order, incompressible",
            random(IometerMetric::SequentialWriteW),
        ),
        ("Writing in order, compressible", writing),
        ("Reading 4 KiB at random", random(IometerMetric::Read4kW)),
        (
            "Writing 4 KiB at random, incompressible",
            random(IometerMetric::Write4kW),
        ),
        ("Idle", random(IometerMetric::IdleW)),
    ];
    html! {
        div .pair {
            (beside(found, "Traces: mean latency.", "ms", &latency))
            (beside(found, "Power.", "W", &power))
        }
    }
}
