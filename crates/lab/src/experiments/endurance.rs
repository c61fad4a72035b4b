//! Articles `zil` and `s2d`: do a drive's cells last for what it is rated for? By JESD219's
//! enterprise writes, on drives made smaller.

use super::mirror::Small;
use crate::LabError;
use crate::catalogue;
use crate::endurance::Media;
use crate::life::endurance::Jesd219;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{Command, CountingDrive};
use std::sync::atomic::{AtomicBool, Ordering};

/// Drive writes before the one that is measured.
const WARM: u32 = 2;

/// What a drive's cells last for.
#[derive(Clone, Debug, PartialEq)]
pub struct Lasts {
    /// Write amplification factor in the last drive write.
    pub waf: f64,
    /// Bytes of the host until the rated cycles are used up on average, on the full drive.
    pub bytes: f64,
}

/// Writes a drive of the catalogue, made smaller, by JESD219's enterprise stream.
///
/// # Errors
/// When the drive is unknown or cannot be made smaller, or `stop` is set.
pub fn lasts(name: &str, seed: u64, stop: &AtomicBool) -> Result<Lasts, LabError> {
    let full = catalogue::open(name)?;
    let small = Small::of(&full)?;
    let mut config = small.config;
    config.wear = None;
    let refused = |error: ssdlab_ssd::ConfigError| LabError::refused(error.to_string(), "");
    let capacity = config.user_bytes;
    let mut drive = CountingDrive::new(config.clone()).map_err(refused)?;
    drive.write_run(0, capacity, config.shape.slot_bytes);
    let mut stream = Jesd219::new(capacity, seed)?;
    let mut then = drive.counters().clone();
    for _ in 0..=WARM {
        then = drive.counters().clone();
        while drive.counters().host_bytes_written - then.host_bytes_written < capacity {
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::refused("stopped", ""));
            }
            let batch: Vec<Command> = stream.by_ref().take(1024).collect();
            drive.apply_all(&batch);
        }
    }
    drive
        .check()
        .map_err(|error| LabError::refused(format!("self-check failed: {error}"), ""))?;
    let waf = drive
        .counters()
        .waf_since(&then, config.geometry().slot_bytes);
    let waf = waf.ok_or_else(|| LabError::refused("nothing was written", ""))?;
    let raw = Geometry::new(full.config.shape).raw_bytes() as f64;
    Ok(Lasts {
        waf,
        bytes: f64::from(Media::of(&full)?.cycles_rated) * raw / waf,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drive_with_more_spare_area_lasts_longer() {
        let of = |name| lasts(name, 1, &AtomicBool::new(false)).unwrap();
        let (little, much) = (of("intel-320-160gb"), of("intel-dc-s3700-200gb"));
        assert!(little.waf > much.waf, "{little:?} {much:?}");
        assert!(little.bytes < much.bytes);
    }
}
