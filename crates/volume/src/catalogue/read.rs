//! The files of the catalogue.

use super::file::VolumeFile;
use super::sourced::VolumeProvenance;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;

/// Name and text of every file of `volumes/`.
pub(super) const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// The file of instances.
pub(super) const INSTANCES: &str = "instances.toml";

fn refused(source: &str, line: Option<usize>, key: &str, what: String) -> LabError {
    LabError::BadEntry {
        key: key.to_owned(),
        what,
        place: InputLocation {
            source: source.to_owned(),
            line,
        },
        hint: "every figure is { value = ..., kind = \"...\", source = \"...\" }".to_owned(),
    }
}

/// Reads the file of a volume type.
///
/// # Errors
/// When it is not one, or a documented figure names no source.
pub fn parse(text: &str, source: &str) -> Result<VolumeFile, LabError> {
    let file: VolumeFile = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map(|span| text[..span.start].lines().count().max(1));
        refused(
            source,
            line,
            "volume file",
            error.message().replace('\n', "; "),
        )
    })?;
    for (key, figure) in file.figures() {
        let is_named = file.sources.contains_key(&figure.source);
        let needs_name = matches!(
            figure.kind,
            VolumeProvenance::Documented | VolumeProvenance::MeasuredByOthers
        );
        if needs_name && !is_named {
            let message = format!("its source `{}` is not in [sources]", figure.source);
            return Err(refused(source, None, &key, message));
        }
        if figure.value.is_nan() || figure.value < 0.0 {
            let message = format!("{} is not a figure", figure.value);
            return Err(refused(source, None, &key, message));
        }
    }
    Ok(file)
}

/// Every volume type, by name.
///
/// # Errors
/// When a file is wrong.
pub fn volumes() -> Result<Vec<VolumeFile>, LabError> {
    let files = FILES.iter().filter(|(name, _)| *name != INSTANCES);
    files.map(|(name, text)| parse(text, name)).collect()
}

/// The names of the catalogue, in order.
pub fn names() -> Vec<&'static str> {
    let names = FILES.iter().filter(|(name, _)| *name != INSTANCES);
    names
        .map(|(name, _)| name.trim_end_matches(".toml"))
        .collect()
}

/// The volume type of this name.
///
/// # Errors
/// When no volume has this name.
pub fn volume(name: &str) -> Result<VolumeFile, LabError> {
    let file = FILES
        .iter()
        .find(|(file, _)| file.trim_end_matches(".toml") == name);
    match file {
        Some((file, text)) if *file != INSTANCES => parse(text, file),
        _ => Err(LabError::refused(
            format!("no volume type is called `{name}`"),
            format!("there are: {}", names().join(", ")),
        )),
    }
}
