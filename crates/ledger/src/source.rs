//! Where figures are from: address, date, licence, and what a licence asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Class of a ledger source.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerSourceClass {
    /// The maker's own document.
    MakerSheet,
    /// A copy of the maker's document elsewhere.
    MakerCopy,
    /// A review, news or a list.
    Review,
    /// A test whose raw results were read.
    Test,
    /// Counters of drives in service.
    Field,
    /// A run of ssdlab.
    Run,
}

impl LedgerSourceClass {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            LedgerSourceClass::MakerSheet => "maker's document",
            LedgerSourceClass::MakerCopy => "copy of the maker's document",
            LedgerSourceClass::Review => "review or list",
            LedgerSourceClass::Test => "test by others",
            LedgerSourceClass::Field => "counters of drives in service",
            LedgerSourceClass::Run => "run of ssdlab",
        }
    }
}

/// A source: a table of `ledger/sources.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerSource {
    /// Name that rows use.
    pub id: String,
    /// Its address.
    pub address: String,
    /// Commit or edition that was read; empty when it has none.
    #[serde(default)]
    pub version: String,
    /// Date on which it was read, as 2026-11-26.
    pub read: String,
    /// Licence by its SPDX name, or `none seen`.
    pub licence: String,
    /// What it is.
    pub class: LedgerSourceClass,
    /// The credit that its licence asks for; empty when it asks for none.
    #[serde(default)]
    pub attribution: String,
    /// What misleads in it.
    #[serde(default)]
    pub trap: String,
}

impl LedgerSource {
    /// Whether the licence asks that the author is named.
    pub fn needs_attribution(&self) -> bool {
        self.licence.starts_with("CC-BY")
    }
}

/// The file `ledger/sources.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceFile {
    pub source: Vec<toml::Spanned<LedgerSource>>,
}
