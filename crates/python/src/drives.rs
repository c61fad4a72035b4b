//! Drives of the catalogue, and those of files, with parameters changed.

use crate::errors::{json, lab, refused};
use pyo3::prelude::*;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::{self, CatalogueDrive, show};
use ssdlab_drives::scaling::sized;
use ssdlab_drives::settings::{self, DriveSetting};
use ssdlab_ssd::DriveConfig;

/// A drive as Python names it.
#[derive(FromPyObject)]
pub struct NamedDrive {
    /// Name in the catalogue, or the file that `text` was read from.
    #[pyo3(item(0))]
    pub name: String,
    /// Text of a drive file; `None`: a drive of the catalogue.
    #[pyo3(item(1))]
    pub text: Option<String>,
    /// Parameters that are changed.
    #[pyo3(item(2))]
    pub settings: Vec<(String, String)>,
}

impl NamedDrive {
    /// The parameters that are changed.
    ///
    /// # Errors
    /// When one does not exist, or its value is of another form.
    pub fn settings(&self) -> Result<Vec<DriveSetting>, LabError> {
        let settings = self.settings.iter();
        settings
            .map(|(key, value)| DriveSetting::new(key, value))
            .collect()
    }

    /// The drive without its settings.
    ///
    /// # Errors
    /// When no drive has this name, or its file is wrong.
    pub fn plain(&self) -> Result<CatalogueDrive, LabError> {
        match &self.text {
            None => catalogue::drive(self.name.strip_prefix("drive:").unwrap_or(&self.name)),
            Some(text) => catalogue::parse(text, &self.name),
        }
    }

    /// The drive.
    ///
    /// # Errors
    /// As [`NamedDrive::plain`], and when it is not possible with its settings.
    pub fn open(&self) -> Result<CatalogueDrive, LabError> {
        settings::apply(&self.plain()?, &self.settings()?)
    }

    /// What the model takes, of `size` bytes where that is given.
    ///
    /// # Errors
    /// As [`NamedDrive::open`], and when it cannot have this size.
    pub fn config(&self, size: Option<&str>) -> Result<DriveConfig, LabError> {
        let config = self.open()?.config;
        match size {
            None => Ok(config),
            Some(size) => Ok(sized(&config, parse_size(size)?)?.config),
        }
    }
}

/// Names of the catalogue.
#[pyfunction]
pub fn drive_names() -> PyResult<Vec<String>> {
    catalogue::names().map_err(lab)
}

/// Facts of a drive as JSON: what `ssdlab list drives --json` has, with its parameters.
#[pyfunction]
pub fn drive_facts(drive: NamedDrive) -> PyResult<String> {
    let opened = drive.open().map_err(lab)?;
    let rests_on = opened.rests_on();
    let rests_on: Vec<&str> = rests_on.iter().map(AsRef::as_ref).collect();
    let facts = serde_json::json!({
        "name": opened.file.name,
        "title": opened.file.title,
        "family": opened.family(),
        "interface": opened.file.interface,
        "user_bytes": opened.config.user_bytes,
        "raw_bytes": settings::raw_bytes(&opened),
        "over_provisioning": opened.config.nominal_op(),
        "power_loss_protection": opened.file.documented.power_loss_protection.value,
        "rated_bytes_written": opened.rated_bytes_written(),
        "drive_writes_per_day": opened.dwpd(),
        "memory_bytes": opened.config.memory_bytes(),
        "parameters": opened.parameters(),
        "rests_on": rests_on,
        "text": show::text(&opened),
    });
    serde_json::to_string(&facts).map_err(json)
}

/// The whole drive file, with the settings in it.
#[pyfunction]
pub fn drive_toml(drive: NamedDrive) -> PyResult<String> {
    let opened = drive.open().map_err(lab)?;
    toml::to_string(&opened.file).map_err(|error| refused(error.to_string(), ""))
}

/// Every parameter that can be set, `key=example` a line.
#[pyfunction]
pub fn settings_help() -> String {
    settings::help()
}
