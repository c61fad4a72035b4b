//! Scores as text: for a terminal, and for the docs.

use super::choice::Choices;
use super::{NullScore, Score, ScoreLine};
use std::fmt::Write as _;

/// Rows of the tables of families: fewest that a line stands for.
const FAMILY_ROWS_MIN: usize = 5;
/// Advantage from which one of two errors is said to win.
const WINS_BY: f64 = 1.02;
/// Where the table stands in the docs: between these lines.
pub const DOCS_BEGIN: &str = "<!-- `ssdlab ledger score --markdown` makes what follows -->";
/// See [`DOCS_BEGIN`].
pub const DOCS_END: &str = "<!-- end of what `ssdlab ledger score --markdown` makes -->";

/// For a terminal of 80 columns.
pub fn text(score: &Score) -> String {
    let mut out = String::new();
    let predicted: usize = score
        .groups
        .iter()
        .chain(&score.apart)
        .map(|l| l.rows)
        .sum();
    let _ = writeln!(
        out,
        "{predicted} of {} measured figures have a frozen prediction. Error: the geometric mean\n\
         of the larger ratio. Each null has the model's error on the same rows after it.\n",
        score.measured
    );
    for (title, lines) in sections(score) {
        let head =
            format!("{title:22} rows drives error 80 %  rank   sheet       class       near");
        let _ = writeln!(out, "{head}");
        for line in lines {
            let _ = writeln!(out, "{}", terminal_line(line));
        }
        out.push('\n');
    }
    out += "Not predicted\n";
    for (why, count) in &score.unpredicted {
        let _ = writeln!(out, "{count:6}  {why}");
    }
    out.push('\n');
    out += &said(score);
    out
}

fn terminal_line(line: &ScoreLine) -> String {
    let null = |null: Option<NullScore>| match null {
        None => String::new(),
        Some(null) => format!("{} / {}", short(null.error), short(null.model)),
    };
    let text = format!(
        "{:22} {:4} {:6} {:>5} {:3.0}% {:>5}  {:11} {:11} {:11}",
        cut(&line.name, 22),
        line.rows,
        line.drives,
        short(line.error),
        100.0 * line.coverage,
        line.rank.map_or("-".into(), |rank| format!("{rank:.2}")),
        null(line.sheet),
        null(line.class),
        null(line.nearest),
    );
    text.trim_end().to_owned()
}

fn short(error: f64) -> String {
    if error < 10.0 {
        format!("{error:.2}")
    } else {
        format!("{error:.0}")
    }
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn sections(score: &Score) -> Vec<(&'static str, Vec<&ScoreLine>)> {
    let families = score.families.iter();
    let many = families.filter(|line| line.rows >= FAMILY_ROWS_MIN);
    vec![
        ("Kind of figure", score.groups.iter().collect()),
        ("Families set apart", score.apart.iter().collect()),
        ("Writes, by class", score.classes.iter().collect()),
        ("All, by model from", score.bases.iter().collect()),
        ("All, by family", many.collect()),
    ]
}

/// Which nulls win, in sentences.
fn said(score: &Score) -> String {
    let lines = || score.groups.iter().map(|line| ("", line));
    let lines = lines().chain(score.apart.iter().map(|line| (" (set apart)", line)));
    let (mut won, mut lost) = (Vec::new(), Vec::new());
    for (suffix, line) in lines {
        let nulls = [
            ("the sheet", line.sheet),
            ("the class", line.class),
            ("the nearest drive", line.nearest),
        ];
        for (name, null) in nulls {
            let Some(null) = null else { continue };
            let text = format!("{}{suffix} by {name}", line.name);
            if null.error * WINS_BY < null.model {
                lost.push(text);
            } else if null.model * WINS_BY < null.error {
                won.push(text);
            }
        }
    }
    let listed = |names: Vec<String>| match names.len() {
        0 => "none".to_owned(),
        _ => names.join("; "),
    };
    let text = format!(
        "The model is beaten in: {}.\nIt wins in: {}.\n",
        listed(lost),
        listed(won)
    );
    text.lines()
        .flat_map(|line| ssdlab_view::text::wrap(line, 80))
        .map(|line| line + "\n")
        .collect()
}

/// For the docs: the text between [`DOCS_BEGIN`] and [`DOCS_END`], with both.
pub fn docs(score: &Score) -> String {
    format!("{DOCS_BEGIN}\n\n{}\n{DOCS_END}\n", markdown(score))
}

/// As Markdown.
pub fn markdown(score: &Score) -> String {
    let mut out = String::new();
    let predicted: usize = score
        .groups
        .iter()
        .chain(&score.apart)
        .map(|l| l.rows)
        .sum();
    let _ = writeln!(
        out,
        "{predicted} of {} measured figures have a frozen prediction (build {}). Families set \
         apart: {}.\n",
        score.measured,
        score.builds.join(", "),
        score.families_apart.join(", ")
    );
    for (title, lines) in sections(score) {
        let _ = writeln!(
            out,
            "| {} | rows | drives | sources | error | bias | in 80 % | rank | sheet / model | \
             class / model | nearest / model | best drive chosen: model, sheet, any |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---|---|---|---|",
            title.to_lowercase()
        );
        for line in lines {
            let _ = writeln!(out, "{}", markdown_line(line));
        }
        out.push('\n');
    }
    let _ = writeln!(out, "| not predicted, because | rows |\n|---|---:|");
    for (why, count) in &score.unpredicted {
        let _ = writeln!(out, "| {why} | {count} |");
    }
    out.push('\n');
    out += &said(score);
    out
}

fn markdown_line(line: &ScoreLine) -> String {
    let null = |null: Option<NullScore>| match null {
        None => "-".to_owned(),
        Some(null) => {
            let (error, model) = (short(null.error), short(null.model));
            format!("{error} / {model} ({})", null.rows)
        }
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {:.0} % | {} | {} | {} | {} | {} |",
        line.name,
        line.rows,
        line.drives,
        line.sources,
        short(line.error),
        short(line.bias),
        100.0 * line.coverage,
        line.rank.map_or("-".into(), |rank| format!("{rank:.2}")),
        null(line.sheet),
        null(line.class),
        null(line.nearest),
        chosen(&line.choices),
    )
}

fn chosen(choices: &Choices) -> String {
    if choices.loads == 0 {
        return "-".to_owned();
    }
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let sheet = choices.sheet.map_or("-".into(), percent);
    format!(
        "{}, {sheet}, {} ({} loads)",
        percent(choices.model),
        percent(choices.random),
        choices.loads
    )
}
