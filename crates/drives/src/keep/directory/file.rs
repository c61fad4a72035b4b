//! The form of checkpoints and logs: a head that says which file it is, and a chain of frames.
//!
//! ```text
//! file  = head (48 bytes) | frame | frame ...
//! head  = magic "ssdlabKC" or "ssdlabKL" | version u32 | 0 u32 | directory u64 | number u64
//!         | chain u64 | sum u64
//! frame = mark "sdFr" | length u32 | number u64 | chain u64 | synced u64 | sum u64 | head sum u64
//!         | payload
//! ```
//! Integers are little-endian, sums XXH3-64. A head's sum covers the file it belongs to: directory,
//! kind and number. `chain` is the head sum of the frame before, and at a log's beginning that of
//! the log before: a frame fits in one place only. `synced` is how many bytes of the file were on
//! disk for certain when the frame was written.

use ssdlab_base::LabError;
use std::fs::File;
use std::io;
use std::path::Path;
use twox_hash::XxHash3_64;

/// Version of the form.
pub const VERSION: u32 = 6;
/// The oldest of this form: there, all bytes are in checkpoints and logs.
pub const VERSION_MIN: u32 = 5;
/// Bytes of a file's head, and of a frame's.
pub const HEAD: usize = 48;
/// Longest payload: a whole buffer of a large drive fits.
pub const PAYLOAD_MAX: u32 = 1 << 30;
/// First bytes of a frame.
pub const MARK: [u8; 4] = *b"sdFr";
/// Bytes of a frame's head that are known before it is read: mark, number and chain.
const KNOWN: [std::ops::Range<usize>; 2] = [0..4, 8..24];

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFileKind {
    /// Everything at one moment.
    Checkpoint,
    /// What has happened since.
    Log,
}

/// Which file of which directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameFileId {
    /// Drawn when the directory was made.
    pub directory: u64,
    /// What it is.
    pub kind: FrameFileKind,
    /// The number in its name.
    pub number: u64,
}

impl FrameFileId {
    fn magic(self) -> [u8; 8] {
        match self.kind {
            FrameFileKind::Checkpoint => *b"ssdlabKC",
            FrameFileKind::Log => *b"ssdlabKL",
        }
    }

    /// Sum of a head without its sum field.
    fn sum(self, head: &[u8; HEAD]) -> u64 {
        let mut input = [0; 24 + HEAD - 8];
        input[..8].copy_from_slice(&self.magic());
        input[8..16].copy_from_slice(&self.directory.to_le_bytes());
        input[16..24].copy_from_slice(&self.number.to_le_bytes());
        input[24..].copy_from_slice(&head[..HEAD - 8]);
        XxHash3_64::oneshot(&input)
    }

    /// The head of the file, whose frames begin with `chain`.
    pub fn head(self, chain: u64) -> [u8; HEAD] {
        self.head_of(VERSION, chain)
    }

    /// The same in a version of the form.
    pub(super) fn head_of(self, version: u32, chain: u64) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&self.magic());
        head[8..12].copy_from_slice(&version.to_le_bytes());
        head[16..24].copy_from_slice(&self.directory.to_le_bytes());
        head[24..32].copy_from_slice(&self.number.to_le_bytes());
        head[32..40].copy_from_slice(&chain.to_le_bytes());
        let sum = self.sum(&head);
        head[40..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// Reads the head of a file of this kind: the place that it names, and its chain; `None` when
    /// it is not such a head.
    pub fn of_head(kind: FrameFileKind, head: &[u8; HEAD]) -> Option<(FrameFileId, u64)> {
        let place = FrameFileId {
            directory: le_u64(&head[16..24]),
            kind,
            number: le_u64(&head[24..32]),
        };
        let whole = head[..8] == place.magic() && le_u64(&head[40..]) == place.sum(head);
        whole.then(|| (place, le_u64(&head[32..40])))
    }

    /// Whether bytes that end early may be the beginning of this file's head.
    pub fn may_begin(self, bytes: &[u8]) -> bool {
        (VERSION_MIN..=VERSION).any(|version| {
            // The chain and the sum are behind it.
            let known = &self.head_of(version, 0)[..32];
            let count = bytes.len().min(known.len());
            bytes[..count] == known[..count]
        })
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes of the payload.
    pub length: u32,
    /// Frames before it in the file.
    pub number: u64,
    /// Head sum of the frame before.
    pub chain: u64,
    /// Bytes of the file that are on disk.
    pub synced: u64,
    /// Sum of the payload.
    pub sum: u64,
}

impl FrameHead {
    /// Its bytes, and its own sum: the chain of the frame that follows.
    pub fn bytes(&self, place: FrameFileId) -> ([u8; HEAD], u64) {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&MARK);
        head[4..8].copy_from_slice(&self.length.to_le_bytes());
        head[8..16].copy_from_slice(&self.number.to_le_bytes());
        head[16..24].copy_from_slice(&self.chain.to_le_bytes());
        head[24..32].copy_from_slice(&self.synced.to_le_bytes());
        head[32..40].copy_from_slice(&self.sum.to_le_bytes());
        let sum = place.sum(&head);
        head[40..].copy_from_slice(&sum.to_le_bytes());
        (head, sum)
    }

    /// Reads it, and its own sum; `None` when it is not a head of a frame of `place`.
    pub fn of_bytes(place: FrameFileId, head: &[u8; HEAD]) -> Option<(FrameHead, u64)> {
        let parsed = FrameHead {
            length: u32::from_le_bytes([head[4], head[5], head[6], head[7]]),
            number: le_u64(&head[8..16]),
            chain: le_u64(&head[16..24]),
            synced: le_u64(&head[24..32]),
            sum: le_u64(&head[32..40]),
        };
        let (bytes, sum) = parsed.bytes(place);
        let whole = bytes == *head && parsed.length <= PAYLOAD_MAX;
        whole.then_some((parsed, sum))
    }

    /// Whether bytes that end early may be the beginning of frame `number`, which follows `chain`.
    pub fn may_begin(number: u64, chain: u64, bytes: &[u8]) -> bool {
        let mut expected = [0; HEAD];
        expected[..4].copy_from_slice(&MARK);
        expected[8..16].copy_from_slice(&number.to_le_bytes());
        expected[16..24].copy_from_slice(&chain.to_le_bytes());
        let known = KNOWN.into_iter().flatten();
        known
            .take_while(|&index| index < bytes.len())
            .all(|index| bytes[index] == expected[index])
    }
}

/// A number of 8 bytes.
pub fn le_u64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// Writes all of `bytes` at `offset`.
#[cfg(unix)]
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes all of `bytes` at `offset`; the file's own position moves.
#[cfg(not(unix))]
pub(super) fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, Write};
    file.seek(io::SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// The names in a folder are on disk.
pub(super) fn sync_folder(path: &Path) -> Result<(), LabError> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|e| LabError::file("syncing", path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: FrameFileId = FrameFileId {
        directory: 7,
        kind: FrameFileKind::Log,
        number: 3,
    };

    /// A head is read back, and a flipped bit or another file is found.
    #[test]
    fn heads_fit_in_their_place_only() {
        let head = LOG.head(5);
        assert_eq!(
            FrameFileId::of_head(FrameFileKind::Log, &head),
            Some((LOG, 5))
        );
        assert_eq!(FrameFileId::of_head(FrameFileKind::Checkpoint, &head), None);
        let frame = FrameHead {
            length: 9,
            number: 2,
            chain: 1,
            synced: 4,
            sum: 8,
        };
        let (bytes, sum) = frame.bytes(LOG);
        assert_eq!(FrameHead::of_bytes(LOG, &bytes), Some((frame, sum)));
        let others = [
            FrameFileId {
                directory: 8,
                ..LOG
            },
            FrameFileId { number: 4, ..LOG },
            FrameFileId {
                kind: FrameFileKind::Checkpoint,
                ..LOG
            },
        ];
        for other in others {
            assert_eq!(FrameHead::of_bytes(other, &bytes), None, "{other:?}");
        }
        for bit in 0..HEAD * 8 {
            let flip = |mut head: [u8; HEAD]| {
                head[bit / 8] ^= 1 << (bit % 8);
                head
            };
            assert_eq!(
                FrameFileId::of_head(FrameFileKind::Log, &flip(head)),
                None,
                "bit {bit}"
            );
            assert_eq!(FrameHead::of_bytes(LOG, &flip(bytes)), None, "bit {bit}");
        }
    }

    /// What a kill leaves is a prefix, and is taken for one at every length.
    #[test]
    fn prefixes_may_begin_and_others_may_not() {
        let frame = FrameHead {
            length: 9,
            number: 2,
            chain: 0x0102_0304_0506_0708,
            synced: 4,
            sum: 8,
        };
        let (bytes, _) = frame.bytes(LOG);
        let head = LOG.head(5);
        for length in 0..HEAD {
            assert!(FrameHead::may_begin(2, frame.chain, &bytes[..length]));
            assert!(LOG.may_begin(&head[..length]));
        }
        assert!(!FrameHead::may_begin(3, frame.chain, &bytes[..9]));
        assert!(!FrameHead::may_begin(2, 0, &bytes[..17]));
        assert!(!FrameHead::may_begin(2, frame.chain, b"zero"));
        assert!(!LOG.may_begin(b"ssdlabKC"));
    }
}
