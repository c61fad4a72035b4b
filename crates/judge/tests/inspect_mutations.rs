//! Reports with something missing or wrong in every place: is the answer always an error or an
//! unknown, never a panic and never a number beyond reason?

use serde_json::{Value, json};
use ssdlab_base::parallel;
use ssdlab_judge::inspect::{DriveReport, Inspection, drive_reports, forecasts, inspect, lines};
use std::path::Path;

fn samples() -> Vec<DriveReport> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/smart");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("samples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| drive_reports(path).expect("a report");
    paths.iter().flat_map(read).collect()
}

/// Where every value lies, objects and arrays included.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(rows) => {
            for (n, value) in rows.iter().enumerate() {
                places(value, &format!("{at}/{n}"), found);
            }
        }
        _ => {}
    }
}

fn within_reason(found: &Inspection, what: &str) {
    let life = &found.life;
    for reported in [
        &life.used_percent,
        &life.host_bytes_written,
        &life.host_bytes_read,
        &life.nand_bytes_written,
        &life.waf,
        &life.spare_percent,
        &life.cycles_average,
    ]
    .into_iter()
    .flatten()
    {
        assert!(
            reported.value.is_finite() && reported.value >= 0.0,
            "{what}: {reported:?}"
        );
        assert!(!reported.source.is_empty());
    }
    let percent = |reported: &Option<ssdlab_judge::inspect::ReportedValue>, most: f64| {
        assert!(
            reported
                .as_ref()
                .is_none_or(|reported| reported.value <= most),
            "{what}: {reported:?}"
        );
    };
    percent(&life.used_percent, 255.0);
    percent(&life.spare_percent, 100.0);
    let celsius = found.events.temperature_c;
    assert!(
        celsius.is_none_or(|c| (-40.0..=125.0).contains(&c)),
        "{what}"
    );
}

#[test]
fn nothing_in_a_report_can_break_the_reader() {
    let wrong = [
        Value::Null,
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!("\u{1b}[2J"),
        json!([]),
        json!({ "value": {} }),
    ];
    let samples = samples();
    let tried = parallel::all(&samples, parallel::cores(), |report| {
        let mut tried = 0;
        let whole = inspect(report).ok();
        let mut all = Vec::new();
        places(&report.smartctl, "", &mut all);
        for place in all {
            for value in &wrong {
                let mut changed = report.clone();
                let Some(target) = changed.smartctl.pointer_mut(&place) else {
                    continue;
                };
                *target = value.clone();
                tried += 1;
                let Ok(found) = inspect(&changed) else {
                    continue;
                };
                let what = format!("{}{place} = {value}", report.source);
                within_reason(&found, &what);
                for (_, text) in lines(&found) {
                    assert!(!text.chars().any(char::is_control), "{what}: {text:?}");
                }
                for first in [None, whole.as_ref()] {
                    for forecast in forecasts(first, &found).unwrap_or_default() {
                        assert!(forecast.earliest.is_finite(), "{what}: {forecast:?}");
                    }
                }
            }
        }
        Ok(tried)
    });
    let tried: usize = tried.expect("no report fails").iter().sum();
    assert!(tried > 10_000, "{tried}");
}
