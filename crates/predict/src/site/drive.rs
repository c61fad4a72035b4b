//! The page of a drive.

use super::parts::{FirstPredictions, SiteDrive, number, page, table};
use super::plot;
use crate::predict::row_id;
use crate::score::class;
use maud::{Markup, html};
use ssdlab_ledger::row::{LoadKind, SyncMethod};
use ssdlab_ledger::{Ledger, LedgerRow, Metric};
use std::collections::BTreeSet;

/// A load in a few words.
fn load(row: &LedgerRow) -> String {
    let load = &row.load;
    let parts = [
        load.rw.map(|rw| rw.word().to_owned()),
        load.block_bytes.map(|bytes| match bytes % 1024 {
            0 => format!("{} KiB", bytes / 1024),
            _ => format!("{bytes} B"),
        }),
        load.outstanding().map(|n| format!("{n} outstanding")),
        load.sync
            .filter(|sync| *sync != SyncMethod::None)
            .map(|sync| sync.word().to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

const HEADS: [&str; 10] = [
    "figure",
    "load",
    "state",
    "through",
    "measured",
    "spread",
    "predicted",
    "80 % within",
    "model from",
    "source",
];

fn figures(rows: &[&&LedgerRow], first: &FirstPredictions<'_>) -> Markup {
    let rows = html! {
        @for row in rows {
            @let prediction = first.get(row_id(row).as_str());
            tr {
                th scope="row" title=(row.figure.metric.words()) { (row.figure.metric.name()) }
                td { (load(row)) }
                td title=(row.state.how) { (row.state.state.word()) }
                td title=(row.path.how) { (row.path.through.word()) }
                td .n { (number(row.figure.value)) " " (row.figure.metric.unit()) }
                td .n {
                    @if let Some((low, high)) = row.figure.low.zip(row.figure.high) {
                        (number(low)) " to " (number(high))
                    }
                }
                @match prediction {
                    Some(p) => {
                        td .n title=(p.assumed) { (number(p.predicted)) }
                        td .n { (number(p.low)) " to " (number(p.high)) }
                        td { (p.basis) }
                    }
                    None => { td {} td {} td {} }
                }
                td title={ (row.trap) " " (row.note) } { (row.source) }
            }
        }
    };
    table(None, &HEADS, &rows)
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
        ["waf", "per_pct", "cycles", "written", "percent", "power_on"]
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
            (class(facts)) ", " (facts.capacity_gb.unwrap_or(0.0)) " GB"
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
