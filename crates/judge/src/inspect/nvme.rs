//! NVMe drives: the health log, and what `nvme` adds: the volatile cache of Identify Controller,
//! and NAND writes of the OCP log (C0h) and of Intel's (CAh).

use super::inspection::{Inspection, TimedWorkload, percent};
use super::json::Doc;
use super::report::DriveReport;
use ssdlab_bench::device::health::ReportedValue;
use ssdlab_drives::smart::TIMED_PENDING;

const LOG: &str = "nvme_smart_health_information_log";
/// A thousand units of 512 bytes.
const DATA_UNIT: f64 = 512_000.0;
const MIB_32: f64 = (32_u64 << 20) as f64;

pub(super) fn read(doc: &Doc, report: &DriveReport, found: &mut Inspection) {
    let path = |name: &str| format!("{LOG}.{name}");
    let units = |name: &str| {
        let value = doc.number(&path(name)).filter(|units| *units >= 0.0)?;
        Some(ReportedValue {
            value: value * DATA_UNIT,
            resolution: DATA_UNIT,
            source: format!("health log, {name}"),
        })
    };
    let life = &mut found.life;
    life.host_bytes_written = units("data_units_written");
    life.host_bytes_read = units("data_units_read");
    let in_log = |name: &str, most| {
        let reported = percent(doc, &path(name), most)?;
        Some(ReportedValue {
            source: format!("health log, {name}"),
            ..reported
        })
    };
    let used = in_log("percentage_used", 255.0);
    life.used_percent = used.or(life.used_percent.take());
    let spare = in_log("available_spare", 100.0);
    life.spare_percent = spare.or(life.spare_percent.take());
    let threshold = doc.number(&path("available_spare_threshold"));
    life.spare_threshold = threshold
        .filter(|p| (0.0..=100.0).contains(p))
        .or(life.spare_threshold);
    let events = &mut found.events;
    events.unsafe_shutdowns = doc.whole(&path("unsafe_shutdowns"));
    events.media_errors = doc.whole(&path("media_errors"));
    let minutes = ["warning_temp_time", "critical_comp_time"].map(|name| doc.number(&path(name)));
    events.too_warm_minutes = match minutes {
        [None, None] => None,
        given => Some(
            given
                .into_iter()
                .flatten()
                .map(|minutes| minutes.max(0.0))
                .sum(),
        ),
    };
    warnings(doc, found);
    if let Some(controller) = &report.nvme_controller {
        let vwc = Doc::new(controller).whole("vwc");
        found.cache.volatile = vwc.map(|bits| bits & 1 == 1);
    }
    if let Some(log) = &report.nvme_ocp {
        ocp(&Doc::new(log), found);
    }
    if let Some(log) = &report.nvme_intel {
        intel(&Doc::new(log), found);
    }
}

/// The critical warnings, a bit each.
fn critical(doc: &Doc) -> u64 {
    doc.whole(&format!("{LOG}.critical_warning"))
        .or_else(|| doc.whole("smart_status.nvme.value"))
        .unwrap_or(0)
}

/// Whether an NVMe drive warns that the backup of its volatile memory failed.
pub(super) fn backup_failed(doc: &Doc, found: &Inspection) -> bool {
    found.identity.protocol.as_deref() == Some("NVMe") && critical(doc) >> 4 & 1 == 1
}

fn warnings(doc: &Doc, found: &mut Inspection) {
    let bits = critical(doc);
    let words = [
        "spare below its threshold",
        "temperature beyond a threshold",
        "reliability degraded",
        "read-only",
        "the backup of the volatile memory failed",
        "the persistent memory region failed",
    ];
    for (bit, words) in words.iter().enumerate() {
        if bits >> bit & 1 == 0 {
            continue;
        }
        let words = match bit {
            DEGRADED => degraded(found),
            _ => (*words).to_owned(),
        };
        found.warnings.push(words);
    }
}

/// The bit of degraded reliability: by media errors or by any internal error (NVMe base
/// specification, SMART log, critical warning). Drives set it at the end of their rated life, too.
const DEGRADED: usize = 2;

fn degraded(found: &Inspection) -> String {
    let is_used_up = found
        .life
        .used_percent
        .as_ref()
        .is_some_and(|used| used.value >= 100.0);
    match found.events.media_errors {
        Some(errors) if errors > 0 => format!("reliability degraded: {errors} media errors"),
        _ if is_used_up => "reliability degraded, as the rated life is used up".to_owned(),
        _ => "reliability degraded, by an internal error that it does not name".to_owned(),
    }
}

/// OCP NVMe SSD specification, log C0h: bytes programmed, whatever for.
fn ocp(log: &Doc, found: &mut Inspection) {
    let name = "Physical media units written";
    let low = log
        .number(&format!("{name}.lo"))
        .or_else(|| log.number(name));
    let high = log.number(&format!("{name}.hi")).unwrap_or(0.0);
    if let Some(low) = low.filter(|low| *low >= 0.0) {
        found.life.nand_bytes_written = Some(ReportedValue {
            value: high * 2_f64.powi(64) + low,
            resolution: 1.0,
            source: format!("OCP log, {name}"),
        });
    }
}

/// Intel's log CAh: NAND writes in 32 MiB, the timed workload, mean cycles.
fn intel(log: &Doc, found: &mut Inspection) {
    let raw = |name: &str| log.number(&format!("Device stats.{name}.raw"));
    if let Some(units) = raw("nand_bytes_written") {
        found.life.nand_bytes_written = Some(ReportedValue {
            value: units * MIB_32,
            resolution: MIB_32,
            source: "Intel log, nand_bytes_written".into(),
        });
    }
    if let Some(value) = log.number("Device stats.wear_leveling.avg") {
        found.life.cycles_average = Some(ReportedValue {
            value,
            resolution: 1.0,
            source: "Intel log, wear_leveling".into(),
        });
    }
    let three = [
        "timed_workload_media_wear",
        "timed_workload_host_reads",
        "timed_workload_timer",
    ];
    if let [Some(wear), Some(reads), Some(minutes)] = three.map(raw) {
        let powered = found.events.power_on_hours;
        let counts = wear < TIMED_PENDING as f64;
        found.timed = TimedWorkload::believed(wear, reads, minutes, powered).filter(|_| counts);
    }
}
