//! What is printed of a campaign as JSON.

use super::control::ControlRecord;
use super::names::NameSummary;
use crate::crashtest::{LostWrite, MinimalLoss};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cut, as a line of `results.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct CutRecord {
    /// How to run it again.
    pub token: String,
    /// Where it was, in words.
    pub place: String,
    /// What it was meant to strike; see [`crate::crashtest::Occasion`].
    #[schemars(extend("enum" = ["any", "map", "reclaim", "recovery", "after-recovery", "check"]))]
    pub occasion: String,
    /// The drive was `new`, `full` of earlier data, or `worn` and full.
    #[schemars(extend("enum" = ["new", "full", "worn"]))]
    pub age: String,
    /// Commands in flight at the first cut.
    pub in_flight: usize,
    /// `passed`, `application` or `drive`.
    #[schemars(extend("enum" = ["passed", "application", "drive"]))]
    pub verdict: String,
    /// Why it did not pass.
    pub why: String,
    /// Marks made before it.
    pub marks: usize,
    /// Pieces of commands that it lost.
    pub lost: usize,
    /// Faults of the drive that had struck by then; absent on a drive without faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub struck: Vec<String>,
}

/// All of a campaign.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CampaignDocument<'a> {
    /// What was recorded.
    pub stream: &'a str,
    /// What the check was tried on before any cut; null for a campaign of an earlier version.
    pub control: Option<&'a ControlRecord>,
    /// How many cuts there are to be.
    pub cuts_chosen: usize,
    /// Cuts that have a verdict.
    pub cuts: usize,
    /// Whether it was stopped before all cuts had a verdict.
    pub stopped: bool,
    /// Cuts that passed.
    pub passed: usize,
    /// Cuts at which the application failed.
    pub application: usize,
    /// Cuts at which the drive broke a promise.
    pub drive: usize,
    /// What the program left to its file system; null for scripts, which are not watched.
    pub names: Option<NameSummary>,
    /// Every cut, in order of time.
    pub results: &'a [CutRecord],
    /// Smallest loss at the first cut at which the application failed.
    pub minimal: Option<MinimalLossDocument<'a>>,
}

/// The smallest set of lost writes that still fails the check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MinimalLossDocument<'a> {
    /// How to run it again.
    pub token: String,
    /// Text of the check in that case.
    pub message: &'a str,
    /// Checks that were run to find it.
    pub checks: usize,
    /// Whether no smaller set fails.
    pub is_smallest: bool,
    /// The lost writes.
    pub lost: Vec<LostWriteDocument>,
}

/// A lost write.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LostWriteDocument {
    /// Index of the command.
    pub command: u32,
    /// First byte missing.
    pub offset: u64,
    /// Bytes missing.
    pub bytes: u64,
    /// Index of the FLUSH before it.
    pub after_flush: Option<u32>,
    /// Index of the first FLUSH after it, if it came before the cut.
    pub before_flush: Option<u32>,
}

impl<'a> From<&'a MinimalLoss> for MinimalLossDocument<'a> {
    fn from(minimal: &'a MinimalLoss) -> MinimalLossDocument<'a> {
        MinimalLossDocument {
            token: minimal.token.to_string(),
            message: &minimal.message,
            checks: minimal.checks,
            is_smallest: minimal.is_smallest,
            lost: minimal.lost.iter().map(LostWriteDocument::from).collect(),
        }
    }
}

impl From<&LostWrite> for LostWriteDocument {
    fn from(write: &LostWrite) -> LostWriteDocument {
        LostWriteDocument {
            command: write.command,
            offset: write.offset,
            bytes: write.len,
            after_flush: write.after_flush,
            before_flush: write.before_flush,
        }
    }
}
