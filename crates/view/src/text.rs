//! Text for a terminal: tables and paragraphs within [`WIDTH`] columns, no colour, no control
//! codes.
//!
//! Every function returns text that ends in a line feed. Names from outside are cleaned of control
//! characters, so that the name of a file cannot drive the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle, presets};

/// No line is longer than this, in columns.
pub const WIDTH: usize = 80;

/// A line under the head and nowhere else.
pub const PLAIN: TableStyle = TableStyle::new().header_separator(RULE);

/// The same with a line between rows of several lines.
pub const RULED: TableStyle = PLAIN.row_separator(LineStyle::none().fill('┄').junction('┄'));

const RULE: LineStyle = LineStyle::none().fill('─').junction('─');

/// Columns for what a row is about, beside those with numbers.
const LABEL_WIDTH: u16 = 29;

/// A row of a table: its label, then its cells.
pub fn with_label(label: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(label.to_owned()).chain(cells).collect()
}

/// `head`, then `lines` as a list; empty without lines.
pub fn list(head: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| paragraph("-", line)).collect();
    format!("{head}\n{items}")
}

/// `head`, then `text` wrapped beside it; both are cleaned.
pub fn paragraph(head: &str, text: &str) -> String {
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

/// An empty table as wide as the terminal may be.
pub fn new_table(style: TableStyle) -> Table {
    let mut table = Table::new();
    table
        .load_style(style)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH as u16);
    table
}

/// Leaves the words on the left more room than a column of numbers needs.
pub fn widen_labels(table: &mut Table) {
    use comfy_table::{ColumnConstraint, Width};
    if let Some(column) = table.column_mut(0) {
        let (lower, upper) = (Width::Fixed(LABEL_WIDTH), Width::Fixed(40));
        column.set_constraint(ColumnConstraint::Boundaries { lower, upper });
    }
}

/// Limits the width of columns in characters, padding included.
pub fn bound(table: &mut Table, widths: &[(usize, u16)]) {
    use comfy_table::{ColumnConstraint, Width};
    for &(column, width) in widths {
        if let Some(column) = table.column_mut(column) {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(width)));
        }
    }
}

/// The text of a table, without trailing spaces.
pub fn finish(table: &Table) -> String {
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

/// Control and direction-changing characters replaced, line feeds and tabs by blanks, so that text
/// stays text, in one line.
pub fn clean(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' => ' ',
        c if drives_terminals(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(harmless).collect()
}

/// `text` as a terminal may have it: what would drive it is written as `\u001b`, as in JSON. Line
/// feeds and tabs stay.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| drives_terminals(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Control characters, of ASCII or of Unicode, and what hides or turns text.
fn drives_terminals(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Heads and texts beside each other, the texts wrapped; all are cleaned.
pub fn rows(rows: &[(String, String)], width: usize) -> String {
    let heads = rows.iter().map(|(head, _)| head.chars().count()).max();
    let indent = heads.unwrap_or(0) + 2;
    let mut text = String::new();
    for (head, words) in rows {
        let wrapped = wrap(&clean(words), width.max(indent + 20) - indent);
        let heads = std::iter::once(clean(head)).chain(std::iter::repeat(String::new()));
        for (line, head) in wrapped.iter().zip(heads) {
            let _ = writeln!(text, "{head:indent$}{line}");
        }
    }
    text
}

/// Breaks a text into lines of at most `width` characters, between words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
    fn what_drives_a_terminal_is_escaped_as_in_json() {
        assert_eq!(escape_controls("line\n\tplain é ✓"), "line\n\tplain é ✓");
        let raw = "\u{1b}]0;x\u{7}\r\u{9b}2J\u{7f}\u{202e}";
        assert_eq!(
            escape_controls(raw),
            "\\u001b]0;x\\u0007\\u000d\\u009b2J\\u007f\\u202e"
        );
    }
}
