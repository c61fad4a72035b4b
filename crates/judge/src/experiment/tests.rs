use super::investigate::{answer, ranked};
use super::*;
use crate::ablate::Cause;
use crate::ablate::planted::{FAULTS, planted};
use ssdlab_bench::device::{ModelledTarget, TargetFacts, TargetKind};
use std::sync::atomic::AtomicBool;

/// A drive of eight dies behind SATA with nothing wrong, in us.
const SOUND: [(ExperimentFigure, f64); 13] = [
    (ExperimentFigure::Read, 120.0),
    (ExperimentFigure::ReadAtDepth, 12.0),
    (ExperimentFigure::Write, 37.0),
    (ExperimentFigure::WriteLarge, 281.0),
    (ExperimentFigure::Burst, 25.0),
    (ExperimentFigure::Durable, 37.0),
    (ExperimentFigure::ReadNear, 119.0),
    (ExperimentFigure::ReadNearAtDepth, 12.5),
    (ExperimentFigure::ReadBack, 19.0),
    (ExperimentFigure::ReadLarge, 852.0),
    (ExperimentFigure::Overwrite, 80.0),
    (ExperimentFigure::ReadBeside, 2_400.0),
    (ExperimentFigure::InOrder, 1_200.0),
];

fn figures(changed: &[(ExperimentFigure, f64)]) -> ExperimentFigures {
    let mut figures = ExperimentFigures::default();
    for (figure, us) in SOUND.iter().chain(changed) {
        figures.enter(*figure, us * 1e3);
    }
    figures
}

fn answered(changed: &[(ExperimentFigure, f64)]) -> InvestigationAnswer {
    answered_with(changed, &DriveSelfReport::default())
}

fn answered_with(
    changed: &[(ExperimentFigure, f64)],
    word: &DriveSelfReport,
) -> InvestigationAnswer {
    answer(&ranked(
        &figures(changed),
        &InterfaceLimits::of(Some("sata")),
        word,
    ))
}

fn cause(changed: &[(ExperimentFigure, f64)]) -> Cause {
    match answered(changed) {
        InvestigationAnswer::Cause { cause, .. } => cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_cause_has_figures_that_show_it() {
    assert_eq!(answered(&[]), InvestigationAnswer::NothingShown);
    use ExperimentFigure::*;
    assert_eq!(cause(&[(Durable, 2_000.0)]), Cause::VolatileBuffer);
    assert_eq!(cause(&[(Overwrite, 400.0)]), Cause::Reclaim);
    assert_eq!(cause(&[(Read, 200.0), (ReadAtDepth, 45.0)]), Cause::Map);
    assert_eq!(cause(&[(ReadBeside, 240_000.0)]), Cause::ReadsInOrder);
    let slow_reads = [(Read, 300.0), (ReadNear, 300.0), (ReadAtDepth, 37.0)];
    let slow_reads = [
        &slow_reads[..],
        &[(ReadNearAtDepth, 37.0), (ReadLarge, 2_100.0)],
    ]
    .concat();
    assert_eq!(cause(&slow_reads), Cause::Wear);
    let slow_cells = [&slow_reads[..], &[(InOrder, 3_500.0), (Overwrite, 230.0)]].concat();
    assert_eq!(cause(&slow_cells), Cause::SlowCells);
    let one_at_a_time = [
        (ReadAtDepth, 119.0),
        (ReadNearAtDepth, 119.0),
        (Burst, 37.0),
    ];
    assert_eq!(cause(&one_at_a_time), Cause::QueueDepth);
    let long = [
        (Read, 320.0),
        (ReadNear, 319.0),
        (Write, 237.0),
        (Durable, 237.0),
    ];
    let long = [&long[..], &[(WriteLarge, 481.0), (ReadLarge, 1_052.0)]].concat();
    assert_eq!(cause(&long), Cause::Latency);
}

/// The time per command of reads, of writes into the buffer and of reads from it is the same.
#[test]
fn a_slow_controller_is_not_taken_for_few_commands_at_a_time() {
    use ExperimentFigure::*;
    let single = [
        (Read, 205.0),
        (ReadNear, 205.0),
        (Write, 123.0),
        (Durable, 123.0),
    ];
    let depth = [(ReadAtDepth, 98.0), (ReadNearAtDepth, 98.0), (Burst, 106.0)];
    let large = [(ReadBack, 99.0), (WriteLarge, 367.0), (ReadLarge, 938.0)];
    assert_eq!(
        cause(&[&single[..], &depth, &large].concat()),
        Cause::Controller
    );
}

/// Without the experiment that writes everything, what needs it stays open and is not excluded.
#[test]
fn what_was_not_tried_is_neither_shown_nor_excluded() {
    let mut figures = ExperimentFigures::default();
    for (figure, us) in SOUND
        .iter()
        .filter(|one| one.0 != ExperimentFigure::InOrder)
    {
        figures.enter(*figure, us * 1e3);
    }
    let stands = stands(
        Cause::Reclaim,
        &figures,
        &InterfaceLimits::of(None),
        &DriveSelfReport::default(),
    );
    let next = ExperimentKind::Rewrite;
    assert!(matches!(stands, HypothesisStatus::Open { next: of, .. } if of == next));
    let refused = next.refused(1 << 30, 1 << 20);
    assert_eq!(refused, Some(ExperimentRefusal::Writes(5 << 28)));
}

/// SMART decides between two causes with the same times, and says nothing against a time.
#[test]
fn what_the_drive_says_decides_where_times_do_not() {
    use ExperimentFigure::*;
    let said = |used: f64, too_warm_s: f64| DriveSelfReport {
        before: SmartSnapshot {
            too_warm_s: Some(10.0),
            ..SmartSnapshot::default()
        },
        after: SmartSnapshot {
            used_percent: Some(used),
            too_warm_s: Some(10.0 + too_warm_s),
            ..SmartSnapshot::default()
        },
    };
    let is = |answer: InvestigationAnswer, of: Cause| {
        assert!(
            matches!(answer, InvestigationAnswer::Cause { cause, .. } if cause == of),
            "{answer:?}"
        );
    };
    let rested = [(InOrder, 3_000.0), (Overwrite, 250.0), (AfterIdle, 1_200.0)];
    let answer = answered(&rested);
    assert!(
        matches!(&answer, InvestigationAnswer::OneOf(causes) if causes.contains(&Cause::Throttling))
    );
    is(answered_with(&rested, &said(3.0, 0.0)), Cause::SlcFull);
    is(answered_with(&rested, &said(3.0, 60.0)), Cause::Throttling);
    let slow_reads = [
        (Read, 300.0),
        (ReadNear, 300.0),
        (ReadAtDepth, 37.0),
        (ReadNearAtDepth, 37.0),
        (ReadLarge, 2_100.0),
    ];
    let neither = [&slow_reads[..], &[(InOrder, 1_665.0), (Overwrite, 120.0)]].concat();
    assert!(
        matches!(answered(&neither), InvestigationAnswer::OneOf(_)),
        "{:?}",
        answered(&neither)
    );
    is(answered_with(&neither, &said(97.0, 0.0)), Cause::Wear);
    is(answered_with(&neither, &said(3.0, 0.0)), Cause::SlowCells);
    is(answered_with(&slow_reads, &said(3.0, 0.0)), Cause::Wear);
}

fn look(seed: u64, faults: &[usize], writes_max: u64) -> Investigation {
    let drive = planted(seed, faults).unwrap().expect("it shows");
    let bytes = drive.config().user_bytes;
    let facts = TargetFacts {
        capacity: bytes,
        interface: Some(
            if drive.config().host.full_duplex {
                "nvme"
            } else {
                "sata"
            }
            .into(),
        ),
        ..TargetFacts::unknown("hidden".into(), TargetKind::BlockDevice)
    };
    let mut bench = ExperimentBench {
        target: &mut ModelledTarget::around(drive, facts),
        bytes,
        seed: 1,
        stop: &AtomicBool::new(false),
        busy: true,
    };
    investigate(&mut bench, writes_max, &mut |_, _| {}, &mut |_| {
        SmartSnapshot::default()
    })
    .unwrap()
}

/// Three faults and a healthy drive of one seed; docs/qualify.md has the table of all over many.
#[test]
fn a_planted_fault_is_named_through_the_block_interface_alone() {
    for index in [3, 8, 13] {
        let found = look(5, &[index], u64::MAX);
        let InvestigationAnswer::Cause { cause, .. } = found.answer else {
            panic!("{:?}", found.answer);
        };
        assert_eq!(cause, FAULTS[index].1);
    }
    assert_eq!(
        look(5, &[], u64::MAX).answer,
        InvestigationAnswer::NothingShown
    );
}
