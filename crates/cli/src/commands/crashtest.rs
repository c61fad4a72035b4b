//! `ssdlab crashtest`: does a program survive power cuts?

mod again;
mod campaign;
mod fio;
mod preload;
mod run;

pub use crate::args::crashtest::Crashtest;

use crate::args::crashtest::CrashtestCommand;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json};
use crate::progress::stop_on_signal;
use campaign::{judge, recorded, remove_dead, settings};
use ssdlab_base::LabError;
use ssdlab_power::crashtest::scripts::{CampaignSettings, ScriptCampaign};
use ssdlab_power::crashtest::{CutToken, CutVerdict};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs, resumes or replays a campaign.
///
/// # Errors
/// When the drive is impossible, or a script cannot be run.
pub fn crashtest(args: &Crashtest) -> Result<CommandExit, CliFailure> {
    match &args.command {
        Some(CrashtestCommand::Run(run)) => run::run(run),
        Some(CrashtestCommand::Fio(job)) => fio::run(job),
        Some(CrashtestCommand::Presets { json }) => run::list_presets(*json),
        Some(CrashtestCommand::Inside(inside)) => run::inside(inside),
        None => scripts(args),
    }
}

/// A campaign of two scripts.
fn scripts(args: &Crashtest) -> Result<CommandExit, CliFailure> {
    let quiet = args.campaign.quiet;
    remove_dead(quiet);
    let stop = stop_on_signal()?;
    if let Some(exit) = preload::again(args, &stop)? {
        return Ok(exit);
    }
    if let Some(token) = &args.replay {
        return replay(args, &token.parse()?, &stop);
    }
    let campaign = match (&args.after_mark, args.resume) {
        (Some(mark), true) => reopened(args)?.with_after_mark(mark)?,
        (None, true) => reopened(args)?,
        (_, false) => record(args, &stop)?,
    };
    if let Some(path) = &args.export_dm_log_writes {
        campaign.check_mark()?;
        campaign.export(path)?;
    }
    judge(&campaign, &args.campaign, &args.out, &stop)
}

fn reopened(args: &Crashtest) -> Result<ScriptCampaign, LabError> {
    let campaign = ScriptCampaign::open(&args.out)?;
    campaign.with_new_check(args.check.as_deref(), args.campaign.consistency_only)
}

fn record(args: &Crashtest, stop: &Arc<AtomicBool>) -> Result<ScriptCampaign, CliFailure> {
    let settings = CampaignSettings {
        after_mark: args.after_mark.clone(),
        workload: args.workload.clone().unwrap_or_default(),
        check: args.check.clone().unwrap_or_default(),
        file: !args.no_file && Path::new("/dev/fuse").exists(),
        ..settings(&args.campaign)?
    };
    if let Some(log) = &args.stream {
        return Ok(ScriptCampaign::from_log(&args.out, settings, log)?);
    }
    recorded(&args.out, settings, args.campaign.quiet, stop)
}

fn replay(
    args: &Crashtest,
    token: &CutToken,
    stop: &Arc<AtomicBool>,
) -> Result<CommandExit, CliFailure> {
    let mut campaign = ScriptCampaign::open(&args.out)?;
    if let Some(check) = &args.check {
        campaign = campaign.with_check(check);
    }
    let (cut, line) = campaign.replay(token, stop)?;
    if args.campaign.json {
        print_json(&line)?;
    } else {
        print(&format!("{}: {}", line.place, line.verdict))?;
        print(&ssdlab_power::crashtest::details(&cut, None))?;
    }
    Ok(match cut.verdict {
        CutVerdict::Passed => CommandExit::Good,
        CutVerdict::Application | CutVerdict::Drive => CommandExit::Fails,
    })
}
