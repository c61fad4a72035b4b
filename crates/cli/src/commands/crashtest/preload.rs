//! `ssdlab crashtest run --way preload`: a program seen by a library, without a mount.

use super::campaign::{settings, show};
use crate::args::crashtest::{Crashtest, CrashtestRunArgs};
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, say};
use crate::progress::stop_on_signal;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_power::crashtest::scripts::CampaignSettings;
use ssdlab_power::inside::{CheckMethod, DriveFileSystem, Scripts, preset_size};
use ssdlab_power::preload::{PreloadCampaign, PreloadSettings};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Records a program, and judges every cut.
///
/// # Errors
/// When the program cannot be seen, or fails.
pub fn run(args: &CrashtestRunArgs) -> Result<CommandExit, CliFailure> {
    let settings = whole_settings(args)?;
    let stop = stop_on_signal()?;
    let campaign = PreloadCampaign::record(&args.out, settings, &stop)?;
    say(
        args.campaign.quiet,
        &format!("recorded {}", campaign.summary()),
    );
    show(&args.campaign, &args.out, |jobs, progress| {
        campaign.run(jobs, &stop, progress)
    })
}

fn whole_settings(args: &CrashtestRunArgs) -> Result<CampaignSettings, CliFailure> {
    refuse_what_it_has_not(args)?;
    let current_dir = std::env::current_dir()?;
    let is_posix = args.rules == "posix";
    let rules = if is_posix { "posix" } else { &args.mount };
    let judged_by = match (&args.check, &args.found) {
        (_, Some(found)) => CheckMethod::Found(found),
        (check, None) => CheckMethod::Check(check.as_deref().unwrap_or_default()),
    };
    let (program, check) = Scripts::located(&args.program, judged_by, &current_dir);
    let preset_bytes = args.preset.as_deref().map(preset_size).transpose()?;
    let preset_mark = args.preset.as_ref().map(|_| "begin".to_owned());
    let settings = settings(&args.campaign)?;
    let bytes = preset_bytes
        .flatten()
        .map(|size| parse_size(&size))
        .transpose()?;
    let least = DriveFileSystem::Ext4.drive_bytes();
    Ok(CampaignSettings {
        size: settings.size.or(Some(bytes.unwrap_or(0).max(least))),
        after_mark: args.after_mark.clone().or(preset_mark),
        workload: program.join(" "),
        check,
        preload: Some(PreloadSettings {
            rules: rules.to_owned(),
            program,
            preset: args.preset.clone(),
            marks_on_stdout: args.preset.is_none() && args.marks == "stdout",
            finds: args.found.is_some(),
            here: current_dir,
        }),
        ..settings
    })
}

/// Refuses what needs a drive of the kernel.
fn refuse_what_it_has_not(args: &CrashtestRunArgs) -> Result<(), LabError> {
    if args.mount == "none" {
        let problem = "--way preload --mount none: a library sees files, not a drive";
        return Err(LabError::refused(problem, "--way kernel, or --mount ext4"));
    }
    let known = ["any", "recovery"];
    let option = args
        .campaign
        .on
        .iter()
        .find(|on| !known.contains(&on.as_str()));
    if let Some(on) = option {
        return Err(LabError::refused(
            format!("--way preload has no cuts on the occasion {on}"),
            "it has any and recovery; --way kernel has all of them",
        ));
    }
    Ok(())
}

/// Goes on with a campaign of this kind, or repeats one of its cuts; `None`: it is of another kind.
pub fn again(args: &Crashtest, stop: &Arc<AtomicBool>) -> Result<Option<CommandExit>, CliFailure> {
    if !args.resume && args.replay.is_none() {
        return Ok(None);
    }
    let Some(mut campaign) = PreloadCampaign::open(&args.out)? else {
        return Ok(None);
    };
    let Some(token) = &args.replay else {
        campaign = campaign.with_new_check(args.check.as_deref())?;
        let shown = show(&args.campaign, &args.out, |jobs, progress| {
            campaign.run(jobs, stop, progress)
        });
        return shown.map(Some);
    };
    let line = campaign.replay(token, args.check.as_deref(), stop)?;
    if args.campaign.json {
        print_json(&line)?;
    } else {
        print(&format!("{}: {}", line.place, line.verdict))?;
        if !line.why.is_empty() {
            print(&format!("  the check says: {}", line.why))?;
        }
        print(&format!(
            "  {} marks before it; replay: {}",
            line.marks, line.token
        ))?;
    }
    let has_passed = line.verdict == "passed";
    Ok(Some(CommandExit::good_if(has_passed, CommandExit::Fails)))
}
