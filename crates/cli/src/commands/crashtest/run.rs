//! `ssdlab crashtest run`: a program of the user's, or a database, cut by cut.

use super::again::posix_command;
use super::campaign::{judge, recorded, remove_dead, settings};
use super::preload;
use crate::args::crashtest::{CrashtestRunArgs, InsideArgs};
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json};
use crate::progress::stop_on_signal;
use ssdlab_base::LabError;
use ssdlab_power::crashtest::scripts::{CampaignSettings, NameRules};
use ssdlab_power::inside::{
    self, CheckMethod, DriveFileSystem, DurabilityClaim, InsideTask, MarkSource, Scripts,
};

/// Records a program in a file system on the drive, and judges every cut.
///
/// # Errors
/// When this machine cannot do it, or the program fails.
pub fn run(args: &CrashtestRunArgs) -> Result<CommandExit, CliFailure> {
    if args.way == "preload" {
        return preload::run(args);
    }
    let kind = file_system(&args.mount)?;
    inside::check_machine(kind)?;
    let scripts = match &args.preset {
        Some(preset) => Scripts::of_preset(kind, preset)?,
        None => of_program(args, kind)?,
    };
    let settings = settings(&args.campaign)?;
    let rules = match args.rules.as_str() {
        "posix" => NameRules::Posix,
        _ => NameRules::FileSystem,
    };
    if rules == NameRules::Posix && kind == DriveFileSystem::None {
        let problem = "--rules posix: with --mount none there are no names";
        return Err(LabError::refused(problem, "--mount ext4 or --mount xfs").into());
    }
    let with_scripts = CampaignSettings {
        size: settings.size.or(Some(scripts.drive_bytes)),
        after_mark: Some(args.after_mark.clone().unwrap_or(scripts.after_mark)),
        workload: scripts.workload,
        check: scripts.check,
        rules,
        posix_command: (rules == NameRules::FileSystem).then(|| posix_command(&args.out)),
        ..settings
    };
    remove_dead(args.campaign.quiet);
    let stop = stop_on_signal()?;
    let campaign = recorded(&args.out, with_scripts, args.campaign.quiet, &stop)?;
    judge(&campaign, &args.campaign, &args.out, &stop)
}

fn file_system(name: &str) -> Result<DriveFileSystem, LabError> {
    let names = DriveFileSystem::ALL.map(DriveFileSystem::name).join(", ");
    DriveFileSystem::named(name).ok_or_else(|| {
        let message = format!("`{name}` is not a file system that can be mounted");
        LabError::refused(message, format!("allowed are {names}"))
    })
}

fn of_program(args: &CrashtestRunArgs, kind: DriveFileSystem) -> Result<Scripts, CliFailure> {
    let directory = std::env::current_dir()?;
    let marks = match args.marks.as_str() {
        "stdout" => MarkSource::Stdout,
        _ => MarkSource::Socket,
    };
    let judged_by = match (&args.check, &args.found) {
        (_, Some(found)) => CheckMethod::Found(found),
        (Some(check), None) => CheckMethod::Check(check),
        (None, None) => return Err(LabError::refused("neither --check nor --found", "").into()),
    };
    let program = &args.program;
    Ok(Scripts::of_program(
        kind, program, marks, judged_by, &directory,
    ))
}

/// Does in a script of `run` what its task is; ends this process with the script's exit code.
///
/// # Errors
/// When the words of the task are not those that it takes.
pub fn inside(args: &InsideArgs) -> Result<CommandExit, CliFailure> {
    let kind = file_system(&args.mount)?;
    let task = InsideTask::named(&args.task, &args.words)?;
    let code = inside::run(kind, &task).unwrap_or_else(|error| {
        tell!("{}", CliFailure::from(error));
        inside::FAILED
    });
    std::process::exit(code)
}

/// Lists the presets.
///
/// # Errors
/// When standard output cannot be written.
pub fn list_presets(json: bool) -> Result<CommandExit, CliFailure> {
    let presets = inside::presets();
    if json {
        print_json(&presets)?;
        return Ok(CommandExit::Good);
    }
    for preset in presets {
        let installed = match preset.check_installed() {
            Ok(()) => String::new(),
            Err(error) => format!(" - {error}: {}", error.advice()),
        };
        print(&format!("{}: {}{installed}", preset.key, preset.name))?;
        for row in &preset.rows {
            let published = match row.published {
                DurabilityClaim::Keeps => "keeps",
                DurabilityClaim::Loses => "loses",
                DurabilityClaim::Damages => "damages",
            };
            print(&format!("  {published:<8}{}", row.setting))?;
        }
    }
    Ok(CommandExit::Good)
}
