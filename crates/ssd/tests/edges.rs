//! Commands at the edges: those that are impossible are refused by every way into a drive, bytes at
//! any place inside mapping units are written, zeroed and read as such, and reads side by side that
//! cannot be corrected are an error each.

mod kinds;

use kinds::SLOT;
use ssdlab_ssd::drive::power::{DataDrive, DataError, Power};
use ssdlab_ssd::nand::WearConfig;
use ssdlab_ssd::nand::reliability::LevellingConfig;
use ssdlab_ssd::{Command, CountingDrive, Drive, Nanos};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The message of a panic; empty: there was none.
fn complaint(action: impl FnOnce()) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(action)) else {
        return String::new();
    };
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| {
        payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
    });
    text.expect("a text")
}

#[test]
fn an_impossible_command_is_refused_by_every_way_into_a_drive() {
    let config = kinds::bare();
    let end = config.user_bytes;
    let slot = SLOT as u32;
    let beyond = "beyond the drive";
    let odd = "not in whole blocks";
    for (command, message) in [
        (Command::write(end, slot), beyond),
        (Command::write(end - SLOT + 512, slot), beyond),
        (Command::write(end + SLOT, slot), beyond),
        (Command::read(end - 512, 1024), beyond),
        (Command::trim(end, slot), beyond),
        (Command::write(100, slot), odd),
        (Command::write(0, 100), odd),
        (Command::read(100, 100), odd),
    ] {
        let mut timed = Drive::new(config.clone()).expect("valid");
        let said = complaint(|| timed.submit(0, &command, Nanos::ZERO));
        assert!(said.contains(message), "{command:?}: {said}");
        let mut counting = CountingDrive::new(config.clone()).expect("valid");
        let said = complaint(|| counting.apply(&command));
        assert!(said.contains(message), "{command:?}: {said}");
        for position in [0, 1, 31, 32, 63, 64, 99] {
            let mut commands = vec![Command::write(0, slot); 100];
            commands[position] = command;
            let mut counting = CountingDrive::new(config.clone()).expect("valid");
            let said = complaint(|| counting.apply_all(&commands));
            assert!(said.contains(message), "{command:?} at {position}: {said}");
        }
    }
    let mut last = CountingDrive::new(config).expect("valid");
    last.apply_all(&[Command::write(end - SLOT, slot); 100]);
    last.check().expect("consistent");
}

#[test]
fn parts_of_sectors_are_refused_wherever_they_are() {
    let mut drive = DataDrive::new(kinds::bare(), Power::default()).expect("valid");
    for offset in [0, 1, 100, 256, 511, 512] {
        for len in [1, 100, 256, 511, 512] {
            let is_whole = offset % 512 == 0 && len % 512 == 0;
            let expected = Err(DataError::Unaligned { offset, len });
            let mut bytes = vec![1; len as usize];
            let outcomes = [
                drive.write(offset, &bytes, false),
                drive.read(offset, &mut bytes),
                drive.trim(offset, len),
                drive.write_zeroes(offset, len, false),
            ];
            for outcome in outcomes {
                assert_eq!(outcome.is_ok(), is_whole, "{len} bytes at {offset}");
                assert!(is_whole || outcome == expected, "{outcome:?}");
            }
        }
    }
}

/// Any range of sectors, within a mapping unit or across some, against a plain array of bytes.
#[test]
fn zeroes_fill_exactly_their_range() {
    let mut drive = DataDrive::new(kinds::bare(), Power::default()).expect("valid");
    let length = 4 * SLOT as usize;
    for first in 0..24_u64 {
        for count in [0, 1, 3, 7, 8, 9] {
            let mut plain = vec![0xa5; length];
            drive.write(0, &plain, false).expect("on");
            let (offset, len) = (first * 512, count * 512);
            drive.write_zeroes(offset, len, count % 2 == 0).expect("on");
            plain[offset as usize..(offset + len) as usize].fill(0);
            let mut bytes = vec![1; length];
            drive.read(0, &mut bytes).expect("on");
            assert!(bytes == plain, "{count} sectors from {first}");
        }
    }
    drive.drive().check().expect("consistent");
}

/// Several reads side by side, of which some meet data faded beyond correction.
#[test]
fn each_read_beyond_correction_has_its_own_error() {
    let mut config = kinds::bare();
    let mut wear = WearConfig::tiny();
    wear.failure_cycles = vec![u32::MAX];
    wear.retire_above = u64::MAX;
    wear.levelling = LevellingConfig::default();
    config.wear = Some(wear);
    config.ftl.reclaim.free_superblocks_low = 4;
    config.user_bytes = 240 * SLOT;
    config.validate().expect("possible");
    let mut drive = Drive::new(config).expect("valid");
    let alone = |drive: &mut Drive, command: Command| {
        drive.submit(0, &command, drive.now());
        drive.pop_completion(Nanos::MAX).expect("completes");
    };
    for slot in 0..40 {
        alone(&mut drive, Command::write(slot * SLOT, SLOT as u32));
    }
    alone(&mut drive, Command::flush());
    drive.rest(50_000);
    // Slot 100 was never written.
    for (tag, slot) in [(3, 0), (4, 100), (5, 10), (6, 5)] {
        let read = Command::read(slot * SLOT, SLOT as u32);
        drive.submit(tag, &read, drive.now());
    }
    while drive.pop_completion(Nanos::MAX).is_some() {}
    let errors = [3, 4, 5, 6].map(|tag| drive.take_unreadable(tag));
    assert_eq!(errors, [true, false, true, true]);
}
