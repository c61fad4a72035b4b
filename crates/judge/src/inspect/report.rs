//! What the tools said of a drive at one time, as it is saved.
//!
//! Read are: what `smartctl --json` prints; our own wrapping of it with what `nvme` added; JSON
//! lines of either, as `inspect --watch` writes them; and other forms ([`super::pasted`]). A last
//! line that was cut off is left out.

pub use super::one_look::{DriveReport, KernelFacts, REPORT_VERSION};
use super::pasted;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use std::io::Read;
use std::path::Path;

/// A report of smartctl has some 30 KB; a file a thousand times larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 28;

/// The reports in a file, in order.
///
/// # Errors
/// When it cannot be read, or holds no JSON object.
pub fn drive_reports(path: &Path) -> Result<Vec<DriveReport>, LabError> {
    let file = |error| LabError::file("reading", path, error);
    let length = std::fs::metadata(path).map_err(file)?.len();
    if length > FILE_BYTES_MAX {
        return Err(LabError::refused(
            format!(
                "{} has {length} bytes: no report of smartctl",
                path.display()
            ),
            "name the output of `smartctl --json=c -x`, or a device",
        ));
    }
    let bytes = std::fs::read(path).map_err(file)?;
    parse(&pasted::decoded(&bytes), &path.display().to_string())
}

/// The reports on standard input.
///
/// # Errors
/// As [`drive_reports`].
pub fn piped_reports() -> Result<Vec<DriveReport>, LabError> {
    let source = Path::new("standard input");
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .take(FILE_BYTES_MAX)
        .read_to_end(&mut bytes);
    read.map_err(|error| LabError::file("reading", source, error))?;
    parse(&pasted::decoded(&bytes), "standard input")
}

/// The reports in a text that came from `source`.
///
/// # Errors
/// When it holds no report.
pub fn parse(text: &str, source: &str) -> Result<Vec<DriveReport>, LabError> {
    let mut reports = Vec::new();
    let is_json = text.trim_start().starts_with(['{', '[']);
    if !is_json {
        reports = pasted::from_text(text);
        for report in &mut reports {
            source.clone_into(&mut report.source);
        }
        if !reports.is_empty() {
            return Ok(reports);
        }
        if let Some(refusal) = pasted::refusal(text) {
            return Err(LabError::refused(
                format!("{source}: smartctl could not read the drive: {refusal}"),
                HOW_TO_ASK,
            ));
        }
    }
    let text = after_prompt(text);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    loop {
        match values.next() {
            None => break,
            // nvme-cli's two documents of one drive, one after the other.
            Some(Ok(value)) if pasted::is_controller(&value) => {
                add_controller(&mut reports, value, source)?;
            }
            Some(Ok(value)) => reports.push(one(value, source)?),
            // The end of a file that was being written.
            Some(Err(error)) if error.is_eof() && !reports.is_empty() => break,
            Some(Err(error)) if error.is_eof() => {
                let what = "it ends in the middle: a part was not copied";
                return Err(not_json(source, Some(error.line()), what.to_owned()));
            }
            Some(Err(error)) => {
                return Err(not_json(source, Some(error.line()), error.to_string()));
            }
        }
    }
    if reports.is_empty() {
        return Err(not_json(source, None, "it is empty".into()));
    }
    Ok(reports)
}

/// What to do where smartctl could not read a drive.
pub(super) const HOW_TO_ASK: &str = "\
    run `inspect` as root; a drive behind a RAID controller needs --device-type, for instance \
    `megaraid,0`, one behind a USB bridge `sat`, `sntjmicron`, `sntasmedia` or `sntrealtek`; \
    most disks of virtual machines do not answer; for a file, save a report with \
    `smartctl --json=c -x /dev/DEVICE > FILE.json`";

/// JSON that was pasted with the command before it begins at a line of its own.
fn after_prompt(text: &str) -> &str {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let start = text.find("\n{").filter(|_| !is_json);
    start.map_or(text, |start| &text[start + 1..])
}

/// Adds `nvme id-ctrl` to the report before it, or begins one with it.
fn add_controller(
    reports: &mut Vec<DriveReport>,
    controller: Value,
    source: &str,
) -> Result<(), LabError> {
    if reports.is_empty() {
        reports.push(one(
            serde_json::json!({"device": {"protocol": "NVMe"}}),
            source,
        )?);
    }
    if let Some(report) = reports.last_mut() {
        pasted::add_controller(&mut report.smartctl, &controller);
        report.nvme_controller = Some(controller);
    }
    Ok(())
}

fn not_json(source: &str, line: Option<usize>, what: String) -> LabError {
    let source = source.to_owned();
    LabError::refused(
        format!(
            "{}: no report of smartctl: {what}",
            InputLocation { source, line }
        ),
        "text and JSON of smartctl and nvme-cli are read: save one with `smartctl --json=c -x \
         /dev/DEVICE > FILE.json`",
    )
}

fn one(value: Value, source: &str) -> Result<DriveReport, LabError> {
    let version = value.get("ssdlab_report").map(|v| v.as_u64().unwrap_or(0));
    let mut report = match version {
        _ if !value.is_object() => {
            return Err(not_json(source, None, "it is not a JSON object".into()));
        }
        None => DriveReport {
            ssdlab_report: REPORT_VERSION,
            smartctl: pasted::from_nvme_cli(&value).unwrap_or(value),
            ..DriveReport::default()
        },
        Some(version) if version == u64::from(REPORT_VERSION) => serde_json::from_value(value)
            .map_err(|error| not_json(source, None, error.to_string()))?,
        Some(version) => {
            return Err(not_json(
                source,
                None,
                format!("reports of version {version} are not known, only 1"),
            ));
        }
    };
    report.source = source.to_owned();
    Ok(report)
}
