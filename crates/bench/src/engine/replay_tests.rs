//! Does a replay send what the trace says, when it says, where it may?

use crate::device::{ModelledTarget, NullTarget};
use crate::engine;
use crate::engine::Unobserved;
use crate::record::RunEnding;
use ssdlab_base::LabError;
use ssdlab_load::trace::ReadOptions;
use ssdlab_load::trace::replay::*;
use ssdlab_ssd::{Command, Op};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const HEADER: &str = "t_us,op,offset,length,done_us,fua,preflush\n";

fn file(lines: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.csv");
    std::fs::write(&path, format!("{HEADER}{lines}")).unwrap();
    (dir, path)
}

fn survey(path: &Path, speed: Option<f64>, fit: AddressFit) -> Replay {
    let read = ReadOptions::default();
    Replay::survey(path, &read, speed, fit).unwrap().0
}

fn commands(lines: &str, capacity: u64, fit: AddressFit) -> Result<Vec<(Command, u64)>, LabError> {
    let (_dir, path) = file(lines);
    let mut commands = ReplayCommands::new(&survey(&path, Some(1.0), fit), capacity)?;
    let mut found = Vec::new();
    while let Some((command, due)) = commands.next_command() {
        found.push((command, due.0));
    }
    assert!(commands.failure().is_none());
    Ok(found)
}

#[test]
fn every_kind_is_sent_as_it_was_recorded() {
    let lines = "0,read,0,4096,,0,0\n5,write,8192,512,,1,0\n7,trim,4096,8192,,0,0\n\
                 9,flush,0,0,,0,0\n11,write,0,4096,,0,1\n12,write_zeroes,512,512,,0,0\n";
    let expected = [
        (Command::read(0, 4096), 0),
        (Command::write_fua(8192, 512), 5000),
        (Command::trim(4096, 8192), 7000),
        (Command::flush(), 9000),
        (Command::flush(), 11_000),
        (Command::write(0, 4096), 11_000),
        (
            Command {
                op: Op::WriteZeroes,
                ..Command::write(512, 512)
            },
            12_000,
        ),
    ];
    assert_eq!(
        commands(lines, 1 << 20, AddressFit::Refuse).unwrap(),
        expected
    );
}

#[test]
fn odd_bytes_are_rounded_outward_and_long_commands_are_split() {
    let lines = "0,write,700,400,,0,0\n1,trim,0,2097664,,0,0\n";
    let found = commands(lines, 1 << 30, AddressFit::Refuse).unwrap();
    let sent: Vec<_> = found.iter().map(|(c, _)| (c.offset, c.len)).collect();
    let mib = 1 << 20;
    assert_eq!(
        sent,
        [(512, 1024), (0, mib), (mib.into(), mib), (2 << 20, 512)]
    );
}

#[test]
fn beyond_the_end_is_refused_folded_or_scaled() {
    let mib = 1u64 << 20;
    let lines = format!(
        "0,write,{},8192,,0,0\n1,read,{mib},4096,,0,0\n",
        2 * mib - 4096
    );
    let error = commands(&lines, mib, AddressFit::Refuse).unwrap_err();
    assert!(
        error.to_string().contains("reaches to byte 2101248"),
        "{error}"
    );
    assert!(error.hint().contains("--wrap"), "{}", error.hint());
    let places = |fit| {
        let found = commands(&lines, mib, fit).unwrap();
        found
            .iter()
            .map(|(c, _)| (c.offset, c.len))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        places(AddressFit::Wrap),
        [(mib - 4096, 4096), (0, 4096), (0, 4096)]
    );
    let scaled = places(AddressFit::Scale);
    assert_eq!(scaled[0], (mib - 8192, 8192));
    assert!(scaled[1].0.abs_diff(mib / 2) <= 4096, "{scaled:?}");
    // What fits is not scaled.
    let same = commands(&lines, 4 * mib, AddressFit::Scale).unwrap();
    assert_eq!(same[1].0.offset, mib);
}

/// `count` writes of 4 KiB, one every `gap_us`.
fn steady(count: u64, gap_us: u64) -> (tempfile::TempDir, PathBuf) {
    let line = |i: u64| format!("{},write,{},4096,,0,0\n", i * gap_us, i * 4096);
    file(&(0..count).map(line).collect::<String>())
}

fn run_on_drive(replay: Replay, depth: u32) -> crate::record::RunRecord {
    let found = ssdlab_drives::catalogue::open("consumer-sata-1tb").unwrap();
    let mut target = ModelledTarget::new(&found, Some(4 << 30)).unwrap();
    let plan = replay.plan(depth);
    let stop = AtomicBool::new(false);
    let record = engine::run(&plan, &mut target, &mut Unobserved, &stop).unwrap();
    assert_eq!(record.ending, RunEnding::Complete);
    assert_eq!(record.failed_checks(), [] as [&str; 0]);
    record
}

#[test]
fn recorded_times_are_kept_and_speed_divides_them() {
    let (_dir, path) = steady(4000, 1000);
    for (speed, seconds) in [(1.0, 4.0), (2.0, 2.0), (0.5, 8.0)] {
        let record = run_on_drive(survey(&path, Some(speed), AddressFit::Refuse), 32);
        let length: f64 = record.seconds.iter().map(|s| s.length_s).sum();
        assert!((length - seconds).abs() < 0.01, "{length} at {speed}");
        let writes: u64 = record.seconds.iter().map(|s| s.ops[1].count).sum();
        assert_eq!(writes, 4000);
        assert_eq!(record.notes, [] as [&str; 0]);
    }
}

#[test]
fn as_fast_as_possible_is_faster_and_a_late_replay_says_so() {
    let (_dir, path) = steady(4000, 1000);
    let record = run_on_drive(survey(&path, None, AddressFit::Refuse), 32);
    let length: f64 = record.seconds.iter().map(|s| s.length_s).sum();
    assert!(length < 1.0, "{length}");
    // A thousandth of the time: no drive keeps up at depth 1.
    let record = run_on_drive(survey(&path, Some(1000.0), AddressFit::Refuse), 1);
    assert!(
        record.notes[0].contains("after their time"),
        "{:?}",
        record.notes
    );
}

#[test]
fn a_run_ends_in_words_when_the_trace_breaks_meanwhile() {
    let (_dir, path) = steady(3000, 1);
    let replay = survey(&path, None, AddressFit::Refuse);
    std::fs::write(&path, format!("{HEADER}0,write,0,512,,0,0\nbroken\n")).unwrap();
    let mut target = NullTarget::new(1 << 30, 32);
    let stop = AtomicBool::new(false);
    let record = engine::run(&replay.plan(4), &mut target, &mut Unobserved, &stop);
    match record.map(|record| record.ending) {
        Ok(RunEnding::Failed(why)) => assert!(why.contains("cannot be read as csv"), "{why}"),
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn nonsense_speeds_are_refused() {
    let (_dir, path) = steady(1, 1);
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let read = ReadOptions::default();
        assert!(Replay::survey(&path, &read, Some(speed), AddressFit::Refuse).is_err());
    }
}
