//! Size of a run of the article, and the drives that all of it starts from.

use crate::experiments::scale::DriveScale;

/// Catalogue name of the drive whose flash, dies and link all drives have.
pub(super) const FLASH: &str = "intel-dc-s3700-200gb";

/// Differences of the earlier drive's controller, as `--set` takes them: a tree in place of the
/// table, in the DRAM of an Intel 320, its pages among the data. With them apart, as that drive of
/// the catalogue has them, and its constants, the drive is slow from the start (decision 064).
pub(super) const EARLIER: [&str; 9] = [
    "op=7%",
    "ftl.pace=whole",
    "nand.read_first=false",
    "ftl.mapping=tree",
    "ftl.map_dram=64MiB",
    "ftl.map_entry=20 B",
    "ftl.map_leaf_programs=4",
    "ftl.map_serial_misses=true",
    "ftl.trim_queued=false",
];

/// Size of a run of the article.
#[derive(Clone, Copy, Debug)]
pub(super) struct MythSettings {
    /// Seed of every load.
    pub seed: u64,
    /// Size of the drives in production and over the whole disk.
    pub scale: DriveScale,
    /// User capacities that the server writes to each drive.
    pub drive_writes: u32,
    /// Percentage of the user capacity used by files.
    pub used_pct: u32,
    /// Commands of each look at the mixed load.
    pub probe_commands: u32,
}

impl MythSettings {
    /// The size that the published figures are held against.
    pub fn published(seed: u64) -> MythSettings {
        let scale = DriveScale {
            blocks: 4,
            pages: 32,
        };
        MythSettings {
            seed,
            scale,
            drive_writes: 5,
            used_pct: 70,
            probe_commands: 20_000,
        }
    }
}
