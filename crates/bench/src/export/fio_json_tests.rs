use super::*;
use crate::record::testing;
use ssdlab_load::plan::WorkloadPlan;
use std::collections::BTreeSet;

/// Every key of a job with reads, writes, flushes and no trims in fio 3.33's JSON, as
/// `fio --output-format=json` printed it; nested keys behind a slash.
const KEYS_OF_FIO: &str = include_str!("fio_3_33_keys.txt");

fn made() -> (WorkloadPlan, RunRecord) {
    let globals = vec![
        ("bs".to_string(), "4k".to_string()),
        ("iodepth".to_string(), "1".to_string()),
    ];
    let mut job = testing::job("mix", Mix::ReadWrite { read_pct: 70 });
    job.options.push(("iodepth".to_string(), "8".to_string()));
    let write = testing::job("write", Mix::Write);
    let plan = testing::plan(Language::Fio { globals }, vec![job, write]);
    let record = testing::record(&plan, 5, 3);
    (plan, record)
}

fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}{key}");
        found.insert(path.clone());
        if key != "job options" && key != "global options" {
            keys(value, &format!("{path}/"), found);
        }
    }
}

#[test]
fn the_keys_are_those_of_fio() {
    let (plan, record) = made();
    let json = fio_json(&plan, &record, 1_795_228_701_850);
    let mut ours = BTreeSet::new();
    keys(&json, "", &mut ours);
    keys(&json["jobs"][0], "jobs/", &mut ours);
    let fio: BTreeSet<String> = KEYS_OF_FIO.lines().map(str::to_string).collect();
    assert_eq!(
        fio.difference(&ours).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "missing"
    );
    assert_eq!(
        ours.difference(&fio).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "not fio's"
    );
}

#[test]
fn the_order_of_keys_is_that_of_fio() {
    let (plan, record) = made();
    let json = fio_json(&plan, &record, 0);
    let of = |prefix: &str| -> Vec<&str> {
        let inside = KEYS_OF_FIO
            .lines()
            .filter_map(|key| key.strip_prefix(prefix));
        inside.filter(|key| !key.contains('/')).collect()
    };
    let ours = |value: &'static str| -> Vec<String> {
        let at = if value.is_empty() {
            &json["jobs"][0]
        } else {
            &json["jobs"][0][value]
        };
        at.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(ours(""), of("jobs/"));
    assert_eq!(ours("read"), of("jobs/read/"));
    assert_eq!(ours("iodepth_level"), of("jobs/iodepth_level/"));
    assert_eq!(ours("latency_ms"), of("jobs/latency_ms/"));
}

#[test]
fn numbers_are_those_of_the_record() {
    let (plan, record) = made();
    let json = fio_json(&plan, &record, 0);
    let job = &json["jobs"][0];
    let reads = &record.jobs[0].ops[Op::Read as usize];
    assert_eq!(job["read"]["total_ios"], reads.count);
    assert_eq!(job["read"]["io_bytes"], reads.count * 4096);
    assert_eq!(job["read"]["iops"], reads.count as f64 / 5.0);
    assert_eq!(job["read"]["bw"], reads.count * 4 / 5);
    assert_eq!(job["read"]["iops_samples"], 5);
    assert_eq!(job["read"]["lat_ns"]["N"], reads.count);
    assert_eq!(job["trim"]["runtime"], 0);
    assert_eq!(
        job["sync"]["total_ios"],
        record.jobs[0].ops[Op::Flush as usize].count
    );
    assert_eq!(job["usr_cpu"], 40.0);
    assert_eq!(job["iodepth_level"]["8"], 100.0);
    let shares = ["latency_ns", "latency_us", "latency_ms"]
        .iter()
        .flat_map(|unit| job[unit].as_object().unwrap().values())
        .map(|share| share.as_f64().unwrap());
    assert!((shares.sum::<f64>() - 100.0).abs() < 1e-9);
    // 60 to 100 us, one in a hundred 4000 times as long.
    assert!(job["latency_us"]["100"].as_f64().unwrap() > 95.0);
    assert!(job["latency_ms"]["500"].as_f64().unwrap() > 0.1);
}

#[test]
fn options_are_filled_and_overridden_globals_left_out() {
    let (plan, record) = made();
    let json = fio_json(&plan, &record, 0);
    let options = &json["jobs"][0]["job options"];
    for (name, value) in [
        ("rw", "randrw"),
        ("bs", "4k"),
        ("iodepth", "8"),
        ("numjobs", "2"),
    ] {
        assert_eq!(options[name], value, "{name}");
    }
    assert_eq!(options["runtime"], "10000ms");
    assert_eq!(json["global options"], json!({ "bs": "4k" }));
}

#[test]
fn nothing_done_is_still_whole() {
    let (plan, mut record) = made();
    record.wall_ns = 0;
    for job in &mut record.jobs {
        job.length = ssdlab_ssd::Nanos::ZERO;
        job.ops = [(); Op::COUNT].map(|()| OpStats::default());
        job.iops_samples = [(); Op::COUNT].map(|()| Vec::new());
    }
    record.seconds.clear();
    record.ending = RunEnding::Failed("gone".to_string());
    let json = fio_json(&plan, &record, 0);
    assert_eq!(json["jobs"][0]["error"], EIO);
    assert_eq!(json["jobs"][0]["read"]["lat_ns"]["min"], 0);
    assert!(
        json["jobs"][0]["read"]["clat_ns"]
            .get("percentile")
            .is_none()
    );
    assert!(!json.to_string().contains("null"));
}

#[test]
fn steady_state_is_written_when_asked_for() {
    let (mut plan, record) = made();
    let option = ("steadystate".to_string(), "iops_slope:0.3%".to_string());
    plan.phases[0].jobs[0].options.push(option);
    let json = fio_json(&plan, &record, 0);
    let steady = &json["jobs"][0]["steadystate"];
    assert_eq!(steady["ss"], "iops_slope:0.3%");
    assert_eq!(steady["data"]["iops"].as_array().unwrap().len(), 5);
    assert!(json["jobs"][1].get("steadystate").is_none());
}

#[test]
fn bucket_edges_are_fios() {
    for (ns, want) in [
        (0, (0, 0)),
        (1, (0, 0)),
        (2, (0, 1)),
        (999, (0, 9)),
        (1_000, (1, 0)),
        (2_000, (1, 1)),
        (99_999, (1, 5)),
        (100_000, (1, 6)),
        (999_999, (1, 9)),
        (1_000_000, (2, 0)),
        (999_999_999, (2, 9)),
        (1_000_000_000, (2, 10)),
        (2_000_000_000, (2, 11)),
        (u64::MAX, (2, 11)),
    ] {
        assert_eq!(place(ns), want, "{ns}");
    }
}

#[test]
fn times_are_those_of_asctime() {
    assert_eq!(asctime(0), "Thu Jan  1 00:00:00 1970");
    assert_eq!(asctime(951_782_400), "Tue Feb 29 00:00:00 2000");
    assert_eq!(asctime(1_795_228_701), "Sat Nov 21 02:38:21 2026");
    assert_eq!(asctime(4_107_542_399), "Sun Feb 28 23:59:59 2100");
}
