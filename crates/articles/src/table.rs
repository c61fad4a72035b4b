//! Rows as text for a terminal, and as CSV.

use crate::figures::PublishedFigure;
use crate::row::{FigureVerdict, ReproductionRow};
use crate::run::Reproduction;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use ssdlab_view::text::wrap;
use ssdlab_view::units;

/// Widths of the columns, the space behind each included: 80 in all.
const WIDTHS: [u16; 6] = [22, 15, 12, 7, 11, 13];

/// A figure in a line: its id and what was published.
pub fn listed(figure: &PublishedFigure) -> String {
    let published = figure.published_text();
    let description = if figure.what.is_empty() {
        published
    } else {
        format!("{}: {published}", figure.what)
    };
    format!("{:<24} {description}", figure.id)
}

/// The rows as a table of at most 80 columns, reasons of misses and contradictions, and how many of
/// each verdict.
pub fn text(reproduction: &Reproduction) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(80)
        .set_header(["figure", "published", "ours", "error", "kind", ""]);
    for row in &reproduction.rows {
        table.add_row(cells(row));
    }
    for (column, width) in table.column_iter_mut().zip(WIDTHS) {
        column.set_padding((0, 1));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    let trimmed = |line: &str| line.trim_end().to_owned();
    let mut lines: Vec<String> = table.to_string().lines().map(trimmed).collect();
    for (row, why) in reproduction
        .rows
        .iter()
        .filter_map(|row| Some((row, row.why()?)))
    {
        lines.push(String::new());
        lines.extend(wrap(&format!("{}: {why}", name(row)), 80));
    }
    lines.push(String::new());
    lines.extend(wrap(&summary(reproduction), 80));
    lines.join("\n")
}

/// Independent predictions first; then how many figures were met, missed and so on.
pub fn summary(reproduction: &Reproduction) -> String {
    let counts = FigureVerdict::ALL.map(|verdict| (reproduction.count(verdict), verdict));
    let words = |(count, verdict): &(usize, FigureVerdict)| {
        let word = verdict.name().to_lowercase();
        (*count > 0).then(|| format!("{count} {word}"))
    };
    let counts: Vec<String> = counts.iter().filter_map(words).collect();
    let failures = reproduction.failures().len();
    let checks = reproduction.check_count();
    let checks = match failures {
        0 => format!("{checks} self-checks passed"),
        _ => format!("{failures} of {checks} self-checks FAILED"),
    };
    let (met, all) = reproduction.predictions();
    let passed = reproduction
        .rows
        .iter()
        .filter(|row| row.null_meets())
        .count();
    let predictions = match all {
        0 => "no independent predictions among them".to_owned(),
        _ => format!("independent predictions: {met} met of {all}"),
    };
    let no_test = match passed {
        0 => String::new(),
        _ => format!(
            "; {passed} more are no test, because a null model meets {}",
            if passed == 1 { "it" } else { "them" }
        ),
    };
    format!(
        "{predictions}{no_test}. {} in all: {}; {checks}",
        units::plural(reproduction.rows.len() as u64, "row"),
        counts.join(", ")
    )
}

fn name(row: &ReproductionRow) -> String {
    if row.figure.what.is_empty() {
        row.figure.id.clone()
    } else {
        format!("{} {}", row.figure.id, row.figure.what)
    }
}

fn cells(row: &ReproductionRow) -> [String; 6] {
    let ours = match row.verdict {
        FigureVerdict::Pending => row.figure.pending.clone(),
        _ => row.ours_text(),
    };
    [
        name(row),
        row.figure.published_text(),
        ours,
        row.error_text(),
        row.kind_text().into(),
        row.verdict.name().into(),
    ]
}

/// The rows as CSV, numbers in full.
pub fn csv(reproduction: &Reproduction) -> String {
    let mut text = String::from(
        "id,what,published,published_text,unit,ours,ours_text,error,kind,rule,verdict,null_model,\
         null,is_test,experiments,pending,reason,note,contradicted\n",
    );
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for row in &reproduction.rows {
        let figure = &row.figure;
        let null_model = figure.null.as_ref().map(|null| &null.model);
        let cells = [
            figure.id.clone(),
            figure.what.clone(),
            number(figure.published),
            figure.published_text(),
            figure.unit.clone(),
            number(row.value.filter(|value| value.is_finite())),
            row.ours_text(),
            number(row.error.filter(|error| error.is_finite())),
            figure.kind.name().to_owned(),
            figure.rule.map_or(String::new(), |rule| rule.text()),
            row.verdict.name().to_lowercase(),
            null_model.cloned().unwrap_or_default(),
            number(row.null_value),
            row.is_test().to_string(),
            figure.experiments().join(" "),
            figure.pending.clone(),
            figure.reason.clone(),
            figure.note.clone(),
            figure
                .contradicted
                .as_ref()
                .map_or(String::new(), |contradicted| {
                    format!("{}: {}", contradicted.source, contradicted.arithmetic)
                }),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// A field as RFC 4180 has it.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
