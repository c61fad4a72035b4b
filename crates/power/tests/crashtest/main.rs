//! Do campaigns find what is wrong, blame the right one, and find nothing where nothing is wrong?

#[path = "../../examples/wal.rs"]
mod wal;

use ssdlab_power::crashtest::{BlockDevice, Campaign, Cuts, Player, Stream, Verdict};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::{FAULTS, Fault, FaultKind, Lie, Oracle, Power, PowerDrive, Promise};
use ssdlab_ssd::rng::Rng;

/// Bytes of a page of the application.
const PAGE: u64 = 4096;

/// A correct application of every command: pages written twice, flushed or written with FUA, and
/// marked; some trimmed, some zeroed.
fn pages(campaign: &Campaign, rounds: u64) -> Stream {
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

/// Every marked page reads as marked last, but for the one that is being changed at the cut.
fn check(drive: &mut ssdlab_power::crashtest::Recovered) -> Result<(), String> {
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
            // What it trusts has faded by the next cut; a campaign cuts each state once.
            let is_found = is_found && kind != FaultKind::TrustsTornPages;
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
                report.count(Verdict::Drive) > 0,
                is_found,
                "{}: {report}",
                info.name
            );
            assert_eq!(
                report.count(Verdict::Application),
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
        let stream = pages(&campaign, 80);
        let run = campaign.prepare(&stream).unwrap();
        let power = Power {
            faults,
            ..Power::default()
        };
        for point in run.points(random(40)) {
            let base = PowerDrive::new(tiny(protected), power.clone()).unwrap();
            let after = Player::new(&stream, base).cut_at(point);
            let ours = run.look(&after);
            let mut oracle = Oracle::new(4096, protected);
            oracle.lie(Lie::None);
            for index in 0..after.reached.submitted {
                let command = stream.commands[index].command;
                oracle.submitted(0, index as u64 + 1, &command);
                if index < after.reached.completed {
                    oracle.completed(0);
                }
            }
            let theirs = oracle.after_recovery(|sector| after.drive.sector(sector));
            assert_eq!(
                ours.broken_count,
                theirs.broken.len() as u64,
                "{kind:?} {point}"
            );
            for (one, two) in ours.broken.iter().zip(&theirs.broken) {
                assert_eq!((one.sector, one.promised), (two.sector, two.promised));
            }
            broken += ours.broken_count;
        }
    }
    assert!(broken > 0);
}

/// Canary: a check that accepts nothing fails at every cut, and by the application.
#[test]
fn a_check_that_always_fails_is_heard_even_by_panic() {
    let campaign = Campaign::new(tiny(false)).cuts(random(10)).jobs(2);
    let stream = pages(&campaign, 10);
    assert!(stream.count(Op::Write) > 0);
    let report = campaign.run(&stream, |_| Err("no".into())).unwrap();
    assert_eq!(report.count(Verdict::Application), 10);
    assert!(
        report
            .minimal
            .as_ref()
            .is_some_and(|minimal| minimal.lost.is_empty())
    );
    let report = campaign.run(&stream, |_| panic!("no {}", 1)).unwrap();
    assert_eq!(report.cuts[0].message.as_deref(), Some("no 1"));
}
