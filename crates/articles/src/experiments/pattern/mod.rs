//! Article zil: how the intent log writes its device, by `iopattern` and `seeksize`.

mod seeks;

use crate::keys::keys;
use crate::outcome::{
    Experiment, ExperimentInfo, ExperimentOutcome, ExperimentRecords, ExperimentSetup, stopped,
};
use crate::plot::{chart, level, line};
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_bench::analysis::stats;
use ssdlab_hosts::zil::published::{SEEKS_FIVE, SEEKS_ONE, total_variation};
use ssdlab_hosts::zil::{FixedTarget, LogHost, RunOptions, ZfsPreset};
use ssdlab_load::trace::PatternRow;
use ssdlab_ssd::Nanos;
use ssdlab_view::chart::{Chart, ChartUnit, Charts};

keys! {
    pub(crate) enum PatternMeasure {
        RandomMax = "random_max",
        RandomMean = "random_mean",
        RandomLowShare = "random_low_share",
        RandomInside = "random_inside",
        Mean = "avg",
        Count = "count",
        KibWritten = "kw",
        Min = "min",
        Max = "max",
        SeekDistance = "seek_distance",
        SeekZero = "seek_zero",
    }
}

pub(crate) static ONE: Experiment<PatternMeasure> = Experiment {
    about: ExperimentInfo {
        name: "zil.one",
        what: "one synchronous writer, one file system, code of 2010, on a log device of 4 GiB, \
               116 s",
        weight: 1,
    },
    run: |setup| run(1, setup),
};

pub(crate) static FIVE: Experiment<PatternMeasure> = Experiment {
    about: ExperimentInfo {
        name: "zil.five",
        what: "five synchronous writers, five file systems, the code of 2010, on a log device of 4 \
               GiB, 300 s",
        weight: 2,
    },
    run: |setup| run(5, setup),
};

/// The X1, the slides' log device, has 4 GB.
const DEVICE: u64 = 4 << 30;
/// Latency of every command: the pattern does not depend on it.
const LATENCY: Nanos = Nanos::from_micros(50);

/// Runs as many writers as streams, each in a file system of its own, until about as many commands
/// have been given as were published.
fn run(
    streams: usize,
    setup: &ExperimentSetup<'_>,
) -> Result<ExperimentOutcome<PatternMeasure>, LabError> {
    let (seconds, published) = match streams {
        1 => (116, &SEEKS_ONE[..]),
        _ => (300, &SEEKS_FIVE[..]),
    };
    let mut host = LogHost::new(ZfsPreset::V2010.host(streams, streams, DEVICE, setup.seed)?);
    let mut device = FixedTarget::new(DEVICE, LATENCY, LATENCY);
    let options = RunOptions {
        duration: Nanos::from_secs(seconds),
        interval: Nanos::from_secs(1),
        stop: setup.stop,
    };
    let result = ssdlab_hosts::zil::run(&mut host, &mut device, &options, &mut |_| Ok(()))?;
    if result.interrupted {
        return Err(stopped());
    }
    let mut outcome = ExperimentOutcome::new();
    let rows = &result.rows;
    let column = |get: &dyn Fn(&PatternRow) -> u64| -> Vec<f64> {
        rows.iter().map(|row| get(row) as f64).collect()
    };
    let random = column(&PatternRow::random_pct);
    let share = |keep: &dyn Fn(f64) -> bool| {
        let matching = random.iter().filter(|value| keep(**value)).count();
        100.0 * matching as f64 / random.len() as f64
    };
    let seeks = result.seeks.buckets();
    let zero = seeks.iter().find(|(bucket, _)| *bucket == 0);
    let zero = zero.map_or(0, |(_, count)| *count) as f64;
    let inside = |value: f64| (21.0..=71.0).contains(&value);
    let mean = |get: &dyn Fn(&PatternRow) -> u64| stats::mean(&column(get));
    let random_max = random.iter().copied().fold(0.0, f64::max);
    let seek_distance = total_variation(&seeks, published);
    let seek_zero = 100.0 * zero / result.seeks.count() as f64;
    for (measure, value) in [
        (PatternMeasure::RandomMax, random_max),
        (PatternMeasure::RandomMean, stats::mean(&random)),
        (PatternMeasure::RandomLowShare, share(&|value| value <= 2.0)),
        (PatternMeasure::RandomInside, share(&inside)),
        (PatternMeasure::Mean, mean(&PatternRow::mean)),
        (PatternMeasure::Count, mean(&|row| row.count)),
        (PatternMeasure::KibWritten, mean(&PatternRow::kib_written)),
        (PatternMeasure::Min, result.total.min as f64),
        (PatternMeasure::Max, result.total.max as f64),
        (PatternMeasure::SeekDistance, seek_distance),
        (PatternMeasure::SeekZero, seek_zero),
    ] {
        outcome.value(measure, value);
    }
    let (count, commands) = (result.seeks.count(), result.total.count);
    let whole = if count + 1 == commands {
        Ok(())
    } else {
        Err(format!("{count} seeks between {commands} commands"))
    };
    outcome.check("every command but the first is a seek", whole);
    outcome.found.random_pct = rows.iter().map(PatternRow::random_pct).collect();
    outcome.found.seeks = seeks;
    Ok(outcome)
}

pub(crate) static PATTERN: ArticleSection = ArticleSection {
    anchor: "pattern",
    title: "How the log device is written",
    text: &[
        "One synchronous writer in one file system, then five in five: every file system has a log \
         of its own, and all share the device. One log names its next block in advance and is \
         nearly sequential; several interleave.",
    ],
    ids: &["zil.pattern", "zil.offpool"],
    plots: shares,
};

pub(crate) static SEEK: ArticleSection = ArticleSection {
    anchor: "seek",
    title: "How far it jumps",
    text: &[
        "Distance from the end of one write to the beginning of the next. Total variation is half \
         the sum of the differences of the two histograms' shares.",
    ],
    ids: &["zil.seek"],
    plots: histograms,
};

fn shares(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let share_line = |experiment: &Experiment<PatternMeasure>, label: &str, colour| {
        let random = records
            .record(experiment)
            .map_or(&[][..], |f| &f.random_pct);
        let point = |(i, share): (usize, &u64)| (i as f64, *share as f64);
        line(label, colour, random.iter().enumerate().map(point))
    };
    let lines = vec![
        share_line(&ONE, "one stream", 0),
        share_line(&FIVE, "five streams", 1),
        level("published, five: highest 71", 2, 299.0, 71.0),
        level("lowest 21", 2, 299.0, 21.0),
    ];
    charts.add(Chart {
        unit: ChartUnit::Percent,
        ..chart("Random share of each interval of 1 s", "share", lines)
    })
}

fn histograms(records: &ExperimentRecords, _: &mut Charts) -> Markup {
    let seeks_of = |experiment| records.record(experiment).map(|record| &record.seeks[..]);
    html! {
        @if let Some(ours) = seeks_of(&ONE) {
            (seeks::chart("One stream: share of the seeks, logarithmic", &SEEKS_ONE, ours))
        }
        @if let Some(ours) = seeks_of(&FIVE) {
            (seeks::chart("Five streams: share of the seeks, logarithmic", &SEEKS_FIVE, ours))
        }
    }
}
