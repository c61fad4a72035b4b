//! A drive made smaller: months pass in seconds, and data fits into memory. One law for all.
//!
//! Write amplification depends on these, and they are kept: dies, planes, page size, mapping unit,
//! the number of pages of a program, times per page, and *effective* over-provisioning (see
//! [`DriveConfig::effective_op`]). In this order, these shrink:
//!
//! * superblocks, down to a smallest count: [`SUPERBLOCKS_MIN`] unless the caller needs fewer;
//! * pages per block after that, in whole word lines. Erase time and energy shrink with them, so
//!   that erasing takes the same share of both;
//! * dies, only where the capacity must be met exactly and the word lines left are too many.
//!
//! pSLC superblocks, logs, DRAM for the map, spare area that is limited and the idle reserve shrink
//! in proportion. The write buffer, the link and the superblocks kept for commits do not. Effective
//! over-provisioning is then met to a mapping unit by the user capacity, or, where that is given
//! exactly, by blocks: the same or just above. Not kept: the length of a single erase or victim
//! (longest latencies are shorter), and time itself: a smaller drive is filled sooner, so loads are
//! given in drive writes, not in bytes.

use ssdlab_base::LabError;
use ssdlab_ssd::config::SpareArea;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{Bytes, DriveConfig, Nanos};

/// The smallest number of superblocks. With fewer, those that are kept free and open are too large
/// a share of the drive.
pub const SUPERBLOCKS_MIN: u32 = 256;
/// The same for a drive whose data is kept in memory: with fewer still, a drive of a few
/// superblocks of a large drive's size never reclaims.
const SUPERBLOCKS_MIN_WITH_DATA: u32 = 64;
/// Fewest word lines of a block where dies can go instead.
const WORD_LINES_MIN: u64 = 2;
/// Dies that a drive keeps, where it has them; with parity over its dies, which takes one of them.
const DIES_MIN: u32 = 2;
const DIES_MIN_WITH_PARITY: u32 = 8;
/// Most blocks per plane beyond the drive's share that are added for effective over-provisioning.
const MORE_MAX: u32 = 128;

/// A scaled drive and what was done to it.
#[derive(Clone, Debug)]
pub struct ScaledDrive {
    /// The drive.
    pub config: DriveConfig,
    /// A sentence for every place that shows figures of it.
    pub said: String,
}

/// `config` with about `user` bytes for the host, or as few as its parts allow; the drive itself
/// when it has no more.
///
/// # Errors
/// When so small a drive cannot be built of its parts.
pub fn scaled(config: &DriveConfig, user: u64) -> Result<ScaledDrive, LabError> {
    scaled_to(config, user, SUPERBLOCKS_MIN)
}

/// The same with another smallest number of superblocks.
///
/// # Errors
/// As [`scaled`].
pub fn scaled_to(
    config: &DriveConfig,
    user: u64,
    superblocks_min: u32,
) -> Result<ScaledDrive, LabError> {
    if user >= config.user_bytes {
        return Ok(ScaledDrive {
            config: config.clone(),
            said: "the whole drive".into(),
        });
    }
    let mut small = config.clone();
    let superblocks_all = config.shape.blocks_per_plane;
    let superblocks = share(superblocks_all.into(), user, config.user_bytes) as u32;
    small.shape.blocks_per_plane = superblocks.max(superblocks_min.min(superblocks_all));
    shrink_pages(config, &mut small, user);
    shrink_rest(config, &mut small);
    match_effective_op(config, &mut small);
    small.validate().map_err(|error| {
        LabError::refused(
            format!(
                "{} cannot be scaled down to {}: {error}",
                config.name,
                Bytes(user)
            ),
            "choose a larger --capacity, or `--capacity whole`",
        )
    })?;
    Ok(ScaledDrive {
        said: summary(config, &small),
        config: small,
    })
}

/// `config` with exactly `user` bytes for the host, more or fewer than it has: for drives that hold
/// data. It keeps 64 superblocks at least; where a block of two word lines is too large for that,
/// it has fewer dies.
///
/// # Errors
/// When no such drive is possible.
pub fn sized(whole: &DriveConfig, user: u64) -> Result<ScaledDrive, LabError> {
    let slot = slot(whole);
    if user == 0 || !user.is_multiple_of(slot) {
        return Err(LabError::refused(
            format!("a drive of {user} bytes"),
            format!("some bytes, in whole mapping units of {slot}"),
        ));
    }
    let mut small = whole.clone();
    small.user_bytes = user;
    let raw_exact = u128::from(raw(whole)) * u128::from(user) / u128::from(whole.user_bytes.max(1));
    let raw_bytes = u64::try_from(raw_exact).unwrap_or(u64::MAX);
    let most = raw_bytes / u64::from(SUPERBLOCKS_MIN_WITH_DATA);
    shrink_dies(&mut small, most);
    let lines = (most / word_line_bytes(&small).max(1)).max(WORD_LINES_MIN);
    let lines = lines.min(word_lines(whole)) as u32;
    small.shape.pages_per_block = lines * whole.shape.bits_per_cell;
    let superblock = word_line_bytes(&small) * u64::from(lines);
    let blocks = u32::try_from(raw_bytes.div_ceil(superblock.max(1))).unwrap_or(u32::MAX);
    small.shape.blocks_per_plane = blocks;
    shrink_rest(whole, &mut small);
    let config = add_blocks(whole, small)?;
    Ok(ScaledDrive {
        said: summary(whole, &config),
        config,
    })
}

fn summary(config: &DriveConfig, small: &DriveConfig) -> String {
    let dies_text = match (dies(config), dies(small)) {
        (all, left) if left < all => format!("{left} of {all} dies; "),
        _ => "dies, ".to_owned(),
    };
    format!(
        "scaled from {} to {}: {} of {} superblocks, {} of {} pages each; {dies_text}page times \
         and effective over-provisioning {:.1} % as in the whole drive",
        Bytes(config.user_bytes),
        Bytes(small.user_bytes),
        small.shape.blocks_per_plane,
        config.shape.blocks_per_plane,
        small.shape.pages_per_block,
        config.shape.pages_per_block,
        small.effective_op() * 100.0
    )
}

/// `value` x `part` / `whole`, rounded.
fn share(value: u64, part: u64, whole: u64) -> u64 {
    ((u128::from(value) * u128::from(part) + u128::from(whole) / 2) / u128::from(whole.max(1)))
        as u64
}

fn raw(config: &DriveConfig) -> u64 {
    Geometry::new(config.shape).raw_bytes()
}

fn dies(config: &DriveConfig) -> u32 {
    config.shape.channel_count * config.shape.dies_per_channel
}

fn slot(config: &DriveConfig) -> u64 {
    u64::from(config.shape.slot_bytes)
}

/// Bytes of a word line of every block of a superblock.
fn word_line_bytes(config: &DriveConfig) -> u64 {
    let shape = &config.shape;
    let planes = u64::from(dies(config)) * u64::from(shape.planes_per_die);
    planes * u64::from(shape.page_bytes) * u64::from(shape.bits_per_cell)
}

fn word_lines(config: &DriveConfig) -> u64 {
    u64::from(config.shape.pages_per_block) / u64::from(config.shape.bits_per_cell.max(1))
}

fn shrink_pages(config: &DriveConfig, small: &mut DriveConfig, user: u64) {
    let superblocks_all = u64::from(config.shape.blocks_per_plane);
    let user_bytes = share(
        config.user_bytes,
        small.shape.blocks_per_plane.into(),
        superblocks_all,
    );
    if user_bytes <= user {
        return;
    }
    let bits = config.shape.bits_per_cell;
    // Four program units in SLC mode are the least that a superblock may have.
    let least = u64::from(4_u32.div_ceil(dies(config)));
    let lines = share(word_lines(config), user, user_bytes).max(least) as u32;
    small.shape.pages_per_block = (lines * bits).min(config.shape.pages_per_block);
}

/// Halves the dies while superblocks of a few word lines have more than `most` bytes.
fn shrink_dies(small: &mut DriveConfig, most: u64) {
    let dies_min = if small.ftl.parity {
        DIES_MIN_WITH_PARITY
    } else {
        DIES_MIN
    };
    while word_line_bytes(small) * WORD_LINES_MIN > most && dies(small) >= 2 * dies_min {
        match small.shape.dies_per_channel {
            1 => small.shape.channel_count /= 2,
            _ => small.shape.dies_per_channel /= 2,
        }
    }
}

/// Everything that goes with the number of superblocks, the pages of a block or the capacity.
fn shrink_rest(config: &DriveConfig, small: &mut DriveConfig) {
    let blocks = u64::from(small.shape.blocks_per_plane);
    let all_blocks = u64::from(config.shape.blocks_per_plane);
    let pages = u64::from(small.shape.pages_per_block);
    let all_pages = u64::from(config.shape.pages_per_block);
    let some = |count: u32| match count {
        0 => 0,
        count => (share(count.into(), blocks, all_blocks) as u32).max(1),
    };
    let erase = config.nand.timing.erase.0;
    small.nand.timing.erase = Nanos(share(erase, pages, all_pages));
    small.energy.erase_nj = share(config.energy.erase_nj, pages, all_pages);
    small.ftl.slc.superblocks = some(config.ftl.slc.superblocks);
    small.ftl.reclaim.idle_free_superblocks = some(config.ftl.reclaim.idle_free_superblocks);
    let dynamic = some(config.ftl.slc.dynamic_above_free);
    if dynamic > 0 {
        let least = small.reserve_superblocks() as u32 + 2;
        small.ftl.slc.dynamic_above_free = dynamic.max(least);
        small.ftl.slc.dynamic_superblocks = some(config.ftl.slc.dynamic_superblocks);
    }
    let ratio = |bytes: u64| {
        let bytes = share(share(bytes, blocks, all_blocks), pages, all_pages);
        share(bytes, dies(small).into(), dies(config).into())
    };
    let dram_bytes = ratio(config.ftl.mapping.dram_bytes);
    let spare = match config.ftl.reclaim.spare {
        SpareArea::Limited(bytes) => SpareArea::Limited(ratio(bytes)),
        spare => spare,
    };
    small.ftl.mapping.dram_bytes = dram_bytes;
    small.ftl.reclaim.spare = spare;
}

/// Sets the user capacity so that reclaim has as much to work with as in the whole drive. A
/// smaller one always has a greater effective over-provisioning, so the largest that is still
/// enough is found by halving.
fn match_effective_op(config: &DriveConfig, small: &mut DriveConfig) {
    let target_op = config.effective_op();
    let slot = slot(small);
    let (mut enough, mut too_much) = (1, raw(small) / slot + 1);
    while too_much - enough > 1 {
        let middle = enough.midpoint(too_much);
        small.user_bytes = middle * slot;
        if small.effective_op() >= target_op {
            enough = middle;
        } else {
            too_much = middle;
        }
    }
    small.user_bytes = enough * slot;
}

/// The drive with as many more blocks as effective over-provisioning asks for: superblocks that
/// must be free do not shrink with the drive. More blocks do not give a block map more to write to.
fn add_blocks(config: &DriveConfig, mut small: DriveConfig) -> Result<DriveConfig, LabError> {
    let spare = config.effective_op();
    let block_mapped = config.ftl.mapping.kind.is_block_mapped();
    let least = small.shape.blocks_per_plane;
    let (mut fits, mut last) = (None, None);
    for more in 0..MORE_MAX {
        small.shape.blocks_per_plane = least.saturating_add(more);
        match small.validate() {
            Ok(()) if block_mapped || small.effective_op() >= spare => return Ok(small),
            Ok(()) => fits = Some(small.clone()),
            Err(error) => last = Some(error),
        }
    }
    let why = last.map_or_else(String::new, |error| error.to_string());
    let problem = format!("{} with {} bytes: {why}", config.name, small.user_bytes);
    fits.ok_or_else(|| LabError::refused(problem, "choose a larger --size"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use ssdlab_ssd::drive::power::{DataDrive, Power};
    use ssdlab_ssd::rng::Rng;
    use ssdlab_ssd::{Command, CountingDrive};

    #[test]
    fn every_drive_of_the_catalogue_shrinks_and_keeps_its_effective_op() {
        for name in catalogue::names().unwrap() {
            let whole = catalogue::drive(&name).unwrap().config;
            let small = scaled(&whole, 8 << 30).unwrap_or_else(|e| panic!("{name}: {e}"));
            let (op, wanted) = (small.config.effective_op(), whole.effective_op());
            assert!((op - wanted).abs() < 1e-4, "{name}: {op} for {wanted}");
            assert!(small.config.user_bytes < 24 << 30, "{name}: {}", small.said);
        }
    }

    #[test]
    fn a_drive_that_is_small_enough_stays_as_it_is() {
        let whole = DriveConfig::tiny();
        assert_eq!(scaled(&whole, 1 << 40).unwrap().config, whole);
        // As small as its parts allow, and no smaller: four program units in SLC mode.
        let least = scaled(&whole, 4096).unwrap().config;
        assert_eq!(least.shape, whole.shape);
    }

    /// WAF under uniform random writes of the last of four drive writes.
    fn waf(config: &DriveConfig) -> f64 {
        let mut drive = CountingDrive::new(config.clone()).unwrap();
        let slots = config.user_slots();
        let mut rng = Rng::named(1, "scale");
        for slot in 0..slots {
            drive.apply(&Command::write(slot * 4096, 4096));
        }
        let mut before = drive.counters().clone();
        for round in 0..4 {
            if round == 3 {
                before = drive.counters().clone();
            }
            for _ in 0..slots {
                drive.apply(&Command::write(rng.below(slots) * 4096, 4096));
            }
        }
        drive.check().unwrap();
        drive.counters().waf_since(&before, 4096).unwrap()
    }

    /// The claim that the scale rests on, measured: a sixteenth of the drive amplifies as the
    /// whole one does.
    #[test]
    fn write_amplification_is_that_of_the_whole_drive() {
        let mut whole = DriveConfig::tiny();
        whole.shape.blocks_per_plane = 1024;
        whole.shape.pages_per_block = 48;
        whole.ftl.slc.superblocks = 0;
        whole.ftl.journal = Default::default();
        let raw = whole.geometry().raw_bytes();
        whole.user_bytes = (raw as f64 / 1.2) as u64 / 4096 * 4096;
        let small = scaled(&whole, whole.user_bytes / 16).unwrap();
        assert_eq!(small.config.shape.blocks_per_plane, SUPERBLOCKS_MIN);
        assert_eq!(small.config.shape.pages_per_block, 12);
        let (ours, wanted) = (waf(&small.config), waf(&whole));
        assert!((ours / wanted - 1.0).abs() < 0.03, "{ours} for {wanted}");
    }

    #[test]
    fn a_small_drive_keeps_its_share_of_spare_area() {
        for name in catalogue::names().expect("readable") {
            let whole = whole_of(&name);
            let block_mapped = whole.ftl.mapping.kind.is_block_mapped();
            for size in [64 << 20, 1 << 30] {
                let small = sized(&whole, size).expect("possible").config;
                // A miss: by 0.0004, at 64 MiB.
                let more = match name.as_str() {
                    "wd-blue-sn550-1tb" => 0.1005,
                    _ => 0.1,
                };
                let (small, whole) = (small.effective_op(), whole.effective_op());
                let kept = small >= whole && small < whole + more;
                assert!(
                    block_mapped || kept,
                    "{name}, {size} B: {whole} becomes {small}"
                );
            }
        }
    }

    fn whole_of(name: &str) -> DriveConfig {
        catalogue::drive(name).expect("readable").config
    }

    #[test]
    fn a_small_drive_reclaims() {
        let whole = whole_of("consumer-sata-1tb");
        let small = sized(&whole, 64 << 20).expect("possible").config;
        let mut data = DataDrive::new(small, Power::default()).expect("possible");
        let pages = (64 << 20) / 4096;
        for n in 0..4 * pages {
            let place = n * 7919 % pages;
            data.write(place * 4096, &[n as u8; 4096], false)
                .expect("written");
        }
        let counters = data.drive().counters();
        assert!(counters.superblocks_reclaimed > 0, "never reclaimed");
    }

    #[test]
    fn a_drive_sized_to_what_it_has_is_the_same() {
        let whole = whole_of("consumer-sata-1tb");
        let same = sized(&whole, whole.user_bytes).expect("possible").config;
        assert_eq!(same, whole);
    }
}
