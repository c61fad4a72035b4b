//! The same facts as smartctl prints them for people (`-i -H -A`).

use super::ata::threshold_exceeded;
use super::attribute::flag;
use super::format::{capacity, thousands};
use super::json::shown;
use super::{Attribute, AttributeSet, Identity, SmartHealth, nvme};
use std::fmt::Write;

fn result(passed: bool) -> &'static str {
    if passed { "PASSED" } else { "FAILED!" }
}

/// An ATA drive: health and the table of attributes, as `smartctl -H -A` prints them.
pub fn ata_text(identity: &Identity, set: AttributeSet, health: &SmartHealth) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = writeln!(
        out,
        "SMART overall-health self-assessment test result: {}\n\n\
         SMART Attributes Data Structure revision number: {}\n\
         Vendor Specific SMART Attributes with Thresholds:\n\
         ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED \
         RAW_VALUE",
        result(!threshold_exceeded(set, health)),
        set.revision(),
    );
    for row in shown(identity, set, health) {
        out += &row_text(&row);
    }
    out
}

fn row_text(row: &Attribute) -> String {
    let kind = match row.flags & flag::PREFAILURE {
        0 => "Old_age ",
        _ => "Pre-fail",
    };
    let updated = match row.flags & flag::ONLINE {
        0 => "Offline",
        _ => "Always ",
    };
    let failed = if row.has_failed() {
        "FAILING_NOW"
    } else {
        "    -"
    };
    format!(
        "{:3} {:<24}0x{:04x}   {:03}   {:03}   {:03}    {kind:<10}{updated:<9}{failed:<12}{}\n",
        row.id,
        row.name,
        row.flags,
        row.value,
        row.worst,
        row.threshold,
        row.raw_text()
    )
}

/// An NVMe drive: health and the log page, as `smartctl -H -A` prints them.
pub fn nvme_text(health: &SmartHealth) -> String {
    let warning = nvme::critical_warning(health);
    let mut out = format!(
        "SMART overall-health self-assessment test result: {}\n",
        result(warning == 0)
    );
    let reasons = [
        (
            nvme::warning::SPARE,
            "available spare has fallen below threshold",
        ),
        (
            nvme::warning::TEMPERATURE,
            "temperature is above or below threshold",
        ),
        (
            nvme::warning::RELIABILITY,
            "NVM subsystem reliability has been degraded",
        ),
        (
            nvme::warning::READ_ONLY,
            "media has been placed in read only mode",
        ),
        (
            nvme::warning::BACKUP,
            "volatile memory backup device has failed",
        ),
    ];
    for (_, why) in reasons.iter().filter(|(bit, _)| warning & bit != 0) {
        let _ = writeln!(out, "- {why}");
    }
    out += "\nSMART/Health Information (NVMe Log 0x02)\n";
    out + &nvme_log_text(health)
}

/// The log page, a line for each field.
fn nvme_log_text(health: &SmartHealth) -> String {
    let warning = nvme::critical_warning(health);
    let mut out = String::new();
    let units = |bytes: u64| {
        let units = bytes.div_ceil(nvme::DATA_UNIT);
        match units {
            0 => "0".into(),
            _ => format!(
                "{} [{}]",
                thousands(units),
                capacity(units.saturating_mul(nvme::DATA_UNIT))
            ),
        }
    };
    let celsius = format!("{} Celsius", health.temperature_c);
    for (name, value) in [
        ("Critical Warning", format!("0x{warning:02x}")),
        ("Temperature", celsius.clone()),
        ("Available Spare", format!("{}%", health.reserve_percent())),
        (
            "Available Spare Threshold",
            format!("{}%", nvme::SPARE_THRESHOLD),
        ),
        ("Percentage Used", format!("{}%", health.percentage_used())),
        ("Data Units Read", units(health.host_bytes_read)),
        ("Data Units Written", units(health.host_bytes_written)),
        ("Host Read Commands", thousands(health.read_commands)),
        ("Host Write Commands", thousands(health.write_commands)),
        ("Controller Busy Time", thousands(health.busy_minutes)),
        ("Power Cycles", thousands(health.power_cycles)),
        ("Power On Hours", thousands(health.power_on_minutes / 60)),
        ("Unsafe Shutdowns", thousands(health.unsafe_shutdowns)),
        (
            "Media and Data Integrity Errors",
            thousands(health.uncorrectable_errors),
        ),
        (
            "Error Information Log Entries",
            thousands(health.uncorrectable_errors),
        ),
        (
            "Warning  Comp. Temperature Time",
            health.heat.warning_minutes.to_string(),
        ),
        (
            "Critical Comp. Temperature Time",
            health.heat.critical_minutes.to_string(),
        ),
        ("Temperature Sensor 1", celsius),
    ]
    .into_iter()
    .chain(throttling(health))
    {
        let _ = writeln!(out, "{:<36}{value}", format!("{name}:"));
    }
    out
}

/// Throttling, which smartctl shows of drives that have throttled.
fn throttling(health: &SmartHealth) -> Vec<(&'static str, String)> {
    let heat = &health.heat;
    let counters = [
        ("Thermal Temp. 1 Transition Count", heat.throttles[0]),
        ("Thermal Temp. 2 Transition Count", heat.throttles[1]),
        ("Thermal Temp. 1 Total Time", heat.throttled_seconds[0]),
        ("Thermal Temp. 2 Total Time", heat.throttled_seconds[1]),
    ];
    let some = counters.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| (name, count.to_string()))
        .collect()
}
