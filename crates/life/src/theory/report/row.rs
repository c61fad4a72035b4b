//! A measured write amplification beside its expectation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an expected value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectationSource {
    /// A law of [`crate::theory::closed_form`] at `alpha_eff`.
    ClosedForm,
    /// The reference simulator, same drive and same load.
    Reference,
    /// What must hold by arithmetic: sequential writes amplify not at all.
    Exact,
}

impl ExpectationSource {
    /// As people read it.
    pub fn title(self) -> &'static str {
        match self {
            ExpectationSource::ClosedForm => "closed form",
            ExpectationSource::Reference => "reference",
            ExpectationSource::Exact => "exact",
        }
    }
}

/// How host data and relocated data are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrontierSplit {
    /// One for both.
    Shared,
    /// One for each.
    Separate,
    /// One for each, per stream of hot and of cold data.
    HotCold,
}

impl FrontierSplit {
    /// As people read it.
    pub fn title(self) -> &'static str {
        match self {
            FrontierSplit::Shared => "shared",
            FrontierSplit::Separate => "separate",
            FrontierSplit::HotCold => "hot/cold",
        }
    }
}

/// One measurement and what it is held against. Write amplification has no unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct TheoryRow {
    /// What it is part of: `uniform`, `skew`, `trim`. Groups get plots of their own.
    pub group: String,
    /// The reclaim policy.
    pub policy: String,
    /// The load.
    pub load: String,
    /// How frontiers are used.
    pub frontiers: FrontierSplit,
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
    pub source: ExpectationSource,
    /// The write amplification measured.
    pub measured: f64,
    /// Relative error allowed.
    pub tolerance: f64,
    /// Half the width of the 95 % confidence interval of `measured`, relative to it.
    pub ci: f64,
}

impl TheoryRow {
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
pub struct TheoryReportInfo {
    /// What was measured: `the modelled drive`, `the reference simulator`.
    pub subject: String,
    /// How it was measured, in sentences.
    pub protocol: Vec<String>,
    /// The command that makes the report again.
    pub command: String,
}
