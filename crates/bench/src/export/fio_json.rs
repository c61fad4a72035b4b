//! fio's JSON output, as version 3.33 writes it with `--output-format=json`.
//!
//! One entry in `jobs` per job, its copies together (fio's `group_reporting`), in plan order.
//! Every key of fio is there, in fio's order; what fio measures and we do not is said here:
//!
//! - `job options` holds the options as written plus `rw`, `bs`, `iodepth`, `numjobs`, `direct`,
//!   `filename` and `runtime` where they were left to defaults: fio-plot needs the first four.
//! - `global options` leaves out what some job overrides, because fio-plot lets globals win.
//! - `slat_ns` is empty and `clat_ns` equals `lat_ns`: latency is from submission to completion.
//! - `bw_min`, `bw_max`, `bw_mean`, `bw_dev` are the per-second IOPS times the mean size.
//! - `usr_cpu` and `sys_cpu` are those of the whole run; `ctx`, `majf`, `minf` are 0.
//! - `iodepth_level` shows the depth asked for, not sampled ones.
//! - `steadystate`, written when the option is, holds the SNIA test, not fio's criterion.
//! - `disk_util` is absent, as with fio's null engine.
//!
//! Source: output of fio 3.33; HOWTO.rst, "Interpreting the output"; stat.c for bucket edges.

use super::spec_of;
use crate::analysis::latency::{
    PERCENTILES, merged, percentile_ns, shortest_ns, standard_deviation_ns,
};
use crate::analysis::{series, stats, steady};
use crate::record::{JobRecord, OpStats, RunEnding, RunRecord};
use serde_json::{Map, Value, json};
use ssdlab_load::plan::{JobSpec, Language, Mix, Order, WorkloadPlan};
use ssdlab_ssd::Op;

/// Upper edges of fio's latency buckets, each in its unit; a bucket ends before its edge.
const EDGES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// errno EIO, which `error` shows when a command failed.
const EIO: u64 = 5;

/// The record as fio would have printed it. `finished_ms` is the time of the report in
/// milliseconds since 1970, UTC.
pub fn fio_json(plan: &WorkloadPlan, record: &RunRecord, finished_ms: u64) -> Value {
    let mut top = Map::new();
    let version = format!("fio-3.33 compatible, ssdlab {}", env!("CARGO_PKG_VERSION"));
    top.insert("fio version".to_string(), version.into());
    top.insert("timestamp".to_string(), (finished_ms / 1000).into());
    top.insert("timestamp_ms".to_string(), finished_ms.into());
    top.insert("time".to_string(), asctime(finished_ms / 1000).into());
    if let Language::Fio { globals } = &plan.language {
        top.insert("global options".to_string(), shared_options(plan, globals));
    }
    let jobs = record
        .jobs
        .iter()
        .filter_map(|job| Some(entry(record, job, spec_of(plan, job)?)));
    top.insert("jobs".to_string(), jobs.collect());
    Value::Object(top)
}

/// What fio calls this job's kind: `randwrite`, `rw`, `trim`...
pub(super) fn rw(spec: &JobSpec) -> String {
    let random = matches!(spec.order, Order::Random { .. });
    let kind = match spec.mix {
        Mix::Read => "read",
        Mix::Write => "write",
        Mix::Trim => "trim",
        Mix::ReadWrite { .. } => "rw",
    };
    format!("{}{kind}", if random { "rand" } else { "" })
}

/// Globals that every job still has as they were written.
fn shared_options(plan: &WorkloadPlan, globals: &[(String, String)]) -> Value {
    let jobs = || plan.phases.iter().flat_map(|phase| &phase.jobs);
    let unchanged = |(name, value): &&(String, String)| {
        jobs().all(|job| job.options.iter().all(|(n, v)| n != name || v == value))
    };
    let shared = globals.iter().filter(unchanged);
    Value::Object(
        shared
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect(),
    )
}

fn job_options(spec: &JobSpec) -> Map<String, Value> {
    let mut options: Map<String, Value> = Map::new();
    for (name, value) in &spec.options {
        options.insert(name.clone(), value.as_str().into());
    }
    // Numbers in the form that int() takes, whatever the user wrote.
    options.insert("iodepth".to_string(), spec.depth.to_string().into());
    options.insert("numjobs".to_string(), spec.copies.to_string().into());
    let mut default = |name: &str, value: String| {
        options.entry(name).or_insert_with(|| value.into());
    };
    default("rw", rw(spec));
    let kind = match spec.mix {
        Mix::Read | Mix::ReadWrite { .. } => 0,
        Mix::Write => 1,
        Mix::Trim => 2,
    };
    let bytes = spec.block_sizes[kind].first().map_or(0, |size| size.bytes);
    default("bs", short_size(bytes));
    default("direct", u8::from(spec.direct).to_string());
    if let Some(target) = &spec.target {
        default("filename", target.clone());
    }
    if let Some(run) = spec.time.run {
        default("runtime", format!("{}ms", run.0 / 1_000_000));
    }
    options
}

/// `4k`, `1m`, `512`.
fn short_size(bytes: u32) -> String {
    match bytes {
        b if b > 0 && b.is_multiple_of(1 << 20) => format!("{}m", b >> 20),
        b if b > 0 && b.is_multiple_of(1 << 10) => format!("{}k", b >> 10),
        b => b.to_string(),
    }
}

fn entry(record: &RunRecord, job: &JobRecord, spec: &JobSpec) -> Value {
    let options = job_options(spec);
    let steady_state = options
        .get("steadystate")
        .map(|criterion| steady(record, job.phase, criterion));
    let failed =
        matches!(record.ending, RunEnding::Failed(_)) || job.ops.iter().any(|o| o.errors > 0);
    let runtime_ms = job.length.0 / 1_000_000;
    let cpu = |ns: u64| 100.0 * ns as f64 / record.wall_ns.max(1) as f64;
    // fio has no "write zeroes": to it they are writes.
    let writes = merged([
        &job.ops[Op::Write as usize],
        &job.ops[Op::WriteZeroes as usize],
    ]);
    let direction_of = |op: Op| {
        direction(
            &job.ops[op as usize],
            runtime_ms,
            &job.iops_samples[op as usize],
        )
    };
    let flushes = &job.ops[Op::Flush as usize];
    let mut value = json!({
        "jobname": spec.name,
        "groupid": job.phase,
        "error": if failed { EIO } else { 0 },
        "eta": 0,
        "elapsed": job.length.0.div_ceil(1_000_000_000),
        "job options": options,
        "read": direction_of(Op::Read),
        "write": direction(&writes, runtime_ms, &job.iops_samples[Op::Write as usize]),
        "trim": direction_of(Op::Trim),
        "sync": { "total_ios": flushes.count, "lat_ns": latency(flushes, true) },
        "job_runtime": runtime_ms,
        "usr_cpu": cpu(record.cpu_ns.0),
        "sys_cpu": cpu(record.cpu_ns.1),
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": depth_level(spec.depth),
        "iodepth_submit": batches(),
        "iodepth_complete": batches(),
    });
    if let Value::Object(fields) = &mut value {
        fields.extend(latency_buckets(&merged([
            &job.ops[0],
            &writes,
            &job.ops[2],
        ])));
        fields.insert("latency_depth".to_string(), spec.depth.into());
        fields.insert("latency_target".to_string(), 0.into());
        fields.insert("latency_percentile".to_string(), 100.0.into());
        fields.insert("latency_window".to_string(), 0.into());
        if let Some(steady_state) = steady_state {
            fields.insert("steadystate".to_string(), steady_state);
        }
    }
    value
}

/// fio's `read`, `write` and `trim` objects.
fn direction(ops: &OpStats, runtime_ms: u64, iops: &[f64]) -> Value {
    let runtime_ms = if ops.count == 0 { 0 } else { runtime_ms };
    let per_second = |n: u64| {
        if runtime_ms == 0 {
            0.0
        } else {
            n as f64 * 1000.0 / runtime_ms as f64
        }
    };
    let iops = if ops.count == 0 { &[] } else { iops };
    let kib = ops.bytes as f64 / 1024.0 / ops.count.max(1) as f64;
    let least = iops.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let most = iops.iter().copied().reduce(f64::max).unwrap_or(0.0);
    let (mean, deviation) = (stats::mean(iops), stats::standard_deviation(iops));
    let empty = json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 });
    json!({
        "io_bytes": ops.bytes,
        "io_kbytes": ops.bytes / 1024,
        "bw_bytes": per_second(ops.bytes) as u64,
        "bw": (per_second(ops.bytes) / 1024.0) as u64,
        "iops": per_second(ops.count),
        "runtime": runtime_ms,
        "total_ios": ops.count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": empty,
        "clat_ns": latency(ops, true),
        "lat_ns": latency(ops, false),
        "bw_min": (least * kib) as u64,
        "bw_max": (most * kib) as u64,
        "bw_agg": if iops.is_empty() { 0.0 } else { 100.0 },
        "bw_mean": mean * kib,
        "bw_dev": deviation * kib,
        "bw_samples": iops.len(),
        "iops_min": least as u64,
        "iops_max": most as u64,
        "iops_mean": mean,
        "iops_stddev": deviation,
        "iops_samples": iops.len(),
    })
}

fn latency(ops: &OpStats, percentiles: bool) -> Value {
    let mut value = json!({
        "min": shortest_ns(ops),
        "max": ops.latency_ns_max,
        "mean": ops.mean_ns(),
        "stddev": standard_deviation_ns(ops),
        "N": ops.count,
    });
    if percentiles && ops.count > 0 {
        let pair = |p: f64| (format!("{p:.6}"), Value::from(percentile_ns(ops, p)));
        value["percentile"] = Value::Object(PERCENTILES.into_iter().map(pair).collect());
    }
    value
}

/// Shares of commands in per cent by latency, in three objects whose sum is 100.
fn latency_buckets(ops: &OpStats) -> [(String, Value); 3] {
    let mut counts = [[0u64; 12]; 3];
    for bucket in ops.latencies.iter_recorded() {
        let value = bucket.value_iterated_to();
        let low = ops.latencies.lowest_equivalent(value);
        let (unit, index) = place(low.midpoint(value));
        counts[unit][index] += bucket.count_since_last_iteration();
    }
    let total = ops.count.max(1) as f64;
    let object = |unit: usize, more: &[&str]| {
        let names = EDGES
            .iter()
            .map(u64::to_string)
            .chain(more.iter().map(ToString::to_string));
        let share = |(index, name)| {
            (
                name,
                Value::from(100.0 * counts[unit][index] as f64 / total),
            )
        };
        Value::Object(names.enumerate().map(share).collect())
    };
    [
        ("latency_ns".to_string(), object(0, &[])),
        ("latency_us".to_string(), object(1, &[])),
        ("latency_ms".to_string(), object(2, &["2000", ">=2000"])),
    ]
}

/// Unit (ns, us, ms) and position of the bucket that `ns` falls into.
fn place(ns: u64) -> (usize, usize) {
    let (unit, value) = match ns {
        0..1_000 => (0, ns),
        1_000..1_000_000 => (1, ns / 1_000),
        _ => (2, ns / 1_000_000),
    };
    let index = match value {
        0..1000 => EDGES
            .iter()
            .position(|edge| value < *edge)
            .unwrap_or(EDGES.len() - 1),
        1000..2000 => 10,
        _ => 11,
    };
    (unit, index)
}

fn depth_level(depth: u32) -> Value {
    let level = depth.max(1).ilog2().min(6);
    let name = |step: u32| {
        if step == 6 {
            ">=64".to_string()
        } else {
            (1 << step).to_string()
        }
    };
    let share = |step| {
        (
            name(step),
            Value::from(if step == level { 100.0 } else { 0.0 }),
        )
    };
    Value::Object((0..=6).map(share).collect())
}

/// One to four commands per system call, as fio counts submitting one by one.
fn batches() -> Value {
    json!({
        "0": 0.0, "4": 100.0, "8": 0.0, "16": 0.0, "32": 0.0, "64": 0.0, ">=64": 0.0,
    })
}

/// fio's `steadystate` object from the SNIA test, over 25 rounds of equal length or fewer.
fn steady(record: &RunRecord, phase: usize, asked: &Value) -> Value {
    let ops = [Op::Read, Op::Write, Op::Trim];
    let iops = series::iops(&record.seconds, phase, &ops);
    let bytes = series::bytes_per_second(&record.seconds, phase, &ops);
    let round_s = iops.len().div_ceil(steady::ROUNDS_MAX).max(1);
    let iops = steady::rounds(&iops, round_s);
    let kib: Vec<f64> = steady::rounds(&bytes, round_s)
        .iter()
        .map(|b| b / 1024.0)
        .collect();
    let steady_state = steady::steady_state(&iops);
    let start = steady_state.as_ref().map_or(0, |s| s.window_start);
    let window = |values: &[f64]| -> Vec<f64> {
        values
            .iter()
            .skip(start)
            .take(steady::WINDOW)
            .copied()
            .collect()
    };
    let (iops, kib) = (window(&iops), window(&kib));
    json!({
        "ss": asked,
        "duration": round_s * steady::WINDOW,
        "attained": u8::from(steady_state.as_ref().is_some_and(|s| s.attained)),
        "criterion": "SNIA PTS 2.0.2: range 20%, slope 10% over five rounds",
        "max_deviation": steady_state.as_ref().map_or(0.0, |s| s.range_share * s.average),
        "slope": steady_state.as_ref().map_or(0.0, |s| s.slope),
        "data": {
            "bw_mean": stats::mean(&kib) as u64,
            "iops_mean": stats::mean(&iops) as u64,
            "iops": iops,
            "bw": kib,
        },
    })
}

/// `Sat Nov 21 02:38:21 2026`, UTC, as C's `asctime` prints it.
fn asctime(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let days = seconds / 86_400;
    // Years begin in March here, so that the leap day is the last one.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = 400 * era + year_of_era + u64::from(month >= 10);
    format!(
        "{} {} {day:>2} {:02}:{:02}:{:02} {year}",
        DAYS[(days % 7) as usize],
        MONTHS[((month + 2) % 12) as usize],
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    )
}

#[cfg(test)]
#[path = "fio_json_tests.rs"]
mod tests;
