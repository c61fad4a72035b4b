//! The same facts as `smartctl --json=c -x` prints: names, nesting and order of smartctl 7.3.
//!
//! What smartctl says of itself (`smartctl`) and of the clock (`local_time`) is the caller's.

use super::ata::threshold_exceeded;
use super::attribute::flag;
use super::{
    Attribute, AttributeSet, INTEL_DC, Identity, SANDFORCE, SmartHealth, attributes, nvme,
};
use serde_json::{Map, Value, json};

/// Which `device` the report names.
#[derive(Clone, Debug)]
pub struct DeviceName {
    /// `/dev/sda`.
    pub name: String,
    /// `sat`, `ata`, `nvme`.
    pub kind: String,
}

/// The report of an ATA drive.
pub fn ata_report(
    device: &DeviceName,
    identity: &Identity,
    set: AttributeSet,
    health: &SmartHealth,
) -> Value {
    let mut report = Map::new();
    report.insert("json_format_version".into(), json!([1, 0]));
    let info_name = match device.kind.as_str() {
        "sat" => format!("{} [SAT]", device.name),
        _ => device.name.clone(),
    };
    let device = json!({
        "name": device.name,
        "info_name": info_name,
        "type": device.kind,
        "protocol": "ATA",
    });
    report.insert("device".into(), device);
    ata_identity(&mut report, identity);
    let passed = !threshold_exceeded(set, health);
    report.insert("smart_status".into(), json!({ "passed": passed }));
    report.insert("ata_smart_data".into(), smart_data());
    let rows: Vec<Value> = shown(identity, set, health).iter().map(attribute).collect();
    let table = json!({ "revision": set.revision(), "table": rows });
    report.insert("ata_smart_attributes".into(), table);
    report.insert("power_on_time".into(), power_on_time(identity, set, health));
    report.insert("power_cycle_count".into(), json!(health.power_cycles));
    report.insert(
        "temperature".into(),
        json!({ "current": health.temperature_c }),
    );
    let log = json!({
        "smart_dir_version": 1,
        "smart_dir_multi_sector": true,
        "table": [
            { "address": 0, "name": "Log Directory", "read": true, "write": false,
              "smart_sectors": 1 },
            { "address": 1, "name": "Summary SMART error log", "read": true, "write": false,
              "smart_sectors": 1 },
        ],
    });
    // For these smartctl's database says not to ask.
    let asks = |family: &String| !family.contains("Intel 320") && !family.contains("Intel 710");
    if identity.family.as_ref().is_none_or(asks) {
        report.insert("ata_log_directory".into(), log);
    }
    let errors = json!({ "summary": { "revision": 1, "count": 0 } });
    report.insert("ata_smart_error_log".into(), errors);
    Value::Object(report)
}

fn ata_identity(report: &mut Map<String, Value>, identity: &Identity) {
    if let Some(family) = &identity.family {
        report.insert("model_family".into(), json!(family));
    }
    let sector = u64::from(identity.logical_sector);
    let speed = |value: u32| {
        json!({ "sata_value": value, "string": "6.0 Gb/s",
                "units_per_second": 60, "bits_per_unit": 100_000_000 })
    };
    let more = json!({
        "model_name": identity.model,
        "serial_number": identity.serial,
        "wwn": {
            "naa": identity.wwn >> 60,
            "oui": identity.wwn >> 36 & 0xff_ffff,
            "id": identity.wwn & 0xf_ffff_ffff,
        },
        "firmware_version": identity.firmware,
        "user_capacity": {
            "blocks": identity.user_bytes / sector.max(1),
            "bytes": identity.user_bytes,
        },
        "logical_block_size": identity.logical_sector,
        "physical_block_size": identity.physical_sector,
        "rotation_rate": 0,
        "form_factor": { "ata_value": 3, "name": "2.5 inches" },
        "trim": {
            "supported": identity.trim,
            "deterministic": identity.trim,
            "zeroed": identity.trim,
        },
        "in_smartctl_database": identity.family.is_some(),
        "ata_version": {
            "string": "ACS-3 T13/2161-D revision 5",
            "major_value": 2044,
            "minor_value": 109,
        },
        "sata_version": { "string": "SATA 3.1", "value": 127 },
        "interface_speed": { "max": speed(14), "current": speed(3) },
        "smart_support": { "available": true, "enabled": true },
        "read_lookahead": { "enabled": true },
        "write_cache": { "enabled": identity.write_cache },
    });
    if let Value::Object(mut more) = more {
        if !identity.trim {
            more.insert("trim".into(), json!({ "supported": false }));
        }
        report.append(&mut more);
    }
}

/// Nothing is collected off-line and no self-test is offered.
fn smart_data() -> Value {
    json!({
        "offline_data_collection": {
            "status": { "value": 0, "string": "was never started" },
            "completion_seconds": 0,
        },
        "capabilities": {
            "values": [0, 3],
            "attribute_autosave_enabled": true,
            "error_logging_supported": true,
            "gp_logging_supported": false,
        },
    })
}

fn power_on_time(identity: &Identity, set: AttributeSet, health: &SmartHealth) -> Value {
    let (hours, minutes) = (health.power_on_minutes / 60, health.power_on_minutes % 60);
    // Only the database tells smartctl that SandForce counts milliseconds too.
    match (set, &identity.family) {
        (AttributeSet::SandForce, Some(_)) => json!({ "hours": hours, "minutes": minutes }),
        _ => json!({ "hours": hours }),
    }
}

/// `PO--CK `.
pub(super) fn flag_letters(flags: u16) -> String {
    let letters = [
        (flag::PREFAILURE, 'P'),
        (flag::ONLINE, 'O'),
        (flag::PERFORMANCE, 'S'),
        (flag::ERROR_RATE, 'R'),
        (flag::EVENT_COUNT, 'C'),
        (flag::AUTO_KEEP, 'K'),
    ];
    let letter = |(bit, letter)| if flags & bit != 0 { letter } else { '-' };
    letters.into_iter().map(letter).chain([' ']).collect()
}

/// The attributes with the names and formats that smartctl has for this model.
pub(super) fn shown(
    identity: &Identity,
    set: AttributeSet,
    health: &SmartHealth,
) -> Vec<Attribute> {
    let rows = attributes(set, health).into_iter();
    match identity.family.as_deref() {
        Some(INTEL_DC | SANDFORCE) => rows.collect(),
        Some(family) => rows.map(|row| row.of_family(family)).collect(),
        None => rows.map(Attribute::without_database).collect(),
    }
}

fn attribute(row: &Attribute) -> Value {
    let has = |bit: u16| row.flags & bit != 0;
    json!({
        "id": row.id,
        "name": row.name,
        "value": row.value,
        "worst": row.worst,
        "thresh": row.threshold,
        "when_failed": if row.has_failed() { "now" } else { "" },
        "flags": {
            "value": row.flags,
            "string": flag_letters(row.flags),
            "prefailure": has(flag::PREFAILURE),
            "updated_online": has(flag::ONLINE),
            "performance": has(flag::PERFORMANCE),
            "error_rate": has(flag::ERROR_RATE),
            "event_count": has(flag::EVENT_COUNT),
            "auto_keep": has(flag::AUTO_KEEP),
        },
        "raw": { "value": row.raw_value(), "string": row.raw_text() },
    })
}

/// The report of an NVMe drive.
pub fn nvme_report(device: &DeviceName, identity: &Identity, health: &SmartHealth) -> Value {
    let sector = u64::from(identity.logical_sector);
    let size = json!({
        "blocks": identity.user_bytes / sector.max(1),
        "bytes": identity.user_bytes,
    });
    json!({
        "json_format_version": [1, 0],
        "device": {
            "name": device.name,
            "info_name": device.name,
            "type": "nvme",
            "protocol": "NVMe",
        },
        "model_name": identity.model,
        "serial_number": identity.serial,
        "firmware_version": identity.firmware,
        "nvme_pci_vendor": { "id": 0, "subsystem_id": 0 },
        "nvme_ieee_oui_identifier": identity.wwn >> 36 & 0xff_ffff,
        "nvme_total_capacity": identity.user_bytes,
        "nvme_unallocated_capacity": 0,
        "nvme_controller_id": 0,
        "nvme_version": { "string": "1.4", "value": 0x0001_0400 },
        "nvme_number_of_namespaces": 1,
        "nvme_namespaces": [{
            "id": 1,
            "size": size,
            "capacity": size,
            "utilization": size,
            "formatted_lba_size": identity.logical_sector,
        }],
        "user_capacity": size,
        "logical_block_size": identity.logical_sector,
        "smart_support": { "available": true, "enabled": true },
        "smart_status": nvme_status(health),
        "nvme_smart_health_information_log": nvme_log(health),
        "temperature": { "current": health.temperature_c },
        "power_cycle_count": health.power_cycles,
        "power_on_time": { "hours": health.power_on_minutes / 60 },
    })
}

fn nvme_status(health: &SmartHealth) -> Value {
    use nvme::warning::*;
    let bits = nvme::critical_warning(health);
    if bits == 0 {
        return json!({ "passed": true, "nvme": { "value": 0 } });
    }
    let has = |bit: u8| bits & bit != 0;
    json!({
        "passed": false,
        "nvme": {
            "value": bits,
            "spare_below_threshold": has(SPARE),
            "temperature_above_or_below_threshold": has(TEMPERATURE),
            "reliability_degraded": has(RELIABILITY),
            "media_read_only": has(READ_ONLY),
            "volatile_memory_backup_failed": has(BACKUP),
            "persistent_memory_region_unreliable": false,
            "other": 0,
        },
    })
}

fn nvme_log(health: &SmartHealth) -> Value {
    json!({
        "critical_warning": nvme::critical_warning(health),
        "temperature": health.temperature_c,
        "available_spare": health.reserve_percent(),
        "available_spare_threshold": nvme::SPARE_THRESHOLD,
        "percentage_used": health.percentage_used(),
        "data_units_read": health.host_bytes_read.div_ceil(nvme::DATA_UNIT),
        "data_units_written": health.host_bytes_written.div_ceil(nvme::DATA_UNIT),
        "host_reads": health.read_commands,
        "host_writes": health.write_commands,
        "controller_busy_time": health.busy_minutes,
        "power_cycles": health.power_cycles,
        "power_on_hours": health.power_on_minutes / 60,
        "unsafe_shutdowns": health.unsafe_shutdowns,
        "media_errors": health.uncorrectable_errors,
        "num_err_log_entries": health.uncorrectable_errors,
        "warning_temp_time": health.heat.warning_minutes,
        "critical_comp_time": health.heat.critical_minutes,
        "temperature_sensors": [health.temperature_c],
    })
}
