//! Is what we write fio's, and do we read what fio writes? fio itself says so: it verifies our
//! disk by our state, and we judge its disk by its state.
//!
//! `SSDLAB_FIO_CURRENT` names a fio built from its newest source; without it, only the installed
//! one of 3.33's formats is asked.

use ssdlab_verify::{
    FioFormat, NewestWrites, RunEnd, VerifiedJob, VerifyFindings, VerifyState, VerifyTarget,
    WriteProgress, WriteTime, read_state, run, state_path, write_state,
};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

struct Disk(Vec<u8>);

impl VerifyTarget for Disk {
    fn write(&mut self, offset: u64, bytes: &[u8], _: bool) -> Result<(), ssdlab_base::LabError> {
        self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), ssdlab_base::LabError> {
        Ok(())
    }
}

/// The fios at hand, each with its formats.
fn fios() -> Vec<(String, FioFormat)> {
    let mut fios = Vec::new();
    let version = Command::new("fio").arg("--version").output();
    match version {
        Ok(output) if String::from_utf8_lossy(&output.stdout).starts_with("fio-3.33") => {
            fios.push(("fio".to_owned(), FioFormat::V3_33));
        }
        _ => ssdlab_skips::skip("fio 3.33 is not installed"),
    }
    match std::env::var("SSDLAB_FIO_CURRENT") {
        Ok(path) => fios.push((path, FioFormat::Current)),
        Err(_) => ssdlab_skips::skip("SSDLAB_FIO_CURRENT names no fio of the newest source"),
    }
    fios
}

const JOB: &str = "bs=4k\nsize=256k\noffset=64k\nfilename=disk\nioengine=psync\n";

fn job(lines: &str, format: FioFormat) -> (String, VerifiedJob) {
    let text = format!("[j]\n{JOB}{lines}\n");
    let job = VerifiedJob::parse(&text, "j.fio", format).expect("a job");
    (text, job)
}

fn fio(program: &str, folder: &Path, text: &str, more: &[&str]) -> Output {
    fs::write(folder.join("j.fio"), text).expect("written");
    let mut command = Command::new(program);
    command.current_dir(folder).args(more).arg("j.fio");
    command.output().expect("runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What fio says of a disk and a state of ours.
fn verified(program: &str, folder: &Path, text: &str) -> (bool, String) {
    let text = format!("{text}verify_only=1\nverify_state_load=1\nverify_state_save=0\n");
    let output = fio(program, folder, &text, &[]);
    (output.status.success(), said(&output))
}

/// Runs the first `count` writes.
fn run_until(job: &VerifiedJob, disk: &mut Disk, count: u64) -> WriteProgress {
    let mut ask = |progress: &WriteProgress| (progress.issued < count).then(WriteTime::default);
    let RunEnd { progress, error } = run(job, disk, &mut ask);
    assert!(error.is_none());
    progress
}

const CHECKSUMS: [&str; 8] = [
    "crc32c",
    "crc32c-intel",
    "crc32",
    "crc64",
    "crc16",
    "crc7",
    "xxhash",
    "meta",
];

#[test]
fn fio_verifies_what_we_wrote_and_finds_what_we_spoil() {
    let orders = ["rw=write", "rw=randwrite", "rw=randwrite\nnorandommap=1"];
    for (program, format) in fios() {
        for (index, checksum) in CHECKSUMS.into_iter().enumerate() {
            let order = orders[index % orders.len()];
            let (text, job) = job(&format!("verify={checksum}\n{order}\niodepth=4"), format);
            let folder = tempfile::tempdir().expect("a folder");
            let mut disk = Disk(vec![0; 512 << 10]);
            // 3.33 checks in the order of offsets without a map, so that only a whole run has a state.
            let is_sorted = order.contains("norandommap") && format == FioFormat::V3_33;
            let count = if is_sorted { 64 } else { 40 };
            let progress = run_until(&job, &mut disk, count);
            fs::write(folder.path().join("disk"), &disk.0).expect("written");
            let state = VerifyState::of(&job, &progress);
            write_state(folder.path(), &job, &state).expect("written");
            let (is_good, words) = verified(&program, folder.path(), &text);
            assert!(is_good, "{program} {checksum} {order}: {words}");
            assert!(!words.contains("verify:"), "{program} {checksum}: {words}");
            // The header of the 30th write, then.
            let spoiled = job.writes().nth(30).expect("a write");
            disk.0[spoiled.offset as usize + 9] ^= 1;
            fs::write(folder.path().join("disk"), &disk.0).expect("written");
            let (is_good, words) = verified(&program, folder.path(), &text);
            assert!(
                !is_good && words.contains("verify:"),
                "{program} {checksum}: {words}"
            );
        }
    }
}

/// What stops fio is our state: behind it, the disk is empty.
#[test]
fn fio_stops_where_our_state_says() {
    for (program, format) in fios() {
        for policy in ["completed", "fsynced"] {
            let known = format == FioFormat::Current;
            let (text, mut job) = job("verify=crc32c\nrw=randwrite\nfsync=8", format);
            job.policy = ssdlab_verify::VerifyPolicy::named(policy).expect("a policy");
            let text = if known {
                format!("{text}verify_policy={policy}\n")
            } else {
                text
            };
            let folder = tempfile::tempdir().expect("a folder");
            let mut disk = Disk(vec![0; 512 << 10]);
            let mut progress = run_until(&job, &mut disk, 43);
            assert_eq!(progress.synced, 40);
            let there = if policy == "fsynced" { 40 } else { 42 };
            progress.in_flight.insert(42);
            for write in job.writes().skip(there) {
                disk.0[write.offset as usize..][..4096].fill(0);
            }
            fs::write(folder.path().join("disk"), &disk.0).expect("written");
            let state = VerifyState::of(&job, &progress);
            write_state(folder.path(), &job, &state).expect("written");
            let (is_good, words) = verified(&program, folder.path(), &text);
            assert!(is_good, "{program} {policy}: {words}");
            // One write more than is there: fio must want it.
            let last = job.writes().nth(there - 1).expect("a write");
            disk.0[last.offset as usize..][..4096].fill(0);
            fs::write(folder.path().join("disk"), &disk.0).expect("written");
            let (is_good, words) = verified(&program, folder.path(), &text);
            assert!(
                !is_good,
                "{program} {policy} did not look at write {there}: {words}"
            );
        }
    }
}

/// fio's disk and fio's state of a job that ended early, by our three rules.
#[test]
fn we_read_the_disk_and_the_state_of_fio() {
    for (program, format) in fios() {
        for order in [
            "rw=write",
            "rw=randwrite",
            "rw=randwrite\nnorandommap=1\nrandseed=7",
        ] {
            let lines = format!("verify=crc32c\n{order}\nfsync=8");
            let (text, job) = job(&lines, format);
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("disk"), vec![0; 512 << 10]).expect("written");
            let more = "do_verify=0\nverify_state_save=1\nnumber_ios=30\n";
            let output = fio(&program, folder.path(), &(text + more), &[]);
            assert!(output.status.success(), "{program}: {}", said(&output));
            let path = state_path(folder.path(), &job);
            let state = read_state(&path, &job).expect("fio's state");
            assert_eq!(state.number, 30, "{program} {order}");
            let progress = state.progress(&job);
            assert!(
                progress.in_flight.is_empty(),
                "{program} {order}: {progress:?} {state:?} {:?}",
                job.writes().nth(29)
            );
            assert_eq!(progress.synced, 24, "{program} {order}");
            // Our state of the same run says the same, its generator too.
            let ours = VerifyState::of(&job, &progress);
            assert_eq!(ours.generator, state.generator, "{program} {order}");
            if let NewestWrites::Completed(_) = state.newest {
                assert_eq!(ours, state, "{program} {order}");
            }
            let mut disk = fs::read(folder.path().join("disk")).expect("read");
            let judge = |disk: &[u8]| {
                VerifyFindings::of(&job, &progress, |offset, bytes| {
                    bytes.copy_from_slice(&disk[offset as usize..][..bytes.len()]);
                    Ok(())
                })
                .expect("judged")
            };
            let findings = judge(&disk);
            assert!(
                findings.completed.failed.is_empty(),
                "{program} {order}: {findings:?}"
            );
            assert!(
                findings.contract.broken.is_empty(),
                "{program} {order}: {findings:?}"
            );
            assert!(findings.contract.promised > 15, "{findings:?}");
            // A sector in the middle of a block: fio's contents are known byte by byte.
            let write = job.writes().nth(23).expect("a write");
            disk[write.offset as usize + 1024..][..512].fill(0xff);
            let findings = judge(&disk);
            assert_eq!(findings.contract.broken.len(), 1, "{program} {order}");
            assert_eq!(
                findings.completed.failed,
                [write.offset],
                "{program} {order}"
            );
        }
    }
}
