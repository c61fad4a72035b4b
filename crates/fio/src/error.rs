//! What can be wrong in a job file.

use std::fmt;

/// Where in a job file, or in a file that it includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFileLocation {
    /// The file's name, as the caller gave it.
    pub source: String,
    /// Line in it, from 1; `None` when the whole is meant.
    pub line: Option<usize>,
}

impl fmt::Display for JobFileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// What is wrong with one line, or with the file. `Display` names the option or the refusal, and
/// for a bad value the allowed ones; [`Error::hint`] says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An option is unknown, or not supported by the program that reads the file.
    UnknownOption {
        /// The option as the user spelled it.
        option: String,
        /// Where it stands.
        place: JobFileLocation,
        /// What to do instead.
        hint: String,
    },
    /// A value, or a whole line, cannot be understood or is out of range.
    BadValue {
        /// The option; `line` for a line without an option.
        option: String,
        /// The value given.
        given: String,
        /// What is allowed.
        allowed: String,
        /// Where it stands.
        place: JobFileLocation,
        /// What to do instead; may be empty.
        hint: String,
    },
    /// Something about a job or the file as a whole is impossible.
    Refused {
        /// What, and why.
        what: String,
        /// What to do instead; may be empty.
        hint: String,
    },
}

impl Error {
    /// A refusal with its hint.
    pub fn refused(what: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::Refused {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// What the user can do; may be empty.
    pub fn hint(&self) -> &str {
        match self {
            Error::UnknownOption { hint, .. }
            | Error::BadValue { hint, .. }
            | Error::Refused { hint, .. } => hint,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownOption { option, place, .. } => {
                write!(f, "{place}: fio option `{option}` is not supported")
            }
            Error::BadValue {
                option,
                given,
                allowed,
                place,
                ..
            } => write!(f, "{place}: `{option}` cannot be `{given}`: {allowed}"),
            Error::Refused { what, .. } => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}
