//! An investigation as text: the answer first.

use super::hypotheses::HypothesisStatus;
use super::investigate::{Investigation, InvestigationAnswer};
use super::kinds::ExperimentRefusal;
use crate::cause::Cause;
use ssdlab_bench::device::TargetFacts;
use ssdlab_ssd::Bytes;
use ssdlab_view::text::paragraph;

/// The answer, what shows it, and what was excluded.
pub fn text(facts: &TargetFacts, investigation: &Investigation) -> String {
    let mut text = paragraph("answer:", &answer(&facts.name, investigation));
    if facts.virtualised == Some(true) {
        let note = "the disk of a virtual machine: its way to the drive is part of every time.";
        text += &paragraph("note:", note);
    }
    for warning in facts.health.iter().flat_map(|health| &health.warnings) {
        text += &paragraph("SMART:", &format!("the drive warns: {warning}."));
    }
    let sentences = investigation.word.sentences();
    if !sentences.is_empty() {
        text += &paragraph("SMART:", &format!("{}.", sentences.join("; ")));
    }
    for (cause, standing) in &investigation.causes {
        let (title, why) = line(*cause, standing);
        text += &paragraph(title, &why);
    }
    for (experiment, why) in &investigation.not_tried {
        let name = experiment.name();
        let reason = match why {
            ExperimentRefusal::Writes(needed) => {
                format!("{name}: writes {}; give --writes {needed}.", Bytes(*needed))
            }
            ExperimentRefusal::Region(needed) => format!(
                "{name}: needs {}; give a larger --size (of a model, --capacity).",
                Bytes(*needed)
            ),
        };
        text += &paragraph("not tried:", &reason);
    }
    text
}

fn answer(name: &str, investigation: &Investigation) -> String {
    match &investigation.answer {
        InvestigationAnswer::Cause { cause, factor } => format!(
            "{name} is slow because {}. Some load would be {factor:.1} times as fast with that of \
             a healthy drive.",
            cause.reason()
        ),
        InvestigationAnswer::OneOf(causes) => {
            let reasons: Vec<_> = causes.iter().map(|cause| cause.reason()).collect();
            format!(
                "{name} is slow for one of these reasons, which no experiment here separates: {}.",
                reasons.join("; or ")
            )
        }
        InvestigationAnswer::NothingShown => {
            let caveat = if investigation.is_complete() {
                ""
            } else {
                " Not everything could be tried or seen: see below."
            };
            format!(
                "no fault of {name} is shown: nothing that was tried would be 1.5 times as fast \
                 on a healthy drive of this interface.{caveat}"
            )
        }
    }
}

fn line(cause: Cause, standing: &HypothesisStatus) -> (&'static str, String) {
    let name = cause.name();
    match standing {
        HypothesisStatus::Shown { factor, why } => {
            ("shown:", format!("{name} ({factor:.1} times): {why}."))
        }
        HypothesisStatus::Unclear { or, why, .. } => {
            ("unclear:", format!("{name} or {}: {why}.", or.name()))
        }
        HypothesisStatus::Open { next, .. } => {
            ("open:", format!("{name}: not tried: {}.", next.name()))
        }
        HypothesisStatus::Unseen { why } => ("unseen:", format!("{name}: {why}.")),
        HypothesisStatus::Excluded { why } => ("excluded:", format!("{name}: {why}.")),
    }
}
