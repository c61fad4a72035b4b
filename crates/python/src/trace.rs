//! `ssdlab.trace`.

use crate::errors::{json, lab, refused};
use crate::long::whole;
use pyo3::prelude::*;
use ssdlab_base::quantity::parse_duration;
use ssdlab_load::trace::TraceFormat;
use ssdlab_load::trace::files::{DescribedTrace, convert, read_options, warnings};
use std::path::PathBuf;

/// Describes a trace: JSON, text, and warnings.
#[pyfunction]
#[pyo3(signature = (path, interval, format=None, bad_share="1%", device=None))]
pub fn describe_trace(
    py: Python<'_>,
    path: PathBuf,
    interval: &str,
    format: Option<&str>,
    bad_share: &str,
    device: Option<&str>,
) -> PyResult<(String, String, Vec<String>)> {
    let interval_ns = parse_duration(interval).map_err(lab)?.0;
    if interval_ns == 0 {
        return Err(refused("an interval of 0", "give a time such as 1s"));
    }
    let options = read_options(format, bad_share, device).map_err(lab)?;
    let described = whole(py, None, |_, _| {
        let described = DescribedTrace::read(&path, interval_ns, usize::MAX, &options)?;
        let warned = warnings(&path, described.reading());
        Ok((described.json()?, described.text(), warned))
    })?;
    let (facts, text, warned) = described;
    Ok((serde_json::to_string(&facts).map_err(json)?, text, warned))
}

/// Writes a trace in another format; returns its commands and what was lost.
#[pyfunction]
#[pyo3(signature = (from_path, to_path, format, device=None))]
pub fn convert_trace(
    py: Python<'_>,
    from_path: PathBuf,
    to_path: PathBuf,
    format: &str,
    device: Option<&str>,
) -> PyResult<(u64, Vec<String>)> {
    let format = TraceFormat::to_write(format).map_err(lab)?;
    let options = read_options(None, "1%", device).map_err(lab)?;
    let converted = whole(py, None, |_, _| {
        let conversion = convert(&from_path, &to_path, format, &options)?;
        Ok((conversion.reading.events, conversion.losses))
    })?;
    Ok(converted)
}
