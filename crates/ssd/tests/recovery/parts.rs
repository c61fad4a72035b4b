//! What a journal page makes due is no more than it replaces.
//!
//! A part of the map must be written before the ring of journal pages reaches the oldest change
//! that it lacks. Parts that are due for the checkpoint alone wait until they fill a unit.

use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::config::RecoverBy;
use ssdlab_ssd::drive::power::{DataDrive, Power};

const SLOT: u64 = 4096;
const SLOTS: u64 = 100;
/// Slots of a page of the journal, which is also a unit.
const PAGE: u64 = 2;
/// Journal pages within which the checkpoint writes each part once.
const CYCLE: u64 = 6;
/// Bytes and number of a journal page's entries; the root takes one of 32.
const ENTRY: u32 = 256;
const ENTRIES: u64 = 31;

/// The map has two leaves and a page of directory.
const PARTS: u64 = 3;

/// A checkpoint of the whole map within six journal pages, where the ring has sixteen: no part is
/// ever overdue. Room for all writes, so that nothing is moved.
fn config() -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.planes_per_die = 1;
    c.shape.blocks_per_plane = 48;
    c.user_bytes = SLOTS * SLOT;
    c.ftl.slc.superblocks = 0;
    c.ftl.recovery = RecoverBy::Journal;
    c.ftl.mapping.entry_bytes = 64;
    c.ftl.journal.entry_bytes = ENTRY;
    c.ftl.journal.checkpoint_pages = CYCLE as u32;
    c
}

/// Random writes without commits: journal pages and parts are programmed as they fill up.
#[test]
fn a_checkpoint_writes_each_part_once_and_in_whole_units() {
    let config = config();
    assert_eq!(config.map_slots(), PARTS);
    let mut drive = DataDrive::new(config, Power::default()).expect("possible");
    for n in 0..ENTRIES * CYCLE * 3 {
        drive
            .write(n * 37 % SLOTS * SLOT, &[1; SLOT as usize], false)
            .expect("written");
    }
    let counters = drive.drive().counters();
    assert_eq!(counters.victims, 0, "nothing is moved");
    assert_eq!(counters.slots_padding, 0);
    let pages = CYCLE * 3 - 1;
    let parts = pages * PARTS / CYCLE / PAGE * PAGE;
    assert_eq!(counters.slots_map, pages * PAGE + parts);
}

/// Journal pages that become due take changes whose programs have ended. A FLUSH writes the rest,
/// here more than the seven entries that a page has beside the root.
#[test]
fn a_commit_writes_as_many_journal_pages_as_its_changes_fill() {
    let mut config = config();
    config.ftl.journal.checkpoint_pages = 0;
    config.ftl.journal.entry_bytes = 1024;
    config.buffer.bytes = 40 * SLOT;
    let mut drive = DataDrive::new(config, Power::default()).expect("possible");
    let pages = |drive: &DataDrive| drive.drive().counters().slots_map / PAGE;
    for slot in 0..40 {
        drive
            .write(slot * SLOT, &[1; SLOT as usize], false)
            .expect("written");
    }
    assert_eq!(pages(&drive), 40 / 7, "due");
    drive.flush().expect("flushed");
    assert_eq!(pages(&drive), 40 / 7 + 3, "with those of the commit");
}
