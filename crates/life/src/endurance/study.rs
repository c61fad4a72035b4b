//! A study: every drive under every work, and writes per dollar.

use super::money::Money;
use super::work::Work;
use super::{Asked, Endurance, played, worn_by};
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::parallel::all;
use ssdlab_drives::catalogue::CatalogueDrive;
use std::sync::atomic::AtomicBool;

/// Drives and works.
#[derive(Clone, Debug)]
pub struct Study {
    /// The drives.
    pub drives: Vec<CatalogueDrive>,
    /// Works that wear each of them.
    pub works: Vec<Work>,
    /// How each is played.
    pub asked: Asked,
    /// Also writes per dollar.
    pub money: bool,
    /// Price of each drive, US dollars; `None` = the catalogue's.
    pub price: Option<f64>,
    /// Threads.
    pub jobs: usize,
}

/// Results of a study.
#[derive(Clone, Debug, Serialize)]
pub struct Studied {
    /// A row for each drive and work.
    pub endurance: Vec<Endurance>,
    /// Writes per dollar; empty unless asked for. Drives without a price are left out.
    pub money: Vec<Money>,
}

impl Study {
    /// Plays every drive under every work.
    ///
    /// # Errors
    /// When a drive cannot be modelled or does not settle, a self-check fails, or `stop` is set.
    pub fn run(&self, stop: &AtomicBool) -> Result<Studied, LabError> {
        let works = |drive| self.works.iter().map(move |work| (drive, work));
        let jobs: Vec<(&CatalogueDrive, &Work)> = self.drives.iter().flat_map(works).collect();
        let threads = self.jobs.clamp(1, 64);
        let endurance = all(&jobs, threads, |(drive, work)| {
            worn_by(drive, work, &self.asked, stop)
        })?;
        let money = match self.money {
            true => all(&self.drives, threads, |drive| {
                self.bought(drive, &endurance)
            })?,
            false => Vec::new(),
        };
        Ok(Studied {
            endurance,
            money: money.into_iter().flatten().collect(),
        })
    }

    fn bought(
        &self,
        drive: &CatalogueDrive,
        rows: &[Endurance],
    ) -> Result<Option<Money>, LabError> {
        let op = drive.config.nominal_op();
        let is_own = |row: &&Endurance| row.name == drive.file.name && row.op == op;
        let own: Vec<&Endurance> = rows.iter().filter(is_own).collect();
        let played = played(drive, self.asked.capacity)?;
        Money::of(drive, &played.config, self.price, &own, self.asked.seed)
    }
}
