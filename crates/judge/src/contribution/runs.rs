//! Run directories of ours: `ssdlab run` and `ssdlab qualify`.

use super::figures::{DriveFigures, pulls};
use crate::qualify::evidence::{Evidence, Qualification, WriteProbe};
use crate::qualify::names;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_bench::device::{TargetFacts, TargetKind};
use ssdlab_bench::run_dir::{JobResult, OpResult, RunDir};
use ssdlab_ledger::formats::{ReportedDrive, ReportedFigure};
use ssdlab_ledger::metric::Metric;
use ssdlab_ledger::row::{LoadKind, RowLoad, RowPath, SyncMethod, Through};
use std::path::Path;

/// The result of a qualification within its run directory.
const QUALIFICATION: &str = "qualification.json";

pub(super) fn read(path: &Path) -> Result<DriveFigures, LabError> {
    let file = path.join(QUALIFICATION);
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            let read = serde_json::from_str::<Qualification>(&text);
            let qualification = read.map_err(|error| {
                LabError::refused(format!("{}: {error}", file.display()), "is it whole?")
            })?;
            qualified(&qualification.target.evidence, path)
        }
        Err(_) => run(path),
    }
}

/// The way to a real target. A modelled drive is no evidence of a drive.
fn way(facts: &TargetFacts, path: &Path) -> Result<RowPath, LabError> {
    match facts.kind {
        TargetKind::BlockDevice => Ok(RowPath {
            through: Through::Raw,
            how: String::new(),
        }),
        TargetKind::File => Ok(RowPath {
            through: Through::FileSystem,
            how: facts
                .file_system
                .as_deref()
                .map(file_system)
                .unwrap_or_default()
                .into(),
        }),
        TargetKind::Modelled | TargetKind::Volume | TargetKind::Null => Err(LabError::refused(
            format!(
                "{}: a run of a model is no figure of a drive",
                path.display()
            ),
            "the ledger takes runs on real drives: a block device, or a file on one",
        )),
    }
}

/// A file system by a name of this list; another is left blank.
fn file_system(name: &str) -> &'static str {
    const NAMES: [&str; 8] = ["ext4", "xfs", "btrfs", "zfs", "f2fs", "ntfs", "ufs", "apfs"];
    NAMES.into_iter().find(|known| *known == name).unwrap_or("")
}

fn of_facts(facts: &TargetFacts) -> ReportedDrive {
    ReportedDrive {
        model: facts.model.clone(),
        firmware: None,
        // A file's size is not the drive's.
        capacity: (facts.kind == TargetKind::BlockDevice).then_some(facts.capacity),
    }
}

fn load(rw: LoadKind, depth: u32, jobs: u32, sync: SyncMethod) -> RowLoad {
    RowLoad {
        rw: Some(rw),
        read_pct: (rw == LoadKind::RandRw).then_some(70),
        block_bytes: Some(4096),
        queue_depth: Some(depth),
        jobs: Some(jobs),
        sync: Some(sync),
    }
}

/// Figures of one way to a drive.
struct WayFigures {
    way: RowPath,
    figures: Vec<ReportedFigure>,
}

impl WayFigures {
    fn add(&mut self, metric: Metric, value: f64, load: &RowLoad, note: &str) {
        let (least, most) = metric.range();
        if (least..=most).contains(&value) {
            self.figures.push(ReportedFigure {
                metric,
                value,
                path: self.way.clone(),
                load: load.clone(),
                is_of_drive: true,
                trap: String::new(),
                note: note.into(),
            });
        }
    }

    fn probe(&mut self, probe: &WriteProbe) {
        let sync = match probe.method.as_str() {
            names::FUA => SyncMethod::OpenDatasync,
            names::WRITE_FLUSH => SyncMethod::Flush,
            _ => SyncMethod::None,
        };
        let mut load = load(LoadKind::RandWrite, 1, probe.writers, sync);
        load.block_bytes = Some(u64::from(probe.block_size));
        let note = "ssdlab qualify, probe of seconds";
        self.add(Metric::WriteIops, probe.per_second, &load, note);
        self.add(Metric::WriteLatencyMean, probe.mean_ns / 1e3, &load, note);
        for (metric, ns) in [
            (Metric::WriteLatencyP50, probe.p50_ns),
            (Metric::WriteLatencyP99, probe.p99_ns),
            (Metric::WriteLatencyP999, probe.p999_ns),
        ] {
            self.add(metric, ns as f64 / 1e3, &load, note);
        }
    }
}

fn qualified(evidence: &Evidence, path: &Path) -> Result<DriveFigures, LabError> {
    let mut results = WayFigures {
        way: way(&evidence.facts, path)?,
        figures: Vec::new(),
    };
    for probe in &evidence.probes {
        results.probe(probe);
    }
    for (name, metric, kind, depth) in [
        (
            names::RANDOM_WRITE,
            Metric::WriteIops,
            LoadKind::RandWrite,
            32,
        ),
        (names::READ_QD1, Metric::ReadIops, LoadKind::RandRead, 1),
        (names::READ_QD32, Metric::ReadIops, LoadKind::RandRead, 32),
        (names::MIXED, Metric::MixedIops, LoadKind::RandRw, 8),
    ] {
        if let Some(run) = evidence.run(name) {
            let load = load(kind, depth, 1, SyncMethod::None);
            let note = "ssdlab qualify, last fifth of the run";
            results.add(metric, run.iops_end, &load, note);
        }
    }
    if let Some(record) = &evidence.pulls {
        results.figures.append(&mut pulls(record).figures);
    }
    Ok(DriveFigures {
        drive: of_facts(&evidence.facts),
        figures: results.figures,
        ..DriveFigures::default()
    })
}

fn run(path: &Path) -> Result<DriveFigures, LabError> {
    let run = RunDir::open(path)?;
    let way = way(&run.header.target, path)?;
    let mut set = DriveFigures {
        drive: of_facts(&run.header.target),
        ..DriveFigures::default()
    };
    let Some(result) = &run.result else {
        set.left_out.push("the run did not come to its end".into());
        return Ok(set);
    };
    for job in &result.jobs {
        let plan = &run.header.plan["phases"][job.phase]["jobs"][job.job];
        match load_of(plan) {
            Ok(load) => job_figures(job, plan, &load, &way, &mut set.figures),
            Err(reason) => set.left_out.push(format!("job {}: {reason}", job.job + 1)),
        }
    }
    Ok(set)
}

/// The load of a job of a plan.
fn load_of(plan: &Value) -> Result<RowLoad, &'static str> {
    let is_random = plan["order"].get("Random").is_some();
    let is_sequential = !is_random && plan["random_pct"].as_u64() == Some(0);
    let (reads, writes, read_pct) = match (plan["mix"].as_str(), plan["mix"].as_object()) {
        (Some("Read"), _) => (true, false, None),
        (Some("Write"), _) => (false, true, None),
        (None, Some(mix)) => {
            let share = mix
                .values()
                .find_map(|mix| mix["read_pct"].as_u64().or(mix.as_u64()));
            (true, true, share.and_then(|share| u8::try_from(share).ok()))
        }
        _ => return Err("no load of reads or writes"),
    };
    let kind = match (is_random, is_sequential) {
        _ if reads && writes && read_pct.is_none() => return Err("a mix of an unknown share"),
        (true, _) if reads && writes => LoadKind::RandRw,
        (true, _) if reads => LoadKind::RandRead,
        (true, _) => LoadKind::RandWrite,
        (_, true) if reads && writes => LoadKind::Rw,
        (_, true) if reads => LoadKind::Read,
        (_, true) => LoadKind::Write,
        _ => return Err("neither random nor sequential"),
    };
    let sizes = plan["block_sizes"][0]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let [size] = sizes else {
        return Err("its commands are of several sizes");
    };
    let durability = &plan["durability"];
    let is_data_only = durability["data_only"].as_bool() == Some(true);
    let sync = match durability["flush_every"].as_u64().unwrap_or(0) {
        0 if durability["fua"].as_bool() == Some(true) => SyncMethod::OpenDatasync,
        0 => SyncMethod::None,
        1 if is_data_only => SyncMethod::Fdatasync,
        1 => SyncMethod::Fsync,
        _ => return Err("it syncs after several writes, not after each"),
    };
    let number = |key: &str| {
        plan[key]
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
    };
    Ok(RowLoad {
        rw: Some(kind),
        read_pct,
        block_bytes: size["bytes"].as_u64(),
        queue_depth: number("depth"),
        jobs: number("copies"),
        sync: Some(sync),
    })
}

fn job_figures(
    job: &JobResult,
    plan: &Value,
    load: &RowLoad,
    way: &RowPath,
    figures: &mut Vec<ReportedFigure>,
) {
    let is_direct = plan["direct"].as_bool() == Some(true) || load.is_durable();
    let seconds = job.length_ns as f64 / 1e9;
    let mut add = |metric: Metric, value: f64| {
        let (least, most) = metric.range();
        if (least..=most).contains(&value) {
            figures.push(ReportedFigure {
                metric,
                value,
                path: way.clone(),
                load: load.clone(),
                is_of_drive: is_direct,
                trap: if is_direct {
                    ""
                } else {
                    "through the page cache"
                }
                .into(),
                note: format!("ssdlab run; {seconds:.0} s"),
            });
        }
    };
    for op in &job.ops {
        let (count, percentiles) = match op.op.as_str() {
            "read" => (
                Metric::ReadIops,
                [
                    (99.0, Metric::ReadLatencyP99),
                    (99.9, Metric::ReadLatencyP999),
                ],
            ),
            "write" => (
                Metric::WriteIops,
                [
                    (99.0, Metric::WriteLatencyP99),
                    (99.9, Metric::WriteLatencyP999),
                ],
            ),
            _ => continue,
        };
        add(count, op.iops);
        for (percent, metric) in percentiles {
            if let Some(ns) = percentile(op, percent) {
                add(metric, ns as f64 / 1e3);
            }
        }
    }
}

fn percentile(op: &OpResult, percent: f64) -> Option<u64> {
    let mut percentiles = op.latency.percentiles.iter();
    percentiles
        .find(|percentile| percentile.percent == percent)
        .map(|percentile| percentile.ns)
}
