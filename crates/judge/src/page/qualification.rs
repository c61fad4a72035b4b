//! The page of a qualification: the answer first, then why, then the evidence.

use crate::page::evidence;
use crate::qualify::{Assessment, Qualification, RoleFinding, RoleVerdict, WriteProbe, compare};
use maud::{Markup, html};
use ssdlab_bench::report::words;
use ssdlab_view::bars::swatch;
use ssdlab_view::chart::Charts;
use ssdlab_view::{parts, units};

pub(super) fn body(q: &Qualification, charts: &mut Charts) -> Markup {
    html! {
        (answer(q))
        (mechanisms(&q.target.verdict))
        (findings(&q.target.verdict))
        (comparison(q))
        (evidence::section(q, charts))
        (measured_on(q))
        (command_stream(q))
        (rests_on(q))
        (incomplete(q))
        (method(q))
    }
}

fn answer(q: &Qualification) -> Markup {
    let verdict = &q.target.verdict;
    html! {
        header .answer .(compare::outcome(verdict.outcome).1.to_lowercase()) {
            p .kicker {
                (q.target.evidence.facts.name) " as " b { (q.role) }
                span .quiet { " - ssdlab qualification, " (q.profile) " profile" }
            }
            (compare::badge(verdict.outcome))
            h1 { (verdict.answer) }
            @if let Some(why) = compare::not_validated(&q.target.evidence) {
                p { b { "Mind: " } (why) "." }
            }
            p .quiet { (compare::tally(&verdict.findings)) "." }
        }
    }
}

fn mechanisms(verdict: &RoleVerdict) -> Markup {
    html! {
        section {
            h2 { "What gives?" }
            @if verdict.mechanisms.is_empty() {
                p { "Nothing measured here is slow in a way that needs explaining." }
            }
            @for mechanism in &verdict.mechanisms {
                div .mechanism { h3 { (mechanism.title) } p { (mechanism.sentence) } }
            }
        }
    }
}

fn findings(verdict: &RoleVerdict) -> Markup {
    html! {
        section {
            h2 { "Requirements of " (verdict.role) }
            table .findings {
                thead {
                    tr {
                        th scope="col" { "Outcome" } th scope="col" { "Requirement" }
                        th scope="col" { "Measured" } th scope="col" { "Limit" }
                        th scope="col" { "Evidence" }
                    }
                }
                tbody { @for f in compare::worst_first(&verdict.findings) { (finding(f)) } }
            }
        }
    }
}

fn finding(f: &RoleFinding) -> Markup {
    html! {
        tr {
            td { (compare::badge(f.outcome)) }
            td {
                b { (f.title) }
                span .need { @if f.hard { "must" } @else { "should" } }
                div { (f.why) }
                @if !f.harm.is_empty() { div { (f.harm) } }
                div .source { "Limit from: " (f.source) }
            }
            td .number data-label="Measured" {
                (f.value)
                @if let Some(interval) = f.ensemble.as_ref().and_then(|all| all.interval.as_ref()) {
                    br; "80 %: " (interval)
                }
            }
            td .number data-label="Limit" { (f.limit) }
            td data-label="Evidence" { (compare::grade(f.grade)) }
        }
    }
}

/// One drive a row: the figures that decide, then all.
fn comparison(q: &Qualification) -> Markup {
    let rows = compare::rows(q);
    let main: Vec<&words::ComparisonRow> = rows.iter().filter(|row| row.leads).collect();
    let every: Vec<&words::ComparisonRow> = rows.iter().collect();
    html! {
        section .comparison {
            h2 {
                @if q.references.is_empty() { "Figures" } @else { "Beside modelled drives" }
            }
            @if let Some(kept) = &q.kept { p .quiet { (kept) "." } }
            (drives_table(q, &main))
            (parts::folded("Every figure", drives_table(q, &every)))
            @if !q.references.is_empty() {
                (parts::folded("What is said of each drive", answers(q)))
            }
        }
    }
}

fn drives_table(q: &Qualification, columns: &[&words::ComparisonRow]) -> Markup {
    let mut head = parts::heads(&["Drive", "Verdict"]);
    head.extend(columns.iter().map(|row| html! { (row.label) }));
    let row = |(i, drive): (usize, &Assessment)| {
        let mut cells = vec![drive_name(i, drive), compare::badge(drive.verdict.outcome)];
        cells.extend(
            columns
                .iter()
                .map(|row| parts::cell(row.cells[i].as_deref())),
        );
        cells
    };
    let drives = compare::drives(q).into_iter().enumerate();
    parts::sortable(&head, &drives.map(row).collect::<Vec<_>>())
}

fn answers(q: &Qualification) -> Markup {
    html! {
        @for d in &q.references {
            p .quiet { b { (d.evidence.facts.name) ": " } (d.verdict.answer) }
        }
    }
}

fn drive_name(i: usize, drive: &Assessment) -> Markup {
    html! { (swatch(i)) (drive.evidence.facts.name) @if i == 0 { span .quiet { " (target)" } } }
}

fn measured_on(q: &Qualification) -> Markup {
    let drives = compare::drives(q);
    let cards = |from: usize, to: usize| {
        html! { div .cards { @for i in from..to { (card(i, drives[i])) } } }
    };
    html! {
        section {
            h2 { "Measured on" }
            (cards(0, 1))
            @if drives.len() > 1 {
                (parts::folded("The drives beside it", cards(1, drives.len())))
            }
        }
    }
}

fn card(i: usize, drive: &Assessment) -> Markup {
    html! {
        div .card {
            h3 { (drive_name(i, drive)) }
            (words::facts_list(&drive.evidence.facts))
            @if drive.evidence.region_bytes > 0 {
                p {
                    "Region measured: " (units::bytes(drive.evidence.region_bytes)) ". "
                    "Before it: " (drive.evidence.precondition) "."
                }
            }
        }
    }
}

fn command_stream(q: &Qualification) -> Markup {
    let head = parts::heads(&[
        "Drive",
        "Method",
        "Writers",
        "Per second",
        "Mean",
        "p50",
        "p99",
        "p99.9",
        "Longest",
        "Count",
        "Writes",
        "FUA",
        "Flushes",
        "WAF",
    ]);
    let mut rows = Vec::new();
    for (i, d) in compare::drives(q).into_iter().enumerate() {
        let name = &d.evidence.facts.name;
        let row = |p: &WriteProbe| {
            let mut row = vec![html! { (swatch(i)) (name) }];
            row.extend(probe_cells(p).into_iter().map(|text| html! { (text) }));
            row
        };
        rows.extend(d.evidence.probes.iter().map(row));
    }
    html! {
        section {
            h2 { "What reached the device" }
            p {
                "The same \"synchronous write\" is one, two or no flushes, depending on the path \
                 it takes. Writes, FUA and flushes are per measured write, from the device's own \
                 counters."
            }
            @if rows.is_empty() { p .quiet { "Not measured." } }
            @else { (parts::sortable(&head, &rows)) }
        }
    }
}

fn probe_cells(p: &WriteProbe) -> Vec<String> {
    vec![
        format!(
            "{}, {}",
            compare::method_title(&p.method),
            units::bytes(p.block_size.into())
        ),
        p.writers.to_string(),
        units::rate(p.per_second),
        units::time_mean(p.mean_ns),
        units::time(p.p50_ns),
        units::time(p.p99_ns),
        units::time(p.p999_ns),
        units::time(p.max_ns),
        units::count(p.count),
        units::per_write(p.device_writes),
        units::per_write(p.device_fua),
        units::per_write(p.device_flushes),
        units::per_write(p.waf),
    ]
}

fn rests_on(q: &Qualification) -> Markup {
    html! {
        section {
            h2 { "What the modelled figures rest on" }
            @for d in compare::drives(q) {
                @if !d.evidence.rests_on.is_empty() {
                    (parts::folded(&d.evidence.facts.name, parts::list(&d.evidence.rests_on)))
                }
            }
            @if compare::drives(q).iter().all(|d| d.evidence.rests_on.is_empty()) {
                p { "No figure here rests on a calibrated or assumed value of a model." }
            }
        }
    }
}

fn incomplete(q: &Qualification) -> Markup {
    html! {
        section {
            h2 { "Left out or cut short" }
            @if q.incomplete.is_empty() { p { "Nothing: every step of the profile was done." } }
            (parts::list(&q.incomplete))
        }
    }
}

fn method(q: &Qualification) -> Markup {
    html! {
        section {
            h2 { "Method, and how to reproduce" }
            p {
                "Every drive got the same stream of commands, real or modelled: real ones in real \
                 time with direct I/O, modelled ones in virtual time. Latency runs from \
                 submission until the host learns of the completion; percentiles are within 1 %. \
                 Steady state is the SNIA PTS test over five rounds: range within 20 % and fitted \
                 line within 10 % of the average. Timing can condemn a drive but cannot prove \
                 that a write is durable; only power cuts can, so UNKNOWN is an answer."
            }
            p {
                "The same target, role, profile and seed give the same commands in the same \
                 order; on a modelled drive also the same figures."
            }
            dl .facts {
                dt { "Target" } dd { (q.target.evidence.facts.name) }
                dt { "Role" } dd { (q.role) }
                dt { "Profile" } dd { (q.profile) }
                dt { "Seed" } dd { (q.seed) }
                dt { "Result format" } dd { (q.version) }
                dt { "ssdlab" } dd { (env!("CARGO_PKG_VERSION")) }
            }
        }
    }
}
