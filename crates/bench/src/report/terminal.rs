//! A run, and several runs beside each other, as text for a terminal.

use crate::record::RunEnding;
use crate::report::{OpTotals, RunReport, headline, series, words};
use comfy_table::{CellAlignment, Table};
use ssdlab_view::text::{PLAIN, WIDTH, clean, finish, new_table, paragraph, with_label};
use ssdlab_view::{spark, units};

/// Drives beside each other in one table; more go into another below.
const DRIVES_ACROSS: usize = 3;
/// Rows of blocks in a chart.
const CHART_ROWS: usize = 3;

/// A run: totals per kind of command, IOPS over time, cliff and steady state.
pub fn run_summary(run: &RunReport) -> String {
    let mut out = paragraph("", &format!("{} on {}", run.title, run.facts.name));
    out += &ending(&run.ending);
    for premise in &run.premises {
        out += &paragraph("", premise);
    }
    out += &totals(run);
    let timeline = series::RunTimeline::new(&run.seconds);
    let rates = timeline.line(series::iops_all).y;
    let rates: Vec<f64> = rates.into_iter().flatten().collect();
    let chart = spark::chart(&rates, WIDTH, CHART_ROWS);
    if !chart.is_empty() {
        out += "\nIOPS over time\n";
        out += &chart.join("\n");
        out += "\n\n";
    }
    out += &paragraph(
        "Write cliff:",
        &format!("{}.", words::cliff(run.cliff.as_ref())),
    );
    out += &paragraph(
        "Steady state:",
        &format!("{}.", words::steady(run.steady.as_ref())),
    );
    for check in &run.checks {
        if let Some(why) = &check.failure {
            let name = &check.name;
            out += &paragraph("✗", &format!("Self-check {name} failed: {why}"));
        }
    }
    for note in &run.notes {
        out += &paragraph("Note:", note);
    }
    out
}

fn ending(ending: &RunEnding) -> String {
    match ending {
        RunEnding::Complete => String::new(),
        RunEnding::Interrupted => paragraph("", "Interrupted; what was measured stands."),
        RunEnding::Failed(why) => paragraph(
            "✗",
            &format!("The target failed; what was measured until then stands: {why}"),
        ),
    }
}

/// A line for each kind of command. A phase with a name has it on a line of its own above.
fn totals(run: &RunReport) -> String {
    let mut table = totals_table(run, run.phase_names.is_empty());
    // No cell is broken, so that a figure stays with its unit.
    for column in table.column_iter_mut() {
        column.set_constraint(comfy_table::ColumnConstraint::ContentWidth);
    }
    let text = finish(&table);
    if text.lines().all(|line| line.chars().count() <= WIDTH) {
        under_phases(run, &text)
    } else {
        // Only figures beyond all measure are too long for that.
        finish(&totals_table(run, true))
    }
}

fn totals_table(run: &RunReport, numbered: bool) -> Table {
    let numbered = numbered && run.totals.iter().any(|t| t.phase > 0);
    let mut table = new_table(PLAIN);
    table.set_header(["", "IOPS", "MB/s", "mean", "p50", "p99", "max", "errors"]);
    for t in &run.totals {
        let name = if numbered {
            format!("{} {}", t.phase + 1, t.op.name())
        } else {
            t.op.name().to_owned()
        };
        let megabytes = words::bandwidth(t);
        table.add_row([
            name,
            units::rate(t.iops()),
            megabytes.trim_end_matches(" MB/s").to_owned(),
            units::time_mean(t.mean_ns),
            units::time(t.p50_ns),
            units::time(t.p99_ns),
            units::time(t.max_ns),
            units::rate(t.errors as f64),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Lines of [`totals_table`], where none is broken: two of head, and one for each kind.
fn under_phases(run: &RunReport, table: &str) -> String {
    let mut lines = table.lines().map(|line| format!("{line}\n"));
    let mut out: String = lines.by_ref().take(2).collect();
    let mut before = None;
    for (total, line) in run.totals.iter().zip(lines) {
        let phase = Some(total.phase);
        let name = run.phase_names.get(total.phase);
        if let Some(name) = name.filter(|_| phase != before) {
            let mut text = run.phase_label(total.phase);
            if !name.what.is_empty() {
                text += &format!(": {}", name.what);
            }
            out += &paragraph("", &text);
        }
        before = phase;
        out += &line;
    }
    out
}

/// Runs beside each other: every figure with its ratio to the first run's.
pub fn run_comparison(runs: &[RunReport]) -> String {
    let summary = headline(runs).map(|sentence| paragraph("", &format!("{sentence}.")));
    let mut out = summary.unwrap_or_default();
    for columns in run_columns(runs) {
        let mut table = new_table(PLAIN);
        let labels = columns.iter().map(|run| clean(&run.label));
        table.set_header(with_label("", labels));
        for row in ratio_rows(&columns) {
            let cells = row.cells.into_iter();
            let cells = cells.map(|cell| cell.unwrap_or(units::NOTHING.to_owned()));
            table.add_row(with_label(&row.label, cells));
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out += &finish(&table);
    }
    out
}

/// The first run with as many others as fit beside it, until all were shown.
fn run_columns(runs: &[RunReport]) -> Vec<Vec<&RunReport>> {
    match runs {
        [] => Vec::new(),
        [only] => vec![vec![only]],
        [first, others @ ..] => others
            .chunks(DRIVES_ACROSS - 1)
            .map(|group| std::iter::once(first).chain(group).collect())
            .collect(),
    }
}

/// A figure's name, how to read it from totals, and how to show it.
type TerminalFigure = (&'static str, fn(&OpTotals) -> f64, fn(f64) -> String);

/// Rows of figures per phase and kind of command, with the ratio to the first run's.
pub fn ratio_rows(runs: &[&RunReport]) -> Vec<words::ComparisonRow> {
    let mut kinds: Vec<(usize, ssdlab_ssd::Op)> = Vec::new();
    for total in runs.iter().flat_map(|run| &run.totals) {
        if !kinds.contains(&(total.phase, total.op)) {
            kinds.push((total.phase, total.op));
        }
    }
    let phases = kinds.iter().any(|(phase, _)| *phase > 0);
    let figures: [TerminalFigure; 6] = [
        ("IOPS", |t| t.iops(), units::rate),
        ("mean", |t| t.mean_ns, units::time_mean),
        ("p50", |t| t.p50_ns as f64, units::time_mean),
        ("p99", |t| t.p99_ns as f64, units::time_mean),
        ("p99.9", |t| t.p999_ns as f64, units::time_mean),
        ("max", |t| t.max_ns as f64, units::time_mean),
    ];
    let mut rows = Vec::new();
    for (phase, op) in kinds {
        for (name, value, show) in figures {
            let value_of = |run: &RunReport| {
                let mut totals = run.totals.iter();
                totals.find(|t| t.phase == phase && t.op == op).map(value)
            };
            let first = runs.first().and_then(|run| value_of(run));
            let place = |(i, run): (usize, &&RunReport)| {
                let v = value_of(run)?;
                let ratio = first.filter(|f| i > 0 && *f > 0.0).map(|f| v / f);
                let ratio = ratio.map_or(String::new(), |r| format!(" ({})", units::ratio(r)));
                Some(format!("{}{ratio}", show(v)))
            };
            let phase = if phases {
                format!("phase {}, ", shared_label(runs, phase))
            } else {
                String::new()
            };
            rows.push(words::ComparisonRow {
                label: format!("{phase}{} {name}", op.name()),
                cells: runs.iter().enumerate().map(place).collect(),
                leads: true,
            });
        }
    }
    rows
}

/// A phase's number, and its name if it has the same in all runs.
fn shared_label(runs: &[&RunReport], phase: usize) -> String {
    let mut labels = runs.iter().map(|run| run.phase_label(phase));
    let first = labels.next().unwrap_or_default();
    if labels.all(|label| label == first) {
        first
    } else {
        (phase + 1).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_wraps_beside_its_head() {
        let text = paragraph("✗ FAIL", &"word ".repeat(40));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 3 && lines[1].starts_with("       word"));
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
    }
}
