//! The directory of a campaign.

use super::control::{self, ControlRecord};
use super::document::CutRecord;
use super::files::{file_error, write_whole};
use super::names::NAMES;
use super::record;
use super::results::ScriptReport;
use super::settings::CampaignSettings;
use ssdlab_base::LabError;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What the check was tried on before any cut.
const CONTROL_FILE: &str = "control.json";
/// The stream to the workload's very end, an unmount included; gone when the check was tried on it.
pub(super) const WHOLE_FILE: &str = "whole.log";
/// Files of a workload that never came to its end, or whose check tests nothing.
const UNFINISHED: [&str; 16] = [
    "checks",
    "workload.txt",
    control::UNCUT_OUTPUT,
    control::EMPTY_OUTPUT,
    "stream.log",
    "stream.part",
    "campaign.part",
    "campaign.json",
    "results.jsonl",
    WHOLE_FILE,
    NAMES,
    "names.part",
    record::TRACE_PART,
    "calls.jsonl",
    "calls.data",
    "calls.part",
];

/// Makes the directory of a new campaign, or takes one whose workload never came to its end: it
/// has nothing that anybody could want.
fn begin(out: &Path) -> Result<(), LabError> {
    let names = std::fs::read_dir(out).into_iter().flatten().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    // The folder of checks goes only when it is empty.
    let is_free = !out.join(CONTROL_FILE).exists()
        && names
            .iter()
            .all(|name| UNFINISHED.iter().any(|own| name == own))
        && (!out.join("checks").exists() || std::fs::remove_dir(out.join("checks")).is_ok());
    if !is_free {
        return Err(LabError::refused(
            format!("{} already has something in it", out.display()),
            "--resume goes on with it; choose another --out for a new campaign",
        ));
    }
    for name in &UNFINISHED[1..] {
        let _ = std::fs::remove_file(out.join(name));
    }
    std::fs::create_dir_all(out.join("checks")).map_err(file_error("creating", out))
}

const RESULTS: &str = "results.jsonl";

/// A directory with settings, results and a summary of a campaign in it.
#[derive(Clone, Debug)]
pub struct CampaignFolder {
    path: PathBuf,
}

impl CampaignFolder {
    /// A new campaign's, which must be new, empty, or of a workload that failed.
    ///
    /// # Errors
    /// When it is in use.
    pub fn begin(path: &Path) -> Result<CampaignFolder, LabError> {
        begin(path)?;
        Ok(CampaignFolder::at(path))
    }

    /// The one at a path, which is not looked at.
    pub fn at(path: &Path) -> CampaignFolder {
        CampaignFolder {
            path: path.to_owned(),
        }
    }

    /// One that is there, and its settings.
    ///
    /// # Errors
    /// When the file is missing or unreadable.
    pub fn open(path: &Path) -> Result<(CampaignFolder, CampaignSettings), LabError> {
        let file = path.join("campaign.json");
        let text = std::fs::read_to_string(&file).map_err(|source| LabError::File {
            action: "reading",
            path: file.clone(),
            source,
            hint: if path.join("workload.txt").exists() {
                "its workload did not come to its end; the command that began it does it again"
            } else {
                "without a campaign in it, run one with --workload and --check first"
            }
            .into(),
        })?;
        let settings = serde_json::from_str(&text)
            .map_err(|error| LabError::refused(format!("{}: {error}", file.display()), ""))?;
        Ok((CampaignFolder::at(path), settings))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the settings: a directory that has them can be resumed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_settings(&self, settings: &CampaignSettings) -> Result<(), LabError> {
        write_whole(&self.path.join("campaign.json"), |file| {
            serde_json::to_writer_pretty(&mut *file, settings)?;
            writeln!(file)
        })
    }

    /// Keeps what the check was tried on.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_control(&self, record: &ControlRecord) -> Result<(), LabError> {
        write_whole(&self.path.join(CONTROL_FILE), |file| {
            serde_json::to_writer_pretty(&mut *file, record)?;
            writeln!(file)
        })
    }

    /// What the check was tried on; `None` for a campaign that was recorded before there were
    /// control runs.
    ///
    /// # Errors
    /// When the file is no such record.
    pub fn control(&self) -> Result<Option<ControlRecord>, LabError> {
        let path = self.path.join(CONTROL_FILE);
        let Ok(text) = std::fs::read_to_string(&path) else {
            return Ok(None);
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| LabError::refused(format!("{}: {error}", path.display()), ""))
    }

    /// The file of results, to append to.
    fn results_file(&self) -> Result<File, LabError> {
        let path = self.path.join(RESULTS);
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&path);
        file.map_err(file_error("opening", &path))
    }

    /// The lines that are there, by token: a last line that was cut short is cut off.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn results(&self) -> Result<BTreeMap<String, CutRecord>, LabError> {
        let path = self.path.join(RESULTS);
        let file = self.results_file()?;
        let text = std::fs::read(&path).map_err(file_error("reading", &path))?;
        let whole = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        if whole < text.len() {
            file.set_len(whole as u64)
                .map_err(file_error("writing", &path))?;
        }
        let mut records = BTreeMap::new();
        for line in text[..whole].split(|&byte| byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            let line: CutRecord = serde_json::from_slice(line)
                .map_err(|error| LabError::refused(format!("{}: {error}", path.display()), ""))?;
            records.insert(line.token.clone(), line);
        }
        Ok(records)
    }

    /// Appends a line to the results.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&self, line: &CutRecord) -> Result<(), LabError> {
        let mut text = serde_json::to_string(line)
            .map_err(|error| LabError::refused(error.to_string(), ""))?;
        text.push('\n');
        self.results_file()?
            .write_all(text.as_bytes())
            .map_err(file_error("writing", &self.path.join(RESULTS)))
    }

    /// Keeps the result as people read it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep_summary(&self, report: &ScriptReport) -> Result<(), LabError> {
        write_whole(&self.path.join("summary.txt"), |file| {
            file.write_all(report.render().as_bytes())
        })
    }
}
