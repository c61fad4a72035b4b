//! `ssdlab crashtest fio`: a fio job with verify=, cut by cut.

use super::campaign::settings;
use crate::args::crashtest::CrashtestFioArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print_result, say};
use crate::progress::stop_on_signal;
use ssdlab_base::parallel;
use ssdlab_power::verified::{FioCampaign, make_folder};
use ssdlab_verify::{FioFormat, VerifiedJob};
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;

/// Records the job, and judges every cut.
///
/// # Errors
/// When the job or the drive is refused, or disks cannot be kept.
pub fn run(args: &CrashtestFioArgs) -> Result<CommandExit, CliFailure> {
    let format = FioFormat::named(&args.fio).unwrap_or(FioFormat::V3_33);
    let campaign = FioCampaign {
        job: VerifiedJob::read(&args.job, format)?,
        settings: settings(&args.campaign)?,
        out: args.out.clone(),
        kept_count: args.keep,
    };
    if let Some(out) = &args.out {
        make_folder(out)?;
    }
    let stop = stop_on_signal()?;
    let jobs = args.campaign.jobs;
    let jobs = jobs.map_or_else(parallel::cores, NonZeroUsize::get);
    let quiet = args.campaign.quiet;
    let report = campaign.run(jobs, &|| stop.load(Ordering::Relaxed), &|done, all| {
        if done.is_multiple_of(all.div_ceil(20).max(1)) {
            say(quiet, &format!("{done} of {all} cuts"));
        }
    })?;
    print_result(args.campaign.json, &report, || report.render())?;
    let idle = report.idle_faults();
    if !idle.is_empty() {
        tell!(
            "error: {} never struck: the cuts say nothing of it\nhint: more cuts, or a drive and a \
             job that can have it",
            idle.join(", ")
        );
        return Ok(CommandExit::Error);
    }
    if stop.load(Ordering::Relaxed) {
        tell!("stopped after {} cuts", report.cuts.len());
        return Ok(CommandExit::Error);
    }
    Ok(CommandExit::good_if(
        report.has_passed(),
        CommandExit::Fails,
    ))
}
