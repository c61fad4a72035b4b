//! The answer to a symptom, as a document.

use super::Symptom;
use super::kind::DriveKind;
use crate::cause::{Cause, Remedy, RemedyKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the drive is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymptomOutcome {
    /// Normal for drives of this kind.
    Normal,
    /// Not normal: a fault of this drive, or of how it is attached or set.
    NotNormal,
    /// The experiments do not decide.
    Unknown,
}

/// One figure of the drive, beside the same when new and that of a healthy drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct SymptomFigure {
    /// What was measured.
    pub title: String,
    /// The figure with its unit.
    pub now: String,
    /// Time per command, or the percentile, ns.
    pub now_ns: f64,
    /// The same of the drive when new: filled once, then at rest.
    pub new: Option<String>,
    /// What a drive of this kind without a fault would do in its place.
    pub healthy: Option<String>,
    /// What the data sheet says.
    pub sheet: Option<String>,
}

/// A cause with what shows it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct SymptomCause {
    /// The cause.
    pub cause: Cause,
    /// Its name.
    pub name: String,
    /// As the rest of a sentence that begins with "because".
    pub sentence: String,
    /// Whether drives of this kind have it by design.
    pub normal: bool,
    /// How many times as fast the drive would be with that of a healthy drive.
    pub factor: f64,
    /// The figures that show it.
    pub evidence: String,
    /// What to do about it.
    pub remedy: Remedy,
}

/// What a symptom comes from, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct SymptomAnswer {
    /// Name of the drive.
    pub drive: String,
    /// What kind of drive it is.
    pub kind: String,
    /// The symptom.
    pub symptom: Symptom,
    /// Whether it is normal.
    pub outcome: SymptomOutcome,
    /// The answer as a sentence.
    pub answer: String,
    /// The causes, worst first.
    pub causes: Vec<SymptomCause>,
    /// The figures.
    pub figures: Vec<SymptomFigure>,
    /// What is normal for drives of this kind.
    pub normal: String,
    /// What was excluded or could not be tried.
    pub notes: Vec<String>,
    /// What to do.
    pub remedy: Remedy,
}

impl Symptom {
    /// What is seen, as the beginning of a sentence.
    fn seen(self) -> &'static str {
        match self {
            Symptom::SlowDurableWrites => "durable writes are slow",
            Symptom::SlowsDown => "it slows down",
            Symptom::SlowReads => "reads are slow",
            Symptom::Spikes => "single commands take long",
            Symptom::SlowerThanSheet => "it is slower than its sheet",
            Symptom::SlowerThanBefore => "it is slower than it was",
        }
    }

    /// What is not seen, as a sentence.
    fn not_seen(self) -> &'static str {
        match self {
            Symptom::SlowDurableWrites => "its durable writes are not slow",
            Symptom::SlowsDown => "it does not slow down more than others do",
            Symptom::SlowReads => "its reads are not slow",
            Symptom::Spikes => "no command takes longer than others of such drives do",
            Symptom::SlowerThanSheet => "it is not slower than it should be",
            Symptom::SlowerThanBefore => "nothing slows it down that was not there when it was new",
        }
    }

    /// How to go on when the symptom is not this drive's.
    fn nothing_to_do(self) -> &'static str {
        match self {
            Symptom::Spikes => {
                "nothing to the drive. If all commands are slow, ask again with slow-reads or \
                 slow-durable-writes"
            }
            _ => {
                "nothing to the drive: look at the load (`ssdlab diagnose DRIVE --trace FILE` \
                 takes what the host sends) and at what is between"
            }
        }
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// The answer that `causes`, worst first, give.
pub(super) fn of_causes(
    drive: String,
    kind: &DriveKind,
    symptom: Symptom,
    causes: Vec<SymptomCause>,
    figures: Vec<SymptomFigure>,
    notes: Vec<String>,
) -> SymptomAnswer {
    let (outcome, answer, remedy) = match causes.first() {
        None => (
            SymptomOutcome::Normal,
            format!(
                "Normal for this kind: {}. Nothing would be 1.5 times as fast on a healthy drive \
                 of the same interface and cells.",
                symptom.not_seen()
            ),
            Remedy {
                kind: RemedyKind::Nothing,
                sentence: symptom.nothing_to_do().to_owned(),
            },
        ),
        Some(first) if first.normal => (
            SymptomOutcome::Normal,
            format!(
                "Normal for this kind: {} because {}.",
                symptom.seen(),
                first.sentence
            ),
            first.remedy.clone(),
        ),
        Some(first) => (
            SymptomOutcome::NotNormal,
            format!(
                "{} because {}. That is not normal for this kind.",
                capitalized(symptom.seen()),
                first.sentence
            ),
            first.remedy.clone(),
        ),
    };
    let other_fault = causes.iter().skip(1).any(|cause| !cause.normal);
    let outcome = if other_fault {
        SymptomOutcome::NotNormal
    } else {
        outcome
    };
    SymptomAnswer {
        drive,
        kind: kind.name.clone(),
        symptom,
        outcome,
        answer,
        causes,
        figures,
        normal: kind.normal(symptom),
        notes,
        remedy,
    }
}
