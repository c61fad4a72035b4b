//! Article s2d: a consumer drive as a cache device, buffered and written through.
//!
//! The drive is prepared once (a 100 GiB file written a little over twice, ten idle minutes) and
//! forked; both commands begin on the same state.

use super::{facts, scale};
use crate::keys::{ExperimentKey, keys};
use crate::number::number;
use crate::outcome::{
    Experiment, ExperimentInfo, ExperimentOutcome, ExperimentRecords, ExperimentSetup, stopped,
};
use crate::plot::{chart, level, line};
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_bench::analysis::{series, stats, write_cliff};
use ssdlab_bench::device::{ModelledTarget, Target};
use ssdlab_bench::engine;
use ssdlab_bench::engine::Unobserved;
use ssdlab_bench::record::{RunEnding, RunRecord, Second};
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_load::diskspd;
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_ssd::{Nanos, Op};
use ssdlab_view::chart::{Chart, ChartMark, Charts};

keys! {
    /// The article's two ways to write; also the names of their rate curves.
    pub(crate) enum DiskspdMode {
        Buffered = "buffered",
        Through = "through",
    }

    pub(crate) enum CliffMetric {
        CliffS = "cliff_s",
        DropShare = "drop_share",
        Before = "before",
        After = "after",
        Drop = "drop",
        WritesAfter = "writes_after",
        UnevennessBefore = "unevenness_before",
        UnevennessAfter = "unevenness_after",
        Mean = "mean",
        WafAfter = "waf_after",
    }

    pub(crate) enum S2dMeasure {
        ThroughOverBuffered = "through_over_buffered",
        ThroughWafOverBuffered = "through_waf_over_buffered",
        ThroughGbDay = "through_gb_day",
        ;
        Of((DiskspdMode, CliffMetric)) = "{}",
    }
}

pub(crate) static DRIVE: Experiment<S2dMeasure, DiskspdMode> = Experiment {
    about: ExperimentInfo {
        name: "s2d.drive",
        what: "1 TB consumer drive: 100 GiB written a little over twice, then the article's two \
               DISKSPD commands, buffered and written through, 30 minutes each",
        weight: 19,
    },
    run: |setup| run("consumer-sata-1tb", setup),
};

pub(crate) static TWIN: Experiment<S2dMeasure, DiskspdMode> = Experiment {
    about: ExperimentInfo {
        name: "s2d.twin",
        what: "the same on the twin with a protected buffer",
        weight: 36,
    },
    run: |setup| run("consumer-sata-1tb-plp", setup),
};

const FILE: u64 = 100 << 30;
/// A little over twice, in per cent of the file.
const FILL_PCT: u64 = 205;
const IDLE: Nanos = Nanos::from_secs(600);
/// Seconds that count as before and as after the cliff: well clear of it, and of both ends.
const BEFORE: std::ops::Range<usize> = 5..100;
const AFTER: std::ops::Range<usize> = 600..1795;

/// Controller time of a write by the data sheet that the article quotes: 90,000 a second are one
/// each 11.1 us, as in the catalogue's files of nine other drives. Its file of this drive has the
/// 10.5 us of the reads for both.
pub(super) const SHEET_WRITES: [&str; 1] = ["host.write_overhead=11.1us"];

/// Runs both commands on the named drive.
fn run(
    drive: &str,
    setup: &ExperimentSetup<'_>,
) -> Result<ExperimentOutcome<S2dMeasure, DiskspdMode>, LabError> {
    let entry = scale::with(drive, &SHEET_WRITES)?;
    let mut outcome = ExperimentOutcome::resting_on(entry.rests_on());
    let mut fresh = ModelledTarget::new(&entry, Some(FILE))?;
    let fill = WorkloadPlan::fill(FILE * FILL_PCT / 100);
    let record = engine::run(&fill, &mut fresh, &mut Unobserved, setup.stop)?;
    keep_checks(&mut outcome, "fill", &record)?;
    let ready = fresh.now() + IDLE;
    fresh.reap(Some(ready), &mut Vec::new())?;
    let buffered_target = fresh.clone();
    for (mode, cache, mut target) in [
        (DiskspdMode::Buffered, "-Su", buffered_target),
        (DiskspdMode::Through, "-Suw", fresh),
    ] {
        let plan = plan(cache, setup.seed)?;
        let record = engine::run(&plan, &mut target, &mut Unobserved, setup.stop)?;
        keep_checks(&mut outcome, &mode.name(), &record)?;
        measure(&mut outcome, mode, &record.seconds);
    }
    compare(&mut outcome, &entry);
    Ok(outcome)
}

/// The article's command line.
fn plan(cache: &str, seed: u64) -> Result<WorkloadPlan, LabError> {
    let line = format!("diskspd.exe -t8 -b4k -r4k -o1 -w30 {cache} -D -L -d1800 FILE");
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    let mut plan = diskspd::parse(&words)?;
    for job in plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        job.seed = seed;
    }
    Ok(plan)
}

fn keep_checks(
    outcome: &mut ExperimentOutcome<S2dMeasure, DiskspdMode>,
    name: &str,
    record: &RunRecord,
) -> Result<(), LabError> {
    match &record.ending {
        RunEnding::Complete => {}
        RunEnding::Interrupted => return Err(stopped()),
        RunEnding::Failed(why) => return Err(LabError::refused(why.clone(), "")),
    }
    for check in &record.checks {
        let result = check.failure.clone().map_or(Ok(()), Err);
        outcome.check(format!("{name}: {}", check.name), result);
    }
    Ok(())
}

/// The values in `range`, cut to those that exist.
fn part(values: &[f64], range: std::ops::Range<usize>) -> &[f64] {
    let end = range.end.min(values.len());
    &values[range.start.min(end)..end]
}

/// Standard deviation over the mean.
fn unevenness(values: &[f64]) -> f64 {
    stats::population_deviation(values) / stats::mean(values)
}

fn measure(
    outcome: &mut ExperimentOutcome<S2dMeasure, DiskspdMode>,
    mode: DiskspdMode,
    seconds: &[Second],
) {
    let iops = series::iops(seconds, 0, &Op::ALL);
    let writes = series::iops(seconds, 0, &[Op::Write]);
    let (before, after) = (part(&iops, BEFORE), part(&iops, AFTER));
    let cliff = write_cliff(seconds, 0);
    let drop_share = cliff.as_ref().map(|cliff| 1.0 - cliff.after / cliff.before);
    for (metric, value) in [
        (CliffMetric::CliffS, cliff.as_ref().map(|cliff| cliff.at_s)),
        (CliffMetric::DropShare, drop_share),
        (CliffMetric::Before, Some(stats::mean(before))),
        (CliffMetric::After, Some(stats::mean(after))),
        (
            CliffMetric::Drop,
            Some(stats::mean(before) - stats::mean(after)),
        ),
        (
            CliffMetric::WritesAfter,
            Some(stats::mean(part(&writes, AFTER))),
        ),
        (CliffMetric::UnevennessBefore, Some(unevenness(before))),
        (CliffMetric::UnevennessAfter, Some(unevenness(after))),
        (CliffMetric::Mean, Some(stats::mean(&iops))),
        (CliffMetric::WafAfter, Some(waf(seconds))),
    ] {
        outcome.value(S2dMeasure::Of((mode, metric)), value);
    }
    outcome.series(mode, 1.0, iops);
}

/// NAND bytes programmed / bytes written by the host, over [`AFTER`].
fn waf(seconds: &[Second]) -> f64 {
    let inside = |s: &&Second| usize::try_from(s.t_s).is_ok_and(|t| AFTER.contains(&t));
    let (mut nand, mut host) = (0, 0);
    for second in seconds.iter().filter(inside) {
        nand += second.nand_bytes_written.unwrap_or(0);
        host += second.ops[Op::Write as usize].bytes;
    }
    nand as f64 / host as f64
}

/// Ratios of written through to buffered.
fn compare(outcome: &mut ExperimentOutcome<S2dMeasure, DiskspdMode>, entry: &CatalogueDrive) {
    let ratio = |outcome: &ExperimentOutcome<S2dMeasure, DiskspdMode>, metric| {
        let measure = |mode| S2dMeasure::Of((mode, metric));
        outcome.ratio(
            measure(DiskspdMode::Through),
            measure(DiskspdMode::Buffered),
        )
    };
    let rate_ratio = ratio(outcome, CliffMetric::Mean);
    let waf_ratio = ratio(outcome, CliffMetric::WafAfter);
    outcome.value(S2dMeasure::ThroughOverBuffered, rate_ratio);
    outcome.value(S2dMeasure::ThroughWafOverBuffered, waf_ratio);
    let rated = facts::rated_per_day(entry);
    outcome.value(
        S2dMeasure::ThroughGbDay,
        rated.map(|rated| rated / waf_ratio / 1e9),
    );
}

pub(crate) static BUFFERED: ArticleSection = ArticleSection {
    anchor: "buffered",
    title: "Buffered: fast, with a cliff",
    text: &[
        "Eight threads, one command each, 4 KiB random, 70 % reads, on a 100 GiB file that was \
         written a little over twice. The drive answers from its buffer and programs its pSLC \
         cache; after some two minutes that is full, and the rate drops to a lower level.",
    ],
    ids: &["s2d.buffered", "s2d.datasheet"],
    plots: buffered,
};

pub(crate) static THROUGH: ArticleSection = ArticleSection {
    anchor: "through",
    title: "Written through: a fast hard disk",
    text: &[
        "The same with every write forced to media. Each small write programs a page and the map \
         that leads to it, and must wait for both.",
    ],
    ids: &["s2d.through"],
    plots: through,
};

pub(crate) static ENDURANCE: ArticleSection = ArticleSection {
    anchor: "endurance",
    title: "What it costs in life",
    text: &[
        "How long the rating lasts depends on how much the drive programs for each write. Pages \
         that are programmed for 4 KiB each use it up many times faster.",
    ],
    ids: &["s2d.endurance", "s2d.wear10x"],
    plots: cost,
};

pub(crate) static PROTECTED: ArticleSection = ArticleSection {
    anchor: "plp",
    title: "The same drive with a protected buffer",
    text: &[
        "A write is durable as soon as it is in a buffer that survives a power cut, so a forced \
         write costs no more than another. Nothing else about the drive is changed.",
    ],
    ids: &["s2d.plp", "s2d.hk4e"],
    plots: twin,
};

fn buffered(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let cliff = ChartMark::Cliff {
        at: 120.0,
        text: "as published, by about 10,000".into(),
        colour: 1,
    };
    let lines = vec![line(
        "ours",
        0,
        records.series(&DRIVE, DiskspdMode::Buffered, 0.0),
    )];
    charts.add(Chart {
        notes: vec![cliff],
        ..chart("Buffered (-Su): IOPS over 30 minutes", "s2d", lines)
    })
}

fn through(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let lines = vec![
        line("ours", 0, records.series(&DRIVE, DiskspdMode::Through, 0.0)),
        level("published: about 220", 1, 1800.0, 220.0),
    ];
    let title = "Written through (-Suw): IOPS over 30 minutes";
    charts.add(chart(title, "s2d", lines))
}

fn twin(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let lines = vec![
        line(
            "buffered",
            0,
            records.series(&TWIN, DiskspdMode::Buffered, 0.0),
        ),
        line(
            "written through",
            1,
            records.series(&TWIN, DiskspdMode::Through, 0.0),
        ),
    ];
    let title = "Protected buffer: IOPS over 30 minutes";
    charts.add(chart(title, "s2d", lines))
}

fn cost(records: &ExperimentRecords, _: &mut Charts) -> Markup {
    let waf = |mode| records.value(&DRIVE, S2dMeasure::Of((mode, CliffMetric::WafAfter)));
    let (Some(buffered), Some(through)) = (waf(DiskspdMode::Buffered), waf(DiskspdMode::Through))
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
