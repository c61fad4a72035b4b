//! What a call answers: the errors of the system calls that `std::fs` makes.

use ssdlab_crash::CrashError;
use std::fmt;
use std::io::{Error, ErrorKind};

/// What a crash file system refuses with a word of its own. It is the inner error of an
/// [`std::io::Error`]: what the kernel would refuse too comes as the kernel's error.
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, CrashFsError, std::fs};
///
/// let machine = CrashFs::posix(1)?;
/// machine.cut()?;
/// let error = fs::read(machine.root().join("log")).unwrap_err();
/// let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<CrashFsError>());
/// assert!(inner.is_some_and(CrashFsError::is_power));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrashFsError {
    /// The disk has no power, or lost it inside the call.
    Power(CrashError),
    /// The file was open when power was lost.
    Stale,
    /// A path that is on no crash disk.
    Elsewhere(String),
    /// A call that std has and this crate does not.
    Unsupported {
        /// The call.
        call: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// What the files refuse.
    Refused(CrashError),
}

impl CrashFsError {
    /// Whether the power is or was off.
    pub fn is_power(&self) -> bool {
        matches!(self, CrashFsError::Power(_) | CrashFsError::Stale)
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            CrashFsError::Power(_) => "CrashFs::power_on() first".into(),
            CrashFsError::Stale => "open it again by its path".into(),
            CrashFsError::Elsewhere(_) => "use a path below CrashFs::root(), or call it inside \
                 CrashFs::enter() or CrashFs::scope()"
                .into(),
            CrashFsError::Unsupported { hint, .. } => (*hint).into(),
            CrashFsError::Refused(error) => error.hint(),
        }
    }

    /// What was refused, without the hint.
    pub fn what(&self) -> String {
        match self {
            CrashFsError::Power(error) | CrashFsError::Refused(error) => error.what(),
            CrashFsError::Stale => "the file was open when power was lost".into(),
            CrashFsError::Elsewhere(path) => format!("`{path}` is on no crash disk"),
            CrashFsError::Unsupported { call, .. } => format!("{call} is not supported"),
        }
    }
}

impl fmt::Display for CrashFsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; hint: {}", self.what(), self.hint())
    }
}

impl std::error::Error for CrashFsError {}

impl From<CrashFsError> for Error {
    fn from(error: CrashFsError) -> Error {
        let kind = match error {
            CrashFsError::Unsupported { .. } | CrashFsError::Elsewhere(_) => ErrorKind::Unsupported,
            _ => ErrorKind::Other,
        };
        Error::new(kind, error)
    }
}

/// A refusal of the files, as the kernel would put it.
pub(crate) fn from_crash(error: CrashError) -> Error {
    match &error {
        error if error.is_power() => CrashFsError::Power(error.clone()).into(),
        CrashError::File { what, .. } if what == "the disk is full" => {
            system(ErrorKind::StorageFull)
        }
        _ => CrashFsError::Refused(error).into(),
    }
}

pub(crate) fn unsupported<T>(call: &'static str, hint: &'static str) -> Result<T, Error> {
    Err(CrashFsError::Unsupported { call, hint }.into())
}

/// The kernel's error of a kind, with its number where the numbers are Linux'.
pub(crate) fn system(kind: ErrorKind) -> Error {
    let number = match kind {
        ErrorKind::NotFound => 2,
        ErrorKind::AlreadyExists => 17,
        ErrorKind::CrossesDevices => 18,
        ErrorKind::NotADirectory => 20,
        ErrorKind::IsADirectory => 21,
        ErrorKind::InvalidInput => 22,
        ErrorKind::StorageFull => 28,
        ErrorKind::PermissionDenied => 13,
        ErrorKind::DirectoryNotEmpty => 39,
        ErrorKind::WouldBlock => 11,
        _ => 0,
    };
    if cfg!(target_os = "linux") && number > 0 {
        Error::from_raw_os_error(number)
    } else {
        Error::from(kind)
    }
}

/// EBADF: the file was not opened for this.
pub(crate) fn bad_descriptor() -> Error {
    if cfg!(unix) {
        Error::from_raw_os_error(9)
    } else {
        Error::from(ErrorKind::PermissionDenied)
    }
}
