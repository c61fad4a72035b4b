//! Does a job give the commands that fio gives? The table holds what fio 3.33 logged with its null
//! engine; where fio is installed, it is asked again.

use ssdlab_load::fio;
use ssdlab_load::stream::Stream;
use ssdlab_ssd::Op;
use std::path::Path;
use std::process::Command;

/// A job's options, and the reads and writes of one copy after the other, each by kind and offset
/// in KiB. File n of a copy begins where file n - 1 ends.
const CASES: &[(&str, &str)] = &[
    (
        "rw=read:-8k size=64k",
        "r0 r56 r52 r48 r44 r40 r36 r32 r28 r24 r20 r16 r12 r8 r4 r0",
    ),
    (
        "rw=read:4k size=64k",
        "r0 r8 r16 r24 r32 r40 r48 r56 r0 r8 r16 r24 r32 r40 r48 r56",
    ),
    ("rw=write:12k size=32k", "w0 w16 w0 w16 w0 w16 w0 w16"),
    ("rw=read:-4k size=16k", "r0 r0 r0 r0"),
    ("rw=read size=16k loops=2", "r0 r4 r8 r12 r0 r4 r8 r12"),
    ("rw=read size=64k number_ios=3", "r0 r4 r8"),
    ("rw=read size=32k bs=512 bsrange=8k-8k", "r0 r8 r16 r24"),
    (
        "rw=read size=16k offset_increment=64k numjobs=2",
        "r0 r4 r8 r12 r64 r68 r72 r76",
    ),
    (
        "rw=write size=48k nrfiles=3",
        "w0 w16 w32 w4 w20 w36 w8 w24 w40 w12 w28 w44",
    ),
    ("rw=write nrfiles=2 filesize=8k", "w0 w8 w4 w12"),
    ("rw=read filesize=64k size=16k", "r0 r4 r8 r12"),
    ("rw=read filesize=16k size=64k", "r0 r4 r8 r12"),
    ("rw=read filesize=64k size=8k offset=16k", "r16 r20"),
    ("rw=read filesize=32k offset=16k", "r16 r20 r24 r28"),
    ("rw=read filesize=64k size=8k loops=2", "r0 r4 r8 r12"),
];

const CAPACITY: u64 = 1 << 30;

fn job_file(options: &str) -> String {
    let lines = options.replace(' ', "\n");
    format!("[j]\nioengine=null\nbs=4k\n{lines}\n")
}

/// Our commands, in fio's words.
fn ours(text: &str) -> String {
    let plan = fio::parse(text, "job.fio").unwrap_or_else(|error| panic!("{text}: {error}"));
    let job = &plan.phases[0].jobs[0];
    let mut words = Vec::new();
    for copy in 0..job.copies {
        let mut stream = Stream::new(job, copy, CAPACITY).unwrap();
        while let Some(command) = stream.next_command() {
            let kind = match command.op {
                Op::Read => 'r',
                Op::Write => 'w',
                other => panic!("{other:?}"),
            };
            words.push(format!("{kind}{}", command.offset / 1024));
        }
    }
    words.join(" ")
}

/// The commands of fio's log: copy, file, kind, offset in bytes.
fn theirs(text: &str, directory: &Path) -> Vec<(u32, u64, char, u64)> {
    let (job, log) = (directory.join("j.fio"), directory.join("log"));
    std::fs::write(&job, format!("{text}write_iolog={}\n", log.display())).unwrap();
    let run = Command::new("fio")
        .arg(&job)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(run.status.success(), "{text}: {run:?}");
    // Copies write logs of their own: log, log.1, ...
    let mut logs: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    logs.retain(|path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("log")
    });
    logs.sort();
    let mut commands = Vec::new();
    for path in logs {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [_, name, kind @ ("read" | "write"), offset, _] = words[..] else {
                continue;
            };
            let mut numbers = name.split('.').skip(1).map(|n| n.parse::<u32>().unwrap());
            let (copy, file) = (numbers.next().unwrap(), numbers.next().unwrap());
            let kind = kind.chars().next().unwrap();
            commands.push((copy, u64::from(file), kind, offset.parse().unwrap()));
        }
    }
    commands.sort_by_key(|command| command.0);
    commands
}

#[test]
fn jobs_give_the_commands_that_fio_logged() {
    for (options, expected) in CASES {
        assert_eq!(ours(&job_file(options)), *expected, "{options}");
    }
}

#[test]
fn fio_still_gives_these_commands() {
    if Command::new("fio").arg("--version").output().is_err() {
        return ssdlab_skips::skip("fio is not installed");
    }
    for (options, expected) in CASES {
        let directory = tempfile::tempdir().unwrap();
        let text = job_file(options);
        let commands = theirs(&text, directory.path());
        let plan = fio::parse(&text, "job.fio").unwrap();
        let job = &plan.phases[0].jobs[0];
        let file = job.region.unwrap() / u64::from(job.steps.files.max(1));
        let words = commands
            .iter()
            .map(|(_, number, kind, offset)| format!("{kind}{}", (number * file + offset) / 1024));
        assert_eq!(words.collect::<Vec<_>>().join(" "), *expected, "{options}");
    }
}

/// Of four commands, three follow the one before, unless it ended with the region.
fn breaks(offsets: &[u64], end: u64) -> Vec<usize> {
    let follows = |n: &usize| offsets[*n] == offsets[n - 1] + 4096 || offsets[n - 1] + 4096 == end;
    (1..offsets.len())
        .filter(|n| n % 4 != 0 && !follows(n))
        .collect()
}

#[test]
fn random_commands_with_followers_come_in_runs_as_in_fio() {
    let text = job_file("rw=randread:4 size=4m norandommap");
    let plan = fio::parse(&text, "job.fio").unwrap();
    let mut stream = Stream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
    let ours: Vec<u64> = std::iter::from_fn(|| stream.next_command())
        .map(|c| c.offset)
        .collect();
    assert_eq!(ours.len(), 1024);
    assert!(breaks(&ours, 4 << 20).is_empty());
    // The canary: without followers, hardly a command follows the one before.
    let plain = job_file("rw=randread size=4m norandommap");
    let plan = fio::parse(&plain, "job.fio").unwrap();
    let mut stream = Stream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
    let plain: Vec<u64> = std::iter::from_fn(|| stream.next_command())
        .map(|c| c.offset)
        .collect();
    assert!(breaks(&plain, 4 << 20).len() > 700);
    if Command::new("fio").arg("--version").output().is_err() {
        return ssdlab_skips::skip("fio is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let commands = theirs(&text, directory.path());
    let offsets: Vec<u64> = commands.iter().map(|command| command.3).collect();
    assert!(breaks(&offsets, 4 << 20).is_empty());
}

#[test]
fn reads_and_writes_are_aligned_to_their_own_smallest_block_as_in_fio() {
    let text = job_file("rw=randrw bs=4k,64k size=64m norandommap");
    let plan = fio::parse(&text, "job.fio").unwrap();
    let mut stream = Stream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
    let ours = std::iter::from_fn(|| stream.next_command());
    let ours: Vec<(char, u64)> = ours
        .map(|c| (if c.op == Op::Read { 'r' } else { 'w' }, c.offset))
        .collect();
    let aligned = |commands: &[(char, u64)]| {
        let fine = |kind| {
            let of = commands
                .iter()
                .filter(|c| c.0 == kind && c.1 % (64 << 10) != 0);
            of.count()
        };
        assert!(commands.iter().all(|c| c.1 % 4096 == 0 && c.1 < 64 << 20));
        (fine('r') > 100, fine('w'))
    };
    assert_eq!(aligned(&ours), (true, 0));
    // The whole region is written: the last start is reached.
    let furthest = ours.iter().filter(|c| c.0 == 'w').map(|c| c.1).max();
    assert!(furthest > Some(63 << 20), "{furthest:?}");
    if Command::new("fio").arg("--version").output().is_err() {
        return ssdlab_skips::skip("fio is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let commands = theirs(&text, directory.path());
    let theirs: Vec<(char, u64)> = commands.iter().map(|c| (c.2, c.3)).collect();
    assert_eq!(aligned(&theirs), (true, 0));
}
