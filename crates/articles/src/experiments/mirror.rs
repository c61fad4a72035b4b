//! Article `zil`: two mirrored log devices are written alike. Do they wear out together?
//!
//! Both sides of a mirror see the same writes over the capacity of the smaller one. Drives of a
//! kind differ only in their blocks: which fail when, how many errors they make. That is drawn
//! from a seed for each drive. Every drive is written until its reserve is used up, on the counting
//! gear, every page write played; gaps are between the two deaths of a pair.
//!
//! Drives are made smaller, in size and in rated cycles, and lives are given in the full drive's
//! bytes. A smaller drive has fewer blocks to average over: equal drives of full size should
//! die closer together than here, which was not measured.

use super::scale::DriveScale;
use crate::outcome::CurvePoints;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::stop::go_on;
use ssdlab_bench::analysis::stats;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::cycles::Cycles;
use ssdlab_drives::media::Media;
use ssdlab_drives::smart::sets::attributes;
use ssdlab_drives::smart::{AttributeSet, SmartHealth, SmartWear};
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, DriveConfig};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Rated cycles of the smaller drives.
const CYCLES: u32 = 100;
/// Fewest superblocks of a smaller drive. With fewer, lives depend on their number
/// (docs/decisions/029).
const SUPERBLOCKS: u32 = 512;
/// SMART attribute E9h, the media wear indicator.
const E9: u8 = 233;

/// How many pairs of which drives.
#[derive(Clone, Debug)]
pub struct MirrorSettings {
    /// The two sides, drives of the catalogue.
    pub sides: [String; 2],
    /// Pairs.
    pub pairs: u32,
    /// Of how blocks differ and of the writes.
    pub seed: u64,
}

/// When a drive wore out, in bytes that the host wrote, of the full drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WearOutPoint {
    /// Its rated cycles were used up on average (E9 at 1).
    pub rated_bytes: f64,
    /// Its reserve was used up.
    pub dead_bytes: f64,
}

/// A mirror's pairs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MirrorPairs {
    /// The two sides.
    pub sides: [String; 2],
    /// Deaths of each pair.
    pub pairs: Vec<[WearOutPoint; 2]>,
    /// Full drive over the smaller one that was played: bytes, and rated cycles.
    pub smaller: [[f64; 2]; 2],
    /// Failed self-checks of the drives after their lives.
    pub faults: Vec<String>,
}

impl MirrorPairs {
    /// Gap between the two deaths of each pair, in per cent of the shorter life, rising.
    pub fn gaps_pct(&self) -> Vec<f64> {
        self.gaps(|death| death.dead_bytes)
    }

    /// The same of when E9 reaches 1.
    pub fn rated_gaps_pct(&self) -> Vec<f64> {
        self.gaps(|death| death.rated_bytes)
    }

    fn gaps(&self, when: fn(&WearOutPoint) -> f64) -> Vec<f64> {
        let gap = |[a, b]: &[WearOutPoint; 2]| {
            let (a, b) = (when(a), when(b));
            100.0 * (a.max(b) / a.min(b) - 1.0)
        };
        let mut gaps: Vec<f64> = self.pairs.iter().map(gap).collect();
        gaps.sort_by(f64::total_cmp);
        gaps
    }

    /// Mean life of each side, bytes.
    pub fn mean_bytes(&self) -> [f64; 2] {
        [0, 1].map(|side| {
            let dead_bytes: Vec<f64> = self
                .pairs
                .iter()
                .map(|pair| pair[side].dead_bytes)
                .collect();
            stats::mean(&dead_bytes)
        })
    }
}

/// The value that `percent` per cent of `sorted` do not exceed; NaN of none.
pub fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get(last * percent / 100)
        .copied()
        .unwrap_or(f64::NAN)
}

/// A drive made smaller, with its wear.
struct ShrunkDrive {
    pub config: DriveConfig,
    media: Media,
    /// Bytes and cycles of the full drive over those of this one.
    smaller: [f64; 2],
}

impl ShrunkDrive {
    pub fn of(drive: &CatalogueDrive) -> Result<ShrunkDrive, LabError> {
        let full = &drive.config;
        if full.ftl.mapping.kind.is_block_mapped() {
            return Err(LabError::refused(
                format!("{} is block-mapped: it has no wear model", drive.file.name),
                "choose a page-mapped drive",
            ));
        }
        // The drive's own media, whose cycles count for more each.
        let whole = drive.media()?;
        let (media, rated) = (whole.with_cycles(CYCLES)?, whole.cycles_rated);
        let pages = (full.shape.pages_per_block / (2 * full.shape.bits_per_cell)).max(1);
        let blocks = (full.shape.blocks_per_plane / SUPERBLOCKS).max(1);
        let mut config = DriveScale { blocks, pages }.apply(full)?;
        let least = config.free_superblocks_min(true);
        let low = &mut config.ftl.reclaim.free_superblocks_low;
        *low = (*low).max(least);
        config.ftl.compression_pack = 1;
        config.wear = Some(media.tables(config.shape.blocks_per_plane, 0)?);
        let raw = |config: &DriveConfig| Geometry::new(config.shape).raw_bytes() as f64;
        let smaller = [
            raw(full) / raw(&config),
            f64::from(rated) / f64::from(CYCLES),
        ];
        Ok(ShrunkDrive {
            config,
            media,
            smaller,
        })
    }

    fn drive(&self, seed: u64) -> Result<CountingDrive, LabError> {
        let mut config = self.config.clone();
        config.wear = Some(self.media.tables(config.shape.blocks_per_plane, seed)?);
        let refused = |error: ssdlab_ssd::ConfigError| LabError::refused(error.to_string(), "");
        CountingDrive::new(config).map_err(refused)
    }
}

fn cycles_average(drive: &CountingDrive) -> f64 {
    let wear = drive.reliability();
    wear.map_or(0.0, |wear| Cycles::of(wear).average)
}

/// Random writes of 4 KiB, in the batches that a drive takes quickly.
struct RandomWriteBatches {
    rng: Rng,
    blocks: u64,
    batch: Vec<Command>,
}

const BLOCK: u64 = 4096;

impl RandomWriteBatches {
    fn new(bytes: u64, seed: u64) -> RandomWriteBatches {
        RandomWriteBatches {
            rng: Rng::named(seed, "mirror: writes"),
            blocks: (bytes / BLOCK).max(1),
            batch: Vec::new(),
        }
    }

    fn give(&mut self, drive: &mut CountingDrive) {
        self.batch.clear();
        for _ in 0..64 {
            let offset = self.rng.below(self.blocks) * BLOCK;
            self.batch.push(Command::write(offset, BLOCK as u32));
        }
        drive.apply_all(&self.batch);
    }
}

/// Plays one drive under writes to its first `bytes`; its death, and what it found wrong.
fn live(
    small: &ShrunkDrive,
    bytes: u64,
    seeds: (u64, u64),
    stop: &AtomicBool,
) -> Result<(WearOutPoint, Option<String>), LabError> {
    let mut drive = small.drive(seeds.0)?;
    let mut writes = RandomWriteBatches::new(bytes, seeds.1);
    let mut rated_bytes = None;
    let full = small.smaller[0] * small.smaller[1];
    let written = |drive: &CountingDrive| drive.counters().host_bytes_written as f64 * full;
    while drive.ended().is_none() {
        go_on(stop)?;
        writes.give(&mut drive);
        if rated_bytes.is_none() && cycles_average(&drive) >= f64::from(CYCLES) {
            rated_bytes = Some(written(&drive));
        }
    }
    let dead_bytes = written(&drive);
    let death = WearOutPoint {
        rated_bytes: rated_bytes.unwrap_or(dead_bytes),
        dead_bytes,
    };
    Ok((death, drive.check().err()))
}

/// Lives that have been played, by drive, bytes written to, and seeds: a drive of the same kind
/// under the same writes has the same life in another mirror.
type LifeCache = BTreeMap<(String, u64, (u64, u64)), (WearOutPoint, Option<String>)>;

/// Plays all pairs of a mirror.
///
/// # Errors
/// When a drive is unknown or cannot wear, or `stop` is set.
pub fn mirror(settings: &MirrorSettings, stop: &AtomicBool) -> Result<MirrorPairs, LabError> {
    pairs_of(settings, &mut LifeCache::new(), stop)
}

/// Plays all pairs of several mirrors; a life that is the same in two of them is played once.
///
/// # Errors
/// As [`mirror`].
pub(super) fn mirrors(
    all_settings: &[MirrorSettings],
    stop: &AtomicBool,
) -> Result<Vec<MirrorPairs>, LabError> {
    let mut lives = LifeCache::new();
    let settings_iter = all_settings.iter();
    settings_iter
        .map(|settings| pairs_of(settings, &mut lives, stop))
        .collect()
}

fn pairs_of(
    settings: &MirrorSettings,
    lives: &mut LifeCache,
    stop: &AtomicBool,
) -> Result<MirrorPairs, LabError> {
    let sides = settings
        .sides
        .each_ref()
        .map(|name| -> Result<ShrunkDrive, LabError> { ShrunkDrive::of(&catalogue::open(name)?) });
    let [a, b] = sides;
    let (a, b) = (a?, b?);
    // A mirror is as large as its smaller side; each side's share of its own capacity.
    let full = |small: &ShrunkDrive| small.config.user_bytes as f64 * small.smaller[0];
    let common = full(&a).min(full(&b));
    let (mut pairs, mut faults) = (Vec::new(), Vec::new());
    for pair in 0..u64::from(settings.pairs) {
        // Every drive is one of its own; the writes are the pair's.
        let mut death = |side: usize, small: &ShrunkDrive| -> Result<WearOutPoint, LabError> {
            let drive = settings.seed.wrapping_add(2 * pair + side as u64);
            let seeds = (drive, settings.seed ^ pair);
            let bytes = (common / small.smaller[0]) as u64;
            let life = (settings.sides[side].clone(), bytes, seeds);
            if !lives.contains_key(&life) {
                let outcome = live(small, bytes, seeds, stop)?;
                lives.insert(life.clone(), outcome);
            }
            let (death, fault) = &lives[&life];
            faults.extend(fault.clone());
            Ok(*death)
        };
        pairs.push([death(0, &a)?, death(1, &b)?]);
    }
    Ok(MirrorPairs {
        sides: settings.sides.clone(),
        pairs,
        smaller: [a.smaller, b.smaller],
        faults,
    })
}

/// The media wear indicator of a drive of the catalogue, made smaller, under random writes until
/// its rated cycles are used up and a tenth beyond: (share of the bytes that use up the rated
/// cycles, value of E9).
///
/// # Errors
/// As [`mirror`].
pub(super) fn indicator(name: &str, seed: u64, stop: &AtomicBool) -> Result<CurvePoints, LabError> {
    let small = ShrunkDrive::of(&catalogue::open(name)?)?;
    let mut drive = small.drive(seed)?;
    let mut writes = RandomWriteBatches::new(small.config.user_bytes, seed);
    let mut points = vec![(0.0, e9(&drive))];
    let mut rated = None;
    let bytes = |drive: &CountingDrive| drive.counters().host_bytes_written as f64;
    loop {
        go_on(stop)?;
        writes.give(&mut drive);
        points.push((bytes(&drive), e9(&drive)));
        if rated.is_none() && cycles_average(&drive) >= f64::from(CYCLES) {
            rated = Some(bytes(&drive));
        }
        let over = rated.is_some_and(|rated| bytes(&drive) > 1.1 * rated);
        if over || drive.ended().is_some() {
            break;
        }
    }
    let rated = rated.unwrap_or_else(|| bytes(&drive));
    for point in &mut points {
        point.0 /= rated;
    }
    Ok(points)
}

/// E9 as the drive's SMART shows it.
fn e9(drive: &CountingDrive) -> f64 {
    let health = SmartHealth {
        wear: SmartWear {
            cycles_average: cycles_average(drive),
            cycles_rated: CYCLES,
            ..SmartWear::default()
        },
        ..SmartHealth::default()
    };
    let rows = attributes(AttributeSet::Intel, &health);
    let wear_row = rows.iter().find(|row| row.id == E9);
    wear_row.map_or(f64::NAN, |row| f64::from(row.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(sides: [&str; 2], count: u32) -> MirrorPairs {
        let settings = MirrorSettings {
            sides: sides.map(str::to_owned),
            pairs: count,
            seed: 1,
        };
        mirror(&settings, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn equal_drives_die_together_and_unequal_ones_apart() {
        let equal = pairs(["intel-710-100gb"; 2], 3);
        let unequal = pairs(["intel-710-100gb", "intel-710-200gb"], 2);
        let together = percentile(&equal.gaps_pct(), 100);
        let apart = percentile(&unequal.gaps_pct(), 0);
        assert!(together < 10.0, "{equal:?}");
        assert!(apart > 50.0, "{unequal:?}");
        assert!(
            equal.pairs.iter().all(|pair| pair[0] != pair[1]),
            "{equal:?}"
        );
        assert_eq!(
            equal,
            pairs(["intel-710-100gb"; 2], 3),
            "a seed is a result"
        );
    }

    #[test]
    fn a_life_played_for_another_mirror_is_the_same_life() {
        let of = |sides: [&str; 2]| MirrorSettings {
            sides: sides.map(str::to_owned),
            pairs: 1,
            seed: 4,
        };
        let all = [
            of(["intel-710-100gb"; 2]),
            of(["intel-710-100gb", "intel-710-200gb"]),
            of(["intel-710-200gb"; 2]),
        ];
        let stop = AtomicBool::new(false);
        let alone = all.iter().map(|settings| mirror(settings, &stop).unwrap());
        assert_eq!(mirrors(&all, &stop).unwrap(), alone.collect::<Vec<_>>());
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(
            [0, 50, 100].map(|p| percentile(&values, p)),
            [1.0, 3.0, 5.0]
        );
        assert!(percentile(&[], 50).is_nan());
    }

    #[test]
    fn e9_falls_from_100_to_1_and_stays() {
        let found = indicator("intel-320-40gb", 1, &AtomicBool::new(false)).unwrap();
        assert_eq!(found[0], (0.0, 100.0));
        assert_eq!(found.last().unwrap().1, 1.0);
        assert!(found.windows(2).all(|w| w[0].1 >= w[1].1));
    }
}
