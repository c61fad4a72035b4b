//! Is there a step for everything that can be unknown, and can the step change it?

use super::evidence::{Evidence, QualifyOutcome, RoleFinding};
use super::fixtures::{facts, protected, virtio_file};
use super::next_step::{MissingEvidence, OpenQuestion};
use super::{judge, role, roles};
use crate::inspect::{Inspection, Protection, enrich};
use crate::pull::{PullRecord, PullVerdict};
use ssdlab_bench::device::health::EvidenceGrade;
use ssdlab_bench::device::{TargetFacts, TargetKind};
use ssdlab_drives::known::known;

/// Targets of each kind: what is known of them differs.
fn targets() -> Vec<TargetFacts> {
    let of = |kind, change: fn(&mut TargetFacts)| {
        let mut facts = facts(kind);
        facts.name = "target".into();
        facts.health = None;
        facts.power_loss_protection = None;
        facts.virtualised = Some(false);
        change(&mut facts);
        facts
    };
    vec![
        of(TargetKind::Modelled, |_| {}),
        of(TargetKind::Modelled, |facts| {
            facts.typed = Some("drive:mine.toml".into())
        }),
        of(TargetKind::Volume, |facts| {
            facts.typed = Some("volume:gp2,size=100".into())
        }),
        of(TargetKind::Null, |_| {}),
        of(TargetKind::File, |_| {}),
        of(TargetKind::File, |facts| facts.virtualised = Some(true)),
        of(TargetKind::File, |facts| {
            enrich(facts, &Inspection::default())
        }),
        of(TargetKind::BlockDevice, |facts| {
            facts.serial = Some("S1".into())
        }),
        of(TargetKind::BlockDevice, |facts| facts.serial = None),
        of(TargetKind::BlockDevice, |facts| {
            facts.virtualised = Some(true)
        }),
        of(TargetKind::BlockDevice, |facts| {
            enrich(facts, &Inspection::default())
        }),
    ]
}

/// Each unknown finding of each role on each kind of target has a step: a command, a fact to type
/// or "nothing" with its reason.
#[test]
fn every_unknown_has_a_step() {
    let mut kinds = Vec::new();
    for facts in targets() {
        for (role, profile) in roles().iter().flat_map(|r| [(r, "quick"), (r, "full")]) {
            let verdict = judge(role, &Evidence::none(facts.clone()));
            let question = OpenQuestion {
                facts: &facts,
                role: &role.name,
                profile,
            };
            let open = |f: &&RoleFinding| f.outcome == QualifyOutcome::Unknown;
            for finding in verdict.findings.iter().filter(open) {
                let step = question.step(finding);
                let is_step = step.contains("`ssdlab ")
                    || step.contains("`sudo ssdlab ")
                    || step.starts_with("nothing: ")
                    || step.starts_with("the drive's sheet: ");
                assert!(is_step, "{} {}: {step}", role.name, finding.id);
                assert_eq!(step.matches('`').count() % 2, 0, "{step}");
                kinds.push((facts.kind as u8, MissingEvidence::of(finding) as u8));
            }
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    println!("{} kinds of target and missing evidence", kinds.len());
    assert!(kinds.len() >= 15, "{kinds:?}");
}

fn device() -> Evidence {
    let mut e = virtio_file();
    e.facts.kind = TargetKind::BlockDevice;
    e.facts.virtualised = Some(false);
    e.facts.health = None;
    e.facts.power_loss_protection = None;
    e.facts.rated_bytes_written = None;
    e.facts.capacity = 400_000_000_000;
    e
}

fn finding(e: &Evidence, id: &str) -> (QualifyOutcome, String) {
    let role = role("slog").expect("a role");
    let verdict = judge(role, e);
    let found = verdict.findings.iter().find(|f| f.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id}"));
    let question = OpenQuestion {
        facts: &e.facts,
        role: &role.name,
        profile: "quick",
    };
    (found.outcome, question.step(found))
}

fn inspected() -> Inspection {
    Inspection {
        passed: Some(true),
        protection: Protection {
            holds: Some(true),
            grade: EvidenceGrade::Documented,
            why: "a source".into(),
        },
        known: known("INTEL SSDSC2BA400G3", Some(400_000_000_000)),
        ..Inspection::default()
    }
}

/// `inspect` is the step until the drive was asked; what it reads decides.
#[test]
fn inspecting_decides_protection_rating_and_health() {
    for id in ["durability", "power_loss_protection", "endurance", "health"] {
        let mut e = device();
        let (outcome, step) = finding(&e, id);
        assert_eq!(outcome, QualifyOutcome::Unknown, "{id}");
        assert!(step.contains("ssdlab inspect "), "{id}: {step}");
        enrich(&mut e.facts, &inspected());
        assert_eq!(finding(&e, id).0, QualifyOutcome::Pass, "{id}");
    }
}

/// A drive that was asked and does not say is not asked again: its power is cut.
#[test]
fn cuts_decide_what_the_drive_does_not_say() {
    let mut e = device();
    enrich(&mut e.facts, &Inspection::default());
    let (outcome, step) = finding(&e, "durability");
    assert_eq!(outcome, QualifyOutcome::Unknown);
    assert!(step.contains("`ssdlab pull run "), "{step}");
    e.pulls = Some(PullRecord {
        path: "/dev/sdx".into(),
        serial: None,
        model: None,
        is_file: false,
        bytes: 1 << 28,
        pulls: 25,
        counted: 25,
        unnoticed: 0,
        breaking: 0,
        lost: 0,
        first: None,
        unpromised: 900,
        unpromised_lost: 0,
        losing_unpromised: 0,
        counts_cycles: true,
        protected: None,
        standing: PullVerdict::Kept,
        why: "As the pulls show.".into(),
    });
    assert_eq!(finding(&e, "durability").0, QualifyOutcome::Pass);
    let (outcome, step) = finding(&e, "endurance");
    assert_eq!(outcome, QualifyOutcome::Unknown);
    assert!(step.starts_with("nothing: "), "{step}");
}

/// What was not overwritten enough asks for the whole device, and never for a look at it.
#[test]
fn a_figure_so_far_asks_for_the_whole_device() {
    let mut open = finding_of("sustained_durable_rate", "3,000 /s so far");
    for (kind, named) in [
        (
            TargetKind::BlockDevice,
            "--profile full --size 400000000000 --",
        ),
        (TargetKind::File, "--profile full --serial SERIAL"),
    ] {
        let mut facts = facts(kind);
        facts.capacity = 400_000_000_000;
        let question = OpenQuestion {
            facts: &facts,
            role: "slog",
            profile: "quick",
        };
        let step = question.step(&open);
        assert!(step.contains(named), "{step}");
        open.id = "sustained_write_rate".into();
        assert_eq!(question.step(&open), step);
    }
}

fn finding_of(id: &str, value: &str) -> RoleFinding {
    let verdict = judge(role("slog").expect("a role"), &protected());
    let found = verdict.findings.into_iter().find(|f| f.id == id);
    let mut found = found.unwrap_or_else(|| panic!("no {id}"));
    found.value = value.into();
    found.outcome = QualifyOutcome::Unknown;
    found
}
