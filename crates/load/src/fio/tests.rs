use super::super::stream::JobStream;
use super::*;
use crate::plan::{CapacityShares, JobSpec, Mix, Order, WriteDurability, WritePayload};
use proptest::prelude::{prop, proptest};
use proptest::strategy::Strategy;
use ssdlab_ssd::{Nanos, Op};

/// The only job of a file with these lines in its section.
pub(super) fn job(lines: &str) -> JobSpec {
    let plan = parse(&format!("[j]\n{lines}\n"), "job.fio").unwrap();
    plan.phases[0].jobs[0].clone()
}

fn error(lines: &str) -> LabError {
    parse(&format!("[j]\n{lines}\n"), "job.fio").unwrap_err()
}

pub(super) fn bytes(job: &JobSpec) -> [Vec<(u32, u8)>; 3] {
    job.block_sizes
        .each_ref()
        .map(|list| list.iter().map(|b| (b.bytes, b.percent)).collect())
}

pub(super) fn one(bytes: u32) -> Vec<(u32, u8)> {
    vec![(bytes, 100)]
}

#[test]
fn an_empty_job_has_fio_s_defaults() {
    let job = job("");
    assert_eq!((job.name.as_str(), job.mix), ("j", Mix::Read));
    assert_eq!(bytes(&job), [one(4096), one(4096), one(4096)]);
    assert_eq!(
        (job.depth, job.copies, job.offset, job.region),
        (1, 1, 0, None)
    );
    assert_eq!(
        (job.io_limit, job.shares, job.time.run),
        (None, CapacityShares::default(), None)
    );
    assert!(!job.direct && !job.time.time_based && job.durability == WriteDurability::default());
    assert!(matches!(
        job.order,
        Order::Sequential {
            split_positions: true,
            ..
        }
    ));
    assert_eq!(
        job.data,
        WritePayload {
            compress_pct: 0,
            refill: false
        }
    );
}

#[test]
fn times() {
    let run = |text: &str| job(&format!("runtime={text}")).time.run;
    assert_eq!(run("90"), Some(Nanos::from_secs(90)));
    assert_eq!(run("5m"), Some(Nanos::from_secs(300)));
    assert_eq!(run("2h"), Some(Nanos::from_secs(7200)));
    assert_eq!(run("1d"), Some(Nanos::from_secs(86400)));
    assert_eq!(run("1500ms"), Some(Nanos::from_millis(1500)));
    assert_eq!(run("10S"), Some(Nanos::from_secs(10)));
    assert_eq!(run("0"), None);
    let job = job("timeout=10\nramp_time=2\ntime_based\nthinktime=50\nthinktime_blocks=4");
    assert!(job.time.time_based);
    assert_eq!(job.time.ramp, Nanos::from_secs(2));
    assert_eq!(
        (job.pace.think, job.pace.think_blocks),
        (Nanos::from_micros(50), 4)
    );
}

#[test]
fn caching_and_durability() {
    assert!(job("direct=1").direct);
    assert!(job("buffered=0").direct);
    assert!(!job("direct=1\nbuffered=1").direct);
    for (text, fua) in [
        ("none", false),
        ("0", false),
        ("1", true),
        ("sync", true),
        ("dsync", true),
    ] {
        assert_eq!(job(&format!("sync={text}")).durability.fua, fua, "{text}");
    }
    let durability = |lines| job(lines).durability;
    let every = |flush_every, data_only| WriteDurability {
        fua: false,
        flush_every,
        data_only,
    };
    assert_eq!(durability("fsync=1"), every(1, false));
    assert_eq!(durability("fdatasync=32"), every(32, true));
    assert_eq!(durability("fsync=0\nfdatasync=0"), every(0, false));
}

#[test]
fn pace_contents_and_depth() {
    let job = job("rate=1m,2m,\nrate_iops=,500\nbuffer_compress_percentage=30\nrefill_buffers");
    assert_eq!(job.pace.rate_bytes, [1 << 20, 2 << 20, 0]);
    assert_eq!(job.pace.rate_iops, [0, 500, 500]);
    assert_eq!(
        job.data,
        WritePayload {
            compress_pct: 30,
            refill: true
        }
    );
    assert_eq!(self::job("zero_buffers").data.compress_pct, 100);
    assert_eq!(
        self::job("ioengine=libaio\niodepth=32\nnumjobs=4").depth,
        32
    );
    assert_eq!(self::job("iodepth=32\nioengine=psync").depth, 1);
    assert_eq!(self::job("numjobs=4").copies, 4);
    assert_eq!(self::job("name=other").name, "other");
}

#[test]
fn seeds_follow_randseed_and_the_job_s_number() {
    assert_eq!(job("").seed, job("randseed=0x89").seed);
    assert_ne!(job("").seed, job("randseed=1").seed);
    let plan = parse("[a]\n[b]\n", "x").unwrap();
    let jobs = &plan.phases[0].jobs;
    assert_ne!(jobs[0].seed, jobs[1].seed);
}

const FILE: &str = "\u{feff}; a comment\r
[global]
ioengine = libaio   # trailing
filename=/dev/nvme0n1
direct=1
bs=8k

[fill]
rw=write
bs=128k

[global]
iodepth=\"16\"  ; quoted
[reads one]
rw=randread
description='# not a comment; nor this'
stonewall
[writes]
rw=randwrite
wait_for_previous=0
[last]
stonewall
group_reporting
";

#[test]
fn sections_globals_phases_and_options_as_written() {
    let plan = parse(FILE, "file.fio").unwrap();
    let names: Vec<Vec<&str>> = plan
        .phases
        .iter()
        .map(|phase| phase.jobs.iter().map(|job| job.name.as_str()).collect())
        .collect();
    assert_eq!(
        names,
        [vec!["fill"], vec!["reads one", "writes"], vec!["last"]]
    );
    let fill = &plan.phases[0].jobs[0];
    assert_eq!((bytes(fill)[0].clone(), fill.depth), (one(131_072), 1));
    let reads = &plan.phases[1].jobs[0];
    assert_eq!((bytes(reads)[0].clone(), reads.depth), (one(8192), 16));
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        reads.options[4..],
        [
            pair("iodepth", "16"),
            pair("rw", "randread"),
            pair("description", "# not a comment; nor this"),
            pair("stonewall", "1"),
        ]
    );
    assert!(fill.options.contains(&pair("bs", "128k")));
    assert!(!fill.options.contains(&pair("bs", "8k")));
    match &plan.language {
        Language::Fio { globals } => assert_eq!(globals.len(), 5),
        other => panic!("{other:?}"),
    }
    assert_eq!(notes(&plan).len(), 4);
}

#[test]
fn jesd219_gives_its_mix() {
    let job = job("rw=randrw
bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3
random_distribution=zoned:50/5:30/15:20/80
blockalign=4k
rwmixread=40
runtime=1h
time_based
randseed=7
norandommap");
    let capacity = 1u64 << 30;
    let mut stream = JobStream::new(&job, 0, capacity).unwrap();
    let total = 200_000u32;
    let (mut reads, mut bytes, mut zones, mut sizes) = (0u32, 0u64, [0u32; 3], [0u32; 3]);
    for _ in 0..total {
        let command = stream.next_command().unwrap();
        reads += u32::from(command.op == Op::Read);
        bytes += u64::from(command.len);
        assert_eq!(command.offset % 4096, 0);
        assert!(command.offset + u64::from(command.len) <= capacity);
        zones[match command.offset * 100 / capacity {
            0..5 => 0,
            5..20 => 1,
            _ => 2,
        }] += 1;
        sizes[usize::from(command.len >= 4096) + usize::from(command.len > 4096)] += 1;
    }
    let near = |count: u32, percent: f64| {
        let share = 100.0 * f64::from(count) / f64::from(total);
        assert!((share - percent).abs() < 0.6, "{share} against {percent}");
    };
    near(reads, 40.0);
    for (count, percent) in zones.into_iter().zip([50.0, 30.0, 20.0]) {
        near(count, percent);
    }
    for (count, percent) in sizes.into_iter().zip([10.0, 67.0, 23.0]) {
        near(count, percent);
    }
    // Its published mean is 7.64 KiB.
    let mean = bytes as f64 / f64::from(total) / 1024.0;
    assert!((mean - 7.64).abs() < 0.15, "{mean}");
}

#[test]
fn bad_combinations_name_the_job() {
    for (lines, message) in [
        ("fsync=1\nfdatasync=1", "both fsync and fdatasync"),
        ("zonemode=strided", "zonemode=strided without zones"),
        ("zonesize=1m", "zones without a zonemode"),
        (
            "size=1g\nnrfiles=2\nrw=write\ndedupe_percentage=50\ndedupe_mode=working_set",
            "a working set of dedupe with several files",
        ),
        (
            "rw=write\ndedupe_percentage=50\ndedupe_mode=working_set",
            "a working set of dedupe without a size",
        ),
        (
            "size=1g\nrw=write\ndedupe_percentage=96\ndedupe_mode=working_set",
            "a working set and a share of repeated blocks above 100 % together",
        ),
        ("steadystate=iops:5%", "steadystate without a window"),
        ("latency_target=500", "latency_target without a window"),
        ("offset=1m\nfilesize=1m", "its offset is not below filesize"),
        (
            "rw=randrw\nbs=4k,8k\nrandom_distribution=zipf",
            "reads and writes whose smallest blocks differ, at skewed addresses",
        ),
    ] {
        let error = error(lines);
        assert_eq!(error.to_string(), format!("job.fio:1: job `j`: {message}"));
        assert!(!error.hint().is_empty());
    }
    assert!(
        parse("[j]\nrw=randread\nbs=4k,8k", "x").is_ok(),
        "writes are not used"
    );
    assert_eq!(
        parse("[global]\nbs=4k", "x").unwrap_err().to_string(),
        "x: no job in it"
    );
    let outside = parse("bs=4k", "x").unwrap_err().to_string();
    assert_eq!(
        outside,
        "x:1: `line` cannot be `bs=4k`: options stand below a section such as \
        [global]"
    );
}

#[test]
fn the_table_has_no_name_twice_and_parses_its_defaults() {
    let mut names: Vec<&str> = supported_options()
        .iter()
        .flat_map(|o| std::iter::once(o.name).chain(o.aliases.iter().copied()))
        .collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(supported_options().iter().all(|o| !o.what.is_empty()));
    for option in supported_options() {
        let plain = option.default.bytes().all(|b| b.is_ascii_alphanumeric());
        if !option.default.is_empty() && plain && option.default != "unlimited" {
            job(&format!("{}={}", option.name, option.default));
        }
    }
}

#[test]
fn a_file_is_read_or_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.fio");
    assert!(read(&path).unwrap_err().to_string().starts_with("reading "));
    std::fs::write(&path, "[a]\nrw=write\n").unwrap();
    assert_eq!(read(&path).unwrap().phases[0].jobs[0].mix, Mix::Write);
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = parse(&text, "x");
    }

    #[test]
    fn no_value_panics(
        option in 0..supported_options().len(),
        value in any_value(),
    ) {
        let name = supported_options()[option].name;
        if let Ok(plan) = parse(&format!("[j]\nrw=randrw\n{name}={value}"), "x") {
            for job in &plan.phases[0].jobs {
                if let Ok(mut stream) = JobStream::new(job, 0, 1 << 20) {
                    for _ in 0..10 {
                        stream.next_command();
                    }
                }
            }
        }
    }
}

fn any_value() -> impl Strategy<Value = String> {
    proptest::prelude::prop_oneof![
        "\\PC{0,8}",
        "[0-9]{1,21}[kmgtpKMib%s]{0,3}",
        "[0-9]{1,3}k?(/[0-9]{0,3})?([:,][0-9]{1,3}k?(/[0-9]{0,3})?){0,4}",
        "(zipf|pareto|zoned|random)(:[0-9./-]{0,6}){0,3}",
        prop::sample::select(vec!["randread", "trim", "psync", "dsync", "1000"])
            .prop_map(str::to_owned),
    ]
}
