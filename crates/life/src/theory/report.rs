//! Measured against expected: a page with plots and tables, and the same rows as CSV.

mod page;
mod scatter;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use std::path::{Path, PathBuf};

/// File name of the page.
pub const PAGE_FILE: &str = "theory.html";
/// File name of the rows.
pub const CSV_FILE: &str = "theory.csv";

/// Where an expected value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A law of [`crate::theory::closed_form`] at `alpha_eff`.
    ClosedForm,
    /// The reference simulator, same drive and same load.
    Reference,
    /// What must hold by arithmetic: sequential writes amplify not at all.
    Exact,
}

impl Source {
    /// As people read it.
    pub fn title(self) -> &'static str {
        match self {
            Source::ClosedForm => "closed form",
            Source::Reference => "reference",
            Source::Exact => "exact",
        }
    }
}

/// How host data and relocated data are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frontiers {
    /// One for both.
    Shared,
    /// One for each.
    Separate,
    /// One for each, per stream of hot and of cold data.
    HotCold,
}

impl Frontiers {
    /// As people read it.
    pub fn title(self) -> &'static str {
        match self {
            Frontiers::Shared => "shared",
            Frontiers::Separate => "separate",
            Frontiers::HotCold => "hot/cold",
        }
    }
}

/// One measurement and what it is held against. Write amplification has no unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is part of: `uniform`, `skew`, `trim`. Groups get plots of their own.
    pub group: String,
    /// The reclaim policy.
    pub policy: String,
    /// The load.
    pub load: String,
    /// How frontiers are used.
    pub frontiers: Frontiers,
    /// Over-provisioning (raw - user) / user, in per cent.
    pub op: f64,
    /// Np: pages of an erase unit.
    pub np: u32,
    /// N: erase units.
    pub n: u32,
    /// R: erase units kept free.
    pub r: u32,
    /// K: erase units open per stream.
    pub k: u32,
    /// N_eff Np / U, U the pages in use.
    pub alpha_eff: f64,
    /// The write amplification expected.
    pub expected: f64,
    /// Who expects it.
    pub source: Source,
    /// The write amplification measured.
    pub measured: f64,
    /// Relative error allowed.
    pub tolerance: f64,
    /// Half the width of the 95 % confidence interval of `measured`, relative to it.
    pub ci: f64,
}

impl Row {
    /// measured / expected - 1.
    pub fn error(&self) -> f64 {
        self.measured / self.expected - 1.0
    }

    /// Whether the error is within the tolerance; not when it is no number.
    pub fn agrees(&self) -> bool {
        self.error().abs() <= self.tolerance
    }
}

/// How a report describes itself.
#[derive(Clone, Debug)]
pub struct About {
    /// What was measured: `the modelled drive`, `the reference simulator`.
    pub subject: String,
    /// How it was measured, in sentences.
    pub protocol: Vec<String>,
    /// The command that makes the report again.
    pub command: String,
}

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

/// A line per group and policy, then the misses.
pub fn summary(rows: &[Row]) -> String {
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
        let same = |r: &&Row| (r.group.as_str(), r.policy.as_str()) == key;
        let of_key: Vec<&Row> = rows.iter().filter(same).collect();
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
