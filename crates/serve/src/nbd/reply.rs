//! Encodes replies.

use super::wire::*;
use crate::store::ReadPiece;

/// Length in bytes of the head of a chunk of data, its offset included: structured, extended.
const DATA_HEAD: [usize; 2] = [28, 40];

/// Form of the replies of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyForm {
    /// Simple replies.
    Simple,
    /// Structured replies with compact headers.
    Structured,
    /// Structured replies with extended headers.
    Extended,
}

/// The reply to a request, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Its form.
    pub form: ReplyForm,
    /// The request's cookie.
    pub cookie: u64,
    /// The request's offset, which an extended header repeats.
    pub offset: u64,
}

impl Reply {
    /// Appends a simple reply, or the head of one with data.
    pub fn simple(self, out: &mut Vec<u8>, error: u32) {
        out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
        out.extend(error.to_be_bytes());
        out.extend(self.cookie.to_be_bytes());
    }

    /// Appends the head of a chunk. Slices, because an array is appended byte by byte.
    fn chunk(self, out: &mut Vec<u8>, flags: u16, kind: u16, length: u32) {
        let is_extended = self.form == ReplyForm::Extended;
        let magic = if is_extended {
            EXTENDED_REPLY_MAGIC
        } else {
            STRUCTURED_REPLY_MAGIC
        };
        let mut head = [0; 16];
        head[..4].copy_from_slice(&magic.to_be_bytes());
        head[4..6].copy_from_slice(&flags.to_be_bytes());
        head[6..8].copy_from_slice(&kind.to_be_bytes());
        head[8..].copy_from_slice(&self.cookie.to_be_bytes());
        out.extend_from_slice(&head);
        if is_extended {
            out.extend_from_slice(&self.offset.to_be_bytes());
            out.extend_from_slice(&u64::from(length).to_be_bytes());
        } else {
            out.extend_from_slice(&length.to_be_bytes());
        }
    }

    /// Appends a complete reply without content.
    pub fn done(self, out: &mut Vec<u8>) {
        match self.form {
            ReplyForm::Simple => self.simple(out, 0),
            ReplyForm::Structured | ReplyForm::Extended => {
                self.chunk(out, CHUNK_DONE, CHUNK_NONE, 0)
            }
        }
    }

    /// Appends a complete reply with an error, and with its message where the form has room.
    pub fn error(self, out: &mut Vec<u8>, number: u32, text: &str) {
        if self.form == ReplyForm::Simple {
            return self.simple(out, number);
        }
        let text = &text.as_bytes()[..text.len().min(NAME_MAX)];
        self.chunk(out, CHUNK_DONE, CHUNK_ERROR, 6 + text.len() as u32);
        out.extend(number.to_be_bytes());
        out.extend((text.len() as u16).to_be_bytes());
        out.extend(text);
    }

    /// Appends the head of a chunk of data; `length` bytes must follow.
    pub fn data_head(self, out: &mut Vec<u8>, flags: u16, offset: u64, length: u32) {
        self.chunk(out, flags, CHUNK_OFFSET_DATA, length + 8);
        out.extend_from_slice(&offset.to_be_bytes());
    }

    /// Appends a chunk of zeroes.
    fn hole(self, out: &mut Vec<u8>, flags: u16, offset: u64, length: u32) {
        self.chunk(out, flags, CHUNK_OFFSET_HOLE, 12);
        out.extend(offset.to_be_bytes());
        out.extend(length.to_be_bytes());
    }

    /// Appends a chunk of block states of one context: pairs of bytes and state. A compact header
    /// has 32 bits for each: a longer run ends there.
    pub fn states(self, out: &mut Vec<u8>, flags: u16, context: u32, found: &[(u64, u32)]) {
        let count = found.len() as u32;
        if self.form == ReplyForm::Extended {
            self.chunk(out, flags, CHUNK_BLOCK_STATUS_EXT, 8 + 16 * count);
            out.extend(context.to_be_bytes());
            out.extend(count.to_be_bytes());
            for (length, state) in found {
                out.extend(length.to_be_bytes());
                out.extend(u64::from(*state).to_be_bytes());
            }
            return;
        }
        self.chunk(out, flags, CHUNK_BLOCK_STATUS, 4 + 8 * count);
        out.extend(context.to_be_bytes());
        for (length, state) in found {
            out.extend((*length as u32).to_be_bytes());
            out.extend(state.to_be_bytes());
        }
    }

    /// Length in bytes of the head of a chunk of data.
    fn data_head_bytes(self) -> usize {
        DATA_HEAD[usize::from(self.form == ReplyForm::Extended)]
    }
}

/// Chunks of data and holes; adjacent pieces of one kind share a chunk.
pub struct Chunks<'a> {
    out: &'a mut Vec<u8>,
    reply: Reply,
    /// Offset of the next piece.
    at: u64,
    /// The chunk that the next piece may extend.
    last: Option<OpenChunk>,
}

#[derive(Clone, Copy)]
struct OpenChunk {
    start: usize,
    offset: u64,
    is_hole: bool,
}

impl<'a> Chunks<'a> {
    /// Begins a reply.
    pub fn new(reply: Reply, out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            reply,
            at: reply.offset,
            last: None,
        }
    }

    /// Appends the next piece.
    pub fn add(&mut self, piece: ReadPiece<'_>) {
        let is_hole = matches!(piece, ReadPiece::Zeroes(_));
        if self.last.is_none_or(|last| last.is_hole != is_hole) {
            self.complete(0);
            let start = self.out.len();
            self.last = Some(OpenChunk {
                start,
                offset: self.at,
                is_hole,
            });
            if !is_hole {
                self.reply.data_head(self.out, 0, self.at, 0);
            }
        }
        self.at += match piece {
            ReadPiece::Bytes(bytes) => {
                self.out.extend_from_slice(bytes);
                bytes.len() as u64
            }
            ReadPiece::Zeroes(count) => count as u64,
        };
    }

    /// Completes the head of the last chunk.
    fn complete(&mut self, flags: u16) {
        let Some(last) = self.last.take() else {
            return;
        };
        let length = (self.at - last.offset) as u32;
        if last.is_hole {
            return self.reply.hole(self.out, flags, last.offset, length);
        }
        let bytes = self.reply.data_head_bytes();
        let mut head = Vec::with_capacity(bytes);
        self.reply.data_head(&mut head, flags, last.offset, length);
        self.out[last.start..last.start + bytes].copy_from_slice(&head);
    }

    /// Ends the reply.
    pub fn end(mut self) {
        self.complete(CHUNK_DONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(form: ReplyForm, offset: u64) -> Reply {
        Reply {
            form,
            cookie: 5,
            offset,
        }
    }

    #[test]
    fn pieces_of_one_kind_share_a_chunk_and_the_last_chunk_is_marked() {
        for form in [ReplyForm::Structured, ReplyForm::Extended] {
            pieces_share_chunks(reply(form, 4096));
        }
    }

    fn pieces_share_chunks(reply: Reply) {
        let mut out = vec![9];
        let mut chunks = Chunks::new(reply, &mut out);
        for piece in [
            ReadPiece::Bytes(&[1; 4]),
            ReadPiece::Bytes(&[2; 4]),
            ReadPiece::Zeroes(8),
            ReadPiece::Zeroes(16),
            ReadPiece::Bytes(&[3; 2]),
        ] {
            chunks.add(piece);
        }
        chunks.end();
        let mut expected = vec![9];
        reply.data_head(&mut expected, 0, 4096, 8);
        expected.extend([1, 1, 1, 1, 2, 2, 2, 2]);
        reply.hole(&mut expected, 0, 4104, 24);
        reply.data_head(&mut expected, CHUNK_DONE, 4128, 2);
        expected.extend([3, 3]);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_hole_at_the_end_is_the_last_chunk() {
        let (mut out, mut expected) = (Vec::new(), Vec::new());
        let reply = reply(ReplyForm::Structured, 0);
        let mut chunks = Chunks::new(reply, &mut out);
        chunks.add(ReadPiece::Zeroes(512));
        chunks.end();
        reply.hole(&mut expected, CHUNK_DONE, 0, 512);
        assert_eq!(out, expected);
    }
}
