//! `ssdlab twin`: an ensemble of models fitted to what was measured of a drive.

mod args;

pub use args::{TwinAction, TwinArgs};

use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, print_result, run_dir, say, write_file, write_json};
use crate::progress::stop_on_signal;
use args::{Predict, TwinFitArgs};
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_size;
use ssdlab_base::{LabError, parallel};
use ssdlab_drives::catalogue;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_twin::latency::{MeasuredLatency, read};
use ssdlab_twin::predict::PredictionQuery;
use ssdlab_twin::surface::Simulator;
use ssdlab_twin::{keep, measured, page, show, table};
use std::path::Path;

/// The drive that parts are taken from when only a capacity is given.
const ARCHETYPE: &str = "tlc-enterprise-nvme-1920gb";

/// Carries out `ssdlab twin`.
///
/// # Errors
/// When a table or a twin cannot be understood, or results cannot be written.
pub fn twin(args: &TwinArgs) -> Result<CommandExit, CliFailure> {
    match &args.action {
        TwinAction::Fit(args) => fit(args),
        TwinAction::Predict(args) => predict(args),
    }
}

fn fit(args: &TwinFitArgs) -> Result<CommandExit, CliFailure> {
    if args.from.is_none() && args.capacity.is_none() {
        let hint = "--capacity 1920GB, or --from a drive file with its capacity";
        return Err(LabError::refused("the drive's capacity is not given", hint).into());
    }
    let name = args.from.as_deref().unwrap_or(ARCHETYPE);
    let from = open_drive(name.strip_prefix("drive:").unwrap_or(name))?;
    if from.config.ftl.mapping.kind.is_block_mapped() {
        let message = format!("{name} maps by blocks: the twin's models map by pages");
        return Err(LabError::refused(message, "choose another --from").into());
    }
    let capacity = args.capacity.as_deref().map(parse_size).transpose()?;
    let capacity = capacity.unwrap_or(from.config.user_bytes);
    if capacity < 1 << 30 {
        let message = format!("a drive of {capacity} bytes: 1 GiB or more is allowed");
        return Err(LabError::refused(message, "--capacity is that of the whole drive").into());
    }
    let table = match args.measured.as_slice() {
        [table] if !measured::is_run(table) => table::parse(&catalogue::read(table)?, table)?,
        runs => measured::runs(runs, capacity)?,
    };
    if args.from.is_some() {
        table.within_link(from.config.host.link_bytes_per_second)?;
    }
    let latency = args
        .latency
        .iter()
        .zip(1..)
        .map(|(given, line)| latency(given, line))
        .collect::<Result<Vec<_>, _>>()?;
    let (dir, existing) = run_dir(&args.output, "twin", Utc::now());
    let _reserved = ReservedDir::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    say(args.output.quiet, "simulating what was measured ...");
    let simulator = Simulator::new(capacity, args.seed, parallel::cores(), &stop);
    let mut twin = ssdlab_twin::fit(&table, &from.file.name, &simulator)?;
    twin.latency = latency.concat();
    write_json(&dir.join(keep::FILE), &twin)?;
    if let Some(text) = keep::drive_file(&twin, &from)? {
        write_file(&dir.join(keep::DRIVE), &text)?;
    }
    write_file(&dir.join("report.html"), &page::twin_page(&twin))?;
    print_result(args.output.json, &twin, || show::twin(&twin))?;
    let files = format!("results: {0}/  page: {0}/report.html", dir.display());
    say(args.output.quiet, &files);
    Ok(match twin.unknown {
        Some(_) => CommandExit::Unknown,
        None => CommandExit::Good,
    })
}

/// What `--latency` names.
fn latency(given: &str, line: usize) -> Result<Vec<MeasuredLatency>, LabError> {
    match given.split_once('=').filter(|_| measured::is_run(given)) {
        Some((load, run)) => Ok(vec![read::run(Path::new(run), load, line)?]),
        None => read::parse(&catalogue::read(given)?, given),
    }
}

fn predict(args: &Predict) -> Result<CommandExit, CliFailure> {
    let twin = keep::load(&args.dir)?;
    let trace = args.trace(twin.capacity)?;
    let question = PredictionQuery {
        loads: PredictionQuery::loads(&args.load, trace.is_some()),
        used: f64::from(args.used_pct) / 100.0,
        overwrites: args.overwrites()?,
        more_spare: args.more_spare()?,
        rates: args.rates()?,
        rated: args.rated.map(|bytes| bytes as f64),
    };
    let stop = stop_on_signal()?;
    let simulator =
        Simulator::new(twin.capacity, twin.seed, parallel::cores(), &stop).with_trace(trace);
    let predictions = ssdlab_twin::predict(&twin, &question, &simulator)?;
    print_result(args.json, &predictions, || {
        show::predictions(&predictions, &question, args.per_day)
    })?;
    Ok(CommandExit::Good)
}
