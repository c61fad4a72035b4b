//! Parts that the NBD targets share.

use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{Export, NbdOptions};
use ssdlab_serve::{MemoryStore, SharedDrive};
use std::sync::Arc;

/// Size of the drive in bytes, a few sectors.
pub const DRIVE_BYTES: u64 = 64 << 10;
/// Sector of the drive in bytes.
pub const SECTOR_BYTES: u64 = 4096;

/// An empty drive.
pub fn drive() -> SharedDrive {
    SharedDrive::new(Arc::new(MemoryStore::new(DRIVE_BYTES, SECTOR_BYTES as u32)))
}

/// The offer of the drive.
pub fn export() -> Export {
    NbdOptions::default().export(&drive())
}

/// Whole handshakes of a client, the last option of which begins transmission.
pub fn handshakes() -> Vec<Vec<u8>> {
    let flags = 3_u32.to_be_bytes().to_vec();
    let go = option(OPT_GO, &[0; 6]);
    let structured = option(OPT_STRUCTURED_REPLY, &[]);
    let select = option(OPT_SET_META_CONTEXT, &context_queries("", &CONTEXTS));
    let list = option(OPT_LIST_META_CONTEXT, &context_queries("", &["base:", "x"]));
    let info = option(OPT_INFO, &[0, 0, 0, 0, 0, 2, 0, 1, 0, 2]);
    let unknown = option(77, &[7; 99]);
    let too_long = option(OPT_LIST, &vec![0; OPTION_MAX as usize + 1]);
    [
        vec![flags.clone(), go.clone()],
        vec![flags.clone(), structured.clone(), select, go.clone()],
        vec![
            flags.clone(),
            option(OPT_LIST, &[]),
            info,
            structured,
            list,
            go.clone(),
        ],
        vec![flags.clone(), unknown, option(OPT_EXPORT_NAME, b"drive")],
        vec![vec![0, 0, 0, 1], option(OPT_EXPORT_NAME, b"")],
        vec![flags, too_long, go],
    ]
    .map(|parts| parts.concat())
    .to_vec()
}

fn request(command: u16, flags: u16, offset: u64, length: u32) -> Vec<u8> {
    let request = NbdRequest {
        flags,
        command,
        cookie: offset ^ u64::from(length),
        offset,
        length,
    };
    let mut bytes = request.encode().to_vec();
    bytes.resize(
        REQUEST_BYTES + ExtendedRequest::from(request).payload() as usize,
        0xa5,
    );
    bytes
}

/// Streams of requests: every command, aligned and not, with every flag that it accepts.
pub fn request_streams() -> Vec<Vec<u8>> {
    let whole = DRIVE_BYTES as u32;
    [
        vec![
            request(CMD_WRITE, FLAG_FUA, 0, 8192),
            request(CMD_WRITE, 0, 5000, 300),
            request(CMD_READ, FLAG_DF, 4096, 4096),
            request(CMD_FLUSH, 0, 0, 0),
            request(CMD_READ, 0, 1, whole - 1),
        ],
        vec![
            request(CMD_WRITE, 0, 0, whole),
            request(CMD_TRIM, FLAG_FUA, 100, 20_000),
            request(CMD_WRITE_ZEROES, FLAG_NO_HOLE, 40_000, 9000),
            request(CMD_WRITE_ZEROES, FLAG_FAST_ZERO, 8192, 4096),
            request(CMD_BLOCK_STATUS, 0, 0, whole),
            request(CMD_BLOCK_STATUS, FLAG_REQ_ONE, 513, 9),
            request(CMD_READ, 0, 0, whole),
        ],
        vec![
            request(CMD_CACHE, 0, 0, 512),
            request(CMD_READ, 0, DRIVE_BYTES, 1),
            request(CMD_READ, 0, u64::MAX, u32::MAX),
            request(CMD_TRIM, 0, 0, 0),
            request(99, 0, 0, 512),
            request(CMD_DISC, 0, 0, 0),
        ],
    ]
    .map(|requests| requests.concat())
    .to_vec()
}
