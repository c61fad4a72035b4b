//! Where a ledger is kept, and its records.

use super::frames;
use super::frames::LedgerContents;
use super::wire::RemoteLedger;
use ssdlab_base::LabError;
use std::fmt;
use std::path::PathBuf;

/// The name of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerLocation {
    /// A file, best on another disk.
    File(PathBuf),
    /// `HOST:PORT` of `ssdlab pull ledger`.
    Tcp(String),
}

impl LedgerLocation {
    /// Reads a name: `tcp:HOST:PORT` or a path.
    ///
    /// # Errors
    /// When it is empty, or has no port.
    pub fn parse(text: &str) -> Result<LedgerLocation, LabError> {
        let bad = |allowed: &str| {
            LabError::bad_option("--ledger", text, allowed, "--ledger tcp:192.0.2.7:7040")
        };
        match text.strip_prefix("tcp:") {
            Some(address)
                if address
                    .rsplit_once(':')
                    .is_some_and(|(_, port)| port.parse::<u16>().is_ok()) =>
            {
                Ok(LedgerLocation::Tcp(address.to_owned()))
            }
            Some(_) => Err(bad("tcp:HOST:PORT")),
            None if text.is_empty() => Err(bad("a file, or tcp:HOST:PORT")),
            None => Ok(LedgerLocation::File(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for LedgerLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerLocation::File(path) => write!(f, "{}", path.display()),
            LedgerLocation::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

/// The records of a ledger that is not opened to be continued.
///
/// # Errors
/// When it cannot be read, is not a ledger, or is damaged.
pub fn read(place: &LedgerLocation) -> Result<LedgerContents, LabError> {
    let bytes = match place {
        LedgerLocation::File(path) => {
            std::fs::read(path).map_err(|error| LabError::file("reading", path, error))?
        }
        LedgerLocation::Tcp(address) => RemoteLedger::read(address)?,
    };
    frames::read(&bytes, &place.to_string())
}
