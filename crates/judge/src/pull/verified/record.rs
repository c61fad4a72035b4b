//! What pulls under a fio job found.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_verify::{RuleCounts, VerifiedJob, VerifyVerdicts};
use std::fmt;

/// A finished pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FioPull {
    /// From 1; the folder of its state has it in its name.
    pub number: u32,
    /// fio's `randseed` of this pull.
    pub seed: u64,
    /// Writes issued.
    pub issued: u64,
    /// Of these, writes that were durable.
    pub durable: u64,
    /// The job was over before the power went.
    pub was_over: bool,
    /// What each rule finds.
    pub verdicts: VerifyVerdicts,
}

impl fmt::Display for FioPull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdicts = &self.verdicts;
        write!(
            f,
            "pull {}: {} writes issued, {} durable; ",
            self.number, self.issued, self.durable
        )?;
        match &verdicts.first {
            None if self.durable == 0 => {
                f.write_str("nothing was promised: add fsync= or sync=dsync to the job")?;
            }
            None => f.write_str("the contract holds")?,
            Some(first) => {
                let (failed, verified) = (verdicts.contract.failed, verdicts.contract.verified);
                write!(
                    f,
                    "{failed} of {verified} promised blocks broke it\n  {first}"
                )?;
            }
        }
        if self.was_over {
            f.write_str("\n  the job was over before the power went: give it a larger size=")?;
        }
        Ok(())
    }
}

/// All pulls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FioPullRecord {
    /// The job, in words.
    pub job: String,
    /// The target.
    pub target: String,
    /// Pulls at which each rule fails the drive.
    pub fails: RuleCounts,
    /// Each pull.
    pub pulls: Vec<FioPull>,
}

impl FioPullRecord {
    pub(super) fn new(job: &VerifiedJob, target: &str) -> FioPullRecord {
        FioPullRecord {
            job: format!("{}: {}", job.name, job.describe()),
            target: target.to_owned(),
            fails: RuleCounts::default(),
            pulls: Vec::new(),
        }
    }

    pub(super) fn enter(&mut self, pull: FioPull) {
        self.fails.count(&pull.verdicts, false);
        self.pulls.push(pull);
    }

    /// Whether no pull broke the contract.
    pub fn has_passed(&self) -> bool {
        self.fails.contract == 0
    }

    /// For people.
    pub fn render(&self) -> String {
        let pulls = self.pulls.len();
        let rules = self.fails.render(pulls);
        format!("{}\n{}: {pulls} pulls\n\n{rules}", self.job, self.target)
    }
}
