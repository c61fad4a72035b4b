//! An answer to a symptom on one screen.

use super::SymptomCause;
use super::answer::{SymptomAnswer, SymptomFigure, SymptomOutcome};
use ssdlab_view::text::rows;

/// Causes after the first that are named.
const OTHERS_MAX: usize = 3;

/// Its symbol and its word.
pub fn outcome(outcome: SymptomOutcome) -> (&'static str, &'static str) {
    match outcome {
        SymptomOutcome::Normal => ("✓", "NORMAL"),
        SymptomOutcome::NotNormal => ("✗", "NOT NORMAL"),
        SymptomOutcome::Unknown => ("?", "UNKNOWN"),
    }
}

/// A figure beside what it is held against.
pub fn beside(figure: &SymptomFigure) -> String {
    let mut parts = vec![format!("{}: {}", figure.title, figure.now)];
    parts.extend(figure.new.as_ref().map(|new| format!("new: {new}")));
    parts.extend(figure.sheet.as_ref().map(|sheet| format!("sheet: {sheet}")));
    let healthy = figure.healthy.as_ref();
    parts.extend(healthy.map(|healthy| format!("without its causes: {healthy}")));
    parts.join("; ")
}

/// What shows a cause, as a sentence.
pub fn evidence(cause: &SymptomCause) -> String {
    let digits = usize::from(cause.factor < 10.0);
    format!(
        "{} ({:.digits$} times as fast). {}",
        cause.evidence,
        cause.factor,
        if cause.normal {
            "Normal for this kind."
        } else {
            "Not normal."
        }
    )
}

/// The screen: the answer, its figures and evidence, and last what to do.
pub fn answer(found: &SymptomAnswer, width: usize) -> String {
    let (symbol, word) = outcome(found.outcome);
    let mut lines = vec![
        (format!("{symbol} {word}"), found.answer.clone()),
        ("Symptom".into(), found.symptom.words().to_owned()),
    ];
    for (number, figure) in found.figures.iter().enumerate() {
        let head = if number == 0 { "Measured" } else { "" };
        lines.push((head.into(), beside(figure)));
    }
    for (number, cause) in found.causes.iter().take(1 + OTHERS_MAX).enumerate() {
        if number == 0 {
            lines.push(("Shown by".into(), evidence(cause)));
        } else {
            let head = if number == 1 { "Also" } else { "" };
            lines.push((
                head.into(),
                format!("{}: {}", cause.sentence, evidence(cause)),
            ));
        }
    }
    lines.push(("Normal".into(), format!("{}.", found.normal)));
    for note in &found.notes {
        lines.push(("Mind".into(), format!("{note}.")));
    }
    lines.push(("What to do".into(), format!("{}.", found.remedy.sentence)));
    rows(&lines, width)
}
