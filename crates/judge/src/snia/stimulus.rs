//! Cross stimulus recovery: sequential writes, random writes, sequential writes again.

use super::load::SniaLoad;
use super::result::SniaPoint;
use super::rig::{SniaRig, block_bytes};
use super::short::SniaFindings;
use ssdlab_base::LabError;
use ssdlab_bench::record::Second;
use ssdlab_load::plan::{Language, WorkloadPlan};
use ssdlab_ssd::Op;

const KIB: u32 = 1024;
const HOUR_S: f64 = 3600.0;
/// Seconds of the specification per sample.
const SAMPLE_S: f64 = 60.0;
/// Share of the first group's mean at which the last one counts as recovered.
const RECOVERED: f64 = 0.95;

/// The three groups: part, load.
pub fn groups() -> [(&'static str, SniaLoad); 3] {
    let sequential = SniaLoad::sequential(0, 1024 * KIB);
    let random = SniaLoad {
        sequential: false,
        ..SniaLoad::sequential(0, 8 * KIB)
    };
    [
        ("group-1-sequential", sequential.lasting(8.0 * HOUR_S)),
        ("group-2-random", random.lasting(6.0 * HOUR_S)),
        ("group-3-sequential", sequential.lasting(8.0 * HOUR_S)),
    ]
}

/// Eight hours of 1 MiB sequential writes, six of 8 KiB random ones, eight sequential again. A
/// group is one stream, so that sequential writes go on where they were; its samples are minutes,
/// or seconds of the drive's clock where the reduced minute is shorter.
///
/// # Errors
/// When the drive fails.
pub fn cross_stimulus_recovery(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    rig.purge()?;
    let per_sample = ((SAMPLE_S / rig.reduction) as usize).max(1);
    for (part, load) in groups() {
        if rig.stopped() {
            break;
        }
        let plan = WorkloadPlan {
            language: Language::Ssdlab,
            phases: vec![load.phase(rig.class, rig.reduction, rig.seed << 20)],
        };
        rig.seed += 1;
        let record = rig.record(&plan)?;
        let seconds: Vec<&Second> = record.seconds.iter().filter(|s| s.t_s >= 0).collect();
        for (at, seconds) in seconds.chunks(per_sample).enumerate() {
            rig.rows.push(sample(part, at + 1, &load, seconds));
        }
    }
    let minutes = per_sample as f64 * rig.reduction / 60.0;
    let mut notes = vec![format!(
        "A sample is {per_sample} s of the drive's clock: {minutes:.1} minutes of the \
         specification."
    )];
    notes.extend(recovery(&rig.rows, minutes));
    Ok((Vec::new(), Vec::new(), notes))
}

fn sample(part: &str, round: usize, load: &SniaLoad, seconds: &[&Second]) -> SniaPoint {
    let writes = |s: &&Second| s.ops[Op::Write as usize];
    let length_s: f64 = seconds.iter().map(|s| s.length_s).sum();
    let count: u64 = seconds.iter().map(|s| writes(s).count).sum();
    let bytes: u64 = seconds.iter().map(|s| writes(s).bytes).sum();
    let sum: f64 = seconds
        .iter()
        .map(|s| writes(s).mean_ns * writes(s).count as f64)
        .sum();
    let longest = seconds.iter().map(|s| writes(s).max_ns).max();
    let length = length_s.max(f64::MIN_POSITIVE);
    SniaPoint {
        part: part.to_owned(),
        round,
        threads: load.threads,
        depth: load.depth,
        read_pct: load.read_pct,
        block_bytes: block_bytes(load),
        length_s,
        read_count: 0,
        write_count: count,
        bytes,
        iops: count as f64 / length,
        bytes_per_second: bytes as f64 / length,
        mean_ns: sum / count.max(1) as f64,
        // Percentiles of seconds cannot be added up: the largest of them bounds it from above.
        p99999_ns: longest.unwrap_or(0),
        max_ns: longest.unwrap_or(0),
    }
}

/// When the throughput of the last group is back at the mean of the first.
fn recovery(rows: &[SniaPoint], minutes: f64) -> Option<String> {
    let [first, _, last] = groups().map(|(part, _)| {
        let part_rows = rows.iter().filter(move |row| row.part == part);
        part_rows
            .map(|row| row.bytes_per_second)
            .collect::<Vec<f64>>()
    });
    if first.is_empty() || last.is_empty() {
        return None;
    }
    let mean = first.iter().sum::<f64>() / first.len() as f64;
    let index = last.iter().position(|rate| *rate >= RECOVERED * mean);
    let percent = RECOVERED * 100.0;
    Some(match index {
        Some(index) => format!(
            "Recovery: throughput was back at {percent:.0} % of the first group's mean within \
             {:.1} minutes of the specification.",
            (index + 1) as f64 * minutes
        ),
        None => format!(
            "Recovery: throughput did not come back to {percent:.0} % of the first group's mean."
        ),
    })
}
