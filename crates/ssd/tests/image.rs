//! A drive that was saved and loaded continues like the original, and everything else is refused
//! with a sentence that gives the reason.

mod kinds;

use kinds::commands::Mix;
use kinds::{SLOT, all};
use ssdlab_ssd::ftl::policies::Greedy;
use ssdlab_ssd::image::{IMAGE_VERSION, ImageError};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Completion, Drive, DriveConfig, Nanos};

fn saved(drive: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("nothing outstanding");
    bytes
}

fn loaded(bytes: &[u8]) -> Result<Drive, ImageError> {
    Drive::load(&mut &*bytes, bytes.len() as u64)
}

/// Runs `count` commands, eight in progress and with occasional pauses, and waits for their end.
fn live(drive: &mut Drive, mix: &mut Mix, rng: &mut Rng, count: usize) -> Vec<Completion> {
    let mut free: Vec<u32> = (0..8).collect();
    let mut taken = Vec::new();
    for command in mix.take(count) {
        if rng.percent(2) {
            let until = Nanos(drive.now().0 + rng.below(200_000_000));
            while let Some(done) = drive.pop_completion(until) {
                free.push(done.tag);
                taken.push(done);
            }
        }
        let tag = free.pop().unwrap_or_else(|| {
            taken.push(drive.pop_completion(Nanos::MAX).expect("under way"));
            taken[taken.len() - 1].tag
        });
        drive.submit(tag, &command, drive.now());
    }
    while drive.outstanding() > 0 {
        taken.push(drive.pop_completion(Nanos::MAX).expect("under way"));
    }
    taken
}

fn used(config: DriveConfig, commands: usize) -> (Drive, Mix, Rng) {
    let mut rng = Rng::named(commands as u64, "image");
    let mut mix = Mix::new(&config, rng.next_u64());
    let mut drive = Drive::new(config).expect("valid");
    live(&mut drive, &mut mix, &mut rng, commands);
    (drive, mix, rng)
}

#[test]
fn a_loaded_drive_continues_like_the_original() {
    for config in all() {
        for commands in [0, 10, 400, 700] {
            let (mut drive, mut mix, mut rng) = used(config.clone(), commands);
            let bytes = saved(&drive);
            let mut twin = loaded(&bytes).expect("just saved");
            twin.check().expect("consistent");
            assert_eq!(saved(&twin), bytes, "{}: saved again", config.name);
            assert_eq!(twin.config(), drive.config());
            let (mut twin_mix, mut twin_rng) = (mix.clone(), rng.clone());
            let done = live(&mut drive, &mut mix, &mut rng, 500);
            let twin_done = live(&mut twin, &mut twin_mix, &mut twin_rng, 500);
            assert_eq!(done, twin_done, "{}", config.name);
            assert_eq!(saved(&drive), saved(&twin), "{}", config.name);
        }
    }
}

#[track_caller]
fn refused(outcome: Result<Drive, ImageError>, because: &str) {
    let error = outcome.expect_err("no drive").to_string();
    assert!(error.contains(because), "{error}");
}

#[test]
fn what_is_no_saved_drive_is_refused_and_says_so() {
    let bytes = saved(&used(kinds::bare(), 100).0);
    refused(loaded(b""), "it ends before it is complete");
    refused(
        loaded(b"# A text file of somebody's."),
        "it is no saved drive",
    );
    let mut other = bytes.clone();
    other[0] ^= 1;
    refused(loaded(&other), "it is no saved drive");
    let mut other = bytes.clone();
    other[8..12].copy_from_slice(&(IMAGE_VERSION + 1).to_le_bytes());
    let sentence = format!(
        "it is a saved drive of format {}, this build knows format {IMAGE_VERSION}",
        IMAGE_VERSION + 1
    );
    refused(loaded(&other), &sentence);
}

/// Sums of counters overflowed: found by the fuzz target `drive_image`.
#[test]
fn a_counter_that_no_drive_reaches_is_refused() {
    let mut drive = used(kinds::bare(), 100).0;
    for _ in 0..54_321 {
        drive.submit(0, &Command::read(0, SLOT as u32), drive.now());
        drive.pop_completion(Nanos::MAX).expect("under way");
    }
    let reads = drive.counters().host_reads.to_le_bytes();
    let mut bytes = saved(&drive);
    let at = bytes.windows(8).position(|window| window == reads);
    let at = at.expect("the first counter");
    // The tenth counter is the first of the slots that the drive moves.
    for counter in [at, at + 9 * 8] {
        let kept: [u8; 8] = bytes[counter..counter + 8].try_into().expect("eight");
        bytes[counter..counter + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        refused(loaded(&bytes), "a counter at 18446744073709551615");
        bytes[counter..counter + 8].copy_from_slice(&kept);
    }
    assert!(loaded(&bytes).is_ok());
}

#[test]
fn an_image_cut_short_anywhere_is_refused() {
    for config in all() {
        let bytes = saved(&used(config, 300).0);
        let step = 1 + bytes.len() / 500;
        for length in (0..2_000.min(bytes.len())).chain((0..bytes.len()).step_by(step)) {
            assert!(loaded(&bytes[..length]).is_err(), "{length} bytes");
        }
        // A reader that claims more bytes than it has.
        let half = &bytes[..bytes.len() / 2];
        refused(
            Drive::load(&mut &*half, bytes.len() as u64),
            "it ends before it is complete",
        );
    }
}

/// Whoever stores images adds a checksum; an undetected error must neither panic nor take unbounded
/// memory (a panic fails the test, and so would an allocation of exabytes).
#[test]
fn a_flipped_bit_is_refused_or_believed_but_does_no_harm() {
    for config in all() {
        let mut bytes = saved(&used(config, 200).0);
        let mut rng = Rng::named(1, "flips");
        let mut refused = 0;
        // Magic, version and configuration, then anywhere.
        let header = (0..600 * 8_u64).step_by(3).collect::<Vec<_>>();
        let size = bytes.len() as u64 * 8;
        let anywhere: Vec<u64> = (0..500).map(|_| rng.below(size)).collect();
        for bit in header.into_iter().chain(anywhere) {
            let (byte, mask) = (bit as usize / 8, 1 << (bit % 8));
            bytes[byte] ^= mask;
            refused += u32::from(loaded(&bytes).is_err());
            bytes[byte] ^= mask;
        }
        assert!(refused > 100, "only {refused} were noticed");
    }
}

#[test]
fn a_drive_with_commands_outstanding_is_not_saved() {
    let mut drive = Drive::new(kinds::bare()).expect("valid");
    drive.submit(0, &Command::write(0, SLOT as u32), Nanos::ZERO);
    let error = drive.save(&mut Vec::new()).expect_err("outstanding");
    let sentence = "1 commands are outstanding: a drive is saved when it has none";
    assert_eq!(error.to_string(), sentence);
}

#[test]
fn a_drive_with_a_policy_of_ones_own_is_not_saved() {
    let drive = Drive::with_victim(kinds::bare(), Box::new(Greedy)).expect("valid");
    let error = drive.save(&mut Vec::new()).expect_err("unknown policy");
    assert!(
        error.to_string().contains("outside the registry"),
        "{error}"
    );
}
