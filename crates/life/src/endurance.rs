//! Life of a drive's cells in host bytes: cycles over the write amplification that the
//! modelled drive has under JESD219's streams or your own work, against its maker's rating.
//!
//! TBW by JESD218 is the most host data after which everything that the standard asks still holds.
//! Here the cycles end with the first of: the rating of the cells; the cycles at which data kept as
//! the class asks is beyond the last try of a read (UBER); the cycles at which as many blocks have
//! failed as are in reserve (capacity). Failures of other parts (FFR) are not modelled.

mod jesd219;
pub mod money;
pub mod study;
pub mod work;

pub use jesd219::{Jesd219, SIZES, ZONES};

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::{SelfCheck, failures};
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_base::stop::go_on;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::media::{ApplicationClass, Rating};
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{Command, CountingDrive, DriveConfig, Op};
use std::sync::atomic::AtomicBool;
use work::WearWorkload;

/// Years that drive writes per day are counted over when a drive's papers name none.
const YEARS_USUAL: f64 = 5.0;

/// A drive's endurance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriveEndurance {
    /// Name.
    pub name: String,
    /// Work that wears it.
    pub work: String,
    /// Scale of the drive that was played.
    pub scaled: String,
    /// Nominal over-provisioning, (raw - user) / user.
    pub op: f64,
    /// WAF under the work, in the last drive write.
    pub waf: f64,
    /// It ran away (see [`SteadyWaf`]): the true WAF is higher, and every life shorter than given.
    pub ran_away: bool,
    /// Self-checks, all of which passed.
    pub checks: Vec<SelfCheck>,
    /// Class that JESD218's limits are taken of.
    pub class: ApplicationClass,
    /// Rated cycles.
    pub cycles_rated: u32,
    /// Cycles after which data kept as JESD218 asks is beyond the last try of a read.
    pub cycles_to_uber: f64,
    /// Cycles after which as many blocks have failed as are in reserve.
    pub cycles_to_reserve: f64,
    /// Host bytes until the mean block has its rated cycles.
    pub bytes: f64,
    /// The same until the first of the three, by JESD218.
    pub tbw: f64,
    /// Which of the three.
    pub limited_by: &'static str,
    /// What the papers rate it for, bytes.
    pub rated_bytes: Option<f64>,
    /// `tbw` as drive writes per day of the warranty.
    pub dwpd: f64,
    /// UBER at the rated cycles, kept as JESD218 asks.
    pub uber: f64,
    /// Its limit.
    pub uber_max: f64,
    /// Cycles of the mean block when the host has written what the papers rate it for.
    pub cycles_at_rated_bytes: Option<f64>,
    /// UBER then, kept as JESD218 asks.
    pub uber_at_rated_bytes: Option<f64>,
    /// What this rests on.
    pub rests_on: Vec<RestsOn>,
}

impl DriveEndurance {
    /// Whether UBER is within JESD218's limit when the host has written what the papers rate the
    /// drive for; `None`: there is no such rating.
    pub fn is_within(&self) -> Option<bool> {
        let uber = self.uber_at_rated_bytes?;
        // The limit itself is met where the law is scaled to meet it.
        Some(uber <= self.uber_max * (1.0 + 1e-6))
    }
}

/// Default capacity of the drive that is played, bytes.
pub const CAPACITY_USUAL: u64 = 8 << 30;
/// Drive writes before the one that is measured, then.
pub const WARM_USUAL: u32 = 2;

/// How a drive is played.
#[derive(Clone, Debug)]
pub struct EnduranceOptions {
    /// Play a drive of about this capacity, bytes, with the effective over-provisioning of
    /// the whole; `None`: the whole drive.
    pub capacity: Option<u64>,
    /// Drive writes before the one that is measured.
    pub warm: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Writes the drive once in order, then `warm + 1` times by the work; the last time is measured.
///
/// # Errors
/// When the drive is too large for memory, or too small for the work, or `stop` is set.
pub fn worn_by(
    drive: &CatalogueDrive,
    work: &WearWorkload,
    options: &EnduranceOptions,
    stop: &AtomicBool,
) -> Result<DriveEndurance, LabError> {
    let played = played(drive, options.capacity)?;
    let media = drive.media()?;
    let rounds = SteadySchedule {
        bytes: played.config.user_bytes,
        warm: options.warm,
        seed: options.seed,
    };
    let SteadyWaf {
        waf,
        ran_away,
        checks,
    } = steady_waf(&played.config, work, &rounds, stop)?;
    let raw = Geometry::new(drive.config.shape).raw_bytes() as f64;
    let after = |cycles: f64| cycles * raw / waf;
    let rated = f64::from(media.cycles_rated);
    let (to_uber, to_reserve) = (media.cycles_to_uber()?, media.cycles_to_reserve());
    let (cycles, limited_by) = [
        (rated, "rated cycles"),
        (to_uber, "UBER"),
        (to_reserve, "reserve"),
    ]
    .into_iter()
    .fold((f64::INFINITY, ""), |least, next| {
        if next.0 < least.0 { next } else { least }
    });
    let rated_bytes = drive.rated_bytes_written().map(|bytes| bytes as f64);
    let cycles_at_rated_bytes = rated_bytes.map(|bytes| bytes * waf / raw);
    let uber_after = |cycles: f64| media.uber(media.kept_after(cycles)?);
    Ok(DriveEndurance {
        name: drive.file.name.clone(),
        work: work.name(),
        scaled: played.said,
        op: drive.config.nominal_op(),
        waf,
        ran_away,
        checks,
        class: media.class,
        cycles_rated: media.cycles_rated,
        cycles_to_uber: to_uber,
        cycles_to_reserve: to_reserve,
        bytes: after(rated),
        tbw: after(cycles),
        limited_by,
        rated_bytes,
        dwpd: dwpd(drive, after(cycles))?,
        uber: uber_after(rated)?,
        uber_max: media.class.limits().uber_max,
        uber_at_rated_bytes: cycles_at_rated_bytes.map(uber_after).transpose()?,
        cycles_at_rated_bytes,
        rests_on: {
            let client = matches!(work, WearWorkload::Client).then(|| RestsOn::stated(CLIENT));
            media.rests_on.into_iter().chain(client).collect()
        },
    })
}

/// The drive that is played in place of the whole.
///
/// # Errors
/// When it does not fit into memory, or cannot be made so small.
pub fn played(
    drive: &CatalogueDrive,
    capacity: Option<u64>,
) -> Result<ssdlab_drives::scaling::ScaledDrive, LabError> {
    let capacity = capacity.unwrap_or(u64::MAX);
    let played = scaled(&drive.config, capacity)?;
    refuse_if_too_big(&drive.file.name, played.config.memory_bytes(), 1)?;
    Ok(played)
}

/// Infinite for a drive that no write of the host wears.
fn dwpd(drive: &CatalogueDrive, bytes: f64) -> Result<f64, LabError> {
    if bytes.is_infinite() {
        return Ok(bytes);
    }
    let years = drive.file.documented.warranty_years.as_ref();
    let years = years.map_or(YEARS_USUAL, |years| f64::from(years.value));
    let capacity = drive.config.user_bytes as f64;
    Ok(Rating::new(bytes, capacity, years)?.dwpd())
}

/// Writes a drive once from front to back.
fn fill(drive: &mut CountingDrive, bytes: u64) {
    let (run, slot) = (64 << 20, drive.config().shape.slot_bytes);
    for at in (0..bytes).step_by(run) {
        drive.write_run(at, (run as u64).min(bytes - at), slot);
    }
}

/// How a work is played until its write amplification is steady.
#[derive(Clone, Copy, Debug)]
pub struct SteadySchedule {
    /// Length of the range at the front that the work uses, and of the writes of a round.
    pub bytes: u64,
    /// Rounds before the one that is measured.
    pub warm: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// A write amplification factor in steady state.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyWaf {
    /// NAND bytes programmed / host bytes written, in the last round.
    pub waf: f64,
    /// A round programmed more than [`RUNAWAY`] times what it is to write, and was stopped: `waf`
    /// is that so far, and the steady one is higher.
    pub ran_away: bool,
    /// Self-checks, all of which passed.
    pub checks: Vec<SelfCheck>,
}

/// NAND writes of a round, as a multiple of what it is to write, from which it is not played on.
/// A tree map that does not fit into DRAM programs pages of its own for every slot that is
/// relocated; with little spare area that feeds on itself, and a round takes hours.
pub const RUNAWAY: u64 = 50;

/// Write amplification factor of a work in steady state: what it uses is written once in order, and
/// then in rounds by the work; that of the last round counts.
///
/// # Errors
/// When the drive is not possible or too small for the work, or `stop` is set.
pub fn steady_waf(
    config: &DriveConfig,
    work: &WearWorkload,
    rounds: &SteadySchedule,
    stop: &AtomicBool,
) -> Result<SteadyWaf, LabError> {
    let refused = |error: ssdlab_ssd::ConfigError| LabError::refused(error.to_string(), "");
    let mut drive = CountingDrive::new(config.clone()).map_err(refused)?;
    let slot = u64::from(config.shape.slot_bytes);
    let capacity = rounds.bytes / slot * slot;
    let mut stream = work.stream(capacity, rounds.seed)?;
    let used = match &stream {
        work::WearStream::Client(client) => client.used() / slot * slot,
        _ => capacity,
    };
    fill(&mut drive, used);
    let mut host_bytes = used;
    let mut then = drive.counters().clone();
    let mut batch = Vec::with_capacity(4096);
    let most = RUNAWAY.saturating_mul(capacity / slot);
    let mut ran_away = false;
    for _ in 0..=rounds.warm {
        if ran_away {
            break;
        }
        then = drive.counters().clone();
        while drive.counters().host_bytes_written - then.host_bytes_written < capacity {
            go_on(stop)?;
            stream.batch(&mut batch, 4096)?;
            drive.apply_all(&batch);
            host_bytes += batch.iter().map(written).sum::<u64>();
            ran_away = drive.counters().slots_programmed() - then.slots_programmed() > most;
            if ran_away {
                break;
            }
        }
    }
    let counted = drive.counters().host_bytes_written;
    let byte_count = if counted == host_bytes {
        Ok(())
    } else {
        Err(format!("{host_bytes} bytes written, {counted} counted"))
    };
    let checks = vec![
        SelfCheck::new("drive", drive.check()),
        SelfCheck::new("host bytes", byte_count),
    ];
    if let Some(failure) = failures(&checks).first() {
        return Err(LabError::SelfCheck(failure.clone()));
    }
    let slot = config.geometry().slot_bytes;
    let waf = drive.counters().waf_since(&then, slot);
    let waf = waf.ok_or_else(|| LabError::refused("nothing was written", ""))?;
    Ok(SteadyWaf {
        waf,
        ran_away,
        checks,
    })
}

/// Bytes that a command writes.
fn written(command: &Command) -> u64 {
    match command.op {
        Op::Write => u64::from(command.len),
        _ => 0,
    }
}

/// A table for people.
pub fn table(rows: &[DriveEndurance]) -> String {
    use ssdlab_view::units::decimal_bytes;
    let or_not = |bytes: f64| {
        if bytes.is_finite() {
            decimal_bytes(bytes)
        } else {
            "endless".into()
        }
    };
    let mut lines = vec![format!(
        "{:22} {:14} {:>6} {:>5} {:>8} {:>8} {:>5} {:>8}",
        "drive", "work", "OP %", "WAF", "TBW", "rated", "DWPD", "UBER"
    )];
    for r in rows {
        let uber = r.uber_at_rated_bytes.unwrap_or(r.uber);
        let mark = if r.is_within() == Some(false) {
            "!"
        } else {
            ""
        };
        lines.push(format!(
            "{:22} {:14} {:>6.1} {:>5} {:>8} {:>8} {:>5} {:>8}",
            r.name,
            r.work,
            100.0 * r.op,
            if r.ran_away {
                format!(">{:.0}", r.waf.floor())
            } else {
                format!("{:.2}", r.waf)
            },
            or_not(r.tbw),
            r.rated_bytes.map_or("-".into(), decimal_bytes),
            if r.dwpd.is_finite() {
                format!("{:.2}", r.dwpd)
            } else {
                "-".into()
            },
            format!("{uber:.0e}{mark}"),
        ));
    }
    lines.join("\n")
}

/// Said wherever a client's work is shown.
const CLIENT: &str =
    "client: a stand-in for JESD219A's trace, which is not free; all of it assumed";

/// What the table does not say: what limits each drive, and which are beyond JESD218's UBER.
pub fn remarks(rows: &[DriveEndurance]) -> Vec<String> {
    let mut remarks = Vec::new();
    for r in rows {
        if r.work == "client" {
            remarks.push(CLIENT.to_owned());
        }
        if r.ran_away {
            remarks.push(format!(
                "{}, {}: write amplification ran away and was stopped above {RUNAWAY} x: the true \
                 one is higher, TBW and UBER are at best those shown",
                r.name, r.work
            ));
        }
        if r.limited_by != "rated cycles" {
            remarks.push(format!(
                "{}: {} ends it before its {} rated cycles",
                r.name, r.limited_by, r.cycles_rated
            ));
        }
        if r.is_within() == Some(false) {
            remarks.push(format!(
                "{}, {}: at its rated {:.0} TB written UBER is {:.0e}, beyond {:.0e}",
                r.name,
                r.work,
                r.rated_bytes.unwrap_or(0.0) / 1e12,
                r.uber_at_rated_bytes.unwrap_or(0.0),
                r.uber_max
            ));
        }
    }
    remarks.sort();
    remarks.dedup();
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square over sizes and zones of a million commands; 99.9 % points of 11 and 2 degrees of
    /// freedom.
    #[test]
    fn the_stream_has_the_sizes_and_the_skew_of_the_standard() {
        let count = 1_000_000;
        let capacity = 1_u64 << 34;
        let (mut sizes, mut zones) = ([0_u32; 12], [0_u32; 3]);
        for command in Jesd219::new(capacity, 7).unwrap().take(count) {
            let size = SIZES.iter().position(|(s, _)| s * 512 == command.len);
            sizes[size.unwrap()] += 1;
            let percent = command.offset as f64 * 100.0 / capacity as f64;
            zones[usize::from(percent >= 5.0) + usize::from(percent >= 20.0)] += 1;
        }
        let chi = |counts: &[u32], shares: &[u32]| -> f64 {
            let terms = counts.iter().zip(shares).map(|(&observed, &share)| {
                let expected = count as f64 * f64::from(share) / 100.0;
                (f64::from(observed) - expected).powi(2) / expected
            });
            terms.sum()
        };
        let size_chi = chi(&sizes, &SIZES.map(|(_, share)| share));
        let zone_chi = chi(&zones, &ZONES.map(|(share, _)| share));
        assert!(size_chi < 31.3, "{size_chi} {sizes:?}");
        assert!(zone_chi < 13.8, "{zone_chi} {zones:?}");
    }

    #[test]
    fn more_spare_area_is_more_life() {
        let of = |blocks: u32| {
            let mut config = DriveConfig::tiny();
            config.shape.blocks_per_plane = blocks;
            config.shape.pages_per_block = 96;
            config.shape.planes_per_die = 1;
            config.user_bytes = 32 << 20;
            config.ftl.slc.superblocks = 0;
            config.ftl.journal.entry_bytes = 0;
            let rounds = SteadySchedule {
                bytes: config.user_bytes,
                warm: 2,
                seed: 1,
            };
            let found = steady_waf(
                &config,
                &WearWorkload::Enterprise,
                &rounds,
                &AtomicBool::new(false),
            );
            found.unwrap().waf
        };
        let (little, much) = (of(30), of(45));
        assert!(little > 1.1 * much, "{little} {much}");
    }

    /// The tree map of the Intel 320, were it among the data, written over and over at random,
    /// programs a thousand times what the host does: that took minutes, and is stopped and said.
    #[test]
    fn write_amplification_that_runs_away_is_stopped_and_said() {
        let mut drive = ssdlab_drives::catalogue::drive("intel-320-120gb").unwrap();
        drive.config.ftl.mapping.apart = false;
        let asked = EnduranceOptions {
            capacity: Some(1 << 30),
            warm: 2,
            seed: 0,
        };
        let row = worn_by(
            &drive,
            &WearWorkload::Enterprise,
            &asked,
            &AtomicBool::new(false),
        )
        .unwrap();
        assert!(row.ran_away && row.waf > 50.0, "{row:?}");
        let text = table(std::slice::from_ref(&row));
        assert!(text.contains('>'), "{text}");
        let said = remarks(&[row]);
        assert!(said.iter().any(|s| s.contains("ran away")), "{said:?}");
    }

    #[test]
    fn a_work_that_is_stopped_gives_no_number() {
        let drive = ssdlab_drives::catalogue::drive("intel-320-40gb").unwrap();
        let stop = AtomicBool::new(true);
        let error = worn_by(&drive, &WearWorkload::Enterprise, &asked(), &stop).unwrap_err();
        assert!(error.to_string().contains("stopped"), "{error}");
    }

    #[test]
    fn a_drive_too_small_for_zones_is_refused() {
        assert!(Jesd219::new(1 << 20, 0).is_err());
    }

    fn asked() -> EnduranceOptions {
        EnduranceOptions {
            capacity: Some(2 << 30),
            warm: 1,
            seed: 1,
        }
    }

    /// TBW = cycles x raw / WAF, and the rating of a drive that stays within JESD218 is said so.
    #[test]
    fn tbw_is_cycles_over_write_amplification() {
        let drive = ssdlab_drives::catalogue::drive("intel-dc-s3700-200gb").unwrap();
        let row = worn_by(
            &drive,
            &WearWorkload::Enterprise,
            &asked(),
            &AtomicBool::new(false),
        )
        .unwrap();
        let raw = 283_467_841_536.0;
        assert!(
            (row.tbw / (27_532.0 * raw / row.waf) - 1.0).abs() < 1e-9,
            "{row:?}"
        );
        assert_eq!(row.limited_by, "rated cycles");
        assert_eq!(row.is_within(), Some(true));
        assert!(
            (row.tbw / 3.65e15 - 1.0).abs() < 0.1,
            "near its rating: {row:?}"
        );
        let text = table(&[row]);
        assert!(
            text.lines().all(|line| line.chars().count() <= 90),
            "{text}"
        );
    }

    /// Cells whose errors outgrow the last retry within the rating, or that fail before it.
    #[test]
    fn uber_and_reserve_end_a_life_before_its_cycles() {
        use ssdlab_drives::settings::{DriveSetting, apply};
        let drive = |set: &[&str]| {
            let set: Vec<DriveSetting> = set
                .iter()
                .map(|s| DriveSetting::parse(s).unwrap())
                .collect();
            apply(
                &ssdlab_drives::catalogue::drive("tlc-client-nvme-1tb").unwrap(),
                &set,
            )
            .unwrap()
        };
        let weak = drive(&["wear.retries=0", "wear.cycles=20000"]);
        let row = worn_by(
            &weak,
            &WearWorkload::Client,
            &asked(),
            &AtomicBool::new(false),
        )
        .unwrap();
        assert_eq!(row.limited_by, "UBER", "{row:?}");
        assert!(row.tbw < row.bytes && row.uber > row.uber_max);
        let said = remarks(&[row]);
        assert!(said.iter().any(|s| s.contains("UBER ends it")), "{said:?}");
        let fragile = drive(&["wear.failure_median=0.5"]);
        let row = worn_by(
            &fragile,
            &WearWorkload::Client,
            &asked(),
            &AtomicBool::new(false),
        )
        .unwrap();
        assert_eq!(row.limited_by, "reserve", "{row:?}");
    }

    #[test]
    fn a_drive_that_no_write_wears_has_no_end() {
        let drive = ssdlab_drives::catalogue::drive("ddrdrive-x1").unwrap();
        let row = worn_by(
            &drive,
            &WearWorkload::Enterprise,
            &asked(),
            &AtomicBool::new(false),
        )
        .unwrap();
        assert_eq!(row.waf, 0.0);
        assert!(row.tbw.is_infinite() && row.dwpd.is_infinite());
        assert!(table(&[row]).contains("endless"));
    }
}
