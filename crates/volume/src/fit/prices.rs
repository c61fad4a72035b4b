//! Prices that the user keeps: none is built in, since they differ by region, contract and day.

use super::cost::SettingCost;
use crate::catalogue::{VolumeFile, VolumeSetting, limits};
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use std::collections::BTreeMap;

/// What a type costs a month.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VolumePrice {
    /// Each GiB.
    pub gib: f64,
    /// Each provisioned operation a second beyond the free ones.
    pub operation: f64,
    /// Operations a second that cost nothing.
    pub operations_free: f64,
    /// Each unit of provisioned throughput beyond the free one.
    pub throughput: f64,
    /// Throughput that costs nothing.
    pub throughput_free: f64,
    /// Sizes that are sold, by the provider's name, in place of all that.
    pub tiers: BTreeMap<String, f64>,
}

/// Prices by type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumePrices {
    /// `USD a month`, only shown.
    #[serde(default)]
    pub currency: String,
    /// By the type's name.
    #[serde(default)]
    pub volumes: BTreeMap<String, VolumePrice>,
}

impl VolumePrices {
    /// Reads the user's file.
    ///
    /// # Errors
    /// When it is no such file.
    pub fn parse(text: &str, source: &str) -> Result<VolumePrices, LabError> {
        toml::from_str(text).map_err(|error| LabError::BadEntry {
            key: "prices".to_owned(),
            what: error.message().replace('\n', "; "),
            place: InputLocation {
                source: source.to_owned(),
                line: error
                    .span()
                    .map(|span| text[..span.start].lines().count().max(1)),
            },
            hint: "[volumes.gp3] with gib, operation, operations_free, throughput, \
                   throughput_free; or tiers = { P10 = 17.9 }"
                .to_owned(),
        })
    }

    /// What a setting costs.
    pub fn cost(&self, file: &VolumeFile, setting: &VolumeSetting) -> SettingCost {
        let price = self.volumes.get(&file.name);
        SettingCost {
            price: price.and_then(|price| price.of(file, setting)),
            gib: setting.gib,
            operations: setting.operations.unwrap_or(0),
            throughput: setting.throughput.unwrap_or(0),
        }
    }
}

impl VolumePrice {
    fn of(&self, file: &VolumeFile, setting: &VolumeSetting) -> Option<f64> {
        if !file.tiers.is_empty() {
            let tier = file.tiers.iter().find(|tier| tier.gib >= setting.gib)?;
            return self.tiers.get(&tier.name).copied();
        }
        let limits = limits(file, setting).ok()?;
        let beyond = |chosen: Option<u64>, base_operations: f64, free: f64| {
            (chosen.map_or(base_operations, |chosen| chosen as f64) - free).max(0.0)
        };
        let throughput = limits.bytes.base as f64 / file.throughput_unit as f64;
        let mut cost = self.gib * setting.gib as f64;
        if file.operations.provisioned {
            let base_operations = limits.operations.base as f64;
            let operations = beyond(setting.operations, base_operations, self.operations_free);
            cost += self.operation * operations;
        }
        if file.throughput.provisioned {
            cost += self.throughput * beyond(setting.throughput, throughput, self.throughput_free);
        }
        Some(cost)
    }
}
