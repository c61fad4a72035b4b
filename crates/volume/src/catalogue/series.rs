//! Limits of a provider that documents them by series, type of volume and size of the instance.

use crate::account::AccountRates;
use crate::volume::VolumeLimits;
use serde::Deserialize;
use ssdlab_base::LabError;
use std::collections::BTreeMap;

/// Instances of one series, within a range of sizes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceRange {
    /// Fewest vCPUs, or accelerators where the name has them.
    pub from: u32,
    /// Most of them; any number if it is left out.
    pub to: Option<u32>,
    /// Operations a second.
    pub operations: u64,
    /// MiB/s.
    pub mib: u64,
}

/// Ranges by type of volume.
pub(super) type InstanceSeries = BTreeMap<String, Vec<InstanceRange>>;

impl InstanceRange {
    fn limits(&self) -> VolumeLimits {
        VolumeLimits {
            operations: AccountRates::bursting(self.operations, self.operations, 0),
            bytes: AccountRates::bursting(self.mib << 20, self.mib << 20, 0),
        }
    }

    fn has(&self, size: u32) -> bool {
        self.from <= size && self.to.is_none_or(|to| size <= to)
    }

    fn text(&self) -> String {
        match self.to {
            None => format!("{} and more", self.from),
            Some(to) if to == self.from => to.to_string(),
            Some(to) => format!("{} to {to}", self.from),
        }
    }
}

/// Series and size of `n2-standard-16`, `a2-highgpu-2g`, `n2-custom-6-20480`; a name without a
/// size, as `f1-micro`, is a series of its own.
fn parts(name: &str) -> (&str, u32) {
    let mut parts = name.split('-');
    let series = parts.next().unwrap_or_default();
    let size = parts
        .nth(1)
        .and_then(|size| size.trim_end_matches('g').parse().ok());
    size.map_or((name, 0), |size| (series, size))
}

/// The limits of an instance of the `known` series for volumes of a type.
///
/// # Errors
/// When the series, its limits for the type of volume or those of the size are not known.
pub(super) fn of_series(
    known: &BTreeMap<String, InstanceSeries>,
    volume: &str,
    name: &str,
) -> Result<VolumeLimits, LabError> {
    let refused = |hint: String| {
        let message = format!("the limits of instance `{name}` for {volume} are not known");
        Err(LabError::refused(message, hint))
    };
    let (key, size) = parts(name);
    let Some(types) = known.get(key) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        return refused(format!("the series are {}", names.join(", ")));
    };
    let Some(ranges) = types.get(volume) else {
        let names: Vec<&str> = types.keys().map(String::as_str).collect();
        return refused(format!(
            "{key} has limits for {}; without `instance=` the volume's own hold",
            names.join(", ")
        ));
    };
    match ranges.iter().find(|range| range.has(size)) {
        Some(range) => Ok(range.limits()),
        None => {
            let sizes: Vec<String> = ranges.iter().map(InstanceRange::text).collect();
            refused(format!("sizes of {key}: {}", sizes.join(", ")))
        }
    }
}
