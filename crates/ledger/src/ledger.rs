//! The ledger that comes with ssdlab: every file of `ledger/`.

use crate::apart::ApartFamilies;
use crate::field::{self, FieldPopulation};
use crate::laws;
use crate::read::{self, place};
use crate::row::LedgerRow;
use crate::source::{LedgerSource, SourceFile};
use ssdlab_base::LabError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Every file of `ledger/`: name and text.
const BUILT_IN: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

static LEDGER: LazyLock<Ledger> = LazyLock::new(|| {
    let ledger = Ledger::parse(BUILT_IN);
    ledger.unwrap_or_else(|errors| panic!("a test reads every file of ledger/: {errors:?}"))
});

/// Files that hold something other than rows.
const SOURCES: &str = "sources.toml";
const APART: &str = "apart.toml";
const POPULATIONS: &str = "field-models.csv";

/// Rows, sources, populations in service, and the families that are kept apart.
#[derive(Debug)]
pub struct Ledger {
    rows: Vec<LedgerRow>,
    sources: BTreeMap<String, LedgerSource>,
    populations: Vec<FieldPopulation>,
    apart: ApartFamilies,
}

impl Ledger {
    /// The ledger that comes with ssdlab.
    pub fn open() -> &'static Ledger {
        &LEDGER
    }

    /// The files of the ledger that comes with ssdlab: name and text.
    pub fn files() -> &'static [(&'static str, &'static str)] {
        BUILT_IN
    }

    /// Reads the files of a ledger.
    ///
    /// # Errors
    /// Every cell that cannot be read. Laws are checked by [`laws::check`].
    pub fn parse(files: &[(&str, &str)]) -> Result<Ledger, Vec<LabError>> {
        let mut errors = Vec::new();
        let mut ledger = Ledger {
            rows: Vec::new(),
            sources: BTreeMap::new(),
            populations: Vec::new(),
            apart: ApartFamilies::default(),
        };
        for (name, text) in files {
            match *name {
                SOURCES => match sources(text, name) {
                    Ok(sources) => ledger.sources = sources,
                    Err(error) => errors.push(error),
                },
                APART => match toml::from_str(text) {
                    Ok(apart) => ledger.apart = apart,
                    Err(error) => errors.push(toml_error(&error, text, name)),
                },
                POPULATIONS => match field::populations(text) {
                    Ok(populations) => ledger.populations = populations,
                    Err(error) => errors.push(LabError::BadEntry {
                        key: "population".into(),
                        what: error.to_string(),
                        place: place(name, None),
                        hint: String::new(),
                    }),
                },
                _ if name.ends_with(".csv") => {
                    let mut read = read::rows(text, name);
                    ledger.rows.append(&mut read.rows);
                    errors.append(&mut read.errors);
                }
                _ => {}
            }
        }
        if errors.is_empty() {
            Ok(ledger)
        } else {
            Err(errors)
        }
    }

    /// Every row, also those that only give context.
    pub fn all_rows(&self) -> &[LedgerRow] {
        &self.rows
    }

    /// The rows that are figures of a named drive: no RAID, no drive without a name, no figure in
    /// a doubtful unit.
    pub fn drive_rows(&self) -> impl Iterator<Item = &LedgerRow> {
        self.rows.iter().filter(|row| row.is_of_a_drive())
    }

    /// The families that have rows, in order.
    pub fn families(&self) -> BTreeSet<&str> {
        self.rows
            .iter()
            .map(|row| row.drive.family.as_str())
            .collect()
    }

    /// The sources, by id.
    pub fn sources(&self) -> &BTreeMap<String, LedgerSource> {
        &self.sources
    }

    /// The source of a row.
    pub fn source(&self, id: &str) -> Option<&LedgerSource> {
        self.sources.get(id)
    }

    /// Drives in service, a model each.
    pub fn populations(&self) -> &[FieldPopulation] {
        &self.populations
    }

    /// Families kept apart: nothing is fitted on them (`ledger/apart.toml`).
    pub fn apart(&self) -> &ApartFamilies {
        &self.apart
    }

    /// Whether a family is kept apart.
    pub fn is_apart(&self, family: &str) -> bool {
        self.apart.contains(family)
    }

    /// The breaches of the laws, over all rows.
    pub fn check(&self) -> Vec<LabError> {
        let mut breaches = laws::check(&self.rows, &self.sources);
        breaches.extend(laws::check_sources(&self.sources, SOURCES));
        breaches
    }
}

fn toml_error(error: &toml::de::Error, text: &str, file: &str) -> LabError {
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    LabError::BadEntry {
        key: "table".into(),
        what: error.message().to_owned(),
        place: place(file, line),
        hint: String::new(),
    }
}

/// Reads `sources.toml`.
///
/// # Errors
/// With file and line: unknown keys, a class that is none, an id that two sources have.
pub fn sources(text: &str, file: &str) -> Result<BTreeMap<String, LedgerSource>, LabError> {
    let table: SourceFile = toml::from_str(text).map_err(|error| toml_error(&error, text, file))?;
    let mut sources = BTreeMap::new();
    for spanned in table.source {
        let line = text[..spanned.span().start].lines().count() + 1;
        let source = spanned.into_inner();
        let id = source.id.clone();
        if sources.insert(id.clone(), source).is_some() {
            return Err(LabError::BadValue {
                option: "id".into(),
                given: id,
                allowed: "each source has an id of its own".into(),
                place: place(file, Some(line)),
                hint: String::new(),
            });
        }
    }
    Ok(sources)
}
