//! What a drive's cells last for, in host bytes: rated cycles over the write amplification that the
//! modelled drive has under JESD219's enterprise stream, against what its maker rates it for.

use crate::LabError;
use crate::catalogue::CatalogueDrive;
use crate::endurance::{Media, Rating};
use crate::memory::refuse_if_too_big;
use crate::workload::quantity::parse_size;
use serde::Serialize;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, DriveConfig};

/// Sizes of JESD219's enterprise commands in 512-byte blocks, with their shares of 100 (as fio's
/// `examples/jesd219.fio` has them).
pub const SIZES: [(u32, u32); 12] = [
    (1, 4),
    (2, 1),
    (3, 1),
    (4, 1),
    (5, 1),
    (6, 1),
    (7, 1),
    (8, 67),
    (16, 10),
    (32, 7),
    (64, 3),
    (128, 3),
];
/// Shares of 100 commands, and of 100 addresses, in the order of addresses.
pub const ZONES: [(u32, u64); 3] = [(50, 5), (30, 15), (20, 80)];
/// Years that drive writes per day are counted over when a drive's papers name none.
const YEARS_USUAL: f64 = 5.0;

/// The writes of JESD219's enterprise stream on a drive of so many bytes.
pub struct Jesd219 {
    rng: Rng,
    blocks: u64,
}

impl Jesd219 {
    /// The stream of `seed`.
    ///
    /// # Errors
    /// When the drive is smaller than 16 MiB: its zones would be a few commands wide.
    pub fn new(capacity: u64, seed: u64) -> Result<Jesd219, LabError> {
        if capacity < 16 << 20 {
            return Err(LabError::refused(
                format!("a drive of {capacity} bytes is too small for JESD219's zones"),
                "16 MiB or more",
            ));
        }
        Ok(Jesd219 {
            rng: Rng::named(seed, "jesd219"),
            blocks: capacity / 512,
        })
    }

    /// Index of an entry drawn by its share of 100.
    fn draw<const N: usize>(&mut self, shares: [u32; N]) -> usize {
        let mut at = self.rng.below(100) as u32;
        for (index, share) in shares.into_iter().enumerate() {
            if at < share {
                return index;
            }
            at -= share;
        }
        N - 1
    }
}

impl Iterator for Jesd219 {
    type Item = Command;

    fn next(&mut self) -> Option<Command> {
        let size = u64::from(SIZES[self.draw(SIZES.map(|(_, share)| share))].0);
        let zone = self.draw(ZONES.map(|(share, _)| share));
        let before: u64 = ZONES[..zone].iter().map(|(_, wide)| wide).sum();
        let (first, wide) = (
            self.blocks * before / 100,
            self.blocks * ZONES[zone].1 / 100,
        );
        // Starts at multiples of 4 KiB, as in fio's example.
        let place = self.rng.below((wide - size) / 8 + 1) * 8;
        let offset = (first.next_multiple_of(8) + place).min(self.blocks - size);
        Some(Command::write(offset * 512, (size * 512) as u32))
    }
}

/// A drive's endurance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Endurance {
    /// Name.
    pub name: String,
    /// Nominal over-provisioning, (raw - user) / user.
    pub op: f64,
    /// WAF under the stream, in the last drive write.
    pub waf: f64,
    /// Rated cycles.
    pub cycles_rated: u32,
    /// Host bytes until the mean block has them.
    pub bytes: f64,
    /// What the papers rate it for, bytes.
    pub rated_bytes: Option<f64>,
    /// The same as drive writes per day of the warranty.
    pub dwpd: f64,
    /// UBER at the rating, kept as JESD218 asks.
    pub uber: f64,
    /// Its limit.
    pub uber_max: f64,
    /// What this rests on.
    pub rests_on: Vec<String>,
}

/// Writes the drive once in order and `warm` times over by the stream, then once more, measured.
///
/// # Errors
/// When the drive is too large for memory, or too small for the stream.
pub fn endurance(drive: &CatalogueDrive, warm: u32, seed: u64) -> Result<Endurance, LabError> {
    let config = &drive.config;
    refuse_if_too_big(&drive.file.name, config.memory_bytes(), 1)?;
    let media = Media::of(drive)?;
    let waf = waf(config, warm, seed)?;
    let raw = Geometry::new(config.shape).raw_bytes() as f64;
    let bytes = f64::from(media.cycles_rated) * raw / waf;
    let documented = &drive.file.documented;
    let rated = documented.rated_writes.as_ref();
    let rated = rated.map(|r| parse_size(&r.value)).transpose()?;
    let years = documented.warranty_years.as_ref();
    let years = years.map_or(YEARS_USUAL, |years| f64::from(years.value));
    Ok(Endurance {
        name: drive.file.name.clone(),
        op: config.nominal_op(),
        waf,
        cycles_rated: media.cycles_rated,
        bytes,
        rated_bytes: rated.map(|bytes| bytes as f64),
        dwpd: Rating::new(bytes, config.user_bytes as f64, years)?.dwpd(),
        uber: media.uber(media.at_rating()?)?,
        uber_max: media.class.limits().uber_max,
        rests_on: media.rests_on,
    })
}

fn waf(config: &DriveConfig, warm: u32, seed: u64) -> Result<f64, LabError> {
    let refused = |error: ssdlab_ssd::ConfigError| LabError::refused(error.to_string(), "");
    let mut drive = CountingDrive::new(config.clone()).map_err(refused)?;
    let (capacity, run) = (config.user_bytes, 64 << 20);
    for at in (0..capacity).step_by(run) {
        let bytes = (run as u64).min(capacity - at);
        drive.write_run(at, bytes, config.shape.slot_bytes);
    }
    let mut stream = Jesd219::new(capacity, seed)?;
    let mut then = drive.counters().clone();
    let mut batch = Vec::with_capacity(4096);
    for _ in 0..=warm {
        then = drive.counters().clone();
        while drive.counters().host_bytes_written - then.host_bytes_written < capacity {
            batch.clear();
            batch.extend(stream.by_ref().take(4096));
            drive.apply_all(&batch);
        }
    }
    drive
        .check()
        .map_err(|error| LabError::refused(format!("self-check failed: {error}"), ""))?;
    let slot = config.geometry().slot_bytes;
    let waf = drive.counters().waf_since(&then, slot);
    waf.ok_or_else(|| LabError::refused("nothing was written", ""))
}

/// A table for people.
pub fn table(rows: &[Endurance]) -> String {
    use crate::report::units::decimal_bytes;
    let mut lines = vec![format!(
        "{:28} {:>7} {:>6} {:>7} {:>9} {:>9} {:>6} {:>8}",
        "drive", "OP", "WAF", "cycles", "lasts", "rated", "DWPD", "UBER"
    )];
    for r in rows {
        let rated = r.rated_bytes.map_or("-".into(), decimal_bytes);
        lines.push(format!(
            "{:28} {:>5.1} % {:>6.2} {:>7} {:>9} {:>9} {:>6.2} {:>8.0e}",
            r.name,
            100.0 * r.op,
            r.waf,
            r.cycles_rated,
            decimal_bytes(r.bytes),
            rated,
            r.dwpd,
            r.uber
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square over sizes and zones of a million commands; 99.9 % points of 11 and 2 degrees of
    /// freedom.
    #[test]
    fn the_stream_has_the_sizes_and_the_skew_of_the_standard() {
        let count = 1_000_000;
        let capacity = 1_u64 << 34;
        let (mut sizes, mut zones) = ([0_u32; 12], [0_u32; 3]);
        for command in Jesd219::new(capacity, 7).unwrap().take(count) {
            let size = SIZES.iter().position(|(s, _)| s * 512 == command.len);
            sizes[size.unwrap()] += 1;
            let percent = command.offset as f64 * 100.0 / capacity as f64;
            zones[usize::from(percent >= 5.0) + usize::from(percent >= 20.0)] += 1;
        }
        let chi = |found: &[u32], shares: &[u32]| -> f64 {
            let each = found.iter().zip(shares).map(|(&found, &share)| {
                let expected = count as f64 * f64::from(share) / 100.0;
                (f64::from(found) - expected).powi(2) / expected
            });
            each.sum()
        };
        let size_chi = chi(&sizes, &SIZES.map(|(_, share)| share));
        let zone_chi = chi(&zones, &ZONES.map(|(share, _)| share));
        assert!(size_chi < 31.3, "{size_chi} {sizes:?}");
        assert!(zone_chi < 13.8, "{zone_chi} {zones:?}");
    }

    #[test]
    fn more_spare_area_is_more_life() {
        let of = |blocks: u32| {
            let mut config = DriveConfig::tiny();
            config.shape.blocks_per_plane = blocks;
            config.shape.pages_per_block = 96;
            config.shape.planes_per_die = 1;
            config.user_bytes = 32 << 20;
            config.ftl.slc.superblocks = 0;
            config.ftl.journal.entry_bytes = 0;
            waf(&config, 2, 1).unwrap()
        };
        let (little, much) = (of(30), of(45));
        assert!(little > 1.1 * much, "{little} {much}");
    }

    #[test]
    fn a_drive_too_small_for_zones_is_refused() {
        assert!(Jesd219::new(1 << 20, 0).is_err());
    }
}
