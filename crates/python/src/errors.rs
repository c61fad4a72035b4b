//! Errors as `ssdlab.Error`, with their hints.

use pyo3::PyErr;
use ssdlab_base::LabError;
use ssdlab_crash::CrashError;

pyo3::import_exception!(ssdlab._errors, Error);
pyo3::import_exception!(ssdlab._errors, PowerLost);

/// A refusal of the lab.
pub fn lab(error: LabError) -> PyErr {
    let (what, hint) = (error.to_string(), error.advice());
    Error::new_err((in_python(&what), in_python(hint)))
}

/// Names parameters as Python does: `until` for `--until`, `used_pct` for `--used-pct`. Commands in
/// backquotes stay as they are.
fn in_python(text: &str) -> String {
    let text = text.replace("`ssdlab simulate --help`", "`help(ssdlab.simulate)`");
    let segment = |segment: &str| {
        if segment.starts_with("ssdlab ") {
            segment.to_owned()
        } else {
            segment.split_inclusive(' ').map(parameter).collect()
        }
    };
    let segments: Vec<String> = text.split('`').map(segment).collect();
    segments.join("`")
}

/// `word` without the hyphens of an option.
fn parameter(word: &str) -> String {
    let Some(option) = word.strip_prefix("--") else {
        return word.to_owned();
    };
    let length = option.find(|c: char| !c.is_ascii_lowercase() && c != '-');
    let (name, rest) = option.split_at(length.unwrap_or(option.len()));
    name.replace('-', "_") + rest
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
