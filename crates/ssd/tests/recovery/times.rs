//! The steps of recovery, exactly: operations and times from a closed form.
//!
//! One die of SLC blocks of nine rows, a page to a slot. After `commits` FUA writes, each a page of
//! data and a journal page, `after` pages are programmed without a commit; then power is cut. On
//! one die every read waits for the one before, so each step takes the time of its reads.

use ssdlab_ssd::config::RecoverBy;
use ssdlab_ssd::drive::power::{DataDrive, Power, RecoveryStep};
use ssdlab_ssd::{DriveConfig, Nanos};

/// Rows of a block.
const ROWS: u64 = 9;
const READ: Nanos = Nanos::from_micros(37);
/// Pages of the journal's ring.
const RING: u64 = 16;

fn config(recovery: RecoverBy) -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = 1;
    c.shape.planes_per_die = 1;
    c.shape.bits_per_cell = 1;
    c.shape.page_bytes = 4096;
    c.shape.pages_per_block = ROWS as u32;
    c.nand.timing.read = vec![READ];
    c.nand.timing.program.truncate(1);
    c.user_bytes = 80 * 4096;
    c.ftl.slc.superblocks = 0;
    c.ftl.recovery = recovery;
    c
}

fn steps(recovery: RecoverBy, commits: u64, after: u64) -> (u64, Vec<RecoveryStep>) {
    let mut drive = DataDrive::new(config(recovery), Power::default()).expect("possible");
    for n in 0..commits + after {
        let at = n * 7 % 80 * 4096;
        drive.write(at, &[1; 4096], n < commits).expect("written");
        drive.rest(Nanos::from_secs(1));
    }
    drive.cut();
    let recovery = drive.power_on();
    (recovery.at.0, recovery.steps)
}

fn check(found: (u64, Vec<RecoveryStep>), expected: &[(&str, u64)], context: &str) {
    let (mut last, steps) = found;
    let counts: Vec<_> = steps
        .iter()
        .map(|step| (step.name, step.operations))
        .collect();
    assert_eq!(counts, expected, "{context}");
    for step in &steps {
        assert_eq!(
            step.end,
            last + step.operations * READ.0,
            "{context}: {}",
            step.name
        );
        last = step.end;
    }
}

#[test]
fn a_scan_takes_the_time_of_its_reads() {
    for commits in 1..=40 {
        for after in [0, 1, 2, 7, 10] {
            let committed = 2 * commits;
            let pages = committed + after;
            let open = if after == 0 {
                0
            } else {
                pages - committed / ROWS * ROWS
            };
            let expected = [
                ("find superblocks", pages.div_ceil(ROWS)),
                ("read the map", 0),
                ("replay the journal", commits.min(RING)),
                ("scan open superblocks", open),
            ];
            let found = steps(RecoverBy::Scan, commits, after);
            check(
                found,
                &expected,
                &format!("{commits} commits, {after} pages"),
            );
        }
    }
}

/// Before the 17th page takes the place of the first, the only leaf is written, since the first has
/// changes that it lacks; before the 18th, the directory, since the second has the place of the
/// first. So once more in every lap.
#[test]
fn a_recovery_by_journal_takes_the_time_of_its_reads() {
    for commits in 1..=40 {
        for after in [0, 1, 2, 7, 10] {
            let (laps, in_lap) = ((commits - 1) / RING, (commits - 1) % RING);
            let leaf_only = laps > 0 && in_lap == 0;
            let parts = 2 * laps - u64::from(leaf_only);
            let replayed = if leaf_only { RING } else { in_lap + 1 };
            let committed = 2 * commits + parts;
            let pages = committed + after;
            let begun = u64::from(!pages.is_multiple_of(ROWS));
            // The last journal page and the page below it, which it covers; block ends are known.
            let back = committed - 2..pages - 1;
            let back = back.filter(|page| page % ROWS != ROWS - 1).count() as u64;
            let expected = [
                ("find superblocks", 2 * (pages / ROWS) + 5 * begun),
                ("read back to the journal", back),
                ("replay the journal", replayed),
                ("read the directory", u64::from(commits > RING + 1)),
                ("read the map", u64::from(laps > 0)),
            ];
            let found = steps(RecoverBy::Journal, commits, after);
            check(
                found,
                &expected,
                &format!("{commits} commits, {after} pages"),
            );
        }
    }
}
