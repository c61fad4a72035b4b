//! The page of a drive.

use super::parts::{FirstPredictions, SiteDrive, number, page, table};
use super::plot;
use super::words::{self, quantity};
use crate::predict::{FrozenPrediction, row_id};
use crate::score::class;
use maud::{Markup, html};
use ssdlab_ledger::row::LoadKind;
use ssdlab_ledger::{Ledger, LedgerRow, Metric};
use std::collections::BTreeSet;

/// A column of figures: its head, and its cell for a row.
type FigureColumn<'a> = (&'static str, Box<dyn Fn(&LedgerRow) -> Markup + 'a>);

/// The columns; those that are empty for every row are left out.
fn columns<'a>(rows: &[&&LedgerRow], first: &'a FirstPredictions<'a>) -> Vec<FigureColumn<'a>> {
    let prediction = |row: &LedgerRow| first.get(row_id(row).as_str()).copied();
    let mut columns: Vec<FigureColumn<'a>> = Vec::new();
    let mut add = |head, is_used: bool, cell: Box<dyn Fn(&LedgerRow) -> Markup + 'a>| {
        if is_used {
            columns.push((head, cell));
        }
    };
    let any = |is_used: &dyn Fn(&LedgerRow) -> bool| rows.iter().any(|row| is_used(row));
    let text = |words: fn(&LedgerRow) -> String| {
        Box::new(move |row: &LedgerRow| html! { td { (words(row)) } })
    };
    let is_predicted = any(&|row| prediction(row).is_some());
    add(
        "load",
        any(&|row| !words::load(row).is_empty()),
        text(words::load),
    );
    add("state", true, text(words::state));
    add(
        "how",
        true,
        Box::new(|row| html! { td .how { (words::how(row)) } }),
    );
    add(
        "measured",
        true,
        Box::new(|row| {
            html! {
                td .n { (quantity(row.figure.value, row.figure.metric)) }
            }
        }),
    );
    add(
        "spread",
        any(&|row| words::spread(row).is_some()),
        Box::new(|row| {
            html! {
                td .n { (words::spread(row).unwrap_or_default()) }
            }
        }),
    );
    let number = |words: fn(&FrozenPrediction, Metric) -> String| {
        Box::new(move |row: &LedgerRow| {
            let text = prediction(row).map(|p| words(p, row.figure.metric));
            html! { td .n { (text.unwrap_or_default()) } }
        })
    };
    add("predicted", is_predicted, number(words::predicted));
    add("80 % within", is_predicted, number(words::within));
    add(
        "model from",
        is_predicted,
        Box::new(move |row| {
            html! {
                td { (prediction(row).map_or("", |p| words::basis(&p.basis))) }
            }
        }),
    );
    add("source", true, text(|row| row.source.clone()));
    columns
}

fn figures(rows: &[&&LedgerRow], first: &FirstPredictions<'_>) -> Markup {
    let columns = columns(rows, first);
    let heads: Vec<&str> = ["figure"]
        .into_iter()
        .chain(columns.iter().map(|c| c.0))
        .collect();
    let rows = html! {
        @for row in rows {
            tr {
                th scope="row" { (words::figure(row)) }
                @for (_, cell) in &columns { (cell(row)) }
            }
        }
    };
    table(None, &heads, &rows)
}

fn section(title: &str, rows: &[&&LedgerRow], first: &FirstPredictions<'_>) -> Markup {
    html! {
        @if !rows.is_empty() {
            h2 { (title) }
            (figures(rows, first))
        }
    }
}

/// The phases of a fill that a source gives.
fn fill(rows: &[&&LedgerRow], capacity: f64) -> Vec<(f64, f64)> {
    let figure = |metric: Metric| {
        rows.iter()
            .find(|r| r.figure.metric == metric)
            .map(|r| r.figure.value)
    };
    let ends = [
        figure(Metric::SeqFillPhase1End),
        figure(Metric::SeqFillPhase2End),
        None,
    ];
    let rates = [
        figure(Metric::SeqFillPhase1Rate),
        figure(Metric::SeqFillPhase2Rate),
        figure(Metric::SeqFillPhase3Rate),
    ];
    let mut phases = Vec::new();
    for (end, rate) in ends.into_iter().zip(rates) {
        let Some(rate) = rate else { break };
        phases.push((end.unwrap_or(capacity), rate));
        if end.is_none() {
            break;
        }
    }
    phases
}

/// The page.
pub fn whole(drive: &SiteDrive<'_>, ledger: &Ledger, first: &FirstPredictions<'_>) -> String {
    let facts = drive.drive;
    let name = format!("{} {}", facts.maker, facts.model);
    let select = |fits: &dyn Fn(&LedgerRow) -> bool| {
        drive
            .rows
            .iter()
            .filter(|row| fits(row))
            .collect::<Vec<_>>()
    };
    let is_fill = |row: &LedgerRow| row.figure.metric.name().starts_with("seq_fill");
    let is_field = |row: &LedgerRow| {
        let name = row.figure.metric.name();
        [
            "waf", "per_pct", "cycles", "written", "percent", "power_on", "fleet",
        ]
        .iter()
        .any(|word| name.contains(word))
    };
    let is_durable = |row: &LedgerRow| row.load.is_durable() && row.is_measured();
    let is_other =
        |row: &LedgerRow| row.is_measured() && !is_durable(row) && !is_fill(row) && !is_field(row);
    let fills = select(&|row| is_fill(row));
    let phases = fill(&fills, facts.capacity_gb.unwrap_or(0.0));
    let is_random_write = |row: &LedgerRow| row.load.rw == Some(LoadKind::RandWrite);
    let is_rest = |row: &LedgerRow| is_other(row) && !is_random_write(row);
    let is_in_service = |row: &LedgerRow| is_field(row) && row.is_measured();
    let used: BTreeSet<&str> = drive.rows.iter().map(|row| row.source.as_str()).collect();
    let body = html! {
        p { a href="index.html" { "All drives" } " \u{b7} " a href="score.html" { "Predictions" } }
        h1 { (name) }
        p {
            (class(facts)) ", "
            @match facts.capacity_gb {
                Some(gb) => { (number(gb)) " GB" }
                None => "capacity not said",
            }
            @if let Some(year) = facts.year { ", " (year) }
            @if !facts.nand.is_empty() { ", " (facts.nand) }
            ". Facts other than the capacity may be general knowledge of the family."
        }
        div .fleet {}
        (section("Durable writes, by state", &select(&is_durable), first))
        @if !fills.is_empty() {
            h2 { "A fill from empty" }
            @if phases.len() > 1 { (plot::fill(&phases)) }
            (figures(&fills, first))
        }
        (section("Random writes", &select(&|row| is_other(row) && is_random_write(row)), first))
        (section("Reads, and writes in order", &select(&is_rest), first))
        (section("In service: wear and write amplification", &select(&is_in_service), first))
        (section("The maker's figures", &select(&|row| !row.is_measured()), first))
        h2 { "Sources" }
        ul { @for id in used { @if let Some(source) = ledger.source(id) { li {
            (id) ": "
            @if source.address.starts_with("http") {
                a href=(source.address) { (source.address) }
            } @else { (source.address) }
            ", read " (source.read) ", licence: " (source.licence)
            @if !source.attribution.is_empty() { ". " (source.attribution) }
            @if !source.trap.is_empty() { ". Mind: " (source.trap) }
        } } } }
    };
    page(&name, body)
}
