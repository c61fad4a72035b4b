//! `ssdlab pull fio`: pulls under a fio job with verify=, and a look at what fio has left.

use super::fio_args::{PullFioArgs, PullFioPlan};
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print_result, say};
use crate::progress::stop_on_signal;
use ssdlab_judge::pull::verified::{FioLookPlan, FioPullEvent, FioPullPlan, look, run_fio};

/// Pulls, or looks.
///
/// # Errors
/// When the job, the target or a state cannot be used, or the power not be switched.
pub fn run(args: &PullFioArgs) -> Result<CommandExit, CliFailure> {
    match args.plan()? {
        PullFioPlan::Pull(plan) => pull(&plan, args),
        PullFioPlan::Look(plan) => show(&plan, args.json),
    }
}

fn pull(plan: &FioPullPlan, args: &PullFioArgs) -> Result<CommandExit, CliFailure> {
    let stop = stop_on_signal()?;
    let target = plan.target.display();
    let mut hear = |event: FioPullEvent<'_>| match event {
        FioPullEvent::Writing { number, by_hand } if by_hand => {
            tell!("pull {number}: writing. Take the power of {target} away now.");
        }
        FioPullEvent::Writing { number, .. } => {
            say(args.quiet, &format!("pull {number}: writing"));
        }
        FioPullEvent::Struck(writes) => {
            let error = writes.error.as_deref().unwrap_or("it does not answer");
            say(args.quiet, &format!("  the target is gone: {error}"));
        }
        FioPullEvent::PlugIn => tell!("Bring the power of {target} back, then press Enter."),
        FioPullEvent::Pulled(pull) => say(args.quiet, &pull.to_string()),
    };
    let record = run_fio(plan, &mut hear, &stop)?;
    print_result(args.json, &record, || record.render())?;
    Ok(CommandExit::good_if(
        record.has_passed(),
        CommandExit::Fails,
    ))
}

fn show(plan: &FioLookPlan, json: bool) -> Result<CommandExit, CliFailure> {
    let verdicts = look(plan)?;
    print_result(json, &verdicts, || verdicts.render(plan.states.is_some()))?;
    Ok(CommandExit::good_if(
        verdicts.keeps_contract(),
        CommandExit::Fails,
    ))
}
