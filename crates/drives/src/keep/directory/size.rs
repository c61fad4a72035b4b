//! The same drive, smaller or larger.

use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;

/// Superblocks that a drive has at least, where its parts can shrink so far. What reclaim keeps
/// free counts in superblocks: with fewer it would outweigh the spare area, and a drive of a few
/// superblocks of a large drive's size never reclaims at all.
const SUPERBLOCKS_MIN: u64 = 64;

/// Word lines that a block keeps.
const WORD_LINES_MIN: u64 = 2;

/// Dies that a drive keeps, where it has them; with parity over its dies, which takes one of them.
const DIES_MIN: u32 = 2;
const DIES_MIN_WITH_PARITY: u32 = 8;

/// Blocks per plane that a drive gets beyond its share, at most.
const MORE_MAX: u32 = 128;

/// The same drive with another capacity (bytes), its static pSLC cache in proportion and its
/// effective over-provisioning the same or just above, where a map of pages can use more blocks.
/// It has so many blocks fewer or more; where that would leave fewer than 64 superblocks, it has
/// blocks of fewer word lines instead, and where that is not enough, fewer dies. Times stay: the
/// erases of a small block weigh more, and fewer dies do less at a time.
///
/// # Errors
/// When no such drive is possible.
pub fn sized(config: &DriveConfig, user_bytes: u64) -> Result<DriveConfig, LabError> {
    let slot = u64::from(config.shape.slot_bytes);
    if user_bytes == 0 || !user_bytes.is_multiple_of(slot) {
        return Err(LabError::refused(
            format!("a drive of {user_bytes} bytes"),
            format!("some bytes, in whole mapping units of {slot}"),
        ));
    }
    let mut sized = config.clone();
    sized.user_bytes = user_bytes;
    let in_proportion = |superblocks: u32| {
        u128::from(superblocks) * u128::from(superblock_bytes(config)) * u128::from(user_bytes)
            / u128::from(config.user_bytes.max(1))
    };
    let raw = in_proportion(config.shape.blocks_per_plane);
    shrink_superblock(&mut sized, u64::try_from(raw).unwrap_or(u64::MAX));
    let superblock = u128::from(superblock_bytes(&sized));
    let superblocks = |count: u32| {
        let count = in_proportion(count).div_ceil(superblock.max(1));
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    sized.ftl.slc.superblocks = superblocks(config.ftl.slc.superblocks);
    if config.ftl.slc.dynamic_above_free > 0 {
        let least = u32::try_from(sized.reserve_superblocks() + 2).unwrap_or(u32::MAX);
        let dynamic = superblocks(config.ftl.slc.dynamic_above_free);
        sized.ftl.slc.dynamic_above_free = dynamic.max(least);
    }
    // What must be free does not shrink with the drive: a small one gets as many more.
    let blocks = superblocks(config.shape.blocks_per_plane);
    let spare = config.effective_op();
    let block_mapped = config.ftl.mapping.kind.is_block_mapped();
    let (mut fits, mut last) = (None, None);
    for more in 0..MORE_MAX {
        sized.shape.blocks_per_plane = blocks.saturating_add(more);
        match sized.validate() {
            // More blocks do not give a block map more to write to.
            Ok(()) if block_mapped || sized.effective_op() >= spare => return Ok(sized),
            Ok(()) => fits = Some(sized.clone()),
            Err(error) => last = Some(error),
        }
    }
    let why = last.map_or_else(String::new, |error| error.to_string());
    let refused = || {
        LabError::refused(
            format!("{} with {user_bytes} bytes: {why}", config.name),
            "choose a larger --size",
        )
    };
    fits.ok_or_else(refused)
}

fn superblock_bytes(config: &DriveConfig) -> u64 {
    word_line_bytes(config) * word_lines(config)
}

/// Bytes of a word line of every block of a superblock.
fn word_line_bytes(config: &DriveConfig) -> u64 {
    let shape = &config.shape;
    let planes = u64::from(shape.channel_count) * u64::from(shape.dies_per_channel);
    let planes = planes * u64::from(shape.planes_per_die);
    planes * u64::from(shape.page_bytes) * u64::from(shape.bits_per_cell)
}

fn word_lines(config: &DriveConfig) -> u64 {
    u64::from(config.shape.pages_per_block) / u64::from(config.shape.bits_per_cell.max(1))
}

/// Makes superblocks small enough for `raw` bytes of media to have as many as they should.
fn shrink_superblock(config: &mut DriveConfig, raw: u64) {
    let most = raw / SUPERBLOCKS_MIN;
    let dies_min = if config.ftl.parity {
        DIES_MIN_WITH_PARITY
    } else {
        DIES_MIN
    };
    loop {
        let shape = &config.shape;
        let dies = shape.channel_count * shape.dies_per_channel;
        if word_line_bytes(config) * WORD_LINES_MIN <= most || dies < 2 * dies_min {
            break;
        }
        if config.shape.dies_per_channel > 1 {
            config.shape.dies_per_channel /= 2;
        } else {
            config.shape.channel_count /= 2;
        }
    }
    let fit = most / word_line_bytes(config).max(1);
    let lines = fit.max(WORD_LINES_MIN).min(word_lines(config));
    config.shape.pages_per_block = lines as u32 * config.shape.bits_per_cell;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use ssdlab_ssd::drive::power::{DataDrive, Power};

    #[test]
    fn a_small_drive_keeps_its_share_of_spare_area() {
        for name in catalogue::names().expect("readable") {
            let whole = whole_of(&name);
            let block_mapped = whole.ftl.mapping.kind.is_block_mapped();
            for size in [64 << 20, 1 << 30] {
                let small = sized(&whole, size).expect("possible");
                let (small, whole) = (small.effective_op(), whole.effective_op());
                let kept = small >= whole && small < whole + 0.1;
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
        let small = sized(&whole, 64 << 20).expect("possible");
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
    fn the_size_it_has_changes_nothing() {
        let whole = whole_of("consumer-sata-1tb");
        let same = sized(&whole, whole.user_bytes).expect("possible");
        assert_eq!(same.shape, whole.shape);
        assert_eq!(same.ftl.slc.superblocks, whole.ftl.slc.superblocks);
    }
}
