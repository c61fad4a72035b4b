//! A fingerprint in a terminal.

use super::course::{Fingerprint, ProbeCost};
use super::probes::Probe;
use super::values::FingerprintValue;
use ssdlab_view::text::{PLAIN, finish, list, new_table, paragraph};
use ssdlab_view::units;

/// A number with its unit.
pub(super) fn number(value: f64, unit: &str) -> String {
    match unit {
        _ if value.is_infinite() => "more".into(),
        "B" => units::decimal_bytes(value),
        "B/s" => units::throughput(value),
        "ns" => units::time_mean(value),
        "share" => format!("{:.1} %", value * 100.0),
        "yes" if value == 1.0 => "yes".into(),
        "yes" => "no".into(),
        _ => format!("{value:.1}"),
    }
}

/// Name, value, interval.
pub(super) fn cells(value: &FingerprintValue) -> [String; 3] {
    let known = value
        .value
        .map_or("UNKNOWN".into(), |known| number(known, value.unit));
    let interval = value.interval.map_or(String::new(), |[low, high]| {
        format!(
            "{} to {}",
            number(low, value.unit),
            number(high, value.unit)
        )
    });
    [value.title.into(), known, interval]
}

/// What will be done.
pub fn plan(planned: &[(Probe, ProbeCost)], left_out: &[(Probe, String)]) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["Probe", "For", "Writes at most", "Seconds"]);
    for (probe, cost) in planned {
        let seconds = format!("{:.0}", cost.seconds);
        let writes = units::decimal_bytes(cost.bytes as f64);
        table.add_row([
            probe.name().into(),
            probe.purpose().to_string(),
            writes,
            seconds,
        ]);
    }
    let mut out = finish(&table);
    for (probe, why) in left_out {
        out += &paragraph("left out:", &format!("{}: {why}", probe.name()));
    }
    out
}

/// A fingerprint as text.
pub fn text(fingerprint: &Fingerprint) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["Of the drive", "Value", "Interval"]);
    for value in &fingerprint.values {
        table.add_row(cells(value));
    }
    let mut out = finish(&table);
    let unknown = fingerprint
        .values
        .iter()
        .filter(|value| value.value.is_none());
    let why: Vec<String> = unknown
        .map(|value| format!("{}: {}", value.title, value.why))
        .collect();
    if !why.is_empty() {
        out += &format!("\n{}", list("UNKNOWN:", &why));
    }
    let written: u64 = fingerprint
        .done
        .iter()
        .map(|completed| completed.cost.bytes)
        .sum();
    let seconds: f64 = fingerprint
        .done
        .iter()
        .map(|completed| completed.cost.seconds)
        .sum();
    let cost = format!(
        "{} written, {:.2} times the capacity, in {seconds:.0} s of the target's time",
        units::decimal_bytes(written as f64),
        written as f64 / fingerprint.bytes as f64
    );
    out + &paragraph("\ncost:", &cost)
}
