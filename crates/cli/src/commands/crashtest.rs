//! `ssdlab crashtest` and `ssdlab mark`.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_power::crashtest::scripts::{ScriptCampaign, ScriptReport, Settings, clear_dead, mark};
use ssdlab_power::crashtest::{Token, Verdict};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// `ssdlab crashtest`.
#[derive(Args, Debug)]
#[command(after_help = "\
Both scripts run under `sh -c` with these in their environment:
  SSDLAB_NBD    URI of the drive on a unix socket  SSDLAB      this program
  SSDLAB_FILE   the drive as a file (FUSE)         SSDLAB_DIR  an empty folder
The workload may say what it takes for acknowledged: \"$SSDLAB\" mark TEXT. The
check finds the marks made before its cut, one a line, in the file SSDLAB_MARKS.

Examples:
  ssdlab crashtest --workload ./fill.sh --check ./verify.sh --cuts 500 --out t
  ssdlab crashtest --out t --resume
  ssdlab crashtest --out t --replay 28+844891-7d167c7f

Ctrl-C ends it, its scripts too, and keeps every verdict; --resume goes on.

Exit codes: 0 every cut passed, 1 some did not, 2 an error, or stopped.")]
pub struct Crashtest {
    /// Run once, on a device that records what it does.
    #[arg(
        long,
        value_name = "SCRIPT",
        required_unless_present_any = ["resume", "replay", "stream"]
    )]
    pub workload: Option<String>,
    /// In place of a workload: what the kernel's dm-log-writes or qemu's blklogwrites has logged.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "resume", "replay"])]
    pub stream: Option<PathBuf>,
    /// Run after each cut, on the drive as it recovered; exit code 0: nothing is missing.
    #[arg(long, value_name = "SCRIPT", required_unless_present_any = ["resume", "replay"])]
    pub check: Option<String>,
    /// So many random instants.
    #[arg(long, value_name = "N", default_value = "100")]
    pub cuts: NonZeroUsize,
    /// Every command and every NAND operation: before, inside and after.
    #[arg(long, conflicts_with = "cuts")]
    pub exhaustive: bool,
    /// Cut only after the workload's mark of this text; what came before is preparation. With
    /// --resume: another mark of what was recorded, while there are no results.
    #[arg(long, value_name = "TEXT")]
    pub after_mark: Option<String>,
    /// Which drive: a name of the catalogue or a TOML file.
    #[arg(long, value_name = "NAME", default_value = "consumer-sata-1tb")]
    pub drive: String,
    /// Bytes that it offers: fewer or more blocks of the same drive.
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub size: String,
    /// What is wrong with the drive, always or so many times of a thousand: ignores-flush:300
    /// (repeatable).
    #[arg(long, value_name = "NAME[:PER_MILLE]")]
    pub fault: Vec<String>,
    /// Seed of cuts and faults.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Checks at once.
    /// [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Where everything is kept; must be new, empty, or of a workload that failed, unless resumed.
    #[arg(long, short, value_name = "DIR", default_value = "crashtest")]
    pub out: PathBuf,
    /// Go on with the campaign in --out where it was stopped.
    #[arg(long, conflicts_with_all = ["workload", "check", "replay", "stream", "cuts",
        "exhaustive", "drive", "size", "fault", "seed", "no_file", "timeout",
        "minimise"])]
    pub resume: bool,
    /// Run one cut of the campaign in --out again; --check may be another.
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["workload", "stream", "cuts",
        "exhaustive", "after_mark", "drive", "size", "fault", "seed", "no_file", "timeout",
        "minimise", "export_dm_log_writes"])]
    pub replay: Option<String>,
    /// Also write the recorded stream in the format of Linux' dm-log-writes.
    #[arg(long, value_name = "FILE")]
    pub export_dm_log_writes: Option<PathBuf>,
    /// Serve the NBD socket alone, without a file.
    #[arg(long)]
    pub no_file: bool,
    /// Longest time of a script, in seconds; a check that takes longer has failed.
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Most checks to find the smallest set of lost writes; 0: do not look for it.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub minimise: usize,
    /// Print everything as JSON: counts, a verdict for each cut, the smallest set of lost writes.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Runs, resumes or replays a campaign.
///
/// # Errors
/// When the drive is impossible, or a script cannot be run.
pub fn crashtest(args: &Crashtest) -> Result<Exit, Failure> {
    for folder in clear_dead() {
        let folder = folder.display();
        say(
            args.quiet,
            &format!("removed {folder}: the drive of a campaign that was killed"),
        );
    }
    let stop = stop_on_signal()?;
    if let Some(token) = &args.replay {
        return replay(args, &token.parse()?, &stop);
    }
    let campaign = match (&args.after_mark, args.resume) {
        (Some(mark), true) => ScriptCampaign::open(&args.out)?.with_after_mark(mark)?,
        (None, true) => ScriptCampaign::open(&args.out)?,
        (_, false) => record(args, &stop)?,
    };
    campaign.check_mark()?;
    if let Some(path) = &args.export_dm_log_writes {
        campaign.export(path)?;
    }
    let jobs = args
        .jobs
        .or_else(|| std::thread::available_parallelism().ok());
    let told = AtomicUsize::new(0);
    let jobs = jobs.map_or(1, NonZeroUsize::get);
    let report = campaign.run(jobs, &stop, |done, all| {
        // Some twenty lines, however many cuts there are.
        let step = all.div_ceil(20).max(1);
        if done / step > told.swap(done / step, Ordering::Relaxed) || done == all {
            say(args.quiet, &format!("{done} of {all} cuts"));
        }
    })?;
    if args.json {
        print_json(&report.to_json())?;
    } else {
        print(&report.render())?;
    }
    Ok(verdict(args, &report))
}

/// The exit code; says how to go on with a campaign that was stopped.
fn verdict(args: &Crashtest, report: &ScriptReport) -> Exit {
    if report.stopped {
        tell!(
            "stopped after {} of {} cuts\nhint: `ssdlab crashtest --out {} --resume` goes on",
            report.lines.len(),
            report.chosen,
            args.out.display()
        );
        return Exit::Error;
    }
    if report.has_passed() {
        Exit::Good
    } else {
        Exit::Fails
    }
}

fn record(args: &Crashtest, stop: &Arc<AtomicBool>) -> Result<ScriptCampaign, Failure> {
    let settings = Settings {
        drive: args.drive.clone(),
        size: Some(parse_size(&args.size)?),
        faults: args.fault.clone(),
        seed: args.seed,
        cuts: (!args.exhaustive).then_some(args.cuts.get()),
        after_mark: args.after_mark.clone(),
        workload: args.workload.clone().unwrap_or_default(),
        check: args.check.clone().unwrap_or_default(),
        file: !args.no_file && Path::new("/dev/fuse").exists(),
        timeout_s: args.timeout,
        checks_max: args.minimise,
    };
    if let Some(log) = &args.stream {
        return Ok(ScriptCampaign::from_log(&args.out, settings, log)?);
    }
    let (campaign, lint) = ScriptCampaign::record(&args.out, settings, stop)?;
    say(
        args.quiet,
        &format!("recorded {} commands", campaign.stream().commands.len()),
    );
    say(args.quiet, lint.trim_end());
    Ok(campaign)
}

fn replay(args: &Crashtest, token: &Token, stop: &Arc<AtomicBool>) -> Result<Exit, Failure> {
    let mut campaign = ScriptCampaign::open(&args.out)?;
    if let Some(check) = &args.check {
        campaign = campaign.with_check(check);
    }
    let (cut, place) = campaign.replay(token, stop)?;
    if args.json {
        print_json(&campaign.line(&cut))?;
    } else {
        print(&format!("{place}: {}", cut.verdict.name()))?;
        print(&ssdlab_power::crashtest::details(&cut, None))?;
    }
    Ok(match cut.verdict {
        Verdict::Passed => Exit::Good,
        Verdict::Application | Verdict::Drive => Exit::Fails,
    })
}

/// `ssdlab mark`.
#[derive(Args, Debug)]
pub struct MarkArgs {
    /// What has been acknowledged.
    pub text: String,
}

/// Makes a mark in the stream that is being recorded.
///
/// # Errors
/// Outside of a workload script.
pub fn make_mark(args: &MarkArgs) -> Result<Exit, Failure> {
    let socket = std::env::var_os("SSDLAB_MARK").ok_or_else(|| {
        LabError::refused(
            "SSDLAB_MARK is not set",
            "marks are made by the workload script of `ssdlab crashtest`",
        )
    })?;
    mark(Path::new(&socket), &args.text)?;
    Ok(Exit::Good)
}
