//! The ledger as a static site: no network, a page below 1 MB each.
//!
//! ```text
//! index.html   a table that one sorts and filters      drives -> one drive a page
//! score.html   predictions against measurements, with the nulls
//! ```

mod drive;
mod index;
mod parts;
mod plot;
mod quality;
#[cfg(test)]
mod tests;
mod words;

use crate::frozen;
use crate::score::{self, ScoredRow};
use parts::SiteDrive;
use ssdlab_base::LabError;
use ssdlab_ledger::Ledger;
use std::collections::BTreeMap;
use std::path::Path;

/// Largest page.
pub const PAGE_BYTES_MAX: usize = 1_000_000;

/// A page of the site: file name and text.
pub type SitePage = (String, String);

fn drives(ledger: &Ledger) -> Vec<SiteDrive<'_>> {
    let mut drives: BTreeMap<(&str, u64), SiteDrive<'_>> = BTreeMap::new();
    for row in ledger.drive_rows() {
        let gb = row.drive.capacity_gb.unwrap_or(0.0) as u64;
        let family = row.drive.family.as_str();
        let drive = drives.entry((family, gb)).or_insert_with(|| SiteDrive {
            drive: &row.drive,
            rows: Vec::new(),
            file: format!("{family}-{gb}.html"),
        });
        drive.rows.push(row);
    }
    drives.into_values().collect()
}

/// Every page of the ledger that comes with ssdlab.
///
/// # Errors
/// When a frozen prediction cannot be read.
pub fn pages() -> Result<Vec<SitePage>, LabError> {
    let ledger = Ledger::open();
    let predictions = frozen::read(frozen::files())?;
    let first = frozen::first(&predictions);
    let drives = drives(ledger);
    let scored: Vec<ScoredRow<'_>> = score::rows(ledger, &first);
    let mut pages = vec![
        ("index.html".to_owned(), index::whole(&drives, ledger)),
        (
            "score.html".to_owned(),
            quality::whole(&scored, &score::score(ledger, &first)),
        ),
    ];
    pages.extend(drives.iter().map(|drive| {
        let text = drive::whole(drive, ledger, &first);
        (drive.file.clone(), text)
    }));
    Ok(pages)
}

/// Writes the pages into a folder, which is made. Files of other names stay.
///
/// # Errors
/// When the folder cannot be made or a file cannot be written, or one that is there may not be
/// replaced.
pub fn write(folder: &Path, pages: &[SitePage], replace: bool) -> Result<(), LabError> {
    std::fs::create_dir_all(folder).map_err(|error| LabError::file("creating", folder, error))?;
    let existing = pages
        .iter()
        .map(|(name, _)| folder.join(name))
        .find(|path| path.exists());
    if let Some(path) = existing.filter(|_| !replace) {
        return Err(LabError::refused(
            format!("{} exists", path.display()),
            "choose another --out, or --replace the pages in it",
        ));
    }
    for (name, text) in pages {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| LabError::file("writing", &path, error))?;
    }
    Ok(())
}
