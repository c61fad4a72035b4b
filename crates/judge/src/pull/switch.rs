//! Who takes the power away and brings it back: commands, or a person.

use super::record::PowerCutSource;
use ssdlab_base::LabError;
use std::io::BufRead as _;
use std::process::{Command, Stdio};

/// The switch of a target's power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullSwitch {
    /// Commands of the shell, each of which ends once it has had its effect.
    Commands {
        /// Takes the power away.
        off: String,
        /// Brings it back.
        on: String,
    },
    /// A person at the plug.
    Hand,
}

impl PullSwitch {
    /// Who it is, for the record.
    pub fn by(&self) -> PowerCutSource {
        match self {
            PullSwitch::Commands { .. } => PowerCutSource::Command,
            PullSwitch::Hand => PowerCutSource::Hand,
        }
    }

    /// Takes the power away; a person has been asked, and is waited for by watching the target.
    ///
    /// # Errors
    /// When the command fails.
    pub fn off(&self) -> Result<(), LabError> {
        match self {
            PullSwitch::Commands { off, .. } => shell("--off", off),
            PullSwitch::Hand => Ok(()),
        }
    }

    /// Brings the power back; a person says so with Enter.
    ///
    /// # Errors
    /// When the command fails, or standard input ends.
    pub fn on(&self) -> Result<(), LabError> {
        match self {
            PullSwitch::Commands { on, .. } => shell("--on", on),
            PullSwitch::Hand => enter(),
        }
    }
}

fn shell(option: &str, command: &str) -> Result<(), LabError> {
    let status = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let why = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(LabError::refused(
        format!("{option} `{command}`: {why}"),
        "it is run by sh and has to end with 0; run this again when it works: it continues",
    ))
}

fn enter() -> Result<(), LabError> {
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(length) if length > 0 => Ok(()),
        _ => Err(LabError::refused(
            "nobody can press Enter: standard input has ended",
            "run it in a terminal, or give commands: --off and --on",
        )),
    }
}
