//! `ssdlab pull`: real power cuts of a real drive.

mod args;
mod run_args;

pub use args::{Action, PullArgs};

use crate::failure::{Exit, Failure};
use crate::output::{print, print_result, say};
use crate::progress::{Bar, stop_on_signal};
use args::{Check, Ledger, Status};
use run_args::Run;
use ssdlab_judge::pull::{self, Event, Keeper, Place, PullRecord, Standing, text};
use std::path::Path;

fn exit(standing: Standing) -> Exit {
    match standing {
        Standing::Kept => Exit::Good,
        Standing::Broken => Exit::Fails,
        Standing::Undecided => Exit::Unknown,
    }
}

fn finish(record: &PullRecord, json: bool, text: &str) -> Result<Exit, Failure> {
    print_result(json, record, || text)?;
    Ok(exit(record.standing))
}

/// Tests, checks, shows or keeps.
///
/// # Errors
/// When the target or the ledger cannot be used, or the power not be switched.
pub fn pull(args: &PullArgs) -> Result<Exit, Failure> {
    match &args.action {
        Action::Run(args) => run(args),
        Action::Check(args) => check(args),
        Action::Status(args) => status(args),
        Action::Ledger(args) => ledger(args),
    }
}

fn run(args: &Run) -> Result<Exit, Failure> {
    let plan = args.plan()?;
    let stop = stop_on_signal()?;
    let mut filling = None;
    let target = args.target.display().to_string();
    let mut hear = |event: Event<'_>| match event {
        Event::Filling(done, total) => filling
            .get_or_insert_with(|| Bar::new("stamping every sector", 0.0, args.quiet))
            .bytes(done, total),
        Event::Writing { number, by_hand } => {
            if let Some(bar) = filling.take() {
                bar.finish();
            }
            if by_hand {
                tell!("pull {number}: writing. Take the power of {target} away now.");
            } else {
                say(args.quiet, &format!("pull {number}: writing"));
            }
        }
        Event::Struck(strike) => say(args.quiet, &format!("  {}", text::strike(strike))),
        Event::PlugIn => tell!("Bring the power of {target} back, then press Enter."),
        Event::Checking(..) => {}
        Event::Checked(checked) => say(args.quiet, &format!("checked: {}", text::found(checked))),
        Event::Pulled(pull, checked) => say(args.quiet, &text::pulled(pull, checked)),
    };
    let record = pull::run(&plan, &mut hear, &stop)?;
    finish(&record, args.json, &text::record(&record))
}

fn check(args: &Check) -> Result<Exit, Failure> {
    let ledger = Place::parse(&args.ledger)?;
    let mut bar = Bar::new("reading", 0.0, args.json);
    let mut progress = |done, total| bar.bytes(done, total);
    let checked = pull::check_target(&args.target, &ledger, &mut progress)?;
    bar.finish();
    print_result(args.json, &checked.losses, || text::found(&checked))?;
    Ok(Exit::good_if(checked.losses.is_empty(), Exit::Fails))
}

fn status(args: &Status) -> Result<Exit, Failure> {
    let book = pull::read(&Place::parse(&args.ledger)?)?;
    let record = pull::verdict(&book);
    finish(&record, args.json, &text::status(&book, &record))
}

fn ledger(args: &Ledger) -> Result<Exit, Failure> {
    let stop = stop_on_signal()?;
    let keeper = Keeper::new(&args.listen, Path::new(&args.file))?;
    let address = keeper.address()?;
    if !address.ip().is_loopback() {
        tell!("warning: whoever reaches {address} can write to the ledger");
    }
    print(&format!(
        "ledger {} at tcp:{address}\nready",
        args.file.display()
    ))?;
    keeper.serve(&stop);
    Ok(Exit::Good)
}
