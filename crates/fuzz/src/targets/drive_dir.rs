//! Logs and checkpoints of drive directories. As they are: reading stops at the first damaged
//! frame. With corrected checksums: a record is refused, or survives being written and read back.

use crate::Target;
use ssdlab_drives::keep::directory::{DriveDir, Safety, decode_frames};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Power;
use std::path::Path;
use twox_hash::XxHash3_64;

/// The first byte says whether to correct lengths and checksums, the rest are frames.
pub const TARGET: Target = Target {
    name: "drive_dir",
    run,
    seeds,
    words: &[],
};

const HEAD_BYTES: usize = 12;

fn run(input: &[u8]) {
    let Some((&seal, bytes)) = input.split_first() else {
        return;
    };
    let mut bytes = bytes.to_vec();
    if seal % 2 == 1 {
        correct(&mut bytes);
    }
    let name = Path::new("input.log");
    let (taken, payloads) = match decode_frames(&bytes, name) {
        Ok(found) => found,
        Err(error) => return assert!(error.to_string().contains("input.log"), "{error}"),
    };
    assert!(taken <= bytes.len() as u64);
    let frames: Vec<Vec<u8>> = payloads.iter().map(|payload| frame(payload)).collect();
    let written = frames.concat();
    let (taken, again) = decode_frames(&written, name).expect("records that were written");
    assert_eq!(taken, written.len() as u64);
    assert!(again == payloads, "other records when they are read again");
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_le_bytes().to_vec();
    frame.extend(XxHash3_64::oneshot(payload).to_le_bytes());
    frame.extend(payload);
    frame
}

/// Cuts the length of the last frame to the bytes that there are, and corrects all checksums.
fn correct(bytes: &mut [u8]) {
    let mut rest = bytes;
    while let Some((head, tail)) = rest.split_first_chunk_mut::<HEAD_BYTES>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let length = tail.len().min(length as usize);
        let (payload, behind) = tail.split_at_mut(length);
        head[..4].copy_from_slice(&(length as u32).to_le_bytes());
        head[4..].copy_from_slice(&XxHash3_64::oneshot(payload).to_le_bytes());
        rest = behind;
    }
}

/// The files of a directory in which a small drive was used and killed.
fn seeds() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let config = DriveConfig {
        user_bytes: 60 * 4096,
        ..DriveConfig::tiny()
    };
    DriveDir::create(&path, &config, "fuzz").expect("a directory");
    let opened = DriveDir::open(&path, Power::default(), Safety::Process);
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
    let seed = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).expect("a file");
        [vec![1], bytes].concat()
    };
    files.iter().map(seed).collect()
}
