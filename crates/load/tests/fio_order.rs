//! Does a job give the commands that fio gives? The table holds what fio 3.33 logged with its null
//! engine; where fio is installed, it is asked again.

use ssdlab_load::fio;
use ssdlab_load::follow::FollowUpStream;
use ssdlab_load::stream::JobStream;
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
    // Zones: a gap after each, a range that is longer, one that is gone over again, and a mix
    // whose reads and writes share the zone.
    (
        "rw=read zonemode=strided zonesize=8k zoneskip=8k size=32k",
        "r0 r4 r16 r20 r0 r4 r16 r20",
    ),
    (
        "rw=read zonemode=strided zonesize=8k zoneskip=8k zonerange=16k size=64k",
        "r0 r4 r24 r28 r48 r52 r0 r4 r24 r28 r48 r52 r0 r4 r24 r28",
    ),
    (
        "rw=read zonemode=strided zonesize=24k zonerange=8k zoneskip=8k size=64k",
        "r0 r4 r0 r4 r0 r4 r16 r20 r16 r20 r16 r20 r32 r36 r32 r36",
    ),
    (
        "rw=read zonemode=strided zonesize=8k zoneskip=8k size=60k",
        "r0 r4 r16 r20 r32 r36 r48 r52 r0 r4 r16 r20 r32 r36 r48",
    ),
    // Trims and writes of the same blocks.
    ("rw=trimwrite size=16k", "t0 w0 t4 w4 t8 w8 t12 w12"),
    // Writes are read back: after a pass, after some writes, in batches, in each loop.
    (
        "rw=write verify=crc32c size=24k",
        "w0 w4 w8 w12 w16 w20 r0 r4 r8 r12 r16 r20",
    ),
    (
        "rw=write verify=crc32c size=32k verify_backlog=3",
        "w0 w4 w8 r0 r4 r8 w12 w16 w20 r12 r16 r20 w24 w28 r24 r28",
    ),
    (
        "rw=write verify=crc32c size=32k verify_backlog=4 verify_backlog_batch=2 loops=2",
        "w0 w4 w8 w12 r0 r4 w16 w20 r8 r12 w24 w28 r16 r20 r24 r28 \
         w0 w4 w8 w12 r0 r4 w16 w20 r8 r12 w24 w28 r16 r20 r24 r28",
    ),
    (
        "rw=write verify=md5 size=16k loops=2",
        "w0 w4 w8 w12 r0 r4 r8 r12 w0 w4 w8 w12 r0 r4 r8 r12",
    ),
    ("rw=write verify=md5 size=16k do_verify=0", "w0 w4 w8 w12"),
    ("rw=read verify=md5 size=16k", "r0 r4 r8 r12"),
    // The stripes of fio's own example: 16 KiB of every 128.
    (
        "rw=write:112k bs=16k verify=md5 verify_backlog=1 offset=120k filesize=632k io_size=64k",
        "w120 r120 w248 r248 w376 r376 w504 r504",
    ),
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
        let mut stream = FollowUpStream::new(job, copy, CAPACITY).unwrap();
        while let Some(command) = stream.next_command() {
            let kind = match command.op {
                Op::Read => 'r',
                Op::Write => 'w',
                Op::Trim => 't',
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
            let [_, name, kind @ ("read" | "write" | "trim"), offset, _] = words[..] else {
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

/// What a randomly ordered job reads back, and in which order, by the log of a run.
fn read_back(commands: &[(char, u64)]) -> (Vec<u64>, Vec<u64>) {
    let of = |kind| {
        let of_kind = commands.iter().filter(|command| command.0 == kind);
        of_kind.map(|command| command.1).collect::<Vec<u64>>()
    };
    (of('w'), of('r'))
}

/// With a random map fio reads back in the order of the writes; without one by address, and each
/// block once.
#[test]
fn random_writes_are_read_back_as_in_fio() {
    let check = |commands: &[(char, u64)], mapped: bool| {
        let (written, mut expected) = {
            let (written, _) = read_back(commands);
            (written.clone(), written)
        };
        if !mapped {
            expected.sort_unstable();
            expected.dedup();
            assert!(expected.len() < written.len(), "no block came twice");
        }
        assert_eq!(read_back(commands).1, expected);
    };
    for (options, mapped) in [("", true), (" norandommap", false)] {
        let text = job_file(&format!("rw=randwrite verify=crc32c size=256k{options}"));
        let plan = fio::parse(&text, "job.fio").unwrap();
        let mut stream = FollowUpStream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
        let ours = std::iter::from_fn(|| stream.next_command());
        let kind = |op| if op == Op::Read { 'r' } else { 'w' };
        let ours: Vec<(char, u64)> = ours.map(|c| (kind(c.op), c.offset)).collect();
        check(&ours, mapped);
        if Command::new("fio").arg("--version").output().is_err() {
            return ssdlab_skips::skip("fio is not installed");
        }
        let directory = tempfile::tempdir().unwrap();
        let commands = theirs(&text, directory.path());
        let theirs: Vec<(char, u64)> = commands.iter().map(|c| (c.2, c.3)).collect();
        check(&theirs, mapped);
        if mapped {
            assert_eq!(ours.len(), theirs.len());
        }
    }
}

/// Sizes of a range: fio's mean, and the share of the largest, which takes all that is above it.
#[test]
fn sizes_of_a_range_are_distributed_as_in_fio() {
    let text = job_file("rw=randread bsrange=4k-64k size=256m norandommap number_ios=8000")
        .replace("bs=4k\n", "")
        .replace("number_ios=8000", "io_size=256m");
    let plan = fio::parse(&text, "job.fio").unwrap();
    let mut stream = JobStream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
    let ours: Vec<u64> = std::iter::from_fn(|| stream.next_command())
        .map(|c| u64::from(c.len))
        .collect();
    let shape = |sizes: &[u64]| {
        let count = sizes.len() as f64;
        let mean = sizes.iter().sum::<u64>() as f64 / count;
        let largest = sizes.iter().filter(|size| **size == 64 << 10).count() as f64 / count;
        (mean / 1024.0, largest)
    };
    let (mean, largest) = shape(&ours);
    // 4, 8, ... 60 KiB once each of 16, and 64 KiB once more than that: 34 KiB.
    assert!((mean - 34.0).abs() < 0.8, "{mean}");
    assert!((largest - 1.0 / 16.0).abs() < 0.01, "{largest}");
    if Command::new("fio").arg("--version").output().is_err() {
        return ssdlab_skips::skip("fio is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let (their_mean, their_largest) = shape(&lengths(&text, directory.path()));
    assert!((mean - their_mean).abs() < 1.0, "{mean} {their_mean}");
    assert!(
        (largest - their_largest).abs() < 0.015,
        "{largest} {their_largest}"
    );
}

/// Lengths of the commands in fio's log.
fn lengths(text: &str, directory: &Path) -> Vec<u64> {
    theirs(text, directory);
    let log = std::fs::read_to_string(directory.join("log")).unwrap();
    let words = log.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    words
        .filter(|words| words.len() == 5)
        .map(|words| words[4].parse().unwrap())
        .collect()
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
    let mut stream = JobStream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
    let ours: Vec<u64> = std::iter::from_fn(|| stream.next_command())
        .map(|c| c.offset)
        .collect();
    assert_eq!(ours.len(), 1024);
    assert!(breaks(&ours, 4 << 20).is_empty());
    // The canary: without followers, hardly a command follows the one before.
    let plain = job_file("rw=randread size=4m norandommap");
    let plan = fio::parse(&plain, "job.fio").unwrap();
    let mut stream = JobStream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
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
    let mut stream = JobStream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
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

/// Zones of reads, writes and trims: each kind's share of each zone. fio 3.33 documents such lists,
/// but its parser takes the comma for the end of the word `zoned` (parse.c, opt_len): it is asked
/// for one kind after the other.
#[test]
fn zones_of_each_kind_get_their_shares_as_in_fio() {
    let of_reads = [90.0, 10.0];
    let of_writes = [20.0, 80.0];
    for zones in [
        "zoned:90/25:10/75,20/25:80/75",
        "zoned_abs:90/16m:10/48m,20/16m:80/48m",
    ] {
        let options = format!("rw=randrw size=64m io_size=64m random_distribution={zones}");
        let text = job_file(&options);
        let plan = fio::parse(&text, "job.fio").unwrap();
        let mut stream = JobStream::new(&plan.phases[0].jobs[0], 0, CAPACITY).unwrap();
        let ours = std::iter::from_fn(|| stream.next_command());
        let kind = |op| if op == Op::Read { 'r' } else { 'w' };
        let ours: Vec<(char, u64)> = ours.map(|c| (kind(c.op), c.offset)).collect();
        check_shares(&ours, 'r', of_reads);
        check_shares(&ours, 'w', of_writes);
        if Command::new("fio").arg("--version").output().is_err() {
            return ssdlab_skips::skip("fio is not installed");
        }
        let (name, lists) = zones.split_once(':').unwrap();
        let (reads, writes) = lists.split_once(',').unwrap();
        for (kind, list, expected) in [('r', reads, of_reads), ('w', writes, of_writes)] {
            let directory = tempfile::tempdir().unwrap();
            let rw = if kind == 'r' { "randread" } else { "randwrite" };
            let options = format!("rw={rw} size=64m random_distribution={name}:{list}");
            let theirs = theirs(&job_file(&options), directory.path());
            let theirs: Vec<(char, u64)> = theirs.iter().map(|c| (c.2, c.3)).collect();
            check_shares(&theirs, kind, expected);
        }
    }
}

/// Per cent of the commands below and above 16 MiB, within five standard deviations of 8000 draws.
fn check_shares(commands: &[(char, u64)], kind: char, expected: [f64; 2]) {
    let mut counts = [0.0; 2];
    for (_, offset) in commands.iter().filter(|command| command.0 == kind) {
        counts[usize::from(*offset >= 16 << 20)] += 1.0;
    }
    let all = counts[0] + counts[1];
    assert!(all > 7000.0, "{all}");
    for (count, expected) in counts.iter().zip(expected) {
        let share = 100.0 * count / all;
        assert!(
            (share - expected).abs() < 2.3,
            "{kind}: {share} against {expected}"
        );
    }
}
