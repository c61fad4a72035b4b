//! A drive of the catalogue.

use super::file::DriveFile;
use super::parameters::parameters;
use super::resolve;
use super::sourced::CatalogueParameter;
use super::standing::DatasheetStanding;
use crate::media::{ApplicationClass, Media};
use crate::rests_on::RestsOn;
use crate::smart::AttributeSet;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_ssd::DriveConfig;

/// A drive of the catalogue: its file, and the model's configuration made of it.
#[derive(Clone, Debug)]
pub struct CatalogueDrive {
    /// As written, base merged in.
    pub file: DriveFile,
    /// As the model takes it.
    pub config: DriveConfig,
}

impl CatalogueDrive {
    /// Every parameter with its source, for showing.
    pub fn parameters(&self) -> Vec<CatalogueParameter> {
        parameters(&self.file)
    }

    /// The calibrated and assumed values that figures of this drive rest on as it comes from the
    /// factory, and whether it meets its data sheet: wear is counted apart, and what SMART shows
    /// changes no figure.
    pub fn rests_on(&self) -> Vec<RestsOn> {
        let standing = DatasheetStanding::of(&self.file.name).premise();
        let mut premises: Vec<RestsOn> = standing.map(RestsOn::stated).into_iter().collect();
        premises.extend(self.rests_on_of(|table| !matches!(table, "wear" | "smart")));
        premises
    }

    /// Its media. Protected drives count as enterprise.
    ///
    /// # Errors
    /// When no law can be made for it.
    pub fn media(&self) -> Result<Media, LabError> {
        let documented = &self.file.documented;
        let mut overrides = resolve::wear(&self.file, &self.file.name)?;
        let cycles = documented.program_erase_cycles.as_ref().map(|c| c.value);
        overrides.cycles = overrides.cycles.or(cycles);
        let class = if documented.power_loss_protection.value {
            ApplicationClass::Enterprise
        } else {
            ApplicationClass::Client
        };
        let mut media = Media::given(self.config.shape.bits_per_cell, class, &overrides)?;
        media
            .rests_on
            .extend(self.rests_on_of(|table| table == "wear"));
        Ok(media)
    }

    /// The attributes that its SMART has.
    pub fn attribute_set(&self) -> AttributeSet {
        let table = self.file.smart.as_ref();
        table.map_or_else(AttributeSet::default, |smart| smart.set.value)
    }

    fn rests_on_of(&self, is_wanted: fn(&str) -> bool) -> Vec<RestsOn> {
        let parameters = self.parameters();
        let listed = parameters.iter().filter(|p| is_wanted(p.table()));
        listed.filter_map(CatalogueParameter::rests_on).collect()
    }

    /// Rated endurance in bytes; `None` when the drive has no such rating.
    pub fn rated_bytes_written(&self) -> Option<u64> {
        let rated = self.file.documented.rated_writes.as_ref()?;
        parse_size(&rated.value).ok()
    }

    /// Drive writes per day = rated writes / (user capacity x warranty in days).
    pub fn dwpd(&self) -> Option<f64> {
        let years = self.file.documented.warranty_years.as_ref()?.value;
        let days = f64::from(years) * 365.0;
        let rated = self.rated_bytes_written()? as f64;
        (days > 0.0).then(|| rated / (self.config.user_bytes as f64 * days))
    }

    /// The family's name; a drive alone is a family of its own.
    pub fn family(&self) -> &str {
        let family = self.file.family.as_ref();
        family.map_or(&self.file.name, |family| &family.name)
    }
}

#[cfg(test)]
mod tests;
