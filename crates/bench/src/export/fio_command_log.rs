//! fio's `write_bw_log`, `write_iops_log` and `write_lat_log` files with `log_avg_msec=0`: a line
//! for each command, written as the run goes on.
//!
//! A line is `time_ms, value, direction, length, priority`, with the offset before the priority
//! where the job has `log_offset=1`. The time is from the start of the job's counted part to the
//! command's completion; the value is the latency in ns (lat, clat), 1 (iops), or bytes per ms of
//! latency (bw). Names are fio's: prefix, kind, and the number of the copy among all copies of all
//! jobs, from 1. Not written: slat, since commands are handed over together here.
//! Source: fio 3.33, by its own logs.

use super::fio_log::requested_logs;
use crate::engine::LoggedCommand;
use ssdlab_base::LabError;
use ssdlab_load::plan::{JobSpec, WorkloadPlan};
use ssdlab_ssd::Op;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Phase, job within it, copy.
type JobCopyKey = (usize, u32, u32);

/// The logs of a run that have a line for each command.
#[derive(Debug, Default)]
pub struct CommandLogs {
    files: BTreeMap<JobCopyKey, Vec<CommandLogFile>>,
}

#[derive(Debug)]
struct CommandLogFile {
    kind: &'static str,
    /// Lines have the command's offset.
    offsets: bool,
    path: PathBuf,
    file: BufWriter<File>,
}

impl CommandLogs {
    /// Creates the files that the jobs of `plan` ask for, in `directory`.
    ///
    /// # Errors
    /// When one cannot be created.
    pub fn create(plan: &WorkloadPlan, directory: &Path) -> Result<CommandLogs, LabError> {
        let mut logs = CommandLogs::default();
        let mut number = 0;
        for (phase, jobs) in plan.phases.iter().enumerate() {
            for (position, job) in jobs.jobs.iter().enumerate() {
                for copy in 0..job.copies {
                    number += 1;
                    if job.log_each {
                        let key = (phase, position as u32, copy);
                        logs.files.insert(key, created(job, number, directory)?);
                    }
                }
            }
        }
        Ok(logs)
    }

    /// Writes the lines of `commands`; they are in the files when this returns.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, commands: &[LoggedCommand]) -> Result<(), LabError> {
        for logged in commands {
            let key = (logged.phase, logged.job, logged.copy);
            for log in self.files.get_mut(&key).into_iter().flatten() {
                let written = log.line(logged);
                written.map_err(|error| LabError::file("writing", &log.path, error))?;
            }
        }
        for log in self.files.values_mut().flatten() {
            let flushed = log.file.flush();
            flushed.map_err(|error| LabError::file("writing", &log.path, error))?;
        }
        Ok(())
    }
}

fn created(job: &JobSpec, number: u32, directory: &Path) -> Result<Vec<CommandLogFile>, LabError> {
    let find_option = |name: &str| job.options.iter().rfind(|(option, _)| option == name);
    let offsets = find_option("log_offset").is_some_and(|(_, value)| value != "0");
    let kinds = requested_logs(job)
        .flat_map(|(prefix, kinds)| kinds.iter().map(move |kind| (prefix, *kind)));
    kinds
        .map(|(prefix, kind)| {
            let path = directory.join(format!("{prefix}_{kind}.{number}.log"));
            let file = File::create(&path);
            let file = file.map_err(|error| LabError::file("creating", &path, error))?;
            Ok(CommandLogFile {
                kind,
                offsets,
                path,
                file: BufWriter::new(file),
            })
        })
        .collect()
}

impl CommandLogFile {
    fn line(&mut self, logged: &LoggedCommand) -> io::Result<()> {
        let command = &logged.command;
        let direction = match command.op {
            Op::Read => 0,
            Op::Write | Op::WriteZeroes => 1,
            Op::Trim => 2,
            Op::Flush => return Ok(()),
        };
        let latency = logged.latency.0;
        let value = match self.kind {
            "iops" => 1,
            "bw" => (u64::from(command.len) * 1_000_000)
                .checked_div(latency)
                .unwrap_or(0),
            _ => latency,
        };
        let (ms, len) = (logged.at.0 / 1_000_000, command.len);
        if self.offsets {
            let offset = command.offset;
            writeln!(self.file, "{ms}, {value}, {direction}, {len}, {offset}, 0")
        } else {
            writeln!(self.file, "{ms}, {value}, {direction}, {len}, 0")
        }
    }
}
