//! A fio job with `verify=` under power cuts: its writes are recorded once, cut at many instants,
//! and each recovered drive is judged by fio's two rules and by the contract, side by side.
//!
//! ```text
//! OUT/cut-0007-fsynced/disk                      what the drive read as after the cut
//! OUT/cut-0007-fsynced/local-j-0-verify.state    how far the job had come, as fio keeps it
//! OUT/cut-0007-fsynced/verify.fio                `fio verify.fio`, run there, gives fio's verdict
//! ```

mod report;

pub use report::{FioCampaignReport, FioCutRecord};

use crate::crashtest::scripts::CampaignSettings;
use crate::crashtest::{
    Campaign, ChosenCut, CommandStream, CutResult, RecordingDisk, RecoveredDrive, SectorDevice,
    place,
};
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_verify::{
    VerifiedJob, VerifyFindings, VerifyPolicy, VerifyState, VerifyTarget, WriteProgress, WriteTime,
    write_state,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A job, the drive and its cuts.
#[derive(Clone, Debug)]
pub struct FioCampaign {
    /// The job.
    pub job: VerifiedJob,
    /// Drive, faults and cuts; the parts about scripts are of no effect.
    pub settings: CampaignSettings,
    /// Where disks are kept for fio.
    pub out: Option<PathBuf>,
    /// Number of cuts of each age of the drive whose disks are kept.
    pub kept_count: usize,
}

/// The recording device, with a mark after each command: its check has to know how far the job was.
struct MarkingDisk(RecordingDisk);

/// Marks of a completed write and of a completed sync.
const WRITTEN: &str = "written";
const SYNCED: &str = "synced";

impl VerifyTarget for MarkingDisk {
    fn write(&mut self, offset: u64, bytes: &[u8], is_durable: bool) -> Result<(), LabError> {
        let written = self.0.write(offset, bytes, is_durable);
        written.map_err(|error| LabError::refused(error.to_string(), ""))?;
        self.0.mark(WRITTEN);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), LabError> {
        let synced = self.0.flush();
        synced.map_err(|error| LabError::refused(error.to_string(), ""))?;
        self.0.mark(SYNCED);
        Ok(())
    }
}

/// How far a job had come by its marks. The write after the last completed one may have begun.
fn progress_by_marks(job: &VerifiedJob, marks: &[String], is_protected: bool) -> WriteProgress {
    let (mut completed, mut synced) = (0, 0);
    for mark in marks {
        if mark == SYNCED {
            synced = completed;
        } else {
            completed += 1;
        }
    }
    let issued = (completed + 1).min(job.count());
    let mut progress = WriteProgress::of_one_at_a_time(job, issued, completed);
    progress.synced = if job.has_durable_writes {
        completed
    } else {
        synced
    };
    progress.durable = progress.synced;
    if is_protected {
        progress = progress.with_protected_buffer();
    }
    progress
}

/// What the checks of one age of the drive leave behind.
struct CutJudge<'a> {
    campaign: &'a FioCampaign,
    is_protected: bool,
    kept: BTreeMap<String, usize>,
    findings: Mutex<BTreeMap<String, VerifyFindings>>,
    failure: Mutex<Option<LabError>>,
}

impl CutJudge<'_> {
    fn judge(&self, drive: &mut RecoveredDrive) -> Result<(), String> {
        let job = &self.campaign.job;
        let token = drive.token().to_string();
        let progress = progress_by_marks(job, drive.marks(), self.is_protected);
        let read = |offset: u64, bytes: &mut [u8]| {
            let read = drive.read(offset, bytes);
            read.map_err(|error| LabError::refused(error.to_string(), ""))
        };
        let found = VerifyFindings::of(job, &progress, read).map_err(|error| error.to_string())?;
        let broken = found.contract.broken.first().copied();
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        findings.insert(token.clone(), found);
        drop(findings);
        if let Some(index) = self.kept.get(&token)
            && let Err(error) = self.keep(*index, drive, &progress)
        {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
        }
        broken.map_or(Ok(()), |block| Err(block.to_string()))
    }

    /// Keeps a disk for fio, once by each rule.
    fn keep(
        &self,
        index: usize,
        drive: &mut RecoveredDrive,
        progress: &WriteProgress,
    ) -> Result<(), LabError> {
        let Some(out) = &self.campaign.out else {
            return Ok(());
        };
        let mut disk = vec![0; self.campaign.job.end() as usize];
        for (part, bytes) in (0u64..).zip(disk.chunks_mut(PIECE)) {
            let read = drive.read(part * PIECE as u64, bytes);
            read.map_err(|error| LabError::refused(error.to_string(), ""))?;
        }
        for (name, policy) in VerifyPolicy::ALL {
            let folder = out.join(format!("cut-{index:04}-{name}"));
            let job = VerifiedJob {
                policy,
                ..self.campaign.job.clone()
            };
            let failed = |error| LabError::file("writing", &folder, error);
            std::fs::create_dir_all(&folder).map_err(failed)?;
            std::fs::write(folder.join("disk"), &disk).map_err(failed)?;
            std::fs::write(folder.join("verify.fio"), job.to_verify_only("disk"))
                .map_err(failed)?;
            write_state(&folder, &job, &VerifyState::of(&job, progress))?;
        }
        Ok(())
    }
}

/// Bytes of a disk read at once.
const PIECE: usize = 64 << 10;

impl FioCampaign {
    /// Records the job, cuts and judges, on `jobs` threads; `progress` gets the number of cuts
    /// that are done and of all. No further cut is begun once `stop` says so.
    ///
    /// # Errors
    /// When the drive is impossible or too small, or a disk cannot be kept.
    pub fn run(
        &self,
        jobs: usize,
        stop: &(impl Fn() -> bool + Sync),
        progress: &(impl Fn(usize, usize) + Sync),
    ) -> Result<FioCampaignReport, LabError> {
        let config = self.settings.config()?;
        let stream = self.record(&config)?;
        let campaigns = self.settings.campaigns(&stream, jobs)?;
        let mut report = FioCampaignReport::new(&self.job, &self.settings);
        let mut done_before = 0;
        for (age, campaign) in &campaigns {
            let records = self.cut(campaign, &stream, done_before, stop, &|done| {
                progress(done, self.settings.cuts.unwrap_or(done));
            })?;
            done_before += records.len();
            report
                .cuts
                .extend(records.into_iter().map(|record| FioCutRecord {
                    age: (*age).to_owned(),
                    ..record
                }));
        }
        report.count_rules();
        Ok(report)
    }

    fn record(&self, config: &DriveConfig) -> Result<CommandStream, LabError> {
        if self.job.end() > config.user_bytes {
            return Err(LabError::refused(
                format!(
                    "the job writes up to byte {} and the drive has {}",
                    self.job.end(),
                    config.user_bytes
                ),
                "give a larger drive (--size), or a smaller size= or offset=",
            ));
        }
        let mut disk = MarkingDisk(RecordingDisk::new(config));
        let end = ssdlab_verify::run(&self.job, &mut disk, &mut |_| Some(WriteTime::default()));
        match end.error {
            Some(error) => Err(error),
            None => Ok(disk.0.into_stream()),
        }
    }

    /// Cuts one age of the drive.
    fn cut(
        &self,
        campaign: &Campaign,
        stream: &CommandStream,
        done_before: usize,
        stop: &(impl Fn() -> bool + Sync),
        progress: &(impl Fn(usize) + Sync),
    ) -> Result<Vec<FioCutRecord>, LabError> {
        let prepared = campaign.prepare(stream)?;
        let points = prepared.points(campaign.chosen());
        let token = |cut: &ChosenCut| prepared.token(cut.point).to_string();
        let kept = evenly(points.len(), self.kept_count);
        let judge = CutJudge {
            campaign: self,
            is_protected: self.settings.config()?.buffer.completes_durably(),
            kept: (done_before + 1..)
                .zip(&points)
                .filter(|(index, _)| kept.contains(&(index - done_before - 1)))
                .map(|(index, cut)| (token(cut), index))
                .collect(),
            findings: Mutex::default(),
            failure: Mutex::default(),
        };
        let done = Mutex::new(done_before);
        let each = |_: &CutResult| {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done += 1;
            progress(*done);
        };
        let check = |drive: &mut RecoveredDrive| judge.judge(drive);
        let results = prepared.judge_all(&points, &check, &each, stop);
        if let Some(error) = into_inner(judge.failure) {
            return Err(error);
        }
        let findings = into_inner(judge.findings);
        let record = |(index, cut): (usize, CutResult)| {
            let found = findings.get(&cut.token.to_string());
            FioCutRecord::of(index, &cut, place(stream, cut.point), found)
        };
        Ok((done_before + 1..).zip(results).map(record).collect())
    }
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// `kept` of `count` indices, from the first on, evenly spaced.
fn evenly(count: usize, kept: usize) -> BTreeSet<usize> {
    let kept = kept.min(count);
    (0..kept).map(|index| index * count / kept).collect()
}

/// Makes the folder for disks, which must be new or empty.
///
/// # Errors
/// When it cannot be made, or holds something.
pub fn make_folder(out: &Path) -> Result<(), LabError> {
    let failed = |error| LabError::file("creating", out, error);
    std::fs::create_dir_all(out).map_err(failed)?;
    if std::fs::read_dir(out).map_err(failed)?.next().is_some() {
        return Err(LabError::refused(
            format!("{} already has something in it", out.display()),
            "choose another --out",
        ));
    }
    Ok(())
}
