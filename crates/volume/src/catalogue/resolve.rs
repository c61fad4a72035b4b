//! From a volume type and a setting to the limits of one volume.

use super::file::{AccountTable, LatencyTable, TierRow, VolumeFile};
use super::sourced::SourcedFigure;
use crate::account::AccountRates;
use crate::latency::LatencyTail;
use crate::touch::FirstTouch;
use crate::volume::{VolumeConfig, VolumeLimits};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;

/// What a user chooses of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VolumeSetting {
    /// GiB.
    pub gib: u64,
    /// Operations a second, where they are provisioned.
    pub operations: Option<u64>,
    /// Throughput in the type's unit, where it is provisioned.
    pub throughput: Option<u64>,
}

const GIB: u64 = 1 << 30;

fn value(figure: Option<&SourcedFigure>) -> Option<f64> {
    figure.map(|figure| figure.value)
}

/// The tier that a size is sold as: the smallest that holds it.
fn tier(file: &VolumeFile, gib: u64) -> Option<&TierRow> {
    file.tiers.iter().find(|tier| tier.gib >= gib)
}

/// The least and the most that can be provisioned of an account, for a volume of this size whose
/// operations are known (for its throughput).
pub fn setting_range(table: &AccountTable, gib: u64, operations: Option<f64>) -> (f64, f64) {
    let min = value(table.min.as_ref()).unwrap_or(0.0);
    let max = value(table.max.as_ref()).unwrap_or(f64::INFINITY);
    let by_size = value(table.max_per_gib.as_ref()).map(|ratio| ratio * gib as f64);
    let by_operations = value(table.per_operation.as_ref())
        .zip(operations)
        .map(|(ratio, operations)| ratio * operations);
    let most = [by_size, by_operations].into_iter().flatten();
    (min, most.fold(max, f64::min).max(min))
}

/// What an account gives that is not provisioned.
fn given(table: &AccountTable, gib: u64, operations: Option<f64>) -> f64 {
    let size = gib as f64;
    let is_large = value(table.small_gib.as_ref()).is_some_and(|small| size > small);
    let base = match value(table.large.as_ref()) {
        Some(large) if is_large => large,
        _ => value(table.base.as_ref()).unwrap_or(0.0),
    };
    let by_size = value(table.per_gib.as_ref()).map_or(0.0, |ratio| ratio * size);
    let operations = operations.unwrap_or(0.0);
    let by_operations = value(table.per_operation.as_ref()).map_or(0.0, |ratio| {
        let most = value(table.per_operation_max.as_ref()).unwrap_or(f64::INFINITY);
        let beyond = value(table.per_operation_beyond.as_ref()).unwrap_or(0.0);
        (ratio * operations).min(most).max(beyond * operations)
    });
    let (min, max) = (value(table.min.as_ref()), value(table.max.as_ref()));
    let sum = base + by_size + by_operations;
    sum.max(min.unwrap_or(0.0))
        .min(max.unwrap_or(f64::INFINITY))
}

/// The base rate of an account, in its own unit.
fn base(
    file: &VolumeFile,
    key: &str,
    chosen: Option<u64>,
    gib: u64,
    operations: Option<f64>,
) -> Result<f64, LabError> {
    let is_throughput = key == "throughput";
    let table = if is_throughput {
        &file.throughput
    } else {
        &file.operations
    };
    if !file.tiers.is_empty() {
        let tier = tier(file, gib);
        let figure = tier.map(|tier| {
            if is_throughput {
                tier.throughput
            } else {
                tier.operations
            }
        });
        return figure
            .ok_or_else(|| too_large(file, gib))
            .and_then(|figure| {
                refuse_choice(file, key, chosen)?;
                Ok(figure)
            });
    }
    if !table.provisioned {
        refuse_choice(file, key, chosen)?;
        return Ok(given(table, gib, operations));
    }
    let (min, max) = setting_range(table, gib, operations);
    let default = value(table.default.as_ref()).unwrap_or(min);
    let chosen = chosen.map_or(default.min(max), |chosen| chosen as f64);
    if chosen < min || chosen > max {
        let by = if is_throughput {
            "with these operations"
        } else {
            "of this size"
        };
        return Err(LabError::refused(
            format!("{key}={chosen} on {}: {min} to {max} {by}", file.name),
            "a larger size, or more iops, allow more where the provider ties them together",
        ));
    }
    Ok(chosen)
}

fn refuse_choice(file: &VolumeFile, key: &str, chosen: Option<u64>) -> Result<(), LabError> {
    let key = if key == "throughput" { key } else { "iops" };
    match chosen {
        None => Ok(()),
        Some(chosen) => Err(LabError::refused(
            format!("{key}={chosen}: of {} it follows from the size", file.name),
            "leave it out, or choose another size",
        )),
    }
}

fn too_large(file: &VolumeFile, gib: u64) -> LabError {
    LabError::refused(
        format!(
            "size={gib} on {}: {} to {} GiB",
            file.name, file.size.min.value, file.size.max.value
        ),
        "choose a size between them",
    )
}

/// The account around a base rate; `unit` is what one of its figures is in tokens.
fn account(table: &AccountTable, base: f64, gib: u64, bursts: bool, unit: u64) -> AccountRates {
    let tokens = |figure: f64| (figure * unit as f64).round() as u64;
    let size = gib as f64;
    let by_size = value(table.burst_per_gib.as_ref()).map(|ratio| ratio * size);
    let burst = value(table.burst.as_ref()).or(by_size);
    let (Some(burst), true) = (burst, bursts) else {
        return AccountRates::constant(tokens(base).max(1));
    };
    let burst = burst.min(value(table.burst_max.as_ref()).unwrap_or(f64::INFINITY));
    let by_size = value(table.credit_per_gib.as_ref()).map(|ratio| ratio * size);
    let by_time = value(table.credit_s.as_ref()).map(|time_s| time_s * (burst - base).max(0.0));
    let credit = value(table.credit.as_ref()).or(by_size).or(by_time);
    AccountRates::bursting(
        tokens(base).max(1),
        tokens(burst),
        tokens(credit.unwrap_or(0.0)),
    )
}

/// The limits of a volume of this type and setting.
///
/// # Errors
/// When the provider does not sell it.
pub fn limits(file: &VolumeFile, setting: &VolumeSetting) -> Result<VolumeLimits, LabError> {
    let gib = setting.gib;
    let size = gib as f64;
    if size < file.size.min.value || size > file.size.max.value {
        return Err(too_large(file, gib));
    }
    let operations = base(file, "iops", setting.operations, gib, None)?;
    let throughput = base(
        file,
        "throughput",
        setting.throughput,
        gib,
        Some(operations),
    )?;
    let bursts = tier(file, gib).is_none_or(|tier| tier.bursts);
    Ok(VolumeLimits {
        operations: account(&file.operations, operations, gib, bursts, 1),
        bytes: account(
            &file.throughput,
            throughput,
            gib,
            bursts,
            file.throughput_unit,
        ),
    })
}

fn tail(service: &LatencyTable, p50_us: f64) -> LatencyTail {
    let ns = |ratio: f64| (p50_us * 1e3 * ratio).round() as u64;
    LatencyTail {
        p50_ns: ns(1.0),
        p99_ns: ns(service.p99_over_p50.value),
        p999_ns: ns(service.p999_over_p50.value),
        max_ns: ns(service.max_over_p50.value),
    }
}

/// A volume of this type and setting, on no instance, with full credit, not from a snapshot.
///
/// # Errors
/// When the provider does not sell it.
pub fn resolve(file: &VolumeFile, setting: &VolumeSetting) -> Result<VolumeConfig, LabError> {
    let service = &file.service;
    let nanos = |value: f64, unit: f64| Nanos((value * unit).round() as u64);
    Ok(VolumeConfig {
        name: file.name.clone(),
        title: file.title.clone(),
        bytes: setting.gib * GIB,
        operation_bytes: service.operation_kib.value as u64 * 1024,
        charges_whole: service.charges_whole,
        merge: service.merge,
        volume: limits(file, setting)?,
        instance: None,
        window: nanos(service.window_ms.value, 1e6),
        read: tail(service, service.read_p50_us.value),
        write: tail(service, service.write_p50_us.value),
        flush: tail(service, service.flush_us.value),
        transfer_kib: nanos(service.transfer_kib_ns.value, 1.0),
        first_touch: None,
        credit_permille: 1000,
        seed: 1,
    })
}

impl VolumeFile {
    /// How a block of a snapshot is fetched.
    pub fn first_touch(&self) -> FirstTouch {
        let service = &self.service;
        FirstTouch {
            block: service.snapshot_block_kib.value as u64 * 1024,
            extra: Nanos((service.first_touch_ms.value * 1e6).round() as u64),
        }
    }
}
