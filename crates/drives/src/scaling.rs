//! A drive made smaller, so that months pass in seconds.
//!
//! What write amplification depends on is kept: dies, planes, page size, mapping unit, the number
//! of pages of a program, times per page, and *effective* over-provisioning (see
//! [`DriveConfig::effective_op`]). Two things shrink:
//!
//! * blocks per plane, down to [`SUPERBLOCKS_MIN`] superblocks; user capacity then follows so that
//!   effective over-provisioning is that of the whole drive, to a mapping unit;
//! * pages per block after that, in whole word lines. The erase time shrinks with them, so that
//!   erasing takes the same share of the time.
//!
//! pSLC superblocks, DRAM for the map and the idle reserve shrink in proportion. The write buffer
//! and link do not. Not kept: the length of a single erase or victim (longest latencies are
//! shorter), and time itself: a smaller drive is filled sooner, so loads are to be given in drive
//! writes, not in bytes.

use ssdlab_base::LabError;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{Bytes, DriveConfig, Nanos};

/// Superblocks that are left at least: with fewer, the ones kept free and open are too large a
/// share of the drive.
pub const SUPERBLOCKS_MIN: u32 = 256;

/// A scaled drive and what was done to it.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// The drive.
    pub config: DriveConfig,
    /// In a sentence, for every place that shows figures of it.
    pub said: String,
}

/// `config` with about `user` bytes for the host, or as few as its parts allow; the drive itself
/// when it has no more.
///
/// # Errors
/// When so small a drive cannot be built of its parts.
pub fn scaled(config: &DriveConfig, user: u64) -> Result<Scaled, LabError> {
    if user >= config.user_bytes {
        return Ok(Scaled {
            config: config.clone(),
            said: "the whole drive".into(),
        });
    }
    let mut small = config.clone();
    shrink_blocks(config, &mut small, user);
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
    let said = format!(
        "scaled from {} to {}: {} of {} superblocks, {} of {} pages each; dies, page times and \
         effective over-provisioning {:.1} % as in the whole drive",
        Bytes(config.user_bytes),
        Bytes(small.user_bytes),
        small.shape.blocks_per_plane,
        config.shape.blocks_per_plane,
        small.shape.pages_per_block,
        config.shape.pages_per_block,
        small.effective_op() * 100.0
    );
    Ok(Scaled {
        config: small,
        said,
    })
}

/// `value` x `part` / `whole`, rounded.
fn share(value: u64, part: u64, whole: u64) -> u64 {
    ((u128::from(value) * u128::from(part) + u128::from(whole) / 2) / u128::from(whole.max(1)))
        as u64
}

fn shrink_blocks(config: &DriveConfig, small: &mut DriveConfig, user: u64) {
    let blocks = config.shape.blocks_per_plane;
    let wanted = share(blocks.into(), user, config.user_bytes) as u32;
    small.shape.blocks_per_plane = wanted.max(SUPERBLOCKS_MIN.min(blocks));
}

fn shrink_pages(config: &DriveConfig, small: &mut DriveConfig, user: u64) {
    let all = u64::from(config.shape.blocks_per_plane);
    let now = share(config.user_bytes, small.shape.blocks_per_plane.into(), all);
    if now <= user {
        return;
    }
    let bits = config.shape.bits_per_cell;
    let dies = config.shape.channel_count * config.shape.dies_per_channel;
    let lines = u64::from(config.shape.pages_per_block / bits);
    // Four program units in SLC mode are the least that a superblock may have.
    let least = u64::from(4_u32.div_ceil(dies));
    let lines = share(lines, user, now).max(least) as u32;
    small.shape.pages_per_block = (lines * bits).min(config.shape.pages_per_block);
}

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
    small.ftl.slc.superblocks = some(config.ftl.slc.superblocks);
    small.ftl.reclaim.idle_free_superblocks = some(config.ftl.reclaim.idle_free_superblocks);
    let dynamic = some(config.ftl.slc.dynamic_above_free);
    if dynamic > 0 {
        let least = small.reserve_superblocks() as u32 + 2;
        small.ftl.slc.dynamic_above_free = dynamic.max(least);
    }
    let logs = some(config.ftl.mapping.log_superblocks);
    small.ftl.mapping.log_superblocks = logs;
    let ratio = |bytes: u64| share(share(bytes, blocks, all_blocks), pages, all_pages);
    small.ftl.mapping.dram_bytes = ratio(config.ftl.mapping.dram_bytes);
    if let ssdlab_ssd::config::SpareArea::Limited(bytes) = config.ftl.reclaim.spare {
        small.ftl.reclaim.spare = ssdlab_ssd::config::SpareArea::Limited(ratio(bytes));
    }
    small.user_bytes = ratio(config.user_bytes) / slot(small) * slot(small);
}

fn slot(config: &DriveConfig) -> u64 {
    u64::from(config.shape.slot_bytes)
}

/// Sets the user capacity so that reclaim has as much to work with as in the whole drive. A
/// smaller one always has a greater effective over-provisioning, so the largest that is still
/// enough is found by halving.
fn match_effective_op(config: &DriveConfig, small: &mut DriveConfig) {
    let wanted = config.effective_op();
    let slot = slot(small);
    let raw = Geometry::new(small.shape).raw_bytes() / slot;
    let (mut enough, mut too_much) = (1, raw + 1);
    while too_much - enough > 1 {
        let middle = enough.midpoint(too_much);
        small.user_bytes = middle * slot;
        if small.effective_op() >= wanted {
            enough = middle;
        } else {
            too_much = middle;
        }
    }
    small.user_bytes = enough * slot;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
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
}
