//! What reaches beyond one line of one job: surroundings, files, waiting, all errors at once.

use super::*;
use crate::stream::JobStream;

fn plan(text: &str) -> WorkloadPlan {
    parse(text, "job.fio").unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn jobs(text: &str) -> Vec<JobSpec> {
    let phases = plan(text).phases;
    phases.into_iter().flat_map(|phase| phase.jobs).collect()
}

fn error(text: &str) -> String {
    parse(text, "job.fio").unwrap_err().to_string()
}

fn here() -> Surroundings<'static> {
    Surroundings {
        variable: &|name| (name == "DEPTH").then(|| "16".to_owned()),
        keyword: &|name| match name {
            "pagesize" => Some(4096),
            "ncpus" => Some(8),
            "mb_memory" => Some(1000),
            _ => None,
        },
        file: &|name, by| match name {
            "mix.fio" => Ok(("mix.fio".to_owned(), "rwmixread=70\nbogus=1\n".to_owned())),
            "good.fio" => Ok((
                format!("{by}+"),
                "rwmixread=70\ninclude deep.fio".to_owned(),
            )),
            "deep.fio" => Ok(("deep.fio".to_owned(), "bs=8k".to_owned())),
            "section.fio" => Ok(("section.fio".to_owned(), "[a]".to_owned())),
            "circle.fio" => Ok(("circle.fio".to_owned(), "include circle.fio".to_owned())),
            _ => Err("no such file".to_owned()),
        },
        log: &|_| Err("no such log".to_owned()),
    }
}

#[test]
fn variables_and_keywords_are_replaced_and_calculated_as_fio_does() {
    for (line, depth, bs, size) in [
        ("iodepth=${DEPTH}", 16, 4096, None),
        ("iodepth=1${DEPTH}0", 1160, 4096, None),
        ("bs=$pagesize", 1, 4096, None),
        ("bs=$pagesize*2", 1, 8192, None),
        ("iodepth=$ncpus", 8, 4096, None),
        ("iodepth=2+$ncpus*${DEPTH}/4-1", 33, 4096, None),
        ("size=$mb_memory", 1, 4096, Some(1000)),
    ] {
        let plan = parse_in(&format!("[j]\n{line}\n"), "job.fio", &here()).unwrap();
        let job = &plan.phases[0].jobs[0];
        let found = (job.depth, job.block_sizes[0][0].bytes, job.region);
        assert_eq!(found, (depth, bs, size), "{line}");
    }
    let text = "[j]\nrw=${RW}\nbs=${RW\niodepth=$ncpus*x\nsize=$ncpu\ndescription=${RW} is free\n";
    let wrong = parse_in(text, "job.fio", &here()).unwrap_err().to_string();
    for part in [
        "4 errors",
        "job.fio:2: `rw` cannot be `${RW}`: the environment variable RW is not set",
        "job.fio:3: `bs` cannot be `${RW`: its `${` is not closed",
        "job.fio:4: `iodepth` cannot be `$ncpus*x`: `8*x` cannot be calculated",
        "job.fio:5: `size` cannot be `$ncpu`",
    ] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
    // A division by zero and an overflow are no panics.
    for sum in [
        "$ncpus/0",
        "1-$ncpus",
        "$ncpus*18446744073709551615",
        "$ncpus*",
        "*$ncpus",
    ] {
        assert!(
            parse_in(&format!("[j]\nsize={sum}\n"), "x", &here()).is_err(),
            "{sum}"
        );
    }
}

#[test]
fn this_machine_has_processors_memory_and_pages() {
    let keyword = Surroundings::here().keyword;
    let page = keyword("pagesize").unwrap();
    assert!(page.is_power_of_two() && page >= 4096, "{page}");
    assert!(keyword("ncpus").unwrap() >= 1 && keyword("mb_memory").unwrap() >= 16);
    assert_eq!(keyword("disks"), None);
}

#[test]
fn included_files_stand_where_they_are_included() {
    let text = "[global]\ninclude good.fio\n[j]\nrw=randrw\nrwmixread=60\n[k]\nrw=randrw\n";
    let phases = parse_in(text, "job.fio", &here()).unwrap().phases;
    let mixes: Vec<_> = phases[0].jobs.iter().map(|job| job.mix).collect();
    let of = |read_pct| crate::plan::Mix::ReadWrite { read_pct };
    assert_eq!(mixes, [of(60), of(70)]);
    assert_eq!(phases[0].jobs[0].block_sizes[0][0].bytes, 8192);
    let wrong = |text: &str| parse_in(text, "job.fio", &here()).unwrap_err().to_string();
    assert_eq!(
        wrong("[j]\ninclude mix.fio"),
        "mix.fio:2: fio option `bogus` is not supported"
    );
    assert!(wrong("[j]\ninclude section.fio").contains("no sections"));
    assert!(wrong("[j]\ninclude circle.fio").contains("include each other"));
    assert!(
        wrong("[j]\ninclude none.fio").starts_with("job.fio:2: `include` cannot be `none.fio`")
    );
}

#[test]
fn a_file_is_included_from_beside_the_including_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("a.fio"), "[j]\ninclude b.fio\n").unwrap();
    std::fs::write(path("b.fio"), "iodepth=3\n").unwrap();
    assert_eq!(read(&path("a.fio")).unwrap().phases[0].jobs[0].depth, 3);
}

#[test]
fn all_errors_of_a_file_come_at_once_each_once() {
    let text = "[global]\niodeph=4\n[a]\nverify=crc128\nrw=rad\nstray line\n[b]\nzonesize=1m\n";
    let text = error(text);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("  hint"))
        .collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert_eq!(lines[0], "5 errors");
    for part in [
        "job.fio:2: fio option `iodeph` is not supported\n  hint: did you mean `iodepth`?",
        "job.fio:4: `verify` cannot be `crc128`",
        "job.fio:5: `rw` cannot be `rad`",
        "job.fio:6: `line` cannot be `stray line`",
        "job.fio:7: job `b`: zones without a zonemode",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
}

#[test]
fn an_engine_that_is_no_block_i_o_is_refused_with_its_reason_alone() {
    for (engine, why) in [
        ("net", "over a network"),
        ("rbd", "storage cluster"),
        ("cpuio", "processor time"),
        ("libpmem", "persistent memory"),
        ("filecreate", "operations of a file system"),
        ("external:./a.o", "a program of its own"),
    ] {
        let text = error(&format!("[j]\nioengine={engine}\nport=8888\nhostname=x\n"));
        assert!(
            text.starts_with(&format!("job.fio:2: `ioengine` cannot be `{engine}`")),
            "{text}"
        );
        assert!(text.contains(why) && !text.contains("port"), "{text}");
    }
    assert!(error("[j]\nioengine=io_ring").contains("it is one of io_uring libaio"));
    // Errors of options that exist are reported beside it.
    assert!(error("[j]\nioengine=net\nbs=5q\n").starts_with("2 errors"));
}

#[test]
fn engines_that_wait_have_a_depth_of_one() {
    for (engine, depth) in [
        ("vsync", 1),
        ("pvsync2", 1),
        ("mmap", 1),
        ("sg", 1),
        ("io_uring_cmd", 8),
        ("posixaio", 8),
        ("libblkio", 8),
    ] {
        let text = format!("[j]\nioengine={engine}\niodepth=8\n");
        assert_eq!(jobs(&text)[0].depth, depth, "{engine}");
    }
}

#[test]
fn files_of_their_own_lie_one_after_another() {
    let text = "[global]\ndirectory=/data/\nsize=1m\n[a]\nnumjobs=2\n[b]\nnrfiles=4\n[c]\nname=a\n";
    let jobs = jobs(text);
    let places: Vec<_> = jobs
        .iter()
        .map(|job| {
            (
                job.target.as_deref().unwrap(),
                job.offset >> 20,
                job.steps.copy >> 20,
            )
        })
        .collect();
    // The third job has the first one's name, and so its file.
    assert_eq!(
        places,
        [
            ("/data/a.0.0", 0, 1),
            ("/data/b.0.0", 2, 0),
            ("/data/a.0.0", 0, 0)
        ]
    );
    let several: Vec<bool> = jobs.iter().map(|job| job.steps.several_files).collect();
    assert_eq!(several, [true, true, false]);
    assert_eq!(jobs[1].steps.files, 4);
    let mut stream = JobStream::new(&jobs[1], 0, 4 << 20).unwrap();
    let offsets: Vec<u64> = (0..5)
        .map(|_| stream.next_command().unwrap().offset >> 10)
        .collect();
    assert_eq!(offsets, [2048, 2304, 2560, 2816, 2052]);
    let mut second = JobStream::new(&jobs[0], 1, 4 << 20).unwrap();
    assert_eq!(second.next_command().unwrap().offset, 1 << 20);
}

#[test]
fn the_same_name_is_the_same_file() {
    let place = |lines: &str| {
        let job = jobs(&format!("[j]\nsize=1m\nnumjobs=3\n{lines}\n")).remove(0);
        (
            job.target,
            job.offset,
            job.steps.copy,
            job.steps.several_files,
        )
    };
    let target = |name: &str| Some(name.to_owned());
    assert_eq!(place("filename=a"), (target("a"), 0, 0, false));
    assert_eq!(
        place("directory=d\nfilename=a"),
        (target("d/a"), 0, 0, false)
    );
    assert_eq!(
        place("filename_format=x.$filenum"),
        (target("x.0"), 0, 0, false)
    );
    assert_eq!(
        place("filename_format=x.$jobnum"),
        (target("x.0"), 0, 1 << 20, true)
    );
    assert_eq!(place("filename=a:b"), (target("a"), 0, 0, true));
    assert_eq!(place(""), (None, 0, 0, false));
}

#[test]
fn files_that_cannot_be_laid_out_are_refused() {
    for (text, part) in [
        (
            "[j]\ndirectory=d\nnumjobs=2",
            "several files whose sizes are not known",
        ),
        (
            "[j]\nfilename=/dev/sda:/dev/sdb\nsize=100%",
            "several files whose sizes are not known",
        ),
        ("[j]\nnrfiles=3\nsize=10k", "cannot be laid out"),
        (
            "[j]\nnrfiles=2\nsize=1m\noffset=4k",
            "an offset in each of several files",
        ),
        (
            "[j]\nnrfiles=4096\nnumjobs=17\nsize=1g",
            "more than 65,536 files",
        ),
        (
            "[j]\nfilename=a::b\nsize=1m",
            "the path of a file or device",
        ),
    ] {
        assert!(error(text).contains(part), "{text}: {}", error(text));
    }
    // Two devices of unknown size are the whole target each, as one is.
    assert_eq!(
        jobs("[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n")[1].offset,
        0
    );
}

#[test]
fn waiting_for_a_job_begins_a_phase_where_that_is_the_same() {
    let names = |text: &str| -> Vec<usize> {
        plan(text)
            .phases
            .iter()
            .map(|phase| phase.jobs.len())
            .collect()
    };
    assert_eq!(
        names("[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\nwait_for=a\n"),
        [1, 1, 2]
    );
    assert!(error("[a]\n[x]\n[b]\nwait_for=a\n").contains("other jobs run beside that one"));
    assert!(error("[a]\n[b]\nwait_for=z\n").contains("no job above has this name"));
    assert_eq!(names("[a]\n[x]\n[b]\nwait_for=a\nstonewall\n"), [2, 1]);
}

#[test]
fn loops_and_numbers_of_commands_limit_the_bytes() {
    let limit = |lines: &str| {
        let job = jobs(&format!("[j]\n{lines}\n")).remove(0);
        (job.io_limit, job.shares.io_limit)
    };
    assert_eq!(limit("size=1m\nloops=3"), (Some(3 << 20), None));
    assert_eq!(limit("loops=3"), (None, Some(300)));
    assert_eq!(limit("size=50%\nloops=3"), (None, Some(300)));
    assert_eq!(limit("size=1m\nio_size=4m\nloops=2"), (Some(8 << 20), None));
    assert_eq!(limit("size=1m\nnumber_ios=10"), (Some(40_960), None));
    assert_eq!(limit("size=8k\nnumber_ios=10"), (Some(8192), None));
    assert_eq!(
        limit("number_ios=10\nbs=8k\nloops=2"),
        (Some(163_840), Some(200))
    );
    // What is smaller holds: of 10 commands, two passes over 16 KiB are 8.
    let job = jobs("[j]\nnumber_ios=10\nloops=2\n").remove(0);
    let mut stream = JobStream::new(&job, 0, 16 << 10).unwrap();
    assert_eq!(std::iter::from_fn(|| stream.next_command()).count(), 8);
    assert!(error("[j]\nnumber_ios=1\nbssplit=4k/50:8k/50").contains("several sizes"));
}

#[test]
fn options_without_effect_are_named() {
    let text = "[j]\nioengine=io_uring\nnuma_cpu_nodes=0\nnice=3\nhipri\ngroup_reporting\n";
    assert_eq!(
        notes(&plan(text)),
        ["job `j`: without effect here: numa_cpu_nodes, nice, hipri"]
    );
    let moot = supported_options()
        .iter()
        .filter(|option| options::is_moot(option.name));
    for option in moot {
        let with = jobs(&format!("[j]\nrw=randrw\n{}=1\n", option.name)).remove(0);
        let without = jobs("[j]\nrw=randrw\n").remove(0);
        let shown = |job: &JobSpec| {
            format!(
                "{:?}",
                JobSpec {
                    options: Vec::new(),
                    ..job.clone()
                }
            )
        };
        assert_eq!(shown(&with), shown(&without), "{}", option.name);
        assert!(
            option.what.starts_with("without effect here: "),
            "{}",
            option.name
        );
    }
}

#[test]
fn zones_may_leave_shares_open_and_lfsr_visits_each_block_once() {
    use crate::plan::{Distribution, Order};
    let order = |lines: &str| {
        jobs(&format!("[j]\nrw=randread\n{lines}\n"))
            .remove(0)
            .order
    };
    let zones = |text: &str| match order(&format!("random_distribution=zoned:{text}")) {
        Order::Random {
            distribution: Distribution::Zoned { zones },
            ..
        } => zones,
        other => panic!("{other:?}"),
    };
    assert_eq!(zones("50/5:30/15:20/"), [(50, 5), (30, 15), (20, 80)]);
    assert_eq!(zones("50/20:/:/40"), [(50, 20), (25, 40), (25, 40)]);
    let lfsr = order("random_generator=lfsr\nnorandommap");
    assert!(matches!(
        lfsr,
        Order::Random {
            each_once: true,
            ..
        }
    ));
    let plain = order("random_generator=tausworthe64\nnorandommap");
    assert!(matches!(
        plain,
        Order::Random {
            each_once: false,
            ..
        }
    ));
}
