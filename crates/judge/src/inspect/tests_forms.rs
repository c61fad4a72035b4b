//! Reports in more forms: cut off, quoted, of several drives, of other systems and languages, from
//! behind controllers and bridges.

use super::*;

fn all(text: &str) -> Vec<Inspection> {
    let reports = report::parse(text, "test").unwrap();
    reports.iter().map(|one| inspect(one).unwrap()).collect()
}

fn one(text: &str) -> Inspection {
    let mut drives = all(text);
    assert_eq!(drives.len(), 1, "{text}");
    drives.remove(0)
}

fn refusal(text: &str) -> String {
    let error = report::parse(text, "test").and_then(|reports| inspect(&reports[0]).map(|_| ()));
    format!("{:?}", error.unwrap_err())
}

fn value(reported: &Option<ReportedValue>) -> Option<f64> {
    reported.as_ref().map(|reported| reported.value)
}

fn nvme_text(model: &str, used: u32) -> String {
    format!(
        "=== START OF INFORMATION SECTION ===\n\
         Model Number:                       {model}\n\
         Serial Number:                      {model}-1\n\
         === START OF SMART DATA SECTION ===\n\
         SMART overall-health self-assessment test result: PASSED\n\
         SMART/Health Information (NVMe Log 0x02)\n\
         Critical Warning:                   0x00\n\
         Percentage Used:                    {used}%\n\
         Data Units Written:                 2,000,000 [1.02 TB]\n\
         Power On Hours:                     1,234\n"
    )
}

#[test]
fn utf_16_without_its_mark_is_read() {
    let text = nvme_text("ONE", 7);
    let bytes = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<_>>();
    for bytes in [bytes(u16::to_le_bytes), bytes(u16::to_be_bytes)] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let drive = inspect(&drive_reports(file.path()).unwrap()[0]).unwrap();
        assert_eq!(value(&drive.life.used_percent), Some(7.0));
    }
}

#[test]
fn lines_of_windows_and_lines_that_a_mail_quotes_are_read() {
    let text = nvme_text("ONE", 7);
    let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
    for text in [text.replace('\n', "\r\n"), quoted] {
        let drive = one(&text);
        assert_eq!(drive.identity.model.as_deref(), Some("ONE"), "{text}");
        assert_eq!(value(&drive.life.used_percent), Some(7.0));
        assert_eq!(drive.events.power_on_hours, Some(1234.0));
    }
}

/// The values of two drives were once those of the first.
#[test]
fn several_drives_in_one_text_are_several_drives() {
    let drives = all(&(nvme_text("ONE", 7) + &nvme_text("TWO", 60)));
    let read: Vec<_> = drives
        .iter()
        .map(|drive| {
            (
                drive.identity.model.as_deref(),
                value(&drive.life.used_percent),
            )
        })
        .collect();
    assert_eq!(read, [(Some("ONE"), Some(7.0)), (Some("TWO"), Some(60.0))]);
}

/// glibc puts the user's separators of thousands into whole numbers, and the user's point into
/// those with decimals.
#[test]
fn a_sas_drive_s_gigabytes_are_read_in_other_languages() {
    for (capacity, written) in [
        ("960,197,124,096", "84211.019"),
        ("960.197.124.096", "84211,019"),
        ("960 197 124 096", "84211,019"),
        ("960\u{202f}197\u{202f}124\u{202f}096", "84211,019"),
        ("960\u{2019}197\u{2019}124\u{2019}096", "84211.019"),
    ] {
        let drive = one(&format!(
            "=== START OF INFORMATION SECTION ===\nVendor: SAMSUNG\nProduct: MZILT960HBHQ/007\n\
             User Capacity:        {capacity} bytes [960 GB]\nRotation Rate: Solid State Device\n\
             Transport protocol:   SAS (SPL-4)\nSMART Health Status: OK\n\
             SS Media used endurance indicator: 3%\n\
             write:         0        0         0         0          0      {written}           0\n"
        ));
        assert_eq!(drive.identity.capacity, Some(960_197_124_096), "{capacity}");
        let bytes = value(&drive.life.host_bytes_written).map(f64::round);
        assert_eq!(bytes, Some(84_211_019e6), "{written}");
        assert_eq!(value(&drive.life.used_percent), Some(3.0));
    }
}

#[test]
fn freebsd_s_nvmecontrol_is_read() {
    let drive = one(
        "SMART/Health Information Log\n============================\n\
         Critical Warning State:         0x00\n Available spare:               0\n\
         Temperature:                    313 K, 39.85 C, 103.73 F\n\
         Available spare:                100\nAvailable spare threshold:      10\n\
         Percentage used:                12\n\
         Data units (512,000 byte) read: 1234567\nData units written:             7654321\n\
         Power cycles:                   99\nPower on hours:                 4567\n\
         Unsafe shutdowns:               8\nMedia errors:                   0\n\
         Warning Temp Composite Time:    3\n",
    );
    assert_eq!(
        (drive.passed, drive.events.temperature_c),
        (Some(true), Some(40.0))
    );
    assert_eq!(value(&drive.life.used_percent), Some(12.0));
    assert_eq!(
        value(&drive.life.host_bytes_written),
        Some(7_654_321.0 * 512_000.0)
    );
    assert_eq!(
        (drive.events.power_on_hours, drive.events.media_errors),
        (Some(4567.0), Some(0))
    );
    assert_eq!(drive.events.too_warm_minutes, Some(3.0));
}

#[test]
fn nvme_cli_s_text_of_a_controller_is_read_alone_and_beside_its_log() {
    let controller = "NVME Identify Controller:\nvid       : 0x144d\nsn        : S1\n\
                      mn        : Samsung SSD 970 EVO Plus 1TB\nfr        : 2B2QEXM7\n\
                      tnvmcap   : 1000204886016\nvwc       : 0x1\n";
    let log = "Smart Log for NVME device:nvme0 namespace-id:ffffffff\n\
               critical_warning\t\t\t: 0\npercentage_used\t\t\t\t: 4%\n\
               data_units_written\t\t\t: 42,316,130 (21.67 TB)\n";
    for (text, used) in [
        (controller.to_owned(), None),
        (format!("{controller}{log}"), Some(4.0)),
        (format!("{log}{controller}"), Some(4.0)),
    ] {
        let drive = one(&text);
        let name = drive.identity.model.as_deref();
        assert_eq!(name, Some("Samsung SSD 970 EVO Plus 1TB"));
        assert_eq!(drive.identity.capacity, Some(1_000_204_886_016));
        assert_eq!(drive.cache.volatile, Some(true));
        assert_eq!(value(&drive.life.used_percent), used);
    }
}

#[test]
fn json_after_the_command_that_printed_it_is_read() {
    let drive = one(
        "root@host:~# smartctl --json -a /dev/nvme0\n{\"device\": {\"protocol\": \"NVMe\"}, \
         \"model_name\": \"ONE\", \
         \"nvme_smart_health_information_log\": {\"percentage_used\": 7}}\n",
    );
    assert_eq!(value(&drive.life.used_percent), Some(7.0));
}

#[test]
fn a_report_that_was_cut_off_says_so() {
    let refused = refusal("{\"device\": {\"protocol\": \"NVMe\"}, \"model_name\": ");
    assert!(refused.contains("it ends in the middle"), "{refused}");
}

/// What smartctl said is the answer, and not that its words are no JSON.
#[test]
fn what_smartctl_could_not_open_is_refused_in_its_words() {
    for (said, named) in [
        (
            "/dev/sdb: Unknown USB bridge [0x152d:0x0583 (0x214)]\nPlease specify device type \
             with the -d option.",
            "sntjmicron",
        ),
        (
            "Smartctl open device: /dev/sda failed: Permission denied",
            "as root",
        ),
        (
            "/dev/sda: Unable to detect device type\nPlease specify device type with the -d \
             option.",
            "megaraid",
        ),
        (
            "/dev/sda [megaraid_disk_00]: Device open changed type\nSmartctl open device: \
             /dev/sda [megaraid_disk_99] failed: INQUIRY failed",
            "megaraid",
        ),
    ] {
        let banner = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.8.0] (local build)\n\n";
        let refused = refusal(&format!("{banner}{said}\n"));
        assert!(refused.contains("could not read the drive"), "{refused}");
        assert!(refused.contains(named), "{refused}");
    }
}

/// A RAID controller's volume and a bridge answer for themselves.
#[test]
fn what_hides_the_drive_is_named() {
    for text in [
        "=== START OF INFORMATION SECTION ===\nVendor: DELL\nProduct: PERC H730P Mini\n\
         User Capacity: 479,559,942,144 bytes [479 GB]\nTransport protocol: SAS\n",
        "=== START OF INFORMATION SECTION ===\nVendor: JMicron\nProduct: Generic\n\
         User Capacity: 1,000,204,886,016 bytes [1.00 TB]\n\
         SMART support is:     Unavailable - device lacks SMART capability.\n",
    ] {
        let notes = one(text).notes.join(" ");
        assert!(notes.contains("says nothing of the drive"), "{notes}");
        assert!(notes.contains("--device-type"), "{notes}");
    }
    assert!(one(&nvme_text("SUPERCAP", 1)).notes.is_empty());
}

#[test]
fn sas_disks_without_a_rotation_rate_are_refused() {
    let refused = refusal(
        "=== START OF INFORMATION SECTION ===\nVendor: SEAGATE\nProduct: ST33000650SS\n\
         Transport protocol: SAS\nSMART Health Status: OK\n\
         Accumulated start-stop cycles:  123\nAccumulated load-unload cycles:  4321\n",
    );
    assert!(refused.contains("rotating disk"), "{refused}");
}
