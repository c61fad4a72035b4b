//! The health that modelled drives report, by the names that a user gives them.

use super::health::{SmartInterface, health, identity, page, time_from};
use super::left;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue::{self, CatalogueDrive};
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::smart::json::{DeviceName, ata_report, nvme_report};
use ssdlab_drives::smart::{AttributeSet, Identity, SmartHealth};
use ssdlab_ssd::Drive;
use std::path::Path;

/// A modelled drive and the health that it reports.
pub struct ModelledHealth {
    /// How the user named it.
    pub source: String,
    /// Who it says it is.
    pub identity: Identity,
    /// What it counts.
    pub health: SmartHealth,
    about: SavedDriveInfo,
}

impl ModelledHealth {
    /// The modelled drive that `source` names: `drive:NAME` as in targets, the results of `age`, a
    /// saved drive, or a checkpoint; `None` when it is a device or another file.
    ///
    /// # Errors
    /// When the drive is unknown, cannot be read, or is damaged.
    pub fn find(source: &Path) -> Result<Option<ModelledHealth>, LabError> {
        let text = source.to_string_lossy();
        if let Some(name) = text.strip_prefix("drive:") {
            return Ok(Some(match left::kept(name) {
                Some(_) => ModelledHealth::saved(source, Path::new(name))?,
                None => ModelledHealth::new(source, &catalogue::open(name)?)?,
            }));
        }
        if source.is_dir() || left::is_saved(source) {
            return ModelledHealth::saved(source, source).map(Some);
        }
        refuse_bare_name(source, &text)?;
        Ok(None)
    }

    /// The saved drive at `path`.
    ///
    /// # Errors
    /// When it is not a saved drive, or is damaged.
    pub fn saved(source: &Path, path: &Path) -> Result<ModelledHealth, LabError> {
        let (drive, about) = left::open(path)?;
        Ok(ModelledHealth::of(source, &drive, about))
    }

    /// A drive of the catalogue as it leaves the factory.
    fn new(source: &Path, drive: &CatalogueDrive) -> Result<ModelledHealth, LabError> {
        let about = SavedDriveInfo {
            name: drive.file.name.clone(),
            title: drive.file.title.clone(),
            interface: Some(drive.file.interface.clone()),
            attributes: Some(drive.attribute_set()),
            ..SavedDriveInfo::default()
        };
        let modelled = Drive::new(drive.config.clone());
        let modelled = modelled.map_err(|error| LabError::refused(error.to_string(), ""))?;
        Ok(ModelledHealth::of(source, &modelled, about))
    }

    fn of(source: &Path, drive: &Drive, about: SavedDriveInfo) -> ModelledHealth {
        ModelledHealth {
            source: source.display().to_string(),
            identity: identity(&about, drive.config()),
            health: health(drive, &about),
            about,
        }
    }

    /// Counts the timed workload (E2 to E4 of Intel's attributes) from an earlier state of the
    /// drive.
    ///
    /// # Errors
    /// When the drive counts none, or `earlier` is not an earlier state of it.
    pub fn time_since(&mut self, earlier: &Path) -> Result<(), LabError> {
        let about = &self.about;
        if self.page() != SmartInterface::Ata(AttributeSet::Intel) {
            return Err(LabError::refused(
                format!("{} counts no timed workload", about.name),
                "Intel's SATA drives do; leave out --timed-since",
            ));
        }
        let before = ModelledHealth::saved(earlier, earlier)?;
        if before.about.name != about.name {
            return Err(LabError::refused(
                format!(
                    "{} is {}, not {}",
                    earlier.display(),
                    before.about.name,
                    about.name
                ),
                "--timed-since takes an earlier state of the same drive, such as a checkpoint",
            ));
        }
        time_from(&mut self.health, &before.health)
    }

    /// How it serves SMART.
    pub fn page(&self) -> SmartInterface {
        page(&self.about)
    }

    /// The report of smartctl on it.
    pub fn smartctl_json(&self) -> Value {
        let device = |kind: &str| DeviceName {
            name: self.source.clone(),
            kind: kind.into(),
        };
        match self.page() {
            SmartInterface::Ata(set) => {
                ata_report(&device("sat"), &self.identity, set, &self.health)
            }
            SmartInterface::Nvme => nvme_report(&device("nvme"), &self.identity, &self.health),
        }
    }
}

/// A name of the catalogue without `drive:` would be read as a file.
fn refuse_bare_name(source: &Path, text: &str) -> Result<(), LabError> {
    if source.exists() || text.contains(['/', '.', ':']) {
        return Ok(());
    }
    match catalogue::meant(text) {
        None => Ok(()),
        Some(name) => Err(LabError::refused(
            format!("no file is called `{text}`, but a modelled drive is called `{name}`"),
            format!("ssdlab inspect drive:{name}"),
        )),
    }
}
