//! What a crash disk, or a file on it, refuses. The second line of each text says what to do.

use ssdlab_ssd::{ConfigError, Nanos};
use std::fmt;

/// A refusal. [`CrashError::PowerLost`] and [`CrashError::Off`] are what a test waits for; every
/// other one is a mistake of the caller.
///
/// ```
/// use ssdlab_crash::{CrashDisk, CrashError, DriveConfig};
///
/// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// disk.cut()?;
/// let error = disk.flush().unwrap_err();
/// assert!(matches!(error, CrashError::Off));
/// assert!(error.to_string().ends_with("hint: power_on() first"));
/// # Ok::<(), CrashError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrashError {
    /// An armed cut struck inside the call, which was not acknowledged.
    PowerLost {
        /// Virtual time of the cut.
        at: Nanos,
        /// Step of the recovery that was cut; `None`: a command or rest.
        recovery: Option<&'static str>,
    },
    /// Power is off.
    Off,
    /// Power is on already.
    On,
    /// The drive does not come back after its cuts.
    Dead,
    /// A request outside the drive.
    Outside {
        /// First byte requested.
        offset: u64,
        /// Bytes requested.
        len: u64,
        /// Capacity, bytes.
        capacity: u64,
    },
    /// A request that is not in whole sectors of 512 bytes, or in whole mapping units where a
    /// command needs these.
    Unaligned {
        /// First byte requested.
        offset: u64,
        /// Bytes requested.
        len: u64,
        /// Bytes of which both must be multiples.
        unit: u64,
    },
    /// The bytes given are not as long as the command, or a command is longer than 4 GiB.
    Length {
        /// Bytes of the command.
        command: u64,
        /// Bytes given.
        given: u64,
    },
    /// A drive that cannot exist.
    Config(ConfigError),
    /// An unknown fault, or a number in it that is not valid.
    Fault {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A request that the files on the disk refuse.
    File {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The disk does not record its history.
    NoHistory,
}

impl CrashError {
    /// Whether the power is off: what a test that arms cuts waits for.
    pub fn is_power(&self) -> bool {
        matches!(self, CrashError::PowerLost { .. } | CrashError::Off)
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            CrashError::PowerLost { recovery, .. } if recovery.is_some() => {
                "power_on() again: what was durable is judged when a recovery has ended".into()
            }
            CrashError::PowerLost { .. } | CrashError::Off => "power_on() first".into(),
            CrashError::On => "cut() first".into(),
            CrashError::Dead => "fork() the disk before its cuts, or start with a new one".into(),
            CrashError::Outside { capacity, .. } => {
                format!("stay below {capacity}, or give the drive more `user_bytes`")
            }
            CrashError::Unaligned { unit, .. } => {
                format!("round offset and length to multiples of {unit}")
            }
            CrashError::Length { .. } => {
                "give a write as many bytes as its command names, others none".into()
            }
            CrashError::Config(_) => "start from DriveConfig::tiny()".into(),
            CrashError::Fault { hint, .. } | CrashError::File { hint, .. } => hint.clone(),
            CrashError::NoHistory => "start_history() before the commands that matter".into(),
        }
    }

    /// What was refused, without the hint.
    pub fn what(&self) -> String {
        match self {
            CrashError::PowerLost { at, recovery } => match recovery {
                Some(step) => format!("power was cut at {at} inside recovery: {step}"),
                None => format!("power was cut at {at}"),
            },
            CrashError::Off => "the disk has no power".into(),
            CrashError::On => "the disk has power".into(),
            CrashError::Dead => "the drive is dead and does not come back".into(),
            CrashError::Outside {
                offset,
                len,
                capacity,
            } => format!("{len} bytes at {offset} of a disk of {capacity} bytes"),
            CrashError::Unaligned { offset, len, unit } => {
                format!("{len} bytes at {offset}: not in whole units of {unit} bytes")
            }
            CrashError::Length { command, given } => {
                format!("{given} bytes for a command of {command}")
            }
            CrashError::Config(error) => error.to_string(),
            CrashError::Fault { what, .. } | CrashError::File { what, .. } => what.clone(),
            CrashError::NoHistory => "the disk records no history".into(),
        }
    }
}

impl fmt::Display for CrashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.what(), self.hint())
    }
}

impl std::error::Error for CrashError {}

impl From<ConfigError> for CrashError {
    fn from(error: ConfigError) -> CrashError {
        CrashError::Config(error)
    }
}
