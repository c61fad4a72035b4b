//! `ssdlab run`: a fio job file or a DISKSPD command line on a target.

use crate::args::run::{RunArgs, RunFormat};
use crate::commands::run_names::{label, title};
use crate::commands::run_plan::read_plan;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, arguments, print, print_json, run_dir, say};
use crate::progress::{RunBars, stop_on_signal};
use crate::target::kept;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_duration;
use ssdlab_bench::device::named::TargetName;
use ssdlab_bench::record::{RunEnding, RunRecord};
use ssdlab_bench::run;

/// Runs a workload.
///
/// # Errors
/// When the workload or the target cannot be used, or results cannot be written.
pub fn run(args: &RunArgs) -> Result<CommandExit, CliFailure> {
    let started = Utc::now();
    let (directory, existing) = run_dir(&args.output, &label(args), started);
    let request = run::RunRequest {
        plan: read_plan(args)?,
        target: args.target.as_deref().map(TargetName::parse).transpose()?,
        fill: args.fill,
        layout: !args.no_layout,
        idle: args.idle.as_deref().map(parse_duration).transpose()?,
        open: args.on.options()?,
        kept,
        label: label(args),
        title: title(args),
        arguments: arguments(),
        started_at: started.rfc3339(),
        directory,
        existing,
    };
    let stop = stop_on_signal()?;
    let _reserved = ReservedDir::new(&request.directory, existing)?;
    let mut watch = RunBars::new(args.output.quiet);
    let finished = run::run(&request, &mut watch, &stop)?;
    drop(watch);
    match args.format {
        _ if args.output.json => print_json(&finished.result)?,
        RunFormat::Table => print(&finished.text())?,
        RunFormat::Json => print_json(&finished.result)?,
        RunFormat::FioJson => print_json(&finished.fio_json())?,
        RunFormat::DiskspdXml => print(&finished.diskspd_xml())?,
    }
    let results = format!(
        "\nresults: {0}/  page: {0}/report.html",
        request.directory.display()
    );
    say(args.output.quiet, &results);
    Ok(exit(&finished.record))
}

fn exit(record: &RunRecord) -> CommandExit {
    let failed = record.failed_checks();
    for check in &failed {
        tell!("error: self-check failed: {check}");
    }
    if let RunEnding::Failed(why) = &record.ending {
        tell!("error: {why}\nhint: what was measured until then was kept");
        return CommandExit::Error;
    }
    if !failed.is_empty() {
        return CommandExit::Error;
    }
    CommandExit::good_if(record.ending == RunEnding::Complete, CommandExit::Unknown)
}
