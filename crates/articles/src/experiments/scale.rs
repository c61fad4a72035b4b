//! Drives of the catalogue made smaller, so that months fit into seconds.

use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::scaling::scaled_to;
use ssdlab_drives::settings::{DriveSetting, apply};
use ssdlab_ssd::DriveConfig;

/// How much smaller than its catalogue entry a drive is, by the law of [`ssdlab_drives::scaling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveScale {
    /// Superblocks are divided by this.
    pub blocks: u32,
    /// Pages of each block, and the time of an erase, are divided by this.
    pub pages: u32,
}

impl DriveScale {
    /// By how much capacity is smaller.
    pub fn factor(self) -> u64 {
        u64::from(self.blocks) * u64::from(self.pages)
    }

    /// `config`, smaller.
    ///
    /// # Errors
    /// When the drive is not possible so.
    pub(super) fn apply(self, config: &DriveConfig) -> Result<DriveConfig, LabError> {
        let least = (config.shape.blocks_per_plane / self.blocks).max(1);
        Ok(scaled_to(config, config.user_bytes / self.factor(), least)?.config)
    }
}

/// A drive of the catalogue with some of its parameters changed (`key=value`, as `--set` of
/// `ssdlab simulate` takes them).
pub(super) fn with(name: &str, settings: &[&str]) -> Result<CatalogueDrive, LabError> {
    let settings: Result<Vec<DriveSetting>, LabError> = settings
        .iter()
        .map(|text| DriveSetting::parse(text))
        .collect();
    apply(&catalogue::drive(name)?, &settings?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_drive_keeps_its_spare_area_and_its_share_of_erase_time() {
        let scale = DriveScale {
            blocks: 4,
            pages: 4,
        };
        for name in ["sandforce-sf1200-120gb", "intel-dc-s3700-200gb"] {
            let whole = catalogue::drive(name).unwrap().config;
            let small = scale.apply(&whole).unwrap();
            let lost = whole.effective_op() - small.effective_op();
            assert!(lost.abs() < 1e-4, "{name}");
            let smaller = whole.user_bytes as f64 / small.user_bytes as f64;
            assert!(
                (smaller / scale.factor() as f64 - 1.0).abs() < 0.01,
                "{name}: {smaller}"
            );
            assert_eq!(small.nand.timing.erase.0 * 4, whole.nand.timing.erase.0);
        }
    }
}
