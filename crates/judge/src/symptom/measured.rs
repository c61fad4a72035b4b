//! A symptom of a real drive, by the experiments that looked into it.

use super::Symptom;
use super::answer::{self, SymptomAnswer, SymptomCause, SymptomFigure, SymptomOutcome};
use super::kind::DriveKind;
use crate::ablate::FAULT;
use crate::cause::{Cause, Remedy, RemedyKind};
use crate::experiment::{ExperimentFigure, HypothesisStatus, Investigation};
use ssdlab_bench::device::TargetFacts;
use ssdlab_view::units;

impl Symptom {
    /// Whether a cause that an experiment shows is about this symptom.
    fn concerns(self, cause: Cause) -> bool {
        use Cause::{
            Controller, Latency, Link, Map, QueueDepth, ReadsInOrder, Reclaim, SlcFull, SlowCells,
            Throttling, VolatileBuffer, Wear, WriteCacheOff,
        };
        match self {
            Symptom::SlowDurableWrites => matches!(
                cause,
                VolatileBuffer | WriteCacheOff | Controller | Latency | Link | Throttling
            ),
            Symptom::SlowReads => matches!(
                cause,
                Map | Link | Controller | Latency | QueueDepth | Wear | SlowCells | ReadsInOrder
            ),
            Symptom::Spikes => matches!(
                cause,
                ReadsInOrder | Reclaim | SlcFull | Map | Wear | Throttling | SlowCells
            ),
            Symptom::SlowsDown => matches!(cause, Reclaim | SlcFull | Map | Throttling),
            Symptom::SlowerThanSheet | Symptom::SlowerThanBefore => self.can_come_from(cause),
        }
    }

    fn experiment_figures(self) -> &'static [(&'static str, ExperimentFigure)] {
        use ExperimentFigure as F;
        match self {
            Symptom::SlowDurableWrites => &[
                ("a durable 4 KiB write", F::Durable),
                ("a plain 4 KiB write", F::Write),
            ],
            Symptom::SlowsDown => &[
                ("between random 4 KiB writes, 32 at a time", F::Overwrite),
                ("between 128 KiB writes in order, in the end", F::InOrder),
                ("the same after a rest", F::AfterIdle),
            ],
            Symptom::SlowReads => &[
                ("a 4 KiB read anywhere", F::Read),
                ("between such reads, 32 at a time", F::ReadAtDepth),
                ("a 4 KiB read within 2 MiB", F::ReadNear),
            ],
            Symptom::Spikes => &[
                ("a 4 KiB read beside writes, mean", F::ReadBeside),
                ("99 % of them within", F::ReadBesideTail),
            ],
            Symptom::SlowerThanSheet | Symptom::SlowerThanBefore => &[
                ("between random 4 KiB reads, 32 at a time", F::ReadAtDepth),
                ("between random 4 KiB writes, 32 at a time", F::Overwrite),
                ("a 4 KiB read", F::Read),
            ],
        }
    }
}

fn figures(investigation: &Investigation, symptom: Symptom) -> Vec<SymptomFigure> {
    let figures = symptom.experiment_figures().iter();
    let shown = figures.filter_map(|(title, figure)| {
        let ns = investigation.figures.get(*figure)?;
        Some(SymptomFigure {
            title: (*title).to_owned(),
            now: units::time_mean(ns),
            now_ns: ns,
            new: None,
            healthy: None,
            sheet: None,
        })
    });
    shown.collect()
}

/// Of one cause or another, which no experiment separates.
fn one_of_two(found: &mut SymptomAnswer, cause: Cause, or: Cause, factor: f64) {
    found.outcome = SymptomOutcome::Unknown;
    found.answer = format!(
        "One of two causes ({factor:.1} times as slow), which no experiment here separates: {}; \
         or {}.",
        cause.reason(),
        or.reason()
    );
    found.remedy = Remedy {
        kind: cause.remedy().kind,
        sentence: format!(
            "of the first: {}. Of the second: {}",
            cause.remedy().sentence,
            or.remedy().sentence
        ),
    };
}

/// The answer of an investigation about one symptom.
pub fn of_investigation(
    facts: &TargetFacts,
    investigation: &Investigation,
    symptom: Symptom,
) -> SymptomAnswer {
    let kind = DriveKind::seen(facts.interface.as_deref(), facts.power_loss_protection);
    let mut causes = Vec::new();
    let mut open = Vec::new();
    let mut pair = None;
    let concerning = investigation.causes.iter();
    for (cause, standing) in concerning.filter(|(cause, _)| symptom.concerns(*cause)) {
        match standing {
            HypothesisStatus::Shown { factor, why } => causes.push(SymptomCause {
                cause: *cause,
                name: cause.name().to_owned(),
                sentence: cause.reason().to_owned(),
                normal: kind.has(*cause),
                factor: *factor,
                evidence: why.clone(),
                remedy: cause.remedy(),
            }),
            HypothesisStatus::Unclear { or, factor, why } if *factor >= FAULT => {
                open.push(format!("{} or {}: {why}", cause.name(), or.name()));
                pair.get_or_insert((*cause, *or, *factor));
            }
            HypothesisStatus::Open { next, .. } => {
                open.push(format!("{}: not tried: {}", cause.name(), next.name()));
            }
            HypothesisStatus::Unseen { why } => open.push(format!("{}: {why}", cause.name())),
            HypothesisStatus::Unclear { .. } | HypothesisStatus::Excluded { .. } => {}
        }
    }
    let mut notes = open;
    if facts.virtualised == Some(true) {
        let note = "the disk of a virtual machine: its way to the drive is part of every time";
        notes.push(note.to_owned());
    }
    let health = facts.health.iter().flat_map(|health| &health.warnings);
    notes.extend(health.map(|warning| format!("the drive warns: {warning}")));
    let is_open = causes.is_empty() && !notes.is_empty();
    let figures = figures(investigation, symptom);
    let mut found = answer::of_causes(facts.name.clone(), &kind, symptom, causes, figures, notes);
    let others = crate::others::said(facts.model.as_deref(), None, None);
    let is_about_writes = symptom == Symptom::SlowDurableWrites;
    found.notes.extend(
        others
            .filter(|_| is_about_writes)
            .map(|others| format!("others have {others}")),
    );
    let outweighed = found.causes.first().map_or(0.0, |first| first.factor);
    if let Some((cause, or, factor)) = pair.filter(|pair| pair.2 > outweighed) {
        one_of_two(&mut found, cause, or, factor);
    } else if is_open {
        found.outcome = SymptomOutcome::Unknown;
        found.answer = "Nothing that was tried shows a cause of this symptom, and not everything \
                        could be tried."
            .to_owned();
        found.remedy = Remedy {
            kind: RemedyKind::Nothing,
            sentence: "nothing yet: see what was not tried; a larger --size and --writes allow \
                       more experiments"
                .to_owned(),
        };
    }
    found
}
