//! Replies as bytes.

use super::wire::*;
use crate::store::Piece;

/// Bytes of the head of a simple reply.
pub const SIMPLE_HEAD: usize = 16;
/// Bytes of the head of a chunk of data, its offset included.
pub const DATA_HEAD: usize = 28;

/// A simple reply, or the head of one with data.
pub fn simple(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// The head of a chunk of a structured reply.
pub fn chunk(out: &mut Vec<u8>, cookie: u64, flags: u16, kind: u16, length: u32) {
    out.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(length.to_be_bytes());
}

/// A whole structured reply that says nothing but "done".
pub fn none(out: &mut Vec<u8>, cookie: u64) {
    chunk(out, cookie, CHUNK_DONE, CHUNK_NONE, 0);
}

/// A whole structured reply with an error and words.
pub fn error(out: &mut Vec<u8>, cookie: u64, number: u32, text: &str) {
    let text = &text.as_bytes()[..text.len().min(NAME_MAX)];
    chunk(out, cookie, CHUNK_DONE, CHUNK_ERROR, 6 + text.len() as u32);
    out.extend(number.to_be_bytes());
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text);
}

/// The head of a chunk of data; `length` bytes follow.
pub fn data_head(out: &mut Vec<u8>, cookie: u64, flags: u16, offset: u64, length: u32) {
    chunk(out, cookie, flags, CHUNK_OFFSET_DATA, length + 8);
    out.extend(offset.to_be_bytes());
}

/// A chunk that says "zeroes".
pub fn hole(out: &mut Vec<u8>, cookie: u64, flags: u16, offset: u64, length: u32) {
    chunk(out, cookie, flags, CHUNK_OFFSET_HOLE, 12);
    out.extend(offset.to_be_bytes());
    out.extend(length.to_be_bytes());
}

/// Chunks of data and holes, as long as what they hold goes on.
pub struct Chunks<'a> {
    out: &'a mut Vec<u8>,
    cookie: u64,
    /// Offset of the next byte.
    at: u64,
    /// Where the chunk that may go on begins.
    last: Option<Last>,
}

#[derive(Clone, Copy)]
struct Last {
    start: usize,
    offset: u64,
    is_hole: bool,
}

impl<'a> Chunks<'a> {
    /// Chunks of a reply that begins at `offset`.
    pub fn new(cookie: u64, offset: u64, out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            cookie,
            at: offset,
            last: None,
        }
    }

    /// Adds what comes next.
    pub fn add(&mut self, piece: Piece<'_>) {
        let is_hole = matches!(piece, Piece::Zeroes(_));
        if self.last.is_none_or(|last| last.is_hole != is_hole) {
            self.settle(0);
            let start = self.out.len();
            self.last = Some(Last {
                start,
                offset: self.at,
                is_hole,
            });
            if !is_hole {
                data_head(self.out, self.cookie, 0, self.at, 0);
            }
        }
        self.at += match piece {
            Piece::Bytes(bytes) => {
                self.out.extend_from_slice(bytes);
                bytes.len() as u64
            }
            Piece::Zeroes(count) => count as u64,
        };
    }

    /// The last chunk is complete: what its head did not know is put there.
    fn settle(&mut self, flags: u16) {
        let Some(last) = self.last.take() else {
            return;
        };
        let length = (self.at - last.offset) as u32;
        if last.is_hole {
            return hole(self.out, self.cookie, flags, last.offset, length);
        }
        let mut head = Vec::with_capacity(DATA_HEAD);
        data_head(&mut head, self.cookie, flags, last.offset, length);
        self.out[last.start..last.start + DATA_HEAD].copy_from_slice(&head);
    }

    /// Nothing follows.
    pub fn end(mut self) {
        self.settle(CHUNK_DONE);
    }
}

/// A chunk of block states of one context: pairs of bytes and state.
pub fn states(out: &mut Vec<u8>, cookie: u64, flags: u16, context: u32, found: &[(u32, u32)]) {
    chunk(
        out,
        cookie,
        flags,
        CHUNK_BLOCK_STATUS,
        4 + 8 * found.len() as u32,
    );
    out.extend(context.to_be_bytes());
    for (length, state) in found {
        out.extend(length.to_be_bytes());
        out.extend(state.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_kind_become_one_chunk_and_the_last_is_marked() {
        let mut out = vec![9];
        let mut chunks = Chunks::new(5, 4096, &mut out);
        for piece in [
            Piece::Bytes(&[1; 4]),
            Piece::Bytes(&[2; 4]),
            Piece::Zeroes(8),
            Piece::Zeroes(16),
            Piece::Bytes(&[3; 2]),
        ] {
            chunks.add(piece);
        }
        chunks.end();
        let mut expected = vec![9];
        data_head(&mut expected, 5, 0, 4096, 8);
        expected.extend([1, 1, 1, 1, 2, 2, 2, 2]);
        hole(&mut expected, 5, 0, 4104, 24);
        data_head(&mut expected, 5, CHUNK_DONE, 4128, 2);
        expected.extend([3, 3]);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_hole_at_the_end_is_the_last_chunk() {
        let (mut out, mut expected) = (Vec::new(), Vec::new());
        let mut chunks = Chunks::new(5, 0, &mut out);
        chunks.add(Piece::Zeroes(512));
        chunks.end();
        hole(&mut expected, 5, CHUNK_DONE, 0, 512);
        assert_eq!(out, expected);
    }
}
