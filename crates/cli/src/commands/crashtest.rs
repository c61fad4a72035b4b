//! `ssdlab crashtest`: does a program survive power cuts?

mod args;
mod run;

pub use args::Crashtest;

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::progress::stop_on_signal;
use args::{CampaignArgs, CrashtestCommand};
use ssdlab_base::parallel;
use ssdlab_base::quantity::parse_size;
use ssdlab_power::crashtest::scripts::{ScriptCampaign, ScriptReport, Settings, clear_dead};
use ssdlab_power::crashtest::{Occasion, Token, Verdict};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs, resumes or replays a campaign.
///
/// # Errors
/// When the drive is impossible, or a script cannot be run.
pub fn crashtest(args: &Crashtest) -> Result<Exit, Failure> {
    match &args.command {
        Some(CrashtestCommand::Run(run)) => run::run(run),
        Some(CrashtestCommand::Presets { json }) => run::list_presets(*json),
        Some(CrashtestCommand::Inside(inside)) => run::inside(inside),
        None => scripts(args),
    }
}

/// A campaign of two scripts.
fn scripts(args: &Crashtest) -> Result<Exit, Failure> {
    let quiet = args.campaign.quiet;
    remove_dead(quiet);
    let stop = stop_on_signal()?;
    if let Some(token) = &args.replay {
        return replay(args, &token.parse()?, &stop);
    }
    let campaign = match (&args.after_mark, args.resume) {
        (Some(mark), true) => ScriptCampaign::open(&args.out)?.with_after_mark(mark)?,
        (None, true) => ScriptCampaign::open(&args.out)?,
        (_, false) => record(args, &stop)?,
    };
    if let Some(path) = &args.export_dm_log_writes {
        campaign.check_mark()?;
        campaign.export(path)?;
    }
    judge(&campaign, &args.campaign, &args.out, &stop)
}

/// Removes the drives of campaigns that were killed.
fn remove_dead(quiet: bool) {
    for folder in clear_dead() {
        let what = "the drive of a campaign that was killed";
        say(quiet, &format!("removed {}: {what}", folder.display()));
    }
}

/// Cuts, and shows what was found.
fn judge(
    campaign: &ScriptCampaign,
    args: &CampaignArgs,
    out: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Exit, Failure> {
    campaign.check_mark()?;
    let jobs = args.jobs.map_or_else(parallel::cores, NonZeroUsize::get);
    let shown = AtomicUsize::new(0);
    let report = campaign.run(jobs, stop, |done, all| {
        // Some twenty lines, however many cuts there are.
        let step = all.div_ceil(20).max(1);
        if done / step > shown.swap(done / step, Ordering::Relaxed) || done == all {
            say(args.quiet, &format!("{done} of {all} cuts"));
        }
    })?;
    match args.json {
        true => print_json(&report.to_json())?,
        false => print(&report.render())?,
    }
    Ok(verdict(out, &report))
}

/// The exit code; says how to go on with a campaign that was stopped.
fn verdict(out: &Path, report: &ScriptReport) -> Exit {
    if report.stopped {
        tell!(
            "stopped after {} of {} cuts\nhint: `ssdlab crashtest --out {} --resume` goes on",
            report.lines.len(),
            report.chosen,
            out.display()
        );
        return Exit::Error;
    }
    match report.has_passed() {
        true => Exit::Good,
        false => Exit::Fails,
    }
}

/// Settings of a campaign without its scripts.
fn settings(args: &CampaignArgs) -> Result<Settings, Failure> {
    Ok(Settings {
        drive: args.drive.clone(),
        size: args.size.as_deref().map(parse_size).transpose()?,
        faults: args.fault.clone(),
        seed: args.seed,
        cuts: (!args.exhaustive).then_some(args.cuts.get()),
        occasions: match args.on.as_slice() {
            [] => Occasion::ALL.map(|on| on.name().to_owned()).to_vec(),
            chosen => chosen.to_vec(),
        },
        age: args.age.clone(),
        after_mark: None,
        workload: String::new(),
        check: String::new(),
        file: true,
        timeout_s: args.timeout,
        checks_max: args.minimise,
    })
}

fn record(args: &Crashtest, stop: &Arc<AtomicBool>) -> Result<ScriptCampaign, Failure> {
    let settings = Settings {
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

/// Runs the workload on a drive that records.
fn recorded(
    out: &Path,
    settings: Settings,
    quiet: bool,
    stop: &Arc<AtomicBool>,
) -> Result<ScriptCampaign, Failure> {
    let (campaign, lint) = ScriptCampaign::record(out, settings, stop)?;
    let count = campaign.stream().commands.len();
    say(quiet, &format!("recorded {count} commands"));
    say(quiet, lint.trim_end());
    Ok(campaign)
}

fn replay(args: &Crashtest, token: &Token, stop: &Arc<AtomicBool>) -> Result<Exit, Failure> {
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
        Verdict::Passed => Exit::Good,
        Verdict::Application | Verdict::Drive => Exit::Fails,
    })
}
