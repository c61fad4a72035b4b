//! Saved drives: a file whose checksum is wrong is refused; one with a correct checksum is
//! refused, or gives the same bytes when it is saved and loaded again.

use super::drive_image;
use crate::Target;
use ssdlab_drives::keep::saved::{SavedDriveInfo, load_from};
use std::hash::Hasher;
use std::io::Cursor;
use twox_hash::XxHash3_64;

/// The first byte says whether to correct lengths and checksum, the rest is the file.
pub const TARGET: Target = Target {
    name: "saved_drive",
    run,
    seeds: || {
        let about = serde_json::to_vec(&SavedDriveInfo::default()).expect("JSON");
        let images = (drive_image::TARGET.seeds)().into_iter();
        let file = |image: Vec<u8>| [&[1], &header(&about, &image)[..], &about, &image].concat();
        images.map(file).collect()
    },
    words: &[
        "ssdlabSV",
        "ssdlabDR",
        "\"settings\":[]",
        "\"name\":\"x\"",
        "null",
    ],
};

const HEADER_BYTES: usize = 32;

/// The header of a file of version 2.
fn header(about: &[u8], image: &[u8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(b"ssdlabSV");
    header[8..12].copy_from_slice(&2_u32.to_le_bytes());
    header[12..16].copy_from_slice(&(about.len() as u32).to_le_bytes());
    header[16..24].copy_from_slice(&(image.len() as u64).to_le_bytes());
    let mut hash = XxHash3_64::new();
    hash.write(about);
    hash.write(image);
    hash.write(&header[..24]);
    header[24..].copy_from_slice(&hash.finish().to_le_bytes());
    header
}

fn run(input: &[u8]) {
    let Some((&seal, file)) = input.split_first() else {
        return;
    };
    let mut file = file.to_vec();
    if seal % 2 == 1 && file.len() >= HEADER_BYTES {
        let (old, rest) = file.split_at(HEADER_BYTES);
        let about = u32::from_le_bytes([old[12], old[13], old[14], old[15]]) as usize;
        let (about, image) = rest.split_at(about.min(rest.len()));
        let header = header(about, image);
        file[..HEADER_BYTES].copy_from_slice(&header);
    }
    let length = file.len() as u64;
    let Ok((drive, about)) = load_from(&mut Cursor::new(&file), length) else {
        return;
    };
    assert!(header_is_right(&file), "a wrong checksum is accepted");
    let written = serde_json::to_string(&about).expect("JSON");
    let again: SavedDriveInfo =
        serde_json::from_str(&written).expect("a description that was written");
    assert_eq!(again, about);
    let mut image = Vec::new();
    drive.save(&mut image).expect("no outstanding commands");
    drive_image::run(&image);
}

fn header_is_right(file: &[u8]) -> bool {
    let (old, rest) = file.split_at(HEADER_BYTES);
    let about = u32::from_le_bytes([old[12], old[13], old[14], old[15]]) as usize;
    let (about, image) = rest.split_at(about);
    header(about, image) == *old
}
