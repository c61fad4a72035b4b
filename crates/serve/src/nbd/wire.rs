//! The numbers of the protocol, as `doc/proto.md` of the NBD project names them.
#![allow(missing_docs)]

pub const MAGIC: u64 = 0x4e42_444d_4147_4943;
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;
pub const EXTENDED_REQUEST_MAGIC: u32 = 0x21e4_1c71;
pub const EXTENDED_REPLY_MAGIC: u32 = 0x6e8a_278c;

/// Handshake flags, server and client.
pub const FIXED_NEWSTYLE: u16 = 1;
pub const NO_ZEROES: u16 = 2;

pub const OPT_EXPORT_NAME: u32 = 1;
pub const OPT_ABORT: u32 = 2;
pub const OPT_LIST: u32 = 3;
pub const OPT_STARTTLS: u32 = 5;
pub const OPT_INFO: u32 = 6;
pub const OPT_GO: u32 = 7;
pub const OPT_STRUCTURED_REPLY: u32 = 8;
pub const OPT_LIST_META_CONTEXT: u32 = 9;
pub const OPT_SET_META_CONTEXT: u32 = 10;
pub const OPT_EXTENDED_HEADERS: u32 = 11;

pub const REP_ACK: u32 = 1;
pub const REP_SERVER: u32 = 2;
pub const REP_INFO: u32 = 3;
pub const REP_META_CONTEXT: u32 = 4;
pub const REP_ERR_UNSUP: u32 = 0x8000_0001;
pub const REP_ERR_POLICY: u32 = 0x8000_0002;
pub const REP_ERR_INVALID: u32 = 0x8000_0003;
pub const REP_ERR_TLS_REQD: u32 = 0x8000_0005;
pub const REP_ERR_UNKNOWN: u32 = 0x8000_0006;
pub const REP_ERR_TOO_BIG: u32 = 0x8000_0009;
pub const REP_ERR_EXT_HEADER_REQD: u32 = 0x8000_000a;

pub const INFO_EXPORT: u16 = 0;
pub const INFO_NAME: u16 = 1;
pub const INFO_DESCRIPTION: u16 = 2;
pub const INFO_BLOCK_SIZE: u16 = 3;

/// Transmission flags.
pub const HAS_FLAGS: u16 = 1;
pub const READ_ONLY: u16 = 1 << 1;
pub const SEND_FLUSH: u16 = 1 << 2;
pub const SEND_FUA: u16 = 1 << 3;
pub const SEND_TRIM: u16 = 1 << 5;
pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
pub const SEND_DF: u16 = 1 << 7;
pub const CAN_MULTI_CONN: u16 = 1 << 8;
pub const SEND_CACHE: u16 = 1 << 10;
pub const SEND_FAST_ZERO: u16 = 1 << 11;

pub const CMD_READ: u16 = 0;
pub const CMD_WRITE: u16 = 1;
pub const CMD_DISC: u16 = 2;
pub const CMD_FLUSH: u16 = 3;
pub const CMD_TRIM: u16 = 4;
pub const CMD_CACHE: u16 = 5;
pub const CMD_WRITE_ZEROES: u16 = 6;
pub const CMD_BLOCK_STATUS: u16 = 7;
pub const CMD_RESIZE: u16 = 8;

pub const FLAG_FUA: u16 = 1;
pub const FLAG_NO_HOLE: u16 = 1 << 1;
pub const FLAG_DF: u16 = 1 << 2;
pub const FLAG_REQ_ONE: u16 = 1 << 3;
pub const FLAG_FAST_ZERO: u16 = 1 << 4;
pub const FLAG_PAYLOAD_LEN: u16 = 1 << 5;

pub const CHUNK_DONE: u16 = 1;
pub const CHUNK_NONE: u16 = 0;
pub const CHUNK_OFFSET_DATA: u16 = 1;
pub const CHUNK_OFFSET_HOLE: u16 = 2;
pub const CHUNK_BLOCK_STATUS: u16 = 5;
pub const CHUNK_BLOCK_STATUS_EXT: u16 = 6;
pub const CHUNK_ERROR: u16 = (1 << 15) | 1;

pub const EPERM: u32 = 1;
pub const EIO: u32 = 5;
pub const ENOMEM: u32 = 12;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;
pub const ENOTSUP: u32 = 95;
pub const ESHUTDOWN: u32 = 108;

/// States of `base:allocation`.
pub const STATE_HOLE: u32 = 1;
pub const STATE_ZERO: u32 = 2;

/// States of `ssdlab:durability`; 0 means durable.
pub const STATE_NEVER_WRITTEN: u32 = 1;
pub const STATE_CACHED: u32 = 2;
pub const STATE_OLDER: u32 = 4;
pub const STATE_TORN: u32 = 8;
pub const STATE_LOST: u32 = 16;

/// Metadata contexts in the order of their numbers, which begin at 1.
pub const CONTEXTS: [&str; 2] = ["base:allocation", "ssdlab:durability"];

/// Length in bytes of a request without its payload.
pub const REQUEST_BYTES: usize = 28;
/// Length in bytes of a request with an extended header, without its payload.
pub const EXTENDED_REQUEST_BYTES: usize = 32;
/// Maximum length in bytes of a read or write.
pub const PAYLOAD_MAX: u32 = 64 << 20;
/// Maximum length in bytes of an option's data.
pub const OPTION_MAX: u32 = 64 << 10;
/// Maximum length in bytes of a string.
pub const NAME_MAX: usize = 4096;

/// Encodes an option as a client sends it.
pub fn option(number: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = OPTION_MAGIC.to_be_bytes().to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    bytes
}

/// Encodes the data of SET_META_CONTEXT and LIST_META_CONTEXT for the export `name`.
pub fn context_queries(name: &str, queries: &[&str]) -> Vec<u8> {
    let mut body = (name.len() as u32).to_be_bytes().to_vec();
    body.extend(name.as_bytes());
    body.extend((queries.len() as u32).to_be_bytes());
    for query in queries {
        body.extend((query.len() as u32).to_be_bytes());
        body.extend(query.as_bytes());
    }
    body
}

/// One request, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NbdRequest {
    pub flags: u16,
    pub command: u16,
    pub cookie: u64,
    pub offset: u64,
    pub length: u32,
}

/// Reads big-endian numbers from the front of a slice.
#[derive(Debug, Clone, Copy)]
pub struct WireReader<'a>(pub &'a [u8]);

impl<'a> WireReader<'a> {
    /// Takes the next `count` bytes; `None` if fewer are left.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Takes a string of at most [`NAME_MAX`] bytes of UTF-8, preceded by its length.
    pub fn string(&mut self) -> Option<&'a str> {
        let length = self.u32()? as usize;
        if length > NAME_MAX {
            return None;
        }
        std::str::from_utf8(self.take(length)?).ok()
    }
}

impl NbdRequest {
    /// Decodes a request; `None` if the magic number is wrong.
    pub fn parse(bytes: &[u8; REQUEST_BYTES]) -> Option<Self> {
        let mut bytes = WireReader(bytes);
        if bytes.u32()? != REQUEST_MAGIC {
            return None;
        }
        Some(Self {
            flags: bytes.u16()?,
            command: bytes.u16()?,
            cookie: bytes.u64()?,
            offset: bytes.u64()?,
            length: bytes.u32()?,
        })
    }

    /// Encodes the request as a client sends it.
    pub fn encode(&self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.flags.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.command.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_be_bytes());
        bytes[24..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }

    /// Length in bytes of the payload that follows the request.
    pub fn payload(&self) -> u32 {
        if self.command == CMD_WRITE {
            self.length
        } else {
            0
        }
    }
}

/// One request with a length of 64 bits, without its payload; one with a compact header converts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtendedRequest {
    pub flags: u16,
    pub command: u16,
    pub cookie: u64,
    pub offset: u64,
    pub length: u64,
}

impl From<NbdRequest> for ExtendedRequest {
    fn from(request: NbdRequest) -> Self {
        Self {
            flags: request.flags,
            command: request.command,
            cookie: request.cookie,
            offset: request.offset,
            length: request.length.into(),
        }
    }
}

impl ExtendedRequest {
    /// Decodes a request; `None` if the magic number is wrong.
    pub fn parse(bytes: &[u8; EXTENDED_REQUEST_BYTES]) -> Option<Self> {
        let mut bytes = WireReader(bytes);
        if bytes.u32()? != EXTENDED_REQUEST_MAGIC {
            return None;
        }
        Some(Self {
            flags: bytes.u16()?,
            command: bytes.u16()?,
            cookie: bytes.u64()?,
            offset: bytes.u64()?,
            length: bytes.u64()?,
        })
    }

    /// Encodes the request as a client sends it.
    pub fn encode(&self) -> [u8; EXTENDED_REQUEST_BYTES] {
        let mut bytes = [0; EXTENDED_REQUEST_BYTES];
        bytes[..4].copy_from_slice(&EXTENDED_REQUEST_MAGIC.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.flags.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.command.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_be_bytes());
        bytes[24..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }

    /// Length in bytes of the payload that follows the request. A write has one, whether the
    /// client sets the flag or not; any other command has one if it sets it.
    pub fn payload(&self) -> u64 {
        let has = self.command == CMD_WRITE || self.flags & FLAG_PAYLOAD_LEN != 0;
        if has { self.length } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let sent = NbdRequest {
            flags: 1,
            command: 6,
            cookie: 7 << 40,
            offset: 1 << 50,
            length: 9,
        };
        let mut bytes = sent.encode();
        assert_eq!(bytes[..8], [0x25, 0x60, 0x95, 0x13, 0, 1, 0, 6]);
        assert_eq!(NbdRequest::parse(&bytes), Some(sent));
        bytes[3] ^= 1;
        assert_eq!(NbdRequest::parse(&bytes), None);
    }

    #[test]
    fn a_string_longer_than_its_bytes_is_refused() {
        assert_eq!(WireReader(&[0, 0, 0, 2, b'a', b'b']).string(), Some("ab"));
        assert_eq!(WireReader(&[0, 0, 0, 3, b'a', b'b']).string(), None);
        assert_eq!(WireReader(&[0xff; 9]).string(), None);
        assert_eq!(WireReader(&[0, 0, 0, 1, 0xff]).string(), None);
    }
}
