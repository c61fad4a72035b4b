//! Results as text for a terminal: tables within [`WIDTH`] columns, no colour, no control codes.
//!
//! Every function returns a `String` that ends in a line feed. Names from outside are cleaned of
//! control characters, so that a file's name cannot drive the terminal.

use super::{OpTotals, RunReport, compare, series, spark, units};
use crate::qualify::{Assessed, Finding, Outcome, Qualification};
use crate::record::Ending;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle, presets};

/// No line is longer than this, in columns.
pub const WIDTH: usize = 80;
/// Drives beside each other in one table; more go into another below.
const DRIVES_ACROSS: usize = 3;
/// A line under the head and nowhere else.
const PLAIN: TableStyle = TableStyle::new().header_separator(RULE);
/// The same with a line between rows of several lines.
const RULED: TableStyle = PLAIN.row_separator(LineStyle::none().fill('┄').junction('┄'));
const RULE: LineStyle = LineStyle::none().fill('─').junction('─');
/// Columns for what a row is about, beside up to [`DRIVES_ACROSS`] others.
const LABEL_WIDTH: u16 = 29;
/// Rows of blocks in a chart.
const CHART_ROWS: usize = 3;

/// Every requirement, what gives, and last, where a person looks first, the answer.
pub fn verdict_summary(q: &Qualification) -> String {
    let verdict = &q.target.verdict;
    let what = format!(
        "{} as {} ({} profile). {}.",
        q.target.evidence.facts.name,
        verdict.role,
        q.profile,
        compare::tally(&verdict.findings)
    );
    let mut out = paragraph("", &what);
    out += &findings(&verdict.findings);
    out += &list(
        "\nThese figures rest on",
        &calibrated(&q.target.evidence.rests_on),
    );
    out += &list("\nLeft out or cut short", &q.incomplete);
    if !verdict.mechanisms.is_empty() {
        out += "\nWhat gives?\n";
        for mechanism in &verdict.mechanisms {
            out += &paragraph("-", &format!("{}. {}", mechanism.title, mechanism.sentence));
        }
    }
    let (symbol, word) = compare::outcome(verdict.outcome);
    out += "\nIs it a good choice?\n";
    out += &paragraph(&format!("{symbol} {word}"), &verdict.answer);
    out
}

/// The calibrated values by name, the assumed ones by number.
fn calibrated(rests_on: &[String]) -> Vec<String> {
    let (mut named, assumed): (Vec<String>, Vec<String>) = rests_on
        .iter()
        .cloned()
        .partition(|value| value.contains(": calibrated"));
    if !assumed.is_empty() {
        named.push(format!(
            "{} assumed values: `ssdlab drives show` gives each with its reason",
            assumed.len()
        ));
    }
    named
}

fn findings(findings: &[Finding]) -> String {
    let mut table = new_table(RULED);
    table.set_header(["Outcome", "Requirement and why", "Measured", "Limit"]);
    for f in compare::worst_first(findings) {
        let (symbol, word) = compare::outcome(f.outcome);
        let need = if f.hard { "must" } else { "should" };
        // What is met needs no excuse; the page has the reasons of all.
        let why = match f.outcome {
            Outcome::Pass => format!("[{}]", compare::grade(f.grade)),
            _ => format!("{} [{}]", clean(&f.why), compare::grade(f.grade)),
        };
        table.add_row([
            format!("{symbol} {word}\n  {need}"),
            format!("{}\n{why}", clean(&f.title)),
            clean(&f.value),
            clean(&f.limit),
        ]);
    }
    bound(&mut table, &[(0, 11), (2, 14), (3, 14)]);
    finish(&table)
}

/// The target beside the modelled drives, measure by measure.
pub fn comparison_table(q: &Qualification) -> String {
    let drives = compare::drives(q);
    let rows = compare::rows(q);
    let mut out = String::new();
    // The target stands in every table, so that each can be read alone.
    let groups = match drives.len() {
        1 => vec![vec![0]],
        n => (1..n)
            .collect::<Vec<usize>>()
            .chunks(DRIVES_ACROSS - 1)
            .map(|group| [&[0], group].concat())
            .collect(),
    };
    for columns in groups {
        let mut table = new_table(PLAIN);
        let name = |&i: &usize| clean(&drives[i].evidence.facts.name);
        table.set_header(with_label("", columns.iter().map(name)));
        let verdict = |&i: &usize| badge(drives[i]);
        table.add_row(with_label("Verdict", columns.iter().map(verdict)));
        for row in &rows {
            let cell = |&i: &usize| match &row.cells[i] {
                Some(text) => clean(text),
                None => units::NOTHING.to_owned(),
            };
            table.add_row(with_label(&clean(&row.label), columns.iter().map(cell)));
        }
        widen_labels(&mut table);
        if !out.is_empty() {
            out.push('\n');
        }
        out += &finish(&table);
    }
    out
}

fn badge(drive: &Assessed) -> String {
    let (symbol, word) = compare::outcome(drive.verdict.outcome);
    format!("{symbol} {word}")
}

fn with_label(label: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(label.to_owned()).chain(cells).collect()
}

/// A run: totals per kind of command, IOPS over time, cliff and steady state.
pub fn run_summary(run: &RunReport) -> String {
    let mut out = paragraph("", &format!("{} on {}", run.title, run.facts.name));
    out += &ending(&run.ending);
    out += &totals(run);
    let timeline = series::Timeline::new(&run.seconds);
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
        &format!("{}.", compare::cliff(run.cliff.as_ref())),
    );
    out += &paragraph(
        "Steady state:",
        &format!("{}.", compare::steady(run.steady.as_ref())),
    );
    for (name, failure) in &run.checks {
        if let Some(why) = failure {
            out += &paragraph("✗", &format!("Self-check {name} failed: {why}"));
        }
    }
    for note in &run.notes {
        out += &paragraph("Note:", note);
    }
    out
}

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Complete => String::new(),
        Ending::Interrupted => paragraph("", "Interrupted; what was measured stands."),
        Ending::Failed(why) => paragraph(
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
        let name = match numbered {
            true => format!("{} {}", t.phase + 1, t.op.name()),
            false => t.op.name().to_owned(),
        };
        let megabytes = units::throughput(t.bytes_per_second());
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
    let mut out = String::new();
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

/// What a figure is called, how it is read off the totals, and how it is shown.
type Figure = (&'static str, fn(&OpTotals) -> f64, fn(f64) -> String);

/// Rows of figures per phase and kind of command, with the ratio to the first run's.
pub(crate) fn ratio_rows(runs: &[&RunReport]) -> Vec<compare::Row> {
    let mut kinds: Vec<(usize, ssdlab_ssd::Op)> = Vec::new();
    for total in runs.iter().flat_map(|run| &run.totals) {
        if !kinds.contains(&(total.phase, total.op)) {
            kinds.push((total.phase, total.op));
        }
    }
    let phases = kinds.iter().any(|(phase, _)| *phase > 0);
    let figures: [Figure; 5] = [
        ("IOPS", |t| t.iops(), units::rate),
        ("mean", |t| t.mean_ns, units::time_mean),
        ("p50", |t| t.p50_ns as f64, units::time_mean),
        ("p99", |t| t.p99_ns as f64, units::time_mean),
        ("max", |t| t.max_ns as f64, units::time_mean),
    ];
    let mut rows = Vec::new();
    for (phase, op) in kinds {
        for (name, value, show) in figures {
            let of = |run: &RunReport| {
                let mut totals = run.totals.iter();
                totals.find(|t| t.phase == phase && t.op == op).map(value)
            };
            let first = runs.first().and_then(|run| of(run));
            let place = |(i, run): (usize, &&RunReport)| {
                let v = of(run)?;
                let ratio = first.filter(|f| i > 0 && *f > 0.0).map(|f| v / f);
                let ratio = ratio.map_or(String::new(), |r| format!(" ({})", units::ratio(r)));
                Some(format!("{}{ratio}", show(v)))
            };
            let phase = match phases {
                true => format!("phase {}, ", shared_label(runs, phase)),
                false => String::new(),
            };
            rows.push(compare::Row {
                label: format!("{phase}{} {name}", op.name()),
                cells: runs.iter().enumerate().map(place).collect(),
            });
        }
    }
    rows
}

/// A phase's number, and its name if it has the same in all runs.
fn shared_label(runs: &[&RunReport], phase: usize) -> String {
    let mut labels = runs.iter().map(|run| run.phase_label(phase));
    let first = labels.next().unwrap_or_default();
    match labels.all(|label| label == first) {
        true => first,
        false => (phase + 1).to_string(),
    }
}

fn list(head: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| paragraph("-", line)).collect();
    format!("{head}\n{items}")
}

/// `head`, then `text` wrapped beside it; both are cleaned.
fn paragraph(head: &str, text: &str) -> String {
    let mut table = new_table(presets::NOTHING);
    if head.is_empty() {
        table.add_row([clean(text)]);
    } else {
        table.add_row([clean(head), clean(text)]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    finish(&table)
}

fn new_table(style: TableStyle) -> Table {
    let mut table = Table::new();
    table
        .load_style(style)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH as u16);
    table
}

/// Leaves the words on the left more room than a column of numbers needs.
fn widen_labels(table: &mut Table) {
    use comfy_table::{ColumnConstraint, Width};
    if let Some(column) = table.column_mut(0) {
        let (lower, upper) = (Width::Fixed(LABEL_WIDTH), Width::Fixed(40));
        column.set_constraint(ColumnConstraint::Boundaries { lower, upper });
    }
}

/// Keeps columns from growing beyond so many characters, padding included.
fn bound(table: &mut Table, widths: &[(usize, u16)]) {
    use comfy_table::{ColumnConstraint, Width};
    for &(column, width) in widths {
        if let Some(column) = table.column_mut(column) {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(width)));
        }
    }
}

fn finish(table: &Table) -> String {
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

/// Control and direction-changing characters replaced, so that text stays text.
fn clean(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' => ' ',
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_drive_the_terminal() {
        let text = paragraph("-", "a\u{1b}[31mred\u{202e}\nnext");
        assert_eq!(text, "- a\u{fffd}[31mred\u{fffd} next\n");
    }

    #[test]
    fn long_text_wraps_beside_its_head() {
        let text = paragraph("✗ FAIL", &"word ".repeat(40));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 3 && lines[1].starts_with("       word"));
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
    }
}
