//! Plots and sections of the 80 minutes of random writes.

use super::run::{DRIVES, Rw80Curve, Rw80Measure};
use crate::number::number;
use crate::outcome::{Experiment, ExperimentRecords};
use crate::plot::{self, chart, line};
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_view::chart::{Chart, ChartLine, ChartMark, Charts};
use ssdlab_view::parts;

const MINUTE: f64 = 60.0;

pub(crate) static RATES: ArticleSection = ArticleSection {
    anchor: "rw80",
    title: "Random writes for 80 minutes",
    text: &[
        "Secure erase, then 4 KiB random writes over the whole drive, 32 outstanding; the figure \
         is the last minute. The published rates of the 710 of 200 and 300 GB differ by a third, \
         those of the model hardly: one miss of the map at a time bounds both.",
    ],
    ids: &["zil.rw80"],
    plots: random_writes,
};

pub(crate) static DEGRADE: ArticleSection = ArticleSection {
    anchor: "degrade",
    title: "Lost early, and not regained by idling",
    text: &[
        "Two conditions are put to the flash drives: in every drive, the eleventh minute is less \
         than half of the first; and after ten idle minutes, the rate is no more than a quarter \
         above the rate before. The DRAM drive is written in four patterns, and its rate must not \
         change.",
    ],
    ids: &["zil.degrade", "zil.x1.flat", "zil.align"],
    plots: plot::none,
};

pub(crate) static MONEY: ArticleSection = ArticleSection {
    anchor: "endurance",
    title: "Money and life",
    text: &[
        "Rates over the prices of October 2011, as far as the slides imply them, and how long the \
         rated writes last when the log device is written at this rate without a pause.",
    ],
    ids: &["zil.endurance", "zil.x1.backups"],
    plots: money,
};

/// A drive of the article: experiment, label, published IOPS.
type Rw80Drive = (
    &'static Experiment<Rw80Measure, Rw80Curve>,
    &'static str,
    f64,
);

/// The drives, in the order of the experiments: three Intel 710, three Intel 320, and the X1.
fn drives() -> Vec<Rw80Drive> {
    let published = [
        ("710 100 GB", 1661.0),
        ("710 200 GB", 2536.0),
        ("710 300 GB", 1926.0),
        ("320 40 GB", 391.0),
        ("320 160 GB", 765.0),
        ("320 300 GB", 922.0),
        ("X1", 44026.0),
    ];
    let pairs = DRIVES.iter().zip(published);
    pairs
        .map(|(experiment, (label, iops))| (*experiment, label, iops))
        .collect()
}

/// The 80 minutes, a gap of ten idle ones, and the minutes after; published values as points.
fn rates_chart(records: &ExperimentRecords, title: &str, drives: &[Rw80Drive]) -> Chart {
    let mut lines: Vec<ChartLine> = Vec::new();
    for (i, (experiment, label, published)) in drives.iter().enumerate() {
        let minutes = records.series(experiment, Rw80Curve::Iops, 0.0);
        if minutes.is_empty() {
            continue;
        }
        let mut ours = line(*label, i, minutes);
        ours.line.x.push(85.0 * MINUTE);
        ours.line.y.push(None);
        for (x, y) in records.series(experiment, Rw80Curve::AfterIdle, 90.0 * MINUTE) {
            ours.line.x.push(x);
            ours.line.y.push(Some(y));
        }
        lines.push(ours);
        let point = (79.0 * MINUTE, *published);
        lines.push(line(format!("{label}, published"), i + 3, [point]));
    }
    Chart {
        notes: vec![ChartMark::Phase { at: 90.0 * MINUTE }],
        ..chart(title, "rw80", lines)
    }
}

fn random_writes(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let drives = drives();
    html! {
        div .pair {
            (charts.add(rates_chart(records, "Intel 710: IOPS per minute", &drives[..3])))
            (charts.add(rates_chart(records, "Intel 320: IOPS per minute", &drives[3..6])))
        }
        (charts.add(rates_chart(records, "DDRdrive X1: IOPS per minute", &drives[6..])))
        p .quiet {
            "Points: the published rates of the last minute. The vertical line is where writing \
             begins again after ten idle minutes."
        }
    }
}

/// A table of every drive's rates, price and rated life.
fn money(records: &ExperimentRecords, _: &mut Charts) -> Markup {
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
    let row = |(experiment, label, _): Rw80Drive| -> Option<Vec<Markup>> {
        let text = |measure, unit: &str| {
            let value = records.value(experiment, measure);
            parts::cell(value.map(|value| number(value) + unit).as_deref())
        };
        records.value(experiment, Rw80Measure::Iops)?;
        let price = records.value(experiment, Rw80Measure::PriceUsd);
        let price = price.map(|price| format!("${}", number(price)));
        Some(vec![
            html! { (label) },
            text(Rw80Measure::Iops, ""),
            text(Rw80Measure::Waf, ""),
            text(Rw80Measure::Minute11Over1, ""),
            text(Rw80Measure::AfterIdleOverBefore, ""),
            parts::cell(price.as_deref()),
            text(Rw80Measure::IopsPerDollar, ""),
            text(Rw80Measure::RatedTb, " TB"),
            text(Rw80Measure::DaysToRating, " days"),
        ])
    };
    let rows: Vec<Vec<Markup>> = drives().into_iter().filter_map(row).collect();
    html! { @if !rows.is_empty() { (parts::table(&head, &rows)) } }
}
