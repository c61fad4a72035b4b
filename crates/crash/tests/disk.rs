//! Is the disk deterministic, does every fault show in the ledger and nothing else, and does
//! misuse get an answer that says what to do?

use ssdlab_crash::{
    Command, CrashDisk, CrashError, CutAt, DriveConfig, Nanos, SectorClass, drawn_drive,
};
use ssdlab_ssd::drive::power::FAULTS;
use ssdlab_ssd::rng::Rng;

fn new(seed: u64) -> CrashDisk {
    CrashDisk::new(drawn_drive(seed), seed).expect("possible")
}

/// Some random commands, flushed now and then, until the power goes.
fn work(disk: &mut CrashDisk, rng: &mut Rng, count: u64) -> Result<(), CrashError> {
    let pages = disk.capacity() / 4096;
    for n in 0..count {
        let at = rng.below(pages) * 4096;
        match rng.below(8) {
            0 => disk.flush()?,
            1 => disk.trim(at, 4096)?,
            2 => disk.fua(at, &[n as u8; 512])?,
            _ => disk.write(at, &[n as u8; 4096])?,
        }
    }
    Ok(())
}

#[test]
fn the_same_calls_give_the_same_reports_and_so_does_the_history() {
    for seed in 0..10 {
        let run = || {
            let (mut disk, mut rng) = (new(seed), Rng::named(seed, "work"));
            let mut reports = Vec::new();
            for _ in 0..6 {
                disk.arm(CutAt::Event(rng.below(40)));
                if work(&mut disk, &mut rng, 60).is_ok() {
                    disk.cut().expect("on");
                }
                reports.push(disk.power_on().expect("recovered"));
            }
            (disk, reports)
        };
        let (disk, reports) = run();
        assert_eq!(run().1, reports);
        let again = disk.history().expect("recorded").replay();
        assert_eq!(again.reports, reports);
        assert_eq!(again.disk.now(), disk.now());
        reports.iter().for_each(|report| report.assert_kept());
    }
}

/// A drive on which a fault can show, and the fault as text.
fn faulty(name: &str) -> (DriveConfig, String) {
    let mut config = DriveConfig::tiny();
    config.ftl.slc.superblocks = 0;
    let mut text = name.to_owned();
    match name {
        "capacitor-failed" => config.buffer.protected = true,
        "paired-page-loss" => {
            config.ftl.journal.entry_bytes = 0;
            config.ftl.journal.commit_map_programs = 0;
            config.ftl.journal.commit_closes_word_lines = false;
        }
        "dies-after-cuts" => text.push_str(":3"),
        _ => text.push_str(":300"),
    }
    (config, text)
}

#[test]
fn every_fault_shows_and_none_when_there_is_none() {
    let names = FAULTS.iter().map(|fault| fault.name);
    for name in names.chain(["lost-writes", "misdirected-writes"]) {
        let (config, text) = faulty(name);
        for (faults, expected) in [(&[text.as_str()][..], true), (&[][..], false)] {
            let found = (0..40).any(|seed| {
                let disk = CrashDisk::with_faults(config.clone(), seed, faults);
                let (mut disk, mut rng) = (disk.expect("named"), Rng::named(seed, name));
                (0..6).any(|_| {
                    disk.arm(CutAt::Program(1 + rng.below(20)));
                    if work(&mut disk, &mut rng, 60).is_ok() {
                        disk.cut().expect("on");
                    }
                    let report = disk.power_on().expect("a report");
                    !report.is_kept() || report.recovery.dead
                })
            });
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// A fork in the middle of commands, one of which a cut then strikes, leaves the other alone.
#[test]
fn a_cut_during_the_life_of_a_fork_does_not_reach_the_other() {
    let mut disk = new(1);
    disk.fua(0, &[1; 4096]).expect("on");
    disk.submit(&Command::write_fua(0, 4096), &[2; 4096])
        .expect("on");
    let mut fork = disk.fork();
    fork.cut().expect("on");
    assert!(fork.power_on().expect("recovered").is_kept());
    let one = fork.read(0, 512).expect("on")[0];
    assert!(one == 1 || one == 2, "{one}");
    assert_eq!(
        disk.complete().expect("on").map(|done| done.number),
        Some(2)
    );
    assert_eq!(disk.read(0, 512).expect("on")[0], 2);
    // A fork of a disk without power recovers by itself.
    disk.cut().expect("on");
    let mut dark = disk.fork();
    assert!(dark.power_on().expect("recovered").is_kept() && !disk.is_on());
}

#[test]
fn recoveries_that_are_cut_again_and_again_lose_nothing() {
    for seed in 0..30 {
        let (mut disk, mut rng) = (new(seed), Rng::named(seed, "nested"));
        for _ in 0..6 {
            disk.arm(CutAt::Program(1 + rng.below(9)));
            if work(&mut disk, &mut rng, 60).is_ok() {
                disk.cut().expect("on");
            }
            for _ in 0..4 {
                disk.arm(CutAt::Recovery(rng.below(1000) as u16));
                let Err(error) = disk.power_on() else { break };
                let text = error.to_string();
                assert!(text.contains("inside recovery"), "{text}");
                assert!(text.contains("hint: power_on() again"), "{text}");
                let refused = disk.read(0, 512).expect_err("no power").to_string();
                assert!(refused.contains("hint: power_on() first"), "{refused}");
            }
            if !disk.is_on() {
                disk.disarm();
                disk.power_on().expect("recovered").assert_kept();
            }
        }
    }
}

#[test]
fn misuse_gets_an_answer() {
    let mut disk = new(2);
    let capacity = disk.capacity();
    let answers = [
        disk.power_on().map(drop),
        disk.write(capacity, &[0; 512]),
        disk.write(u64::MAX - 511, &[0; 512]),
        disk.read(7, 512).map(drop),
        disk.submit(&Command::write(0, 1024), &[0; 512]).map(drop),
        disk.submit(&Command::flush(), &[0; 512]).map(drop),
        disk.trim(0, u64::MAX),
    ];
    for answer in answers {
        let text = answer.expect_err("refused").to_string();
        assert!(text.contains("\nhint: ") && !text.ends_with(": "), "{text}");
    }
    disk.write(0, &[]).expect("nothing to do");
    let dead = CrashDisk::with_faults(DriveConfig::tiny(), 1, &["dies-after-cuts:1"]);
    let mut dead = dead.expect("named");
    dead.fua(0, &[1; 512]).expect("on");
    dead.cut().expect("on");
    assert!(!dead.power_on().expect("a report").is_kept());
    assert_eq!(dead.flush(), Err(CrashError::Dead));
    assert_eq!(dead.power_on(), Err(CrashError::Dead));
}

/// Of thirty writes, a fault loses the one that counts; the smallest history has only that.
#[test]
fn a_failing_history_is_reduced_to_what_matters() {
    let faults = ["ignores-fua"];
    let disk = CrashDisk::with_faults(DriveConfig::tiny(), 3, &faults);
    let mut disk = disk.expect("named");
    for page in 0..30 {
        disk.write(page * 4096, &[1; 4096]).expect("on");
    }
    disk.flush().expect("on");
    disk.fua(0, &[2; 4096]).expect("on");
    disk.rest(Nanos(1000)).expect("on");
    disk.cut().expect("on");
    let report = disk.power_on().expect("recovered");
    assert_eq!(report.count(SectorClass::Older), 8, "{report}");
    let history = disk.history().expect("recorded");
    let minimal = history
        .minimise(500, |again| again.kept())
        .expect("it fails");
    let steps: Vec<String> = minimal.steps.iter().map(ToString::to_string).collect();
    assert_eq!(
        steps,
        ["#32 FUA write 4 KiB at 0", "cut", "power on"],
        "{minimal}"
    );
}

/// Of what a cut lost, only the commit record matters to the check.
#[test]
fn the_smallest_set_of_lost_writes_is_found() {
    let mut disk = CrashDisk::new(DriveConfig::tiny(), 1).expect("possible");
    disk.fua(0, &[1; 4096]).expect("on");
    for page in 1..20 {
        disk.write(page * 4096, &[1; 4096]).expect("on");
    }
    disk.write(0, &[2; 4096]).expect("on");
    disk.cut().expect("on");
    let lost = disk.power_on().expect("recovered").lost;
    assert!(lost.len() > 10, "{lost:?}");
    let history = disk.history().expect("recorded");
    let found = history.smallest_loss(&lost, 200, |disk| match disk.read(0, 512)?[0] {
        2 => Ok(()),
        found => Err(format!("page 0 is {found}")),
    });
    let found = found.expect("it fails");
    let numbers: Vec<u64> = found.pieces.iter().map(|part| part.number).collect();
    assert_eq!((numbers, found.is_smallest), (vec![21], true));
}
