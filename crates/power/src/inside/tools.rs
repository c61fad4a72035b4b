//! Programs of the machine: found, run, and heard.

use ssdlab_base::LabError;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Bytes of a tool's output that a message quotes.
const QUOTED_MAX: usize = 300;

/// Where programs of file systems are, although a user's `PATH` may lack them.
fn path() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    path.push(":/usr/local/sbin:/usr/sbin:/sbin");
    path
}

/// Whether a program is installed.
pub fn is_there(program: &str) -> bool {
    std::env::split_paths(&path()).any(|folder| folder.join(program).is_file())
}

/// A command that finds programs of file systems, and reads nothing.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("PATH", path()).stdin(Stdio::null());
    command
}

/// Runs a tool to its end.
pub fn output(command: &mut Command) -> Result<Output, LabError> {
    let output = command.output();
    output.map_err(|error| LabError::file("running", Path::new(command.get_program()), error))
}

/// The end of what a tool has said.
pub fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(QUOTED_MAX)..]);
    format!("{}: {}", output.status, text.trim())
}

/// Writes a script of a preset.
pub fn write_script(path: &Path, text: &str) -> Result<(), LabError> {
    std::fs::write(path, text).map_err(|error| LabError::file("writing", path, error))
}
