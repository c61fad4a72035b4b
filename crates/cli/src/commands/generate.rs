//! Texts made from the command line itself: completions and man pages.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use ssdlab_base::LabError;
use std::path::Path;

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
