//! The article's measures, plots and sections.

use super::protocol::{self, DRIVES, SpareDriveRuns, SpareSettings};
use super::rest::{self, RestRound, X25mState};
use crate::experiments::host::DriveSelfChecks;
use crate::keys::{ExperimentKey, keys};
use crate::outcome::{
    Experiment, ExperimentInfo, ExperimentOutcome, ExperimentRecords, ExperimentSetup,
};
use crate::plot::{self, bars, chart, line};
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_base::stop::go_on;
use ssdlab_view::chart::{Chart, ChartAxis, ChartUnit, Charts};

keys! {
    /// The drives, in the order of [`DRIVES`].
    pub(crate) enum SpareDrive {
        Sf28 = "sf28",
        Sf13 = "sf13",
        X25m = "x25m",
        Barefoot = "barefoot",
    }

    pub(crate) enum DesktopTrace {
        Light = "light",
        Heavy = "heavy",
    }

    /// Per cent of new performance by state; the last of a new drive with a system on it.
    pub(crate) enum RetainedShare {
        Full = "full",
        Dirty = "dirty",
        Scattered = "scattered",
        FullOfInstalled = "full_of_installed",
    }

    /// Largest change over both traces in points, and write amplification of becoming dirty.
    pub(crate) enum SpareChange {
        Full = "full_change",
        Dirty = "dirty_change",
        DirtyWaf = "dirty_waf",
        ScatteredWaf = "scattered_waf",
    }

    /// Points by which the heavy trace on the X25-M differs between two rounds.
    pub(crate) enum RestDifference {
        DirtyLessFull = "intel_dirty_less_full",
        RestedDirtyLessFull = "intel_rested_dirty_less_full",
        RestedLessDirty = "intel_rested_less_dirty",
        ScatteredRestedLessAtOnce = "intel_scattered_rested_less_at_once",
    }

    pub(crate) enum SpareMeasure {
        FullDifference = "full_difference",
        DirtyLight = "dirty_light_difference",
        DirtyHeavy = "dirty_heavy_difference",
        ScatteredLight = "scattered_light_difference",
        ScatteredHeavy = "scattered_heavy_difference",
        ScatteredLost = "x25m_scattered_less_full",
        Resilience = "sf13_less_x25m_scattered",
        Sf13Desktop = "sf13_heavy_scattered_desktop",
        ResilienceDesktop = "sf13_desktop_less_x25m_scattered",
        FlashUsedRandom = "flash_used_random",
        FlashUsedSystem = "flash_used_system",
        FlashUsedEmpty = "flash_used_empty",
        ;
        Kept((SpareDrive, DesktopTrace, RetainedShare)) = "{}",
        Change((SpareDrive, SpareChange)) = "{}",
        Intel(RestDifference) = "{}",
        IntelWithout(RestDifference) = "{}_without",
    }

    /// Random share of the second pass, or random writes alone.
    pub(crate) enum DirtyingSweep {
        Share = "by_share",
        Dirt = "by_dirt",
    }

    pub(crate) enum SpareCurve {
        ;
        Kept((SpareDrive, DesktopTrace, DirtyingSweep)) = "{}",
        Rested(DesktopTrace) = "rested_{}_difference",
    }
}

type SpareOutcome = ExperimentOutcome<SpareMeasure, SpareCurve>;

pub(crate) static SPARE: Experiment<SpareMeasure, SpareCurve> = Experiment {
    about: ExperimentInfo {
        name: "spare",
        what: "traces of desktop use in bursts with pauses, light and heavy, on drives of a 32nd \
               of their size: secure erased, full of random data, full after a second pass with \
               some random writes, and after random writes alone",
        weight: 28,
    },
    run: |setup| run(&SpareSettings::published(setup.seed), setup),
};

/// Runs the article at a size.
pub(super) fn run(
    settings: &SpareSettings,
    setup: &ExperimentSetup<'_>,
) -> Result<SpareOutcome, LabError> {
    let (mut health, mut outcome) = (DriveSelfChecks::default(), ExperimentOutcome::new());
    let stop = setup.stop;
    let mut drives = Vec::new();
    for (drive, name) in SpareDrive::all().into_iter().zip(DRIVES) {
        go_on(stop)?;
        let runs = protocol::drive_runs(name, settings, &mut health, stop)?;
        measure(&mut outcome, drive, &runs);
        drives.push(runs);
    }
    go_on(stop)?;
    let rounds = rest::intel(settings, &mut health, stop)?;
    go_on(stop)?;
    let rested = rest::rested(settings, &mut health, stop)?;
    let fills = protocol::compress(settings, &mut health, stop)?;
    let desktop = protocol::scattered_desktop(settings, &mut health, stop)?;
    // Stopped in between, a drive was not given all of its commands.
    go_on(stop)?;
    outcome.value(SpareMeasure::Sf13Desktop, desktop);
    compare(&mut outcome);
    intel(&mut outcome, &rounds);
    for (trace, difference) in DesktopTrace::all().into_iter().zip(rested) {
        outcome.curve(SpareCurve::Rested(trace), difference);
    }
    for (measure, fill) in [
        SpareMeasure::FlashUsedRandom,
        SpareMeasure::FlashUsedSystem,
        SpareMeasure::FlashUsedEmpty,
    ]
    .into_iter()
    .zip(fills)
    {
        outcome.value(measure, 100.0 * fill.flash_used);
    }
    health.keep(&mut outcome);
    Ok(outcome)
}

fn measure(outcome: &mut SpareOutcome, drive: SpareDrive, runs: &SpareDriveRuns) {
    for (i, (trace, kept)) in DesktopTrace::all().into_iter().zip(&runs.kept).enumerate() {
        for (state, value) in [
            (RetainedShare::Full, kept.full_pct),
            (RetainedShare::Dirty, kept.dirty_pct),
            (RetainedShare::Scattered, kept.scattered_pct),
            (RetainedShare::FullOfInstalled, kept.full_of_installed_pct),
        ] {
            outcome.value(SpareMeasure::Kept((drive, trace, state)), value);
        }
        let [by_share, by_dirt] = [&runs.by_share[i], &runs.by_dirt[i]];
        outcome.curve(
            SpareCurve::Kept((drive, trace, DirtyingSweep::Share)),
            by_share.clone(),
        );
        outcome.curve(
            SpareCurve::Kept((drive, trace, DirtyingSweep::Dirt)),
            by_dirt.clone(),
        );
    }
    let farthest = |percent: fn(&protocol::RetainedPerformance) -> f64| {
        let changes = runs
            .kept
            .iter()
            .map(|retained| (percent(retained) - 100.0).abs());
        changes.fold(0.0, f64::max)
    };
    for (change, value) in [
        (SpareChange::Full, farthest(|kept| kept.full_pct)),
        (SpareChange::Dirty, farthest(|kept| kept.dirty_pct)),
        (SpareChange::DirtyWaf, runs.dirty_waf[0]),
        (SpareChange::ScatteredWaf, runs.dirty_waf[1]),
    ] {
        outcome.value(SpareMeasure::Change((drive, change)), value);
    }
}

/// The SandForce drive of 28 % less that of 13 %, points.
fn compare(outcome: &mut SpareOutcome) {
    let share = |outcome: &SpareOutcome, drive, trace, state| {
        let value = outcome.get(SpareMeasure::Kept((drive, trace, state)));
        value.unwrap_or(f64::NAN)
    };
    let wider = |outcome: &SpareOutcome, trace, state| {
        -(share(outcome, SpareDrive::Sf13, trace, state)
            - share(outcome, SpareDrive::Sf28, trace, state))
    };
    let full = DesktopTrace::all().into_iter();
    let full = full.map(|trace| wider(outcome, trace, RetainedShare::Full).abs());
    let full = full.fold(0.0, f64::max);
    outcome.value(SpareMeasure::FullDifference, full);
    for (measure, trace, state) in [
        (
            SpareMeasure::DirtyLight,
            DesktopTrace::Light,
            RetainedShare::Dirty,
        ),
        (
            SpareMeasure::DirtyHeavy,
            DesktopTrace::Heavy,
            RetainedShare::Dirty,
        ),
        (
            SpareMeasure::ScatteredLight,
            DesktopTrace::Light,
            RetainedShare::Scattered,
        ),
        (
            SpareMeasure::ScatteredHeavy,
            DesktopTrace::Heavy,
            RetainedShare::Scattered,
        ),
    ] {
        let points = wider(outcome, trace, state);
        outcome.value(measure, points);
    }
    let heavy =
        |outcome: &SpareOutcome, drive, state| share(outcome, drive, DesktopTrace::Heavy, state);
    let full = heavy(outcome, SpareDrive::X25m, RetainedShare::Full);
    let scattered = heavy(outcome, SpareDrive::X25m, RetainedShare::Scattered);
    let sandforce = heavy(outcome, SpareDrive::Sf13, RetainedShare::Scattered);
    outcome.value(SpareMeasure::ScatteredLost, scattered - full);
    outcome.value(SpareMeasure::Resilience, sandforce - scattered);
    // The X25-M stores data as it is, so that its number is of any data.
    let desktop = outcome.get(SpareMeasure::Sf13Desktop);
    let resilience = desktop.map(|desktop| desktop - scattered);
    outcome.value(SpareMeasure::ResilienceDesktop, resilience);
}

/// The X25-M between its two runs, both at once after the preparation and both rested.
fn intel(outcome: &mut SpareOutcome, rounds: &[RestRound]) {
    let round = |(state, rested): (X25mState, bool)| {
        let is_match = |round: &&RestRound| round.state == state && round.rested == rested;
        rounds.iter().find(is_match)
    };
    for (intel, from, to) in [
        (
            RestDifference::DirtyLessFull,
            (X25mState::Full, false),
            (X25mState::Dirty, false),
        ),
        (
            RestDifference::RestedDirtyLessFull,
            (X25mState::Full, true),
            (X25mState::Dirty, true),
        ),
        (
            RestDifference::RestedLessDirty,
            (X25mState::Dirty, false),
            (X25mState::Dirty, true),
        ),
        (
            RestDifference::ScatteredRestedLessAtOnce,
            (X25mState::Scattered, false),
            (X25mState::Scattered, true),
        ),
    ] {
        let pair = round(from).zip(round(to));
        let with = pair.map(|(from, to)| to.with_pct - from.with_pct);
        let without = pair.map(|(from, to)| to.without_pct - from.without_pct);
        outcome.value(SpareMeasure::Intel(intel), with);
        outcome.value(SpareMeasure::IntelWithout(intel), without);
    }
}

pub(crate) static FULL: ArticleSection = ArticleSection {
    anchor: "full",
    title: "Full",
    text: &[
        "Every LBA is written with random data, so that a controller that compresses, or that uses \
         what the host never wrote as spare area, has only its own spare area left. Then a trace \
         of desktop use.",
    ],
    ids: &["spare.full"],
    plots: full,
};

pub(crate) static DIRTY: ArticleSection = ArticleSection {
    anchor: "dirty",
    title: "Full and dirty",
    text: &[
        "A second pass over every LBA with some random writes thrown in, then the trace. Each \
         random write leaves a hole in an otherwise valid block. While there are blocks that hold \
         nothing valid at all, reclaim is free; a trace that writes more than these has to wait.",
    ],
    ids: &["spare.dirty"],
    plots: dirty,
};

pub(crate) static INTEL: ArticleSection = ArticleSection {
    anchor: "intel",
    title: "A drive that improves",
    text: &[
        "The X25-M came out faster in the second, dirty run. Here a rest with background reclaim, \
         which is assumed of it, regains the loss of the second pass, and no more.",
    ],
    ids: &["spare.intel", "spare.author20"],
    plots: plot::none,
};

pub(crate) static COMPRESS: ArticleSection = ArticleSection {
    anchor: "compress",
    title: "How full is full?",
    text: &[
        "A sequential fill with data that compresses leaves flash free; only random data takes as \
         much flash as was written. Parity is counted in.",
    ],
    ids: &["spare.compress", "spare.joins"],
    plots: plot::none,
};

const TITLES: [(SpareDrive, &str); 4] = [
    (SpareDrive::Sf28, "SF-1200, 28 % spare"),
    (SpareDrive::Sf13, "SF-1200, 13 % spare"),
    (SpareDrive::X25m, "X25-M G2"),
    (SpareDrive::Barefoot, "Indilinx Barefoot"),
];

fn per_cent_of_new(records: &ExperimentRecords, title: &str, state: RetainedShare) -> Markup {
    let groups = [
        (DesktopTrace::Light, "Light trace"),
        (DesktopTrace::Heavy, "Heavy trace"),
    ];
    let groups = groups.map(|(trace, name)| {
        let bar = |(drive, title): &(SpareDrive, &'static str)| {
            let value = records.value(&SPARE, SpareMeasure::Kept((*drive, trace, state)))?;
            Some((*title, value))
        };
        (name, TITLES.iter().filter_map(bar).collect())
    });
    bars(title, "%", &groups)
}

fn full(records: &ExperimentRecords, _: &mut Charts) -> Markup {
    per_cent_of_new(
        records,
        "Full: per cent of new performance.",
        RetainedShare::Full,
    )
}

fn dirty(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let title = "Full and dirty: per cent of new performance.";
    html! {
        (per_cent_of_new(records, title, RetainedShare::Dirty))
        div .pair {
            @for trace in DesktopTrace::all() {
                (charts.add(by(records, trace, DirtyingSweep::Share)))
            }
        }
        p {
            "That is a pass in order with some random writes. Random writes and nothing else after \
             the fill, which is worse than what the article did:"
        }
        div .pair {
            @for trace in DesktopTrace::all() {
                (charts.add(by(records, trace, DirtyingSweep::Dirt)))
            }
        }
    }
}

/// Per cent of new by the random share of the second pass, or by the amount of random writes alone.
fn by(records: &ExperimentRecords, trace: DesktopTrace, by: DirtyingSweep) -> Chart {
    let lines = TITLES.iter().enumerate().map(|(i, (drive, title))| {
        let points = records.curve(&SPARE, SpareCurve::Kept((*drive, trace, by)));
        line(*title, i, points)
    });
    let (what, group, axis) = match by {
        DirtyingSweep::Share => (
            "random share of the second pass",
            "share",
            ChartAxis::Percent,
        ),
        DirtyingSweep::Dirt => (
            "user capacities written at random alone",
            "dirt",
            ChartAxis::Writes,
        ),
    };
    let title = format!("Of new performance, {} trace, by {what}", trace.name());
    Chart {
        axis,
        unit: ChartUnit::Percent,
        ..chart(title, group, lines.collect())
    }
}
