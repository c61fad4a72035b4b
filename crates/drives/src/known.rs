//! Models whose protection or endurance published sources state (`known.toml`).

pub mod list;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

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
}

/// What is published of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct KnownModel {
    /// Product family.
    pub family: String,
    /// Power-loss protection; `None`: no source read says.
    pub plp: Option<bool>,
    /// Who says so.
    pub plp_source: String,
    /// Rated endurance; `None`: not published, or not for this capacity.
    pub rating: Option<PublishedRating>,
}

/// A family of models: a row of `known.toml`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelFamily {
    /// Product family, with its class of endurance.
    pub name: String,
    /// Who makes it.
    pub vendor: String,
    /// `SATA`, `SAS` or `NVMe`.
    pub interface: String,
    /// A model name as such a drive reports it.
    pub example: String,
    /// How model names begin and end.
    pub model: Vec<[String; 2]>,
    /// Power-loss protection; `None`: no source read says.
    pub plp: Option<bool>,
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
    /// Who gives the rating.
    pub rated_source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    family: Vec<ModelFamily>,
}

static FAMILIES: LazyLock<Vec<ModelFamily>> = LazyLock::new(|| {
    let file: Result<ModelsFile, _> = toml::from_str(include_str!("known.toml"));
    // The tests read the embedded file; should it break, no model is known.
    file.map(|file| file.family).unwrap_or_default()
});

/// How far a drive's capacity may be from the product's, as a share of it.
const CAPACITY_SHARE: f64 = 0.02;

const DAYS_OF_A_YEAR: f64 = 365.0;

/// Every family, in the order of the file.
pub fn families() -> &'static [ModelFamily] {
    &FAMILIES
}

/// What is published of this model with this many bytes.
pub fn known(model: &str, capacity: Option<u64>) -> Option<KnownModel> {
    let family = families().iter().find(|family| family.has(model))?;
    Some(KnownModel {
        family: family.name.clone(),
        plp: family.plp,
        plp_source: family.plp_source.clone(),
        rating: capacity.and_then(|bytes| family.rating(bytes)),
    })
}

impl ModelFamily {
    /// Whether a drive that reports this model name belongs to the family.
    pub fn has(&self, model: &str) -> bool {
        let fits = |[start, end]: &[String; 2]| model.starts_with(start) && model.ends_with(end);
        self.model.iter().any(fits)
    }

    /// The rating of a drive of this many bytes: the writes given for its capacity, or those that
    /// follow from drive writes per day and years.
    fn rating(&self, bytes: u64) -> Option<PublishedRating> {
        let near = |(gb, _): &&(f64, f64)| (bytes as f64 / 1e9 / gb - 1.0).abs() < CAPACITY_SHARE;
        let rated_bytes = self.rated.iter().find(near).map(|(_, tb)| tb * 1e12);
        let daily = || Some(bytes as f64 * self.dwpd? * DAYS_OF_A_YEAR * self.years?);
        Some(PublishedRating {
            bytes_written: rated_bytes.or_else(daily)? as u64,
            years: self.years,
            workload: self.workload.clone()?,
            source: self.rated_source.clone()?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_its_sources() {
        assert!(families().len() >= 60, "{} families", families().len());
        for family in families() {
            let name = &family.name;
            assert_eq!(
                family.plp.is_some(),
                !family.plp_source.is_empty(),
                "{name}"
            );
            let rated = !family.rated.is_empty() || family.dwpd.is_some();
            let complete = [family.workload.is_some(), family.rated_source.is_some()];
            assert_eq!(complete, [rated; 2], "{name}");
            assert!(rated || family.years.is_none(), "{name}: years of nothing");
            assert!(rated || family.plp.is_some(), "{name} says nothing");
            let sources = [Some(&family.plp_source), family.rated_source.as_ref()];
            let mut words = sources.into_iter().flatten().flat_map(|s| s.split(' '));
            assert!(
                words.all(|word| word.len() <= 50),
                "{name}: too long to wrap"
            );
            let interfaces = ["SATA", "SAS", "NVMe"];
            assert!(interfaces.contains(&family.interface.as_str()), "{name}");
        }
    }

    /// Writes, capacities and daily writes of one row fit together: a slip of a digit in one of
    /// them gives drive writes per day that no drive has, or two that differ.
    #[test]
    fn ratings_are_plausible() {
        for family in families() {
            for (gb, tb) in &family.rated {
                let Some(years) = family.years else { continue };
                let dwpd = 1e3 * tb / gb / (DAYS_OF_A_YEAR * years);
                assert!((0.03..=40.0).contains(&dwpd), "{}: {dwpd}", family.name);
                if let Some(dwpd) = family.dwpd {
                    let share = dwpd / dwpd;
                    assert!((0.98..=1.02).contains(&share), "{}: {dwpd}", family.name);
                }
            }
        }
    }

    #[test]
    fn a_model_belongs_to_one_family() {
        for family in families() {
            let of: Vec<_> = families()
                .iter()
                .filter(|f| f.has(&family.example))
                .collect();
            let names: Vec<_> = of.iter().map(|family| &family.name).collect();
            assert_eq!(names, [&family.name], "{}", family.example);
        }
    }

    /// Two rows whose patterns fit a common name would make the row depend on the file's order: one
    /// beginning continues the other, and one ending the other.
    #[test]
    fn no_two_families_can_share_a_name() {
        let meet = |a: &[String; 2], b: &[String; 2]| {
            let begins = a[0].starts_with(&b[0]) || b[0].starts_with(&a[0]);
            let ends = a[1].ends_with(&b[1]) || b[1].ends_with(&a[1]);
            begins && ends
        };
        for (at, a) in families().iter().enumerate() {
            for b in &families()[at + 1..] {
                let both = a.model.iter().any(|x| b.model.iter().any(|y| meet(x, y)));
                assert!(!both, "{} and {}", a.name, b.name);
            }
        }
    }

    #[test]
    fn daily_writes_and_years_give_a_rating() {
        let bytes = 3_200_631_791_616_u64;
        let rating = known("INTEL SSDPF2KE032T1", Some(bytes))
            .unwrap()
            .rating
            .unwrap();
        assert_eq!(rating.bytes_written, bytes * 3 * 365 * 5);
        // A figure for the capacity itself is taken before one that follows.
        let rating = known("INTEL SSDPEK1A058GA", Some(58_977_157_120))
            .unwrap()
            .rating;
        assert_eq!(rating.unwrap().bytes_written, 635_000_000_000_000);
        // Daily writes without years are no number of bytes.
        let micron = known("Micron_7450_MTFDKCC3T2TFS", Some(bytes)).unwrap();
        assert_eq!((micron.plp, micron.rating), (Some(true), None));
    }

    /// zil.endurance.710, zil.endurance.320, zil.plp.yes and zil.plp.no.
    #[test]
    fn the_drives_of_article_zil() {
        let rated = |model, gb: u64| {
            let known = known(model, Some(gb * 1_000_000_000)).unwrap();
            (known.plp, known.rating.unwrap().bytes_written)
        };
        let tb = 1_000_000_000_000;
        assert_eq!(rated("INTEL SSDSA2BZ100G3", 100), (Some(true), 500 * tb));
        assert_eq!(rated("INTEL SSDSA2BZ200G3", 200), (Some(true), 1000 * tb));
        assert_eq!(rated("INTEL SSDSA2BZ300G3", 300), (Some(true), 1100 * tb));
        assert_eq!(
            rated("INTEL SSDSA2CW300G3", 300),
            (Some(true), 36_500_000_000_000)
        );
        for model in [
            "INTEL SSDSA2SH032G1GN",
            "INTEL SSDSC2CW120A3",
            "INTEL SSDSC2MH250A2",
        ] {
            assert_eq!(known(model, None).unwrap().plp, Some(false), "{model}");
        }
    }

    #[test]
    fn what_is_not_listed_is_not_known() {
        assert_eq!(known("Samsung SSD 980 250GB", Some(250_000_000_000)), None);
        let odd = known("INTEL SSDSC2BA200G3", Some(123_000_000_000)).unwrap();
        assert_eq!((odd.plp, odd.rating), (Some(true), None));
    }
}
