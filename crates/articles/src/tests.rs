//! Is every published figure in the list, and does the list hold together?

use crate::figures::{self, FigureContradiction, PublishedFigure, ToleranceRule};
use crate::outcome::ExperimentSetup;
use crate::registry::{self, EXPERIMENTS};
use crate::row::{FigureVerdict, ReproductionRow};
use crate::run::{Reproduction, ReproductionSettings, reproduce};
use crate::table;
use std::sync::atomic::AtomicBool;

/// Ids of the published figures, each with the numbers that the articles print.
fn published() -> impl Iterator<Item = (&'static str, Vec<f64>)> {
    let text = include_str!("published.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut words = line.split(' ');
        let id = words.next().unwrap();
        (id, words.map(|number| number.parse().unwrap()).collect())
    })
}

#[test]
fn no_published_figure_is_forgotten_and_none_is_made_up() {
    let mut listed: Vec<&str> = published().map(|(id, _)| id).collect();
    let mut ours = figures::ids();
    listed.sort_unstable();
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(ours, listed);
}

#[test]
fn every_printed_number_is_held_against_ours() {
    let mut count = 0;
    for (id, numbers) in published() {
        for number in numbers {
            let mut rows = figures::all().iter().filter(|figure| figure.id == id);
            let held = rows.any(|figure| figure.published == Some(number));
            assert!(held, "{id}: no row has {number}");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn every_figure_can_be_measured_or_says_what_it_waits_for() {
    for figure in figures::all() {
        let name = (&figure.id, &figure.what);
        assert!(registry::article(&figure.id).is_some(), "{name:?}");
        assert!(registry::section(&figure.id).is_some(), "{name:?}");
        assert!(!figure.published_text().is_empty(), "{name:?}");
        let waits = !figure.pending.is_empty();
        assert_eq!(figure.rule.is_none(), waits, "{name:?}");
        assert_eq!(figure.experiments().is_empty(), waits, "{name:?}");
    }
    for experiment in EXPERIMENTS {
        let name = experiment.about().name;
        let needs = |figure: &PublishedFigure| figure.experiments().contains(&name);
        assert!(figures::all().iter().any(needs), "{name}");
        let (mut names, count) = (experiment.measures(), experiment.measures().len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{name}: two measures of one name");
    }
}

#[test]
fn names_choose_ids_articles_and_beginnings() {
    let count = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        figures::select(&names).map(|chosen| chosen.len())
    };
    assert_eq!(count(&[]).unwrap(), figures::all().len());
    assert_eq!(count(&["s2d.endurance.dwpd"]).unwrap(), 1);
    assert!(count(&["zil.rw80"]).unwrap() > 7);
    assert!(count(&["zil.rw80", "zil.rw80.x1"]).unwrap() == count(&["zil.rw80"]).unwrap());
    for wrong in ["zil.rw8", "zi", "", "s2d.", "zil.rw80.710_400"] {
        let error = count(&[wrong]).unwrap_err();
        assert!(!error.hint().is_empty(), "{wrong}");
    }
    let error = count(&["zil.seek.three"]).unwrap_err();
    assert!(error.hint().contains("zil."), "{error:?}");
}

#[test]
fn rules_hold_at_their_edge_and_not_beyond() {
    let p = Some(100.0);
    for (rule, good, bad) in [
        (ToleranceRule::Relative(0.15), 115.0, 115.1),
        (ToleranceRule::Relative(0.15), 85.0, 84.9),
        (ToleranceRule::Absolute(5.0), 95.0, 94.9),
        (ToleranceRule::Between([21.0, 71.0]), 71.0, 71.1),
        (ToleranceRule::AtMost(2.0), 2.0, 2.1),
        (ToleranceRule::AtLeast(30.0), 30.0, 29.9),
    ] {
        assert!(rule.holds(p, good), "{rule:?}");
        assert!(!rule.holds(p, bad), "{rule:?}");
        assert!(!rule.holds(p, f64::NAN), "{rule:?}");
    }
}

fn figure(rule: ToleranceRule) -> PublishedFigure {
    let mut figure = figures::all()[0].clone();
    figure.published = Some(100.0);
    figure.rule = Some(rule);
    figure
}

#[test]
fn a_row_is_met_missed_pending_or_not_run() {
    let good = figure(ToleranceRule::Relative(0.1));
    let verdict =
        |figure: &PublishedFigure, ours| ReproductionRow::new(figure.clone(), ours, None).verdict;
    assert_eq!(verdict(&good, Some((105.0, None))), FigureVerdict::Met);
    assert_eq!(verdict(&good, Some((120.0, None))), FigureVerdict::Missed);
    assert_eq!(verdict(&good, None), FigureVerdict::NotRun);
    let mut waits = good.clone();
    waits.pending = "needs what is not there".into();
    assert_eq!(verdict(&waits, None), FigureVerdict::Pending);
}

/// Not even where ours meets the rule.
#[test]
fn a_contradicted_row_is_neither_met_nor_a_prediction() {
    let mut refuted = figure(ToleranceRule::Relative(0.1));
    refuted.contradicted = Some(FigureContradiction {
        source: "the article".into(),
        arithmetic: "twice 900 is 1800, not 1000".into(),
    });
    for ours in [105.0, 120.0] {
        let row = ReproductionRow::new(refuted.clone(), Some((ours, None)), Some(5000.0));
        assert_eq!(row.verdict, FigureVerdict::Contradicted);
        assert!(!row.is_test());
        assert!(row.why().unwrap().contains("twice 900"));
    }
    let row = ReproductionRow::new(refuted, None, None);
    assert_eq!(row.verdict, FigureVerdict::NotRun);
}

#[test]
fn a_row_that_its_null_model_meets_is_no_test() {
    let mut row = ReproductionRow::new(
        figure(ToleranceRule::AtMost(99.0)),
        Some((80.0, None)),
        Some(100.0),
    );
    assert!(row.is_test() && !row.null_meets());
    row.null_value = Some(99.0);
    assert!(!row.is_test() && row.kind_text() == "not a test");
    row.null_value = None;
    assert!(!row.is_test(), "the null model has no value");
}

/// Totals of the list that need no run: a limit that is loosened until the null model meets it, or
/// a null model that is weakened, shows here.
#[test]
fn a_limit_loosened_until_its_null_model_meets_it_shows() {
    let constant = figures::all().iter().filter_map(|figure| {
        let null = figure.null.as_ref()?.value?;
        Some(!figure.rule?.holds(figure.published, null))
    });
    let (tests, all) = constant.fold((0, 0), |(t, n), is| (t + usize::from(is), n + 1));
    assert_eq!((tests, all), (49, 95));
}

fn run(chosen: &[&PublishedFigure], seed: u64, threads: usize, stop: bool) -> Reproduction {
    let settings = ReproductionSettings {
        seed,
        full: true,
        aged: None,
    };
    reproduce(chosen, &settings, threads, &AtomicBool::new(stop), |_| {}).unwrap()
}

/// Threads do not show, nor does the run before.
#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let names = ["zil.pattern.one", "s2d.endurance.dwpd", "zil.x1.backups"].map(String::from);
    let chosen = figures::select(&names).unwrap();
    let run = |seed, threads| {
        let found = run(&chosen, seed, threads, false);
        (
            serde_json::to_string(&found).unwrap(),
            table::text(&found),
            table::csv(&found),
        )
    };
    let names = chosen.iter().flat_map(|figure| figure.experiments());
    let mut weights = names.map(|name| registry::named(name).unwrap().about().weight);
    assert!(weights.all(|weight| weight <= 10));
    let first = run(1, 1);
    assert_eq!(first, run(1, 2));
    assert_ne!(first.0, run(2, 2).0);
}

/// Figures that need no load: each is met, or its row says why not.
#[test]
fn facts_of_the_catalogue_are_as_published() {
    let of_facts = |figure: &&PublishedFigure| figure.experiments() == ["facts"];
    let chosen: Vec<_> = figures::all().iter().filter(of_facts).collect();
    for row in run(&chosen, 1, 1, false).rows {
        let is_explained = row.verdict == FigureVerdict::Met || row.why().is_some();
        let name = (&row.figure.id, &row.figure.what);
        assert!(is_explained, "{name:?}: {:?}, {:?}", row.verdict, row.value);
    }
}

#[test]
fn a_stopped_run_has_rows_that_were_not_run() {
    let chosen = figures::select(&["zil.pattern.one".into()]).unwrap();
    let found = run(&chosen, 1, 1, true);
    assert!(found.stopped);
    assert_eq!(found.count(FigureVerdict::NotRun), chosen.len());
    let setup = ExperimentSetup {
        seed: 1,
        stop: &AtomicBool::new(true),
        aged: None,
    };
    assert!(registry::named("zil.one").unwrap().run(&setup).is_err());
}
