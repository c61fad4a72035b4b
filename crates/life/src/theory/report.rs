//! Measured against expected: a page with plots and tables, and the same rows as CSV.

mod page;
mod row;
mod scatter;

#[cfg(test)]
mod tests;

pub use row::{ExpectationSource, FrontierSplit, TheoryReportInfo, TheoryRow};

use ssdlab_base::LabError;
use std::path::{Path, PathBuf};

/// File name of the page.
pub const PAGE_FILE: &str = "theory.html";
/// File name of the rows.
pub const CSV_FILE: &str = "theory.csv";

/// The rows as CSV: a header, then one line each, numbers in full. `error` is relative.
pub fn csv(rows: &[TheoryRow]) -> String {
    let mut text = String::from(
        "group,policy,load,frontiers,op_pct,np,n,r,k,alpha_eff,expected,source,measured,error,\
         tolerance,ci,agrees\n",
    );
    for row in rows {
        let cells = [
            quoted(&row.group),
            quoted(&row.policy),
            quoted(&row.load),
            row.frontiers.title().to_owned(),
            row.op.to_string(),
            row.np.to_string(),
            row.n.to_string(),
            row.r.to_string(),
            row.k.to_string(),
            row.alpha_eff.to_string(),
            row.expected.to_string(),
            row.source.title().to_owned(),
            row.measured.to_string(),
            row.error().to_string(),
            row.tolerance.to_string(),
            row.ci.to_string(),
            row.agrees().to_string(),
        ];
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

/// The page: self-contained, readable without scripts.
pub fn html(about: &TheoryReportInfo, rows: &[TheoryRow]) -> String {
    page::page(about, rows)
}

/// Writes page and CSV into `dir`, which exists; returns the page's path.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    dir: &Path,
    about: &TheoryReportInfo,
    rows: &[TheoryRow],
) -> Result<PathBuf, LabError> {
    let page = dir.join(PAGE_FILE);
    for (path, text) in [
        (dir.join(CSV_FILE), csv(rows)),
        (page.clone(), html(about, rows)),
    ] {
        std::fs::write(&path, text).map_err(|error| LabError::file("creating", &path, error))?;
    }
    Ok(page)
}

/// A line per group and policy, then the misses.
pub fn summary(rows: &[TheoryRow]) -> String {
    let mut lines = vec![format!(
        "{:<12} {:<20} {:>6} {:>7} {:>10}",
        "group", "policy", "values", "misses", "worst"
    )];
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let key = (row.group.as_str(), row.policy.as_str());
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let same = |r: &&TheoryRow| (r.group.as_str(), r.policy.as_str()) == key;
        let of_key: Vec<&TheoryRow> = rows.iter().filter(same).collect();
        let worst = of_key.iter().map(|r| r.error().abs()).fold(0.0, f64::max);
        lines.push(format!(
            "{:<12} {:<20} {:>6} {:>7} {:>8.2} %",
            key.0,
            key.1,
            of_key.len(),
            of_key.iter().filter(|r| !r.agrees()).count(),
            100.0 * worst
        ));
    }
    for row in rows.iter().filter(|row| !row.agrees()) {
        lines.push(format!(
            "miss: {} {} {}, OP {} %, Np {}: expected {:.4}, measured {:.4}, {:+.2} %",
            row.policy,
            row.load,
            row.frontiers.title(),
            row.op,
            row.np,
            row.expected,
            row.measured,
            100.0 * row.error()
        ));
    }
    lines.join("\n")
}
