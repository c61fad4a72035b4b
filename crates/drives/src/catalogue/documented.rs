//! What a drive's papers, testers and shops say of it, and the family it belongs to. None of it
//! is used by the model: it is there to hold the model against.

use super::Sourced;
use serde::{Deserialize, Serialize};

/// `[family]`: drives that share a controller and media.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Name for the command line.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// The only keys, besides those of `[documented]`, that members may give themselves: what the
    /// products differ in.
    pub members_differ_in: Vec<String>,
}

/// `[documented]`. Only the first is needed: the rest was not found for every drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documented {
    /// Whether acknowledged writes survive a power cut.
    pub power_loss_protection: Sourced<bool>,
    /// Rated endurance in bytes written by the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_writes: Option<Sourced<String>>,
    /// The same for 8 KiB random writes, where the papers tell both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_writes_8k: Option<Sourced<String>>,
    /// The same for 4 KiB random writes with a fifth of the drive left unused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_writes_20_spare: Option<Sourced<String>>,
    /// Warranty, or the years that the endurance is rated for, in years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warranty_years: Option<Sourced<u32>>,
    /// Drive writes per day over the warranty, where the papers say so themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dwpd: Option<Sourced<f64>>,
    /// Flash on the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Sourced<String>>,
    /// DRAM on the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram: Option<Sourced<String>>,
    /// Program/erase cycles that the cells are rated for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_erase_cycles: Option<Sourced<u32>>,
    /// 4 KiB random reads per second, QD32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_read_iops: Option<Sourced<u32>>,
    /// 4 KiB random writes per second, QD32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_write_iops: Option<Sourced<u32>>,
    /// Bytes per second read in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_read: Option<Sourced<String>>,
    /// Bytes per second written in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_write: Option<Sourced<String>>,
    /// 4 KiB random writes per second at the end of the 80 minutes of article zil.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rw80_iops: Option<Sourced<u32>>,
    /// Price in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_usd: Option<Sourced<u32>>,
}
