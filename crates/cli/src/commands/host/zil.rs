//! `ssdlab host zil`: the intent log of ZFS as a load.

mod args;

pub use args::ZilArgs;

use super::run::run_scenario;
use crate::failure::{CliFailure, CommandExit};
use crate::output::print_result;
use crate::progress::stop_on_signal;
use crate::target;
use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_bench::device::Needs;
use ssdlab_bench::device::Target;
use ssdlab_bench::device::named::TargetName;
use ssdlab_bench::with_target;
use ssdlab_hosts::zil::{LogDevice, ZfsPreset, ZilSpec, ZilTraceFit};
use ssdlab_load::trace::files::whole_or_none;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Maximum number of outstanding commands on a real target.
const DEPTH: u32 = 64;

/// Carries out `ssdlab host zil`.
///
/// # Errors
/// When the request is wrong or the target fails.
pub fn zil(args: &ZilArgs) -> Result<CommandExit, CliFailure> {
    let preset = ZfsPreset::named(&args.preset)?;
    if args.parameters {
        print_result(args.json, &preset.parameters_json(), || {
            preset.parameters_text()
        })?;
        return Ok(CommandExit::Good);
    }
    let size = args.device.as_deref().map(parse_size).transpose()?;
    let duration = args.duration.as_deref().map(parse_duration).transpose()?;
    let unfitted = ZilSpec {
        preset,
        writers: args.writers,
        datasets: args.datasets.unwrap_or(args.writers),
        interval: parse_duration(&args.interval)?,
        seed: args.seed,
        keep_commands: args.trace.is_some(),
        autotrim: args.autotrim,
        duration: duration.unwrap_or(ZilSpec::default().duration),
        fit: None,
    };
    let spec = match &args.fit {
        None => unfitted,
        Some(path) => {
            let fit = ZilTraceFit::of(path, size.unwrap_or(LogDevice::USUAL), args.seed)?;
            ZilSpec {
                duration: duration.unwrap_or(fit.duration(fit.structure.blocks as u64)),
                ..unfitted.fitted(fit)
            }
        }
    };
    // Wrong numbers are found before anything is opened or written.
    spec.validate(size.unwrap_or(LogDevice::USUAL))?;
    let stop = stop_on_signal()?;
    let mut device = open(args, size, &stop)?;
    let create = |path: &PathBuf| {
        let file = File::create_new(path);
        file.map_err(|error| LabError::file("creating", path, error))
    };
    let trace = args.trace.as_ref().map(create).transpose()?;
    run_scenario(
        &[spec],
        &mut device,
        &stop,
        args.json,
        args.quiet,
        |report| {
            if let (Some(mut file), Some(path)) = (trace, &args.trace) {
                let written = file.write_all(report.csv.as_bytes());
                let written = written.map_err(|error| LabError::file("writing", path, error));
                whole_or_none(path, written)?;
            }
            Ok(None)
        },
    )
}

fn open(args: &ZilArgs, size: Option<u64>, stop: &AtomicBool) -> Result<LogDevice, LabError> {
    let Some(name) = args.target.as_deref() else {
        return Ok(LogDevice::fixed(size.unwrap_or(LogDevice::USUAL)));
    };
    let needs = Needs {
        depth: DEPTH,
        read_bytes: 0,
        write_bytes: 128 << 10,
        changes: true,
        data_only: false,
        granule: 4096,
        extent: size,
        ..Needs::default()
    };
    let mut target_args = args.target_args.clone();
    // A file that is made for this is as large as the log device.
    if target_args.size.is_none() {
        target_args.size.clone_from(&args.device);
    }
    let open = target::open(
        &TargetName::parse(name)?,
        &target_args,
        &needs,
        args.quiet,
        stop,
    )?;
    let rests_on = open.rests_on().to_vec();
    let target: Box<dyn Target> = with_target!(open, it => it);
    LogDevice::of(target, rests_on, size)
}
