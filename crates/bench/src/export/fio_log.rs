//! fio's `write_bw_log`, `write_iops_log` and `write_lat_log` files with `log_avg_msec=1000`. Logs
//! of single commands are those of [`super::CommandLogs`].
//!
//! A line is `time_ms, value, direction, block size, priority`; direction 0 reads, 1 writes,
//! 2 trims. Rates are per second, bandwidth in KiB/s, latency in ns. Recorded seconds do not
//! tell jobs apart, so a phase gives one set of files, named after its first job the way
//! fio-plot looks for them: `randwrite-iodepth-8-numjobs-2_iops.1.log`.

use super::fio_json::rw;
use crate::record::{OpSecond, RunRecord, Second};
use ssdlab_load::plan::{JobSpec, WorkloadPlan};
use ssdlab_ssd::Op;
use std::fmt::Write;

/// A log to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// File name, no directory.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A log's name and what it says of one kind of command; `None` leaves the line out.
type FioLogColumn = (&'static str, fn(&OpSecond, f64) -> Option<f64>);

const COLUMNS: [FioLogColumn; 4] = [
    ("iops", |o, length_s| Some(o.count as f64 / length_s)),
    ("bw", |o, length_s| Some(o.bytes as f64 / 1024.0 / length_s)),
    ("lat", |o, _| (o.count > 0).then_some(o.mean_ns)),
    ("clat", |o, _| (o.count > 0).then_some(o.mean_ns)),
];

/// The logs of the counted part of `phase`; none when there is no such phase. Put the logs of
/// different phases into different directories: fio-plot adds up what has the same name.
pub fn fio_logs(plan: &WorkloadPlan, record: &RunRecord, phase: usize) -> Vec<LogFile> {
    let Some(first) = plan.phases.get(phase).and_then(|phase| phase.jobs.first()) else {
        return Vec::new();
    };
    let stem = format!(
        "{}-iodepth-{}-numjobs-{}",
        rw(first),
        first.depth,
        first.copies
    );
    let (seconds, used) = counted(&record.seconds, phase);
    let file = |(name, value): FioLogColumn| LogFile {
        name: format!("{stem}_{name}.1.log"),
        text: lines(&seconds, &used, value),
    };
    COLUMNS.into_iter().map(file).collect()
}

/// The logs of every phase of recorded seconds, named as fio names those of its jobs: the first
/// phase gives `PREFIX_iops.1.log` and so on, the second `PREFIX_iops.2.log`.
pub fn logs_of_seconds(prefix: &str, seconds: &[Second]) -> Vec<LogFile> {
    let mut phases: Vec<usize> = seconds.iter().map(|second| second.phase).collect();
    phases.dedup();
    let mut logs = Vec::new();
    for phase in phases {
        let (seconds, used) = counted(seconds, phase);
        logs.extend(COLUMNS.into_iter().map(|(name, value)| LogFile {
            name: format!("{prefix}_{name}.{}.log", phase + 1),
            text: lines(&seconds, &used, value),
        }));
    }
    logs
}

/// The logs that jobs ask for with `write_bw_log`, `write_iops_log` and `write_lat_log`, by fio's
/// names: the option's value or the job's name, `_bw`, and the number of the copy from 1. A
/// line stands for a second whatever `log_avg_msec` says, unless that is 0. Recorded seconds do
/// not tell jobs or copies apart: only a job that has its phase to itself, in one copy, has logs.
pub fn asked_logs(plan: &WorkloadPlan, record: &RunRecord) -> Vec<LogFile> {
    let mut logs = Vec::new();
    let mut number = 1;
    for (phase, jobs) in plan.phases.iter().enumerate() {
        if let [job] = &jobs.jobs[..]
            && job.copies == 1
            && !job.log_each
        {
            for (prefix, columns) in requested_logs(job) {
                logs.extend(fio_logs(plan, record, phase).into_iter().filter_map(|log| {
                    let column = columns
                        .iter()
                        .find(|c| log.name.ends_with(&format!("_{c}.1.log")))?;
                    let name = format!("{prefix}_{column}.{number}.log");
                    Some(LogFile { name, ..log })
                }));
            }
        }
        number += jobs.jobs.iter().map(|job| job.copies).sum::<u32>();
    }
    logs
}

/// The logs that a job asks for: what their names begin with, and their kinds.
pub(super) fn requested_logs(
    job: &JobSpec,
) -> impl Iterator<Item = (&str, &'static [&'static str])> {
    ASKED.into_iter().filter_map(|(option, kinds)| {
        let written = job.options.iter().rfind(|(name, _)| name == option);
        let (_, value) = written?;
        // A prefix may name a directory; the logs stay in that of the run.
        let prefix = value.rsplit('/').next().unwrap_or_default();
        let prefix = match prefix {
            "" | "1" => job.name.as_str(),
            _ => prefix,
        };
        Some((prefix, kinds))
    })
}

/// The counted seconds of `phase`, and the kinds of commands that happen in them.
fn counted(seconds: &[Second], phase: usize) -> (Vec<&Second>, Vec<Op>) {
    let counted = |s: &&Second| s.phase == phase && s.t_s >= 0 && s.length_s > 0.0;
    let seconds: Vec<&Second> = seconds.iter().filter(counted).collect();
    let used = [Op::Read, Op::Write, Op::Trim]
        .into_iter()
        .filter(|op| seconds.iter().any(|s| s.ops[*op as usize].count > 0))
        .collect();
    (seconds, used)
}

/// fio's option, and which logs it asks for.
const ASKED: [(&str, &[&str]); 3] = [
    ("write_bw_log", &["bw"]),
    ("write_iops_log", &["iops"]),
    ("write_lat_log", &["lat", "clat"]),
];

fn lines(seconds: &[&Second], used: &[Op], value: fn(&OpSecond, f64) -> Option<f64>) -> String {
    let mut text = String::new();
    for second in seconds {
        let end_ms = second.t_s as f64 * 1000.0 + second.length_s * 1000.0;
        for op in used {
            if let Some(value) = value(&second.ops[*op as usize], second.length_s) {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{end_ms:.0}, {value:.0}, {}, 0, 0", *op as u8);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::testing;
    use ssdlab_load::plan::{Language, Mix};

    #[test]
    fn asked_logs_have_fio_s_names() {
        let mut jobs = vec![testing::job("a", Mix::Read)];
        jobs[0].copies = 1;
        let asked = [("write_bw_log", "1"), ("write_lat_log", "logs/mine")];
        jobs[0].options = asked.map(|(n, v)| (n.to_owned(), v.to_owned())).to_vec();
        let plan = testing::plan(Language::Ssdlab, jobs);
        let record = testing::record(&plan, 3, 1);
        let names = |plan: &WorkloadPlan| -> Vec<String> {
            let logs = asked_logs(plan, &record).into_iter();
            logs.map(|log| log.name).collect()
        };
        assert_eq!(
            names(&plan),
            ["a_bw.1.log", "mine_lat.1.log", "mine_clat.1.log"]
        );
        // Of two copies there is one series, which is neither's.
        let mut two = plan.clone();
        two.phases[0].jobs[0].copies = 2;
        assert!(names(&two).is_empty());
    }

    #[test]
    fn lines_are_the_seconds() {
        let jobs = vec![testing::job("a", Mix::ReadWrite { read_pct: 50 })];
        let plan = testing::plan(Language::Ssdlab, jobs);
        let mut record = testing::record(&plan, 3, 1);
        record.seconds.insert(0, testing::idle(0, -1));
        record.seconds[1].ops[0] = OpSecond::default();
        let logs = fio_logs(&plan, &record, 0);
        let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
        assert_eq!(names[0], "randrw-iodepth-8-numjobs-2_iops.1.log");
        assert_eq!(names.len(), 4);
        let lines: Vec<&str> = logs[0].text.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[0], "1000, 0, 0, 0, 0");
        assert_eq!(
            lines[3],
            format!("2000, {}, 1, 0, 0", record.seconds[2].ops[1].count)
        );
        // An idle second has a rate of 0 and no latency.
        assert_eq!(logs[2].text.lines().count(), 5);
        assert!(fio_logs(&plan, &record, 1).is_empty());
        let of_seconds = logs_of_seconds("out/a", &record.seconds);
        let names: Vec<&str> = of_seconds.iter().map(|log| log.name.as_str()).collect();
        assert_eq!(names[..2], ["out/a_iops.1.log", "out/a_bw.1.log"]);
        assert_eq!(of_seconds[0].text, logs[0].text);
    }
}
