//! What can be wrong with a request, a file or a target, said so that the user can mend it.

use crate::recognise::recognise;
use std::fmt;
use std::path::PathBuf;

/// Where in the user's input something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputLocation {
    /// The file, or `command line`.
    pub source: String,
    /// Line in it, from 1; `None` when the whole is meant.
    pub line: Option<usize>,
}

impl InputLocation {
    /// The command line as a whole.
    pub fn command_line() -> InputLocation {
        InputLocation {
            source: "command line".into(),
            line: None,
        }
    }
}

impl fmt::Display for InputLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// A request that cannot be carried out. `Display` names the value given, the values allowed and
/// where; [`LabError::hint`] says what to do next and is printed on its own line.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// An option of a workload language is unknown or not supported.
    #[error("{place}: {language} option `{option}` is not supported")]
    UnknownOption {
        /// `fio` or `DISKSPD`.
        language: &'static str,
        /// The option as the user spelled it.
        option: String,
        /// Where it is.
        place: InputLocation,
        /// What to do instead.
        hint: String,
    },
    /// An option's value cannot be understood or is out of range.
    #[error("{place}: `{option}` cannot be `{given}`: {allowed}")]
    BadValue {
        /// The option or key.
        option: String,
        /// The value given.
        given: String,
        /// What is allowed.
        allowed: String,
        /// Where it is.
        place: InputLocation,
        /// What to do instead; may be empty.
        hint: String,
    },
    /// An entry of a file is invalid.
    #[error("{place}: `{key}`: {what}")]
    BadEntry {
        /// `table.key`, or what kind of file it is.
        key: String,
        /// What is wrong with it, and what is allowed.
        what: String,
        /// Where it is.
        place: InputLocation,
        /// What to do instead; may be empty.
        hint: String,
    },
    /// Something about the request as a whole is impossible.
    #[error("{what}")]
    Refused {
        /// The request and the reason why it is refused.
        what: String,
        /// What to do instead; may be empty.
        hint: String,
    },
    /// A file could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was being done: `reading`, `creating`.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// What to do; may be empty.
        hint: String,
    },
    /// The target failed while the workload ran. Results up to then are kept.
    #[error("{target}: {op} at byte {offset}, {len} bytes: {source}")]
    Io {
        /// The target's name.
        target: String,
        /// The command's kind.
        op: &'static str,
        /// Where.
        offset: u64,
        /// How much.
        len: u32,
        /// What the system said.
        source: std::io::Error,
        /// What to do; may be empty.
        hint: String,
    },
    /// Several things are wrong, in the order in which they were found; never fewer than two.
    #[error("{}", listed(.0))]
    Several(Vec<LabError>),
    /// A run's self-check failed: its numbers must not be believed.
    #[error("self-check failed: {0}")]
    SelfCheck(String),
}

impl LabError {
    /// What the user can do about this very case, or an empty string.
    pub fn hint(&self) -> &str {
        match self {
            LabError::UnknownOption { hint, .. }
            | LabError::BadValue { hint, .. }
            | LabError::BadEntry { hint, .. }
            | LabError::Refused { hint, .. }
            | LabError::File { hint, .. }
            | LabError::Io { hint, .. } => hint,
            // Each error of a list has its own hint.
            LabError::Several(_) => "",
            LabError::SelfCheck(_) => "keep the run directory and report the seed; this is a bug",
        }
    }

    /// The hint, or what usually helps in such cases.
    pub fn advice(&self) -> &str {
        match self {
            _ if !self.hint().is_empty() => self.hint(),
            LabError::BadValue { .. } => {
                "sizes are written 4KiB or 1.6TB, times 500ms or 30m; `ssdlab list options \
                 fio` and `ssdlab list options diskspd` list what the workload languages take"
            }
            LabError::File {
                action: "reading",
                source,
                ..
            } if source.kind() == std::io::ErrorKind::NotFound => "check the path",
            LabError::File { source, .. } | LabError::Io { source, .. } => {
                usual_hint(source.kind())
            }
            _ => "",
        }
    }

    /// Whether a file could not be written because there was no room: on the file system, in a
    /// quota, or below a limit on the size of files.
    pub fn is_out_of_room(&self) -> bool {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let (LabError::File { source, .. } | LabError::Io { source, .. }) = self else {
            return false;
        };
        matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    }

    /// `errors` as one, each once; `None` for an empty list.
    pub fn all(errors: Vec<LabError>) -> Option<LabError> {
        let mut seen = std::collections::BTreeSet::new();
        let mut errors: Vec<LabError> = errors
            .into_iter()
            .filter(|error| seen.insert(error.to_string()))
            .collect();
        match errors.len() {
            0 | 1 => errors.pop(),
            _ => Some(LabError::Several(errors)),
        }
    }

    /// An option of the command line whose value cannot be used.
    pub fn bad_option(
        option: impl Into<String>,
        value: impl Into<String>,
        allowed: impl Into<String>,
        hint: impl Into<String>,
    ) -> LabError {
        LabError::BadValue {
            option: option.into(),
            given: value.into(),
            allowed: allowed.into(),
            place: InputLocation::command_line(),
            hint: hint.into(),
        }
    }

    /// A refusal with its hint.
    pub fn refused(what: impl Into<String>, hint: impl Into<String>) -> LabError {
        LabError::Refused {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// This error, unless the `text` that it was found in is a file of another kind than the
    /// `expected` one: then what it is, and what takes it.
    pub fn unless_recognised(self, source: &str, text: &str, expected: &str) -> LabError {
        match recognise(text) {
            Some(file) if file.what != expected => LabError::refused(
                format!("{source} is {}, not {expected}", file.what),
                file.hint,
            ),
            _ => self,
        }
    }

    /// A file that could not be read or written.
    pub fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> LabError {
        LabError::File {
            action,
            path: path.into(),
            source,
            hint: String::new(),
        }
    }
}

/// Errors of a list that are printed: further ones seldom have causes of their own.
const LISTED_MAX: usize = 10;

/// The first errors with their hints, one below the other.
fn listed(errors: &[LabError]) -> String {
    let mut text = format!("{} errors", errors.len());
    if errors.len() > LISTED_MAX {
        text += &format!(", of which the first {LISTED_MAX}");
    }
    for error in errors.iter().take(LISTED_MAX) {
        text += &format!("\n{error}");
        if !error.hint().is_empty() {
            text += &format!("\n  hint: {}", error.hint());
        }
    }
    text
}

/// What usually helps when the system says no.
fn usual_hint(kind: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::NotFound => "check the path; its directory must exist",
        ErrorKind::PermissionDenied => "run as a user who may, or choose another place",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "make room, or choose another place"
        }
        ErrorKind::IsADirectory => "name a file in it",
        ErrorKind::InvalidData => "the file is not text: name one that is",
        _ => "see what the system said above",
    }
}
