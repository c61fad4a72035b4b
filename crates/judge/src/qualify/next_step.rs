//! The one step that would decide what a finding leaves open.
//!
//! ```text
//! unknown finding, target -> a command that can settle it, a fact to type, or "nothing", with why
//! ```

use super::evidence::FindingEnsemble;
use super::{QualifyOutcome, RoleFinding, readings};
use crate::others::OthersFigures;
use ssdlab_bench::device::{TargetFacts, TargetKind};

/// A run whose findings leave something open.
#[derive(Clone, Copy)]
pub struct OpenQuestion<'a> {
    /// The target.
    pub facts: &'a TargetFacts,
    /// Name of the role.
    pub role: &'a str,
    /// Name of the profile that was run.
    pub profile: &'a str,
}

/// What a finding is unknown for the lack of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingEvidence {
    /// Cuts of the power, or somebody's word on the write buffer.
    Cuts,
    /// What the maker rates it for.
    Rating,
    /// Its own report.
    Health,
    /// A drive that has been overwritten.
    Overwrites,
    /// What a constant of the model is, which nobody has measured.
    Constants,
    /// A longer or an unbroken run.
    Time,
}

impl MissingEvidence {
    /// Of a finding by its requirement and title.
    pub fn of(finding: &RoleFinding) -> MissingEvidence {
        let states = [readings::USED, readings::WORST_CASE];
        let ends = |state: &&str| finding.title.ends_with(*state);
        let is_divided = |drawn: &FindingEnsemble| drawn.is_divided();
        if finding.ensemble.as_ref().is_some_and(is_divided) {
            return MissingEvidence::Constants;
        }
        match finding.id.as_str() {
            "durability" | "power_loss_protection" => MissingEvidence::Cuts,
            "endurance" => MissingEvidence::Rating,
            "health" => MissingEvidence::Health,
            "write_cliff" | "sustained_write_rate" => MissingEvidence::Overwrites,
            _ if states.iter().any(ends) || finding.value.ends_with(" so far") => {
                MissingEvidence::Overwrites
            }
            _ => MissingEvidence::Time,
        }
    }
}

impl OpenQuestion<'_> {
    /// The step for the first of `findings` that is open; musts and health come first.
    pub fn first_step(&self, findings: &[&RoleFinding]) -> Option<String> {
        let open = || {
            let unknown = |f: &&&RoleFinding| f.outcome == QualifyOutcome::Unknown;
            findings.iter().filter(unknown)
        };
        let weighty = |f: &&&RoleFinding| f.hard || f.id == "health";
        let chosen = open().find(weighty).or_else(|| open().next())?;
        Some(self.step(chosen))
    }

    /// The step for one finding.
    pub fn step(&self, finding: &RoleFinding) -> String {
        let missing = MissingEvidence::of(finding);
        match self.facts.kind {
            TargetKind::Modelled | TargetKind::Null => self.of_model(finding, missing),
            TargetKind::Volume => self.of_volume(missing),
            TargetKind::File | TargetKind::BlockDevice => self.of_real(missing),
        }
    }

    fn of_real(&self, missing: MissingEvidence) -> String {
        let is_device = self.facts.kind == TargetKind::BlockDevice;
        let is_virtual = self.facts.virtualised == Some(true);
        let role = self.role;
        match missing {
            MissingEvidence::Overwrites if is_device => self.whole_device(),
            MissingEvidence::Overwrites => format!(
                "an empty drive of the kind, whole: `ssdlab qualify /dev/DEVICE --role {role} \
                 --profile full --serial SERIAL`, which overwrites all of it for hours"
            ),
            MissingEvidence::Constants | MissingEvidence::Time if self.profile == "full" => {
                self.same_again()
            }
            MissingEvidence::Constants | MissingEvidence::Time => self.longer(),
            _ if is_virtual => format!(
                "`ssdlab inspect /dev/DEVICE` on the machine that holds the drive under this \
                 virtual disk, then `ssdlab qualify --role {role}` there"
            ),
            _ if self.facts.health.is_none() => self.inspect(),
            MissingEvidence::Rating => {
                "nothing: neither the drive nor a source that was read gives its rated writes"
                    .to_owned()
            }
            MissingEvidence::Cuts => {
                let device = self.device();
                let serial = self.facts.serial.as_deref().unwrap_or("SERIAL");
                format!(
                    "cuts of its power, which cost what is on it: `ssdlab pull run {device} \
                     --serial {serial} --ledger FILE`"
                )
            }
            MissingEvidence::Health => self.inspect(),
        }
    }

    /// Of a volume of a cloud, whose drives are its provider's.
    fn of_volume(&self, missing: MissingEvidence) -> String {
        match missing {
            MissingEvidence::Rating | MissingEvidence::Health => {
                "nothing: the provider replaces its drives, and states neither rating nor health"
                    .to_owned()
            }
            MissingEvidence::Cuts => {
                "nothing: the provider promises it, and only the provider can cut the power"
                    .to_owned()
            }
            MissingEvidence::Overwrites | MissingEvidence::Constants | MissingEvidence::Time
                if self.profile == "full" =>
            {
                "nothing: the full profile has been run".to_owned()
            }
            MissingEvidence::Overwrites | MissingEvidence::Constants | MissingEvidence::Time => {
                self.longer()
            }
        }
    }

    /// The device itself, where it is known.
    fn device(&self) -> &str {
        match self.facts.kind {
            TargetKind::BlockDevice => &self.facts.name,
            _ => "/dev/DEVICE",
        }
    }

    fn inspect(&self) -> String {
        match self.facts.kind {
            TargetKind::BlockDevice => format!("`sudo ssdlab inspect {}`", self.facts.name),
            _ => "`sudo ssdlab inspect /dev/DEVICE`, the drive under this file system: model, \
                  protection and health"
                .to_owned(),
        }
    }

    fn whole_device(&self) -> String {
        let facts = self.facts;
        // What this run wrote looks like data: a device without a serial number needs more.
        let consent = match &facts.serial {
            Some(serial) => format!("--serial {serial}"),
            None => format!("--destroy {}", facts.capacity),
        };
        format!(
            "`ssdlab qualify {} --role {} --profile full --size {} {consent}`, which overwrites \
             all of it for hours",
            facts.name, self.role, facts.capacity
        )
    }

    fn target(&self) -> String {
        let facts = self.facts;
        let typed = facts.typed.as_ref().unwrap_or(&facts.name);
        match (facts.kind, &facts.serial) {
            (TargetKind::File, _) => String::new(),
            (TargetKind::BlockDevice, Some(serial)) => format!(" {typed} --serial {serial}"),
            (TargetKind::BlockDevice, None) => format!(" {typed} --destroy {}", facts.capacity),
            _ => format!(" {typed}"),
        }
    }

    fn longer(&self) -> String {
        let (target, role) = (self.target(), self.role);
        format!("`ssdlab qualify{target} --role {role} --profile full`")
    }

    fn same_again(&self) -> String {
        let (target, role) = (self.target(), self.role);
        format!("the same run to its end: `ssdlab qualify{target} --role {role} --profile full`")
    }

    /// Of a model, of which a longer run shows nothing that its file leaves out.
    fn of_model(&self, finding: &RoleFinding, missing: MissingEvidence) -> String {
        let facts = self.facts;
        let name = facts.typed.as_ref().unwrap_or(&facts.name);
        let file = name
            .strip_prefix("drive:")
            .filter(|file| file.ends_with(".toml"));
        let key = match (missing, finding.id.as_str()) {
            (MissingEvidence::Rating, _) => Some("rated_writes"),
            (_, "power_loss_protection") => Some("power_loss_protection"),
            _ => None,
        };
        match (key, file, missing) {
            (_, _, MissingEvidence::Constants) => self.of_constants(),
            (Some(key), Some(file), _) => {
                format!("the drive's sheet: {key} in [documented] of {file}")
            }
            (Some(_), None, _) => {
                "nothing: no source that was read says it of this drive".to_owned()
            }
            (None, _, MissingEvidence::Cuts) => {
                "a real drive of the kind, by cuts of its power: `ssdlab pull run /dev/DEVICE \
                 --serial SERIAL --ledger FILE`"
                    .to_owned()
            }
            (None, _, MissingEvidence::Overwrites) => {
                "nothing: every profile overwrites a model as long, and this one does not settle"
                    .to_owned()
            }
            _ if self.profile == "full" => "nothing: the full profile has been run".to_owned(),
            _ => self.longer(),
        }
    }

    /// Of a constant that is drawn: a drive of the kind has it, or somebody who measured one.
    fn of_constants(&self) -> String {
        let role = self.role;
        let real = format!("a drive of the kind: `ssdlab qualify --role {role}` in a folder on it");
        let model = self.facts.model.as_deref();
        match model.and_then(OthersFigures::of) {
            Some(others) => format!(
                "{real}; without one, what others measured: `ssdlab qualify ledger:{} --role \
                 {role}`",
                others.family
            ),
            None => real,
        }
    }
}
