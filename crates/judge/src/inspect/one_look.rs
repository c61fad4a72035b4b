//! One look at a drive, as it is saved.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the kernel believes of the device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelFacts {
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Whether FUA is used.
    pub fua: Option<bool>,
}

/// One look at a drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveReport {
    /// Format: 1.
    pub ssdlab_report: u32,
    /// The file or device.
    #[serde(skip)]
    pub source: String,
    /// `smartctl --json=c -x`.
    pub smartctl: Value,
    /// `nvme id-ctrl -o json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvme_controller: Option<Value>,
    /// `nvme ocp smart-add-log -o json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvme_ocp: Option<Value>,
    /// `nvme intel smart-log-add -o json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvme_intel: Option<Value>,
    /// From sysfs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelFacts>,
}

/// Format of a saved report.
pub const REPORT_VERSION: u32 = 1;
