//! Where results go: data to standard output, talk to standard error, files to a run directory.

use crate::args::OutputArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::terminal::write_output;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_bench::run_dir::{Existing, write_text};
use std::path::{Path, PathBuf};

pub use ssdlab_view::text::wrap;

/// The command line without the program's name, for the records of a run. Bytes that are not
/// UTF-8 are replaced.
pub fn arguments() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// The run directory that the user named, or a new one with the date in its name.
pub fn run_dir(args: &OutputArgs, name: &str, now: Utc) -> (PathBuf, Existing) {
    let existing = if args.replace {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    if let Some(path) = &args.out {
        return (path.clone(), existing);
    }
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(safe).take(40).collect();
    let base = Path::new("ssdlab-runs").join(format!("{}-{name}", now.compact()));
    // Two runs in one second each get their own.
    let numbered = (2..1000).map(|n| PathBuf::from(format!("{}-{n}", base.display())));
    let free = std::iter::once(base.clone())
        .chain(numbered)
        .find(|path| !path.exists());
    (free.unwrap_or(base), existing)
}

/// A directory made before a run starts, so that a place that cannot be written is found at once.
/// Whatever of it is still empty in the end is removed again.
pub struct ReservedDir {
    created: Vec<PathBuf>,
}

impl ReservedDir {
    /// Makes the directory, its parents too.
    ///
    /// # Errors
    /// When it cannot be made, or has something in it that may not be replaced.
    pub fn new(path: &Path, existing: Existing) -> Result<ReservedDir, LabError> {
        let missing = path
            .ancestors()
            .take_while(|p| !p.as_os_str().is_empty() && !p.exists());
        let created: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        std::fs::create_dir_all(path).map_err(|error| LabError::file("creating", path, error))?;
        let reserved = ReservedDir { created };
        let names: Vec<String> = std::fs::read_dir(path)
            .map_err(|error| LabError::file("reading", path, error))?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        if names.is_empty() {
            return Ok(reserved);
        }
        if existing == Existing::Refuse {
            return Err(LabError::refused(
                format!("{} already has something in it", path.display()),
                "choose another --out, or --replace the results in it",
            ));
        }
        if !names
            .iter()
            .any(|name| RESULT_FILES.contains(&name.as_str()))
        {
            return Err(LabError::refused(
                format!(
                    "{} has something in it, and no results of ssdlab: {}",
                    path.display(),
                    first_names(names)
                ),
                "--replace replaces results only; choose another --out",
            ));
        }
        Ok(reserved)
    }
}

/// Files by one of which a directory of results is known, of every command.
const RESULT_FILES: [&str; 9] = [
    "run.json",
    "result.json",
    "qualification.json",
    "diagnosis.json",
    "snia.json",
    "fingerprint.json",
    "twin.json",
    "watch.json",
    "theory.csv",
];

/// The first few names, in order.
fn first_names(mut names: Vec<String>) -> String {
    const NAMED: usize = 3;
    names.sort();
    let more = if names.len() > NAMED { ", ..." } else { "" };
    names.truncate(NAMED);
    format!("{}{more}", names.join(", "))
}

impl Drop for ReservedDir {
    fn drop(&mut self) {
        for path in &self.created {
            // Fails, as it should, when there is something in it.
            let _ = std::fs::remove_dir(path);
        }
    }
}

/// Columns of the terminal, between 60 and 160; 80 when standard output is not a terminal.
pub fn terminal_width() -> usize {
    let size = console::Term::stdout().size_checked();
    size.map_or(80, |(_, columns)| usize::from(columns).clamp(60, 160))
}

/// Prints data; a reader that went away is not an error.
///
/// # Errors
/// When standard output cannot be written.
pub fn print(text: &str) -> Result<(), CliFailure> {
    if text.ends_with('\n') {
        return Ok(write_output(text)?);
    }
    Ok(write_output(&format!("{text}\n"))?)
}

/// Prints a value as indented JSON.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), CliFailure> {
    print(&pretty(value)?)
}

/// Prints a result: as indented JSON, or as text for people.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_result<T: AsRef<str>>(
    json: bool,
    value: &impl serde::Serialize,
    text: impl FnOnce() -> T,
) -> Result<(), CliFailure> {
    if json {
        return print_json(value);
    }
    print(text().as_ref())
}

fn pretty(value: &impl serde::Serialize) -> Result<String, LabError> {
    serde_json::to_string_pretty(value)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))
}

/// Writes a file of the run directory, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(path: &Path, text: &str) -> Result<(), CliFailure> {
    Ok(write_text(path, text)?)
}

/// Writes a value as indented JSON to a file of the run directory, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), CliFailure> {
    write_file(path, &(pretty(value)? + "\n"))
}

/// Says which self-checks failed, and returns the exit code for that.
pub fn self_checked(failures: &[String]) -> CommandExit {
    for failure in failures {
        tell!("error: self-check failed: {failure}");
    }
    match failures {
        [] => CommandExit::Good,
        _ => CommandExit::Error,
    }
}

/// Writes a line to standard error, unless `quiet`.
pub fn say(quiet: bool, text: &str) {
    if !quiet {
        tell!("{text}");
    }
}
