//! Laws of rows together.

use super::breach::breach;
use crate::metric::Metric;
use crate::row::{LedgerDrive, LedgerRow};
use ssdlab_base::LabError;
use std::collections::BTreeMap;

type RowsLaw = fn(&[LedgerRow]) -> Vec<LabError>;

pub(super) const LAWS: [RowsLaw; 5] = [
    no_row_twice,
    facts_of_a_drive_agree,
    rates_and_counts_agree,
    percentiles_are_in_order,
    counts_and_latencies_agree,
];

/// What makes two rows the same measurement, but for the metric.
fn measurement(row: &LedgerRow) -> String {
    format!(
        "{}|{}|{}|{:?}|{:?}|{:?}|{}|{}|{:?}",
        row.drive.family,
        row.drive.model,
        row.drive.firmware,
        row.state,
        row.path,
        row.load,
        row.source,
        row.place,
        row.kind,
    )
}

fn by_measurement(rows: &[LedgerRow]) -> BTreeMap<String, Vec<&LedgerRow>> {
    let mut measurements: BTreeMap<String, Vec<&LedgerRow>> = BTreeMap::new();
    for row in rows {
        measurements.entry(measurement(row)).or_default().push(row);
    }
    measurements
}

/// A source gives a figure once. Runs of one case are one row with a spread.
fn no_row_twice(rows: &[LedgerRow]) -> Vec<LabError> {
    let mut breaches = Vec::new();
    for rows in by_measurement(rows).values() {
        let mut lines: BTreeMap<Metric, &LedgerRow> = BTreeMap::new();
        for row in rows {
            if let Some(first) = lines.insert(row.figure.metric, row) {
                let place = format!("{}:{}", first.location.file, first.location.line);
                let allowed = format!("the same case stands at {place}");
                let hint = "make one row of both, with `low`, `high` and `samples`, or say in \
                            `state_how` or `place` what differs";
                let shown_value = row.figure.metric.name();
                breaches.push(breach(row, "metric", shown_value, &allowed, hint));
            }
        }
    }
    breaches
}

/// Cells of a drive that are the same in all its rows.
fn facts(drive: &LedgerDrive) -> [(&'static str, String); 10] {
    [
        ("maker", drive.maker.clone()),
        ("capacity_gb", format!("{:?}", drive.capacity_gb)),
        ("interface", format!("{:?}", drive.interface)),
        ("form", drive.form.clone()),
        ("bits_per_cell", format!("{:?}", drive.bits_per_cell)),
        ("nand", drive.nand.clone()),
        ("dram", format!("{:?}", drive.dram)),
        ("plp", format!("{:?}", drive.plp)),
        ("family", drive.family.clone()),
        ("year", format!("{:?}", drive.year)),
    ]
}

/// Two rows of one model say the same of the drive.
fn facts_of_a_drive_agree(rows: &[LedgerRow]) -> Vec<LabError> {
    let mut firsts: BTreeMap<(&str, &str), &LedgerRow> = BTreeMap::new();
    let mut breaches = Vec::new();
    for row in rows {
        let name = (row.drive.maker.as_str(), row.drive.model.as_str());
        let first = *firsts.entry(name).or_insert(row);
        let pairs = facts(&first.drive).into_iter().zip(facts(&row.drive));
        for ((column, one), (_, other)) in pairs {
            if one != other {
                let place = format!("{}:{}", first.location.file, first.location.line);
                let allowed = format!("{place} says {one} of the same model");
                let hint = "a fact of a drive is one in all its rows";
                breaches.push(breach(row, column, &other, &allowed, hint));
            }
        }
    }
    breaches
}

/// How far a rate may be from a count times its size: half of what MiB differ from MB.
const RATE_SLACK: f64 = 0.025;

/// Bytes per second are commands per second times their size.
fn rates_and_counts_agree(rows: &[LedgerRow]) -> Vec<LabError> {
    let pairs = [
        (Metric::ReadIops, Metric::ReadRate),
        (Metric::WriteIops, Metric::WriteRate),
    ];
    let mut breaches = Vec::new();
    for rows in by_measurement(rows).values() {
        let of_metric = |metric| rows.iter().find(|row| row.figure.metric == metric);
        for (count, rate) in pairs {
            let (Some(count), Some(rate)) = (of_metric(count), of_metric(rate)) else {
                continue;
            };
            let Some(block_bytes) = count.load.block_bytes else {
                continue;
            };
            let expected = count.figure.value * block_bytes as f64 / 1e6;
            if (rate.figure.value / expected - 1.0).abs() > RATE_SLACK {
                let shown_value = format!("{} MB/s", rate.figure.value);
                let allowed = format!(
                    "{} commands per second of {block_bytes} bytes are {expected:.1} MB/s",
                    count.figure.value
                );
                breaches.push(breach(
                    rate,
                    "value",
                    &shown_value,
                    &allowed,
                    "MiB are not MB",
                ));
            }
        }
    }
    breaches
}

/// Percentiles of one latency, from the least to the most.
const ORDERED: [[Metric; 5]; 3] = [
    [
        Metric::ReadLatencyP50,
        Metric::ReadLatencyP99,
        Metric::ReadLatencyP999,
        Metric::ReadLatencyP9999,
        Metric::ReadLatencyMax,
    ],
    [
        Metric::WriteLatencyP50,
        Metric::WriteLatencyP99,
        Metric::WriteLatencyP999,
        Metric::WriteLatencyP9999,
        Metric::WriteLatencyMax,
    ],
    [
        Metric::SyncLatencyP50,
        Metric::SyncLatencyP99,
        Metric::SyncLatencyP999,
        Metric::SyncLatencyP9999,
        Metric::SyncLatencyMax,
    ],
];

/// A higher percentile is no shorter.
fn percentiles_are_in_order(rows: &[LedgerRow]) -> Vec<LabError> {
    let mut breaches = Vec::new();
    for rows in by_measurement(rows).values() {
        for metrics in ORDERED {
            let present = metrics
                .iter()
                .filter_map(|metric| rows.iter().find(|row| row.figure.metric == *metric));
            let present: Vec<&&LedgerRow> = present.collect();
            for pair in present.windows(2) {
                let (lower, higher) = (&pair[0].figure, &pair[1].figure);
                if higher.value < lower.value * 0.98 {
                    let shown_value = format!("{} us", higher.value);
                    let allowed = format!("`{}` is {} us", lower.metric.name(), lower.value);
                    let hint = "are the two columns the wrong way round?";
                    breaches.push(breach(pair[1], "value", &shown_value, &allowed, hint));
                }
            }
        }
    }
    breaches
}

/// How much longer a mean latency may be than commands outstanding and their rate allow.
const LATENCY_SLACK: f64 = 1.1;

/// Rate times mean latency is no more than the commands outstanding (Little's law).
fn counts_and_latencies_agree(rows: &[LedgerRow]) -> Vec<LabError> {
    let pairs = [
        (Metric::ReadIops, Metric::ReadLatencyMean),
        (Metric::WriteIops, Metric::WriteLatencyMean),
        (Metric::WriteIops, Metric::SyncWriteLatencyMean),
    ];
    let mut breaches = Vec::new();
    for rows in by_measurement(rows).values() {
        let of_metric = |metric| rows.iter().find(|row| row.figure.metric == metric);
        for (count, latency) in pairs {
            let (Some(count), Some(latency)) = (of_metric(count), of_metric(latency)) else {
                continue;
            };
            let Some(outstanding) = count.load.outstanding() else {
                continue;
            };
            let busy = count.figure.value * latency.figure.value / 1e6;
            if busy > f64::from(outstanding) * LATENCY_SLACK {
                let shown_value = format!("{} us", latency.figure.value);
                let allowed = format!(
                    "{} per second with {outstanding} outstanding take {:.1} us each at most",
                    count.figure.value,
                    f64::from(outstanding) * 1e6 / count.figure.value
                );
                let hint = "is the latency in another unit, or of another load?";
                breaches.push(breach(latency, "value", &shown_value, &allowed, hint));
            }
        }
    }
    breaches
}
