//! Campaigns: which drive, which cuts, how thoroughly.

use super::age::StartingAge;
use super::cuts::{Cuts, Occasion};
use super::stream::{CommandStream, RecordingDisk};
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{Fault, Power, PowerDrive};
use ssdlab_ssd::image::{Image, Writer};
use std::num::NonZeroUsize;
use twox_hash::XxHash3_64;

/// Default number of checks of the minimiser.
const CHECKS_MAX: usize = 500;

/// Which drive, which cuts, and how thoroughly failures are looked into.
#[derive(Clone, Debug)]
pub struct Campaign {
    pub(super) config: DriveConfig,
    pub(super) power: Power,
    pub(super) cuts: Cuts,
    pub(super) occasions: Vec<Occasion>,
    pub(super) age: StartingAge,
    pub(super) from: usize,
    pub(super) jobs: usize,
    pub(super) checks_max: usize,
}

impl Campaign {
    /// On a factory-fresh, honest drive, 200 random cuts of seed 1, on all cores.
    pub fn new(config: DriveConfig) -> Campaign {
        Campaign {
            config,
            power: Power::default(),
            cuts: Cuts::Random {
                count: 200,
                seed: 1,
            },
            occasions: Occasion::OF_DRIVE.to_vec(),
            age: StartingAge::New,
            from: 0,
            jobs: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            checks_max: CHECKS_MAX,
        }
    }

    /// With these instants.
    pub fn cuts(mut self, cuts: Cuts) -> Campaign {
        self.cuts = cuts;
        self
    }

    /// With random cuts on these occasions only; the first gets a double share.
    pub fn occasions(mut self, occasions: &[Occasion]) -> Campaign {
        self.occasions = occasions.to_vec();
        self
    }

    /// On a drive of another age.
    pub fn age(mut self, age: StartingAge) -> Campaign {
        self.age = age;
        self
    }

    /// Not before the command of this index: what comes before is preparation.
    pub fn from(mut self, command: usize) -> Campaign {
        self.from = command;
        self
    }

    /// Which instants were asked for.
    pub fn chosen(&self) -> Cuts {
        self.cuts
    }

    /// With these faults of the drive.
    pub fn faults(mut self, faults: &[Fault]) -> Campaign {
        self.power.faults = faults.to_vec();
        self
    }

    /// With this number of threads. Results are the same with any number.
    pub fn jobs(mut self, jobs: usize) -> Campaign {
        self.jobs = jobs.max(1);
        self
    }

    /// With a maximum number of checks for the smallest set of lost writes; 0: do not look for it.
    pub fn checks_max(mut self, checks: usize) -> Campaign {
        self.checks_max = checks;
        self
    }

    /// A device of the drive's size to record on.
    pub fn disk(&self) -> RecordingDisk {
        RecordingDisk::new(&self.config)
    }

    /// Runs `workload` on a device that records.
    ///
    /// # Errors
    /// As the workload.
    pub fn record<E>(
        &self,
        workload: impl FnOnce(&mut RecordingDisk) -> Result<(), E>,
    ) -> Result<CommandStream, E> {
        let mut disk = self.disk();
        workload(&mut disk)?;
        Ok(disk.into_stream())
    }

    pub(super) fn drive(&self, power: &Power) -> Result<PowerDrive, LabError> {
        self.age.drive(&self.config, power)
    }

    pub(super) fn digest(&self, stream: &CommandStream) -> u32 {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        // Writing to memory does not fail.
        let _ = self.config.save(&mut out).and_then(|()| out.flush());
        bytes.extend(format!("{:?}", self.power).bytes());
        bytes.extend(self.age.digest().to_le_bytes());
        bytes.extend(stream.digest().to_le_bytes());
        XxHash3_64::oneshot(&bytes) as u32
    }
}
