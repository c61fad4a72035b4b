//! Do campaigns find what is wrong, blame the right one, and find nothing where nothing is wrong?

#[path = "../../examples/wal.rs"]
mod wal;

use ssdlab_power::crashtest::{
    Campaign, CommandStream, CutResult, CutVerdict, Cuts, Occasion, Player, SecondCut,
    SectorDevice, StartingAge,
};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::{FAULTS, Fault, FaultKind, Lie, Oracle, Power, PowerDrive, Promise};
use ssdlab_ssd::rng::Rng;

/// Bytes of a page of the application.
const PAGE: u64 = 4096;

/// A correct application of every command: pages written twice, flushed or written with FUA, and
/// marked; some trimmed, some zeroed.
fn pages(campaign: &Campaign, rounds: u64) -> CommandStream {
    let mut disk = campaign.disk();
    let mut rng = Rng::named(7, "pages");
    for round in 1..=rounds {
        let page = rng.below(40);
        let bytes = [round as u8; PAGE as usize];
        match rng.below(8) {
            0 => {
                disk.trim(page * PAGE, PAGE).unwrap();
                disk.flush().unwrap();
                disk.mark(format!("{page} 0"));
            }
            1 => {
                disk.write_zeroes(page * PAGE, PAGE, true).unwrap();
                disk.mark(format!("{page} 0"));
            }
            2 | 3 => {
                disk.write(page * PAGE, &bytes, true).unwrap();
                disk.mark(format!("{page} {round}"));
            }
            _ => {
                // A neighbour in the other half, which nobody relies on.
                disk.write((page + 60) * PAGE, &bytes, false).unwrap();
                disk.write(page * PAGE, &bytes, false).unwrap();
                disk.flush().unwrap();
                disk.mark(format!("{page} {round}"));
            }
        }
    }
    disk.into_stream()
}

/// The same with commands in flight: of four writes two have completed when the FLUSH comes, and
/// only these are marked; a fifth is submitted while the FLUSH is at work. Values grow.
fn in_flight(campaign: &Campaign, rounds: u64) -> CommandStream {
    let mut disk = campaign.disk();
    let mut rng = Rng::named(8, "in flight");
    for round in 1..=rounds {
        let first = disk.submitted();
        let pages = [0, 10, 20, 30].map(|group| group + rng.below(10));
        for page in pages {
            let from = disk.submitted();
            let fua = rng.percent(20);
            disk.write(page * PAGE, &[round as u8; PAGE as usize], fua)
                .unwrap();
            disk.leave_open(from);
        }
        // Not in the order in which they were submitted.
        disk.complete(first + 2);
        disk.complete(first);
        disk.flush().unwrap();
        disk.leave_open(first + 4);
        let late = 40 + rng.below(10);
        disk.write(late * PAGE, &[round as u8; PAGE as usize], false)
            .unwrap();
        disk.leave_open(first + 5);
        disk.complete(first + 4);
        disk.mark(format!("{} {round}", pages[0]));
        disk.mark(format!("{} {round}", pages[2]));
        disk.complete(first + 1);
        disk.complete(first + 3);
        disk.complete(first + 5);
    }
    disk.into_stream()
}

/// Every marked page reads as marked last or newer.
fn check_growing(drive: &mut ssdlab_power::crashtest::RecoveredDrive) -> Result<(), String> {
    for mark in drive.marks().to_vec() {
        let (page, value) = mark.split_once(' ').expect("two numbers");
        let (page, value) = (page.parse::<u64>().unwrap(), value.parse::<u8>().unwrap());
        let mut bytes = [0; PAGE as usize];
        drive
            .read(page * PAGE, &mut bytes)
            .map_err(|e| e.to_string())?;
        if bytes.iter().any(|&byte| byte < value) {
            return Err(format!("page {page} was marked {value}, is {}", bytes[0]));
        }
    }
    Ok(())
}

/// Every marked page reads as marked last, but for the one that is being changed at the cut.
fn check(drive: &mut ssdlab_power::crashtest::RecoveredDrive) -> Result<(), String> {
    let mut due = std::collections::BTreeMap::new();
    for mark in drive.marks() {
        let (page, value) = mark.split_once(' ').expect("two numbers");
        due.insert(
            page.parse::<u64>().expect("page"),
            value.parse::<u8>().expect("value"),
        );
    }
    let mut wrong = Vec::new();
    for (page, value) in due {
        let mut bytes = [0; PAGE as usize];
        drive
            .read(page * PAGE, &mut bytes)
            .map_err(|error| error.to_string())?;
        if bytes.iter().any(|&byte| byte != value) {
            wrong.push(format!(
                "page {page} was acknowledged as {value}, is {}",
                bytes[0]
            ));
        }
    }
    match wrong.as_slice() {
        [] | [_] => Ok(()),
        [first, ..] => Err(first.clone()),
    }
}

fn tiny(protected: bool) -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.ftl.journal.checkpoint_pages = 4;
    config.buffer.protected = protected;
    config
}

fn random(count: usize) -> Cuts {
    Cuts::Random { count, seed: 3 }
}

#[test]
fn an_honest_drive_and_a_careful_application_pass() {
    for protected in [false, true] {
        let campaign = Campaign::new(tiny(protected)).cuts(random(300));
        let stream = pages(&campaign, 120);
        let report = campaign.run(&stream, check).unwrap();
        report.assert_passed();
        assert_eq!(report.cuts.len(), 300);
    }
}

/// Cuts strike with several commands in flight, and no mark relies on one of those.
#[test]
fn commands_are_played_as_deep_as_they_were_recorded() {
    for age in [StartingAge::New, StartingAge::Filled] {
        let campaign = Campaign::new(tiny(false)).cuts(random(300)).age(age);
        let stream = in_flight(&campaign, 60);
        assert_eq!(stream.depth(), 4);
        let report = campaign.run(&stream, check_growing).unwrap();
        report.assert_passed();
        let deep = report.cuts.iter().filter(|cut| cut.in_flight > 2);
        assert!(deep.count() > 50, "{report}");
        let lost = report.cuts.iter().filter(|cut| !cut.lost.is_empty());
        assert!(lost.count() > 50, "{report}");
    }
}

/// A mark that relies on a write in flight is found out: it may be lost.
#[test]
fn a_program_that_marks_what_is_in_flight_fails() {
    let campaign = Campaign::new(tiny(false)).cuts(random(200));
    let mut stream = in_flight(&campaign, 60);
    for mark in &mut stream.marks {
        // As if it had made the mark of a write that nobody has flushed.
        if let Some(&open) = mark.open.last() {
            let write = &stream.commands[open as usize];
            let page = write.command.offset / PAGE;
            let value = write.bytes.as_ref().unwrap()[0];
            mark.text = format!("{page} {value}");
        }
    }
    let report = campaign.run(&stream, check_growing).unwrap();
    assert!(report.count(CutVerdict::Application) > 20, "{report}");
    assert_eq!(report.count(CutVerdict::Drive), 0, "{report}");
}

/// Every occasion is met on a drive that is full of earlier data, and none blames the drive.
#[test]
fn every_occasion_has_its_share_on_a_full_drive() {
    let campaign = Campaign::new(tiny(false))
        .cuts(random(240))
        .age(StartingAge::Filled);
    let stream = pages(&campaign, 120);
    let report = campaign.run(&stream, check).unwrap();
    report.assert_passed();
    for occasion in Occasion::OF_DRIVE {
        let of = report.cuts.iter().filter(|cut| cut.occasion == occasion);
        assert!(of.count() >= 30, "{}: {report}", occasion.name());
    }
    let only = campaign.clone().occasions(&[Occasion::Recovery]);
    let report = only.run(&stream, check).unwrap();
    report.assert_passed();
    let inside = |cut: &CutResult| matches!(cut.point.again, Some(SecondCut::InRecovery(_)));
    assert!(report.cuts.iter().all(inside));
}

/// On which drive a fault can show.
fn victim_of(kind: FaultKind) -> DriveConfig {
    let mut config = tiny(kind == FaultKind::CapacitorFailed);
    if kind == FaultKind::PairedPageLoss {
        // Commits leave word lines half full, and no map is in the way.
        config.shape.planes_per_die = 1;
        config.user_bytes = 300 * PAGE;
        config.ftl.slc.superblocks = 0;
        config.ftl.journal.entry_bytes = 0;
        config.ftl.journal.commit_map_programs = 0;
        config.ftl.journal.checkpoint_pages = 0;
        config.ftl.journal.commit_closes_word_lines = false;
    }
    config
}

#[test]
fn every_named_fault_is_found_and_named_and_nothing_when_it_is_off() {
    for info in &FAULTS {
        let kind = match info.kind {
            FaultKind::DiesAfterCuts(_) => FaultKind::DiesAfterCuts(1),
            kind => kind,
        };
        for (per_mille, is_found) in [(400, true), (0, false)] {
            let fault = Fault {
                kind,
                per_mille,
                seed: 5,
            };
            let is_dead = matches!(kind, FaultKind::DiesAfterCuts(_));
            let faults = if is_dead && !is_found {
                &[][..]
            } else {
                &[fault][..]
            };
            let campaign = Campaign::new(victim_of(kind))
                .faults(faults)
                .cuts(random(200));
            let stream = pages(&campaign, 120);
            let report = campaign.run(&stream, check).unwrap();
            println!("{}: {report}", info.name);
            assert_eq!(
                report.count(CutVerdict::Drive) > 0,
                is_found,
                "{}: {report}",
                info.name
            );
            assert_eq!(
                report.count(CutVerdict::Application),
                0,
                "{}: {report}",
                info.name
            );
            if is_found {
                assert!(report.to_string().contains(info.name), "{report}");
            }
        }
    }
}

/// Two faults at once: the one that did it is named, the other is not.
#[test]
fn of_two_faults_the_guilty_one_is_named() {
    let fault = |kind| Fault {
        kind,
        per_mille: 1000,
        seed: 5,
    };
    let faults = [FaultKind::CapacitorFailed, FaultKind::IgnoresFlush].map(fault);
    let campaign = Campaign::new(tiny(false)).faults(&faults).cuts(random(60));
    let stream = pages(&campaign, 60);
    let report = campaign.run(&stream, check).unwrap();
    let worst = report.worst().expect("flushes are ignored");
    let breach = worst.breach.as_ref().expect("by the drive");
    assert_eq!(breach.faults, [FaultKind::IgnoresFlush], "{report}");
    assert!(matches!(breach.first[0].by, Promise::Flush(_)), "{report}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let fault = Fault {
        kind: FaultKind::LosesMapUpdates,
        per_mille: 200,
        seed: 1,
    };
    let with = |jobs| {
        let campaign = Campaign::new(tiny(false))
            .faults(&[fault])
            .cuts(random(100))
            .jobs(jobs);
        let stream = pages(&campaign, 80);
        campaign.run(&stream, check).unwrap()
    };
    let one = with(1);
    assert!(one.worst().is_some());
    assert_eq!(one, with(3));
}

#[test]
fn a_token_runs_the_same_cut_again_and_no_other() {
    let fault = Fault {
        kind: FaultKind::IgnoresFlush,
        per_mille: 300,
        seed: 1,
    };
    let campaign = Campaign::new(tiny(false)).faults(&[fault]).cuts(random(50));
    let stream = pages(&campaign, 60);
    let report = campaign.run(&stream, check).unwrap();
    let worst = report.worst().expect("flushes are ignored").clone();
    let again = campaign.replay(&stream, &worst.token, check).unwrap();
    assert_eq!(again, worst);
    let other = pages(&campaign, 61);
    let error = campaign.replay(&other, &worst.token, check).unwrap_err();
    assert!(error.to_string().contains("another stream"), "{error}");
}

/// The contract worked out from the stream is the oracle's of the drive, on honest drives and on
/// faulty ones, sector by sector.
#[test]
fn the_history_agrees_with_the_oracle() {
    let kinds = [
        None,
        Some(FaultKind::IgnoresFlush),
        Some(FaultKind::IgnoresFua),
        Some(FaultKind::LosesMapUpdates),
        Some(FaultKind::BitCorruption),
        Some(FaultKind::FlyingWrites),
        Some(FaultKind::ShornWrites),
        Some(FaultKind::RecoveryPicksOlder),
    ];
    let mut broken = 0;
    for (kind, protected) in kinds.iter().flat_map(|&kind| [(kind, false), (kind, true)]) {
        let faults: Vec<Fault> = kind
            .map(|kind| Fault {
                kind,
                per_mille: 300,
                seed: 9,
            })
            .into_iter()
            .collect();
        let campaign = Campaign::new(tiny(protected))
            .faults(&faults)
            .cuts(random(40));
        for stream in [pages(&campaign, 80), in_flight(&campaign, 40)] {
            broken += agree(&campaign, &stream, kind, protected);
        }
    }
    assert!(broken > 0);
}

/// Holds the history of every cut against the oracle; returns how many promises were broken.
fn agree(
    campaign: &Campaign,
    stream: &CommandStream,
    kind: Option<FaultKind>,
    protected: bool,
) -> u64 {
    let run = campaign.prepare(stream).unwrap();
    let faults = kind.map(|kind| Fault {
        kind,
        per_mille: 300,
        seed: 9,
    });
    let power = Power::with_faults(faults.into_iter().collect());
    let mut broken = 0;
    for point in run.points(random(40)).iter().map(|chosen| chosen.point) {
        let base = PowerDrive::new(tiny(protected), power.clone()).unwrap();
        let after = Player::new(stream, base).cut_at(point);
        let ours = run.look(&after);
        let mut oracle = Oracle::new(4096, protected);
        oracle.lie(Lie::None);
        let done = &after.reached.done;
        for next in 0..=done.len() as u32 {
            for (tag, _) in (0..).zip(done).filter(|(_, by)| **by == Some(next)) {
                oracle.completed(tag);
            }
            if (next as usize) < done.len() {
                let command = stream.commands[next as usize].command;
                oracle.submitted(next, u64::from(next) + 1, &command);
            }
        }
        let mut theirs = 0;
        if let Some(held) = &after.held {
            let found = |sector: u64| {
                let unit = held.iter().find(|(unit, _)| u64::from(*unit) == sector / 8);
                let content = unit.and_then(|(_, content)| content.as_ref());
                content.map_or(0, |content| content.numbers[(sector % 8) as usize])
            };
            theirs += oracle.after_recovery(found).broken.len();
        }
        let report = oracle.after_recovery(|sector| after.drive.sector(sector));
        theirs += report.broken.len();
        if after.held.is_none() {
            assert_eq!(ours.broken_count, theirs as u64, "{kind:?} {point}");
            for (one, two) in ours.broken.iter().zip(&report.broken) {
                assert_eq!((one.sector, one.promised), (two.sector, two.promised));
            }
        }
        // A promise that was broken before both recoveries is counted once or twice.
        assert_eq!(ours.broken_count > 0, theirs > 0, "{kind:?} {point}");
        broken += ours.broken_count;
    }
    broken
}

/// Canary: a check that accepts nothing fails at every cut, and by the application.
#[test]
fn a_check_that_always_fails_is_heard_even_by_panic() {
    let campaign = Campaign::new(tiny(false)).cuts(random(10)).jobs(2);
    let stream = pages(&campaign, 10);
    assert!(stream.count(Op::Write) > 0);
    let report = campaign.run(&stream, |_| Err("no".into())).unwrap();
    assert_eq!(report.count(CutVerdict::Application), 10);
    assert!(
        report
            .minimal
            .as_ref()
            .is_some_and(|minimal| minimal.lost.is_empty())
    );
    let report = campaign.run(&stream, |_| panic!("no {}", 1)).unwrap();
    assert_eq!(report.cuts[0].message.as_deref(), Some("no 1"));
}
