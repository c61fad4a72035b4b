//! Small drives of many kinds, to cut.

use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::config::{MappingKind, RecoverBy};
use ssdlab_ssd::rng::Rng;

/// Mapping units of a drawn drive, of 4 KiB each.
const SLOTS: u64 = 96;

/// A small drive drawn from a seed: one to three bits per cell, two or four dies, a flat or
/// block map, with and without journal, checkpoints, recovery by the journal and pSLC cache; one
/// in five has a protected buffer. 384 KiB, so that it reclaims soon and forks fast.
///
/// What an unflushed write becomes depends on the drive: a program that passes on one may fail on
/// another. So test on several.
///
/// ```
/// use ssdlab_crash::{CrashDisk, drawn_drive};
///
/// for seed in 0..20 {
///     let mut disk = CrashDisk::new(drawn_drive(seed), seed)?;
///     disk.fua(0, &[1; 512])?;
///     disk.cut()?;
///     disk.power_on()?.assert_kept();
/// }
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
pub fn drawn_drive(seed: u64) -> DriveConfig {
    let mut rng = Rng::named(seed, "drive");
    let mut config = DriveConfig::tiny();
    config.name = format!("drawn from {seed}");
    config.shape.planes_per_die = 1;
    config.user_bytes = SLOTS * u64::from(config.shape.slot_bytes);
    config.ftl.slc.superblocks = if rng.percent(40) { 2 } else { 0 };
    config.shape.bits_per_cell = 1 + rng.below(3) as u32;
    let bits = config.shape.bits_per_cell as usize;
    config.nand.timing.read.truncate(bits);
    config.nand.timing.program.truncate(bits);
    match rng.below(6) {
        0 | 1 => config.ftl.mapping.kind = MappingKind::Block,
        2 => config.ftl.recovery = RecoverBy::Journal,
        3 => {
            config.ftl.journal.entry_bytes = 0;
            config.ftl.journal.commit_map_programs = 0;
            config.ftl.journal.commit_closes_word_lines = false;
        }
        4 => config.ftl.journal.checkpoint_pages = 4,
        _ => {}
    }
    if config.ftl.mapping.kind.is_block_mapped() {
        config.ftl.slc.superblocks = 0;
        config.ftl.journal.commit_closes_word_lines = false;
    } else if rng.percent(50) {
        config.shape.dies_per_channel = 2;
        config.shape.blocks_per_plane = 20;
    }
    config.buffer.protected = rng.percent(20);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawn_drive_can_exist_and_all_kinds_are_drawn() {
        let all: Vec<DriveConfig> = (0..200).map(drawn_drive).collect();
        for config in &all {
            assert!(
                config.validate().is_ok(),
                "{}: {:?}",
                config.name,
                config.validate()
            );
        }
        let some = |is: fn(&DriveConfig) -> bool| all.iter().filter(|c| is(c)).count();
        for count in [
            some(|c| c.ftl.mapping.kind == MappingKind::Block),
            some(|c| c.recovers_by_journal()),
            some(|c| c.buffer.protected),
            some(|c| c.ftl.slc.superblocks > 0),
            some(|c| c.shape.dies_per_channel == 2),
            some(|c| c.ftl.journal.entry_bytes == 0),
        ] {
            assert!(count >= 10, "{count} of 200");
        }
    }
}
