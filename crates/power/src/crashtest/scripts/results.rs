//! Results of a campaign of scripts.

use super::control::ControlRecord;
use super::document::{CampaignDocument, CutRecord, MinimalLossDocument};
use super::names::{NameHistory, NameRules};
use crate::crashtest::{CutVerdict, MinimalLoss, Occasion};

/// All of a campaign.
#[derive(Clone, Debug)]
pub struct ScriptReport {
    /// In order of time.
    pub lines: Vec<CutRecord>,
    /// How many cuts there are to be.
    pub chosen: usize,
    /// It was stopped before all of them had a verdict, or the failures were looked into.
    pub stopped: bool,
    /// Of the first cut at which the application failed.
    pub minimal: Option<MinimalLoss>,
    /// What was recorded.
    pub stream: String,
    /// What the check was tried on before any cut.
    pub control: Option<ControlRecord>,
    /// Faults that the drive was to have, as given: `ignores-flush:300`.
    pub faults: Vec<String>,
    /// What was seen of the workload's names; `None`: it is not a program in a file system.
    pub names: Option<NameHistory>,
    /// What the program was held to.
    pub rules: NameRules,
    /// The command that tries it under POSIX's rules.
    pub posix_command: Option<String>,
}

impl ScriptReport {
    /// How many cuts have a verdict.
    pub fn count(&self, verdict: CutVerdict) -> usize {
        let lines = self.lines.iter();
        lines.filter(|line| line.verdict == verdict.name()).count()
    }

    /// Whether every cut passed.
    pub fn has_passed(&self) -> bool {
        self.count(CutVerdict::Passed) == self.chosen
    }

    /// Each fault that was asked for, with the number of cuts by which it had struck.
    fn strikes(&self) -> Vec<(&str, usize)> {
        let name = |fault: &'_ String| fault.split(':').next().unwrap_or_default().to_owned();
        let count = |fault: &String| {
            let name = name(fault);
            let has_struck = |line: &&CutRecord| line.struck.contains(&name);
            self.lines.iter().filter(has_struck).count()
        };
        let strikes = self
            .faults
            .iter()
            .map(|fault| (fault.as_str(), count(fault)));
        strikes.collect()
    }

    /// Faults that were asked for and never struck: the campaign says nothing of them. None if the
    /// drive broke its word, which a fault that strikes during a check does, too.
    pub fn idle_faults(&self) -> Vec<&str> {
        if self.count(CutVerdict::Drive) > 0 {
            return Vec::new();
        }
        let strikes = self.strikes().into_iter();
        strikes
            .filter(|(_, count)| *count == 0)
            .map(|(fault, _)| fault)
            .collect()
    }

    /// All of it for other programs.
    pub fn document(&self) -> CampaignDocument<'_> {
        CampaignDocument {
            stream: &self.stream,
            control: self.control.as_ref(),
            cuts_chosen: self.chosen,
            cuts: self.lines.len(),
            stopped: self.stopped,
            passed: self.count(CutVerdict::Passed),
            application: self.count(CutVerdict::Application),
            drive: self.count(CutVerdict::Drive),
            names: self.names.as_ref().map(|names| names.summary(self.rules)),
            results: &self.lines,
            minimal: self.minimal.as_ref().map(MinimalLossDocument::from),
        }
    }

    /// How many cuts there were of each kind: `: any 50 (3 failed), ...`.
    fn kinds(&self) -> String {
        let count = |is: &dyn Fn(&CutRecord) -> bool| {
            let lines = self.lines.iter().filter(|line| is(line));
            let failed = lines.clone().filter(|line| line.verdict != "passed");
            match (lines.count(), failed.count()) {
                (all, 0) => all.to_string(),
                (all, failed) => format!("{all} ({failed} failed)"),
            }
        };
        let mut kinds = Vec::new();
        for occasion in Occasion::ALL {
            let is = |line: &CutRecord| line.occasion == occasion.name();
            kinds.push(format!("{} {}", occasion.name(), count(&is)));
        }
        for age in ["new", "full", "worn"] {
            let is = |line: &CutRecord| line.age == age;
            kinds.push(format!("on a {age} drive {}", count(&is)));
        }
        let several = |line: &CutRecord| line.in_flight > 1;
        kinds.push(format!(
            "with several commands in flight {}",
            count(&several)
        ));
        kinds.retain(|kind| !kind.ends_with(" 0"));
        if kinds.is_empty() {
            return String::new();
        }
        format!(": {}", kinds.join(", "))
    }

    /// The table, the first failures and the smallest set of lost writes.
    pub fn render(&self) -> String {
        let mut text = format!("{}\n", self.stream);
        if let Some(control) = &self.control {
            text.push_str(&format!("{}\n", control.describe()));
        }
        text.push('\n');
        let rows = [
            ("passed", CutVerdict::Passed),
            (
                "the application failed, the drive kept its word",
                CutVerdict::Application,
            ),
            ("the drive broke its word", CutVerdict::Drive),
        ];
        for (name, verdict) in rows {
            text.push_str(&format!("{:>8}  {name}\n", self.count(verdict)));
        }
        text.push_str(&format!("{:>8}  cuts{}\n", self.lines.len(), self.kinds()));
        for (fault, count) in self.strikes() {
            text.push_str(&format!(
                "{count:>8}  cuts before which {fault} had struck\n"
            ));
        }
        if self.lines.len() < self.chosen {
            let cuts_left = self.chosen - self.lines.len();
            text.push_str(&format!("{cuts_left:>8}  left: stopped\n"));
        }
        let failed = self.lines.iter().filter(|line| line.verdict != "passed");
        for line in failed.take(5) {
            let place = &line.place;
            text.push_str(&format!(
                "\n{place} ({}, {} marks)\n",
                line.verdict, line.marks
            ));
            text.push_str(&format!("  {}\n  replay: {}\n", line.why, line.token));
        }
        if let Some(minimal) = &self.minimal {
            let (head, _) = minimal.token.to_string().split_once('~').map_or_else(
                || (minimal.token.to_string(), String::new()),
                |(head, rest)| (head.to_string(), rest.to_string()),
            );
            text.push_str(&format!("\nof the cut {head}:\n{minimal}"));
        }
        if let Some(names) = &self.names {
            let by = self.posix_command.as_deref();
            text.push_str(&format!("\n{}", names.describe(self.rules, by)));
        }
        text
    }
}
