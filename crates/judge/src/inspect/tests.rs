//! Bad reports: does each give an error that says what to do, or an unknown, and never a number?

use super::*;
use serde_json::{Value, json};
use ssdlab_base::LabError;

fn look(report: Value) -> Result<Inspection, LabError> {
    inspect(&DriveReport {
        smartctl: report,
        source: "test".into(),
        ..DriveReport::default()
    })
}

fn nvme_report(log: Value) -> Value {
    json!({
        "smartctl": { "exit_status": 0 },
        "device": { "protocol": "NVMe" },
        "local_time": { "time_t": 1_700_000_000 },
        "model_name": "M",
        "nvme_smart_health_information_log": log,
    })
}

#[test]
fn an_empty_report_of_a_drive_is_all_unknown() {
    for protocol in ["NVMe", "ATA", "SCSI", "?"] {
        let found = look(json!({ "device": { "protocol": protocol }, "model_name": "M" })).unwrap();
        assert_eq!(found.life, WearStatus::default(), "{protocol}");
        assert_eq!(found.events, DriveEvents::default());
        assert_eq!((found.passed, found.protection.holds), (None, None));
        assert!(forecasts(None, &found).unwrap().is_empty());
        assert!(
            lines(&found)
                .iter()
                .any(|(label, _)| *label == "not reported")
        );
    }
}

#[test]
fn what_is_no_report_is_refused() {
    for value in [json!({}), json!({ "smartctl": { "exit_status": 0 } })] {
        let error = look(value).unwrap_err();
        assert!(error.hint().contains("smartctl --json=c -x"), "{error}");
    }
    for text in ["", "{", "[1]", "no JSON", "{\"ssdlab_report\": 9}"] {
        assert!(report::parse(text, "test").is_err(), "{text}");
    }
}

#[test]
fn what_smartctl_said_is_passed_on() {
    let report = json!({ "smartctl": {
        "exit_status": 2,
        "messages": [{ "string": "Permission denied", "severity": "error" }],
    } });
    assert!(
        look(report)
            .unwrap_err()
            .to_string()
            .contains("Permission denied")
    );
}

#[test]
fn a_rotating_disk_is_refused() {
    let report = json!({ "device": {}, "model_name": "WDC", "rotation_rate": 5400 });
    assert!(look(report).unwrap_err().to_string().contains("not an SSD"));
}

#[test]
fn nonsense_is_not_believed() {
    let mut report = nvme_report(json!({
        "percentage_used": 300,
        "available_spare": 101,
        "data_units_written": -1,
        "data_units_read": "many",
        "media_errors": 1.5,
        "unsafe_shutdowns": null,
    }));
    report["temperature"] = json!({ "current": 65_263 });
    report["power_on_time"] = json!({ "hours": 1e12 });
    report["user_capacity"] = json!({ "bytes": 0 });
    let found = look(report).unwrap();
    assert_eq!(found.life, WearStatus::default());
    assert_eq!(found.events, DriveEvents::default());
    assert_eq!(found.identity.capacity, None);
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
}

/// A real drive reported 362,060,752 minutes. Its age being unknown, 688 years were believed, and
/// shown with 100 % of the rated cycles.
#[test]
fn a_timed_workload_of_centuries_is_not_believed() {
    let report = include_str!("../../tests/samples/smart/dell-intel-s3520-240g.json");
    let mut report: serde_json::Value = serde_json::from_str(report).unwrap();
    for hours in [json!(21_213), json!(1e9), json!(-5), json!(null)] {
        report["power_on_time"]["hours"] = hours.clone();
        let found = look(report.clone()).unwrap();
        assert_eq!(found.timed, None, "{hours}");
        assert!(found.notes.iter().any(|note| note.contains("362060752")));
    }
}

/// smartctl's database lacks the Wildfire, so that it names SandForce's attributes as those of any
/// drive; they were taken for an unknown unit, and life and writes of our own model were unknown.
#[test]
fn a_sandforce_drive_outside_the_database_is_read_by_numbers() {
    let row = |id: u64, name: &str, value: u64, raw: u64| {
        let raw = json!({ "value": raw });
        json!({ "id": id, "name": name, "value": value, "thresh": 0, "raw": raw })
    };
    let report = |model: &str| {
        json!({
            "device": { "protocol": "ATA" },
            "model_name": model,
            "ata_smart_attributes": { "table": [
                row(231, "Unknown_SSD_Attribute", 87, 0),
                row(233, "Media_Wearout_Indicator", 0, 5_000),
                row(241, "Total_LBAs_Written", 0, 2_000),
                row(242, "Total_LBAs_Read", 0, 700),
            ] },
        })
    };
    let life = look(report("Patriot Wildfire, 120 GB")).unwrap().life;
    let gib = f64::from(1 << 30);
    assert_eq!(life.used_percent.unwrap().value, 13.0);
    assert_eq!(life.host_bytes_written.unwrap().value, 2_000.0 * gib);
    assert_eq!(life.host_bytes_read.unwrap().value, 700.0 * gib);
    assert_eq!(life.nand_bytes_written.unwrap().value, 5_000.0 * gib);
    assert_eq!(life.waf.unwrap().value, 2.5);
    // The same numbers of a drive whose controller is not known stay unknown.
    assert_eq!(
        look(report("Some Drive")).unwrap().life,
        WearStatus::default()
    );
}

/// With many namespaces smartctl gives the capacity of the whole drive only.
#[test]
fn the_capacity_of_the_whole_drive_stands_in_for_the_namespaces() {
    let mut report = nvme_report(json!({}));
    report["nvme_total_capacity"] = json!(3_200_631_791_616_u64);
    let capacity = |report: &Value| look(report.clone()).unwrap().identity.capacity;
    assert_eq!(capacity(&report), Some(3_200_631_791_616));
    report["user_capacity"] = json!({ "bytes": 450_098_159_616_u64 });
    assert_eq!(capacity(&report), Some(450_098_159_616));
}

/// smartctl writes counters beyond 2^53 as text, too. No drive has written that much.
#[test]
fn counters_wider_than_json_numbers_are_read_and_not_believed() {
    let drive = look(nvme_report(json!({
        "data_units_written": 1,
        "data_units_written_s": "36893488147419103232",
    })))
    .unwrap();
    assert_eq!(drive.life.host_bytes_written, None);
    let note = "data_units_written gives 1.9e25 bytes, more than any drive moves in 50 years";
    assert!(drive.notes[0].contains(note), "{:?}", drive.notes);
}

#[test]
fn a_cut_off_last_line_is_left_out() {
    let line = json!({ "device": {}, "model_name": "M" }).to_string();
    let text = format!("{line}\n{line}\n{}", &line[..10]);
    assert_eq!(report::parse(&text, "test").unwrap().len(), 2);
}

fn at(days: f64, used: f64, units: f64) -> Inspection {
    let mut report = nvme_report(json!({ "percentage_used": used, "data_units_written": units }));
    report["local_time"]["time_t"] = json!(1_700_000_000 + (days * 86_400.0) as i64);
    look(report).unwrap()
}

fn days(forecast: &Forecast, from: &Inspection) -> (f64, Option<f64>, Option<f64>) {
    let day = |t: f64| (t - from.taken_at.unwrap() as f64) / 86_400.0;
    (
        day(forecast.earliest),
        forecast.likely.map(day),
        forecast.latest.map(day),
    )
}

/// By hand: 10 % in 100 days, 20 % used: 80 % left take 800 days; with one per cent either way
/// 79/11 x 100 = 718 to 81/9 x 100 = 900.
#[test]
fn a_forecast_from_percentages_has_the_bounds_of_their_resolution() {
    let (first, last) = (at(0.0, 10.0, 0.0), at(100.0, 20.0, 0.0));
    let found = forecasts(Some(&first), &last).unwrap();
    let by_percent = found
        .iter()
        .find(|f| f.method == forecast::ForecastMethod::PercentageUsed);
    let (earliest, likely, latest) = days(by_percent.unwrap(), &last);
    assert!((earliest - 7900.0 / 11.0).abs() < 1e-6, "{earliest}");
    assert!((likely.unwrap() - 800.0).abs() < 1e-6);
    assert!((latest.unwrap() - 900.0).abs() < 1e-6);
}

#[test]
fn a_percentage_that_did_not_move_gives_no_date_but_a_bound() {
    let (first, last) = (at(0.0, 5.0, 0.0), at(10.0, 5.0, 0.0));
    let found = forecasts(Some(&first), &last).unwrap();
    let by_percent = found
        .iter()
        .find(|f| f.method == forecast::ForecastMethod::PercentageUsed);
    let (earliest, likely, latest) = days(by_percent.unwrap(), &last);
    assert!((earliest - 940.0).abs() < 1e-6, "{earliest}");
    assert_eq!((likely, latest), (None, None));
}

/// Writes tell more than per cents: 10 % after 1,000 units, 10 units a day: 9,000 left, 900 days.
#[test]
fn writes_refine_a_percentage() {
    let (first, last) = (at(0.0, 10.0, 9_900_000.0), at(10.0, 10.0, 10_000_000.0));
    let found = forecasts(Some(&first), &last).unwrap();
    assert_eq!(found[0].method, forecast::ForecastMethod::WritesPerPercent);
    let (earliest, likely, latest) = days(&found[0], &last);
    assert!((likely.unwrap() - 9000.0).abs() < 1.0);
    assert!((earliest - 89.0 / 11.0 * 1000.0).abs() < 1.0, "{earliest}");
    assert!(
        (latest.unwrap() - 91.0 / 9.0 * 1000.0).abs() < 1.0,
        "{latest:?}"
    );
}

#[test]
fn a_load_that_never_writes_gives_no_number() {
    let (first, last) = (at(0.0, 0.0, 10.0), at(10.0, 0.0, 10.0));
    for forecast in forecasts(Some(&first), &last).unwrap() {
        assert_eq!(
            (forecast.likely, forecast.latest),
            (None, None),
            "{forecast:?}"
        );
    }
}

#[test]
fn reports_that_do_not_belong_together_are_refused() {
    let (first, last) = (at(0.0, 10.0, 100.0), at(1.0, 11.0, 200.0));
    for (first, last, expected) in [
        (&last, &first, "not later"),
        (&at(0.0, 12.0, 100.0), &last, "went back"),
        (&at(0.0, 10.0, 300.0), &last, "went back"),
    ] {
        let error = forecasts(Some(first), last).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let mut other = last.clone();
    other.identity.serial = Some("X".into());
    let error = forecasts(Some(&first), &other).unwrap_err();
    assert!(error.to_string().contains("different drives"));
    let mut timeless = last.clone();
    timeless.taken_at = None;
    assert!(forecasts(Some(&first), &timeless).is_err());
    assert!(forecasts(None, &timeless).unwrap().is_empty());
}

/// The modelled drive's own report, read back: 39 % used, 270 TB written, WAF 1.9; Intel's timed
/// workload since 12,797 minutes.
#[test]
fn what_the_modelled_drive_serves_is_understood() {
    use ssdlab_drives::smart::json::{DeviceName, ata_report};
    use ssdlab_drives::smart::{AttributeSet, sample};
    let device = DeviceName {
        name: "-".into(),
        kind: "ata".into(),
    };
    let identity = sample::identity("INTEL SSDSC2BA200G3", Some(ssdlab_drives::smart::INTEL_DC));
    let report = ata_report(&device, &identity, AttributeSet::Intel, &sample::health());
    let found = look(report).unwrap();
    assert_eq!(
        found.life.used_percent.as_ref().unwrap().value.round(),
        39.0
    );
    let written = found.life.host_bytes_written.unwrap();
    assert!((written.value / 270e12 - 1.0).abs() < 1e-6);
    assert!((found.life.waf.unwrap().value - 1.9).abs() < 1e-3);
    assert_eq!(found.timed.unwrap().minutes, 12_797.0);
    assert_eq!(found.events.unsafe_shutdowns, Some(67));
    assert_eq!(found.protection.holds, Some(true));
    assert_eq!(
        found.known.unwrap().rating.unwrap().bytes_written,
        3_650_000_000_000_000
    );
}
