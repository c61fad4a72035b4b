//! A drive file as written.

use super::tables::{
    BufferTable, CapacityTable, DocumentedTable, EnergyTable, FtlTable, HeatTable, HostTable,
    NandTable, SmartTable, WearTable,
};
use serde::{Deserialize, Serialize};

/// `[family]`: drives that share a controller and media.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFamily {
    /// Name for the command line.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// The only keys, besides those of `[documented]`, that members may give themselves: what the
    /// products differ in.
    pub members_differ_in: Vec<String>,
}

/// A drive file as written, its base merged in.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFile {
    /// Name for the command line.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// `sata`, `nvme`, `pcie`.
    pub interface: String,
    /// The drive it is the same as, but for what this file gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The family it belongs to; given by the family's base, a drive alone has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<DriveFamily>,
    /// What its papers say.
    pub documented: DocumentedTable,
    /// Capacity offered to the host.
    pub capacity: CapacityTable,
    /// The array.
    pub nand: NandTable,
    /// Translation layer.
    pub ftl: FtlTable,
    /// Write buffer.
    pub buffer: BufferTable,
    /// Host side.
    pub host: HostTable,
    /// Energy of its operations, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyTable>,
    /// How warm it gets and when it slows down, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatTable>,
    /// How it shows its health; without it, the generic attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smart: Option<SmartTable>,
    /// How its media wears, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearTable>,
}
