//! What becomes of a fio job file, for comparison with fio itself (`tests/fio_side_by_side.py`):
//!
//! * `fio_commands list JOB.fio`: the commands of each copy of each job, in order, a line each:
//!   job, copy, kind, offset and length in bytes.
//! * `fio_commands run JOB.fio`: carried out on a modelled drive, a line for each job: its name,
//!   reads, writes, trims, bytes, and seconds.

#![allow(clippy::print_stdout)]

use ssdlab_base::LabError;
use ssdlab_bench::device::ModelledTarget;
use ssdlab_bench::engine::{Unobserved, run};
use ssdlab_drives::catalogue;
use ssdlab_load::fio;
use ssdlab_load::follow::FollowUpStream;
use ssdlab_load::plan::WorkloadPlan;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const DRIVE: &str = "intel-dc-p3700-400gb";
const CAPACITY: u64 = 400_000_000_000;

fn main() -> Result<(), LabError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list", file] => list(&fio::read(Path::new(file))?),
        ["run", file] => carry_out(&fio::read(Path::new(file))?),
        _ => Err(LabError::refused("list or run, and a job file", "")),
    }
}

fn list(plan: &WorkloadPlan) -> Result<(), LabError> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let failed = |e| LabError::file("writing", Path::new("standard output"), e);
    for job in plan.phases.iter().flat_map(|phase| &phase.jobs) {
        for copy in 0..job.copies {
            let mut commands = FollowUpStream::new(job, copy, CAPACITY)?;
            while let Some(command) = commands.next_command() {
                let (name, kind) = (&job.name, command.op.name());
                let (offset, len) = (command.offset, command.len);
                writeln!(out, "{name} {copy} {kind} {offset} {len}").map_err(failed)?;
            }
        }
    }
    out.flush().map_err(failed)
}

fn carry_out(plan: &WorkloadPlan) -> Result<(), LabError> {
    let mut target = ModelledTarget::new(&catalogue::drive(DRIVE)?, None)?;
    let stop = AtomicBool::new(false);
    let record = run(plan, &mut target, &mut Unobserved, &stop)?;
    for result in &record.jobs {
        let job = &plan.phases[result.phase].jobs[result.job];
        let [reads, writes, trims, ..] = result.ops.each_ref().map(|op| op.count);
        let bytes: u64 = result.ops.iter().map(|op| op.bytes).sum();
        let seconds = result.length.as_secs_f64();
        println!("{} {reads} {writes} {trims} {bytes} {seconds}", job.name);
    }
    Ok(())
}
