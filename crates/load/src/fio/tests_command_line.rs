//! Command lines, and options that mean something at a job's end or to its queue.

use super::*;
use crate::follow::FollowUpStream;
use crate::plan::JobSpec;
use crate::plan::Mix;
use ssdlab_ssd::Op;

fn line(text: &str) -> Result<(WorkloadPlan, Vec<String>), LabError> {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let surroundings = Surroundings {
        file: &|name, _| match name {
            "a.fio" => Ok((name.to_owned(), "[a]\nrw=read\nsize=1m\n".to_owned())),
            "b.fio" => Ok((name.to_owned(), "[b]\nrw=read\nsize=1m\n".to_owned())),
            _ => Err("no such file".to_owned()),
        },
        ..Surroundings::none()
    };
    parse_command_line(&words, &surroundings)
}

fn jobs(text: &str) -> Vec<JobSpec> {
    let (plan, _) = line(text).unwrap();
    plan.phases
        .into_iter()
        .flat_map(|phase| phase.jobs)
        .collect()
}

fn job(lines: &str) -> JobSpec {
    let plan = parse(&format!("[j]\n{}\n", lines.replace(' ', "\n")), "job.fio").unwrap();
    plan.phases[0].jobs[0].clone()
}

/// Kind, offset and length of the first commands.
fn commands(job: &JobSpec) -> Vec<(Op, u64, u32)> {
    let mut stream = FollowUpStream::new(job, 0, 1 << 30).unwrap();
    let command = || stream.next_command().map(|c| (c.op, c.offset, c.len));
    std::iter::from_fn(command).take(5000).collect()
}

/// `fio --showcmd` makes a job of the name in a global section: fio asks such a job for a size.
#[test]
fn a_job_without_file_and_size_beside_one_with_a_file_is_refused() {
    let error = line("fio --name=g --rw=read --bs=256k --name=f --size=8m --filename=x");
    let error = error.expect_err("no size");
    assert!(error.to_string().contains("job `g`"), "{error}");
    assert!(error.advice().contains("--showcmd"), "{}", error.advice());
    for good in [
        "fio --filename=x --name=g --rw=read --name=f --size=8m",
        "fio --name=g --rw=read --size=1m --name=f --size=8m --filename=x",
        "fio --name=g --rw=randread --name=f --rw=write",
    ] {
        assert_eq!(jobs(good).len(), 2, "{good}");
    }
}

/// Ten kinds of job, as fio's side-by-side jobs have them.
#[test]
fn a_command_line_has_the_commands_of_the_job_file() {
    for lines in [
        "rw=randread bs=4k size=4m",
        "rw=write bs=128k size=8m",
        "rw=randrw rwmixread=70 bs=8k size=4m randseed=7",
        "rw=randwrite bssplit=4k/60:64k/40 size=8m norandommap",
        "rw=read:8k bs=4k size=4m",
        "rw=randwrite random_distribution=zipf:1.2 bs=4k size=4m",
        "rw=randread percentage_random=30 bs=4k size=4m",
        "rw=write bs=4k size=1m fdatasync=1 end_fsync=1",
        "rw=randwrite bsrange=1k-16k size=4m blockalign=4k",
        "rw=randread:8 bs=4k size=4m io_size=1m offset=1m",
    ] {
        let options = lines.split(' ').map(|option| format!("--{option}"));
        let options: Vec<String> = options.collect();
        let from_line = jobs(&format!("fio --name=j {}", options.join(" ")));
        assert_eq!(commands(&from_line[0]), commands(&job(lines)), "{lines}");
        let spaced = lines
            .replace('=', " ")
            .replace("norandommap", "norandommap=1");
        let spaced = spaced.split(' ').collect::<Vec<_>>().join(" ");
        if !spaced.contains("norandommap") {
            let words: Vec<&str> = spaced.split(' ').collect();
            let pairs = words
                .chunks(2)
                .map(|pair| format!("--{} {}", pair[0], pair[1]));
            let from_line = jobs(&format!(
                "fio --name j {}",
                pairs.collect::<Vec<_>>().join(" ")
            ));
            assert_eq!(commands(&from_line[0]), commands(&job(lines)), "{lines}");
        }
    }
}

#[test]
fn name_begins_a_job_and_what_stands_before_is_for_all() {
    let found = jobs("fio --rw=write -size=1m --name=x --bs=8k --name=y --stonewall");
    let sizes = found.iter().map(|job| job.block_sizes[1][0].bytes);
    assert_eq!(sizes.collect::<Vec<_>>(), [8192, 4096]);
    assert!(found.iter().all(|job| job.region == Some(1 << 20)));
    // As in fio's own JSON, the name is an option of the job.
    assert!(
        found[0]
            .options
            .contains(&("name".to_owned(), "x".to_owned()))
    );
    let found = jobs("fio --name=x --rw=write --name=global --bs=8k --name=y --rw=write");
    let sizes = found.iter().map(|job| job.block_sizes[1][0].bytes);
    assert_eq!(sizes.collect::<Vec<_>>(), [4096, 8192]);
}

/// fio forgets the options for all jobs after the first file.
#[test]
fn job_files_are_read() {
    let found = jobs("fio --bs=8k a.fio b.fio");
    let sizes = found.iter().map(|job| job.block_sizes[0][0].bytes);
    assert_eq!(sizes.collect::<Vec<_>>(), [8192, 4096]);
    let found = jobs("fio --section=b a.fio b.fio");
    assert_eq!(found.len(), 1);
    let error = line("fio c.fio").unwrap_err().to_string();
    assert!(
        error.contains("word 2") && error.contains("no such file"),
        "{error}"
    );
}

#[test]
fn options_of_the_program_are_named() {
    let (_, notes) = line("fio --name=x --size=1m --output-format json --eta=never").unwrap();
    assert_eq!(notes.len(), 2);
    assert!(
        notes[0].starts_with("--output-format=json has no effect"),
        "{notes:?}"
    );
    for (text, says) in [
        ("fio --help", "--help"),
        ("fio --server", "server"),
        ("fio --name=x --showcmd", "showcmd"),
        ("fio", "no job in it"),
        ("fio --rw=write", "no job in it"),
        ("fio --name", "it needs a value"),
        ("fio --name=x --iodeph=4", "word 3"),
        ("fio --readonly --name=x --rw=write --size=1m", "--readonly"),
    ] {
        let error = line(text).unwrap_err().to_string();
        let says = says.trim_start_matches("--help").trim();
        assert!(error.contains(says), "{text}: {error}");
    }
    assert!(line("fio --readonly --name=x --size=1m").is_ok());
}

#[test]
fn a_flush_ends_the_writes_of_each_loop() {
    let flushes = |lines: &str| {
        let found = commands(&job(lines));
        let flush = |(i, (op, ..)): (usize, &(Op, u64, u32))| (*op == Op::Flush).then_some(i);
        found
            .iter()
            .enumerate()
            .filter_map(flush)
            .collect::<Vec<_>>()
    };
    assert_eq!(flushes("rw=write size=16k end_fsync=1"), [4]);
    assert_eq!(
        flushes("rw=write size=16k fsync_on_close=1 loops=2"),
        [4, 9]
    );
    // fio leaves out a sync after a sync, and one of a job that writes nothing.
    assert_eq!(flushes("rw=write size=16k end_fsync=1 fsync=4"), [4]);
    assert!(flushes("rw=read size=16k end_fsync=1").is_empty());
    assert!(flushes("rw=write size=16k end_fsync=0").is_empty());
    assert_eq!(flushes("rw=write size=8k end_fsync=1 verify=md5"), [2]);
}

#[test]
fn a_queue_is_filled_again_when_fio_fills_it() {
    let refill = |lines: &str| job(lines).refill_at;
    assert_eq!(refill("iodepth=16"), None);
    assert_eq!(
        refill("iodepth=16 iodepth_batch=8 iodepth_batch_complete=1"),
        None
    );
    assert_eq!(refill("iodepth=16 iodepth_low=4"), Some(4));
    assert_eq!(refill("iodepth=16 iodepth_low=99"), None);
    assert_eq!(refill("iodepth=16 iodepth_batch_complete_min=8"), Some(8));
    assert_eq!(refill("iodepth=16 iodepth_batch_complete=32"), Some(0));
    assert_eq!(
        refill("iodepth=16 iodepth_low=9 iodepth_batch_complete_min=4"),
        Some(8)
    );
}

#[test]
fn valid_options_are_read() {
    let ranged = job("bsrange=512:64k");
    assert_eq!(ranged.steps.size_range.unwrap()[0], (512, 65536));
    assert_eq!(job("size=0").region, None);
    let mixed = job("rw=randrw percentage_random=80,20");
    assert_eq!(mixed.steps.random_pct, Some([80, 20, 20]));
    assert_eq!(job("rw=randwrite percentage_random=80,20").random_pct, 20);
    assert_eq!(
        job("rw=rw rwmixread=70%").mix,
        Mix::ReadWrite { read_pct: 70 }
    );
    job("disable_bw=1 buffer_compress_percentage=50 buffer_compress_chunk=3k");
}

/// etcd's test: each write is one or two pages, and then a flush.
#[test]
fn blocks_of_any_size_are_pages_of_the_page_cache() {
    let etcd = commands(&job("rw=write bs=2300 size=22m fdatasync=1 ioengine=sync"));
    let flush = (Op::Flush, 0, 0);
    let first = [(Op::Write, 0, 4096), flush, (Op::Write, 0, 8192), flush];
    assert_eq!(etcd[..4], first);
    // Without a flush for each, a page that fills is written once.
    let whole = commands(&job("rw=write bs=2300 size=23000 end_fsync=1"));
    let pages = whole.iter().filter(|(op, ..)| *op == Op::Write);
    let bytes: u32 = pages.map(|(_, _, len)| *len).sum();
    assert_eq!(bytes, 6 * 4096);
    assert_eq!(whole.last(), Some(&flush));
    for (lines, hint) in [
        (
            "rw=write bs=2300 direct=1",
            "the nearest size is 2048, or write direct=0",
        ),
        ("rw=randread bs=4000 direct=1", "4096"),
        ("rw=randwrite bs=100 direct=1", "512"),
        ("rw=randtrim bs=4000", "4096"),
    ] {
        let text = format!("[j]\n{}\n", lines.replace(' ', "\n"));
        let error = parse(&text, "job.fio").unwrap_err();
        assert!(error.hint().contains(hint), "{lines}: {}", error.hint());
    }
}
