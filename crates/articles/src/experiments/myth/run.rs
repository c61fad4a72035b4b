//! The article's measures, plots and sections.

use super::production::{self, ProductionHistory, Remedy, UsedShareResult};
use super::settings::{FLASH, MythSettings};
use super::whole_disk::{self, WholeDiskCurve};
use super::{in_place, trim};
use crate::experiments::host::DriveSelfChecks;
use crate::experiments::hosts::{MONTHS, MonthsDirection, MonthsTrim};
use crate::keys::{ExperimentKey, keys};
use crate::outcome::{
    CurvePoints, Experiment, ExperimentInfo, ExperimentOutcome, ExperimentRecords, ExperimentSetup,
    level,
};
use crate::plot::{self, curves};
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_base::stop::go_on;
use ssdlab_drives::catalogue;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_view::chart::{ChartAxis, ChartUnit, Charts};

keys! {
    /// Random reads in the mixed load, new and old, and write amplification when old.
    pub(crate) enum RemedyMetric {
        New = "new_mb_s",
        Old = "old_mb_s",
        Kept = "kept",
        Waf = "waf",
    }

    /// Map of a drive that has every other remedy.
    pub(crate) enum MapVariant {
        Tree = "tree",
        Flat = "flat",
    }

    pub(crate) enum MythMeasure {
        InPlace256 = "in_place_256",
        InPlace512 = "in_place_512",
        LoggedWafGrowth = "logged_waf_growth",
        LoggedWafMax = "logged_waf_max",
        TrimGain = "trim_gain",
        OpGain = "op_gain",
        FlatGain = "flat_gain",
        Untrimmed70Over97 = "untold_70_over_97",
        Trimmed97Over50 = "trimmed_97_over_50",
        TrimStall = "trim_stall",
        DiskWriteFlatness = "disk_write_flatness",
        DiskReadFlatness = "disk_read_flatness",
        DiskMixedReadFlatness = "disk_mixed_read_flatness",
        DiskWriteEndOverBegin = "disk_write_end_over_begin",
        DiskSteadyOverFirst = "disk_steady_over_first",
        BoughtGibOverGb = "bought_gib_over_gb",
        ;
        Aged((Remedy, RemedyMetric)) = "{}",
        Upkeep(MapVariant) = "{}_upkeep",
        UpkeepGrowth(MapVariant) = "{}_upkeep_growth",
    }

    pub(crate) enum MythCurve {
        Logged = "logged",
        ;
        Throughput(Remedy) = "{}_throughput",
        Upkeep(MapVariant) = "{}_upkeep",
        Disk(WholeDiskCurve) = "disk_{}",
    }
}

type MythOutcome = ExperimentOutcome<MythMeasure, MythCurve>;

pub(crate) static MYTH: Experiment<MythMeasure, MythCurve> = Experiment {
    about: ExperimentInfo {
        name: "myth",
        what: "updates in place and in a log; a server's file system on drives of a 128th of their \
               size that differ in one thing each; reads beside TRIMs; 4 KiB over every block of \
               the S3700",
        weight: 18,
    },
    run: |setup| run(&MythSettings::published(setup.seed), setup),
};

/// Runs the article at a size.
pub(super) fn run(
    settings: &MythSettings,
    setup: &ExperimentSetup<'_>,
) -> Result<MythOutcome, LabError> {
    let (mut health, mut outcome) = (DriveSelfChecks::default(), ExperimentOutcome::new());
    let stop = setup.stop;
    let mut aged_drives = Vec::new();
    for remedy in Remedy::all() {
        let aged = production::age(remedy, settings, &mut health, stop)?;
        production(&mut outcome, remedy, &aged);
        aged_drives.push(aged);
        go_on(stop)?;
    }
    // The first two remedies: none, and TRIM.
    let mut by_used =
        |n: usize, used| production::by_used(&aged_drives[n], used, settings, &mut health, stop);
    let untrimmed = by_used(0, [70, 97])?;
    let trimmed = by_used(1, [50, 97])?;
    go_on(stop)?;
    compare(&mut outcome, &untrimmed, &trimmed);
    in_place(
        &mut outcome,
        &in_place::in_place(setup.seed, &mut health, stop)?,
    );
    logged(
        &mut outcome,
        in_place::logged(setup.seed, &mut health, stop)?,
    );
    let costs = trim::cost(settings, &mut health, stop)?;
    let iops = |name| costs.iter().find(|cost| cost.name == name);
    let stall = iops("not queued").zip(iops("queued"));
    outcome.value(
        MythMeasure::TrimStall,
        stall.map(|(slow, fast)| slow.read_iops / fast.read_iops),
    );
    whole_disk(&mut outcome, whole_disk::run(settings, &mut health, stop)?);
    // Stopped in between, a drive was not given all of its commands.
    go_on(stop)?;
    health.keep(&mut outcome);
    let bought = catalogue::drive(FLASH)?;
    let raw_gib = Geometry::new(bought.config.shape).raw_bytes() as f64 / (1_u64 << 30) as f64;
    let user_gb = bought.config.user_bytes as f64 / 1e9;
    let more = 100.0 * (raw_gib / user_gb - 1.0);
    outcome.value(MythMeasure::BoughtGibOverGb, more);
    Ok(outcome)
}

fn in_place(outcome: &mut MythOutcome, rows: &[in_place::InPlaceUpdates]) {
    for (measure, factor) in [
        (MythMeasure::InPlace256, 256.0),
        (MythMeasure::InPlace512, 512.0),
    ] {
        let row = rows.iter().find(|row| row.by_arithmetic == factor);
        outcome.value(measure, row.map(|row| row.waf));
    }
}

/// `points`: write amplification over the percentage of the user capacity that is valid.
fn logged(outcome: &mut MythOutcome, points: CurvePoints) {
    let growth = points.first().zip(points.last());
    let growth = growth.map(|(first, last)| last.1 / first.1);
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    outcome.value(MythMeasure::LoggedWafGrowth, growth);
    outcome.value(MythMeasure::LoggedWafMax, most);
    outcome.curve(MythCurve::Logged, points);
}

fn production(outcome: &mut MythOutcome, remedy: Remedy, aged: &ProductionHistory) {
    let (new, old) = (aged.new_read_mb_s(), aged.old_read_mb_s());
    for (of, value) in [
        (RemedyMetric::New, new),
        (RemedyMetric::Old, old),
        (RemedyMetric::Kept, old / new),
        (RemedyMetric::Waf, aged.old_waf()),
    ] {
        outcome.value(MythMeasure::Aged((remedy, of)), value);
    }
    outcome.curve(MythCurve::Throughput(remedy), aged.throughput());
    let map = match remedy {
        Remedy::Tree => MapVariant::Tree,
        Remedy::All => MapVariant::Flat,
        _ => return,
    };
    let upkeep = aged.map_upkeep();
    let last = level(&upkeep, 1).unwrap_or(0.0);
    let first = upkeep.iter().find(|point| point.1 > 0.0);
    outcome.value(MythMeasure::Upkeep(map), last);
    let growth = first.map_or(0.0, |first| last / first.1);
    outcome.value(MythMeasure::UpkeepGrowth(map), growth);
    outcome.curve(MythCurve::Upkeep(map), upkeep);
}

fn compare(
    outcome: &mut MythOutcome,
    untrimmed: &[UsedShareResult; 2],
    trimmed: &[UsedShareResult; 2],
) {
    for (gain, remedy) in [
        (MythMeasure::TrimGain, Remedy::Trim),
        (MythMeasure::OpGain, Remedy::Op),
        (MythMeasure::FlatGain, Remedy::Flat),
    ] {
        let old = |remedy| MythMeasure::Aged((remedy, RemedyMetric::Old));
        let ratio = outcome.ratio(old(remedy), old(Remedy::Earlier));
        outcome.value(gain, ratio);
    }
    let [at_70, at_97] = untrimmed.map(|row| row.old_read_mb_s);
    outcome.value(MythMeasure::Untrimmed70Over97, at_70 / at_97);
    let [at_50, at_97] = trimmed.map(|row| row.old_read_mb_s);
    outcome.value(MythMeasure::Trimmed97Over50, at_97 / at_50);
}

fn whole_disk(outcome: &mut MythOutcome, lines: Vec<(WholeDiskCurve, CurvePoints)>) {
    for (pass, line) in &lines {
        let flatness = match pass {
            WholeDiskCurve::Write => MythMeasure::DiskWriteFlatness,
            WholeDiskCurve::Read => MythMeasure::DiskReadFlatness,
            WholeDiskCurve::MixedRead => MythMeasure::DiskMixedReadFlatness,
            _ => continue,
        };
        outcome.value(flatness, whole_disk::flatness(line));
    }
    let points =
        |pass: WholeDiskCurve| lines.iter().find(|line| line.0 == pass).map(|line| &line.1);
    let last = |pass, count| points(pass).and_then(|line| level(line, count));
    let tenth = points(WholeDiskCurve::Write).map_or(1, |line| line.len().div_ceil(10));
    let begin = points(WholeDiskCurve::Write).and_then(|line| level(&line[..tenth], tenth));
    let over = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
    let end = over(last(WholeDiskCurve::Write, tenth), begin);
    let steady = over(
        last(WholeDiskCurve::Steady, 10),
        last(WholeDiskCurve::Write, 10),
    );
    outcome.value(MythMeasure::DiskWriteEndOverBegin, end);
    outcome.value(MythMeasure::DiskSteadyOverFirst, steady);
    for (pass, line) in lines {
        outcome.curve(MythCurve::Disk(pass), line);
    }
}

pub(crate) static IN_PLACE: ArticleSection = ArticleSection {
    anchor: "inplace",
    title: "In place, and in a log",
    text: &[
        "A page can only be programmed after its whole block was erased. Rewriting the block for \
         every update multiplies each write by the number of updates that fit into the block; \
         writing elsewhere costs copies of what is still valid, the more the fuller the flash.",
    ],
    ids: &["myth.inplace", "myth.log"],
    plots: plot::none,
};

pub(crate) static PRODUCTION: ArticleSection = ArticleSection {
    anchor: "production",
    title: "Months in production, and the remedies",
    text: &[
        "A server's file system, 70 % used, creates and deletes files on drives that differ in one \
         thing each. Without TRIM the drive takes deleted data for valid and fills up, however \
         much the file system has deleted.",
    ],
    ids: &["myth.degrade", "myth.full70", "myth.trim", "myth.op"],
    plots: months,
};

pub(crate) static MAP: ArticleSection = ArticleSection {
    anchor: "map",
    title: "The map has its price",
    text: &[
        "A tree of extents is small on a fresh drive. Random writes break it up, and its upkeep \
         takes more and more of the flash's time; a flat table needs none.",
    ],
    ids: &["myth.map"],
    plots: upkeep,
};

pub(crate) static WHOLE_DISK: ArticleSection = ArticleSection {
    anchor: "s3700",
    title: "The drive that was bought",
    text: &["4 KiB random writes and reads over every block of the DC S3700."],
    ids: &["myth.s3700", "myth.hdd"],
    plots: disk,
};

fn months(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let labels = [
        (Remedy::Earlier, "earlier drive, no TRIM"),
        (Remedy::Trim, "TRIM alone"),
        (Remedy::Op, "32 % spare alone"),
        (Remedy::Flat, "flat map alone"),
        (Remedy::All, "all remedies"),
        (Remedy::Bought, "DC S3700, no TRIM"),
    ]
    .map(|(remedy, label)| (MythCurve::Throughput(remedy), label));
    let title = "Random reads in the mixed load, over user capacities written";
    let over_writes = curves(
        records,
        &MYTH,
        title,
        ChartAxis::Writes,
        ChartUnit::Throughput,
        &labels,
    );
    let labels = [
        (
            (MonthsTrim::Never, MonthsDirection::Writes),
            "writes, never trimmed",
        ),
        (
            (MonthsTrim::AtOnce, MonthsDirection::Writes),
            "writes, TRIM at once",
        ),
        (
            (MonthsTrim::Never, MonthsDirection::Reads),
            "reads, never trimmed",
        ),
        (
            (MonthsTrim::AtOnce, MonthsDirection::Reads),
            "reads, TRIM at once",
        ),
    ];
    let title = "A file system over months: throughput without and with TRIM";
    let over_months = curves(
        records,
        &MONTHS,
        title,
        ChartAxis::Months,
        ChartUnit::Throughput,
        &labels,
    );
    html! { (charts.add(over_writes)) (charts.add(over_months)) }
}

fn upkeep(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let labels = [
        (
            MythCurve::Upkeep(MapVariant::Tree),
            "tree, all other remedies",
        ),
        (
            MythCurve::Upkeep(MapVariant::Flat),
            "flat, all other remedies",
        ),
    ];
    let title = "Share of the dies' time that the map takes, over user capacities written";
    let chart = curves(
        records,
        &MYTH,
        title,
        ChartAxis::Writes,
        ChartUnit::Percent,
        &labels,
    );
    html! { (charts.add(chart)) }
}

fn disk(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let labels = [
        (
            MythCurve::Disk(WholeDiskCurve::Write),
            "random writes, first pass",
        ),
        (
            MythCurve::Disk(WholeDiskCurve::Steady),
            "random writes, steady state",
        ),
        (
            MythCurve::Disk(WholeDiskCurve::Read),
            "random reads of the full drive",
        ),
        (
            MythCurve::Disk(WholeDiskCurve::MixedRead),
            "reads beside writes",
        ),
        (
            MythCurve::Disk(WholeDiskCurve::MixedWrite),
            "writes beside reads",
        ),
    ];
    let title = "DC S3700: IOPS over the share of the disk covered";
    let chart = curves(
        records,
        &MYTH,
        title,
        ChartAxis::Percent,
        ChartUnit::Rate,
        &labels,
    );
    html! { (charts.add(chart)) }
}
