//! Logs and checkpoints of drive directories. As they are: reading stops at the first damaged
//! frame. With correct sums: a record is refused, or survives being written and read back.

use crate::Target;
use ssdlab_drives::keep::directory::{CrashSafety, DriveDir, decode_frames, encode_frames};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Power;
use std::path::Path;

/// The first byte says whether the rest is a log, or payloads: each behind its length.
pub const TARGET: Target = Target {
    name: "drive_dir",
    run,
    seeds,
    words: &[],
};

fn run(input: &[u8]) {
    let Some((&seal, bytes)) = input.split_first() else {
        return;
    };
    let file = match seal % 2 {
        1 => encode_frames(&payloads(bytes)),
        _ => bytes.to_vec(),
    };
    let name = Path::new("input.log");
    let (taken, records) = match decode_frames(&file, name) {
        Ok(found) => found,
        Err(error) => return assert!(error.to_string().contains("input.log"), "{error}"),
    };
    assert!(taken <= file.len() as u64);
    let written = encode_frames(&records);
    let (taken, again) = decode_frames(&written, name).expect("records that were written");
    assert_eq!(taken, written.len() as u64);
    assert!(again == records, "other records when they are read again");
}

/// Payloads, each behind its length; the last is cut to the bytes that there are.
fn payloads(mut rest: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let length = tail.len().min(u32::from_le_bytes(*length) as usize);
        found.push(tail[..length].to_vec());
        rest = &tail[length..];
    }
    found
}

/// The files of a directory in which a small drive was used and killed.
fn seeds() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let mut config = DriveConfig::tiny();
    config.user_bytes = 60 * 4096;
    DriveDir::create(&path, &config, "fuzz").expect("a directory");
    let opened = DriveDir::open(&path, Power::default(), CrashSafety::Process);
    let (mut drive, _) = opened.expect("a drive");
    for at in 0..12_u64 {
        let bytes = vec![at as u8; 1024];
        drive
            .write(at * 5120, &bytes, at % 3 == 0)
            .expect("written");
    }
    drop(drive);
    let entries = std::fs::read_dir(&path).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_frames = |path: &std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("log-") || name.starts_with("checkpoint-"))
    };
    let mut files: Vec<_> = paths.filter(is_frames).collect();
    files.sort();
    let seeds = files.iter().map(|path| {
        let bytes = std::fs::read(path).expect("a file");
        let (_, records) = decode_frames(&bytes, path).expect("frames");
        let behind = |payload: &Vec<u8>| {
            [&(payload.len() as u32).to_le_bytes(), payload.as_slice()].concat()
        };
        let payloads: Vec<u8> = records.iter().flat_map(behind).collect();
        [[0].to_vec(), bytes, [1].to_vec(), payloads]
    });
    let parts = seeds.flat_map(|[plain, bytes, sealed, payloads]| {
        [[plain, bytes].concat(), [sealed, payloads].concat()]
    });
    parts.collect()
}
