//! Rows of figures as a table.

use crate::figures::FigureBasis;
use crate::registry;
use crate::row::{FigureVerdict, ReproductionRow};
use maud::{Markup, html};
use ssdlab_view::parts;

fn badge(verdict: FigureVerdict) -> Markup {
    let (class, symbol) = match verdict {
        FigureVerdict::Met => ("pass", "✓"),
        FigureVerdict::Missed => ("fail", "✗"),
        FigureVerdict::Contradicted => ("unknown", "≠"),
        FigureVerdict::Pending => ("unknown", "…"),
        FigureVerdict::NotRun => ("unknown", "?"),
    };
    html! {
        span .badge .(class) {
            span aria-hidden="true" { (symbol) } " " (verdict.name().to_uppercase())
        }
    }
}

/// Meanings of the kinds.
pub(super) fn legend() -> Markup {
    let mean = |kind: FigureBasis| match kind {
        FigureBasis::Calibrated => {
            "the modelled drive or host was fitted to it: it had to come out"
        }
        FigureBasis::Predicted => "nothing was fitted to it",
        FigureBasis::Shape => "published without a number; ours is asked for the shape",
        FigureBasis::Arithmetic => "follows from other published numbers",
        FigureBasis::Documented => "a fact that the catalogue carries; nothing is run",
        FigureBasis::NotWear => {
            "a difference not explained by wear: the firmware was changed between the two \
             measurements, too"
        }
        FigureBasis::Hypothesis => {
            "of a mechanism that no source confirms and no drive has by default; counts as no \
             prediction"
        }
    };
    let kinds = [
        FigureBasis::Calibrated,
        FigureBasis::Predicted,
        FigureBasis::Shape,
        FigureBasis::Arithmetic,
        FigureBasis::Documented,
        FigureBasis::NotWear,
        FigureBasis::Hypothesis,
    ];
    html! {
        dl .facts {
            @for kind in kinds { dt { (kind.name()) } dd { (mean(kind)) } }
            dt { "not a test" }
            dd { "predicted, but a model that knows nothing of the mechanism meets it, too" }
            dt { "contradicted" }
            dd {
                "another source or the article itself contradicts the figure; counts neither as \
                 met nor as a prediction"
            }
        }
    }
}

/// The rows; with `page`, ids lead to the section of that page where their plots are.
pub(super) fn table(rows: &[&ReproductionRow], page: Option<&str>) -> Markup {
    let head = [
        "Figure",
        "Published",
        "Ours",
        "Error",
        "Asked",
        "Null model",
        "Kind",
        "",
    ];
    let head = parts::heads(&head);
    let cells: Vec<Vec<Markup>> = rows.iter().map(|row| cells(row, page)).collect();
    html! { div .figures { (parts::table(&head, &cells)) } }
}

fn cells(row: &ReproductionRow, page: Option<&str>) -> Vec<Markup> {
    let figure = &row.figure;
    let anchor = registry::section(&figure.id).map(|section| section.anchor);
    let link = page.zip(anchor);
    let why = [row.why(), page.is_none().then(|| figure.note.clone())];
    vec![
        html! {
            @match link {
                Some((page, anchor)) => a href={ (page) ".html#" (anchor) } { (figure.id) },
                None => (figure.id),
            }
            @if !figure.what.is_empty() { br; span .quiet { (figure.what) } }
        },
        html! { (figure.published_text()) },
        html! {
            @if row.verdict == FigureVerdict::Pending { span .quiet { (figure.pending) } }
            @else { span .number { (row.ours_text()) } }
            @for why in why.into_iter().flatten().filter(|why| !why.is_empty()) {
                div .why { (why) }
            }
        },
        html! { (row.error_text()) },
        html! { (figure.rule.map_or(String::new(), |rule| rule.text())) },
        html! {
            @if let Some(null) = &figure.null {
                span .number { (row.null_text()) }
                div .why { (null.model) }
            }
        },
        html! { (row.kind_text()) },
        badge(row.verdict),
    ]
}
