use super::*;
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::engine::Observer;
use ssdlab_bench::record::Second;
use ssdlab_bench::run::RunProgress;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

struct Nobody;

impl Observer for Nobody {
    fn second(&mut self, _: &Second, _: &[Latencies]) -> Result<(), LabError> {
        Ok(())
    }
}

impl RunProgress for Nobody {
    fn begins(&mut self, _: &str, _: f64) {}
    fn filling(&mut self, _: &Path, _: u64, _: u64) {}
}

fn tested(tests: &[SniaTest], class: SniaClass) -> Suite {
    let request = SniaRequest {
        drive: "intel-dc-s3700-400gb".into(),
        class,
        tests: tests.to_vec(),
        to: Some(256 << 20),
        seed: 1,
        started_at: "2026-01-01T00:00:00Z".into(),
        arguments: vec!["snia".into()],
    };
    let stop = AtomicBool::new(false);
    suite(&request, &mut Nobody, &stop, &mut |_| Ok(())).unwrap()
}

/// Range and slope of the window, from the text of `rounds.csv` alone: by the normal equations, not
/// by the program's own functions.
fn by_hand(csv: &str, test: &str, one: &TrackingVariable) -> (usize, f64, f64, f64) {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows: Vec<BTreeMap<&str, &str>> = lines
        .map(|row| head.iter().copied().zip(row).collect())
        .collect();
    let block = one.block_bytes.map(|b| b.to_string()).unwrap_or_default();
    let outstanding = |row: &BTreeMap<&str, &str>| -> u32 {
        row["threads"].parse::<u32>().unwrap() * row["depth"].parse::<u32>().unwrap()
    };
    let y: Vec<f64> = rows
        .iter()
        .filter(|row| row["test"] == test && row["part"] == one.part)
        .filter(|row| row["read_pct"] == one.read_pct.to_string() && row["block_bytes"] == block)
        .filter(|row| outstanding(row) == one.outstanding)
        .map(|row| row[one.column.as_str()].parse().unwrap())
        .collect();
    let from = y.len() - 5;
    let window = &y[from..];
    let sum: f64 = window.iter().sum();
    let sum_xy: f64 = window.iter().zip(1..).map(|(y, x)| f64::from(x) * y).sum();
    let slope = (5.0 * sum_xy - 15.0 * sum) / (5.0 * 55.0 - 225.0);
    let max = window.iter().copied().fold(f64::MIN, f64::max);
    let min = window.iter().copied().fold(f64::MAX, f64::min);
    (from, (max - min) / (sum / 5.0), slope, sum / 5.0)
}

/// The verdict of each tracked variable is the one that its rows in the CSV give by hand, and the
/// test ended in the first round in which all of them were steady.
#[test]
fn steady_state_is_the_one_that_the_rows_give() {
    let suite = tested(
        &[SniaTest::Latency, SniaTest::Throughput],
        SniaClass::Enterprise,
    );
    let csv = csv(&suite.tests);
    for tested in &suite.tests {
        assert!(tested.failures.is_empty(), "{:?}", tested.failures);
        assert!(!tested.tracked.is_empty());
        for one in &tested.tracked {
            let (from, range, slope, average) = by_hand(&csv, tested.test.name(), one);
            let steady = one.steady.as_ref().unwrap();
            assert_eq!(steady.window_start, from, "{}", one.name);
            assert!((steady.range_share - range).abs() < 1e-9, "{}", one.name);
            assert!(
                (steady.slope - slope).abs() <= 1e-9 * average,
                "{}",
                one.name
            );
            let attained = range <= 0.2 && 4.0 * slope.abs() <= 0.1 * average;
            assert_eq!(steady.attained, attained, "{}", one.name);
        }
    }
}

/// A round of the IOPS test has the 56 points of the specification, over the client's range.
#[test]
fn a_client_uses_its_range_and_its_demand() {
    let suite = tested(&[SniaTest::WriteSaturation], SniaClass::Client);
    let rows = &suite.tests[0].rows;
    assert!(rows.iter().all(|row| (row.threads, row.depth) == (2, 16)));
    assert!(
        suite
            .reduced
            .as_ref()
            .unwrap()
            .contains("Reduced: scaled from")
    );
    let page = page(&suite, &suite.tests[0]);
    for wanted in [
        "Write Saturation Test - Report Page",
        "Reduced: scaled",
        "75 %",
        "TC 2, QD 16",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn an_unknown_test_is_named() {
    let error = SniaTest::named("iop").unwrap_err();
    assert!(
        error.hint().contains("host-idle-recovery"),
        "{}",
        error.hint()
    );
}
