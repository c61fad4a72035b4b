//! Reports as people save and paste them, and attributes by the names that makers give them.

use super::*;
use serde_json::{Value, json};

fn read(text: &str) -> Inspection {
    let reports = report::parse(text, "test").unwrap();
    assert_eq!(reports.len(), 1);
    inspect(&reports[0]).unwrap()
}

fn value(reported: &Option<ReportedValue>) -> Option<f64> {
    reported.as_ref().map(|reported| reported.value)
}

const NVME_TEXT: &str = "\
smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.8.0] (local build)
=== START OF INFORMATION SECTION ===
Model Number:                       CT1000P3PSSD8
Serial Number:                      X1
Firmware Version:                   P9CR411
Total NVM Capacity:                 1,000,204,886,016 [1.00 TB]
=== START OF SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x00
Temperature:                        42 Celsius
Available Spare:                    100%
Available Spare Threshold:          5%
Percentage Used:                    61%
Data Units Read:                    12\u{202f}345\u{202f}678 [6.32 TB]
Data Units Written:                 256,000,000 [131 TB]
Power Cycles:                       37
Power On Hours:                     8.000
Unsafe Shutdowns:                   12
Media and Data Integrity Errors:    0
Warning  Comp. Temperature Time:    3
";

#[test]
fn smartctl_s_text_of_an_nvme_drive_is_read() {
    let drive = read(NVME_TEXT);
    assert_eq!(drive.identity.model.as_deref(), Some("CT1000P3PSSD8"));
    assert_eq!(drive.identity.capacity, Some(1_000_204_886_016));
    assert_eq!(
        (drive.passed, drive.events.temperature_c),
        (Some(true), Some(42.0))
    );
    assert_eq!(value(&drive.life.used_percent), Some(61.0));
    assert_eq!(value(&drive.life.spare_percent), Some(100.0));
    assert_eq!(drive.life.spare_threshold, Some(5.0));
    // Separators of thousands are those of the user's language.
    assert_eq!(
        value(&drive.life.host_bytes_written),
        Some(256e6 * 512_000.0)
    );
    assert_eq!(
        value(&drive.life.host_bytes_read),
        Some(12_345_678.0 * 512_000.0)
    );
    assert_eq!(drive.events.power_on_hours, Some(8000.0));
    assert_eq!(
        (drive.events.power_cycles, drive.events.unsafe_shutdowns),
        (Some(37), Some(12))
    );
    assert_eq!(
        (drive.events.media_errors, drive.events.too_warm_minutes),
        (Some(0), Some(3.0))
    );
}

/// The table of `-a`, and that of `-x` with flags in letters and device statistics.
#[test]
fn smartctl_s_text_of_a_sata_drive_is_read() {
    let head = "=== START OF INFORMATION SECTION ===\nModel Family:     Samsung based SSDs\n\
                Device Model:     Samsung SSD 860 EVO 500GB\nSerial Number:    X1\n\
                User Capacity:    500,107,862,016 bytes [500 GB]\n\
                Rotation Rate:    Solid State Device\n\
                SMART overall-health self-assessment test result: PASSED\n\
                ID# ATTRIBUTE_NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW\n";
    let long = " 5 Reallocated_Sector_Ct 0x0033 100 100 010 Pre-fail Always - 0\n \
                9 Power_On_Hours 0x0032 097 097 000 Old_age Always - 13041\n \
                12 Power_Cycle_Count 0x0032 099 099 000 Old_age Always - 61\n\
                177 Wear_Leveling_Count 0x0013 093 093 000 Pre-fail Always - 101\n\
                190 Airflow_Temperature_Cel 0x0032 068 048 000 Old_age Always - 32 (Min/Max 9/52)\n\
                241 Total_LBAs_Written 0x0032 099 099 000 Old_age Always - 61035156250\n";
    let brief = " 5 Reallocated_Sector_Ct PO--CK 100 100 010 - 0\n \
                 9 Power_On_Hours -O--CK 097 097 000 - 13041h+12m+03.120s\n \
                 12 Power_Cycle_Count -O--CK 099 099 000 - 61\n\
                 177 Wear_Leveling_Count PO--C- 093 093 000 - 101\n\
                 190 Airflow_Temperature_Cel -O--CK 068 048 000 - 32 (Min/Max 20/52)\n\
                 Device Statistics (GP Log 0x04)\n\
                 0x01 0x018 6 61035156250 --- Logical Sectors Written\n\
                 0x07 0x008 1 7 N-- Percentage Used Endurance Indicator\n";
    for table in [long, brief] {
        let drive = read(&format!("{head}{table}"));
        assert_eq!(drive.identity.capacity, Some(500_107_862_016));
        assert_eq!(value(&drive.life.used_percent), Some(7.0));
        assert_eq!(
            value(&drive.life.host_bytes_written),
            Some(61_035_156_250.0 * 512.0)
        );
        assert_eq!(value(&drive.life.cycles_average), Some(101.0));
        assert_eq!(drive.events.power_on_hours, Some(13041.0));
        assert_eq!(
            (drive.events.power_cycles, drive.events.retired),
            (Some(61), Some(0))
        );
        assert_eq!(drive.events.temperature_c, Some(32.0));
    }
    let disk = head.replace("Solid State Device", "7200 rpm");
    let report = report::parse(&disk, "test").unwrap();
    assert!(
        inspect(&report[0])
            .unwrap_err()
            .to_string()
            .contains("rotating disk")
    );
}

#[test]
fn smartctl_s_text_of_a_sas_drive_is_read() {
    let drive = read(
        "=== START OF INFORMATION SECTION ===\nVendor:               SAMSUNG\n\
         Product:              MZILT960HBHQ/007\nRevision:             GXA0\n\
         User Capacity:        960,197,124,096 bytes [960 GB]\n\
         Rotation Rate:        Solid State Device\nTransport protocol:   SAS (SPL-4)\n\
         SMART Health Status: OK\nPercentage used endurance indicator: 3%\n\
         Current Drive Temperature:     31 C\n\
         Accumulated power on time, hours:minutes 21034:17\n\
         Elements in grown defect list: 2\n\
         read:          0        0         0         0          0     190345.210           0\n\
         write:         0        0         0         0          0      84211.019           1\n",
    );
    assert_eq!(
        drive.identity.model.as_deref(),
        Some("SAMSUNG MZILT960HBHQ/007")
    );
    assert_eq!(
        (drive.passed, drive.events.temperature_c),
        (Some(true), Some(31.0))
    );
    assert_eq!(value(&drive.life.used_percent), Some(3.0));
    assert_eq!(value(&drive.life.host_bytes_written), Some(84_211.019e9));
    assert_eq!(
        (drive.events.retired, drive.events.media_errors),
        (Some(2), Some(1))
    );
    assert_eq!(drive.events.power_on_hours, Some(21034.0));
}

#[test]
fn nvme_cli_is_read_as_json_and_as_text_with_the_controller_beside_it() {
    let log = json!({
        "critical_warning": 4, "temperature": 324, "avail_spare": 99, "spare_thresh": 10,
        "percent_used": 30, "data_units_written": 1_900_000_000_u64, "power_on_hours": 24000,
        "power_cycles": 5, "unsafe_shutdowns": 49, "media_errors": 0,
    });
    let controller = json!({"mn": "EXAMPLE 4TB  ", "sn": "X1", "fr": "1.0", "vwc": 7,
        "tnvmcap": 4_000_787_030_016_u64});
    let text = "Smart Log for NVME device:nvme0 namespace-id:ffffffff\n\
                critical_warning\t\t\t: 0x4\ntemperature\t\t\t\t: 51 °C (324 K)\n\
                available_spare\t\t\t\t: 99%\navailable_spare_threshold\t\t: 10%\n\
                percentage_used\t\t\t\t: 30%\nData Units Written\t\t\t: 1,900,000,000 (972.80 TB)\n\
                power_cycles\t\t\t\t: 5\npower_on_hours\t\t\t\t: 24,000\n\
                unsafe_shutdowns\t\t\t: 49\nmedia_errors\t\t\t\t: 0\n";
    let both = format!("{log}\n{controller}");
    for (text, model) in [
        (text, None),
        (&log.to_string(), None),
        (&both, Some("EXAMPLE 4TB")),
    ] {
        let drive = read(text);
        assert_eq!(drive.identity.model.as_deref(), model);
        assert_eq!(
            (drive.passed, drive.events.temperature_c),
            (Some(false), Some(51.0))
        );
        assert_eq!(value(&drive.life.used_percent), Some(30.0));
        assert_eq!(value(&drive.life.spare_percent), Some(99.0));
        assert_eq!(
            value(&drive.life.host_bytes_written),
            Some(1.9e9 * 512_000.0)
        );
        assert_eq!(drive.events.power_on_hours, Some(24000.0));
        // No media error, and no rated life used up: what degraded it is not said.
        let warning = "reliability degraded, by an internal error that it does not name";
        assert_eq!(drive.warnings, [warning]);
    }
}

#[test]
fn utf_16_of_either_order_is_read() {
    let units: Vec<u16> = NVME_TEXT.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    for bytes in [
        [&[0xff, 0xfe], &little[..]].concat(),
        [&[0xfe, 0xff], &big[..]].concat(),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let reports = drive_reports(file.path()).unwrap();
        assert_eq!(
            value(&inspect(&reports[0]).unwrap().life.used_percent),
            Some(61.0)
        );
    }
}

fn sata(model: &str, table: Value) -> Inspection {
    let report = json!({
        "smartctl": {"exit_status": 0}, "device": {"protocol": "ATA"}, "rotation_rate": 0,
        "model_name": model, "ata_smart_attributes": {"table": table},
    });
    read(&report.to_string())
}

fn row(id: u64, name: &str, value: u64, raw: u64) -> Value {
    json!({"id": id, "name": name, "value": value, "thresh": 10, "raw": {"value": raw}})
}

/// Makers put the life that is left, or used, into the raw value, the normalized one, or both.
#[test]
fn life_is_read_by_the_attribute_s_name() {
    for (name, normalized, raw, used) in [
        ("Remaining_Lifetime_Perc", 100, 96, 4.0),
        ("Remaining_Lifetime_Perc", 96, 96, 4.0),
        ("Lifetime_Left", 88, 0, 12.0),
        ("Lifetime_Remaining%", 88, 1234, 12.0),
        ("SSD_Life_Left", 100, 0, 0.0),
        ("Percent_Life_Remaining", 253, 70, 30.0),
        ("Perc_Rated_Life_Used", 88, 12, 12.0),
        ("Percent_Lifetime_Used", 100, 7, 7.0),
        ("Drive_Life_Used%", 93, 0, 7.0),
        ("DriveLife_Used%", 100, 0, 0.0),
    ] {
        let drive = sata("NONAME", json!([row(169, name, normalized, raw)]));
        let life = value(&drive.life.used_percent);
        assert_eq!(life, Some(used), "{name} {normalized} {raw}");
    }
}

#[test]
fn spare_writes_and_impossible_counters_of_known_makers() {
    let micron = sata(
        "Micron_5210_MTFDDAK960QDE",
        json!([
            row(170, "Reserved_Block_Pct", 100, 0),
            row(180, "Unused_Rsvd_Blk_Cnt_Tot", 1, 2946)
        ]),
    );
    assert_eq!(value(&micron.life.spare_percent), Some(100.0));
    let blocks_only = json!([row(180, "Unused_Rsvd_Blk_Cnt_Tot", 1, 2946)]);
    assert_eq!(
        sata("Micron_5210", blocks_only.clone()).life.spare_percent,
        None
    );
    let two_kinds = sata(
        "NONAME",
        json!([
            row(245, "TLC_Writes_32MiB", 100, 100),
            row(246, "SLC_Writes_32MiB", 100, 20)
        ]),
    );
    let bytes = 120.0 * f64::from(32 << 20);
    assert_eq!(value(&two_kinds.life.nand_bytes_written), Some(bytes));
    let gigabytes = sata(
        "SK hynix SC311",
        json!([row(241, "Total_Writes_GB", 100, 1234)]),
    );
    assert_eq!(value(&gigabytes.life.host_bytes_written), Some(1.234e12));
    let full_of_ones = sata(
        "NONAME",
        json!([row(241, "Host_Writes_32MiB", 100, (1 << 48) - 1)]),
    );
    assert_eq!(full_of_ones.life.host_bytes_written, None);
    assert!(
        full_of_ones
            .notes
            .iter()
            .any(|note| note.contains("not believed"))
    );
}

#[test]
fn a_disk_without_a_rotation_rate_is_known_by_its_heads() {
    let report = |rate: Option<u64>| {
        let table = json!([
            row(3, "Spin_Up_Time", 95, 0),
            row(7, "Seek_Error_Rate", 89, 9)
        ]);
        let mut report = json!({"device": {"protocol": "ATA"}, "model_name": "ST3200820AS",
            "ata_smart_attributes": {"table": table}});
        report["rotation_rate"] = rate.into();
        inspect(&report::parse(&report.to_string(), "test").unwrap()[0])
    };
    assert!(
        report(None)
            .unwrap_err()
            .to_string()
            .contains("rotating disk")
    );
    assert!(report(Some(0)).is_ok(), "smartctl says that nothing turns");
}
