//! Article s2d's two command lines on the modelled consumer drive and on its protected twin: do
//! the published figures come out? Ids as in the list of published figures.
//!
//! Three values of the drive are calibrated to the cliff's time, the cliff's height and the
//! write-through level; flatness, the cliff of the write-through run and the twin are predictions.
//! Thirty virtual minutes each.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// The run's result and its IOPS per whole second.
fn diskspd(dir: &Path, drive: &str, cache: &str) -> (Value, Vec<f64>) {
    let line =
        format!("diskspd.exe -t8 -b4k -r4k -o1 -w30 {cache} -D -L -d1800 -Rxml drive:{drive}");
    let out = dir.join(format!("{drive}{cache}"));
    let mut command = Command::cargo_bin("ssdlab").expect("built");
    command.args([
        "run", "--quiet", "--json", "--size", "100GiB", "--fill", "205",
    ]);
    command
        .args(["--idle", "10m", "--out"])
        .arg(&out)
        .arg("--")
        .args(line.split(' '));
    let output = command.assert().success().get_output().stdout.clone();
    let result = serde_json::from_slice(&output).expect("JSON on standard output");
    (result, iops(&out.join("series.csv")))
}

fn iops(series: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(series).expect("series.csv");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| {
        head.iter()
            .position(|h| *h == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let (t, read, write) = (column("t_s"), column("read_count"), column("write_count"));
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| number(cells[t]) >= 0.0)
        .map(|cells| number(cells[read]) + number(cells[write]))
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation over the mean.
fn unevenness(values: &[f64]) -> f64 {
    let mean = mean(values);
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    variance.sqrt() / mean
}

fn near(what: &str, measured: f64, published: f64, share: f64) {
    let error = (measured / published - 1.0).abs();
    assert!(
        error <= share,
        "{what}: {measured:.0}, published about {published:.0}"
    );
}

#[test]
fn buffered_is_flat_drops_by_ten_thousand_at_two_minutes_and_is_flat_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let (result, iops) = diskspd(dir.path(), "consumer-sata-1tb", "-Su");
    let cliff = &result["phases"][0]["write_cliff"];
    let at = cliff["at_s"].as_f64().expect("a cliff is found");
    near("s2d.buffered.cliff_s", at, 120.0, 0.15);
    let (before, after) = (&iops[5..100], &iops[140..1795]);
    near(
        "s2d.buffered.cliff_iops",
        mean(before) - mean(after),
        10_000.0,
        0.15,
    );
    assert!(
        unevenness(before) < 0.02 && unevenness(after) < 0.02,
        "flat on both sides"
    );
    // s2d.buffered.level: well below the data sheet's 90,000.
    assert!(mean(before) < 0.75 * 90_000.0);
}

#[test]
fn write_through_is_a_fast_hard_disk_with_the_cliff_still_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let (result, iops) = diskspd(dir.path(), "consumer-sata-1tb", "-Suw");
    assert!(
        result["phases"][0]["write_cliff"]["at_s"].is_number(),
        "s2d.through.cliff"
    );
    near("s2d.through.iops", mean(&iops[600..1795]), 220.0, 0.10);
}

#[test]
fn with_a_protected_buffer_write_through_equals_buffered() {
    let dir = tempfile::tempdir().expect("a directory");
    let (_, buffered) = diskspd(dir.path(), "consumer-sata-1tb-plp", "-Su");
    let (_, through) = diskspd(dir.path(), "consumer-sata-1tb-plp", "-Suw");
    near("s2d.plp", mean(&through), mean(&buffered), 0.05);
}
