//! The file of a volume type.

use super::sourced::SourcedFigure;
use crate::volume::MergeRule;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A volume type as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeFile {
    /// As in `volume:NAME`.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// `aws`, `azure` or `gcp`.
    pub provider: String,
    /// Bytes of the unit of throughput: 1,048,576 (MiB/s) or 1,000,000 (MB/s).
    pub throughput_unit: u64,
    /// What a reader should know, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Documents by key: address, date, when read.
    pub sources: BTreeMap<String, String>,
    /// Sizes in GiB.
    pub size: SizeTable,
    /// Operations a second.
    pub operations: AccountTable,
    /// Throughput in its unit a second.
    pub throughput: AccountTable,
    /// Sizes that are sold, where they are not free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierRow>,
    /// Where the tiers come from: a key of `[sources]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiers_source: Option<String>,
    /// How commands are counted and served.
    pub service: LatencyTable,
}

/// Sizes in GiB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeTable {
    /// Smallest.
    pub min: SourcedFigure,
    /// Largest.
    pub max: SourcedFigure,
}

/// What an account gives, by size, by operations, or as provisioned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountTable {
    /// Its user chooses it, within `min` and `max` and the ratios.
    #[serde(default)]
    pub provisioned: bool,
    /// What it is unless chosen.
    pub default: Option<SourcedFigure>,
    /// At any size.
    pub base: Option<SourcedFigure>,
    /// And for each GiB.
    pub per_gib: Option<SourcedFigure>,
    /// At least.
    pub min: Option<SourcedFigure>,
    /// At most.
    pub max: Option<SourcedFigure>,
    /// At most for each GiB, where it is provisioned.
    pub max_per_gib: Option<SourcedFigure>,
    /// Throughput for each operation a second; at most, where it is provisioned.
    pub per_operation: Option<SourcedFigure>,
    /// `per_operation` gives no more than this.
    pub per_operation_max: Option<SourcedFigure>,
    /// Throughput for each operation a second beyond `per_operation_max`.
    pub per_operation_beyond: Option<SourcedFigure>,
    /// Above `small_gib` this instead of `base`.
    pub large: Option<SourcedFigure>,
    /// The largest size of which `base` holds, in GiB.
    pub small_gib: Option<SourcedFigure>,
    /// While credit is left.
    pub burst: Option<SourcedFigure>,
    /// The same for each GiB.
    pub burst_per_gib: Option<SourcedFigure>,
    /// And at most.
    pub burst_max: Option<SourcedFigure>,
    /// A full credit, in operations or units of throughput.
    pub credit: Option<SourcedFigure>,
    /// The same for each GiB.
    pub credit_per_gib: Option<SourcedFigure>,
    /// The same as a time at the full burst, in seconds.
    pub credit_s: Option<SourcedFigure>,
}

/// A size that is sold with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierRow {
    /// What the provider calls it.
    pub name: String,
    /// GiB.
    pub gib: u64,
    /// Operations a second.
    pub operations: f64,
    /// Throughput.
    pub throughput: f64,
    /// It has credit.
    pub bursts: bool,
}

/// How commands are counted and served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyTable {
    /// KiB up to which a command is one operation.
    pub operation_kib: SourcedFigure,
    /// An operation is charged whole.
    #[serde(default)]
    pub charges_whole: bool,
    /// When sequential commands are one operation.
    pub merge: MergeRule,
    /// Where that comes from.
    pub merge_source: String,
    /// What the ceiling passes at once, in ms of its rate.
    pub window_ms: SourcedFigure,
    /// Median of a read, us.
    pub read_p50_us: SourcedFigure,
    /// Median of a write, us.
    pub write_p50_us: SourcedFigure,
    /// 99 % of commands over the median.
    pub p99_over_p50: SourcedFigure,
    /// 99.9 % of commands over the median.
    pub p999_over_p50: SourcedFigure,
    /// The longest over the median.
    pub max_over_p50: SourcedFigure,
    /// A flush, us.
    pub flush_us: SourcedFigure,
    /// Transfer of one KiB, ns.
    pub transfer_kib_ns: SourcedFigure,
    /// Bytes of a snapshot's block, KiB.
    pub snapshot_block_kib: SourcedFigure,
    /// How much longer a command takes that waits for one, ms.
    pub first_touch_ms: SourcedFigure,
}

impl AccountTable {
    /// Every figure with its key.
    pub fn figures(&self) -> Vec<(&'static str, &SourcedFigure)> {
        let figures = [
            ("default", &self.default),
            ("base", &self.base),
            ("per_gib", &self.per_gib),
            ("min", &self.min),
            ("max", &self.max),
            ("max_per_gib", &self.max_per_gib),
            ("per_operation", &self.per_operation),
            ("per_operation_max", &self.per_operation_max),
            ("per_operation_beyond", &self.per_operation_beyond),
            ("large", &self.large),
            ("small_gib", &self.small_gib),
            ("burst", &self.burst),
            ("burst_per_gib", &self.burst_per_gib),
            ("burst_max", &self.burst_max),
            ("credit", &self.credit),
            ("credit_per_gib", &self.credit_per_gib),
            ("credit_s", &self.credit_s),
        ];
        let present = figures
            .into_iter()
            .filter_map(|(key, figure)| Some((key, figure.as_ref()?)));
        present.collect()
    }
}

impl VolumeFile {
    /// Every figure with its table and key.
    pub fn figures(&self) -> Vec<(String, &SourcedFigure)> {
        let service = &self.service;
        let mut named = vec![
            ("size.min".to_owned(), &self.size.min),
            ("size.max".to_owned(), &self.size.max),
        ];
        for (table, accounts) in [
            ("operations", &self.operations),
            ("throughput", &self.throughput),
        ] {
            let figures = accounts.figures().into_iter();
            named.extend(figures.map(|(key, figure)| (format!("{table}.{key}"), figure)));
        }
        let of_service = [
            ("operation_kib", &service.operation_kib),
            ("window_ms", &service.window_ms),
            ("read_p50_us", &service.read_p50_us),
            ("write_p50_us", &service.write_p50_us),
            ("p99_over_p50", &service.p99_over_p50),
            ("p999_over_p50", &service.p999_over_p50),
            ("max_over_p50", &service.max_over_p50),
            ("flush_us", &service.flush_us),
            ("transfer_kib_ns", &service.transfer_kib_ns),
            ("snapshot_block_kib", &service.snapshot_block_kib),
            ("first_touch_ms", &service.first_touch_ms),
        ];
        named.extend(of_service.map(|(key, figure)| (format!("service.{key}"), figure)));
        named
    }
}
