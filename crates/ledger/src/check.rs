//! The laws over files, as a report.

use crate::laws;
use crate::ledger::Ledger;
use crate::read;
use ssdlab_base::LabError;
use std::collections::BTreeSet;

/// What was checked, and what is wrong.
#[derive(Debug)]
pub struct CheckReport {
    /// Files checked.
    pub files: usize,
    /// Rows read.
    pub rows: usize,
    /// Families that they are of.
    pub families: usize,
    /// What is wrong, in the order of the files.
    pub breaches: Vec<LabError>,
}

/// Checks the ledger that comes with ssdlab.
pub fn built_in() -> CheckReport {
    let ledger = Ledger::open();
    CheckReport {
        files: Ledger::files().len(),
        rows: ledger.all_rows().len(),
        families: ledger.families().len(),
        breaches: ledger.check(),
    }
}

/// Checks files for the ledger, which knows the sources: name and text of each.
pub fn files(ledger: &Ledger, files: &[(String, String)]) -> CheckReport {
    let mut rows = Vec::new();
    let mut breaches = Vec::new();
    for (name, text) in files {
        let mut read = read::rows(text, name);
        rows.append(&mut read.rows);
        breaches.append(&mut read.errors);
    }
    breaches.extend(laws::check(&rows, ledger.sources()));
    let families: BTreeSet<&str> = rows.iter().map(|row| row.drive.family.as_str()).collect();
    CheckReport {
        files: files.len(),
        rows: rows.len(),
        families: families.len(),
        breaches,
    }
}

impl CheckReport {
    /// In lines for the terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for breach in &self.breaches {
            text += &format!("{breach}\n");
            if !breach.hint().is_empty() {
                text += &format!("  hint: {}\n", breach.hint());
            }
        }
        let verdict = match self.breaches.len() {
            0 => "every law holds".to_owned(),
            1 => "1 breach".to_owned(),
            count => format!("{count} breaches"),
        };
        text += &format!(
            "{} rows of {} families in {} files: {verdict}\n",
            self.rows, self.families, self.files
        );
        text
    }
}
