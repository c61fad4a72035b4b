//! Which fio job files can be carried out, and why the others cannot: a list in Markdown. Every
//! accepted file is run on a modelled drive, for a quarter of a second of this machine's time at
//! most. `tests/fio_examples.sh` makes `tests/fio_examples.md` with it.
//!
//! `cargo run -p ssdlab-bench --example fio_files -- fio/examples/*.fio`

#![allow(clippy::print_stdout)]

use ssdlab_base::LabError;
use ssdlab_bench::device::{ModelledTarget, Target, TargetFacts, TargetKind};
use ssdlab_bench::engine::{Unobserved, run};
use ssdlab_bench::record::RunRecord;
use ssdlab_drives::catalogue;
use ssdlab_load::fio::{self, Surroundings};
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_ssd::Drive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What the variables in fio's examples are set to.
const VARIABLES: &[(&str, &str)] = &[
    ("FIO_DIR", "/fio"),
    ("GPU_DEV_IDS", "0"),
    ("FIO_RW", "randread"),
    ("FIO_IODEPTH", "4"),
    ("FIO_BS", "4k"),
];

/// The drives on which files are run: the first that is large enough. The last is the one before
/// it with twice the channels.
const DRIVES: [(&str, u64); 3] = [
    ("intel-dc-p3700-400gb", 1),
    ("intel-dc-p3700-2000gb", 1),
    ("intel-dc-p3700-2000gb", 2),
];

/// Where the last run ended.
struct Ran {
    drive: String,
    commands: u64,
}

fn main() -> Result<(), LabError> {
    let (mut accepted, mut blocks, mut files) = (0, 0, 0);
    println!("| file | verdict | why, or on which drive it ran |");
    println!("|---|---|---|");
    for path in std::env::args().skip(1) {
        let name = Path::new(&path).file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        files += 1;
        let text = std::fs::read_to_string(&path)
            .map_err(|e| LabError::file("reading", Path::new(&path), e))?;
        let (verdict, why) = match parsed(&text, &name) {
            Ok(plan) => match ran_a_little(&plan) {
                Ok(ran) if ran.commands > 0 => {
                    accepted += 1;
                    blocks += 1;
                    ("accepted", ran.drive)
                }
                Ok(_) => ("accepted", "no command was sent".to_owned()),
                Err(error) => {
                    blocks += 1;
                    ("accepted, not run", words(&error.to_string(), &name))
                }
            },
            Err(error) => {
                let why = words(&error.to_string(), &name);
                // An engine that sends no commands to a drive has its own sentence.
                let no_blocks = why.contains("`ioengine` cannot be");
                blocks += u32::from(!no_blocks);
                let verdict = if no_blocks { "no block I/O" } else { "refused" };
                (verdict, why)
            }
        };
        println!("| {name} | {verdict} | {why} |");
    }
    println!();
    println!(
        "{files} files; {blocks} of them send commands to a drive, of which {accepted} run on a \
         modelled drive ({:.0} %).",
        100.0 * f64::from(accepted) / f64::from(blocks.max(1))
    );
    Ok(())
}

fn parsed(text: &str, name: &str) -> Result<WorkloadPlan, LabError> {
    let variable = |wanted: &str| {
        let found = VARIABLES.iter().find(|(known, _)| *known == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    let keyword = |name: &str| match name {
        "pagesize" => Some(4096),
        "ncpus" => Some(4),
        _ => Some(8192),
    };
    let surroundings = Surroundings {
        variable: &variable,
        keyword: &keyword,
        file: &|_, _| Err("fio's examples include no files".to_owned()),
        log: &|_| Err("fio's examples have no logs".to_owned()),
    };
    fio::parse_in(text, name, &surroundings)
}

/// As [`ran`], for longer if this machine was too busy to send anything.
fn ran_a_little(plan: &WorkloadPlan) -> Result<Ran, LabError> {
    match ran(plan, Duration::from_millis(250))? {
        Ran { commands: 0, .. } => ran(plan, Duration::from_secs(4)),
        ran => Ok(ran),
    }
}

/// The plan on the first drive that it fits, stopped after some time.
fn ran(plan: &WorkloadPlan, time: Duration) -> Result<Ran, LabError> {
    let mut refusal = None;
    for (name, times) in DRIVES {
        let mut target = drive(name, times)?;
        let stop = Arc::new(AtomicBool::new(false));
        let alarm = Arc::clone(&stop);
        std::thread::spawn(move || {
            std::thread::sleep(time);
            alarm.store(true, Ordering::Relaxed);
        });
        match run(plan, &mut target, &mut Unobserved, &stop) {
            Ok(record) => {
                check(&record)?;
                let drive = match times {
                    1 => name.to_owned(),
                    _ => format!("{name} with {times} times the channels"),
                };
                // Those of a ramp count, too.
                let sent = target.counters();
                let commands = [sent.reads, sent.writes, sent.trims].iter().flatten().sum();
                return Ok(Ran { drive, commands });
            }
            Err(error) => refusal = Some(error),
        }
    }
    Err(refusal.unwrap_or_else(|| LabError::refused("no drive", "")))
}

fn drive(name: &str, times: u64) -> Result<ModelledTarget, LabError> {
    let found = catalogue::drive(name)?;
    if times == 1 {
        return ModelledTarget::new(&found, None);
    }
    let mut config = found.config.clone();
    config.shape.channel_count *= times as u32;
    config.user_bytes *= times;
    let facts = TargetFacts {
        capacity: config.user_bytes,
        ..TargetFacts::unknown(name.to_owned(), TargetKind::Modelled)
    };
    let drive = Drive::new(config).map_err(|e| LabError::refused(e.to_string(), ""))?;
    Ok(ModelledTarget::around(drive, facts))
}

/// The run's own checks: every command completed once, and so on.
fn check(record: &RunRecord) -> Result<(), LabError> {
    let failures = record
        .checks
        .iter()
        .filter_map(|check| check.failure.clone());
    let errors = record.jobs.iter().flat_map(|job| &job.ops);
    let errors: u64 = errors.map(|op| op.errors).sum();
    match failures.collect::<Vec<_>>().join("; ") {
        text if text.is_empty() && errors == 0 => Ok(()),
        text => Err(LabError::SelfCheck(format!("{text} {errors} errors"))),
    }
}

/// The reasons of an error in a line: those of an engine alone, if it is that.
fn words(error: &str, name: &str) -> String {
    let lines = error.lines().filter(|line| !line.starts_with("  hint"));
    let mut lines: Vec<String> = lines
        .filter(|line| !line.ends_with(" errors"))
        .map(|line| line.replace(&format!("{name}:"), "line "))
        .collect();
    if let Some(engine) = lines
        .iter()
        .find(|line| line.contains("`ioengine` cannot be"))
    {
        lines = vec![engine.clone()];
    }
    lines.dedup();
    lines.join("; ").replace('|', "\\|")
}
