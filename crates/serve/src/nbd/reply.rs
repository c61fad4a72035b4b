//! Replies as bytes.

use super::wire::*;

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
