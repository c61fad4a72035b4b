//! Mutants by rule: small changes of the code of `ssd`, chosen by a seed and written into a copy
//! all at once, each behind a switch.
//!
//! `sites` finds where a rule applies, `rewrite` writes the chosen ones.
//! `crates/ssd/tests/mutants/run.py` builds the copy and runs the tests with each.

mod rewrite;
mod sites;

pub use rewrite::{SWITCH_MODULE, rewritten, switch};
pub use sites::{Edit, Site, sites};

use crate::repository::Repository;
use crate::source::{SourceFile, line_of};

/// Folders whose files are mutated.
const FOLDERS: [&str; 2] = ["crates/ssd/src/ftl/", "crates/ssd/src/drive/"];

/// Landings after which every mutant was run.
const SHARES: u64 = 8;

/// Which of all possible mutants are taken.
pub struct Choice {
    /// Another seed takes others.
    pub seed: u64,
    /// One in this number, and of every file at least one.
    pub one_in: u64,
}

/// A chosen change.
pub struct Mutant {
    /// Number of its switch.
    pub id: usize,
    /// Path from the repository's root.
    pub file: String,
    /// The landing whose turn it is, of [`SHARES`].
    pub share: u64,
    /// Line of the file, from 1.
    pub line: usize,
    /// The change.
    pub site: Site,
}

impl Mutant {
    /// Names the mutant as long as its function stays as it is.
    pub fn name(&self) -> String {
        let file = self.file.trim_start_matches("crates/ssd/src/");
        format!("{file} {}", self.site.name())
    }
}

/// The files to mutate, without tests.
pub fn mutated_files(repository: &Repository) -> Vec<&SourceFile> {
    let tests: Vec<String> = repository
        .rust()
        .flat_map(SourceFile::test_modules)
        .collect();
    let is_test = |path: &str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        tests.iter().any(|test| module == test)
    };
    let mutated = |path: &str| FOLDERS.iter().any(|folder| path.starts_with(folder));
    repository
        .rust()
        .filter(|source| mutated(&source.path) && !is_test(&source.path))
        .collect()
}

/// The mutants that a choice takes. What is taken of a function does not depend on other functions.
pub fn chosen(files: &[&SourceFile], choice: &Choice) -> Result<Vec<Mutant>, String> {
    let mut mutants = Vec::new();
    for source in files {
        let sites = sites(&source.text).map_err(|error| format!("{}: {error}", source.path))?;
        let mut drawn: Vec<(u64, Site)> = sites
            .into_iter()
            .map(|site| (draw(choice.seed, &source.path, &site.name()), site))
            .collect();
        let least = drawn.iter().map(|(number, _)| *number).min();
        drawn.retain(|(number, _)| number % choice.one_in == 0 || Some(*number) == least);
        for (number, site) in drawn {
            mutants.push(Mutant {
                id: mutants.len(),
                file: source.path.clone(),
                share: number / choice.one_in % SHARES,
                line: line_of(&source.text, site.edit.start),
                site,
            });
        }
    }
    Ok(mutants)
}

/// A number that looks random, the same for the same text (FNV-1a, mixed once more).
fn draw(seed: u64, path: &str, name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed;
    for byte in path.bytes().chain([b' ']).chain(name.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
