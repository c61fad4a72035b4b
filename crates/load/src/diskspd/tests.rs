use super::*;
use crate::plan::{BlockSize, DiskspdOutput, JobSpec, Mix, Order, WritePayload};
use proptest::prelude::{prop, proptest};
use ssdlab_ssd::Nanos;

fn plan(line: &str) -> Result<WorkloadPlan, LabError> {
    let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&args)
}

fn job(line: &str) -> JobSpec {
    plan(line).unwrap().phases[0].jobs[0].clone()
}

fn output(line: &str) -> DiskspdOutput {
    match plan(line).unwrap().language {
        Language::Diskspd { output, .. } => output,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_bare_target_has_the_defaults() {
    let job = job("diskspd.exe test.dat");
    assert_eq!(job.target.as_deref(), Some("test.dat"));
    assert_eq!(
        job.block_sizes[0],
        [BlockSize {
            bytes: 65536,
            percent: 100
        }]
    );
    assert_eq!((job.depth, job.copies, job.mix), (2, 1, Mix::Read));
    assert_eq!(job.time.run, Some(Nanos::from_secs(10)));
    assert_eq!(
        (job.time.ramp, job.time.cool_down),
        (Nanos::from_secs(5), Nanos::ZERO)
    );
    assert!(job.time.time_based && !job.direct && !job.durability.fua);
    assert_eq!(
        job.order,
        Order::Sequential {
            stride: None,
            start_step: 0,
            split_positions: false
        }
    );
    assert_eq!(
        job.data,
        WritePayload {
            compress_pct: 99,
            refill: false
        }
    );
}

#[test]
fn the_documented_durable_write_line() {
    let line = "-b4k -r4k -o1 -t1 -w100 -Suw -D -L -d30 -W0 -C2 -Rxml /dev/sda /b4k";
    assert!(plan(line).is_err(), "an option after a target");
    let line = line.trim_end_matches(" /b4k");
    let job = job(line);
    assert_eq!(job.target.as_deref(), Some("/dev/sda"));
    assert_eq!(job.mix, Mix::Write);
    assert!(job.direct && job.durability.fua);
    assert!(matches!(
        job.order,
        Order::Random {
            align: 4096,
            each_once: false,
            ..
        }
    ));
    let wanted = DiskspdOutput {
        bucket_ms: Some(1000),
        latency: true,
        xml: true,
        profile_only: false,
    };
    assert_eq!(output(line), wanted);
}

#[test]
fn slashes_are_options_where_they_can_be() {
    let plan = plan("/b4K /t2 /o8 /w30 /r /S /data/file /tmp").unwrap();
    let jobs = &plan.phases[0].jobs;
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[0].target.as_deref(), Some("/data/file"));
    assert_eq!(jobs[1].target.as_deref(), Some("/tmp"));
    assert_eq!((jobs[0].depth, jobs[0].copies), (8, 2));
    assert_eq!(jobs[0].mix, Mix::ReadWrite { read_pct: 70 });
    assert!(jobs[0].direct);
    assert_ne!(jobs[0].seed, jobs[1].seed);
}

#[test]
fn sizes_may_be_counted_in_blocks_whatever_their_order() {
    assert!(matches!(
        job("-r2b -b8K x").order,
        Order::Random { align: 16384, .. }
    ));
    assert!(matches!(
        job("-s4b -b8K x").order,
        Order::Sequential {
            stride: Some(32768),
            ..
        }
    ));
    assert_eq!(job("-f1T x").region, Some(1 << 40));
}

#[test]
fn caching_forms() {
    for (line, direct, fua) in [
        ("-Su x", true, false),
        ("-S x", true, false),
        ("-Sw x", false, true),
        ("-Swu x", true, true),
        ("-Sh x", true, true),
        ("-h x", true, true),
        ("-Sb x", false, false),
        ("-Su -Sw x", true, true),
    ] {
        let job = job(line);
        assert_eq!((job.direct, job.durability.fua), (direct, fua), "{line}");
    }
}

#[test]
fn contents_forms() {
    assert_eq!(
        job("-Z x").data,
        WritePayload {
            compress_pct: 100,
            refill: false
        }
    );
    assert_eq!(
        job("-Zr x").data,
        WritePayload {
            compress_pct: 0,
            refill: true
        }
    );
    assert_eq!(
        job("-Z1M x").data,
        WritePayload {
            compress_pct: 0,
            refill: false
        }
    );
    assert_eq!(job("-b4K x").data.compress_pct, 93);
    assert_eq!(pattern_compress_pct(512), 46);
    assert_eq!(pattern_compress_pct(0), 0);
}

#[test]
fn limits_are_shared_by_the_mix() {
    assert_eq!(job("-g100 -w25 x").pace.rate_bytes, [75_000, 25_000, 0]);
    assert_eq!(job("-g1000i -w100 x").pace.rate_iops, [0, 1000, 0]);
    assert_eq!(job("-g1i -w1 x").pace.rate_iops, [1, 1, 0]);
}

#[test]
fn interlocked_threads_are_one_stream() {
    let job = job("-si -t4 -o8 -g10 -b4K x");
    assert_eq!((job.copies, job.depth), (1, 32));
    assert_eq!(job.pace.rate_bytes, [40_000, 0, 0]);
}

#[test]
fn threads_start_apart_with_capital_t() {
    let job = job("-T1M -t2 -b64K x");
    let mut stream = super::super::stream::JobStream::new(&job, 1, 4 << 20).unwrap();
    assert_eq!(stream.next_command().unwrap().offset, 1 << 20);
}

#[test]
fn seeds_and_reports() {
    assert_ne!(job("-z1 x").seed, job("-z2 x").seed);
    assert_eq!(job("-z0 x").seed, job("x").seed);
    assert_eq!(output("-D250 x").bucket_ms, Some(250));
    assert!(output("-Rpxml x").profile_only && output("-Rpxml x").xml);
}

/// A line, the message, the hint.
const BAD: &[(&str, &str, &str)] = &[
    (
        "-b4K -Q x",
        "DISKSPD command line, word 2: DISKSPD option `-Q` is not supported",
        "leave it out; see the list of supported options",
    ),
    (
        "-b 4K x",
        "DISKSPD command line, word 1: `-b` cannot be ``: a size is a number with K, M, G, T \
             or b (blocks), such as 4K",
        "write the value without a blank before it",
    ),
    (
        "-o0 x",
        "DISKSPD command line, word 1: `-o` cannot be `0`: it is a whole number from 1 to \
             65536",
        "",
    ),
    (
        "-b4000 x",
        "DISKSPD command line, word 1: `-b` cannot be `4000`: it is a multiple of 512 bytes",
        "",
    ),
    (
        "-d10 #1",
        "DISKSPD command line, word 2: `target` cannot be `#1`: a target is the path of a \
             file or a block device",
        "drives have names such as /dev/nvme0n1 or /dev/sda here; --target puts another in its \
         place",
    ),
    (
        "x -d10",
        "DISKSPD command line, word 2: `-d` cannot be `10`: it stands after a target",
        "options come before targets",
    ),
    (
        "-Sbu x",
        "DISKSPD command line, word 1: `-S` cannot be `bu`: caching has been said before",
        "say it once, such as -Suw",
    ),
    (
        "-r -s8K x",
        "DISKSPD command line: -r and -s contradict each other",
        "use one of them; with -rs, -r gives the alignment",
    ),
    (
        "-rdpct50/50 x",
        "DISKSPD command line: -rd without random commands",
        "add -r or -rs",
    ),
    (
        "-r -rdpct60/50:50/50 x",
        "DISKSPD command line, word 2: `-r` cannot be `dpct60/50:50/50`: parts are dpct<%>/<% of \
             the target>:... or dabs<%>/<size>:..., at most 100 % in sum",
        "for example -rdpct95/5:4/10",
    ),
    (
        "-F2 -t2 x",
        "DISKSPD command line: -F and -t contradict each other",
        "use one of them",
    ),
    (
        "-O2 x",
        "DISKSPD command line: -O without -F",
        "-O is for the threads of -F; otherwise use -o",
    ),
    (
        "-i5 x",
        "DISKSPD command line: -i and -j need each other",
        "give a burst and the pause after it",
    ),
    (
        "-Sr x",
        "DISKSPD command line, word 1: DISKSPD option `-Sr` is not supported",
        "use -Su or -Sh: there is no remote cache",
    ),
    (
        "-ysready x",
        "DISKSPD command line, word 1: DISKSPD option `-ysready` is not supported",
        "there are no named events of Windows here: start and stop the program itself",
    ),
    (
        "-c1G -B1G x",
        "DISKSPD command line: -B lies behind the end of -f or -c",
        "use a smaller base",
    ),
    (
        "-Xno-such-file.xml x",
        "reading DISKSPD profile no-such-file.xml: No such file or directory (os error 2)",
        "",
    ),
    (
        "-b4K",
        "DISKSPD command line: no target is named",
        "end the line with a file or a device such as /dev/nvme0n1",
    ),
    (
        "-",
        "DISKSPD command line, word 1: DISKSPD option `-` is not supported",
        "leave it out; see the list of supported options",
    ),
];

#[test]
fn bad_lines_say_what_and_where() {
    for (line, message, hint) in BAD {
        let error = plan(line).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.hint()),
            (*message, *hint),
            "{line}"
        );
    }
}

proptest! {
    #[test]
    fn no_words_panic(args in prop::collection::vec("[-/]?[a-zA-Z]?\\PC{0,6}", 0..6)) {
        let _ = parse(&args);
    }
}
