//! Does an application survive power cuts? One run is recorded, played on a modelled drive, cut at
//! many instants, recovered, and checked.
//!
//! ```text
//!  application --Disk--> Stream --Player--> drive --fork at each cut--> recovery --> verdict
//!                                                                          |
//!                             History: what each sector may read as -------+--- the check
//! ```
//! A failed check is the application's fault when the drive kept its promises, and the drive's
//! when it did not; both are looked at after every cut. See `docs/crashtest.md`; the example
//! `wal` tests a write-ahead log in some sixty lines.
//!
//! ```
//! use crate::crashtest::{BlockDevice, Campaign, Cuts, Disk};
//!
//! let campaign = Campaign::new(ssdlab_ssd::DriveConfig::tiny()).cuts(Cuts::Exhaustive);
//! let mut disk = campaign.disk();
//! disk.write(0, &[7; 512], false).unwrap();
//! disk.flush().unwrap();
//! disk.mark("seven");
//! let report = campaign.run(&disk.into_stream(), |drive| {
//!     let mut sector = [0; 512];
//!     drive.read(0, &mut sector).map_err(|error| error.to_string())?;
//!     match (drive.marks().len(), sector[0]) {
//!         (1, 7) | (0, 0 | 7) => Ok(()),
//!         (marks, found) => Err(format!("{marks} marks, found {found}")),
//!     }
//! });
//! report.unwrap().assert_passed();
//! ```

mod cuts;
mod history;
pub mod log_writes;
mod minimise;
mod player;
mod prepared;
mod report;
pub mod scripts;
mod stream;

pub use cuts::{Cuts, Token};
pub use history::{BROKEN_MAX, History, Look, Piece, Reached};
pub use player::{Aftermath, CutPoint, Player, Span};
pub use prepared::Prepared;
pub use report::{Breach, CutResult, LostWrite, Minimal, Report, Verdict, details, place};
pub use stream::{BlockDevice, Disk, Mark, Recorded, Stream};

use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{DataDrive, DataError, Fault, Power, PowerDrive};
use ssdlab_ssd::image::{Image, Writer};
use std::num::NonZeroUsize;
use twox_hash::XxHash3_64;

/// Checks of the minimiser unless told otherwise.
const CHECKS_MAX: usize = 500;

/// What a cut has left, for a check to look at, and to write to as a file system would.
#[derive(Debug)]
pub struct Recovered {
    drive: DataDrive,
    marks: Vec<String>,
    token: Token,
}

impl Recovered {
    /// Which cut it comes from.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// What the application took for acknowledged before the cut.
    pub fn marks(&self) -> &[String] {
        &self.marks
    }

    /// The last of them.
    pub fn last_mark(&self) -> Option<&str> {
        self.marks.last().map(String::as_str)
    }

    /// The drive.
    pub fn drive(&self) -> &DataDrive {
        &self.drive
    }

    /// The drive alone, and the marks.
    pub fn into_parts(self) -> (DataDrive, Vec<String>) {
        (self.drive, self.marks)
    }
}

impl BlockDevice for Recovered {
    fn capacity(&self) -> u64 {
        self.drive.capacity()
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), DataError> {
        self.drive.read(offset, bytes).map(drop)
    }

    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), DataError> {
        self.drive.write(offset, bytes, fua).map(drop)
    }

    fn flush(&mut self) -> Result<(), DataError> {
        self.drive.flush().map(drop)
    }

    fn trim(&mut self, offset: u64, len: u64) -> Result<(), DataError> {
        self.drive.trim(offset, len).map(drop)
    }

    fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<(), DataError> {
        self.drive.write_zeroes(offset, len, fua).map(drop)
    }
}

/// Which drive, which cuts, and how thoroughly failures are looked into.
#[derive(Clone, Debug)]
pub struct Campaign {
    config: DriveConfig,
    power: Power,
    cuts: Cuts,
    from: usize,
    jobs: usize,
    checks_max: usize,
}

/// A check of a recovered drive; an error or a panic fails it.
pub trait Check: Fn(&mut Recovered) -> Result<(), String> + Sync {}
impl<F: Fn(&mut Recovered) -> Result<(), String> + Sync> Check for F {}

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

    /// Not before the command of this index: what comes before is preparation.
    pub fn from(mut self, command: usize) -> Campaign {
        self.from = command;
        self
    }

    /// Which instants were asked for.
    pub fn chosen(&self) -> Cuts {
        self.cuts
    }

    /// With this wrong with the drive.
    pub fn faults(mut self, faults: &[Fault]) -> Campaign {
        self.power.faults = faults.to_vec();
        self
    }

    /// With so many threads. Results are the same with any number.
    pub fn jobs(mut self, jobs: usize) -> Campaign {
        self.jobs = jobs.max(1);
        self
    }

    /// With at most so many checks for the smallest set of lost writes; 0: do not look for it.
    pub fn checks_max(mut self, checks: usize) -> Campaign {
        self.checks_max = checks;
        self
    }

    /// A device of the drive's size to record on.
    pub fn disk(&self) -> Disk {
        Disk::new(&self.config)
    }

    /// Runs `workload` on a device that records.
    ///
    /// # Errors
    /// As the workload.
    pub fn record<E>(
        &self,
        workload: impl FnOnce(&mut Disk) -> Result<(), E>,
    ) -> Result<Stream, E> {
        let mut disk = self.disk();
        workload(&mut disk)?;
        Ok(disk.into_stream())
    }

    /// Plays, cuts, recovers and checks, at every instant chosen.
    ///
    /// # Errors
    /// When the drive is impossible.
    pub fn run(&self, stream: &Stream, check: impl Check) -> Result<Report, LabError> {
        let run = self.prepare(stream)?;
        let points = run.points(self.cuts);
        let results = run.judge_all(&points, &check, &|_| (), &|| false);
        Ok(run.report(results, &check))
    }

    /// Runs one cut again, as its token says.
    ///
    /// # Errors
    /// When the token is of another stream, drive or faults, or the drive is impossible.
    pub fn replay(
        &self,
        stream: &Stream,
        token: &Token,
        check: impl Check,
    ) -> Result<CutResult, LabError> {
        let run = self.prepare(stream)?;
        run.replay(token, &check)
    }

    /// Makes what all cuts of a stream share.
    ///
    /// # Errors
    /// When the drive is impossible.
    pub fn prepare<'a>(&'a self, stream: &'a Stream) -> Result<Prepared<'a>, LabError> {
        let base = self.drive(&self.power)?;
        let honest = self.drive(&Power::default())?;
        let history = History::new(stream, &base);
        Ok(Prepared {
            campaign: self,
            stream,
            base,
            honest,
            history,
            digest: self.digest(stream),
        })
    }

    fn drive(&self, power: &Power) -> Result<PowerDrive, LabError> {
        PowerDrive::new(self.config.clone(), power.clone())
            .map_err(|error| LabError::refused(error.to_string(), ""))
    }

    fn digest(&self, stream: &Stream) -> u32 {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        // Writing to memory does not fail.
        let _ = self.config.save(&mut out).and_then(|()| out.flush());
        bytes.extend(format!("{:?}", self.power).bytes());
        bytes.extend(stream.digest().to_le_bytes());
        XxHash3_64::oneshot(&bytes) as u32
    }
}
