//! The search: symptoms, then the experiments that open hypotheses ask for, then the answer.

use super::figures::ExperimentFigures;
use super::hypotheses::{CAUSES, HypothesisStatus, InterfaceLimits, stands};
use super::kinds::{ExperimentKind, ExperimentRefusal};
use super::measure::ExperimentBench;
use super::own_word::{DriveSelfReport, SmartSnapshot};
use crate::ablate::{Cause, FAULT};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_bench::device::Target;

/// What every investigation begins with: the symptoms.
const SYMPTOMS: [ExperimentKind; 9] = [
    ExperimentKind::Reads,
    ExperimentKind::Singles,
    ExperimentKind::Bursts,
    ExperimentKind::Durable,
    ExperimentKind::Near,
    ExperimentKind::ReadBack,
    ExperimentKind::LargeReads,
    ExperimentKind::Overwrite,
    ExperimentKind::Beside,
];

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvestigationAnswer {
    /// This makes it slow.
    Cause {
        /// The cause.
        cause: Cause,
        /// How many times as fast some load would be without it.
        factor: f64,
    },
    /// One of these; no experiment here tells which.
    OneOf(Vec<Cause>),
    /// None of the causes that were tried; those not tried are open.
    NothingShown,
}

/// An experiment that was carried out, and for which hypotheses.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CompletedExperiment {
    /// The experiment.
    pub experiment: ExperimentKind,
    /// The hypotheses that asked for it; empty for the symptoms.
    pub asked_by: Vec<Cause>,
}

/// A target looked into.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Investigation {
    /// The answer.
    pub answer: InvestigationAnswer,
    /// Where each hypothesis stands, those that are shown first, worst first.
    pub causes: Vec<(Cause, HypothesisStatus)>,
    /// Experiments, in order.
    pub tried: Vec<CompletedExperiment>,
    /// Experiments that hypotheses asked for in vain.
    pub not_tried: Vec<(ExperimentKind, ExperimentRefusal)>,
    /// What the drive says of itself.
    pub word: DriveSelfReport,
    /// What was measured.
    pub figures: ExperimentFigures,
    /// What a healthy drive does at worst.
    pub limits: InterfaceLimits,
}

impl Investigation {
    /// Whether every hypothesis could be judged.
    pub fn is_complete(&self) -> bool {
        let judged = |of: &(Cause, HypothesisStatus)| {
            !matches!(
                of.1,
                HypothesisStatus::Open { .. } | HypothesisStatus::Unseen { .. }
            )
        };
        self.causes.iter().all(judged)
    }
}

/// Looks for the cause. `writes_max`: bytes that one experiment may write. `begins` is called
/// before each experiment, `ask` before the first and after each round of them.
///
/// # Errors
/// When the target fails or the run is stopped.
pub fn investigate<T: Target>(
    bench: &mut ExperimentBench<'_, T>,
    writes_max: u64,
    begins: &mut dyn FnMut(ExperimentKind, &[Cause]),
    ask: &mut dyn FnMut(&T) -> SmartSnapshot,
) -> Result<Investigation, LabError> {
    let limits = InterfaceLimits::of(bench.target.facts().interface.as_deref());
    let mut figures = ExperimentFigures::default();
    let mut word = DriveSelfReport {
        before: ask(bench.target),
        after: SmartSnapshot::default(),
    };
    let mut tried = Vec::new();
    let mut not_tried = Vec::new();
    let mut next: Vec<(ExperimentKind, Vec<Cause>)> =
        SYMPTOMS.iter().map(|one| (*one, Vec::new())).collect();
    while !next.is_empty() {
        for (experiment, asked_by) in next.drain(..) {
            begins(experiment, &asked_by);
            bench.carry_out(experiment, &mut figures)?;
            tried.push(CompletedExperiment {
                experiment,
                asked_by,
            });
        }
        word.after = ask(bench.target);
        while let Some((experiment, asked_by)) = asked(&figures, &limits, &word, &not_tried) {
            match experiment.refused(bench.bytes, writes_max) {
                None => {
                    next.push((experiment, asked_by));
                    break;
                }
                Some(why) => not_tried.push((experiment, why)),
            }
        }
    }
    let causes = ranked(&figures, &limits, &word);
    Ok(Investigation {
        answer: answer(&causes),
        causes,
        tried,
        not_tried,
        word,
        figures,
        limits,
    })
}

/// The next experiment: the cheapest that one of the two most suspicious open hypotheses asks for.
fn asked(
    figures: &ExperimentFigures,
    limits: &InterfaceLimits,
    word: &DriveSelfReport,
    not_tried: &[(ExperimentKind, ExperimentRefusal)],
) -> Option<(ExperimentKind, Vec<Cause>)> {
    let open = |cause: &Cause| match stands(*cause, figures, limits, word) {
        HypothesisStatus::Open { next, suspicion } if !not_tried.iter().any(|no| no.0 == next) => {
            Some((*cause, next, suspicion))
        }
        _ => None,
    };
    let mut open: Vec<_> = CAUSES.iter().filter_map(open).collect();
    open.sort_by(|a, b| b.2.total_cmp(&a.2));
    let next = open.iter().take(2).map(|one| one.1).min()?;
    let by = open.iter().filter(|one| one.1 == next);
    Some((next, by.map(|one| one.0).collect()))
}

fn weight(standing: &HypothesisStatus) -> (u8, f64) {
    match standing {
        HypothesisStatus::Shown { factor, .. } => (3, *factor),
        HypothesisStatus::Unclear { factor, .. } => (2, *factor),
        HypothesisStatus::Open { suspicion, .. } => (1, *suspicion),
        HypothesisStatus::Unseen { .. } => (1, 0.0),
        HypothesisStatus::Excluded { .. } => (0, 0.0),
    }
}

pub(super) fn ranked(
    figures: &ExperimentFigures,
    limits: &InterfaceLimits,
    word: &DriveSelfReport,
) -> Vec<(Cause, HypothesisStatus)> {
    let stands = |cause: &Cause| (*cause, stands(*cause, figures, limits, word));
    let mut ranked: Vec<_> = CAUSES.iter().map(stands).collect();
    ranked.sort_by(|a, b| {
        let (a, b) = (weight(&a.1), weight(&b.1));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    ranked
}

/// The first cause shown, unless one that is unclear may weigh more.
pub(super) fn answer(ranked: &[(Cause, HypothesisStatus)]) -> InvestigationAnswer {
    let shown = match ranked.first() {
        Some((cause, HypothesisStatus::Shown { factor, .. })) => Some((*cause, *factor)),
        _ => None,
    };
    let unclear = ranked.iter().find_map(|(cause, standing)| match standing {
        HypothesisStatus::Unclear { or, factor, .. } => Some((*cause, *or, *factor)),
        _ => None,
    });
    match (shown, unclear) {
        (Some((_, factor)), Some((cause, or, other))) if other > factor => {
            InvestigationAnswer::OneOf(vec![cause, or])
        }
        (Some((cause, factor)), _) => InvestigationAnswer::Cause { cause, factor },
        (None, Some((cause, or, factor))) if factor >= FAULT => {
            InvestigationAnswer::OneOf(vec![cause, or])
        }
        (None, _) => InvestigationAnswer::NothingShown,
    }
}
