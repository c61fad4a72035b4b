//! Settings of a campaign of scripts.

use super::attach::ScriptOptions;
use super::names::NameRules;
use super::preload::PreloadSettings;
use crate::crashtest::{Campaign, CommandStream, Cuts, Occasion, StartingAge};
use crate::served::parse_fault;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::saved;
use ssdlab_drives::scaling::sized;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Fault;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Settings of a campaign; `campaign.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignSettings {
    /// A drive of the catalogue, its file, or a saved drive.
    pub drive: String,
    /// Bytes that it offers; of a saved drive nothing else.
    pub size: Option<u64>,
    /// As [`parse_fault`] takes them.
    pub faults: Vec<String>,
    /// Seed of cuts and faults.
    pub seed: u64,
    /// Random cuts; `None`: exhaustive.
    pub cuts: Option<usize>,
    /// Occasions of random cuts, by [`Occasion::name`]; the first has a double share.
    pub occasions: Vec<String>,
    /// `new`, `full` or `mixed`: a quarter of the cuts on a full drive.
    pub age: String,
    /// Only cuts after this mark.
    pub after_mark: Option<String>,
    /// The workload, for `sh -c`; empty: the stream came from a log.
    pub workload: String,
    /// The check, for `sh -c`.
    pub check: String,
    /// Whether scripts get a file beside the socket.
    pub file: bool,
    /// Longest time of a script.
    pub timeout_s: u64,
    /// Most checks for the smallest set of lost writes.
    pub checks_max: usize,
    /// The check asks only whether what is there is whole: marks are not needed.
    #[serde(default)]
    pub consistency_only: bool,
    /// What the program is held to.
    #[serde(default)]
    pub rules: NameRules,
    /// The command that tries it under POSIX's rules.
    #[serde(default)]
    pub posix_command: Option<String>,
    /// How the program is seen without a kernel's file system; `None`: on a drive of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preload: Option<PreloadSettings>,
}

/// Bytes that a drive of the catalogue offers unless the user says otherwise.
const SIZE: u64 = 256 << 20;
/// Of a mixed campaign, one cut in this number is on a full drive.
const FULL_SHARE: usize = 4;
/// Marks that a message names.
const MARKS_NAMED: usize = 8;

/// The first marks, in words.
fn known_marks(marks: &[(&str, usize)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for &(text, _) in marks {
        if !names.contains(&text) {
            names.push(text);
        }
        if names.len() > MARKS_NAMED {
            break;
        }
    }
    if names.is_empty() {
        return "it made none".into();
    }
    let has_more = names.len() > MARKS_NAMED;
    names.truncate(MARKS_NAMED);
    let more = if has_more { ", ..." } else { "" };
    format!("it made {}: {}{more}", marks.len(), names.join(", "))
}

impl CampaignSettings {
    /// The drive's configuration.
    ///
    /// # Errors
    /// When there is no such drive or size.
    pub fn config(&self) -> Result<DriveConfig, LabError> {
        self.opened().map(|(config, _)| config)
    }

    /// The drive's configuration, and the wear of a saved one.
    fn opened(&self) -> Result<(DriveConfig, Option<StartingAge>), LabError> {
        let path = Path::new(&self.drive);
        if saved::is_saved(path) {
            let (drive, _) = saved::load(path)?;
            let config = drive.config().clone();
            if let Some(bytes) = self.size.filter(|&bytes| bytes != config.user_bytes) {
                return Err(LabError::refused(
                    format!("--size {bytes}: {} has {}", self.drive, config.user_bytes),
                    "leave --size out: a saved drive has the size that it has",
                ));
            }
            return Ok((config, Some(StartingAge::worn(&drive))));
        }
        let drive = catalogue::open(&self.drive)?;
        let bytes = self.size.unwrap_or(SIZE);
        Ok((sized(&drive.config, bytes)?.config, None))
    }

    /// Refuses what is no fault or occasion before anything runs.
    pub(super) fn check(&self) -> Result<(), LabError> {
        let mut faults = self.faults.iter();
        faults.try_for_each(|text| parse_fault(text, 0).map(drop))?;
        self.occasions().map(drop)
    }

    fn occasions(&self) -> Result<Vec<Occasion>, LabError> {
        let named = |name: &String| {
            Occasion::named(name).ok_or_else(|| {
                let names = Occasion::ALL.map(Occasion::name);
                LabError::refused(
                    format!("`{name}` is no occasion of a cut"),
                    format!("allowed are {}", names.join(", ")),
                )
            })
        };
        self.occasions.iter().map(named).collect()
    }

    /// The campaign on each age of the drive, with the name of the age.
    pub(crate) fn campaigns(
        &self,
        stream: &CommandStream,
        jobs: usize,
    ) -> Result<Vec<(&'static str, Campaign)>, LabError> {
        let faults = self.faults.iter().map(|text| parse_fault(text, self.seed));
        let faults: Vec<Fault> = faults.collect::<Result<_, _>>()?;
        let occasions = self.occasions()?;
        let first = self.first_command(stream)?;
        let (config, worn) = self.opened()?;
        let count = self.cuts.unwrap_or(0);
        let mut ages = match (worn, self.age.as_str(), self.cuts) {
            (Some(worn), ..) => vec![("worn", worn, count)],
            (None, "full", _) => vec![("full", StartingAge::Filled, count)],
            (None, "mixed", Some(_)) => vec![
                ("new", StartingAge::New, count - count / FULL_SHARE),
                ("full", StartingAge::Filled, count / FULL_SHARE),
            ],
            _ => vec![("new", StartingAge::New, count)],
        };
        ages.retain(|&(_, _, count)| count > 0 || self.cuts.is_none());
        let campaign = |(name, age, count)| {
            let seed = self.seed;
            let random = self.cuts.map(|_| Cuts::Random { count, seed });
            let campaign = Campaign::new(config.clone())
                .faults(&faults)
                .cuts(random.unwrap_or(Cuts::Exhaustive))
                .occasions(&occasions)
                .age(age)
                .checks_max(self.checks_max)
                .jobs(jobs)
                .from(first);
            (name, campaign)
        };
        Ok(ages.into_iter().map(campaign).collect())
    }

    /// The command that cuts do not come before.
    pub(super) fn first_command(&self, stream: &CommandStream) -> Result<usize, LabError> {
        let marks = stream.marks.iter();
        self.first_of(marks.map(|mark| (mark.text.as_str(), mark.after)))
    }

    /// The same of marks and the numbers of commands or calls before each.
    pub(crate) fn first_of<'a>(
        &self,
        marks: impl Iterator<Item = (&'a str, usize)>,
    ) -> Result<usize, LabError> {
        let Some(text) = &self.after_mark else {
            return Ok(0);
        };
        let marks: Vec<(&str, usize)> = marks.collect();
        let mark = marks.iter().find(|mark| mark.0 == text);
        mark.map(|mark| mark.1).ok_or_else(|| {
            LabError::refused(
                format!(
                    "the workload made no mark `{text}`; {}",
                    known_marks(&marks)
                ),
                if self.workload.is_empty() {
                    "--after-mark takes one of these"
                } else {
                    "what was recorded is kept: --resume --after-mark TEXT goes on with another"
                },
            )
        })
    }

    pub(super) fn options(&self, stop: &Arc<AtomicBool>) -> ScriptOptions {
        ScriptOptions {
            file: self.file,
            timeout: Duration::from_secs(self.timeout_s),
            stop: stop.clone(),
        }
    }
}
