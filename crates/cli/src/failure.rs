//! How a command ended: its exit code, or why it could not be carried out.

use ssdlab_base::LabError;
use ssdlab_judge::qualify::Outcome;
use std::{fmt, io};

/// Outcome of a command that ran to its end, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or the drive passes.
    Good = 0,
    /// The drive fails the role.
    Fails = 1,
    /// A self-check failed or the target broke; results were kept.
    Error = 2,
    /// The evidence does not decide.
    Unknown = 3,
}

impl Exit {
    /// `Good` if the condition holds, else `otherwise`.
    pub fn good_if(condition: bool, otherwise: Exit) -> Exit {
        if condition { Exit::Good } else { otherwise }
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Exit {
        match outcome {
            Outcome::Pass => Exit::Good,
            Outcome::Fail => Exit::Fails,
            Outcome::Unknown => Exit::Unknown,
        }
    }
}

/// An error for the user.
#[derive(Debug)]
pub enum Failure {
    /// From the lab: message and hint.
    Lab(LabError),
    /// Standard output could not be written.
    Output(io::Error),
    /// The reader of standard output went away: not an error.
    BrokenPipe,
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        Failure::Lab(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Output(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Lab(error) => {
                write!(f, "error: {}", visible(&error.to_string()))?;
                if !error.advice().is_empty() {
                    write!(f, "\n\nhint: {}", error.advice())?;
                }
                Ok(())
            }
            Failure::Output(error) => write!(f, "error: writing to standard output: {error}"),
            Failure::BrokenPipe => f.write_str("error: broken pipe"),
        }
    }
}

/// The text with control characters made visible: input quoted in a message must not drive the
/// terminal.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
