//! SAS drives: endurance indicator, error counters, grown defects.

use super::inspection::{Inspection, percent};
use super::json::Doc;
use ssdlab_bench::device::health::ReportedValue;

const GB: f64 = 1e9;

/// Whether the drive counts what only one with heads does; SSDs count none.
pub(super) fn has_heads(doc: &Doc) -> bool {
    let counters = "scsi_start_stop_cycle_counter";
    [
        "accumulated_load_unload_cycles",
        "specified_load_unload_count_over_device_lifetime",
    ]
    .iter()
    .any(|name| {
        doc.whole(&format!("{counters}.{name}"))
            .is_some_and(|count| count > 0)
    })
}

pub(super) fn read(doc: &Doc, found: &mut Inspection) {
    let used = percent(doc, "scsi_percentage_used_endurance_indicator", 255.0);
    let life = &mut found.life;
    life.used_percent = used.or(life.used_percent.take());
    // Text with three decimals, in units of 10^9 bytes; counted since it was last reset, which is
    // rarely done.
    let processed = |way: &str| {
        let path = format!("scsi_error_counter_log.{way}.gigabytes_processed");
        let value = doc.number(&path).filter(|gb| *gb >= 0.0)?;
        Some(ReportedValue {
            value: value * GB,
            resolution: GB / 1000.0,
            source: format!("error counter log, {way}"),
        })
    };
    life.host_bytes_written = processed("write");
    life.host_bytes_read = processed("read");
    found.events.retired = doc.whole("scsi_grown_defect_list");
    let lost = |way: &str| {
        doc.whole(&format!(
            "scsi_error_counter_log.{way}.total_uncorrected_errors"
        ))
    };
    found.events.media_errors = match (lost("read"), lost("write")) {
        (None, None) => None,
        (read, write) => Some(read.unwrap_or(0) + write.unwrap_or(0)),
    };
    let cycles = "scsi_start_stop_cycle_counter.accumulated_start_stop_cycles";
    let events = &mut found.events;
    events.power_cycles = events.power_cycles.or_else(|| doc.whole(cycles));
    found.cache.enabled = doc.flag("write_cache.enabled");
    found.cache.volatile = found.cache.enabled.map(|_| true);
}
