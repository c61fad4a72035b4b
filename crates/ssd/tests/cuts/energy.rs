//! What the energy of a capacitor and the filling up of word lines save, exactly.

use super::kinds;
use ssdlab_ssd::drive::power::{Power, PowerDrive};
use ssdlab_ssd::ftl::policies::Separation;
use ssdlab_ssd::{Command, DriveConfig, Nanos};

/// The pages of all blocks: block, row, whether torn.
fn pages(drive: &PowerDrive) -> Vec<(usize, usize, bool)> {
    let blocks = drive.media().blocks().iter().enumerate();
    let pages = blocks.flat_map(|(block, content)| {
        let pages = content.pages.iter().enumerate();
        pages.map(move |(row, page)| (block, row, page.torn))
    });
    pages.collect()
}

/// A protected drive whose capacitor lasts for `hold`, with programs in progress at `at`.
fn busy(hold: Nanos, at: Nanos) -> PowerDrive {
    let mut config = kinds::bare();
    config.shape.dies_per_channel = 2;
    config.buffer.protected = true;
    let mut power = Power::default();
    power.hold = Some(hold);
    let mut drive = PowerDrive::new(config, power).expect("possible");
    for tag in 0..12 {
        let command = Command::write(u64::from(tag) * 2 * kinds::SLOT, 2 * kinds::SLOT as u32);
        drive.submit(tag, &command, None, Nanos::ZERO);
    }
    while drive.pop_completion(at).is_some() {}
    drive
}

/// A program in progress at a cut ends exactly when the capacitor lasts until its end. What a drive
/// that keeps its power has programmed by then is the reference.
#[test]
fn a_capacitor_ends_the_programs_that_its_energy_reaches() {
    let program = kinds::bare().nand.timing.program[0].0;
    let mut outcomes = [0, 0];
    for at in (1..12).map(|step| Nanos(step * program / 4)) {
        let mut unprotected = busy(Nanos(0), at);
        unprotected.cut(at);
        let torn = pages(&unprotected).into_iter().filter(|page| page.2);
        let in_progress: Vec<(usize, usize)> = torn.map(|page| (page.0, page.1)).collect();
        for hold in (1..12).map(|step| Nanos(step * program / 5)) {
            let mut held = busy(hold, at);
            held.cut(at);
            let until = Nanos(at.0 + hold.0);
            let mut powered = busy(Nanos(0), at);
            while powered.pop_completion(until).is_some() {}
            powered.cut(until);
            let powered = pages(&powered);
            for &(block, row, torn) in &pages(&held) {
                if in_progress.contains(&(block, row)) {
                    let page = powered.iter().find(|page| (page.0, page.1) == (block, row));
                    let ended = page.is_some_and(|page| !page.2);
                    assert_eq!(
                        !torn, ended,
                        "block {block} row {row}, cut at {at}, held {hold}"
                    );
                    outcomes[usize::from(ended)] += 1;
                }
            }
        }
    }
    assert!(outcomes.iter().all(|&count| count > 20), "{outcomes:?}");
}

/// After a FLUSH no word line of host data is half programmed, whatever its stream: the next
/// program on it could take the flushed data along.
#[test]
fn a_flush_fills_up_the_word_lines_of_every_stream() {
    const STREAMS: u32 = 5;
    let mut config: DriveConfig = kinds::bare();
    config.shape.blocks_per_plane = 40;
    config.ftl.journal.commit_closes_word_lines = true;
    config.ftl.reclaim.streams = STREAMS;
    config.ftl.reclaim.separation = Separation::Hint;
    config.ftl.reclaim.free_superblocks_low = 2 * STREAMS + 1;
    let bits = config.shape.bits_per_cell;
    let dies = config.geometry().die_count as usize;
    let mut drive = PowerDrive::new(config, Power::default()).expect("possible");
    let mut begun = 0;
    for number in 0..120_u64 {
        let mut command = Command::write(number % 100 * kinds::SLOT, kinds::SLOT as u32);
        command.stream = (number % u64::from(STREAMS)) as u8;
        drive.submit(0, &command, None, drive.now());
        drive.pop_completion(Nanos::MAX).expect("written");
        if number % 13 != 12 {
            continue;
        }
        drive.submit(0, &Command::flush(), None, drive.now());
        drive.pop_completion(Nanos::MAX).expect("flushed");
        let state = drive.state();
        for (stream, &open) in state.lists[3][1..=STREAMS as usize].iter().enumerate() {
            let Some(superblock) = open.checked_sub(1) else {
                continue;
            };
            let first = superblock as usize * dies;
            for (die, rows) in state.rows[first..first + dies].iter().enumerate() {
                assert_eq!(
                    rows % bits,
                    0,
                    "stream {stream}, die {die}, after write {number}"
                );
                begun += usize::from(stream > 1 && *rows > 0);
            }
        }
    }
    assert!(begun > 20, "{begun} blocks of the later streams");
}
