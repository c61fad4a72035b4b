//! What a campaign of scripts was asked for.

use super::ScriptOptions;
use crate::crashtest::{Campaign, Cuts, Stream};
use crate::drive_dir::sized;
use crate::{LabError, catalogue};
use serde::{Deserialize, Serialize};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{FAULTS, Fault, FaultKind};
use std::time::Duration;

/// What a campaign was asked for; `campaign.json`.
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

/// The fault `NAME`, `NAME:PER_MILLE`, or `dies-after-cuts:CUTS`; always unless told otherwise.
///
/// # Errors
/// When there is no such fault, or the number is none.
pub fn parse_fault(text: &str, seed: u64) -> Result<Fault, LabError> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number)),
        None => (text, None),
    };
    let names = || FAULTS.map(|info| info.name).join(", ");
    let kind = FaultKind::named(name)
        .ok_or_else(|| LabError::refused(format!("no fault is called `{name}`"), names()))?;
    let number = number.map(str::parse::<u64>).transpose().ok();
    let refused = || {
        LabError::refused(
            format!("`{text}`: the number after the colon is per mille, 0 to 1000"),
            "write ignores-flush:300, or dies-after-cuts:5 for the number of cuts",
        )
    };
    let number = number.ok_or_else(refused)?;
    if let FaultKind::DiesAfterCuts(most) = kind {
        return Ok(Fault {
            kind: FaultKind::DiesAfterCuts(number.unwrap_or(most)),
            per_mille: 1000,
            seed,
        });
    }
    let per_mille = number.unwrap_or(1000);
    if per_mille > 1000 {
        return Err(refused());
    }
    Ok(Fault {
        kind,
        per_mille: per_mille as u32,
        seed,
    })
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
        if let Some(text) = &self.after_mark {
            let mark = stream.marks.iter().find(|mark| &mark.text == text);
            let mark = mark.ok_or_else(|| {
                LabError::refused(
                    format!("the workload made no mark `{text}`"),
                    format!("it made {} marks", stream.marks.len()),
                )
            })?;
            campaign = campaign.from(mark.after);
        }
        Ok(campaign)
    }

    pub(super) fn options(&self) -> ScriptOptions {
        ScriptOptions {
            file: self.file,
            timeout: Duration::from_secs(self.timeout_s),
        }
    }
}
