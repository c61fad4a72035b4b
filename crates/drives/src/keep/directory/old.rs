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
    mut each: impl FnMut(FrameRecord),
) -> Result<FrameScan, LabError> {
    let bytes = std::fs::read(path).map_err(|e| LabError::file("reading", path, e))?;
    let mut found = FrameScan::nothing(places);
    let mut at = 0;
    found.ended = loop {
        let rest = &bytes[at..];
        if rest.is_empty() {
            break FrameFileEnd::Whole;
        }
        let Some(payload) = payload(rest) else {
            break ended(rest, found.count);
        };
        if XxHash3_64::oneshot(payload) != sum(rest) {
            break damaged("a checksum is wrong", rest, found.count);
        }
        let mut from = payload;
        let record = FrameRecord::load(
            &mut Reader::new(&mut from, payload.len() as u64),
            &mut found.said,
        );
        let refused = |error| {
            let what = format!("{}: byte {at}: {error}", path.display());
            LabError::refused(
                what,
                "the build that wrote it reads it; nothing was changed",
            )
        };
        each(record.map_err(refused)?);
        at += HEAD + payload.len();
        (found.bytes, found.count) = (at as u64, found.count + 1);
    };
    Ok(found)
}

fn length(frame: &[u8]) -> Option<usize> {
    let length = frame.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*length) as usize)
}

fn sum(frame: &[u8]) -> u64 {
    super::file::le_u64(&frame[4..HEAD])
}

/// The payload of a frame that ends within `rest`.
fn payload(rest: &[u8]) -> Option<&[u8]> {
    let length = length(rest).filter(|&length| length <= PAYLOAD_MAX)?;
    rest.get(HEAD..HEAD + length)
}

/// A frame that leads behind the end.
fn ended(rest: &[u8], number: u64) -> FrameFileEnd {
    let too_long = length(rest).is_some_and(|length| length > PAYLOAD_MAX);
    if too_long || good_behind(rest) > 0 {
        return damaged("its length leads behind the end of the file", rest, number);
    }
    FrameFileEnd::Torn
}

fn damaged(what: &str, rest: &[u8], number: u64) -> FrameFileEnd {
    let behind = TrailingFrames {
        frames: good_behind(rest),
        bytes: rest.len() as u64,
    };
    FrameFileEnd::Damaged(format!("frame {number}: {what}"), behind)
}

/// Good frames behind the one that `rest` begins with.
fn good_behind(rest: &[u8]) -> u64 {
    let window = 1..rest.len().min(WINDOW);
    let first = window.into_iter().find(|&at| is_good(&rest[at..]));
    let Some(mut at) = first else {
        return 0;
    };
    let mut count = 0;
    while let Some(payload) = payload(&rest[at..]) {
        if XxHash3_64::oneshot(payload) != sum(&rest[at..]) {
            break;
        }
        count += 1;
        at += HEAD + payload.len();
    }
    count
}

/// Whether a good frame begins here. Lengths are looked at first, as sums cost more.
fn is_good(rest: &[u8]) -> bool {
    let (mut at, mut hops) = (0, 0);
    while at < rest.len() && hops < HOPS {
        let Some(payload) = payload(&rest[at..]) else {
            // The last may be torn.
            break;
        };
        if payload.first().is_none_or(|&kind| kind > 5) {
            return false;
        }
        at += HEAD + payload.len();
        hops += 1;
    }
    hops > 0 && payload(rest).is_some_and(|payload| XxHash3_64::oneshot(payload) == sum(rest))
}
