//! Models whose protection or endurance published sources state (`known.toml`).

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Published endurance of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedRating {
    /// Host bytes that may be written.
    pub bytes_written: u64,
    /// Years of warranty.
    pub years: f64,
    /// On which workload.
    pub workload: String,
    /// Who says so.
    pub source: String,
}

/// What is published of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    name: String,
    model: Vec<[String; 2]>,
    plp: Option<bool>,
    #[serde(default)]
    plp_source: String,
    #[serde(default)]
    rated: Vec<(f64, f64)>,
    years: Option<f64>,
    workload: Option<String>,
    rated_source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    family: Vec<Family>,
}

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let file: Result<ModelsFile, _> = toml::from_str(include_str!("known.toml"));
    // The tests read the embedded file; should it break, no model is known.
    file.map(|file| file.family).unwrap_or_default()
});

/// How far a drive's capacity may be from the product's, as a share of it.
const CAPACITY_SHARE: f64 = 0.02;

/// What is published of this model with this many bytes.
pub fn known(model: &str, capacity: Option<u64>) -> Option<KnownModel> {
    let matches = |family: &&Family| {
        let fits = |[start, end]: &[String; 2]| model.starts_with(start) && model.ends_with(end);
        family.model.iter().any(fits)
    };
    let family = FAMILIES.iter().find(matches)?;
    Some(KnownModel {
        family: family.name.clone(),
        plp: family.plp,
        plp_source: family.plp_source.clone(),
        rating: capacity.and_then(|bytes| rating(family, bytes)),
    })
}

fn rating(family: &Family, bytes: u64) -> Option<PublishedRating> {
    let near = |(gb, _): &&(f64, f64)| (bytes as f64 / 1e9 / gb - 1.0).abs() < CAPACITY_SHARE;
    let (_, tb) = family.rated.iter().find(near)?;
    Some(PublishedRating {
        bytes_written: (tb * 1e12) as u64,
        years: family.years?,
        workload: family.workload.clone()?,
        source: family.rated_source.clone()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_its_sources() {
        assert!(FAMILIES.len() > 10, "known.toml is read");
        for family in FAMILIES.iter() {
            assert_eq!(
                family.plp.is_some(),
                !family.plp_source.is_empty(),
                "{}",
                family.name
            );
            let rated = !family.rated.is_empty();
            let told = [family.workload.is_some(), family.rated_source.is_some()];
            assert_eq!(told, [rated; 2], "{}", family.name);
            assert_eq!(family.years.is_some(), rated, "{}", family.name);
            assert!(
                rated || family.plp.is_some(),
                "{} says nothing",
                family.name
            );
        }
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
        assert_eq!(
            known("Samsung SSD 970 EVO Plus 250GB", Some(250_000_000_000)),
            None
        );
        let odd = known("INTEL SSDSC2BA200G3", Some(123_000_000_000)).unwrap();
        assert_eq!((odd.plp, odd.rating), (Some(true), None));
    }
}
