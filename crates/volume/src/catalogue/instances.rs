//! Limits of instances, for all their volumes together.

use super::read::{FILES, INSTANCES};
use super::series::{InstanceSeries, of_series};
use crate::account::AccountRates;
use crate::volume::VolumeLimits;
use serde::Deserialize;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use std::collections::BTreeMap;

/// An instance type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// Operations a second that last.
    pub operations: u64,
    /// MB/s (1,000,000 bytes) that last.
    pub throughput: f64,
    /// Operations a second while it bursts.
    pub burst_operations: Option<u64>,
    /// MB/s while it bursts.
    pub burst_throughput: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InstanceFile {
    /// Where every figure comes from, by provider.
    #[allow(dead_code)]
    sources: BTreeMap<String, String>,
    /// How long a full credit lasts at the full burst, in seconds.
    burst_s: u64,
    /// By provider, then by name.
    instances: BTreeMap<String, BTreeMap<String, Instance>>,
    /// By provider, then by series.
    series: BTreeMap<String, BTreeMap<String, InstanceSeries>>,
}

impl Instance {
    /// Its accounts.
    fn limits(&self, burst_s: u64) -> VolumeLimits {
        let account = |base: u64, burst: Option<u64>| {
            let burst = burst.unwrap_or(base);
            let credit = burst.saturating_sub(base).saturating_mul(burst_s);
            AccountRates::bursting(base, burst, credit)
        };
        let bytes = |throughput: f64| (throughput * 1e6).round() as u64;
        VolumeLimits {
            operations: account(self.operations, self.burst_operations),
            bytes: account(bytes(self.throughput), self.burst_throughput.map(bytes)),
        }
    }
}

fn read_file() -> Result<InstanceFile, LabError> {
    let text = FILES.iter().find(|(name, _)| *name == INSTANCES);
    let text = text.map_or("", |(_, text)| *text);
    toml::from_str(text).map_err(|error| LabError::BadEntry {
        key: "instances".to_owned(),
        what: error.message().replace('\n', "; "),
        place: InputLocation {
            source: INSTANCES.to_owned(),
            line: error
                .span()
                .map(|span| text[..span.start].lines().count().max(1)),
        },
        hint: String::new(),
    })
}

/// The limits of every instance of a provider, by name.
///
/// # Errors
/// When the file is wrong.
pub fn instances(provider: &str) -> Result<Vec<(String, VolumeLimits)>, LabError> {
    let mut file = read_file()?;
    let burst_s = file.burst_s;
    let of_provider = file.instances.remove(provider).unwrap_or_default();
    let limits = of_provider.into_iter();
    Ok(limits
        .map(|(name, instance)| (name, instance.limits(burst_s)))
        .collect())
}

/// The family of an instance: `m5` of `m5.large`, `Standard_D_v5` of `Standard_D2ads_v5`.
pub fn family(name: &str) -> String {
    if let Some((family, _)) = name.split_once('.') {
        return family.to_owned();
    }
    let Some(size) = name.find(|c: char| c.is_ascii_digit()) else {
        return name.to_owned();
    };
    let version = name.rfind("_v").map_or("", |at| &name[at..]);
    format!("{}{version}", &name[..size])
}

/// The series of a provider by name; empty for one that documents every instance.
///
/// # Errors
/// When the file is wrong.
pub fn series(provider: &str) -> Result<Vec<String>, LabError> {
    let mut file = read_file()?;
    let of_provider = file.series.remove(provider).unwrap_or_default();
    Ok(of_provider.into_keys().collect())
}

/// The limits of an instance of a provider for volumes of a type.
///
/// # Errors
/// When it is not known.
pub fn instance(provider: &str, volume: &str, name: &str) -> Result<VolumeLimits, LabError> {
    if let Some(series) = read_file()?.series.get(provider) {
        return of_series(series, volume, name);
    }
    let known = instances(provider)?;
    match known.iter().find(|(known, _)| known == name) {
        Some((_, limits)) => Ok(*limits),
        None => {
            let family = family(name);
            let near = known
                .iter()
                .filter(|(known, _)| self::family(known) == family);
            let near: Vec<&str> = near.map(|(known, _)| known.as_str()).take(8).collect();
            let hint = if near.is_empty() {
                format!(
                    "{} instances of {provider} are known: `ssdlab volumes list`",
                    known.len()
                )
            } else {
                format!("of this family: {}", near.join(", "))
            };
            Err(LabError::refused(
                format!("the limits of instance `{name}` are not known"),
                hint,
            ))
        }
    }
}
