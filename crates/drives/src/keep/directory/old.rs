//! Files of formats 3 and 4: frames of a length, a checksum and a record, without a head and
//! without a chain. They are read, and never written.
//!
//! A kill leaves the beginning of a frame at the end. A length that leads behind the end of the
//! file may be one, or a flipped bit: it is damage where a good frame lies behind it.

use super::frames::{FrameFileEnd, FrameScan, TrailingFrames};
use super::places::DataPlaces;
use super::records::FrameRecord;
use ssdlab_base::LabError;
use ssdlab_ssd::image::Reader;
use std::path::Path;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// The oldest format that is read, and the newest of this form.
pub const VERSIONS: std::ops::RangeInclusive<u32> = 3..=4;

/// Whether a format is of this form.
pub fn has(format: u32) -> bool {
    VERSIONS.contains(&format)
}

/// Bytes before a frame's payload.
const HEAD: usize = 12;
const PAYLOAD_MAX: usize = 1 << 30;
/// How far behind a broken frame good ones are looked for.
const WINDOW: usize = 8 << 20;
/// Frames that must follow each other to be taken for good ones.
const HOPS: u32 = 3;

/// Reads the whole frames of a file.
///
/// # Errors
/// When it cannot be read, or a frame with a correct checksum holds no record.
pub fn read(
    path: &Path,
    places: &Arc<DataPlaces>,
    mut take_record: impl FnMut(FrameRecord),
) -> Result<FrameScan, LabError> {
    let bytes = std::fs::read(path).map_err(|e| LabError::file("reading", path, e))?;
    let mut scan = FrameScan::nothing(places);
    let mut position = 0;
    scan.ended = loop {
        let remaining = &bytes[position..];
        if remaining.is_empty() {
            break FrameFileEnd::Whole;
        }
        let Some(payload) = payload(remaining) else {
            break ended(remaining, scan.count);
        };
        if XxHash3_64::oneshot(payload) != sum(remaining) {
            break damaged("a checksum is wrong", remaining, scan.count);
        }
        let mut from = payload;
        let record = FrameRecord::load(
            &mut Reader::new(&mut from, payload.len() as u64),
            &mut scan.last_contents,
        );
        let refused = |error| {
            let problem = format!("{}: byte {position}: {error}", path.display());
            LabError::refused(
                problem,
                "the build that wrote it reads it; nothing was changed",
            )
        };
        take_record(record.map_err(refused)?);
        position += HEAD + payload.len();
        (scan.bytes, scan.count) = (position as u64, scan.count + 1);
    };
    Ok(scan)
}

fn length(frame: &[u8]) -> Option<usize> {
    let length = frame.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*length) as usize)
}

fn sum(frame: &[u8]) -> u64 {
    super::file::le_u64(&frame[4..HEAD])
}

/// The payload of a frame that ends within `bytes`.
fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let length = length(bytes).filter(|&length| length <= PAYLOAD_MAX)?;
    bytes.get(HEAD..HEAD + length)
}

/// A frame that leads behind the end.
fn ended(bytes: &[u8], number: u64) -> FrameFileEnd {
    let too_long = length(bytes).is_some_and(|length| length > PAYLOAD_MAX);
    if too_long || good_behind(bytes) > 0 {
        return damaged("its length leads behind the end of the file", bytes, number);
    }
    FrameFileEnd::Torn
}

fn damaged(problem: &str, bytes: &[u8], number: u64) -> FrameFileEnd {
    let behind = TrailingFrames {
        frames: good_behind(bytes),
        bytes: bytes.len() as u64,
    };
    FrameFileEnd::Damaged(format!("frame {number}: {problem}"), behind)
}

/// Good frames behind the one that `bytes` begins with.
fn good_behind(bytes: &[u8]) -> u64 {
    let window = 1..bytes.len().min(WINDOW);
    let first = window.into_iter().find(|&offset| is_good(&bytes[offset..]));
    let Some(mut at) = first else {
        return 0;
    };
    let mut count = 0;
    while let Some(payload) = payload(&bytes[at..]) {
        if XxHash3_64::oneshot(payload) != sum(&bytes[at..]) {
            break;
        }
        count += 1;
        at += HEAD + payload.len();
    }
    count
}

/// Whether a good frame begins here. Lengths are looked at first, as sums cost more.
fn is_good(bytes: &[u8]) -> bool {
    let (mut at, mut hops) = (0, 0);
    while at < bytes.len() && hops < HOPS {
        let Some(payload) = payload(&bytes[at..]) else {
            // The last may be torn.
            break;
        };
        if payload.first().is_none_or(|&kind| kind > 5) {
            return false;
        }
        at += HEAD + payload.len();
        hops += 1;
    }
    hops > 0 && payload(bytes).is_some_and(|payload| XxHash3_64::oneshot(payload) == sum(bytes))
}
