//! SMART reports as JSON, of smartctl and nvme: a report survives being written and read back,
//! every number is within reason, and no text can drive a terminal.

use crate::{Target, samples};
use ssdlab_judge::inspect::report::parse;
use ssdlab_judge::inspect::{Inspection, ReportedValue, forecasts, inspect, lines};

/// One report, or JSON lines of several.
pub const TARGET: Target = Target {
    name: "smart_report",
    run,
    seeds: || samples("crates/judge/tests/samples/smart"),
    words: &[
        "null",
        "true",
        "-1",
        "1e300",
        "18446744073709551615",
        "[]",
        "{}",
        "\"\\u001b[2J\"",
        "\"ssdlab_report\":1,",
        "\"raw\"",
        "\"value\"",
        "\"thresh\"",
    ],
};

fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let reports = match parse(&text, "input.json") {
        Ok(reports) => reports,
        Err(error) => {
            assert!(error.to_string().contains("input.json"), "{error}");
            return;
        }
    };
    assert!(!reports.is_empty());
    let mut first = None;
    for report in reports.iter().take(4) {
        let written = serde_json::to_string(report).expect("JSON");
        let again = parse(&written, "input.json").expect("a report that was written");
        assert_eq!(again.as_slice(), std::slice::from_ref(report));
        let Ok(found) = inspect(report) else {
            continue;
        };
        check(&found);
        for forecast in forecasts(first.as_ref(), &found).unwrap_or_default() {
            assert!(forecast.earliest.is_finite(), "{forecast:?}");
        }
        first.get_or_insert(found);
    }
}

fn check(found: &Inspection) {
    let life = &found.life;
    let bounded = |reported: &Option<ReportedValue>, most: f64| {
        let good = |reported: &ReportedValue| {
            (0.0..=most).contains(&reported.value) && !reported.source.is_empty()
        };
        assert!(reported.as_ref().is_none_or(good), "{reported:?}");
    };
    bounded(&life.used_percent, 255.0);
    bounded(&life.spare_percent, 100.0);
    bounded(&life.host_bytes_written, f64::MAX);
    bounded(&life.host_bytes_read, f64::MAX);
    bounded(&life.nand_bytes_written, f64::MAX);
    bounded(&life.waf, f64::MAX);
    bounded(&life.cycles_average, f64::MAX);
    let celsius = found.events.temperature_c;
    assert!(celsius.is_none_or(|celsius| (-40.0..=125.0).contains(&celsius)));
    for (_, text) in lines(found) {
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
