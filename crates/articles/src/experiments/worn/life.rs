//! The life: 270 TB of incompressible data.

use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::cycles::Cycles;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_life::age::live::Ageing;
use ssdlab_life::age::{AgeingPlan, LifeEnd};
use ssdlab_ssd::{Bytes, Drive, DriveConfig, Nanos};
use ssdlab_view::units::decimal_bytes;
use std::sync::atomic::AtomicBool;

/// The article's drive.
pub(super) const DRIVE: &str = "patriot-wildfire-120gb";
/// What the article wrote, bytes.
pub(super) const WRITTEN: u64 = 270_000_000_000_000;
/// "The better part of a month" of constant writes: 27 days.
const PER_DAY: u64 = 10_000_000_000_000;

/// A life that was played.
#[derive(Clone, Debug)]
pub(super) struct WornLife {
    /// Bytes written by the host.
    pub host_bytes: u64,
    /// NAND bytes programmed / host bytes written.
    pub waf: f64,
    /// Cycles of the blocks in use.
    pub cycles: Cycles,
    /// Blocks retired.
    pub blocks_retired: u64,
    /// Description of the run.
    pub how: String,
    /// Rated cycles.
    pub cycles_rated: u32,
    /// The drive's self-check after its life.
    pub contradiction: Option<String>,
    /// What its wear rests on.
    pub rests_on: Vec<RestsOn>,
}

impl WornLife {
    /// Per cent of the rated cycles left on average.
    pub fn life_left_pct(&self) -> f64 {
        self.cycles.left_pct(self.cycles_rated)
    }

    fn of(drive: &Drive, how: String, rests_on: Vec<RestsOn>) -> Result<WornLife, LabError> {
        let wear = drive.reliability().ok_or_else(|| {
            LabError::refused("the aged drive's media does not wear", "see `ssdlab age`")
        })?;
        let counters = drive.counters();
        let slot = drive.config().geometry().slot_bytes;
        Ok(WornLife {
            host_bytes: counters.host_bytes_written,
            waf: (counters.slots_programmed() * u64::from(slot)) as f64
                / (counters.host_bytes_written as f64).max(1.0),
            cycles: Cycles::of(wear),
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
pub(super) fn plan(seed: u64, until: LifeEnd) -> Result<AgeingPlan, LabError> {
    let manner = LifeConditions {
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
    AgeingPlan::new(&catalogue::drive(DRIVE)?, manner, until)
}

/// Controller time of a read: bit-tech measured the new drive at 189 MB/s of 4 KiB reads, 64
/// outstanding (AS SSD, incompressible), which is one each 21.7 us. The catalogue's file has the
/// 11 us that the sheet's 85,000 writes a second give for both. It is not a host of 2011 that is
/// too slow: on another of that year the drive reached the 85,000 writes (OCC).
const READ_OVERHEAD: Nanos = Nanos(21_700);

/// Time of a program, fitted to two figures of the new drive at once, so that the larger of their
/// errors is least: 253 MB/s of `worn.cdm` and the 520 MB/s of compressible writes of `worn.seq`,
/// for which the buffer waits for programs, too. 1680 us, as in the catalogue's file, give 279 and
/// 509 MB/s (they were fitted to the 253 of an earlier model), 1850 us 257 and 465.
const PROGRAM: Nanos = Nanos(1_760_000);

/// The configuration that is measured: the life's, with the controller's compression, which the
/// life's incompressible data did not need, its time for reads, and the array's for programs.
///
/// # Errors
/// When the drive is not in the catalogue.
pub(super) fn measured(plan: &AgeingPlan) -> Result<DriveConfig, LabError> {
    let mut config = plan.config.clone();
    config.ftl.compression_pack = catalogue::drive(DRIVE)?.config.ftl.compression_pack;
    config.host.write_overhead = config.host.command_overhead;
    config.host.command_overhead = READ_OVERHEAD;
    config.nand.timing.program.fill(PROGRAM);
    Ok(config)
}

/// Plays `plan`, every page write of it.
///
/// # Errors
/// When the plan is impossible, or `stop` is set.
pub(super) fn age(plan: &AgeingPlan, stop: &AtomicBool) -> Result<(Drive, WornLife), LabError> {
    let lived = Ageing::begin(plan)?.live(None, &mut |_| {}, stop)?;
    if lived.life.stopped {
        return Err(LabError::refused("stopped", ""));
    }
    let drive = lived.drive.into_timed();
    let drive = drive.map_err(|error| LabError::refused(error.to_string(), ""))?;
    let written = decimal_bytes(drive.counters().host_bytes_written as f64);
    let how = format!("{written} in order, 1 MiB each, incompressible, every page write played");
    let aged = WornLife::of(&drive, how, plan.manner.rests_on.clone())?;
    Ok((drive, aged))
}

/// The command that makes the drive of a plan.
fn hint(plan: &AgeingPlan) -> String {
    let m = &plan.manner;
    format!(
        "make it with `ssdlab age {DRIVE} --workload {} --block {}MiB --until 270TB --per-day \
         10TB --temperature {:.0} --seed {} --save FILE`, and give reproduce the same --seed",
        m.pattern,
        m.block >> 20,
        m.temperature_c,
        m.seed
    )
}

/// The difference of a kept drive's life from the plan's, if there is one. Nothing that was
/// extrapolated stands for a life of which every page write is played; weeks at another rate or
/// temperature bring other patrols.
fn differs(plan: &AgeingPlan, about: &SavedDriveInfo) -> Option<String> {
    let planned = &plan.manner;
    let Some(lived) = &about.lived else {
        return Some("does not say how it was written, or was used since".into());
    };
    if lived.fast {
        return Some("was aged with --fast: not every page write was played".into());
    }
    let options = |m: &LifeConditions| {
        [
            ("--workload", m.pattern.clone()),
            ("--block", Bytes(m.block.into()).to_string()),
            ("--read", m.read_pct.to_string()),
            ("--trim", m.trim_pct.to_string()),
            ("--per-day", decimal_bytes(m.per_day as f64)),
            ("--temperature", m.temperature_c.to_string()),
            ("--seed", m.seed.to_string()),
        ]
    };
    let option_pairs = options(lived).into_iter().zip(options(planned));
    let mut unlike = option_pairs.filter(|(lived, planned)| lived.1 != planned.1);
    unlike.next().map(|((option, actual), (_, planned))| {
        format!("was aged with {option} {actual}, not {planned}")
    })
}

/// A drive that `ssdlab age` saved takes the life's place.
///
/// # Errors
/// When it is another drive, wears otherwise, or was written another amount or in another manner
/// (see [`differs`]).
pub(super) fn saved(
    plan: &AgeingPlan,
    drive: &Drive,
    about: &SavedDriveInfo,
) -> Result<WornLife, LabError> {
    let (config, planned) = (drive.config(), &plan.config);
    let hint = &hint(plan);
    if about.name != DRIVE || config.shape != planned.shape || config.wear != planned.wear {
        let message = format!("the aged drive is no {DRIVE}, or was made with another seed");
        return Err(LabError::refused(message, hint));
    }
    if let Some(what) = differs(plan, about) {
        return Err(LabError::refused(format!("the aged drive {what}"), hint));
    }
    let how = format!("{}; saved, and read here", about.history.join("; "));
    let aged = WornLife::of(drive, how, about.rests_on.clone())?;
    let LifeEnd::Bytes(bytes) = plan.until else {
        return Err(LabError::refused("the life has no length in bytes", ""));
    };
    if aged.host_bytes < bytes || aged.host_bytes > bytes + bytes / 100 {
        let written = decimal_bytes(aged.host_bytes as f64);
        let planned = decimal_bytes(bytes as f64);
        return Err(LabError::refused(
            format!("the aged drive was written {written}, not {planned}"),
            hint,
        ));
    }
    Ok(aged)
}
