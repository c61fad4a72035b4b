//! What each rule finds at each cut, and in all.

use crate::crashtest::CutResult;
use crate::crashtest::scripts::CampaignSettings;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_verify::{RuleCounts, VerifiedJob, VerifyFindings, VerifyVerdicts};
use std::collections::BTreeMap;
use std::fmt::Write as _;

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
    /// What each rule finds.
    pub verdicts: VerifyVerdicts,
}

impl FioCutRecord {
    pub(super) fn of(
        index: usize,
        cut: &CutResult,
        place: String,
        findings: Option<&VerifyFindings>,
    ) -> FioCutRecord {
        let verdicts = findings.map(VerifyVerdicts::of);
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
            verdicts: verdicts.unwrap_or_default(),
        }
    }

    fn breaks_contract(&self) -> bool {
        self.dead || !self.verdicts.keeps_contract()
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
    /// Cuts at which each rule fails the drive.
    pub fails: RuleCounts,
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
            fails: RuleCounts::default(),
            broke_promise: 0,
            cuts: Vec::new(),
        }
    }

    pub(super) fn count_rules(&mut self) {
        for cut in &self.cuts {
            self.fails.count(&cut.verdicts, cut.dead);
        }
        let broke = self.cuts.iter().filter(|cut| cut.broke_promise);
        self.broke_promise = broke.count();
    }

    /// Whether no cut broke the contract.
    pub fn has_passed(&self) -> bool {
        self.fails.contract == 0
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
        text += &self.fails.render(cuts);
        let mut found: BTreeMap<&str, u64> = BTreeMap::new();
        for (kind, count) in self.cuts.iter().flat_map(|cut| &cut.verdicts.found) {
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
        if let Some(cut) = self.cuts.iter().find(|cut| cut.breaks_contract()) {
            let words = match (&cut.verdicts.first, cut.dead) {
                (_, true) => "the drive does not come back",
                (Some(first), _) => first,
                (None, _) => "",
            };
            let _ = writeln!(text, "first: cut {}, {}\n  {words}", cut.index, cut.place);
        } else if self.fails.completed > 0 {
            let _ = writeln!(
                text,
                "\nWhat fio's default misses was never covered by an fsync: the drive may lose it."
            );
        }
        text
    }
}
