//! `ssdlab pull`: real power cuts of a real drive.

mod args;
mod fio;
mod fio_args;
mod power_args;
mod run_args;

pub use args::{PullAction, PullArgs};

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_result, say};
use crate::progress::{RateBar, stop_on_signal};
use args::{PullCheckArgs, PullLedgerArgs, PullStatusArgs};
use run_args::PullRunArgs;
use ssdlab_judge::pull::{self, Keeper, LedgerLocation, PullEvent, PullRecord, PullVerdict, text};
use std::path::Path;

fn exit(standing: PullVerdict) -> CommandExit {
    match standing {
        PullVerdict::Kept => CommandExit::Good,
        PullVerdict::Broken => CommandExit::Fails,
        PullVerdict::Undecided => CommandExit::Unknown,
    }
}

fn finish(record: &PullRecord, json: bool, text: &str) -> Result<CommandExit, CliFailure> {
    print_result(json, record, || text)?;
    Ok(exit(record.standing))
}

/// Tests, checks, shows or keeps.
///
/// # Errors
/// When the target or the ledger cannot be used, or the power not be switched.
pub fn pull(args: &PullArgs) -> Result<CommandExit, CliFailure> {
    match &args.action {
        PullAction::Run(args) => run(args),
        PullAction::Fio(args) => fio::run(args),
        PullAction::Check(args) => check(args),
        PullAction::Status(args) => status(args),
        PullAction::Ledger(args) => ledger(args),
    }
}

fn run(args: &PullRunArgs) -> Result<CommandExit, CliFailure> {
    let plan = args.plan()?;
    let stop = stop_on_signal()?;
    let mut filling = None;
    let target = args.target.display().to_string();
    let mut hear = |event: PullEvent<'_>| match event {
        PullEvent::Filling(done, total) => filling
            .get_or_insert_with(|| RateBar::new("stamping every sector", 0.0, args.quiet))
            .bytes(done, total),
        PullEvent::Writing { number, by_hand } => {
            if let Some(bar) = filling.take() {
                bar.finish();
            }
            if by_hand {
                tell!("pull {number}: writing. Take the power of {target} away now.");
            } else {
                say(args.quiet, &format!("pull {number}: writing"));
            }
        }
        PullEvent::Struck(strike) => say(args.quiet, &format!("  {}", text::strike(strike))),
        PullEvent::PlugIn => tell!("Bring the power of {target} back, then press Enter."),
        PullEvent::Checking(..) => {}
        PullEvent::Checked(checked) => {
            say(args.quiet, &format!("checked: {}", text::found(checked)))
        }
        PullEvent::Pulled(pull, checked) => say(args.quiet, &text::pulled(pull, checked)),
    };
    let record = pull::run(&plan, &mut hear, &stop)?;
    finish(&record, args.json, &text::record(&record))
}

fn check(args: &PullCheckArgs) -> Result<CommandExit, CliFailure> {
    let ledger = LedgerLocation::parse(&args.ledger)?;
    let mut bar = RateBar::new("reading", 0.0, args.json);
    let mut progress = |done, total| bar.bytes(done, total);
    let checked = pull::check_target(&args.target, &ledger, &mut progress)?;
    bar.finish();
    print_result(args.json, &checked.losses, || text::found(&checked))?;
    Ok(CommandExit::good_if(
        checked.losses.is_empty(),
        CommandExit::Fails,
    ))
}

fn status(args: &PullStatusArgs) -> Result<CommandExit, CliFailure> {
    let book = pull::read(&LedgerLocation::parse(&args.ledger)?)?;
    let record = pull::verdict(&book);
    finish(&record, args.json, &text::status(&book, &record))
}

fn ledger(args: &PullLedgerArgs) -> Result<CommandExit, CliFailure> {
    let stop = stop_on_signal()?;
    let keeper = Keeper::new(&args.listen, Path::new(&args.file))?;
    let address = keeper.address()?;
    if !address.ip().is_loopback() {
        tell!("warning: every client that reaches {address} can write to the ledger");
    }
    print(&format!(
        "ledger {} at tcp:{address}\nready",
        args.file.display()
    ))?;
    keeper.serve(&stop);
    Ok(CommandExit::Good)
}
