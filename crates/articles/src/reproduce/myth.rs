//! Article myth: what [`crate::experiments::myth`] and the database of [`ssdlab_hosts::oltp`]
//! found, as measures and curves.

use super::experiment::{Outcome, Setup, stopped};
use super::spare::{curve, health};
use crate::experiments::myth::{Aged, EARLIER, MythResult, MythSettings, WholeDisk, run_myth};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::settings::Setting;
use ssdlab_hosts::oltp::OltpSpec;
use ssdlab_hosts::{HostDrive, oltp};
use ssdlab_ssd::geometry::Geometry;

/// The drive that the article's authors bought, and whose flash all drives here have.
const BOUGHT: &str = "intel-dc-s3700-200gb";
/// Remedies by the short names of measures.
pub const REMEDIES: [(&str, &str); 8] = [
    ("earlier", "earlier drive"),
    ("trim", "TRIM alone"),
    ("op", "32 % spare alone"),
    ("flat", "flat map alone"),
    ("trim_flat", "TRIM and flat map"),
    ("trim_op_flat", "TRIM and 32 % spare and flat map"),
    ("all", "all"),
    ("bought", "DC S3700 without TRIM"),
];

/// Runs the article's drives.
///
/// # Errors
/// When a drive is not possible at the article's scale, or the run is stopped.
pub fn run(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let settings = MythSettings {
        seed: setup.seed,
        complete: false,
        ..MythSettings::default()
    };
    let found = run_myth(&settings, setup.stop)?;
    let mut outcome = Outcome::default();
    health(&mut outcome, &found.health);
    in_place(&mut outcome, &found);
    for (short, name) in REMEDIES {
        if let Some(aged) = found.aged(name) {
            production(&mut outcome, short, aged);
        }
    }
    compare(&mut outcome, &found);
    whole_disk(&mut outcome, &found.whole_disk);
    let bought = catalogue::drive(BOUGHT)?;
    let raw_gib = Geometry::new(bought.config.shape).raw_bytes() as f64 / (1_u64 << 30) as f64;
    let user_gb = bought.config.user_bytes as f64 / 1e9;
    outcome.value("bought_gib_over_gb", 100.0 * (raw_gib / user_gb - 1.0));
    Ok(outcome)
}

fn in_place(outcome: &mut Outcome, found: &MythResult) {
    let near = |row: &&crate::experiments::myth::InPlace, factor: f64| row.by_arithmetic == factor;
    for factor in [256.0, 512.0] {
        if let Some(row) = found.in_place.iter().find(|row| near(row, factor)) {
            outcome.value(format!("in_place_{factor}"), row.waf);
        }
    }
    let wafs = || found.logged.iter().map(|row| row.waf);
    if let (Some(first), Some(last)) = (found.logged.first(), found.logged.last()) {
        outcome.value("logged_waf_growth", last.waf / first.waf);
    }
    outcome.value("logged_waf_max", wafs().fold(0.0, f64::max));
    let points = found
        .logged
        .iter()
        .map(|row| (f64::from(row.valid_pct), row.waf));
    outcome.curves.insert("logged".into(), points.collect());
}

fn production(outcome: &mut Outcome, short: &str, aged: &Aged) {
    outcome.value(format!("{short}_new_mb_s"), aged.new_read_mb_s());
    outcome.value(format!("{short}_old_mb_s"), aged.old_read_mb_s());
    let kept = aged.old_read_mb_s() / aged.new_read_mb_s();
    outcome.value(format!("{short}_kept"), kept);
    outcome.value(format!("{short}_waf"), aged.old_waf());
    curve(outcome, format!("{short}_throughput"), &aged.throughput());
}

fn compare(outcome: &mut Outcome, found: &MythResult) {
    let old = |name: &str| found.aged(name).map_or(f64::NAN, Aged::old_read_mb_s);
    let earlier = old("earlier drive");
    outcome.value("trim_gain", old("TRIM alone") / earlier);
    outcome.value("op_gain", old("32 % spare alone") / earlier);
    outcome.value("flat_gain", old("flat map alone") / earlier);
    let at = |rows: &[crate::experiments::myth::Swept], pct: u32| {
        let row = rows.iter().find(|row| row.at_pct == pct);
        row.map_or(f64::NAN, |row| row.old_read_mb_s)
    };
    let untold = &found.by_used_untold;
    outcome.value("untold_70_over_97", at(untold, 70) / at(untold, 97));
    outcome.value(
        "trimmed_97_over_50",
        at(&found.by_used, 97) / at(&found.by_used, 50),
    );
    let reads = |name: &str| {
        let row = found.trim.iter().find(|row| row.name == name);
        row.map_or(f64::NAN, |row| row.read_iops)
    };
    outcome.value("trim_stall", reads("not queued") / reads("queued"));
    for (short, name) in [("tree", "all but the flat map"), ("flat", "all")] {
        let Some(aged) = found.aged(name) else {
            continue;
        };
        let upkeep = aged.map_upkeep();
        let first = upkeep
            .points
            .iter()
            .map(|point| point.1)
            .find(|share| *share > 0.0);
        let last = upkeep.level(1).unwrap_or(0.0);
        outcome.value(format!("{short}_upkeep"), last);
        outcome.value(
            format!("{short}_upkeep_growth"),
            first.map_or(0.0, |first| last / first),
        );
        curve(outcome, format!("{short}_upkeep"), &upkeep);
    }
}

fn whole_disk(outcome: &mut Outcome, disk: &WholeDisk) {
    let flat = |c| WholeDisk::flatness(c);
    outcome.value("disk_write_flatness", flat(&disk.write_first));
    outcome.value("disk_read_flatness", flat(&disk.read_full));
    outcome.value("disk_mixed_read_flatness", flat(&disk.mixed_read));
    let level = |c: &crate::experiments::Curve| c.level(10).unwrap_or(f64::NAN);
    let tenth = disk.write_first.points.len().div_ceil(10);
    let mean = |points: &[(f64, f64)]| {
        points.iter().map(|(_, y)| y).sum::<f64>() / points.len().max(1) as f64
    };
    let begin = mean(&disk.write_first.points[..tenth]);
    let end = disk.write_first.level(tenth).unwrap_or(f64::NAN);
    outcome.value("disk_write_end_over_begin", end / begin);
    let steady = level(&disk.write_steady) / level(&disk.write_first);
    outcome.value("disk_steady_over_first", steady);
    for (name, line) in [
        ("disk_write", &disk.write_first),
        ("disk_steady", &disk.write_steady),
        ("disk_read", &disk.read_full),
        ("disk_mixed_read", &disk.mixed_read),
        ("disk_mixed_write", &disk.mixed_write),
    ] {
        curve(outcome, name, line);
    }
}

/// Runs the database for half a year on the earlier drive.
///
/// # Errors
/// When the drive is not possible, or the run is stopped.
pub fn database(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let set: Result<Vec<Setting>, LabError> = EARLIER.iter().map(|s| Setting::parse(s)).collect();
    let drive = HostDrive::open(BOUGHT, &set?, Some(4 << 30))?;
    let spec = OltpSpec {
        seed: setup.seed,
        ..OltpSpec::default()
    };
    let found = oltp::run_until(&spec, &drive.config, setup.stop)?;
    if found.stopped {
        return Err(stopped());
    }
    let mut outcome = Outcome::default();
    for check in found.checks {
        outcome.checks.push((check.name, check.failure));
    }
    let tps: Vec<f64> = found.windows.iter().map(|window| window.tps).collect();
    if let (Some(first), Some(last)) = (tps.first(), tps.last()) {
        outcome.value("tps_new", *first);
        outcome.value("tps_kept", last / first);
    }
    let months = found.windows.iter().map(|w| (f64::from(w.month), w.tps));
    outcome.curves.insert("tps".into(), months.collect());
    Ok(outcome)
}
