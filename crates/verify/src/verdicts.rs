//! What the rules find at a cut, in numbers, and at how many cuts each fails.

use crate::findings::{FoundBlock, VerifyFindings};
use crate::fio_rule::RuleFindings;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What one rule finds at one cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleVerdict {
    /// Blocks that it looks at.
    pub verified: u64,
    /// Blocks that fail it.
    pub failed: u64,
}

impl RuleVerdict {
    fn of(findings: &RuleFindings) -> RuleVerdict {
        RuleVerdict {
            verified: findings.verified,
            failed: findings.failed.len() as u64,
        }
    }
}

/// What all rules find at one cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifyVerdicts {
    /// fio without a state file.
    pub stateless: RuleVerdict,
    /// fio by its state file: `verify_policy=completed`, its default.
    pub completed: RuleVerdict,
    /// fio by its state file: `verify_policy=fsynced`.
    pub fsynced: RuleVerdict,
    /// The contract.
    pub contract: RuleVerdict,
    /// Blocks that broke the contract, by what stands in them.
    pub found: BTreeMap<String, u64>,
    /// The first of them, in words.
    pub first: Option<String>,
}

fn word(found: FoundBlock) -> &'static str {
    match found {
        FoundBlock::Older => "older",
        FoundBlock::Torn => "torn",
        FoundBlock::Foreign => "foreign",
    }
}

impl VerifyVerdicts {
    /// The numbers of `findings`.
    pub fn of(findings: &VerifyFindings) -> VerifyVerdicts {
        let broken = &findings.contract.broken;
        let mut found = BTreeMap::new();
        for block in broken {
            *found.entry(word(block.found).to_owned()).or_default() += 1;
        }
        VerifyVerdicts {
            stateless: RuleVerdict::of(&findings.stateless),
            completed: RuleVerdict::of(&findings.completed),
            fsynced: RuleVerdict::of(&findings.fsynced),
            contract: RuleVerdict {
                verified: findings.contract.promised,
                failed: broken.len() as u64,
            },
            found,
            first: broken.first().map(ToString::to_string),
        }
    }

    /// A line for each rule; those of a state only if there is one.
    pub fn render(&self, has_state: bool) -> String {
        let mut rows = vec![
            ("fio without a state file", &self.stateless),
            ("the contract", &self.contract),
        ];
        if has_state {
            rows.insert(1, ("fio by its state file", &self.completed));
        }
        let mut text = String::new();
        for (rule, verdict) in rows {
            let RuleVerdict { verified, failed } = verdict;
            let _ = writeln!(text, "  {rule:<28} {failed} of {verified} blocks fail");
        }
        if let Some(first) = &self.first {
            let _ = writeln!(text, "  {first}");
        }
        text
    }

    /// Whether the contract holds.
    pub fn keeps_contract(&self) -> bool {
        self.contract.failed == 0
    }
}

/// At how many cuts each rule fails a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleCounts {
    /// fio without a state file.
    pub stateless: usize,
    /// fio by its state file, `verify_policy=completed`.
    pub completed: usize,
    /// fio by its state file, `verify_policy=fsynced`.
    pub fsynced: usize,
    /// The contract.
    pub contract: usize,
}

impl RuleCounts {
    /// Counts one cut; a drive that is dead fails every rule.
    pub fn count(&mut self, verdicts: &VerifyVerdicts, is_dead: bool) {
        let fails = |rule: &RuleVerdict| usize::from(is_dead || rule.failed > 0);
        self.stateless += fails(&verdicts.stateless);
        self.completed += fails(&verdicts.completed);
        self.fsynced += fails(&verdicts.fsynced);
        self.contract += fails(&verdicts.contract);
    }

    /// A line for each rule, of all `cuts`.
    pub fn render(&self, cuts: usize) -> String {
        let rows = [
            ("fio without a state file", self.stateless),
            ("fio by its state, verify_policy=completed", self.completed),
            ("fio by its state, verify_policy=fsynced", self.fsynced),
            ("the contract", self.contract),
        ];
        rows.iter().fold(String::new(), |mut text, (rule, count)| {
            let _ = writeln!(text, "  {rule:<44} fails at {count} of {cuts}");
            text
        })
    }
}
