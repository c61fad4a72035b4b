//! Settings of a campaign of scripts.

use super::ScriptOptions;
use crate::crashtest::{Campaign, Cuts, Stream};
use crate::served::parse_fault;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::directory::sized;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Fault;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Settings of a campaign; `campaign.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// A drive of the catalogue, or a file.
    pub drive: String,
    /// Bytes that it offers.
    pub size: Option<u64>,
    /// As [`parse_fault`] takes them.
    pub faults: Vec<String>,
    /// Seed of cuts and faults.
    pub seed: u64,
    /// Random cuts; `None`: exhaustive.
    pub cuts: Option<usize>,
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
}

/// Marks that a message names.
const MARKS_NAMED: usize = 8;

/// The first marks of a stream, in words.
fn known_marks(stream: &Stream) -> String {
    let mut names: Vec<&str> = Vec::new();
    for mark in &stream.marks {
        if !names.contains(&mark.text.as_str()) {
            names.push(&mark.text);
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
    format!("it made {}: {}{more}", stream.marks.len(), names.join(", "))
}

impl Settings {
    /// The drive's configuration.
    ///
    /// # Errors
    /// When there is no such drive or size.
    pub fn config(&self) -> Result<DriveConfig, LabError> {
        let found = catalogue::open(&self.drive)?;
        match self.size {
            Some(bytes) => sized(&found.config, bytes),
            None => Ok(found.config),
        }
    }

    /// Refuses what is no fault before anything runs.
    pub(super) fn check_faults(&self) -> Result<(), LabError> {
        let mut faults = self.faults.iter();
        faults.try_for_each(|text| parse_fault(text, 0).map(drop))
    }

    pub(super) fn campaign(&self, stream: &Stream, jobs: usize) -> Result<Campaign, LabError> {
        let faults = self.faults.iter().map(|text| parse_fault(text, self.seed));
        let faults: Vec<Fault> = faults.collect::<Result<_, _>>()?;
        let mut campaign = Campaign::new(self.config()?)
            .faults(&faults)
            .cuts(match self.cuts {
                Some(count) => Cuts::Random {
                    count,
                    seed: self.seed,
                },
                None => Cuts::Exhaustive,
            })
            .checks_max(self.checks_max)
            .jobs(jobs);
        campaign = campaign.from(self.first_command(stream)?);
        Ok(campaign)
    }

    /// The command that cuts do not come before.
    pub(super) fn first_command(&self, stream: &Stream) -> Result<usize, LabError> {
        let Some(text) = &self.after_mark else {
            return Ok(0);
        };
        let mark = stream.marks.iter().find(|mark| &mark.text == text);
        mark.map(|mark| mark.after).ok_or_else(|| {
            LabError::refused(
                format!(
                    "the workload made no mark `{text}`; {}",
                    known_marks(stream)
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
