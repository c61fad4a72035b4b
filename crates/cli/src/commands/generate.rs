//! Texts made from the program's own tables: options, completions, man pages.

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, wrap};
use clap::ValueEnum;
use ssdlab_base::LabError;
use ssdlab_load::{diskspd, fio};
use std::path::Path;

/// `ssdlab options`.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum WorkloadLanguage {
    /// fio job files.
    Fio,
    /// DISKSPD command lines.
    Diskspd,
}

/// Lists the options of a workload language.
///
/// # Errors
/// When standard output cannot be written.
pub fn options(language: WorkloadLanguage) -> Result<CommandExit, CliFailure> {
    match language {
        WorkloadLanguage::Fio => {
            for o in fio::supported_options() {
                let names: Vec<&str> = std::iter::once(o.name)
                    .chain(o.aliases.iter().copied())
                    .collect();
                entry(&names.join(", "), o.unit, o.what, o.default)?;
            }
        }
        WorkloadLanguage::Diskspd => {
            for o in diskspd::supported_options() {
                entry(&format!("-{}", o.letter), o.unit, o.what, o.default)?;
            }
        }
    }
    Ok(CommandExit::Good)
}

fn entry(name: &str, unit: &str, what: &str, default: &str) -> Result<(), CliFailure> {
    let head = if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name}  {unit}")
    };
    let default = if default.is_empty() {
        String::new()
    } else {
        format!(" [default: {default}]")
    };
    print(&head)?;
    for line in wrap(&format!("{what}{default}"), 74) {
        print(&format!("      {line}"))?;
    }
    Ok(())
}

/// Prints a shell's completions.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(
    shell: clap_complete::Shell,
    command: &mut clap::Command,
) -> Result<CommandExit, CliFailure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, command, "ssdlab", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(CommandExit::Good)
}

/// Writes the man pages.
///
/// # Errors
/// When the directory cannot be written.
pub fn man(directory: &Path, command: clap::Command) -> Result<CommandExit, CliFailure> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .map_err(|error| LabError::file("writing", directory, error))?;
    Ok(CommandExit::Good)
}
