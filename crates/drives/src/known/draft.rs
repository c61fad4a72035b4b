//! The command that drafts a model of a drive that the catalogue does not have.

use super::lookup::{Lookup, look_up};
use super::{KnownProtection, ModelFamily, families};
use crate::catalogue::{self, CatalogueDrive};
use ssdlab_base::LabError;
use std::path::Path;

/// Capacity in the command where the table has none, GB.
const CAPACITY_USUAL: f64 = 960.0;

/// Cells that a draft can have.
const NAND: [&str; 4] = ["SLC", "MLC", "TLC", "QLC"];

impl ModelFamily {
    /// Its name as the name of a file: `samsung-pm893`. Of two names of a family, the first.
    pub fn slug(&self) -> String {
        let first = self.name.split(',').next().unwrap_or_default();
        let lower = first.to_lowercase().replace('+', " plus ");
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join("-")
    }

    /// Whether its media are NAND, as far as the table says.
    pub fn is_nand(&self) -> bool {
        let cells = self.cells.as_deref();
        cells.is_none_or(|cells| NAND.iter().any(|nand| cells.starts_with(nand)))
    }

    /// A command that drafts a model of such a drive; `None` when its media are not NAND.
    pub fn draft_command(&self) -> Option<String> {
        if !self.is_nand() {
            return None;
        }
        let gigabytes = self.rated.first().map_or(CAPACITY_USUAL, |rated| rated.0);
        let mut command = format!(
            "ssdlab drives new name={0}-{1:.0}gb capacity={1:.0}GB",
            self.slug(),
            gigabytes.round()
        );
        if !matches!(self.interface.as_str(), "SATA" | "SAS") {
            command += " interface=pcie3";
        }
        if self.protection == KnownProtection::Unknown {
            command += " protected=no";
        }
        Some(command)
    }
}

/// The family that a name of a file means: the one that is called so, or the only one like it.
pub fn family_of_file(name: &str) -> Option<&'static ModelFamily> {
    let is_called = |family: &&ModelFamily| {
        let rest = name.strip_prefix(&family.slug());
        let capacity = rest.map(|rest| {
            rest.trim_start_matches('-')
                .trim_end_matches(['g', 't', 'b'])
        });
        capacity.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    if let Some(family) = families().iter().find(is_called) {
        return Some(family);
    }
    match look_up(name) {
        Lookup::Matches(matches) if matches.len() == 1 => matches.first().copied(),
        Lookup::Matches(_) | Lookup::Near(_) => None,
    }
}

/// A drive of the catalogue, or of a file of one's own.
///
/// # Errors
/// When there is none, or it cannot be read. Of a drive that the catalogue does not have and the
/// table of known drives has, the error leads to a model of it; where a file has the name, to it.
pub fn open_drive(name: &str) -> Result<CatalogueDrive, LabError> {
    let is_file = name.ends_with(".toml");
    catalogue::open(name).map_err(|error| {
        let own = format!("{name}.toml");
        if !is_file && Path::new(&own).is_file() {
            return LabError::refused(error.to_string(), format!("did you mean drive:{own}?"));
        }
        let none_near = catalogue::meant(name).is_none();
        match advice(name).filter(|_| !is_file && none_near) {
            Some(hint) => LabError::refused(error.to_string(), hint),
            None => error,
        }
    })
}

/// What to do about a drive that the catalogue does not have and the table of known drives has.
pub fn advice(name: &str) -> Option<String> {
    let family = family_of_file(name)?;
    let title = &family.name;
    let draft = match (family.draft_command(), family.interface.as_str()) {
        (Some(command), "SATA" | "SAS") => {
            format!("`{command}` drafts a model from them (put in its capacity)")
        }
        (Some(command), _) => format!(
            "`{command}` drafts a model from them (put in its capacity and generation of PCIe)"
        ),
        (None, _) => format!(
            "its media ({}) cannot be drafted; drive:intel-optane-p1600x-118gb is a model of such",
            family.cells.as_deref().unwrap_or("not NAND")
        ),
    };
    Some(format!(
        "`ssdlab drives known \"{title}\"` has facts of the real drive; {draft}; `ssdlab qualify \
         /dev/DEVICE --serial SERIAL` measures a real one"
    ))
}
