use super::super::stream::JobStream;
use super::*;
use crate::plan::{
    BlockSize, CapacityShares, Distribution, JobSpec, Mix, Order, WriteDurability, WritePayload,
};
use proptest::prelude::{prop, proptest};
use proptest::strategy::Strategy;
use ssdlab_ssd::{Nanos, Op};

/// The only job of a file with these lines in its section.
fn job(lines: &str) -> JobSpec {
    let plan = parse(&format!("[j]\n{lines}\n"), "job.fio").unwrap();
    plan.phases[0].jobs[0].clone()
}

fn error(lines: &str) -> LabError {
    parse(&format!("[j]\n{lines}\n"), "job.fio").unwrap_err()
}

fn bytes(job: &JobSpec) -> [Vec<(u32, u8)>; 3] {
    job.block_sizes
        .each_ref()
        .map(|list| list.iter().map(|b| (b.bytes, b.percent)).collect())
}

fn one(bytes: u32) -> Vec<(u32, u8)> {
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
fn rw_values() {
    for (text, mix, random) in [
        ("read", Mix::Read, false),
        ("write", Mix::Write, false),
        ("trim", Mix::Trim, false),
        ("randread", Mix::Read, true),
        ("randwrite", Mix::Write, true),
        ("randtrim", Mix::Trim, true),
        ("rw", Mix::ReadWrite { read_pct: 50 }, false),
        ("readwrite", Mix::ReadWrite { read_pct: 50 }, false),
        ("randrw", Mix::ReadWrite { read_pct: 50 }, true),
    ] {
        let job = job(&format!("rw={text}"));
        assert_eq!(job.mix, mix, "{text}");
        assert_eq!(matches!(job.order, Order::Random { .. }), random, "{text}");
    }
    assert_eq!(
        job("readwrite=randrw\nrwmixread=40").mix,
        Mix::ReadWrite { read_pct: 40 }
    );
    assert_eq!(
        job("rw=rw\nrwmixwrite=30").mix,
        Mix::ReadWrite { read_pct: 70 }
    );
}

#[test]
fn sizes_are_spelled_as_fio_spells_them() {
    // Each checked against fio 3.33 with ioengine=null.
    for (text, expected) in [
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4KB", 4096),
        ("4ki", 4096),
        ("512", 512),
        ("4096b", 4096),
        ("0x1000", 4096),
        ("1m", 1 << 20),
    ] {
        assert_eq!(
            bytes(&job(&format!("bs={text}")))[0],
            one(expected),
            "{text}"
        );
    }
    assert_eq!(job("size=64MiB").region, Some(64_000_000));
    assert_eq!(job("size=64MiB\nkb_base=1000").region, Some(64 << 20));
    assert_eq!(job("kb_base=1000\nsize=64m").region, Some(64_000_000));
    assert_eq!(job("size=2t").region, Some(2 << 40));
}

#[test]
fn block_sizes_by_kind() {
    for (text, expected) in [
        ("8k", [8192, 8192, 8192]),
        ("8k,32k", [8192, 32768, 32768]),
        ("8k,32k,", [8192, 32768, 4096]),
        ("8k,", [8192, 4096, 4096]),
        (",8k", [4096, 8192, 8192]),
        (",8k,", [4096, 8192, 4096]),
        ("8k,16k,64k", [8192, 16384, 65536]),
    ] {
        assert_eq!(
            bytes(&job(&format!("bs={text}"))),
            expected.map(one),
            "{text}"
        );
    }
}

#[test]
fn bssplit_shares() {
    let split = |text: &str| bytes(&job(&format!("bssplit={text}")));
    let plain = split("4k/50:8k/30:64k/20");
    assert_eq!(plain[0], [(4096, 50), (8192, 30), (65536, 20)]);
    assert_eq!(plain[0], plain[2]);
    assert_eq!(
        split("4k:8k/20:16k")[1],
        [(4096, 40), (8192, 20), (16384, 40)]
    );
    assert_eq!(
        split("4k/:8k/:16k/")[0],
        [(4096, 33), (8192, 33), (16384, 34)]
    );
    assert_eq!(split("4k/60%:8k/40%")[0], [(4096, 60), (8192, 40)]);
    assert_eq!(split("4k/100:8k/0")[0], [(4096, 100)]);
    let kinds = split("2k/50:4k/50,4k/90:8k/10");
    assert_eq!(kinds[0], [(2048, 50), (4096, 50)]);
    assert_eq!(kinds[1], [(4096, 90), (8192, 10)]);
    assert_eq!(kinds[1], kinds[2]);
}

#[test]
fn regions() {
    let shares = |lines: &str| job(lines).shares;
    assert_eq!(job("size=100%").shares, CapacityShares::default());
    assert_eq!(shares("size=50%").region, Some(50));
    assert_eq!(shares("offset=25%").offset, Some(25));
    assert_eq!(shares("io_size=50%").io_limit, Some(50));
    assert_eq!(job("io_limit=1m").io_limit, Some(1 << 20));
    assert_eq!(job("fileoffset=1m").offset, 1 << 20);
    assert_eq!(job("filesize=1m").region, Some(1 << 20));
    assert_eq!(job("filesize=2m\nsize=50%").region, Some(1 << 20));
    assert_eq!(
        job("filename=/dev/a\\:b").target.as_deref(),
        Some("/dev/a:b")
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
fn random_orders() {
    let order = |lines: &str| job(&format!("rw=randwrite\n{lines}")).order;
    let random = |align, distribution, each_once| Order::Random {
        align,
        distribution,
        each_once,
    };
    let uniform = Distribution::Uniform;
    assert_eq!(order(""), random(4096, uniform.clone(), true));
    assert_eq!(order("bs=,8k"), random(8192, uniform.clone(), true));
    assert_eq!(order("norandommap"), random(4096, uniform.clone(), false));
    assert_eq!(order("norandommap=0"), random(4096, uniform.clone(), true));
    assert_eq!(order("ba=8k"), random(8192, uniform.clone(), false));
    assert_eq!(order("blockalign=512"), random(512, uniform, false));
    let skewed = |text: &str| order(&format!("random_distribution={text}"));
    let zipf = |theta| random(4096, Distribution::Zipf { theta }, false);
    assert_eq!(skewed("zipf:1.2"), zipf(1.2));
    assert_eq!(skewed("zipf"), zipf(1.1));
    assert_eq!(
        skewed("pareto:0.3"),
        random(4096, Distribution::Pareto { h: 0.3 }, false)
    );
    assert_eq!(skewed("random"), order(""));
    let zones = vec![(60, 10), (30, 20), (10, 70)];
    let zoned = random(4096, Distribution::Zoned { zones }, false);
    assert_eq!(skewed("zoned:60/10:30/20:10/70"), zoned);
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

#[test]
fn block_size_lists_are_never_empty() {
    let empty = |job: &JobSpec| job.block_sizes.iter().any(Vec::is_empty);
    assert!(!empty(&job("bssplit=4k:8k/100")));
    let wanted = vec![BlockSize {
        bytes: 8192,
        percent: 100,
    }];
    assert_eq!(job("bssplit=4k:8k/100").block_sizes[0], wanted);
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
