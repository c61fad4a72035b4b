//! Encodes replies.

use super::wire::*;
use crate::store::Piece;

/// Length in bytes of the head of a chunk of data, its offset included.
const DATA_HEAD: usize = 28;

/// Appends a simple reply, or the head of one with data.
pub fn simple(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Appends the head of a chunk of a structured reply.
fn chunk(out: &mut Vec<u8>, cookie: u64, flags: u16, kind: u16, length: u32) {
    out.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(length.to_be_bytes());
}

/// Appends a complete structured reply without content.
pub fn none(out: &mut Vec<u8>, cookie: u64) {
    chunk(out, cookie, CHUNK_DONE, CHUNK_NONE, 0);
}

/// Appends a complete structured reply with an error and its message.
pub fn error(out: &mut Vec<u8>, cookie: u64, number: u32, text: &str) {
    let text = &text.as_bytes()[..text.len().min(NAME_MAX)];
    chunk(out, cookie, CHUNK_DONE, CHUNK_ERROR, 6 + text.len() as u32);
    out.extend(number.to_be_bytes());
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text);
}

/// Appends the head of a chunk of data; `length` bytes must follow.
pub fn data_head(out: &mut Vec<u8>, cookie: u64, flags: u16, offset: u64, length: u32) {
    chunk(out, cookie, flags, CHUNK_OFFSET_DATA, length + 8);
    out.extend(offset.to_be_bytes());
}

/// Appends a chunk of zeroes.
fn hole(out: &mut Vec<u8>, cookie: u64, flags: u16, offset: u64, length: u32) {
    chunk(out, cookie, flags, CHUNK_OFFSET_HOLE, 12);
    out.extend(offset.to_be_bytes());
    out.extend(length.to_be_bytes());
}

/// Chunks of data and holes; adjacent pieces of one kind share a chunk.
pub struct Chunks<'a> {
    out: &'a mut Vec<u8>,
    cookie: u64,
    /// Offset of the next piece.
    at: u64,
    /// The chunk that the next piece may extend.
    last: Option<Last>,
}

#[derive(Clone, Copy)]
struct Last {
    start: usize,
    offset: u64,
    is_hole: bool,
}

impl<'a> Chunks<'a> {
    /// Begins a reply at `offset`.
    pub fn new(cookie: u64, offset: u64, out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            cookie,
            at: offset,
            last: None,
        }
    }

    /// Appends the next piece.
    pub fn add(&mut self, piece: Piece<'_>) {
        let is_hole = matches!(piece, Piece::Zeroes(_));
        if self.last.is_none_or(|last| last.is_hole != is_hole) {
            self.complete(0);
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

    /// Completes the head of the last chunk.
    fn complete(&mut self, flags: u16) {
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

    /// Ends the reply.
    pub fn end(mut self) {
        self.complete(CHUNK_DONE);
    }
}

/// Appends a chunk of block states of one context: pairs of bytes and state.
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
    fn pieces_of_one_kind_share_a_chunk_and_the_last_chunk_is_marked() {
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
