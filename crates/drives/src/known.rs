//! Real drives by family (`drives/known.toml`): protection against power loss, rated writes, cells,
//! and where each fact is from.

pub mod draft;
pub mod list;
pub mod lookup;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Class of a source. Without one, a fact is unsourced: general knowledge of the makers' sheets,
/// for which no document was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceClass {
    /// The maker's own document.
    MakerSheet,
    /// A copy of the maker's document elsewhere.
    MakerCopy,
    /// A review, news, a list or a talk.
    Review,
    /// Measured by others.
    Test,
}

impl SourceClass {
    /// In words.
    pub fn words(class: Option<SourceClass>) -> &'static str {
        match class {
            Some(SourceClass::MakerSheet) => "maker's document",
            Some(SourceClass::MakerCopy) => "copy of the maker's document",
            Some(SourceClass::Review) => "review or list",
            Some(SourceClass::Test) => "test by others",
            None => "unsourced",
        }
    }
}

/// What stands for the source of an unsourced fact.
pub const UNSOURCED: &str = "unsourced: general knowledge of the maker's sheet, which was not read";

/// What survives a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KnownProtection {
    /// Every acknowledged write.
    Yes,
    /// What was on the media before; the buffer is lost.
    AtRestOnly,
    /// Only what was flushed.
    No,
    /// Not known.
    #[default]
    Unknown,
}

impl KnownProtection {
    /// Whether acknowledged writes survive; `None`: not known.
    pub fn acknowledged_survive(self) -> Option<bool> {
        match self {
            KnownProtection::Yes => Some(true),
            KnownProtection::AtRestOnly | KnownProtection::No => Some(false),
            KnownProtection::Unknown => None,
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            KnownProtection::Yes => "yes",
            KnownProtection::AtRestOnly => "at rest only",
            KnownProtection::No => "no",
            KnownProtection::Unknown => "unknown",
        }
    }
}

/// Published endurance of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct PublishedRating {
    /// Host bytes that may be written.
    pub bytes_written: u64,
    /// Over how many years; `None`: the source does not say.
    pub years: Option<f64>,
    /// On which workload.
    pub workload: String,
    /// Who says so.
    pub source: String,
    /// Class of the source; `None`: unsourced.
    #[serde(default)]
    pub class: Option<SourceClass>,
}

/// What is known of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct KnownModel {
    /// Product family.
    pub family: String,
    /// Whether acknowledged writes survive a power cut; `None`: not known.
    pub plp: Option<bool>,
    /// Who says so.
    pub plp_source: String,
    /// What survives a power cut.
    #[serde(default)]
    pub protection: KnownProtection,
    /// Class of the source of `plp`; `None`: unsourced, an assumption.
    #[serde(default)]
    pub plp_class: Option<SourceClass>,
    /// Rated endurance; `None`: not known, or not for this capacity.
    pub rating: Option<PublishedRating>,
    /// Kind of cells: `SLC`, `MLC`, `TLC`, `QLC`, `3D XPoint`, `DRAM`.
    #[serde(default)]
    pub cells: Option<String>,
}

/// A family of models: a row of `known.toml`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelFamily {
    /// Product family, with its class of endurance.
    pub name: String,
    /// Who makes it.
    pub vendor: String,
    /// `SATA`, `SAS`, `NVMe` or `PCIe` (a card with a driver of its own).
    pub interface: String,
    /// Kind of cells: `SLC`, `MLC`, `TLC`, `QLC`, `3D XPoint`, `DRAM`.
    pub cells: Option<String>,
    /// A model name as such a drive reports it; empty: not known.
    pub example: String,
    /// How model names begin and end.
    pub model: Vec<[String; 2]>,
    /// Other names that people use.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// How the names of its drives in the catalogue begin.
    pub catalogue: Option<String>,
    /// What survives a power cut.
    #[serde(default)]
    pub protection: KnownProtection,
    /// Whether acknowledged writes survive: follows from `protection`.
    #[serde(skip_deserializing)]
    pub plp: Option<bool>,
    /// Class of the source; `None`: unsourced.
    pub plp_class: Option<SourceClass>,
    /// Who says so.
    #[serde(default)]
    pub plp_source: String,
    /// Pairs of capacity in GB and rated writes in TB (10^9 and 10^12 bytes).
    #[serde(default)]
    pub rated: Vec<(f64, f64)>,
    /// Drive writes per day that the source gives, for every capacity.
    pub dwpd: Option<f64>,
    /// Over how many years.
    pub years: Option<f64>,
    /// Workload of the rating.
    pub workload: Option<String>,
    /// Class of the source of the rating; `None`: unsourced.
    pub rated_class: Option<SourceClass>,
    /// Who gives the rating.
    pub rated_source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    family: Vec<ModelFamily>,
}

fn read_table() -> Result<Vec<ModelFamily>, toml::de::Error> {
    let file: ModelsFile = toml::from_str(include_str!("../../../drives/known.toml"))?;
    let complete = |family: ModelFamily| {
        let unsourced = family.protection != KnownProtection::Unknown && family.plp_class.is_none();
        ModelFamily {
            plp: family.protection.acknowledged_survive(),
            plp_source: if unsourced {
                UNSOURCED.into()
            } else {
                family.plp_source
            },
            ..family
        }
    };
    Ok(file.family.into_iter().map(complete).collect())
}

static FAMILIES: LazyLock<Vec<ModelFamily>> = LazyLock::new(|| {
    // The tests read the embedded file; should it break, no model is known.
    read_table().unwrap_or_default()
});

/// How far a drive's capacity may be from the product's, as a share of it.
const CAPACITY_SHARE: f64 = 0.02;

const DAYS_OF_A_YEAR: f64 = 365.0;

/// Makers' names before a model's, which reports of one drive give or leave out.
const MAKERS_BEFORE: [&str; 13] = [
    "INTEL ",
    "SOLIDIGM ",
    "SAMSUNG ",
    "MICRON_",
    "CRUCIAL_",
    "KINGSTON ",
    "TOSHIBA ",
    "KIOXIA ",
    "SEAGATE ",
    "WDC ",
    "SANDISK ",
    "HGST ",
    "ATA ",
];

/// Every family, in the order of the file.
pub fn families() -> &'static [ModelFamily] {
    &FAMILIES
}

/// The family of a drive that reports this model name.
pub fn family_of(model: &str) -> Option<&'static ModelFamily> {
    families().iter().find(|family| family.has(model))
}

/// What is known of this model with this many bytes.
pub fn known(model: &str, capacity: Option<u64>) -> Option<KnownModel> {
    family_of(model).map(|family| family.of_capacity(capacity))
}

/// A model's name in capitals without its maker before it.
fn bare(model: &str) -> String {
    let upper = model.trim().to_uppercase();
    let after = |maker: &&str| {
        upper
            .strip_prefix(*maker)
            .map(|rest| rest.trim().to_owned())
    };
    MAKERS_BEFORE.iter().find_map(after).unwrap_or(upper)
}

impl ModelFamily {
    /// Whether a drive that reports this model name belongs to the family.
    pub fn has(&self, model: &str) -> bool {
        let model = bare(model);
        let before_hyphen = model.split('-').next().unwrap_or_default();
        let fits = |[start, end]: &[String; 2]| {
            let end = end.to_uppercase();
            model.starts_with(&bare(start))
                && (model.ends_with(&end) || before_hyphen.ends_with(&end))
        };
        self.model.iter().any(fits)
    }

    /// What is known of its drive with this many bytes.
    pub fn of_capacity(&self, capacity: Option<u64>) -> KnownModel {
        KnownModel {
            family: self.name.clone(),
            plp: self.plp,
            plp_source: self.plp_source.clone(),
            protection: self.protection,
            plp_class: self.plp_class,
            rating: capacity.and_then(|bytes| self.rating(bytes)),
            cells: self.cells.clone(),
        }
    }

    /// The rating of a drive of this many bytes: the writes given for its capacity, or those that
    /// follow from drive writes per day and years.
    pub fn rating(&self, bytes: u64) -> Option<PublishedRating> {
        let near = |(gb, _): &&(f64, f64)| (bytes as f64 / 1e9 / gb - 1.0).abs() < CAPACITY_SHARE;
        let rated_bytes = self.rated.iter().find(near).map(|(_, tb)| tb * 1e12);
        let daily = || Some(bytes as f64 * self.dwpd? * DAYS_OF_A_YEAR * self.years?);
        Some(PublishedRating {
            bytes_written: rated_bytes.or_else(daily)? as u64,
            years: self.years,
            workload: self.workload.clone()?,
            source: self.rated_source.clone().unwrap_or(UNSOURCED.into()),
            class: self.rated_class,
        })
    }

    /// Least and most drive writes per day over its capacities: as the source gives them, or as
    /// they follow from rated writes and years.
    pub fn drive_writes_per_day(&self) -> Option<(f64, f64)> {
        if let Some(dwpd) = self.dwpd {
            return Some((dwpd, dwpd));
        }
        let days = self.years? * DAYS_OF_A_YEAR;
        let writes_per_day = self.rated.iter().map(|(gb, tb)| 1e3 * tb / gb / days);
        least_and_most(writes_per_day)
    }

    /// Least and most rated writes over its capacities, in bytes.
    pub fn rated_writes(&self) -> Option<(f64, f64)> {
        least_and_most(self.rated.iter().map(|(_, tb)| tb * 1e12))
    }
}

fn least_and_most(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |so_far, value| {
        let (least, most) = so_far.unwrap_or((value, value));
        Some((f64::min(least, value), f64::max(most, value)))
    })
}
