//! The article's measures, plots and sections.

use super::protocol::{self, DRIVES, DriveRuns, Settings};
use super::rest::{self, Round, State};
use crate::experiments::host::Health;
use crate::keys::{Key, keys};
use crate::outcome::{About, Experiment, Outcome, Outcomes, Setup};
use crate::plot::{self, bars, chart, line};
use crate::story::Section;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_base::stop::go_on;
use ssdlab_view::chart::{Axis, Chart, Charts, Unit};

keys! {
    /// The drives, in the order of [`DRIVES`].
    pub(crate) enum Drive {
        Sf28 = "sf28",
        Sf13 = "sf13",
        X25m = "x25m",
        Barefoot = "barefoot",
    }

    pub(crate) enum Trace {
        Light = "light",
        Heavy = "heavy",
    }

    /// Per cent of new performance by state; the last of a new drive with a system on it.
    pub(crate) enum Kept {
        Full = "full",
        Dirty = "dirty",
        Scattered = "scattered",
        FullOfInstalled = "full_of_installed",
    }

    /// Largest change over both traces in points, and write amplification of becoming dirty.
    pub(crate) enum Change {
        Full = "full_change",
        Dirty = "dirty_change",
        DirtyWaf = "dirty_waf",
        ScatteredWaf = "scattered_waf",
    }

    /// Points by which the heavy trace on the X25-M differs between two rounds.
    pub(crate) enum Intel {
        DirtyLessFull = "intel_dirty_less_full",
        RestedDirtyLessFull = "intel_rested_dirty_less_full",
        RestedLessDirty = "intel_rested_less_dirty",
        ScatteredRestedLessAtOnce = "intel_scattered_rested_less_at_once",
    }

    pub(crate) enum Measure {
        FullDifference = "full_difference",
        DirtyLight = "dirty_light_difference",
        DirtyHeavy = "dirty_heavy_difference",
        ScatteredLight = "scattered_light_difference",
        ScatteredHeavy = "scattered_heavy_difference",
        ScatteredLost = "x25m_scattered_less_full",
        Resilience = "sf13_less_x25m_scattered",
        FlashUsedRandom = "flash_used_random",
        FlashUsedSystem = "flash_used_system",
        FlashUsedEmpty = "flash_used_empty",
        ;
        Kept((Drive, Trace, Kept)) = "{}",
        Change((Drive, Change)) = "{}",
        Intel(Intel) = "{}",
        IntelWithout(Intel) = "{}_without",
    }

    /// Random share of the second pass, or random writes alone.
    pub(crate) enum By {
        Share = "by_share",
        Dirt = "by_dirt",
    }

    pub(crate) enum Line {
        ;
        Kept((Drive, Trace, By)) = "{}",
        Rested(Trace) = "rested_{}_difference",
    }
}

type Found = Outcome<Measure, Line>;

pub(crate) static SPARE: Experiment<Measure, Line> = Experiment {
    about: About {
        name: "spare",
        what: "traces of desktop use in bursts with pauses, light and heavy, on drives of a 32nd \
               of their size: secure erased, full of random data, full after a second pass with \
               some random writes, and after random writes alone",
        weight: 28,
    },
    run: |setup| run(&Settings::published(setup.seed), setup),
};

/// Runs the article at a size.
pub(super) fn run(settings: &Settings, setup: &Setup<'_>) -> Result<Found, LabError> {
    let (mut health, mut outcome) = (Health::default(), Outcome::new());
    let stop = setup.stop;
    let mut drives = Vec::new();
    for (drive, name) in Drive::all().into_iter().zip(DRIVES) {
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
    // Stopped in between, a drive was not given all of its commands.
    go_on(stop)?;
    compare(&mut outcome);
    intel(&mut outcome, &rounds);
    for (trace, difference) in Trace::all().into_iter().zip(rested) {
        outcome.curve(Line::Rested(trace), difference);
    }
    for (measure, fill) in [
        Measure::FlashUsedRandom,
        Measure::FlashUsedSystem,
        Measure::FlashUsedEmpty,
    ]
    .into_iter()
    .zip(fills)
    {
        outcome.value(measure, 100.0 * fill.flash_used);
    }
    health.keep(&mut outcome);
    Ok(outcome)
}

fn measure(outcome: &mut Found, drive: Drive, runs: &DriveRuns) {
    for (i, (trace, kept)) in Trace::all().into_iter().zip(&runs.kept).enumerate() {
        for (state, value) in [
            (Kept::Full, kept.full_pct),
            (Kept::Dirty, kept.dirty_pct),
            (Kept::Scattered, kept.scattered_pct),
            (Kept::FullOfInstalled, kept.full_of_installed_pct),
        ] {
            outcome.value(Measure::Kept((drive, trace, state)), value);
        }
        let [by_share, by_dirt] = [&runs.by_share[i], &runs.by_dirt[i]];
        outcome.curve(Line::Kept((drive, trace, By::Share)), by_share.clone());
        outcome.curve(Line::Kept((drive, trace, By::Dirt)), by_dirt.clone());
    }
    let farthest = |of: fn(&protocol::Kept) -> f64| {
        let each = runs.kept.iter().map(|kept| (of(kept) - 100.0).abs());
        each.fold(0.0, f64::max)
    };
    for (change, value) in [
        (Change::Full, farthest(|kept| kept.full_pct)),
        (Change::Dirty, farthest(|kept| kept.dirty_pct)),
        (Change::DirtyWaf, runs.dirty_waf[0]),
        (Change::ScatteredWaf, runs.dirty_waf[1]),
    ] {
        outcome.value(Measure::Change((drive, change)), value);
    }
}

/// The SandForce drive of 28 % less that of 13 %, points.
fn compare(outcome: &mut Found) {
    let of = |outcome: &Found, drive, trace, state| {
        let value = outcome.get(Measure::Kept((drive, trace, state)));
        value.unwrap_or(f64::NAN)
    };
    let wider = |outcome: &Found, trace, state| {
        -(of(outcome, Drive::Sf13, trace, state) - of(outcome, Drive::Sf28, trace, state))
    };
    let full = Trace::all().into_iter();
    let full = full.map(|trace| wider(outcome, trace, Kept::Full).abs());
    let full = full.fold(0.0, f64::max);
    outcome.value(Measure::FullDifference, full);
    for (measure, trace, state) in [
        (Measure::DirtyLight, Trace::Light, Kept::Dirty),
        (Measure::DirtyHeavy, Trace::Heavy, Kept::Dirty),
        (Measure::ScatteredLight, Trace::Light, Kept::Scattered),
        (Measure::ScatteredHeavy, Trace::Heavy, Kept::Scattered),
    ] {
        let points = wider(outcome, trace, state);
        outcome.value(measure, points);
    }
    let heavy = |outcome: &Found, drive, state| of(outcome, drive, Trace::Heavy, state);
    let full = heavy(outcome, Drive::X25m, Kept::Full);
    let scattered = heavy(outcome, Drive::X25m, Kept::Scattered);
    let other = heavy(outcome, Drive::Sf13, Kept::Scattered);
    outcome.value(Measure::ScatteredLost, scattered - full);
    outcome.value(Measure::Resilience, other - scattered);
}

/// The X25-M between its two runs, both at once after the preparation and both rested.
fn intel(outcome: &mut Found, rounds: &[Round]) {
    let of = |(state, rested): (State, bool)| {
        let here = |round: &&Round| round.state == state && round.rested == rested;
        rounds.iter().find(here)
    };
    for (intel, from, to) in [
        (
            Intel::DirtyLessFull,
            (State::Full, false),
            (State::Dirty, false),
        ),
        (
            Intel::RestedDirtyLessFull,
            (State::Full, true),
            (State::Dirty, true),
        ),
        (
            Intel::RestedLessDirty,
            (State::Dirty, false),
            (State::Dirty, true),
        ),
        (
            Intel::ScatteredRestedLessAtOnce,
            (State::Scattered, false),
            (State::Scattered, true),
        ),
    ] {
        let both = of(from).zip(of(to));
        let with = both.map(|(from, to)| to.with_pct - from.with_pct);
        let without = both.map(|(from, to)| to.without_pct - from.without_pct);
        outcome.value(Measure::Intel(intel), with);
        outcome.value(Measure::IntelWithout(intel), without);
    }
}

pub(crate) static FULL: Section = Section {
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

pub(crate) static DIRTY: Section = Section {
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

pub(crate) static INTEL: Section = Section {
    anchor: "intel",
    title: "A drive that improves",
    text: &[
        "The X25-M came out faster in the second, dirty run. Here a rest with background reclaim, \
         which is assumed of it, regains the loss of the second pass, and no more.",
    ],
    ids: &["spare.intel", "spare.author20"],
    plots: plot::none,
};

pub(crate) static COMPRESS: Section = Section {
    anchor: "compress",
    title: "How full is full?",
    text: &[
        "A sequential fill with data that compresses leaves flash free; only random data takes as \
         much flash as was written. Parity is counted in.",
    ],
    ids: &["spare.compress", "spare.joins"],
    plots: plot::none,
};

const TITLES: [(Drive, &str); 4] = [
    (Drive::Sf28, "SF-1200, 28 % spare"),
    (Drive::Sf13, "SF-1200, 13 % spare"),
    (Drive::X25m, "X25-M G2"),
    (Drive::Barefoot, "Indilinx Barefoot"),
];

fn per_cent_of_new(found: &Outcomes, title: &str, state: Kept) -> Markup {
    let groups = [(Trace::Light, "Light trace"), (Trace::Heavy, "Heavy trace")];
    let groups = groups.map(|(trace, name)| {
        let of = |(drive, title): &(Drive, &'static str)| {
            let value = found.value(&SPARE, Measure::Kept((*drive, trace, state)))?;
            Some((*title, value))
        };
        (name, TITLES.iter().filter_map(of).collect())
    });
    bars(title, "%", &groups)
}

fn full(found: &Outcomes, _: &mut Charts) -> Markup {
    per_cent_of_new(found, "Full: per cent of new performance.", Kept::Full)
}

fn dirty(found: &Outcomes, charts: &mut Charts) -> Markup {
    let title = "Full and dirty: per cent of new performance.";
    html! {
        (per_cent_of_new(found, title, Kept::Dirty))
        div .pair {
            @for trace in Trace::all() { (charts.add(by(found, trace, By::Share))) }
        }
        p {
            "That is a pass in order with some random writes. Random writes and nothing else after \
             the fill, which is worse than what the article did:"
        }
        div .pair {
            @for trace in Trace::all() { (charts.add(by(found, trace, By::Dirt))) }
        }
    }
}

/// Per cent of new by the random share of the second pass, or by the amount of random writes alone.
fn by(found: &Outcomes, trace: Trace, by: By) -> Chart {
    let lines = TITLES.iter().enumerate().map(|(i, (drive, title))| {
        let points = found.curve(&SPARE, Line::Kept((*drive, trace, by)));
        line(*title, i, points)
    });
    let (what, group, axis) = match by {
        By::Share => ("random share of the second pass", "share", Axis::Percent),
        By::Dirt => (
            "user capacities written at random alone",
            "dirt",
            Axis::Writes,
        ),
    };
    let title = format!("Of new performance, {} trace, by {what}", trace.name());
    Chart {
        axis,
        unit: Unit::Percent,
        ..chart(title, group, lines.collect())
    }
}
