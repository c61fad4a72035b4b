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
fn over_depth(records: &ExperimentRecords, title: &str, group: &str, sweep: DepthSweep) -> Chart {
    let mut lines = Vec::new();
    let data = [
        (DataCompressibility::Repeating, "compressible"),
        (DataCompressibility::Random, "incompressible"),
    ];
    for (colour, (data, called)) in data.into_iter().enumerate() {
        let new = records.curve(&NEW, NewDriveCurve::New((data, sweep)));
        let worn = records.curve(&AGED, WornDriveCurve::Worn((data, sweep)));
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
fn life(records: &ExperimentRecords, _: &mut Charts) -> Markup {
    let head = parts::heads(&[
        "Load",
        "Write amplification",
        "Life left after 270 TB",
        "Days at the array's rate",
    ]);
    let row = |load: CandidateLoad| -> Option<Vec<Markup>> {
        let value = |cost| records.value(&NEW, NewDriveMeasure::Cost((load, cost)));
        let life_left_pct = value(LoadCost::LifeLeftPct)?;
        let life_left_pct = if life_left_pct < 0.0 {
            format!("used up {} times over", number(1.0 - life_left_pct / 100.0))
        } else {
            format!("{} %", number(life_left_pct))
        };
        Some(vec![
            html! { (records.text(&NEW, NewDriveMeasure::Load(load))?) },
            html! { (number(value(LoadCost::Waf)?)) },
            html! { (life_left_pct) },
            html! { (number(value(LoadCost::Days)?)) },
        ])
    };
    let rows: Vec<Vec<Markup>> = CandidateLoad::all().into_iter().filter_map(row).collect();
    html! {
        @if let Some(how) = records.text(&AGED, WornDriveMeasure::Life) {
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

fn small(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let reads = "4 KiB random reads: IOPS over queue depth";
    let writes = "4 KiB random writes: IOPS over queue depth";
    html! {
        div .pair {
            (charts.add(over_depth(records, reads, "4k", DepthSweep::Read4k)))
            (charts.add(over_depth(records, writes, "4k", DepthSweep::Write4k)))
        }
    }
}

fn mixed(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
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
                    (charts.add(over_depth(records, title, "mixed", *sweep)))
                }
            }
        }
    }
}

/// Bars of numbers, new and worn.
fn beside(
    records: &ExperimentRecords,
    title: &str,
    unit: &str,
    numbers: &[(&'static str, BenchmarkMetric)],
) -> Markup {
    let group = |(label, number): &(&'static str, BenchmarkMetric)| {
        let new = records.value(&NEW, NewDriveMeasure::New(*number));
        let worn = records.value(&AGED, WornDriveMeasure::Worn(*number));
        let values = [("new", new), ("worn", worn)].into_iter();
        let bars = values.filter_map(|(when, value)| Some((when, value?)));
        (*label, bars.collect())
    };
    let groups: Vec<(&str, Vec<(&str, f64)>)> = numbers.iter().map(group).collect();
    bars(title, unit, &groups)
}

fn large(records: &ExperimentRecords, _: &mut Charts) -> Markup {
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
    beside(records, "Throughput.", "MB/s", &numbers)
}

fn power(records: &ExperimentRecords, _: &mut Charts) -> Markup {
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
            (beside(records, "Traces: mean latency.", "ms", &latency))
            (beside(records, "Power.", "W", &power))
        }
    }
}
