//! Errors as `ssdlab.Error`, with their hints.

use pyo3::PyErr;
use ssdlab_base::LabError;
use ssdlab_crash::CrashError;

pyo3::import_exception!(ssdlab._errors, Error);
pyo3::import_exception!(ssdlab._errors, PowerLost);

/// A refusal of the lab.
pub fn lab(error: LabError) -> PyErr {
    Error::new_err((error.to_string(), error.advice().to_owned()))
}

/// A refusal with its hint.
pub fn refused(what: impl Into<String>, hint: &str) -> PyErr {
    Error::new_err((what.into(), hint.to_owned()))
}

/// A refusal of the crash disk.
pub fn crash(error: CrashError) -> PyErr {
    let (what, hint) = (error.what(), error.hint());
    match error {
        CrashError::PowerLost { at, recovery } => PowerLost::new_err((what, hint, at.0, recovery)),
        CrashError::Off => PowerLost::new_err((what, hint)),
        _ => Error::new_err((what, hint)),
    }
}

/// What JSON cannot hold.
pub fn json(error: serde_json::Error) -> PyErr {
    refused(format!("writing JSON: {error}"), "")
}
