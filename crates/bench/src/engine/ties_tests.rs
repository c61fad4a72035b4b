//! Jobs that depend on each other or on their own results, on a modelled drive.

use super::{Unobserved, run};
use crate::device::ModelledTarget;
use crate::record::RunRecord;
use ssdlab_drives::catalogue;
use ssdlab_load::fio;
use ssdlab_ssd::Op;
use std::sync::atomic::AtomicBool;

fn run_on_a_drive(text: &str) -> RunRecord {
    let plan = fio::parse(text, "job.fio").unwrap_or_else(|error| panic!("{text}: {error}"));
    let drive = catalogue::drive("intel-x25e-32gb").unwrap();
    let mut target = ModelledTarget::new(&drive, None).unwrap();
    let record = run(&plan, &mut target, &mut Unobserved, &AtomicBool::new(false));
    let record = record.unwrap();
    for check in &record.checks {
        assert!(check.failure.is_none(), "{check:?}");
    }
    record
}

fn counts(record: &RunRecord, op: Op) -> Vec<u64> {
    let jobs = record.jobs.iter();
    jobs.map(|job| job.ops[op as usize].count).collect()
}

/// fio 3.33 with its null engine, the same shares, 94,000 commands: 0.1111 of them are writes.
#[test]
fn a_flow_keeps_the_shares_of_its_jobs() {
    let record = run_on_a_drive(
        "[global]\nnorandommap\nsize=1g\nbs=8k\ntime_based\nruntime=2\niodepth=8\n\
         [a]\nrw=write\nflow=1\n[b]\nrw=randread\nflow=8\n",
    );
    let (writes, reads) = (counts(&record, Op::Write)[0], counts(&record, Op::Read)[1]);
    let share = writes as f64 / (writes + reads) as f64;
    assert!(writes > 1000, "{writes}");
    assert!((share - 1.0 / 9.0).abs() < 0.002, "{writes} {reads}");
}

/// One of the jobs ends by its size; the others would run for a minute.
#[test]
fn exitall_ends_the_group_and_no_other() {
    let jobs = "[global]\nbs=4k\nruntime=60\ntime_based\n\
         [long]\nrw=randread\nsize=1g\n\
         [short]\nrw=read\ntime_based=0\nsize=4m\nexitall\n\
         [other]\nnew_group\nrw=read\nsize=1g\nruntime=3\n";
    let length = |record: &RunRecord, job: usize| record.jobs[job].length.as_secs_f64();
    let record = run_on_a_drive(jobs);
    assert!(length(&record, 0) < 1.0, "{}", length(&record, 0));
    assert_eq!(length(&record, 2), 3.0);
    let all = run_on_a_drive(&jobs.replace("exitall\n", "exitall\nexit_what=stonewall\n"));
    assert!(length(&all, 2) < 1.0);
}

#[test]
fn exit_what_all_leaves_out_the_phases_that_wait() {
    let jobs = "[global]\nbs=4k\nsize=1m\nrw=read\n[a]\nexitall\n[b]\nstonewall\n";
    assert_eq!(counts(&run_on_a_drive(jobs), Op::Read), [256, 256]);
    let record = run_on_a_drive(&jobs.replace("exitall\n", "exitall\nexit_what=all\n"));
    assert_eq!(counts(&record, Op::Read), [256]);
}

#[test]
fn a_steady_rate_ends_the_job() {
    let record = run_on_a_drive(
        "[j]\nrw=randread\nbs=4k\nsize=1g\nruntime=600\ntime_based\n\
         ss=iops:5%\nss_dur=4\nss_ramp=2\n",
    );
    let length = record.jobs[0].length.as_secs_f64();
    assert!((6.0..20.0).contains(&length), "{length}");
    assert!(record.notes.iter().any(|note| note.contains("was reached")));
}

#[test]
fn what_was_written_is_read_back_after_it_has_completed() {
    let record = run_on_a_drive(
        "[j]\nrw=randwrite\nbs=4k\nsize=8m\niodepth=16\nverify=crc32c\nverify_backlog=100\n",
    );
    assert_eq!(counts(&record, Op::Write), [2048]);
    assert_eq!(counts(&record, Op::Read), [2048]);
}

#[test]
fn a_latency_target_finds_a_depth() {
    let record = run_on_a_drive(
        "[j]\nrw=randread\nbs=4k\nsize=1g\nruntime=600\ntime_based\niodepth=64\n\
         latency_target=2000\nlatency_window=200000\nlatency_percentile=90\n",
    );
    let found = |note: &String| note.contains("a depth of") && note.contains("keeps");
    assert!(record.notes.iter().any(found), "{:?}", record.notes);
    assert!(record.jobs[0].length.as_secs_f64() < 100.0);
}
