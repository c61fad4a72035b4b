//! The page: the answer, the misses, then each group with its plots and its table.

use super::row::{ExpectationSource, TheoryReportInfo, TheoryRow};
use super::scatter::{self, ScatterPoint, ScatterY, legend, scatter};
use maud::{Markup, PreEscaped, html};
use ssdlab_view::page::plain_page;

pub(super) fn page(about: &TheoryReportInfo, rows: &[TheoryRow]) -> String {
    let policies = unique(rows.iter().map(|row| row.policy.as_str()));
    let misses: Vec<&TheoryRow> = rows.iter().filter(|row| !row.agrees()).collect();
    let body = html! {
        style { (PreEscaped(scatter::STYLE)) }
        (answer(about, rows, misses.len()))
        @if !misses.is_empty() {
            section { h2 { "Outside the tolerance" } (table(&misses)) }
        }
        @for name in unique(rows.iter().map(|row| row.group.as_str())) {
            @let of_group: Vec<&TheoryRow> = rows.iter().filter(|row| row.group == name).collect();
            (group(name, &of_group, &policies))
        }
        (method(about))
    };
    plain_page("Write amplification against theory", body)
}

/// In the order in which they first come.
fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique_names = Vec::new();
    for name in names {
        if !unique_names.contains(&name) {
            unique_names.push(name);
        }
    }
    unique_names
}

fn answer(about: &TheoryReportInfo, rows: &[TheoryRow], misses: usize) -> Markup {
    let (class, word) = match (rows.len(), misses) {
        (0, _) => ("unknown", "UNKNOWN"),
        (_, 0) => ("pass", "PASS"),
        _ => ("fail", "FAIL"),
    };
    let worst = rows.iter().map(|row| row.error().abs()).fold(0.0, f64::max);
    html! {
        header .answer .(class) {
            p .kicker { (about.subject) span .quiet { " - write amplification against theory" } }
            span .badge .(class) { (word) }
            h1 {
                @if rows.is_empty() { "Nothing was measured." }
                @else {
                    (rows.len() - misses) " of " (rows.len()) " values within their tolerance; \
                     the largest error is " (per_cent(worst)) "."
                }
            }
        }
    }
}

/// Without a sign, two decimals.
fn per_cent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn group(name: &str, rows: &[&TheoryRow], policies: &[&str]) -> Markup {
    let kind = |row: &TheoryRow| policies.iter().position(|p| *p == row.policy).unwrap_or(0);
    let point = |row: &&TheoryRow, y: f64, bar: f64| ScatterPoint {
        x: row.expected,
        y,
        bar,
        kind: kind(row),
        alarm: !row.agrees(),
        text: describe(row),
    };
    let measured: Vec<ScatterPoint> = rows.iter().map(|r| point(r, r.measured, 0.0)).collect();
    let errors: Vec<ScatterPoint> = rows
        .iter()
        .map(|r| point(r, 100.0 * r.error(), 100.0 * r.ci))
        .collect();
    let mut limits: Vec<f64> = rows.iter().map(|r| 100.0 * r.tolerance).collect();
    limits.sort_by(f64::total_cmp);
    limits.dedup();
    limits.retain(|limit| *limit > 0.0);
    let worst = rows.iter().map(|r| r.error().abs()).fold(0.0, f64::max);
    html! {
        section {
            h2 { (name) }
            p .quiet {
                (rows.iter().filter(|r| r.agrees()).count()) " of " (rows.len())
                " within tolerance, largest error " (per_cent(worst)) "."
            }
            // Values that are known exactly have nothing to plot while they agree.
            @if rows.iter().any(|r| r.source != ExpectationSource::Exact || !r.agrees()) {
                (legend(policies, &unique(rows.iter().map(|r| r.policy.as_str()))))
                div .pair {
                    (scatter(
                        "Measured against expected",
                        ("WA expected", "WA measured"),
                        &ScatterY::SameAsX,
                        &measured,
                    ))
                    (scatter(
                        "Error; bars: 95 % confidence; dashed: tolerance",
                        ("WA expected", "error, %"),
                        &ScatterY::PerCent(limits),
                        &errors,
                    ))
                }
            }
            details open[rows.len() <= 40] {
                summary { "Table of " (rows.len()) " values" }
                (table(rows))
            }
        }
    }
}

fn describe(row: &TheoryRow) -> String {
    format!(
        "{}, {}, {}, OP {} %, Np {}, N {}: expected {:.4}, measured {:.4}, {:+.2} %",
        row.policy,
        row.load,
        row.frontiers.title(),
        row.op,
        row.np,
        row.n,
        row.expected,
        row.measured,
        100.0 * row.error()
    )
}

fn table(rows: &[&TheoryRow]) -> Markup {
    let heads = [
        "Policy",
        "Load",
        "Frontiers",
        "OP %",
        "Np",
        "N",
        "R",
        "K",
        "alpha_eff",
        "Expected",
        "By",
        "Measured",
        "Error %",
        "Allowed %",
        "CI %",
    ];
    html! {
        div .scroll .theory tabindex="0" {
            table {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.policy) }
                            @for cell in cells(row) { td { (cell) } }
                            td .alarm[!row.agrees()] {
                                (format!("{:+.2}", 100.0 * row.error()))
                                @if !row.agrees() { " miss" }
                            }
                            td { (format!("{:.2}", 100.0 * row.tolerance)) }
                            td { (format!("{:.2}", 100.0 * row.ci)) }
                        }
                    }
                }
            }
        }
    }
}

/// From the load up to what was measured.
fn cells(row: &TheoryRow) -> [String; 11] {
    [
        row.load.clone(),
        row.frontiers.title().to_owned(),
        row.op.to_string(),
        row.np.to_string(),
        row.n.to_string(),
        row.r.to_string(),
        row.k.to_string(),
        format!("{:.4}", row.alpha_eff),
        format!("{:.4}", row.expected),
        row.source.title().to_owned(),
        format!("{:.4}", row.measured),
    ]
}

/// The laws that values are held against.
const LAWS: [(&str, &str); 7] = [
    (
        "FIFO",
        "alpha / (alpha + W0(-alpha e^-alpha)); Xiang and Kurkoski 2011, Desnoyers 2012",
    ),
    (
        "FIFO, skewed",
        "WA = sum of r / (1 - exp(-(r/s) alpha / WA)), r the share of the writes and s of the \
         pages of a class; after Desnoyers 2014",
    ),
    ("random", "1 / (1 - 1/alpha)"),
    ("d-choices", "the mean field of Van Houdt 2013"),
    ("greedy", "its limit for large d; Bux and Iliadis 2010"),
    ("TRIM", "the uniform law at alpha / share in use"),
    (
        "all others",
        "a reference simulator that shares nothing with the drive but the random numbers; same \
         drive, same load",
    ),
];

fn method(about: &TheoryReportInfo) -> Markup {
    html! {
        section {
            h2 { "Method" }
            p {
                "WA = pages programmed / pages written by the host, in steady state. alpha = \
                 physical / logical pages, Np pages per erase unit (whatever is collected as one). \
                 A drive of N units that keeps R free and has K open per stream behaves as \
                 alpha_eff = N_eff Np / U with U logical pages in use and N_eff = N - R - K/(2 WA) \
                 with one shared frontier, N - R - K/2 - K/(2 WA) with separate ones. OP is (raw - \
                 user) / user; it is not the spare factor."
            }
            dl .facts {
                @for (law, text) in LAWS { dt { (law) } dd { (text) } }
            }
            @for sentence in &about.protocol { p { (sentence) } }
            p { "To make this page again:" }
            pre .command { (about.command) }
        }
    }
}
