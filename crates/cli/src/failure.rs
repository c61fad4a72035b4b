//! Why a command could not be carried out, as the user sees it.

use ssdlab_base::LabError;
use std::{fmt, io};

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
