//! The life: 270 TB of incompressible data.

use crate::LabError;
use crate::catalogue;
use crate::life::live::Ageing;
use crate::life::{Manner, Plan, Until};
use crate::report::units::decimal_bytes;
use crate::saved::About;
use ssdlab_ssd::{Drive, DriveConfig};
use std::sync::atomic::AtomicBool;

/// The article's drive.
pub const DRIVE: &str = "patriot-wildfire-120gb";
/// What the article wrote, bytes.
pub const WRITTEN: u64 = 270_000_000_000_000;
/// "The better part of a month" of constant writes: 27 days.
const PER_DAY: u64 = 10_000_000_000_000;

/// A life that was played.
#[derive(Clone, Debug)]
pub struct Aged {
    /// Bytes written by the host.
    pub host_bytes: u64,
    /// NAND bytes programmed / host bytes written.
    pub waf: f64,
    /// Mean cycles of the blocks in use.
    pub cycles_average: f64,
    /// Cycles of the least and of the most worn block.
    pub cycles_range: (u32, u32),
    /// Blocks retired.
    pub blocks_retired: u64,
    /// What was run, in words.
    pub how: String,
    /// Rated cycles.
    pub cycles_rated: u32,
    /// The drive's self-check after its life.
    pub contradiction: Option<String>,
    /// What its wear rests on.
    pub rests_on: Vec<String>,
}

impl Aged {
    /// Per cent of the rated cycles left on average.
    pub fn life_left_pct(&self) -> f64 {
        100.0 * (1.0 - self.cycles_average / f64::from(self.cycles_rated))
    }

    fn of(drive: &Drive, how: String, rests_on: Vec<String>) -> Result<Aged, LabError> {
        let wear = drive.reliability().ok_or_else(|| {
            LabError::refused("the aged drive's media does not wear", "see `ssdlab age`")
        })?;
        let counters = drive.counters();
        let slot = drive.config().geometry().slot_bytes;
        let cycles: Vec<u32> = wear.cycles_in_use().collect();
        let sum: u64 = cycles.iter().map(|&c| u64::from(c)).sum();
        let least = cycles.iter().copied().min().unwrap_or(0);
        let most = cycles.iter().copied().max().unwrap_or(0);
        Ok(Aged {
            host_bytes: counters.host_bytes_written,
            waf: (counters.slots_programmed() * u64::from(slot)) as f64
                / (counters.host_bytes_written as f64).max(1.0),
            cycles_average: sum as f64 / cycles.len().max(1) as f64,
            cycles_range: (least, most),
            blocks_retired: wear.counters().blocks_retired,
            how,
            cycles_rated: wear.config().cycles_rated,
            contradiction: drive.check().err(),
            rests_on,
        })
    }
}

/// The life's plan: 1 MiB after 1 MiB in order, round and round. The article does not say how the
/// data was written; this is the least that it can cost.
///
/// # Errors
/// When the drive is not in the catalogue.
pub fn plan(seed: u64, until: Until) -> Result<Plan, LabError> {
    let manner = Manner {
        name: String::new(),
        title: String::new(),
        settings: Vec::new(),
        rests_on: Vec::new(),
        pattern: "sequential".into(),
        block: 1 << 20,
        read_pct: 0,
        trim_pct: 0,
        seed,
        per_day: PER_DAY,
        temperature_c: 40.0,
        fast: false,
    };
    Plan::new(&catalogue::drive(DRIVE)?, manner, until)
}

/// The configuration that is measured: the life's, with the controller's compression, which the
/// life's incompressible data did not need.
///
/// # Errors
/// When the drive is not in the catalogue.
pub fn measured(plan: &Plan) -> Result<DriveConfig, LabError> {
    let mut config = plan.config.clone();
    config.ftl.compression_pack = catalogue::drive(DRIVE)?.config.ftl.compression_pack;
    Ok(config)
}

/// Lives `plan`, every page write played.
///
/// # Errors
/// When the plan is impossible, or `stop` is set.
pub fn age(plan: &Plan, stop: &AtomicBool) -> Result<(Drive, Aged), LabError> {
    let lived = Ageing::begin(plan)?.live(None, &mut |_| {}, stop)?;
    if lived.life.stopped {
        return Err(LabError::refused("stopped", ""));
    }
    let drive = lived.drive.into_timed();
    let drive = drive.map_err(|error| LabError::refused(error.to_string(), ""))?;
    let written = decimal_bytes(drive.counters().host_bytes_written as f64);
    let how = format!("{written} in order, 1 MiB each, incompressible, every page write played");
    let aged = Aged::of(&drive, how, plan.manner.rests_on.clone())?;
    Ok((drive, aged))
}

/// A drive that `ssdlab age` saved takes the life's place.
///
/// # Errors
/// When it is another drive, wears otherwise, or was not written so much.
pub fn saved(plan: &Plan, drive: &Drive, about: &About) -> Result<Aged, LabError> {
    let (config, wanted) = (drive.config(), &plan.config);
    let hint = "make it with `ssdlab age patriot-wildfire-120gb --until 270TB --save FILE`, and \
                give reproduce the same --seed";
    if about.name != DRIVE || config.shape != wanted.shape || config.wear != wanted.wear {
        let what = format!("the aged drive is no {DRIVE}, or was made with another seed");
        return Err(LabError::refused(what, hint));
    }
    let how = format!("{}; saved, and read here", about.history.join("; "));
    let aged = Aged::of(drive, how, about.rests_on.clone())?;
    let Until::Bytes(bytes) = plan.until else {
        return Err(LabError::refused("the life has no length in bytes", ""));
    };
    if aged.host_bytes < bytes || aged.host_bytes > bytes + bytes / 100 {
        let written = decimal_bytes(aged.host_bytes as f64);
        let wanted = decimal_bytes(bytes as f64);
        return Err(LabError::refused(
            format!("the aged drive was written {written}, not {wanted}"),
            hint,
        ));
    }
    Ok(aged)
}
