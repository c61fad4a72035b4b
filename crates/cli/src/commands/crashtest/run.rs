//! `ssdlab crashtest run`: a program of the user's, or a database, cut by cut.

use super::args::{InsideArgs, RunArgs};
use super::{judge, recorded, remove_dead, settings};
use crate::failure::{Exit, Failure};
use crate::output::{print, print_json};
use crate::progress::stop_on_signal;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_power::crashtest::scripts::Settings;
use ssdlab_power::inside::{self, FileSystem, Marks, Published, Task};
use std::path::Path;

/// The mark of a preset when its tables are made.
const PREPARED: &str = "begin";

/// Records a program in a file system on the drive, and judges every cut.
///
/// # Errors
/// When this machine cannot do it, or the program fails.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let kind = file_system(&args.mount)?;
    inside::check_machine(kind)?;
    let with_scripts = match &args.preset {
        Some(preset) => of_preset(args, kind, preset)?,
        None => of_program(args, kind)?,
    };
    remove_dead(args.campaign.quiet);
    let stop = stop_on_signal()?;
    let campaign = recorded(&args.out, with_scripts, args.campaign.quiet, &stop)?;
    judge(&campaign, &args.campaign, &args.out, &stop)
}

fn file_system(name: &str) -> Result<FileSystem, LabError> {
    let names = FileSystem::ALL.map(FileSystem::name).join(", ");
    FileSystem::named(name).ok_or_else(|| {
        let what = format!("`{name}` is no file system that can be mounted");
        LabError::refused(what, format!("allowed are {names}"))
    })
}

/// The command line of a script that has this program do a task.
fn script(kind: FileSystem, task: &str, words: &[String]) -> String {
    let quoted: String = words
        .iter()
        .map(|word| format!(" {}", quoted(word)))
        .collect();
    format!(
        "exec \"$SSDLAB\" crashtest inside {} {task} --{quoted}",
        kind.name()
    )
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn of_program(args: &RunArgs, kind: FileSystem) -> Result<Settings, Failure> {
    let here = std::env::current_dir()?;
    let words: Vec<String> = args
        .program
        .iter()
        .map(|word| located(word, &here))
        .collect();
    let task = if args.marks == "stdout" {
        "work"
    } else {
        "work-quiet"
    };
    let (judged_by, command) = match (&args.check, &args.found) {
        (_, Some(found)) => ("found", found),
        (Some(check), None) => ("check", check),
        (None, None) => return Err(LabError::refused("neither --check nor --found", "").into()),
    };
    // Its first word may be a script where the user is.
    let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
    let found = located(first, &here);
    let command = match found == first {
        true => command.clone(),
        false => format!("{} {rest}", quoted(&found)),
    };
    let cwd = quoted(&here.to_string_lossy());
    let export = |script: String| format!("export SSDLAB_CWD={cwd}; {script}");
    let settings = settings(&args.campaign)?;
    Ok(Settings {
        size: settings.size.or(Some(kind.drive_bytes())),
        after_mark: Some(
            args.after_mark
                .clone()
                .unwrap_or_else(|| inside::MOUNTED.into()),
        ),
        workload: export(script(kind, task, &words)),
        check: export(script(kind, judged_by, &[command])),
        ..settings
    })
}

/// A word as an absolute path if it names an existing file from `here` by `./` or `../`.
fn located(word: &str, here: &Path) -> String {
    let is_relative = word.starts_with("./") || word.starts_with("../");
    let path = here.join(word);
    match path.canonicalize() {
        Ok(path) if is_relative => path.to_string_lossy().into_owned(),
        _ => word.to_owned(),
    }
}

fn of_preset(args: &RunArgs, kind: FileSystem, preset: &str) -> Result<Settings, Failure> {
    let (preset, row) = inside::preset(preset)?;
    if kind == FileSystem::None {
        let what = format!("--mount none: {} needs a file system", preset.name);
        return Err(LabError::refused(what, "--mount ext4 or --mount xfs").into());
    }
    preset.check_installed()?;
    let settings = settings(&args.campaign)?;
    let own = preset.size.as_deref().map(parse_size).transpose()?;
    let usual = own.unwrap_or(0).max(kind.drive_bytes());
    let words = [preset.key.clone(), row.setting.clone()];
    Ok(Settings {
        size: settings.size.or(Some(usual)),
        after_mark: Some(PREPARED.into()),
        workload: script(kind, "fill", &words),
        check: script(kind, "verify", &words),
        ..settings
    })
}

/// Does in a script of `run` what its task is; ends this process with the script's exit code.
///
/// # Errors
/// When the words of the task are not those that it takes.
pub fn inside(args: &InsideArgs) -> Result<Exit, Failure> {
    let kind = file_system(&args.mount)?;
    let task = match (args.task.as_str(), args.words.as_slice()) {
        ("work", words) => Task::Work(words.to_vec(), Marks::Stdout),
        ("work-quiet", words) => Task::Work(words.to_vec(), Marks::Socket),
        ("check", [command]) => Task::Check(command.clone()),
        ("found", [command]) => Task::Found(command.clone()),
        ("fill", [name, setting]) => Task::Fill(name.clone(), setting.clone()),
        ("verify", [name, setting]) => Task::Verify(name.clone(), setting.clone()),
        (task, words) => {
            let what = format!("`{task}` does not take {} words", words.len());
            return Err(LabError::refused(what, "").into());
        }
    };
    let code = inside::run(kind, &task).unwrap_or_else(|error| {
        tell!("{}", Failure::from(error));
        inside::FAILED
    });
    std::process::exit(code)
}

/// Lists the presets.
///
/// # Errors
/// When standard output cannot be written.
pub fn list_presets(json: bool) -> Result<Exit, Failure> {
    let presets = inside::presets();
    if json {
        print_json(&presets)?;
        return Ok(Exit::Good);
    }
    for preset in presets {
        let installed = match preset.check_installed() {
            Ok(()) => String::new(),
            Err(error) => format!(" - {error}: {}", error.advice()),
        };
        print(&format!("{}: {}{installed}", preset.key, preset.name))?;
        for row in &preset.rows {
            let published = match row.published {
                Published::Keeps => "keeps",
                Published::Loses => "loses",
                Published::Damages => "damages",
            };
            print(&format!("  {published:<8}{}", row.setting))?;
        }
    }
    Ok(Exit::Good)
}
