//! The page of an answer to a symptom: the answer and what to do first, then what shows it.

use crate::symptom::{self, SymptomAnswer, SymptomFigure, SymptomOutcome};
use maud::{Markup, html};
use ssdlab_view::page::plain_page;
use ssdlab_view::parts;

/// The whole page.
pub fn symptom_page(found: &SymptomAnswer) -> String {
    let title = format!("{}: {}", found.drive, found.symptom.words());
    plain_page(
        &title,
        html! {
            (answer(found))
            (figures(found))
            (causes(found))
            (kind(found))
        },
    )
}

/// The classes of the style sheet are those of a verdict.
fn class(outcome: SymptomOutcome) -> &'static str {
    match outcome {
        SymptomOutcome::Normal => "pass",
        SymptomOutcome::NotNormal => "fail",
        SymptomOutcome::Unknown => "unknown",
    }
}

fn answer(found: &SymptomAnswer) -> Markup {
    let (symbol, word) = symptom::outcome(found.outcome);
    let class = class(found.outcome);
    html! {
        header .answer .(class) {
            p .kicker {
                (found.drive) ": " b { (found.symptom.words()) }
                span .quiet { " - ssdlab diagnosis" }
            }
            span .badge .(class) { span aria-hidden="true" { (symbol) } " " (word) }
            h1 { (found.answer) }
            p { b { "What to do: " } (found.remedy.sentence) "." }
        }
    }
}

fn figures(found: &SymptomAnswer) -> Markup {
    let head = parts::heads(&[
        "Load",
        "As it is",
        "When new",
        "Its sheet",
        "Without its causes",
    ]);
    let row = |figure: &SymptomFigure| {
        let cell = |text: &Option<String>| parts::cell(text.as_deref());
        vec![
            html! { (figure.title) },
            html! { (figure.now) },
            cell(&figure.new),
            cell(&figure.sheet),
            cell(&figure.healthy),
        ]
    };
    html! {
        section {
            h2 { "Measured" }
            (parts::table(&head, &found.figures.iter().map(row).collect::<Vec<_>>()))
        }
    }
}

fn causes(found: &SymptomAnswer) -> Markup {
    html! {
        section {
            h2 { "What gives?" }
            @if found.causes.is_empty() {
                p { "Nothing measured here is slow in a way that needs explaining." }
            }
            @for cause in &found.causes {
                div .mechanism {
                    h3 { (cause.name) }
                    p { "It is slow because " (cause.sentence) "." }
                    p { (symptom::evidence(cause)) }
                    p .quiet { "What to do: " (cause.remedy.sentence) "." }
                }
            }
        }
    }
}

fn kind(found: &SymptomAnswer) -> Markup {
    html! {
        section {
            h2 { "What is normal" }
            p { (found.normal) "." }
            @if !found.notes.is_empty() { h2 { "Mind" } (parts::list(&found.notes)) }
            p .quiet {
                "A model is forked, and the same commands run on forks without one of its costs; a \
                 real drive is judged by experiments through the block interface. A cause counts \
                 when the load would be 1.5 times as fast with that of a healthy drive."
            }
        }
    }
}
