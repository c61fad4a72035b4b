//! `ssdlab watch`: what makes a drive in use slow, by watching; nothing is written to it.

mod args;
mod lines;

pub use args::Watch;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print_result, say};
use crate::progress::stop_on_signal;
use lines::{WatchLines, exporter};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::catalogue::{self, CatalogueDrive};
use ssdlab_drives::scaling::scaled;
use ssdlab_judge::ablate::steady;
use ssdlab_ssd::Drive;
use ssdlab_watch::forecast::{ForecastModel, WatchForecast};
use ssdlab_watch::judge::LiveAnswer;
use ssdlab_watch::live::{WatchOrder, watch as watch_live};
use ssdlab_watch::model::ModelComparison;
use ssdlab_watch::record::{is_recording, read_recording};
use ssdlab_watch::report::WatchReport;
use ssdlab_watch::show;
use std::path::Path;

/// Capacity of the model: fewer blocks, all its dies.
const MODEL_BYTES: u64 = 1 << 30;

fn listed(name: &str) -> Result<CatalogueDrive, LabError> {
    let TargetName::Drive(name) = TargetName::parse(name)? else {
        return Err(LabError::bad_option(
            "--model",
            name,
            "a modelled drive",
            "drive:NAME of the catalogue (`ssdlab list drives`) or drive:FILE.toml",
        ));
    };
    catalogue::open(&name)
}

/// A model in the state of a drive in use: overwritten until steady.
fn modelled_drive(name: &str) -> Result<Drive, LabError> {
    steady(&scaled(&listed(name)?.config, MODEL_BYTES)?.config, 1)
}

/// What comes next, by a drive of this kind.
fn foretold(name: &str, report: &WatchReport) -> Result<WatchForecast, LabError> {
    let model = ForecastModel::new(&listed(name)?);
    Ok(WatchForecast::new(
        Some(&model),
        &report.forecast_evidence(),
    ))
}

fn seconds(text: &str) -> Result<u64, LabError> {
    let seconds = parse_duration(text)?.0 / 1_000_000_000;
    if seconds == 0 {
        return Err(LabError::bad_option(
            "--for",
            text,
            "a second or more",
            "ten seconds give a first answer: --for 10s",
        ));
    }
    Ok(seconds)
}

/// Watches a drive, or reads a recording, and says what makes it slow.
///
/// # Errors
/// When it is not on a drive of this machine, or a recording cannot be read or written.
pub fn watch(args: &Watch) -> Result<CommandExit, CliFailure> {
    let path = Path::new(&args.target);
    let outcome = if path.is_file() && is_recording(path) {
        read_recording(path)?
    } else {
        let mut order = WatchOrder::new(&args.target);
        order.seconds = args.duration.as_deref().map(seconds).transpose()?;
        order.counters_only = args.counters;
        order.record.clone_from(&args.record);
        order.hashes_names = args.hash_names;
        let mut lines = WatchLines {
            quiet: args.quiet,
            exporter: args
                .exporter
                .as_deref()
                .map(|at| exporter(args, at))
                .transpose()?,
        };
        watch_live(&order, &mut lines, &*stop_on_signal()?)?
    };
    let mut report = outcome.report;
    if let Some(name) = &args.model {
        report.forecast = Some(foretold(name, &report)?);
        say(args.quiet, &format!("the same commands on {name}"));
        report.model = ModelComparison::new(&modelled_drive(name)?, &outcome.events);
    }
    print_result(args.json, &report, || show::text(&report))?;
    Ok(match report.answer {
        LiveAnswer::AsExpected { .. } => CommandExit::Good,
        LiveAnswer::Causes { .. } => CommandExit::Fails,
        LiveAnswer::TooLittle { .. } => CommandExit::Unknown,
    })
}
