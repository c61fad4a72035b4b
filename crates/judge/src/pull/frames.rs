//! The file of a ledger: a head, then frames, each with its number, the sum of the frame before,
//! records, and its own sum.
//!
//! A killed writer or machine leaves whole frames and then the beginning of one, or bytes that are
//! none: a torn tail, which is cut off. A frame that is not whole and has a whole one behind it is
//! damage, and an error (docs/decisions/031, 039). Losing the last frame never accuses a drive: if
//! it held promises, fewer are held against the drive; if it held a write that the drive has, the
//! check says that the ledger is too short.

use super::record::LedgerRecord;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use twox_hash::XxHash3_64;

const MAGIC: &[u8; 16] = b"ssdlab pull 1\n\0\0";
/// Bytes of the head: magic, number of the ledger, sum.
pub const HEAD: usize = 32;
/// Bytes of a frame around its records: length, number, chain, sum.
const AROUND: usize = 4 + 8 + 8 + 8;
/// Largest payload of a frame.
pub const PAYLOAD_MAX: usize = 256 << 20;

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The head of ledger number `id`.
pub fn head(id: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(id.to_le_bytes());
    let sum = XxHash3_64::oneshot(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Where the next frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramePosition {
    /// Bytes before it.
    pub len: u64,
    index: u64,
    chain: u64,
}

impl FramePosition {
    /// A frame of `payload` at this place.
    pub fn frame(self, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(payload.len() + AROUND);
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(self.index.to_le_bytes());
        bytes.extend(self.chain.to_le_bytes());
        bytes.extend(payload);
        let sum = XxHash3_64::oneshot(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// The place behind `frame`, if it belongs here and is whole.
    pub fn after(self, frame: &[u8]) -> Option<FramePosition> {
        let whole = whole(frame)?;
        let fits = whole == frame.len() && word(frame, 4) == self.index;
        (fits && word(frame, 12) == self.chain).then(|| FramePosition {
            len: self.len + whole as u64,
            index: self.index + 1,
            chain: word(frame, whole - 8),
        })
    }
}

/// Length of the whole frame at the start of `bytes`.
fn whole(bytes: &[u8]) -> Option<usize> {
    let length: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    let payload = u32::from_le_bytes(length) as usize;
    let len = payload + AROUND;
    if payload == 0 || payload > PAYLOAD_MAX || bytes.len() < len {
        return None;
    }
    (word(bytes, len - 8) == XxHash3_64::oneshot(&bytes[..len - 8])).then_some(len)
}

/// The records of a ledger.
pub struct LedgerContents {
    /// In order.
    pub records: Vec<LedgerRecord>,
    /// Where the next frame goes; what is behind is a torn tail.
    pub end: FramePosition,
}

/// Reads a ledger whose file is called `name`.
///
/// # Errors
/// When it is not a ledger, or is damaged before its end.
pub fn read(bytes: &[u8], name: &str) -> Result<LedgerContents, LabError> {
    let bad = |at: usize, what: &str, hint: &str| LabError::BadEntry {
        key: "ledger".into(),
        what: format!("{what}, at byte {at}"),
        place: InputLocation {
            source: name.to_owned(),
            line: None,
        },
        hint: hint.to_owned(),
    };
    if bytes.len() < HEAD || bytes[..16] != MAGIC[..] {
        return Err(bad(0, "no ledger of pulls", "`ssdlab pull run` makes one"));
    }
    let damaged = "start over with a new ledger: nothing that this one says can be relied on";
    if word(bytes, 24) != XxHash3_64::oneshot(&bytes[..24]) {
        return Err(bad(0, "a damaged head", damaged));
    }
    let mut end = FramePosition {
        len: HEAD as u64,
        index: 0,
        chain: word(bytes, 24),
    };
    let mut records = Vec::new();
    loop {
        let offset = end.len as usize;
        let tail = &bytes[offset..];
        let Some(len) = whole(tail) else {
            let later = (0..tail.len()).any(|from| follows(&tail[from..], end.index));
            return if later {
                Err(bad(
                    offset,
                    "a damaged frame with whole ones behind it",
                    damaged,
                ))
            } else {
                Ok(LedgerContents { records, end })
            };
        };
        let Some(next) = end.after(&tail[..len]) else {
            return Err(bad(offset, "a frame of another place or ledger", damaged));
        };
        let payload = &tail[20..len - 8];
        let decoded = LedgerRecord::decode_all(payload);
        records.extend(decoded.ok_or_else(|| bad(offset, "records of another version", ""))?);
        end = next;
    }
}

/// Whether a whole frame of number `index` or later begins here.
fn follows(bytes: &[u8], index: u64) -> bool {
    let plausible = bytes.len() > AROUND && word(bytes, 4).wrapping_sub(index) < 1 << 40;
    plausible && whole(bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(frames: u64) -> Vec<u8> {
        let mut bytes = head(5);
        let mut at = read(&bytes, "test").expect("empty").end;
        for number in 0..frames {
            let mut payload = Vec::new();
            LedgerRecord::Acked {
                seq: number,
                at_ns: 1,
            }
            .encode(&mut payload);
            let frame = at.frame(&payload);
            at = at.after(&frame).expect("fits");
            bytes.extend(frame);
        }
        bytes
    }

    #[test]
    fn a_torn_tail_is_cut_off_wherever_it_ends() {
        let bytes = ledger(4);
        let two = ledger(2).len();
        let three = ledger(3).len();
        for len in two..three {
            let found = read(&bytes[..len], "test").expect("a tail");
            assert_eq!((found.records.len(), found.end.len), (2, two as u64));
        }
        // A machine that lost power may leave zeros.
        let mut zeros = bytes[..three].to_vec();
        zeros.extend([0; 5000]);
        assert_eq!(read(&zeros, "test").expect("a tail").records.len(), 3);
    }

    #[test]
    fn damage_before_the_last_frame_is_an_error() {
        let bytes = ledger(4);
        let last = ledger(3).len();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            match read(&flipped, "test") {
                Err(_) => assert!(at < last, "byte {at} of the last frame"),
                Ok(found) => {
                    assert!(at >= last, "byte {at} of {last}");
                    assert_eq!(found.records.len(), 3);
                }
            }
        }
    }

    #[test]
    fn a_frame_of_another_place_does_not_fit() {
        let bytes = ledger(3);
        let end = read(&bytes, "test").expect("whole").end;
        let old = &bytes[ledger(1).len()..ledger(2).len()];
        assert_eq!(end.after(old), None);
        let mut twice = ledger(2);
        twice.extend(old);
        assert!(read(&twice, "test").is_err(), "no kill leaves that");
    }
}
