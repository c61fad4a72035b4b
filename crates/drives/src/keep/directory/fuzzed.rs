//! Logs and checkpoints as bytes, for the fuzzer.

use super::file::{FrameFileId, FrameFileKind, FrameHead};
use super::frames::{self, ExpectedFrameFile};
use super::places::DataPlaces;
use super::records::LastContents;
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// A log with these payloads, each in a frame with correct sums.
pub fn encode_frames(payloads: &[Vec<u8>]) -> Vec<u8> {
    let place = FrameFileId {
        directory: 1,
        kind: FrameFileKind::Log,
        number: 1,
    };
    let (mut file, mut chain) = (place.head(0).to_vec(), 0);
    for (number, payload) in (0..).zip(payloads) {
        let head = FrameHead {
            length: payload.len() as u32,
            number,
            chain,
            synced: 0,
            sum: XxHash3_64::oneshot(payload),
        };
        let (head, sum) = head.bytes(place);
        chain = sum;
        file.extend(head);
        file.extend(payload);
    }
    file
}

/// Decodes the frames at the beginning of a log or checkpoint: number of bytes that they take and
/// the records, encoded again. Reading stops at the first frame that is cut short or damaged.
///
/// # Errors
/// When a frame with correct sums does not hold a record.
pub fn decode_frames(bytes: &[u8], name: &Path) -> Result<(u64, Vec<Vec<u8>>), LabError> {
    let kind = if bytes.starts_with(b"ssdlabKC") {
        FrameFileKind::Checkpoint
    } else {
        FrameFileKind::Log
    };
    let expected = ExpectedFrameFile::any(kind);
    let places = Arc::new(DataPlaces::of(Path::new("none"), false));
    places.are_of(&DriveConfig::tiny())?;
    let mut records = Vec::new();
    let mut input = Cursor::new(bytes);
    let len = bytes.len() as u64;
    let scan = frames::read_from(&mut input, len, name, expected, &places, |record| {
        records.push(record);
    })?;
    let mut last_contents = LastContents::of(&places);
    let mut encoded = Vec::new();
    for record in &records {
        let mut payload = Vec::new();
        let mut out = ssdlab_ssd::image::Writer::new(&mut payload);
        let saved = record
            .save(&mut out, &mut last_contents)
            .and_then(|()| out.flush());
        saved.map_err(|error| LabError::refused(error.to_string(), ""))?;
        encoded.push(payload);
    }
    Ok((scan.bytes, encoded))
}
