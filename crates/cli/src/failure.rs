//! How a command ended: its exit code, or why it could not be carried out.

use ssdlab_base::LabError;
use ssdlab_judge::qualify::QualifyOutcome;
use std::{fmt, io};

/// Outcome of a command that ran to its end, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandExit {
    /// Done, or the drive passes.
    Good = 0,
    /// The drive fails the role.
    Fails = 1,
    /// A self-check failed or the target broke; results were kept.
    Error = 2,
    /// The evidence does not decide.
    Unknown = 3,
}

impl CommandExit {
    /// `Good` if the condition holds, else `otherwise`.
    pub fn good_if(condition: bool, otherwise: CommandExit) -> CommandExit {
        if condition {
            CommandExit::Good
        } else {
            otherwise
        }
    }
}

impl From<QualifyOutcome> for CommandExit {
    fn from(outcome: QualifyOutcome) -> CommandExit {
        match outcome {
            QualifyOutcome::Pass => CommandExit::Good,
            QualifyOutcome::Fail => CommandExit::Fails,
            QualifyOutcome::Unknown => CommandExit::Unknown,
        }
    }
}

/// An error for the user.
#[derive(Debug)]
pub enum CliFailure {
    /// From the lab: message and hint.
    Lab(LabError),
    /// Standard output could not be written.
    Output(io::Error),
    /// The reader of standard output went away: not an error.
    BrokenPipe,
}

impl From<LabError> for CliFailure {
    fn from(error: LabError) -> CliFailure {
        CliFailure::Lab(error)
    }
}

impl From<io::Error> for CliFailure {
    fn from(error: io::Error) -> CliFailure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CliFailure::BrokenPipe,
            _ => CliFailure::Output(error),
        }
    }
}

impl fmt::Display for CliFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CliFailure::Lab(error) => {
                write!(f, "error: {}", error)?;
                if !error.advice().is_empty() {
                    write!(f, "\n\nhint: {}", error.advice())?;
                }
                Ok(())
            }
            CliFailure::Output(error) => write!(f, "error: writing to standard output: {error}"),
            CliFailure::BrokenPipe => f.write_str("error: broken pipe"),
        }
    }
}
