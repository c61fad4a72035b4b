//! What each rule says of a disk whose state is known, and what is refused.

use ssdlab_verify::{
    FioFormat, FoundBlock, VerifiedJob, VerifyFindings, VerifyState, WriteProgress, read_state,
    write_state,
};

const JOB: &str = "[j]\nrw=randwrite\nnorandommap=1\nbs=4k\nsize=64k\nfsync=4\nverify=crc32c\n";

fn job() -> VerifiedJob {
    VerifiedJob::parse(JOB, "j.fio", FioFormat::V3_33).expect("a job")
}

/// The disk after the first `count` writes.
fn disk(job: &VerifiedJob, count: usize) -> Vec<u8> {
    let mut disk = vec![0; 64 << 10];
    for write in job.writes().take(count) {
        let bytes = write.bytes(job, Default::default());
        disk[write.offset as usize..][..4096].copy_from_slice(&bytes);
    }
    disk
}

fn judge(job: &VerifiedJob, progress: &WriteProgress, disk: &[u8]) -> VerifyFindings {
    let read = |offset: u64, bytes: &mut [u8]| {
        bytes.copy_from_slice(&disk[offset as usize..][..bytes.len()]);
        Ok(())
    };
    VerifyFindings::of(job, progress, read).expect("read")
}

/// A block that is written again: its promised write and a later one that nothing covers.
fn twice(job: &VerifiedJob) -> (usize, usize) {
    let offsets: Vec<u64> = job.writes().map(|write| write.offset).collect();
    (0..12)
        .find_map(|first| {
            let again = (12..16).find(|later| offsets[*later] == offsets[first])?;
            let between = offsets[first + 1..again].contains(&offsets[first]);
            (!between).then_some((first, again))
        })
        .expect("a block that is written again")
}

#[test]
fn the_contract_takes_old_and_new_where_fio_wants_the_newest() {
    let job = VerifiedJob::parse(JOB, "j.fio", FioFormat::Current).expect("a job");
    let (first, again) = twice(&job);
    let progress = WriteProgress::of_one_at_a_time(&job, 16, 16);
    assert_eq!(progress.synced, 12);
    let mut bytes = disk(&job, 16);
    assert_eq!(judge(&job, &progress, &bytes).contract.broken, []);
    // The unpromised write is gone, whole or in part: only fio's default complains.
    let write = job.writes().nth(first).expect("a write");
    let old = write.bytes(&job, Default::default());
    let at = write.offset as usize;
    for kept in [0, 1024] {
        bytes[at + kept..at + 4096].copy_from_slice(&old[kept..]);
        let findings = judge(&job, &progress, &bytes);
        assert_eq!(findings.contract.broken, [], "kept {kept} of write {again}");
        assert_eq!(findings.completed.failed, [write.offset]);
        bytes = disk(&job, 16);
    }
    // fio's rule of fsyncs takes the newer write for damage.
    assert!(
        judge(&job, &progress, &bytes)
            .fsynced
            .failed
            .contains(&write.offset)
    );
}

#[test]
fn a_promised_block_is_older_torn_or_foreign() {
    let job = job();
    let progress = WriteProgress::of_one_at_a_time(&job, 13, 12);
    let writes: Vec<_> = job.writes().take(12).collect();
    let once = writes.iter().rfind(|write| {
        writes
            .iter()
            .filter(|other| other.offset == write.offset)
            .count()
            == 1
            && job.writes().nth(12).expect("a write").offset != write.offset
    });
    let once = once.expect("a block that is written once");
    let at = once.offset as usize;
    let found = |spoil: &dyn Fn(&mut [u8])| {
        let mut bytes = disk(&job, 12);
        spoil(&mut bytes[at..at + 4096]);
        let broken = judge(&job, &progress, &bytes).contract.broken;
        assert!(
            broken.len() == 1 && broken[0].promised == once.number,
            "{broken:?}"
        );
        broken[0].found
    };
    assert_eq!(found(&|block| block.fill(0)), FoundBlock::Older);
    assert_eq!(found(&|block| block[512..].fill(0)), FoundBlock::Torn);
    assert_eq!(found(&|block| block[700] ^= 1), FoundBlock::Foreign);
}

#[test]
fn options_that_would_change_the_writes_are_refused() {
    let parse = |lines: &str| VerifiedJob::parse(lines, "j.fio", FioFormat::V3_33);
    let says = |lines: &str, words: &str| {
        let error = parse(lines).expect_err(lines).to_string();
        assert!(error.contains(words), "{lines}: {error}");
    };
    let job = "[j]\nrw=write\nsize=64k\n";
    says(job, "no verify=");
    says(
        &format!("{job}verify=null\n"),
        "`verify` cannot be `null`: it is one of meta",
    );
    says(
        "[j]\nrw=randrw\nsize=64k\nverify=crc32c\n",
        "write or randwrite",
    );
    says(
        &format!("{job}verify=crc32c\nbssplit=4k/50:8k/50\n"),
        "`bssplit` is not supported",
    );
    says(
        &format!("{job}verify=crc32c\nbs=48k\n"),
        "no whole number of 49152-byte blocks",
    );
    says(
        &format!("{job}verify=crc32c\nrandrepeat=0\n"),
        "randrepeat=0",
    );
    says(
        &format!("{job}verify=crc32c\nnumjobs=2\n"),
        "a verified job has 1",
    );
    says(
        &format!("{job}verify=crc32c\n[k]\nrw=write\n"),
        "has 2 jobs",
    );
    says(&format!("{job}verify=pattern\n"), "no verify_pattern=");
    says(
        &format!("{job}verify=crc32c\nverify_pattern=0x1\n"),
        "pairs of hexadecimal digits",
    );
    says(
        &format!("{job}verify=crc32c\nverify_interval=1536\n"),
        "does not divide bs=4096",
    );
    says(
        &format!("{job}verify=md5\nverify_offset=32\n"),
        "within the header of 56 bytes",
    );
    says(
        &format!("{job}verify=md5\nverify_offset=1000\n"),
        "in two sectors",
    );
    says(
        &format!("{job}verify=sha512\nverify_offset=3960\n"),
        "does not fit into 4096 bytes",
    );
    assert!(parse(&format!("{job}verify=crc32c\nblocksize=16k\nsync=dsync\n")).is_ok());
}

#[test]
fn a_state_is_read_again_and_damage_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, format) in FioFormat::ALL {
        let job = VerifiedJob::parse(JOB, "j.fio", format).expect("a job");
        let progress = WriteProgress::of_one_at_a_time(&job, 13, 12);
        let state = VerifyState::of(&job, &progress);
        let path = write_state(folder.path(), &job, &state).expect("written");
        assert_eq!(read_state(&path, &job).expect("read"), state);
        let bytes = std::fs::read(&path).expect("there");
        let refused = |bytes: &[u8], words: &str| {
            std::fs::write(&path, bytes).expect("written");
            let error = read_state(&path, &job).expect_err(words).to_string();
            assert!(error.contains(words), "{name}: {error}");
        };
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).expect("written");
            assert!(read_state(&path, &job).is_err(), "{name}: {length} bytes");
        }
        let mut damaged = bytes.clone();
        damaged[60] ^= 1;
        refused(&damaged, "damaged");
        let mut other = bytes.clone();
        other[0] = 4;
        refused(&other, "version 4");
        std::fs::write(&path, &bytes).expect("written");
        let mut renamed = job.clone();
        renamed.name = "k".to_owned();
        let error = read_state(&path, &renamed)
            .expect_err("another job")
            .to_string();
        assert!(error.contains("is of job `j`"), "{error}");
    }
}
