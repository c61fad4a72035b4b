//! Patterns, logs that are written and logs that are read.

use super::*;
use crate::follow::FollowUpStream;
use crate::plan::Mix;
use crate::trace::replay::ReplayCommands;
use ssdlab_ssd::{Nanos, Op};

fn job(lines: &str) -> JobSpec {
    let plan = parse(&format!("[j]\n{lines}\n"), "job.fio");
    let mut plan = plan.unwrap_or_else(|error| panic!("{lines}: {error}"));
    plan.phases.remove(0).jobs.remove(0)
}

fn error(lines: &str) -> String {
    let plan = parse(&format!("[j]\n{lines}\n"), "job.fio");
    plan.unwrap_err().to_string()
}

/// The first bytes that fio 3.33 wrote to a file for each pattern.
#[test]
fn patterns_are_the_bytes_that_fio_writes() {
    let table: &[(&str, &[u8])] = &[
        ("0xdeadface", &[0xde, 0xad, 0xfa, 0xce]),
        ("-12", &[0xf4, 0xff, 0xff, 0xff]),
        ("12", &[12]),
        ("1000", &[0xe8, 0x03]),
        ("70000", &[0x70, 0x11, 0x01]),
        ("\"abcd\"-12", b"abcd\xf4\xff\xff\xff"),
        ("0xabc", &[0x0a, 0xbc]),
        ("\"a b\"", b"a b"),
        ("0xdead\"xy\"", &[0xde, 0xad, b'x', b'y']),
        ("\"%o\"", b"%o"),
        ("0x12+7", &[0x12, 7]),
    ];
    for (text, bytes) in table {
        let job = job(&format!("rw=write\nbuffer_pattern={text}"));
        assert_eq!(job.pattern, *bytes, "{text}");
        assert_eq!(job.data.compress_pct, 100, "{text}");
    }
    // fio fails at these, too.
    for text in ["abc", "%o", "5,6", "\"abcd\"-12+0xdeadface", "0x", "\"abc"] {
        let error = error(&format!("rw=write\nbuffer_pattern={text}"));
        assert!(
            error.starts_with("job.fio:3: `buffer_pattern` cannot be"),
            "{error}"
        );
    }
    assert!(error("buffer_pattern='/data/pattern'").contains("from a file"));
    assert!(error(&format!("buffer_pattern=0x{}", "ab".repeat(513))).contains("1 to 512"));
}

/// Of a long pattern a drive has to keep a part.
#[test]
fn a_pattern_compresses_by_its_share_of_4_kib() {
    let of = |len: usize| {
        let text = format!("rw=write\nbuffer_pattern=0x{}", "ab".repeat(len));
        job(&text).data.compress_pct
    };
    assert_eq!([of(1), of(20), of(21), of(512)], [100, 100, 99, 87]);
    let none = job("rw=write\nbuffer_pattern=7\nverify=crc32c");
    assert!(none.pattern.is_empty(), "fio writes headers instead");
    assert_eq!(
        job("rw=write\nbuffer_pattern=7\nzero_buffers")
            .data
            .compress_pct,
        100
    );
}

#[test]
fn logs_have_a_line_for_each_command_unless_averaged() {
    assert!(!job("rw=read").log_each);
    assert!(!job("log_avg_msec=0").log_each);
    assert!(job("write_bw_log").log_each);
    assert!(job("write_lat_log=x\nlog_avg_msec=0").log_each);
    assert!(!job("write_iops_log=x\nlog_avg_msec=500").log_each);
}

#[test]
fn nvme_passthrough_is_known_to_the_target() {
    assert!(job("ioengine=io_uring_cmd\ncmd_type=nvme").passthrough);
    assert!(!job("ioengine=io_uring_cmd\nioengine=io_uring").passthrough);
}

/// `name`, read from a file with these lines, in surroundings that allow it.
fn with_log(lines: &str, log: &str) -> Result<WorkloadPlan, LabError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    std::fs::write(&path, log).unwrap();
    let text = format!(
        "[j]\nfilename=/dev/x\nread_iolog={}\n{lines}\n",
        path.display()
    );
    let plan = parse_in(&text, "job.fio", &Surroundings::here())?;
    // The commands are read while the file is there.
    if let Some(replay) = &plan.phases[0].jobs[0].replay {
        let mut commands = ReplayCommands::new(replay, 1 << 30)?;
        let sent = std::iter::from_fn(|| commands.next_command());
        let sent: Vec<_> = sent.map(|(c, due)| (c.op, c.offset, c.len, due)).collect();
        assert_eq!(
            sent,
            EXPECTED.map(|(op, offset, len, ms)| {
                (
                    op,
                    offset,
                    len,
                    if replay.speed.is_some() {
                        Nanos::from_millis(ms)
                    } else {
                        Nanos::ZERO
                    },
                )
            })
        );
    }
    Ok(plan)
}

const EXPECTED: [(Op, u64, u32, u64); 4] = [
    (Op::Write, 0, 4096, 0),
    (Op::Write, 8192, 4096, 0),
    (Op::Read, 0, 8192, 5),
    (Op::Flush, 0, 0, 5),
];
const LOG_2: &str = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 0 4096\n\
    /dev/x write 8192 4096\n/dev/x wait 5 0\n/dev/x read 0 8192\n/dev/x sync 0 0\n/dev/x close\n";
const LOG_3: &str = "fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n0 /dev/x write 0 4096\n\
    0 /dev/x write 8192 4096\n5000 /dev/x read 0 8192\n5000 /dev/x sync 0 0\n5000 /dev/x close\n";

#[test]
fn a_log_of_either_version_is_the_job_s_commands() {
    for log in [LOG_2, LOG_3] {
        let lines = "name=again\niodepth=4\nrw=randread\nsize=1m\nnumjobs=2";
        let plan = with_log(lines, log).unwrap();
        let job = &plan.phases[0].jobs[0];
        let found = (
            job.name.as_str(),
            job.depth,
            job.copies,
            job.target.as_deref(),
        );
        assert_eq!(found, ("again", 4, 2, Some("/dev/x")));
        assert_eq!(
            (job.mix, job.region),
            (Mix::ReadWrite { read_pct: 50 }, Some(12288))
        );
        assert!(!FollowUpStream::has_any(job));
        let stalls = |lines: &str| {
            with_log(lines, log).unwrap().phases[0].jobs[0]
                .replay
                .clone()
        };
        assert_eq!(stalls("").unwrap().speed, Some(1.0));
        assert_eq!(stalls("replay_no_stall").unwrap().speed, None);
        let notes = notes(&plan).join("\n");
        assert!(notes.contains("job `again`"), "{notes}");
    }
}

#[test]
fn a_log_that_cannot_be_replayed_is_refused_at_its_line() {
    let wrong = |lines: &str, log: &str| {
        let error = with_log(lines, log).unwrap_err();
        format!("{error} {}", error.hint())
    };
    let two = LOG_2.replace("/dev/x read", "/dev/y read");
    for (lines, log, why) in [
        ("", "", "the file is empty"),
        ("", "fio version 2 iolog\n/dev/x jump 0 4096\n", "bad"),
        ("", &two, "several devices"),
        ("rate_iops=10", LOG_2, "read_iolog with a rate"),
        ("verify=crc32c", LOG_2, "read_iolog with a rate"),
        ("replay_skip=write", LOG_2, "a log is replayed as it is"),
        ("replay_scale=2", LOG_2, "a log is replayed as it is"),
    ] {
        let error = wrong(lines, log);
        assert!(
            error.contains(why) || (why == "bad" && error.contains("jump")),
            "{error}"
        );
    }
    // A text that came from anywhere opens no files.
    assert!(error("read_iolog=/etc/passwd").contains("a text without a file reads none"));
}
