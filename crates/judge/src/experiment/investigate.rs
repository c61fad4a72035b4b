//! The search: symptoms, then the experiments that open hypotheses ask for, then the answer.

use super::figures::Figures;
use super::hypotheses::{CAUSES, Limits, Standing, stands};
use super::kinds::{Experiment, Refused};
use super::measure::Bench;
use super::own_word::{OwnWord, Said};
use crate::ablate::{Cause, FAULT};
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_bench::device::Target;

/// What every investigation begins with: the symptoms.
const SYMPTOMS: [Experiment; 9] = [
    Experiment::Reads,
    Experiment::Singles,
    Experiment::Bursts,
    Experiment::Durable,
    Experiment::Near,
    Experiment::ReadBack,
    Experiment::LargeReads,
    Experiment::Overwrite,
    Experiment::Beside,
];

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The experiment.
    pub experiment: Experiment,
    /// The hypotheses that asked for it; empty for the symptoms.
    pub asked_by: Vec<Cause>,
}

/// A target looked into.
#[derive(Clone, Debug, Serialize)]
pub struct Investigation {
    /// The answer.
    pub answer: Answer,
    /// Where each hypothesis stands, those that are shown first, worst first.
    pub causes: Vec<(Cause, Standing)>,
    /// Experiments, in order.
    pub tried: Vec<Tried>,
    /// Experiments that hypotheses asked for in vain.
    pub not_tried: Vec<(Experiment, Refused)>,
    /// What the drive says of itself.
    pub word: OwnWord,
    /// What was measured.
    pub figures: Figures,
    /// What a healthy drive does at worst.
    pub limits: Limits,
}

impl Investigation {
    /// Whether every hypothesis could be judged.
    pub fn is_complete(&self) -> bool {
        let judged = |of: &(Cause, Standing)| {
            !matches!(of.1, Standing::Open { .. } | Standing::Unseen { .. })
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
    bench: &mut Bench<'_, T>,
    writes_max: u64,
    begins: &mut dyn FnMut(Experiment, &[Cause]),
    ask: &mut dyn FnMut(&T) -> Said,
) -> Result<Investigation, LabError> {
    let limits = Limits::of(bench.target.facts().interface.as_deref());
    let mut figures = Figures::default();
    let mut word = OwnWord {
        before: ask(bench.target),
        after: Said::default(),
    };
    let mut tried = Vec::new();
    let mut not_tried = Vec::new();
    let mut next: Vec<(Experiment, Vec<Cause>)> =
        SYMPTOMS.iter().map(|one| (*one, Vec::new())).collect();
    while !next.is_empty() {
        for (experiment, asked_by) in next.drain(..) {
            begins(experiment, &asked_by);
            bench.carry_out(experiment, &mut figures)?;
            tried.push(Tried {
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
    figures: &Figures,
    limits: &Limits,
    word: &OwnWord,
    not_tried: &[(Experiment, Refused)],
) -> Option<(Experiment, Vec<Cause>)> {
    let open = |cause: &Cause| match stands(*cause, figures, limits, word) {
        Standing::Open { next, suspicion } if !not_tried.iter().any(|no| no.0 == next) => {
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

fn weight(standing: &Standing) -> (u8, f64) {
    match standing {
        Standing::Shown { factor, .. } => (3, *factor),
        Standing::Unclear { factor, .. } => (2, *factor),
        Standing::Open { suspicion, .. } => (1, *suspicion),
        Standing::Unseen { .. } => (1, 0.0),
        Standing::Excluded { .. } => (0, 0.0),
    }
}

pub(super) fn ranked(figures: &Figures, limits: &Limits, word: &OwnWord) -> Vec<(Cause, Standing)> {
    let stands = |cause: &Cause| (*cause, stands(*cause, figures, limits, word));
    let mut all: Vec<_> = CAUSES.iter().map(stands).collect();
    all.sort_by(|a, b| {
        let (a, b) = (weight(&a.1), weight(&b.1));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    all
}

/// The first cause shown, unless one that is unclear may weigh more.
pub(super) fn answer(ranked: &[(Cause, Standing)]) -> Answer {
    let shown = match ranked.first() {
        Some((cause, Standing::Shown { factor, .. })) => Some((*cause, *factor)),
        _ => None,
    };
    let unclear = ranked.iter().find_map(|(cause, standing)| match standing {
        Standing::Unclear { or, factor, .. } => Some((*cause, *or, *factor)),
        _ => None,
    });
    match (shown, unclear) {
        (Some((_, factor)), Some((cause, or, other))) if other > factor => {
            Answer::OneOf(vec![cause, or])
        }
        (Some((cause, factor)), _) => Answer::Cause { cause, factor },
        (None, Some((cause, or, factor))) if factor >= FAULT => Answer::OneOf(vec![cause, or]),
        (None, _) => Answer::NothingShown,
    }
}
