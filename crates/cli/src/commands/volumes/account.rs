//! `ssdlab volumes account`: is the speed of a target an account?

use crate::args::TargetArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print_result, say};
use crate::progress::stop_on_signal;
use crate::target::open;
use clap::Args;
use ssdlab_base::quantity::parse_duration;
use ssdlab_bench::device::Needs;
use ssdlab_bench::device::named::{OpenTarget, TargetName};
use ssdlab_bench::with_target;
use ssdlab_judge::account::{
    ACCOUNT_DEPTH, AccountEvidence, AccountLengths, AccountPlan, SpeedKind, detect, measure, words,
};

/// Bytes used of a target.
const BYTES: u64 = 1 << 30;
/// Bytes of the largest command.
const BLOCK: u32 = 256 << 10;

/// `ssdlab volumes account`.
#[derive(Args, Debug)]
#[command(after_help = "\
Written contents are lost. It takes as long as the burst lasts, a
few minutes more, and at most --longest.

Exit codes: 0 an account or a limit, 1 neither, 2 an error, 3 not known.")]
pub struct AccountArgs {
    /// volume:TYPE, drive:NAME, a file or a block device.
    target: String,
    /// Commands a second that you use: how long would the credit last? May be repeated.
    #[arg(long, value_name = "RATE")]
    at: Vec<f64>,
    /// Write at most this long for the rate to drop.
    #[arg(long, value_name = "TIME", default_value = "1h")]
    longest: String,
    /// Shorter loads and pauses: a minute beside the burst rather than four; wider intervals.
    #[arg(long)]
    brief: bool,
    /// Seed of the addresses.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    on: TargetArgs,
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    quiet: bool,
}

/// Carries the experiment out.
///
/// # Errors
/// When the target cannot be used or may not be written.
pub fn account(args: &AccountArgs) -> Result<CommandExit, CliFailure> {
    let name = TargetName::parse(&args.target)?;
    let longest_s = parse_duration(&args.longest)?.as_secs_f64();
    let needs = Needs {
        depth: ACCOUNT_DEPTH,
        read_bytes: BLOCK,
        write_bytes: BLOCK,
        changes: true,
        granule: 4096,
        extent: Some(BYTES),
        ..Needs::default()
    };
    let stop = stop_on_signal()?;
    let mut target = open(&name, &args.on, &needs, args.quiet, &stop)?;
    let drain_s = match &target {
        OpenTarget::Volume(volume) => volume.drain_s().min(longest_s as u64),
        _ => longest_s as u64,
    };
    say(
        args.quiet,
        &format!("writing for at most {}", words::time(drain_s as f64)),
    );
    let plan = AccountPlan {
        offset: 0,
        bytes: target.facts().capacity.min(BYTES) / BLOCK as u64 * BLOCK as u64,
        drain_s,
        commands: u64::MAX,
        seed: args.seed,
        lengths: if args.brief {
            AccountLengths::BRIEF
        } else {
            AccountLengths::STANDARD
        },
    };
    let record = with_target!(&mut target, target => measure(&mut **target, plan, &stop))?;
    let finding = detect(&record);
    let kind = finding.kind;
    let evidence = AccountEvidence { finding, record };
    print_result(args.json, &evidence, || {
        words::screen(&evidence.finding, &args.at)
    })?;
    Ok(match kind {
        SpeedKind::Account | SpeedKind::Limit => CommandExit::Good,
        SpeedKind::DriveFall | SpeedKind::Unsteady | SpeedKind::NoLimit => CommandExit::Fails,
        SpeedKind::Unknown => CommandExit::Unknown,
    })
}
