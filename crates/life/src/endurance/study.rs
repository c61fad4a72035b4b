//! A study: every drive under every work, and writes per dollar.

use super::money::PricePerformance;
use super::work::WearWorkload;
use super::{DriveEndurance, EnduranceOptions, played, worn_by};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::parallel::all;
use ssdlab_drives::catalogue::CatalogueDrive;
use std::sync::atomic::AtomicBool;

/// Drives and works.
#[derive(Clone, Debug)]
pub struct EnduranceStudy {
    /// The drives.
    pub drives: Vec<CatalogueDrive>,
    /// Works that wear each of them.
    pub works: Vec<WearWorkload>,
    /// How each is played.
    pub asked: EnduranceOptions,
    /// Also writes per dollar.
    pub money: bool,
    /// Price of each drive, US dollars; `None` = the catalogue's.
    pub price: Option<f64>,
    /// Threads.
    pub jobs: usize,
}

/// Results of a study.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StudyResults {
    /// A row for each drive and work.
    pub endurance: Vec<DriveEndurance>,
    /// Writes per dollar; empty unless asked for. Drives without a price are left out.
    pub money: Vec<PricePerformance>,
}

impl EnduranceStudy {
    /// Plays every drive under every work.
    ///
    /// # Errors
    /// When a drive cannot be modelled or does not settle, a self-check fails, or `stop` is set.
    pub fn run(&self, stop: &AtomicBool) -> Result<StudyResults, LabError> {
        let works = |drive| self.works.iter().map(move |work| (drive, work));
        let jobs: Vec<(&CatalogueDrive, &WearWorkload)> =
            self.drives.iter().flat_map(works).collect();
        let threads = self.jobs.clamp(1, 64);
        let endurance = all(&jobs, threads, |(drive, work)| {
            worn_by(drive, work, &self.asked, stop)
        })?;
        let money = if self.money {
            all(&self.drives, threads, |drive| {
                self.bought(drive, &endurance)
            })?
        } else {
            Vec::new()
        };
        Ok(StudyResults {
            endurance,
            money: money.into_iter().flatten().collect(),
        })
    }

    fn bought(
        &self,
        drive: &CatalogueDrive,
        rows: &[DriveEndurance],
    ) -> Result<Option<PricePerformance>, LabError> {
        let op = drive.config.nominal_op();
        let is_own = |row: &&DriveEndurance| row.name == drive.file.name && row.op == op;
        let own: Vec<&DriveEndurance> = rows.iter().filter(is_own).collect();
        let played = played(drive, self.asked.capacity)?;
        PricePerformance::of(drive, &played.config, self.price, &own, self.asked.seed)
    }
}
