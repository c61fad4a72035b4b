//! Is every published figure in the list, and does the list hold together?

use super::experiment::{ALL, Experiment, Setup};
use super::figures::{self, Figure, Row, Rule, Verdict};
use super::run::{DERIVED, needed, reproduce};
use super::table;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Ids of the list of published figures, one a line.
const IDS: &str = include_str!("ids.txt");

fn ids() -> BTreeSet<&'static str> {
    IDS.lines().collect()
}

#[test]
fn no_published_figure_is_forgotten_and_none_is_made_up() {
    let ours: BTreeSet<&str> = figures::ids().into_iter().collect();
    assert_eq!(ours, ids());
}

/// Where the list itself stands beside the checkout, ours has the same ids.
#[test]
fn the_ids_are_those_of_the_list_of_published_figures() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = list.join("../../../shared/reference/published.md");
    let Ok(text) = std::fs::read_to_string(list) else {
        return;
    };
    let articles = figures::ARTICLES.map(|(key, _)| format!("| {key}."));
    let rows = text
        .lines()
        .filter(|line| articles.iter().any(|a| line.starts_with(a.as_str())));
    let first = rows.filter_map(|line| line.split('|').nth(1));
    let listed: BTreeSet<&str> = first
        .flat_map(|cell| cell.split('/'))
        .map(str::trim)
        .collect();
    assert!(listed.len() > 50, "{listed:?}");
    assert_eq!(listed, ids());
}

#[test]
fn every_figure_can_be_measured_or_says_what_it_waits_for() {
    for figure in figures::all() {
        let name = (&figure.id, &figure.what);
        assert!(
            figures::ARTICLES
                .iter()
                .any(|(key, _)| *key == figure.article()),
            "{name:?}"
        );
        assert!(!figure.published_text().is_empty(), "{name:?}");
        if !figure.pending.is_empty() {
            assert!(figure.ours.is_empty() && figure.rule.is_none(), "{name:?}");
            continue;
        }
        assert!(figure.rule.is_some(), "{name:?}");
        assert!(!figure.experiments().is_empty(), "{name:?}");
        for experiment in figure.experiments() {
            assert!(
                Experiment::named(experiment).is_some(),
                "{name:?}: {experiment}"
            );
        }
        if let Some(derived) = figure.ours.strip_prefix('=') {
            assert!(DERIVED.contains(&derived), "{name:?}");
        }
    }
    let unused = |e: &&Experiment| {
        !figures::all()
            .iter()
            .any(|figure| figure.experiments().contains(&e.name))
    };
    assert!(ALL.iter().find(unused).is_none());
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
        (Rule::Relative(0.15), 115.0, 115.1),
        (Rule::Relative(0.15), 85.0, 84.9),
        (Rule::Absolute(5.0), 95.0, 94.9),
        (Rule::Between([21.0, 71.0]), 71.0, 71.1),
        (Rule::AtMost(2.0), 2.0, 2.1),
        (Rule::AtLeast(30.0), 30.0, 29.9),
    ] {
        assert!(rule.holds(p, good), "{rule:?}");
        assert!(!rule.holds(p, bad), "{rule:?}");
        assert!(!rule.holds(p, f64::NAN), "{rule:?}");
    }
}

fn figure(rule: Rule) -> Figure {
    let mut figure = figures::all()[0].clone();
    figure.published = Some(100.0);
    figure.rule = Some(rule);
    figure
}

#[test]
fn a_row_is_met_missed_pending_or_not_run() {
    let good = figure(Rule::Relative(0.1));
    let verdict = |figure: &Figure, ours| Row::new(figure, ours).verdict;
    assert_eq!(verdict(&good, Some((105.0, None))), Verdict::Met);
    assert_eq!(verdict(&good, Some((120.0, None))), Verdict::Missed);
    assert_eq!(verdict(&good, None), Verdict::NotRun);
    let mut waits = good.clone();
    waits.pending = "needs what is not there".into();
    assert_eq!(verdict(&waits, None), Verdict::Pending);
}

#[test]
fn numbers_are_short() {
    for (value, text) in [
        (1661.4, "1,661"),
        (131_072.0, "131,072"),
        (2.4, "2.4"),
        (38.94, "38.9"),
        (0.1014, "0.1"),
        (0.0312, "0.031"),
        (-0.5, "-0.5"),
        (0.0, "0"),
        (1_234_567.0, "1,234,567"),
    ] {
        assert_eq!(figures::number(value), text);
    }
}

/// Threads do not show, nor does the run before.
#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let names = ["zil.pattern.one", "s2d.endurance.dwpd", "zil.x1.backups"].map(String::from);
    let chosen = figures::select(&names).unwrap();
    let stop = AtomicBool::new(false);
    let run = |seed, threads| {
        let found = reproduce(&chosen, seed, threads, &stop, |_| {}).unwrap();
        (
            serde_json::to_string(&found).unwrap(),
            table::text(&found),
            table::csv(&found),
        )
    };
    let cheap = needed(&chosen).into_iter().all(|e| e.weight <= 10);
    assert!(cheap);
    let first = run(1, 1);
    assert_eq!(first, run(1, 2));
    assert_ne!(first.0, run(2, 2).0);
}

#[test]
fn a_stopped_run_has_rows_that_were_not_run() {
    let chosen = figures::select(&["zil.pattern.one".into()]).unwrap();
    let found = reproduce(&chosen, 1, 1, &AtomicBool::new(true), |_| {}).unwrap();
    assert!(found.stopped);
    assert_eq!(found.count(Verdict::NotRun), chosen.len());
    let setup = Setup {
        seed: 1,
        stop: &AtomicBool::new(true),
        aged: None,
    };
    assert!(Experiment::named("zil.one").unwrap().run(&setup).is_err());
}
