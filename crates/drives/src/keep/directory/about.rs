//! `DIR/about.json`: what the directory holds, for people. It must say what is true.

use super::file::VERSION;
use super::old;
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use std::path::{Path, PathBuf};

/// Where it lies.
pub fn path(directory: &Path) -> PathBuf {
    directory.join("about.json")
}

/// Writes it.
///
/// # Errors
/// When it cannot be written.
pub fn write(directory: &Path, config: &DriveConfig, title: &str) -> Result<(), LabError> {
    let about = serde_json::json!({
        "format": VERSION,
        "drive": config.name,
        "title": title,
        "user_bytes": config.user_bytes,
    });
    let file = path(directory);
    let written = std::fs::write(&file, format!("{about:#}\n"));
    written.map_err(|error| LabError::file("writing", &file, error))
}

/// Reads it and holds it against the drive; returns the title.
///
/// # Errors
/// What is wrong with it, in a sentence. `title` is the drive's; `None`: as the file has it.
pub fn check(
    directory: &Path,
    config: &DriveConfig,
    title: Option<&str>,
) -> Result<String, String> {
    let text = match std::fs::read(path(directory)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("it is missing".to_owned());
        }
        Err(error) => return Err(error.to_string()),
    };
    let about: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| format!("it is no JSON: {error}"))?;
    let about = about.as_object().ok_or("it is no object of JSON")?;
    let value_of = |key: &str| about.get(key).ok_or(format!("`{key}` is missing"));
    let differs = |key: &str, is: &str| match value_of(key) {
        Ok(written) => format!("`{key}` is {written}, the drive in the directory has {is}"),
        Err(problem) => problem,
    };
    if about.len() != 4 {
        return Err("it has other keys than format, drive, title and user_bytes".to_owned());
    }
    let format = value_of("format")?.as_u64();
    let known = *old::VERSIONS.start()..=VERSION;
    if !format.is_some_and(|format| (known.clone()).any(|version| u64::from(version) == format)) {
        return Err(differs("format", &VERSION.to_string()));
    }
    if value_of("drive")?.as_str() != Some(&config.name) {
        return Err(differs("drive", &config.name));
    }
    if value_of("user_bytes")?.as_u64() != Some(config.user_bytes) {
        return Err(differs("user_bytes", &config.user_bytes.to_string()));
    }
    let written_title = value_of("title")?.as_str().ok_or("`title` is no text")?;
    match title {
        Some(title) if title != written_title => Err(differs("title", &format!("\"{title}\""))),
        _ => Ok(written_title.to_owned()),
    }
}
