//! Measured against expected: a page with plots and tables, and the same rows as CSV.

mod page;
mod row;
mod scatter;
#[cfg(test)]
mod tests;

pub use row::{About, Frontiers, Row, Source};

use ssdlab_base::LabError;
use std::path::{Path, PathBuf};

/// File name of the page.
pub const PAGE_FILE: &str = "theory.html";
/// File name of the rows.
pub const CSV_FILE: &str = "theory.csv";

/// The rows as CSV: a header, then one line each, numbers in full. `error` is relative.
pub fn csv(rows: &[Row]) -> String {
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
pub fn html(about: &About, rows: &[Row]) -> String {
    page::page(about, rows)
}

/// Writes page and CSV into `dir`, which exists; returns the page's path.
///
/// # Errors
/// When a file cannot be written.
pub fn write(dir: &Path, about: &About, rows: &[Row]) -> Result<PathBuf, LabError> {
    let page = dir.join(PAGE_FILE);
    for (path, text) in [
        (dir.join(CSV_FILE), csv(rows)),
        (page.clone(), html(about, rows)),
    ] {
        std::fs::write(&path, text).map_err(|error| LabError::file("creating", &path, error))?;
    }
    Ok(page)
}
