//! What the campaigns of scripts and of programs have in common.

use crate::args::crashtest::CampaignArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print_result, say};
use ssdlab_base::quantity::parse_size;
use ssdlab_base::{LabError, parallel};
use ssdlab_power::crashtest::Occasion;
use ssdlab_power::crashtest::scripts::{
    CampaignSettings, NameRules, ScriptCampaign, ScriptReport, clear_dead,
};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Removes the drives of campaigns that were killed.
pub fn remove_dead(quiet: bool) {
    for folder in clear_dead() {
        let drive = "the drive of a campaign that was killed";
        say(quiet, &format!("removed {}: {drive}", folder.display()));
    }
}

/// Cuts, and shows what was found.
pub fn judge(
    campaign: &ScriptCampaign,
    args: &CampaignArgs,
    out: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<CommandExit, CliFailure> {
    campaign.check_mark()?;
    show(args, out, |jobs, progress| {
        campaign.run(jobs, stop, progress)
    })
}

/// Shows the progress and the result of what cuts.
pub fn show(
    args: &CampaignArgs,
    out: &Path,
    cut: impl FnOnce(usize, &(dyn Fn(usize, usize) + Sync)) -> Result<ScriptReport, LabError>,
) -> Result<CommandExit, CliFailure> {
    let jobs = args.jobs.map_or_else(parallel::cores, NonZeroUsize::get);
    let shown = AtomicUsize::new(0);
    let report = cut(jobs, &|done, all| {
        // Some twenty lines, however many cuts there are.
        let step = all.div_ceil(20).max(1);
        if done / step > shown.swap(done / step, Ordering::Relaxed) || done == all {
            say(args.quiet, &format!("{done} of {all} cuts"));
        }
    })?;
    print_result(args.json, &report.document(), || report.render())?;
    Ok(verdict(out, &report))
}

/// The exit code; says how to go on with a campaign that was stopped.
fn verdict(out: &Path, report: &ScriptReport) -> CommandExit {
    if report.stopped {
        tell!(
            "stopped after {} of {} cuts\nhint: `ssdlab crashtest --out {} --resume` goes on",
            report.lines.len(),
            report.chosen,
            out.display()
        );
        return CommandExit::Error;
    }
    let idle = report.idle_faults();
    if !idle.is_empty() {
        tell!(
            "error: {} never struck: the campaign says nothing of it\nhint: more cuts, a higher \
             share (NAME:PER_MILLE), a workload that meets it, or a drive that can have it",
            idle.join(", ")
        );
        return CommandExit::Error;
    }
    CommandExit::good_if(report.has_passed(), CommandExit::Fails)
}

/// Settings of a campaign without its scripts.
pub fn settings(args: &CampaignArgs) -> Result<CampaignSettings, CliFailure> {
    Ok(CampaignSettings {
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
        consistency_only: args.consistency_only,
        rules: NameRules::FileSystem,
        posix_command: None,
        preload: None,
    })
}

/// Runs the workload on a drive that records.
pub fn recorded(
    out: &Path,
    settings: CampaignSettings,
    quiet: bool,
    stop: &Arc<AtomicBool>,
) -> Result<ScriptCampaign, CliFailure> {
    let (campaign, lint) = ScriptCampaign::record(out, settings, stop)?;
    let count = campaign.stream().commands.len();
    say(quiet, &format!("recorded {count} commands"));
    say(quiet, lint.trim_end());
    Ok(campaign)
}
