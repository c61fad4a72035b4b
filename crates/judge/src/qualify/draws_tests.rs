//! Does the share decide, and nothing less than nine of ten?

use super::super::{fixtures, judge, laws, role};
use super::*;
use crate::qualify::evidence::{Assessment, FindingEnsemble};
use crate::qualify::kept_ensembles::{kept, names_kept};
use crate::qualify::references;

fn with_rate(rate: f64) -> Evidence {
    let mut evidence = fixtures::protected();
    for probe in &mut evidence.probes {
        if probe.writers == 1 && probe.method != "plain" {
            probe.per_second = rate;
            probe.mean_ns = 1e9 / rate;
        }
    }
    evidence
}

fn judged(own: f64, rates: &[f64]) -> (QualifyOutcome, Option<FindingEnsemble>, Evidence) {
    let drawn = DrawnDrives {
        constants: vec!["buffer.flush_time".into()],
        ..DrawnDrives::default()
    };
    let mut evidence = with_rate(own);
    let members: Vec<Evidence> = rates.iter().map(|rate| with_rate(*rate)).collect();
    evidence.ensemble = Some(of(&drawn, &evidence, &members));
    let verdict = judge(role("slog").unwrap(), &evidence);
    let mut findings = verdict.findings.into_iter();
    let found = findings.find(|f| f.id == "durable_write_rate").unwrap();
    (found.outcome, found.ensemble, evidence)
}

#[test]
fn more_than_nine_of_ten_decide_and_nine_do_not() {
    let [low, high] = [300.0, 2000.0];
    let rates = |met: usize, all: usize| -> Vec<f64> {
        let rate = |place| {
            let least = if place < met { high } else { low };
            least + 10.0 * place as f64
        };
        (0..all).map(rate).collect()
    };
    use QualifyOutcome::{Fail, Pass, Unknown};
    // Draws that meet it, draws, and what follows if the drive itself misses it and if it meets it.
    for (met, all, outcomes) in [
        (9, 9, [Unknown, Pass]),
        (19, 19, [Pass, Pass]),
        (8, 9, [Unknown, Unknown]),
        (5, 9, [Unknown, Unknown]),
        (1, 9, [Unknown, Unknown]),
        (0, 19, [Fail, Fail]),
        (0, 9, [Fail, Unknown]),
    ] {
        for (own, outcome) in [low, high].into_iter().zip(outcomes) {
            let (found, ensemble, _) = judged(own, &rates(met, all));
            assert_eq!(found, outcome, "{met} of {all}, own {own}");
            let met = met + usize::from(own == high);
            assert_eq!(ensemble.unwrap().met as usize, met);
        }
    }
}

#[test]
fn what_the_draws_leave_alone_has_no_share() {
    let (_, ensemble, evidence) = judged(2000.0, &[2000.0; 9]);
    assert_eq!(ensemble, None);
    assert_eq!(evidence.ensemble.unwrap().shares, []);
}

#[test]
fn the_interval_leaves_a_tenth_on_either_side() {
    let values: Vec<f64> = (1..=9).map(|n| f64::from(n) * 100.0).collect();
    assert_eq!(middle(&values, 0.5), Some(500.0));
    assert!((middle(&values, 0.1).unwrap() - 140.0).abs() < 1e-9);
    assert!((middle(&values, 0.9).unwrap() - 860.0).abs() < 1e-9);
    assert_eq!(middle(&[], 0.5), None);
    let (_, ensemble, _) = judged(500.0, &values);
    let interval = ensemble.unwrap().interval;
    assert_eq!(interval.as_deref(), Some("140 to 860 /s"));
    let (_, ensemble, _) = judged(500.0, &[800.0; 9]);
    assert_eq!(ensemble.unwrap().interval.as_deref(), Some("800 /s"));
}

/// A kept drive can be judged; the ensemble obeys the laws, and a broken one is found.
#[test]
fn no_verdict_passes_over_less_than_nine_of_ten() {
    let role = role("slog").unwrap();
    for rates in [[900.0; 9], [300.0; 9]] {
        let mut rates = rates;
        rates[0] = 690.0;
        let (_, _, evidence) = judged(800.0, &rates);
        let verdict = judge(role, &evidence);
        let mut drive = Assessment { evidence, verdict };
        let of_shares = |drive: &Assessment| {
            let found = laws::of_one(role, drive).into_iter();
            found.filter(|said| said.contains("drives")).count()
        };
        assert_eq!(of_shares(&drive), 0);
        for finding in &mut drive.verdict.findings {
            finding.outcome = QualifyOutcome::Pass;
        }
        drive.verdict.outcome = QualifyOutcome::Pass;
        assert!(of_shares(&drive) > 0, "canary");
    }
}

#[test]
fn kept_ensembles_are_those_of_the_catalogue_and_no_verdict_on_them_breaks_a_law() {
    let validated = references::names_kept().unwrap();
    for name in names_kept() {
        assert!(kept(name).is_some(), "{name}: {WRITE}");
        assert!(
            validated.iter().any(|known| known == name),
            "{name}: {WRITE}"
        );
    }
    let mut held = 0;
    for drive in references::kept().unwrap() {
        for role in roles() {
            let verdict = judge(role, &drive.evidence);
            held += verdict
                .findings
                .iter()
                .filter(|f| f.ensemble.is_some())
                .count();
            let drive = Assessment {
                evidence: drive.evidence.clone(),
                verdict,
            };
            assert_eq!(laws::of_one(role, &drive), [""; 0]);
        }
    }
    assert!(held > 100, "{held} findings with an ensemble");
}

const WRITE: &str = "run `ssdlab drives references --ensembles --write drives/ensembles.jsonl`";

/// "45 /s (>= 50 /s, PASS)": the value was that of the file, and the outcome that of the draws.
#[test]
fn a_value_never_contradicts_its_outcome_and_a_sentence_says_where_it_lies() {
    let (outcome, ensemble, evidence) = judged(300.0, &[2000.0; 9]);
    assert_eq!(outcome, QualifyOutcome::Unknown);
    let ensemble = ensemble.unwrap();
    assert!(ensemble.own_is_outside && ensemble.is_divided());
    assert!(
        ensemble
            .why()
            .contains("of the file's own constants, is not")
    );
    let slog = role("slog").unwrap();
    let verdict = judge(slog, &evidence);
    assert!(
        verdict
            .answer
            .contains("Its file only assumes what decides")
    );
    let mut drive = Assessment { evidence, verdict };
    assert_eq!(laws::of_one(slog, &drive), [""; 0]);
    let mut findings = drive.verdict.findings.iter_mut();
    let finding = findings.find(|f| f.id == "durable_write_rate").unwrap();
    finding.outcome = QualifyOutcome::Pass;
    let said = laws::of_one(slog, &drive);
    let is_said = |said: &String| said.contains("is PASS, and its value 300 /s is not");
    assert!(said.iter().any(is_said), "canary: {said:?}");
}

/// Draws that were not measured decide nothing, and what they do not bear on stays.
#[test]
fn draws_that_were_stopped_leave_rates_and_times_open() {
    let drawn = DrawnDrives {
        drives: vec![ssdlab_drives::catalogue::drive("samsung-980-1tb").unwrap(); 9],
        ..DrawnDrives::default()
    };
    let mut evidence = with_rate(2000.0);
    let before = judge(role("slog").unwrap(), &evidence);
    assert_eq!(before.outcome, QualifyOutcome::Pass);
    evidence.ensemble = Some(unmeasured(&drawn));
    let stopped = judge(role("slog").unwrap(), &evidence);
    assert_eq!(stopped.outcome, QualifyOutcome::Unknown);
    let protection = |verdict: &crate::qualify::RoleVerdict| {
        let mut findings = verdict.findings.iter();
        findings.find(|f| f.id == "durability").unwrap().outcome
    };
    assert_eq!(protection(&stopped), protection(&before));
}
