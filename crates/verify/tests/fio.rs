//! Is what we write fio's, and do we read what fio writes? fio itself says so: it verifies our
//! disk by our state, and we judge its disk by its state.
//!
//! `SSDLAB_FIO_CURRENT` names a fio built from its newest source, which is asked besides the
//! installed one.

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
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    match version.as_deref().map(FioFormat::of_version) {
        Ok(Some(format)) => fios.push(("fio".to_owned(), format)),
        Ok(None) => ssdlab_skips::skip("the installed fio has another format"),
        Err(_) => ssdlab_skips::skip("fio is not installed"),
    }
    let current = std::env::var("SSDLAB_FIO_CURRENT");
    fios.extend(current.into_iter().map(|path| (path, FioFormat::Current)));
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

fn verified_without_state(program: &str, folder: &Path, text: &str) -> (bool, String) {
    let text = format!("{text}verify_only=1\nverify_state_save=0\n");
    let output = fio(program, folder, &text, &[]);
    (output.status.success(), said(&output))
}

fn reader(disk: &[u8]) -> impl FnMut(u64, &mut [u8]) -> Result<(), ssdlab_base::LabError> {
    |offset, bytes| {
        bytes.copy_from_slice(&disk[offset as usize..][..bytes.len()]);
        Ok(())
    }
}

/// Runs the first `count` writes.
fn run_until(job: &VerifiedJob, disk: &mut Disk, count: u64) -> WriteProgress {
    let mut ask = |progress: &WriteProgress| (progress.issued < count).then(WriteTime::default);
    let RunEnd { progress, error } = run(job, disk, &mut ask);
    assert!(error.is_none());
    progress
}

/// Every checksum, and every way to lay out a block and to order the writes, at least once.
const VARIANTS: [(&str, &str, &str); 20] = [
    ("crc32c", "rw=write", ""),
    ("crc32c-intel", "rw=randwrite", "verify_interval=512"),
    ("crc32", "rw=randwrite\nnorandommap=1", ""),
    ("crc64", "rw=write", "verify_offset=64"),
    ("crc16", "rw=randwrite", "randseed=9"),
    ("crc7", "rw=randwrite\nrandrepeat=0\nrandseed=11", ""),
    (
        "xxhash",
        "rw=write",
        "verify_interval=1024\nverify_offset=512",
    ),
    ("meta", "rw=randwrite", ""),
    ("meta", "rw=randwrite", "verify_pattern=0xabcd%o\"x\"-3"),
    ("md5", "rw=randwrite", ""),
    ("md5", "rw=write", "verify_interval=2048\nverify_offset=900"),
    ("sha1", "rw=randwrite", "verify_pattern=0x00ff%o"),
    ("sha256", "rw=randwrite", ""),
    ("sha256", "rw=write", "verify_interval=512"),
    ("sha512", "rw=randwrite", "verify_interval=1k"),
    ("sha3-224", "rw=randwrite", ""),
    ("sha3-256", "rw=write", ""),
    ("sha3-384", "rw=randwrite", "verify_offset=128"),
    ("sha3-512", "rw=randwrite", "verify_interval=4096"),
    ("pattern", "rw=randwrite", "verify_pattern=%o0xdeadbeef"),
];

fn write_disk(folder: &Path, disk: &Disk) {
    fs::write(folder.join("disk"), &disk.0).expect("written");
}

#[test]
fn fio_verifies_what_we_wrote_and_finds_what_we_spoil() {
    for (program, format) in fios() {
        for (checksum, order, layout) in VARIANTS {
            let name = format!("{program} {checksum} {order} {layout}");
            let (text, job) = job(
                &format!("verify={checksum}\n{order}\n{layout}\niodepth=4"),
                format,
            );
            let folder = tempfile::tempdir().expect("a folder");
            let mut disk = Disk(vec![0; 512 << 10]);
            // Without a map, 3.33 checks by offset: only a whole run has a state.
            let is_sorted = order.contains("norandommap") && format == FioFormat::V3_33;
            let count = if is_sorted { 64 } else { 40 };
            let progress = run_until(&job, &mut disk, count);
            write_disk(folder.path(), &disk);
            let state = VerifyState::of(&job, &progress);
            write_state(folder.path(), &job, &state).expect("written");
            let (is_good, words) = verified(&program, folder.path(), &text);
            assert!(is_good, "{name}: {words}");
            assert!(!words.contains("verify:"), "{name}: {words}");
            // Without a state, fio wants the whole job.
            if !is_sorted {
                let (is_good, words) = verified_without_state(&program, folder.path(), &text);
                assert!(!is_good, "{name}: {words}");
            }
            // The 30th write: in its last interval, the header; without headers, some byte.
            let spoiled = job.writes().nth(30).expect("a write");
            let last = (job.block_bytes - job.interval_bytes + job.header_offset) as usize;
            disk.0[spoiled.offset as usize + last + 9] ^= 1;
            write_disk(folder.path(), &disk);
            let (is_good, words) = verified(&program, folder.path(), &text);
            assert!(!is_good, "{name}: {words}");
            let found = VerifyFindings::of(&job, &progress, reader(&disk.0)).expect("judged");
            assert_eq!(found.completed.failed, [spoiled.offset], "{name}");
        }
    }
}

/// fio writes all of a job, each byte of which is then ours; where its data is spoiled, we say so.
#[test]
fn what_fio_writes_is_byte_for_byte_what_we_write() {
    for (program, format) in fios() {
        for (checksum, order, layout) in VARIANTS {
            let name = format!("{program} {checksum} {order} {layout}");
            let (text, job) = job(&format!("verify={checksum}\n{order}\n{layout}"), format);
            let folder = tempfile::tempdir().expect("a folder");
            write_disk(folder.path(), &Disk(vec![0; 512 << 10]));
            let output = fio(&program, folder.path(), &(text + "do_verify=0\n"), &[]);
            assert!(output.status.success(), "{name}: {}", said(&output));
            let path = state_path(folder.path(), &job);
            let state = read_state(&path, &job).expect("fio's state");
            let progress = state.progress(&job).with_protected_buffer();
            let mut disk = fs::read(folder.path().join("disk")).expect("read");
            // The contract compares all bytes of all sectors but the times.
            let found = VerifyFindings::of(&job, &progress, reader(&disk)).expect("judged");
            assert_eq!(found.contract.broken, [], "{name}");
            assert_eq!(found.completed.failed, [0; 0], "{name}");
            assert_eq!(found.stateless.failed, [0; 0], "{name}");
            let spoiled = job.writes().nth(50).expect("a write").offset;
            disk[spoiled as usize + 2000] ^= 4;
            let found = VerifyFindings::of(&job, &progress, reader(&disk)).expect("judged");
            assert_eq!(found.contract.broken.len(), 1, "{name}");
            let rule = &found.completed.failed;
            // No sum is over the data, or over all of it.
            let is_blind = checksum == "meta" && !layout.contains("pattern");
            assert_eq!(rule.is_empty(), is_blind, "{name}");
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
            let judge =
                |disk: &[u8]| VerifyFindings::of(&job, &progress, reader(disk)).expect("judged");
            let findings = judge(&disk);
            // Without a map, 3.33 looks at the wrong blocks.
            let is_lost = order.contains("norandommap") && format == FioFormat::V3_33;
            assert_eq!(
                findings.completed.failed.is_empty(),
                !is_lost,
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
            assert!(
                findings.completed.failed.contains(&write.offset),
                "{program} {order}"
            );
        }
    }
}
