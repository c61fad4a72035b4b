//! What each rule finds at each cut, and in all.

use crate::crashtest::CutResult;
use crate::crashtest::scripts::CampaignSettings;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_verify::{FoundBlock, RuleFindings, VerifiedJob, VerifyFindings};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What one rule says of one cut.
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

/// One cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FioCutRecord {
    /// From 1; the folder of a kept disk has it in its name.
    pub index: usize,
    /// Age of the drive.
    pub age: String,
    /// Where, in words.
    pub place: String,
    /// The drive does not come back.
    pub dead: bool,
    /// The drive broke a promise somewhere, by the model's own account.
    pub broke_promise: bool,
    /// Faults that had struck.
    pub struck: Vec<String>,
    /// fio's default.
    pub completed: RuleVerdict,
    /// fio's `verify_policy=fsynced`.
    pub fsynced: RuleVerdict,
    /// The contract.
    pub contract: RuleVerdict,
    /// Blocks that broke the contract, by what stands in them.
    pub found: BTreeMap<String, u64>,
    /// The first of them, in words.
    pub first: Option<String>,
}

impl FioCutRecord {
    pub(super) fn of(
        index: usize,
        cut: &CutResult,
        place: String,
        findings: Option<&VerifyFindings>,
    ) -> FioCutRecord {
        let nothing = VerifyFindings::default();
        let findings = findings.unwrap_or(&nothing);
        let mut found = BTreeMap::new();
        for block in &findings.contract.broken {
            *found.entry(word(block.found).to_owned()).or_default() += 1;
        }
        FioCutRecord {
            index,
            age: String::new(),
            place,
            dead: cut.breach.as_ref().is_some_and(|breach| breach.dead),
            broke_promise: cut.breach.is_some(),
            struck: cut
                .struck
                .iter()
                .map(|kind| kind.info().name.to_owned())
                .collect(),
            completed: RuleVerdict::of(&findings.completed),
            fsynced: RuleVerdict::of(&findings.fsynced),
            contract: RuleVerdict {
                verified: findings.contract.promised,
                failed: findings.contract.broken.len() as u64,
            },
            found,
            first: cut.message.clone(),
        }
    }

    fn fails(&self, rule: &RuleVerdict) -> bool {
        self.dead || rule.failed > 0
    }
}

fn word(found: FoundBlock) -> &'static str {
    match found {
        FoundBlock::Older => "older",
        FoundBlock::Torn => "torn",
        FoundBlock::Foreign => "foreign",
    }
}

/// All cuts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FioCampaignReport {
    /// The job, in words.
    pub job: String,
    /// The drive.
    pub drive: String,
    /// Its faults, as given.
    pub faults: Vec<String>,
    /// Cuts at which fio's default fails the drive.
    pub completed: usize,
    /// Cuts at which fio's `verify_policy=fsynced` does.
    pub fsynced: usize,
    /// Cuts at which the contract does.
    pub contract: usize,
    /// Cuts at which the drive broke a promise somewhere, by the model's own account.
    pub broke_promise: usize,
    /// Each cut.
    pub cuts: Vec<FioCutRecord>,
}

impl FioCampaignReport {
    pub(super) fn new(job: &VerifiedJob, settings: &CampaignSettings) -> FioCampaignReport {
        FioCampaignReport {
            job: format!("{}: {}", job.name, job.describe()),
            drive: settings.drive.clone(),
            faults: settings.faults.clone(),
            completed: 0,
            fsynced: 0,
            contract: 0,
            broke_promise: 0,
            cuts: Vec::new(),
        }
    }

    pub(super) fn count_rules(&mut self) {
        let count = |rule: fn(&FioCutRecord) -> &RuleVerdict| {
            let failing = self.cuts.iter().filter(|cut| cut.fails(rule(cut)));
            failing.count()
        };
        self.completed = count(|cut| &cut.completed);
        self.fsynced = count(|cut| &cut.fsynced);
        self.contract = count(|cut| &cut.contract);
        self.broke_promise = self.cuts.iter().filter(|cut| cut.broke_promise).count();
    }

    /// Whether no cut broke the contract.
    pub fn has_passed(&self) -> bool {
        self.contract == 0
    }

    /// Faults that were asked for and never struck, while nothing broke.
    pub fn idle_faults(&self) -> Vec<&str> {
        if !self.has_passed() {
            return Vec::new();
        }
        let has_struck = |fault: &str| {
            let name = fault.split(':').next().unwrap_or_default();
            self.cuts
                .iter()
                .any(|cut| cut.struck.iter().any(|struck| struck == name))
        };
        let faults = self.faults.iter().map(String::as_str);
        faults.filter(|fault| !has_struck(fault)).collect()
    }

    /// For people.
    pub fn render(&self) -> String {
        let mut text = format!("{}\n", self.job);
        let faults = match self.faults.as_slice() {
            [] => "honest".to_owned(),
            faults => format!("with {}", faults.join(", ")),
        };
        let cuts = self.cuts.len();
        let _ = writeln!(text, "{}, {faults}: {cuts} cuts\n", self.drive);
        let rows = [
            ("fio, verify_policy=completed (its default)", self.completed),
            ("fio, verify_policy=fsynced", self.fsynced),
            ("the contract", self.contract),
        ];
        for (rule, count) in rows {
            let _ = writeln!(text, "  {rule:<44} fails at {count} of {cuts}");
        }
        let mut found: BTreeMap<&str, u64> = BTreeMap::new();
        for (kind, count) in self.cuts.iter().flat_map(|cut| &cut.found) {
            *found.entry(kind).or_default() += count;
        }
        if !found.is_empty() {
            let found = found.iter().map(|(kind, count)| format!("{count} {kind}"));
            let _ = writeln!(
                text,
                "\nblocks that broke it: {}",
                found.collect::<Vec<_>>().join(", ")
            );
        }
        if let Some(cut) = self.cuts.iter().find(|cut| cut.fails(&cut.contract)) {
            let words = match (&cut.first, cut.dead) {
                (_, true) => "the drive does not come back",
                (Some(first), _) => first,
                (None, _) => "",
            };
            let _ = writeln!(text, "first: cut {}, {}\n  {words}", cut.index, cut.place);
        } else if self.completed > 0 {
            let _ = writeln!(
                text,
                "\nWhat fio's default misses was never covered by an fsync: the drive may lose it."
            );
        }
        text
    }
}
