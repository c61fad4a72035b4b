//! Drives of the catalogue made smaller, so that months fit into seconds.

use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::settings::{Setting, apply};
use ssdlab_ssd::{DriveConfig, Nanos};

/// How much smaller than its catalogue entry a drive is. Dies, channels, pages, link and buffer
/// stay; each die gets fewer blocks and each block fewer pages, and an erase is shorter by as much
/// as a block is smaller, so that erasing costs the same share of a die's time per byte. The ratio
/// of raw to user capacity stays, to a mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Blocks of each plane are divided by this.
    pub blocks: u32,
    /// Pages of each block, and the time of an erase, are divided by this.
    pub pages: u32,
}

impl Scale {
    /// By how much capacity is smaller.
    pub fn factor(self) -> u64 {
        u64::from(self.blocks) * u64::from(self.pages)
    }

    /// `config`, smaller.
    pub(super) fn apply(self, config: &DriveConfig) -> DriveConfig {
        let mut small = config.clone();
        let slot = u64::from(config.shape.slot_bytes);
        let bits = config.shape.bits_per_cell;
        let blocks = (config.shape.blocks_per_plane / self.blocks).max(1);
        let pages = (config.shape.pages_per_block / self.pages / bits).max(1) * bits;
        // What is lost by rounding is taken from the host's share too.
        let ratio = u128::from(blocks) * u128::from(pages);
        let whole =
            u128::from(config.shape.blocks_per_plane) * u128::from(config.shape.pages_per_block);
        let user = (u128::from(config.user_bytes) * ratio / whole) as u64;
        small.shape.blocks_per_plane = blocks;
        small.shape.pages_per_block = pages;
        small.nand.timing.erase = Nanos(
            config.nand.timing.erase.0 * u64::from(pages) / u64::from(config.shape.pages_per_block),
        );
        small.user_bytes = user / slot * slot;
        small.ftl.mapping.dram_bytes =
            (u128::from(config.ftl.mapping.dram_bytes) * ratio / whole) as u64;
        small
    }
}

/// A drive of the catalogue with some of its parameters changed (`key=value`, as `--set` of
/// `ssdlab simulate` takes them).
pub(super) fn with(name: &str, settings: &[&str]) -> Result<CatalogueDrive, LabError> {
    let settings: Result<Vec<Setting>, LabError> =
        settings.iter().map(|text| Setting::parse(text)).collect();
    apply(&catalogue::drive(name)?, &settings?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_drive_keeps_its_spare_area_and_its_share_of_erase_time() {
        let scale = Scale {
            blocks: 4,
            pages: 4,
        };
        for name in ["sandforce-sf1200-120gb", "intel-dc-s3700-200gb"] {
            let whole = catalogue::drive(name).unwrap().config;
            let small = scale.apply(&whole);
            small.validate().unwrap();
            assert!(
                (whole.nominal_op() - small.nominal_op()).abs() < 1e-5,
                "{name}"
            );
            assert_eq!(whole.user_bytes / small.user_bytes, scale.factor());
            assert_eq!(small.nand.timing.erase.0 * 4, whole.nand.timing.erase.0);
        }
    }
}
