//! Runs a fio job file on a target and prints one line: for measuring the generator itself.
//!
//! `run_job JOB.fio null` or `run_job JOB.fio PATH`: PATH is a file that may be overwritten.

use ssdlab_lab::host::{Unobserved, depth_needed, run};
use ssdlab_lab::record::RunRecord;
use ssdlab_lab::target::NullTarget;
use ssdlab_lab::target::open::{Needs, OpenOptions, open};
use ssdlab_lab::workload::fio;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, job, target] = &args[..] else {
        eprintln!("usage: run_job JOB.fio null|PATH");
        std::process::exit(2);
    };
    if let Err(error) = go(Path::new(job), target) {
        eprintln!("run_job: {error}\nhint: {}", error.hint());
        std::process::exit(2);
    }
}

fn go(job: &Path, target: &str) -> Result<(), ssdlab_lab::LabError> {
    let plan = fio::read(job)?;
    let depth = u32::try_from(depth_needed(&plan)).unwrap_or(u32::MAX);
    let stop = AtomicBool::new(false);
    let record = if target == "null" {
        let mut null = NullTarget::new(1 << 40, depth);
        run(&plan, &mut null, &mut Unobserved, &stop)?
    } else {
        let needs = Needs::of(&plan)?;
        let mut options = OpenOptions::default();
        options.write.allow_overwrite = true;
        let mut silent = |_, _| {};
        let mut file = open(Path::new(target), &needs, &options, &mut silent, &stop)?;
        run(&plan, &mut file, &mut Unobserved, &stop)?
    };
    print(&record);
    Ok(())
}

fn print(record: &RunRecord) {
    let (mut count, mut seconds) = (0, 0.0f64);
    for job in &record.jobs {
        count += job.ops.iter().map(|op| op.count).sum::<u64>();
        seconds = seconds.max(job.length.as_secs_f64());
    }
    let cpu = record.cpu_ns.0 + record.cpu_ns.1;
    println!(
        "{{\"count\": {count}, \"seconds\": {seconds:.3}, \"iops\": {:.0}, \
         \"cpu_ns_per_io\": {:.0}, \"wall_ns_per_io\": {:.1}}}",
        count as f64 / seconds,
        cpu as f64 / count as f64,
        record.wall_ns as f64 / count as f64,
    );
    for check in record.failed_checks() {
        println!("{check}");
    }
    println!("{:?}", record.ending);
}
