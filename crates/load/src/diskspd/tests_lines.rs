//! Lines as others write them: every one is accepted and means what it says, or is refused with
//! its reason.

use super::*;
use crate::plan::{Distribution, JobSpec, Mix, Order};
use crate::stream::JobStream;

fn plan(line: &str) -> Result<WorkloadPlan, LabError> {
    let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&args)
}

fn jobs(line: &str) -> Vec<JobSpec> {
    let plan = plan(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    plan.phases
        .into_iter()
        .flat_map(|phase| phase.jobs)
        .collect()
}

/// A line in a few words: what `JobSpec::what` says, and where.
fn said(line: &str) -> String {
    let job = &jobs(line)[0];
    let place = match (job.offset, job.region) {
        (0, None) => String::new(),
        (from, None) => format!(" from {from}"),
        (from, Some(region)) => format!(" from {from}, {region} bytes"),
    };
    format!("{}{place}", job.what())
}

/// The examples of the program's own help (CmdLineParser.cpp, 2.2) and of the page "Sample command
/// lines" of its wiki (Nov 2023).
const DOCUMENTED: &[(&str, &str)] = &[
    (
        "diskspd -c8192K -d1 testfile.dat",
        "read 64 KiB, depth 2 from 0, 8388608 bytes",
    ),
    (
        "diskspd -b4K -t2 -r -o32 -d10 -Sh testfile.dat",
        "randread 4 KiB, depth 32 x 2, each write durable",
    ),
    (
        "diskspd -c1G -b4K -t2 -d10 -a0,1 testfile1.dat testfile2.dat",
        "read 4 KiB, depth 2 x 2 from 0, 1073741824 bytes",
    ),
    (
        "diskspd -c2G -b4K -F8 -r -o32 -W60 -d60 -Sh testfile.dat",
        "randread 4 KiB, depth 32 x 8, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c2G -w100 -b4K -F8 -r -o32 -W60 -d60 -Sh testfile.dat",
        "randwrite 4 KiB, depth 32 x 8, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c2G -b4K -r -o1 -W60 -d60 -Sh testfile.dat",
        "randread 4 KiB, depth 1, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c2G -w100 -b4K -r -o1 -W60 -d60 -Sh testfile.dat",
        "randwrite 4 KiB, depth 1, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c2G -b4K -F8 -T1b -s8b -o32 -W60 -d60 -Sh testfile.dat",
        "read 4 KiB, depth 32 x 8, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c2G -w100 -b4K -F8 -T1b -s8b -o32 -W60 -d60 -Sh testfile.dat",
        "write 4 KiB, depth 32 x 8, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c2G -b4K -o1 -W60 -d60 -Sh testfile.dat",
        "read 4 KiB, depth 1, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c2G -w100 -b4K -o1 -W60 -d60 -Sh testfile.dat",
        "write 4 KiB, depth 1, each write durable from 0, 2147483648 bytes",
    ),
    (
        "diskspd -c100b -b4K -o32 -F8 -T1b -s8b -W60 -d60 -Sh testfile.dat",
        "read 4 KiB, depth 32 x 8, each write durable from 0, 409600 bytes",
    ),
    (
        "diskspd -c100b -w100 -b4K -o32 -F8 -T1b -s8b -W60 -d60 -Sh testfile.dat",
        "write 4 KiB, depth 32 x 8, each write durable from 0, 409600 bytes",
    ),
    // The examples of single options in the help.
    (
        "-r -rdpct90/10:0/10:5/20 x",
        "randread 64 KiB, depth 2, zoned",
    ),
    (
        "-r -rdabs90/10G:0/10G:5/20G x",
        "randread 64 KiB, depth 2, zoned",
    ),
    ("-ag0,0,1,2,g1,0,1,2 x", "read 64 KiB, depth 2"),
    ("-ag0,0,1,2 -ag1,0,1,2 x", "read 64 KiB, depth 2"),
    ("-Sbw x", "read 64 KiB, depth 2, each write durable"),
    (
        "-eDISK_IO -eMEMORY_PAGE_FAULTS -b4K x",
        "read 4 KiB, depth 2",
    ),
    ("-frs -z -v -l -x -n -I1 -P x", "read 64 KiB, depth 2"),
    ("-B5g -b8k x", "read 8 KiB, depth 2 from 5368709120"),
    (
        "-B1g -f3g x",
        "read 64 KiB, depth 2 from 1073741824, 2147483648 bytes",
    ),
    (
        "-Sm -w100 -Nv -o8 x",
        "write 64 KiB, depth 1, a flush after each write",
    ),
    ("-p -o8 -t2 x", "read 64 KiB, depth 1 x 16"),
    // The wiki's page "Customizing tests", with the traced events of its tables.
    (
        "diskspd -F2 -o2 file1 file2 file3 file4 file5",
        "read 64 KiB, depth 2 x 2",
    ),
    (
        "diskspd -F2 -O4 file1 file2 file3 file4 file5",
        "read 64 KiB, depth 4 x 2 with the other targets",
    ),
    (
        "diskspd -t2 -o2 file1 file2 file3 file4 file5",
        "read 64 KiB, depth 2 x 2",
    ),
    (
        "diskspd -t3 -T4k -b4k -s12k C:\\testfile",
        "read 4 KiB, depth 2 x 3",
    ),
    (
        "diskspd -t3 -T1b -b4K -s3b c:\\testfile",
        "read 4 KiB, depth 2 x 3",
    ),
    (
        "diskspd -c3G -t3 -T1G -b4K -s c:\\testfile",
        "read 4 KiB, depth 2 x 3 from 0, 3221225472 bytes",
    ),
    (
        "diskspd -c3G -t3 -T13k -b4K -s c:\\testfile",
        "read 4 KiB, depth 2 x 3 from 0, 3221225472 bytes",
    ),
    (
        "diskspd -t1 -o1 -s8k -b8k -Sh -w100 -g80 c:\\test1",
        "write 8 KiB, depth 1, each write durable, rate limited",
    ),
    (
        "diskspd -t1 -o1 -s8k -b8k -Sh -w100 -g80 c:\\test1 c:\\test2",
        "write 8 KiB, depth 1, each write durable, rate limited",
    ),
    (
        "diskspd -t2 -o1 -s8k -b8k -Sh -w100 -g80 c:\\test1 c:\\test2",
        "write 8 KiB, depth 1 x 2, each write durable, rate limited",
    ),
    (
        "diskspd -c100M -d20 c:\\test1 d:\\test2",
        "read 64 KiB, depth 2 from 0, 104857600 bytes",
    ),
    (
        "diskspd -eDISK_IO -eREGISTRY testfile.dat",
        "read 64 KiB, depth 2",
    ),
    (
        "diskspd -eDISK_IO -eMEMORY_PAGE_FAULTS testfile.dat",
        "read 64 KiB, depth 2",
    ),
    (
        "-ep -ePROCESS -eTHREAD -eIMAGE_LOAD -eMEMORY_HARD_FAULTS -eNETWORK -b4K x",
        "read 4 KiB, depth 2",
    ),
    ("-eq -b4K x", "read 4 KiB, depth 2"),
    ("-ec -b4K x", "read 4 KiB, depth 2"),
    ("-es -b4K x", "read 4 KiB, depth 2"),
    // Lines of "Sample command lines" with distributions, limits and profiles.
    (
        "diskspd -c1G -b4K -r -o32 -w0 -d60 -Sh -rdpct90/10:0/10:5/20 testfile.dat",
        "randread 4 KiB, depth 32, zoned, each write durable from 0, 1073741824 bytes",
    ),
    (
        "diskspd -c1G -b4K -r -o32 -t1 -w0 -d60 -Sh -rdabs90/10G:0/10G:5/20G testfile.dat",
        "randread 4 KiB, depth 32, zoned, each write durable from 0, 1073741824 bytes",
    ),
    (
        "diskspd -c1G -b4K -o32 -t1 -w50 -g1000i -d60 -Sh testfile.dat",
        "rw 50/50 4 KiB, depth 32, each write durable, rate limited from 0, 1073741824 bytes",
    ),
    (
        "diskspd -t1 -o4 -b4k -r4k -w0 -Sh -D -d60 -L -c1G -Rpxml *1 *2",
        "randread 4 KiB, depth 4, each write durable from 0, 1073741824 bytes",
    ),
    // Options of the help of 2.2 and later.
    (
        "-B1g:2g x",
        "read 64 KiB, depth 2 from 1073741824, 2147483648 bytes",
    ),
    ("-bsn -b8K x", "read 8 KiB, depth 2"),
    ("-oc16 -o8 x", "read 64 KiB, depth 8"),
    ("-Suy x", "read 64 KiB, depth 2"),
    ("-ub50 -u x", "read 64 KiB, depth 2"),
    ("-vs -Rptext x", "read 64 KiB, depth 2"),
    ("-rs30 x", "randread 64 KiB, depth 2, 30 % random"),
    ("-rs0 x", "read 64 KiB, depth 2"),
];

/// VMFleet (Frameworks/VMFleet of microsoft/diskspd): run-7030.ps1, run-9010.ps1, run-100r.ps1,
/// run.ps1, run-sweeptemplate.ps1 with values, and what Profile.psm1 derives its profiles from.
const VMFLEET: &[(&str, &str)] = &[
    (
        "diskspd.exe -n -h -t8 -o20 -b4k -r4k -w30 -W10 -d60 -C10 -D -L testfile1.dat",
        "randrw 70/30 4 KiB, depth 20 x 8, each write durable",
    ),
    (
        "diskspd.exe -n -h -t8 -o20 -b4k -r4k -w10 -W10 -d60 -C10 -D -L testfile1.dat",
        "randrw 90/10 4 KiB, depth 20 x 8, each write durable",
    ),
    (
        "diskspd.exe -n -h -t8 -o20 -b4k -r4k -w0 -W10 -d60 -C10 -D -L testfile1.dat",
        "randread 4 KiB, depth 20 x 8, each write durable",
    ),
    (
        "diskspd.exe -h -t1 -o64 -b4k -r4k -w0 -W60 -C30 -d60 -D -L -Rxml testfile1.dat",
        "randread 4 KiB, depth 64, each write durable",
    ),
    (
        "diskspd.exe -Z20M -z -h -t2 -o16 -g40 -b4k -si4k -w0 -W120 -C30 -d120 -D -L -Rxml f.dat",
        "read 4 KiB, depth 32, each write durable, rate limited",
    ),
    (
        "-t1 -b4k -o32 -w0 -r -Suw -D -L -Z10m *1",
        "randread 4 KiB, depth 32, each write durable",
    ),
    (
        "-t1 -o8 -b32k -w100 -g6i -rs20 -rdpct95/5:4/10 -Z10m -f10g *1",
        "randwrite 32 KiB, depth 8, zoned, 20 % random, rate limited from 0, 10737418240 bytes",
    ),
    (
        "-t1 -o8 -b8k -w0 -g6i -rs80 -rdpct95/5:4/10 -f8g *1",
        "randread 8 KiB, depth 8, zoned, 80 % random, rate limited from 0, 8589934592 bytes",
    ),
    (
        "-t4 -o32 -r -b8k -g1500i -w30 -rdpct95/5:4/10 -B5g -Z10m *1",
        "randrw 70/30 8 KiB, depth 32 x 4, zoned, rate limited from 5368709120",
    ),
    (
        "-t1 -o1 -s -b32k -g300i -w100 -f5g -Z10m *1",
        "write 32 KiB, depth 1, rate limited from 0, 5368709120 bytes",
    ),
];

/// What CrystalDiskMark 8 hands to its copy of DISKSPD (DiskBench.cpp, DiskSpd()), for its default
/// tests.
const CRYSTALDISKMARK: &[(&str, &str)] = &[
    (
        "-b1024K -o8 -t1 -W0 -S -w0 -n -d5 -A1234 -L x",
        "read 1 MiB, depth 8",
    ),
    (
        "-b1024K -o1 -t1 -W0 -S -w100 -Z1024K -n -d5 -A1234 -L x",
        "write 1 MiB, depth 1",
    ),
    (
        "-b4K -o32 -t16 -W0 -S -w0 -r -ag -d5 -A1234 -L x",
        "randread 4 KiB, depth 32 x 16",
    ),
    (
        "-b4K -o1 -t1 -W0 -S -w30 -r -Z4K -n -d5 -A1234 -L x",
        "randrw 70/30 4 KiB, depth 1",
    ),
];

#[test]
fn documented_lines_mean_what_they_say() {
    for (line, expected) in DOCUMENTED.iter().chain(VMFLEET).chain(CRYSTALDISKMARK) {
        assert_eq!(said(line), *expected, "{line}");
    }
}

/// Lines of the documentation that need Windows, or that DISKSPD refuses too (`-s` with `-rs`, no
/// target), or that are not supported.
#[test]
fn other_lines_of_the_documentation_say_why_not() {
    for (line, part) in [
        ("-ysMyTestStartedEvent -yfended x", "named events"),
        ("-yfMyTestFinishedEvent x", "named events"),
        ("-yrMyStartEvent x", "named events"),
        ("-ypMyStopEvent x", "named events"),
        ("-yeMyStartEvent", "named events"),
        ("-Srw x", "remote cache"),
        ("diskspd -b8K -B10b #1", "/dev/nvme0n1"),
        (
            "diskspd -c1G -b4K -o32 -t1 -s8b -w50 -rs20 -d60 -Sh testfile.dat",
            "-r gives the alignment",
        ),
        (
            "diskspd -t1 -o4 -b4k -r4k -w0 -Sh -D -d60 -L -c1G -Rptext",
            "end the line with a file",
        ),
        ("-Rs", "ssdlab inspect"),
        ("-?", "ssdlab list options diskspd"),
        ("-B1g:2g -f4g x", "either -f or -B"),
        ("-Sr x", "remote cache"),
        ("-d10 #1", "/dev/nvme0n1"),
        ("-d10 X:", "/dev/nvme0n1"),
    ] {
        let error = plan(line).unwrap_err();
        assert!(error.hint().contains(part), "{line}: {}", error.hint());
    }
}

/// The help's own example: 90 % in the first tenth, none in the second, 5 % in the next fifth, and
/// the rest in the remainder.
#[test]
fn a_distribution_goes_where_it_says() {
    for line in [
        "-b4K -r -rdpct90/10:0/10:5/20 x",
        "-b4K -r -rdabs90/10M:0/10M:5/20M x",
    ] {
        let mut stream = JobStream::new(&jobs(line)[0], 0, 100 << 20).unwrap();
        let mut counts = [0u32; 4];
        for _ in 0..100_000 {
            let at = stream.next_command().unwrap().offset >> 20;
            counts[match at {
                0..10 => 0,
                10..20 => 1,
                20..40 => 2,
                _ => 3,
            }] += 1;
        }
        let near = |count: u32, expected: u32| count.abs_diff(expected) < 600;
        assert_eq!(counts[1], 0, "{line}");
        assert!(
            near(counts[0], 90_000) && near(counts[2], 5_000),
            "{line}: {counts:?}"
        );
        assert!(near(counts[3], 5_000), "{line}: {counts:?}");
    }
}

/// The help: if the target is only 20 GiB, all goes to the first 10.
#[test]
fn a_distribution_is_cut_off_at_the_end_of_the_target() {
    let job = &jobs("-b4K -r -rdabs90/10M:0/10M:5/20M x")[0];
    let mut stream = JobStream::new(job, 0, 20 << 20).unwrap();
    assert!((0..10_000).all(|_| stream.next_command().unwrap().offset < 10 << 20));
}

/// `-p`: each outstanding command goes through the target on its own, from the same place.
#[test]
fn parallel_commands_each_go_through_the_target() {
    let job = &jobs("-p -o2 -b4K -g100 x")[0];
    assert_eq!((job.copies, job.depth), (2, 1));
    for copy in 0..2 {
        let mut stream = JobStream::new(job, copy, 1 << 20).unwrap();
        let offsets: Vec<u64> = (0..3)
            .map(|_| stream.next_command().unwrap().offset)
            .collect();
        assert_eq!(offsets, [0, 4096, 8192]);
    }
    assert_eq!(job.pace.rate_bytes, [50_000, 0, 0]);
}

#[test]
fn bursts_are_commands_and_a_pause_after_them() {
    let job = &jobs("-i4 -j20 x")[0];
    assert_eq!(job.pace.think_blocks, 4);
    assert_eq!(job.pace.think, ssdlab_ssd::Nanos::from_millis(20));
}

#[test]
fn threads_of_f_share_o_over_the_targets() {
    let found = jobs("-F3 -O7 -b4K a b");
    let shape = |job: &JobSpec| (job.copies, job.depth, job.ties.shares_depth);
    let shapes: Vec<_> = found.iter().map(shape).collect();
    assert_eq!(shapes, [(3, 7, true), (3, 7, true)]);
    // One target gets them all.
    assert_eq!(shape(&jobs("-F3 -O7 -b4K a")[0]), (3, 7, false));
}

#[test]
fn contents_of_a_file_are_as_compressible_as_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("source.bin");
    std::fs::write(&path, vec![7u8; 1 << 20]).unwrap();
    let found = jobs(&format!("-w100 -Z1M,{} x", path.display()));
    assert_eq!(found[0].data.compress_pct, 99);
    let error = plan("-w100 -Z1M,/no/such/file x").unwrap_err().to_string();
    assert!(error.contains("/no/such/file"), "{error}");
    // The same by a profile.
    let profile = directory.path().join("source.xml");
    let size = "<SizeInBytes>10485760</SizeInBytes>";
    let named = |path: &str| SQL.replace(size, &format!("{size}<FilePath>{path}</FilePath>"));
    std::fs::write(&profile, named(&path.to_string_lossy())).unwrap();
    let line = format!("-X{} x", profile.display());
    assert_eq!(jobs(&line)[0].data.compress_pct, 99);
    std::fs::write(&profile, named("/no/such/file")).unwrap();
    let error = plan(&line).unwrap_err().to_string();
    assert!(error.contains("/no/such/file"), "{error}");
}

/// VMFleet's SQL profile, as elements, against the lines from which it is derived.
const SQL: &str = r#"<?xml version="1.0"?>
<Profile><Progress>0</Progress><ResultFormat>xml</ResultFormat><Verbose>false</Verbose>
<TimeSpans><TimeSpan><CompletionRoutines>false</CompletionRoutines>
<MeasureLatency>true</MeasureLatency><CalculateIopsStdDev>true</CalculateIopsStdDev>
<DisableAffinity>false</DisableAffinity><Duration></Duration><Warmup></Warmup>
<Cooldown></Cooldown><IoBucketDuration>1000</IoBucketDuration><RandSeed>0</RandSeed>
<Targets>
<Target><Path>*1</Path><BlockSize>8192</BlockSize><BaseFileOffset>5368709120</BaseFileOffset>
<MaxFileSize>0</MaxFileSize><DisableOSCache>true</DisableOSCache><WriteThrough>true</WriteThrough>
<WriteBufferContent><Pattern>random</Pattern><RandomDataSource><SizeInBytes>10485760</SizeInBytes>
</RandomDataSource></WriteBufferContent><Random>8192</Random>
<Distribution><Percent><Range IO="95">5</Range><Range IO="4">10</Range></Percent></Distribution>
<ThreadStride>0</ThreadStride><RequestCount>32</RequestCount><WriteRatio>30</WriteRatio>
<Throughput unit="IOPS">1500</Throughput><ThreadsPerFile>4</ThreadsPerFile>
<IOPriority>3</IOPriority></Target>
<Target><Path>*1</Path><BlockSize>32768</BlockSize><BaseFileOffset>0</BaseFileOffset>
<MaxFileSize>5368709120</MaxFileSize><DisableOSCache>true</DisableOSCache>
<WriteThrough>true</WriteThrough><WriteBufferContent><Pattern>random</Pattern><RandomDataSource>
<SizeInBytes>10485760</SizeInBytes></RandomDataSource></WriteBufferContent>
<StrideSize>32768</StrideSize><ThreadStride>0</ThreadStride><RequestCount>1</RequestCount>
<WriteRatio>100</WriteRatio><Throughput unit="IOPS">300</Throughput>
<ThreadsPerFile>1</ThreadsPerFile><IOPriority>3</IOPriority></Target>
</Targets></TimeSpan></TimeSpans></Profile>"#;

#[test]
fn a_profile_means_what_its_lines_mean() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sql.xml");
    std::fs::write(&path, SQL).unwrap();
    let line = format!("-X{} -d60 -W300 -C30 -Rxml data.bin", path.display());
    let profile = jobs(&line);
    let times = "-d60 -W300 -C30 -Suw";
    let lines = [
        format!("{times} -t4 -o32 -r -b8k -g1500i -w30 -rdpct95/5:4/10 -B5g -Z10m data.bin"),
        format!("{times} -t1 -o1 -s -b32k -g300i -w100 -f5g -Z10m data.bin"),
    ];
    assert_eq!(profile.len(), 2);
    for (at, (profile, line)) in profile.iter().zip(&lines).enumerate() {
        let mut expected = jobs(line)[0].clone();
        // The second target of a profile has choices of its own.
        if at == 1 {
            assert_ne!(profile.seed, expected.seed);
        }
        (expected.seed, expected.options) = (profile.seed, profile.options.clone());
        assert_eq!(format!("{profile:?}"), format!("{expected:?}"), "{line}");
    }
    // Without a target on the line, *1 stands for nothing; an element that is unknown says so.
    let error = plan(&format!("-X{}", path.display())).unwrap_err();
    assert!(error.to_string().contains("*1"), "{error}");
    std::fs::write(&path, SQL.replace("StrideSize", "StrideSizes")).unwrap();
    let error = plan(&line).unwrap_err().to_string();
    assert!(error.contains("`StrideSizes` is not supported"), "{error}");
    std::fs::write(&path, "<Profile><TimeSpans>").unwrap();
    assert!(plan(&line).is_err());
}

/// The targets of VMFleet's profiles Peak (without and with -Random), General and VDI, each with
/// the line that its source names.
const TEMPLATES: &[(&str, &str)] = &[
    ("", "-t1 -b4k -o32 -w0"),
    ("<Random>4096</Random>", "-t1 -b4k -o32 -w0 -r"),
    (
        "<Distribution><Percent><Range IO=\"95\">5</Range><Range IO=\"4\">10</Range></Percent>\
         </Distribution>",
        "-t1 -b4k -o32 -w0 -r -rdpct95/5:4/10",
    ),
    (
        "<BlockSize>32768</BlockSize><MaxFileSize>10737418240</MaxFileSize><Random>32768</Random>\
         <RandomRatio>20</RandomRatio><Distribution><Percent><Range IO=\"95\">5</Range>\
         <Range IO=\"4\">10</Range></Percent></Distribution><RequestCount>8</RequestCount>\
         <WriteRatio>100</WriteRatio><Throughput unit=\"IOPS\">6</Throughput>",
        "-t1 -o8 -b32k -w100 -g6i -rs20 -rdpct95/5:4/10 -f10g",
    ),
    (
        "<BlockSize>8192</BlockSize><MaxFileSize>8589934592</MaxFileSize><Random>8192</Random>\
         <RandomRatio>80</RandomRatio><Distribution><Percent><Range IO=\"95\">5</Range>\
         <Range IO=\"4\">10</Range></Percent></Distribution><RequestCount>8</RequestCount>\
         <WriteRatio>0</WriteRatio><Throughput unit=\"IOPS\">6</Throughput>",
        "-t1 -o8 -b8k -w0 -g6i -rs80 -rdpct95/5:4/10 -f8g",
    ),
];

#[test]
fn vmfleet_templates_mean_what_their_lines_mean() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("template.xml");
    for (elements, line) in TEMPLATES {
        let own = |name: &str, text: &str| {
            if elements.contains(&format!("<{name}>")) {
                String::new()
            } else {
                format!("<{name}>{text}</{name}>")
            }
        };
        let common = [("BlockSize", "4096"), ("RequestCount", "32")]
            .map(|(name, text)| own(name, text))
            .concat();
        let xml = format!(
            "<Profile><Progress>0</Progress><ResultFormat>xml</ResultFormat><Verbose>false\
             </Verbose><TimeSpans><TimeSpan><Duration></Duration><Warmup></Warmup><Cooldown>\
             </Cooldown><Targets><Target><Path>*1</Path><DisableOSCache>true</DisableOSCache>\
             <WriteThrough>true</WriteThrough><WriteBufferContent><Pattern>random</Pattern>\
             <RandomDataSource><SizeInBytes>10485760</SizeInBytes></RandomDataSource>\
             </WriteBufferContent><ThreadStride>0</ThreadStride><ThreadsPerFile>1\
             </ThreadsPerFile><IOPriority>3</IOPriority>{common}{elements}</Target></Targets>\
             </TimeSpan></TimeSpans></Profile>"
        );
        std::fs::write(&path, xml).unwrap();
        let profile = jobs(&format!("-X{} -d60 data.bin", path.display())).remove(0);
        let mut expected = jobs(&format!("-d60 -Suw -Z10m {line} data.bin")).remove(0);
        expected.options.clone_from(&profile.options);
        assert_eq!(format!("{profile:?}"), format!("{expected:?}"), "{line}");
    }
}

/// CrystalDiskMark 8's own default and NVMe settings (DiskMarkDlg.cpp, SettingsQueuesThreads): KiB,
/// queues, threads; what is of 4 KiB is random.
#[test]
fn crystaldiskmark_profiles_have_its_settings() {
    let default = [(1024, 8, 1), (1024, 1, 1), (4, 32, 1), (4, 1, 1)];
    let nvme = [(1024, 8, 1), (128, 32, 1), (4, 32, 16), (4, 1, 1)];
    let named = [("crystaldiskmark", default), ("crystaldiskmark-nvme", nvme)];
    for (name, settings) in named {
        let plan = crate::profiles::WorkloadProfile::named(name).unwrap();
        let plan = plan.plan(None, None).unwrap();
        let mut found = Vec::new();
        // The first job writes the file.
        for job in plan.phases.iter().flat_map(|phase| &phase.jobs).skip(1) {
            let kib = job.block_sizes[usize::from(job.mix == Mix::Write)][0].bytes / 1024;
            let setting = (kib, job.depth, job.copies);
            let random = matches!(job.order, Order::Random { .. });
            assert_eq!(random, kib == 4, "{name}: {setting:?}");
            assert_eq!(job.region, Some(1 << 30), "{name}: its test size");
            if !found.contains(&setting) {
                found.push(setting);
            }
        }
        let mut expected = settings.to_vec();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn distributions_of_options_and_profiles_are_the_same() {
    let of = |line: &str| match &jobs(line)[0].order {
        Order::Random { distribution, .. } => distribution.clone(),
        other => panic!("{other:?}"),
    };
    let expected = Distribution::Zoned {
        zones: vec![(95, 5), (4, 10), (1, 85)],
    };
    assert_eq!(of("-r -rdpct95/5:4/10 x"), expected);
    assert_eq!(
        super::switches::distribution("pct95/5:4/10").unwrap(),
        expected
    );
}
