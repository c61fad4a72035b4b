//! Extended headers, byte by byte: Debian's libnbd does not know them yet.

use crate::client::{greet, haggle};
use crate::nbd::{SIZE, bench_with};
use ssdlab_serve::nbd::NbdOptions;
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::{Address, MemoryStore, SocketStream};
use std::io::{Read, Write};

const COOKIE: u64 = 0x1122_3344_5566_7788;

/// A connection in transmission with extended headers, and with contexts if it asks for any.
fn go(address: &Address, queries: &[&str]) -> SocketStream {
    let mut stream = greet(address);
    let agreed = haggle(&mut stream, OPT_EXTENDED_HEADERS, &[]);
    assert_eq!(agreed, [(REP_ACK, Vec::new())]);
    if !queries.is_empty() {
        let body = context_queries("", queries);
        let found = haggle(&mut stream, OPT_SET_META_CONTEXT, &body);
        assert_eq!(found.len(), queries.len() + 1);
    }
    let found = haggle(&mut stream, OPT_GO, &[0; 6]);
    assert_eq!(found.last().unwrap().0, REP_ACK);
    stream
}

fn send(stream: &mut SocketStream, flags: u16, command: u16, (offset, length): (u64, u64)) {
    let request = ExtendedRequest {
        flags,
        command,
        cookie: COOKIE,
        offset,
        length,
    };
    stream.write_all(&request.encode()).unwrap();
}

/// A chunk: flags, kind and content. Its header repeats cookie and offset of the request.
fn chunk(stream: &mut SocketStream, offset: u64) -> (u16, u16, Vec<u8>) {
    let mut head = [0; 32];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[..4], [0x6e, 0x8a, 0x27, 0x8c]);
    assert_eq!(head[8..16], COOKIE.to_be_bytes());
    assert_eq!(head[16..24], offset.to_be_bytes());
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let length = u64::from_be_bytes(head[24..].try_into().unwrap());
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body).unwrap();
    (word(4), word(6), body)
}

fn error(stream: &mut SocketStream, offset: u64) -> u32 {
    let (flags, kind, body) = chunk(stream, offset);
    match kind {
        CHUNK_NONE => assert!(flags == CHUNK_DONE && body.is_empty()),
        _ => assert_eq!((flags, kind), (CHUNK_DONE, CHUNK_ERROR)),
    }
    WireReader(&body).u32().unwrap_or(0)
}

#[test]
fn a_request_is_the_bytes_of_the_protocol() {
    let request = ExtendedRequest {
        flags: FLAG_PAYLOAD_LEN,
        command: CMD_WRITE,
        cookie: COOKIE,
        offset: 0x0102,
        length: 1 << 40,
    };
    let bytes = request.encode();
    assert_eq!(bytes[..8], [0x21, 0xe4, 0x1c, 0x71, 0, 32, 0, 1]);
    assert_eq!(bytes[22..], [1, 2, 0, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(ExtendedRequest::parse(&bytes), Some(request));
}

#[test]
fn what_is_written_is_read_whole_and_in_chunks() {
    let bench = bench_with(MemoryStore::new(SIZE, 4096), NbdOptions::default());
    let mut stream = go(bench.server.address(), &[]);
    // With the flag, as it must be set, and without, as by a client that forgets it.
    for (flags, length) in [
        (FLAG_PAYLOAD_LEN, 4096),
        (0, 300_000),
        (FLAG_PAYLOAD_LEN, 3 << 20),
    ] {
        let bytes: Vec<u8> = (0..length).map(|n| (n / 7) as u8).collect();
        send(&mut stream, flags, CMD_WRITE, (512, length));
        stream.write_all(&bytes).unwrap();
        assert_eq!(error(&mut stream, 512), 0);
        send(&mut stream, FLAG_DF, CMD_READ, (512, length));
        let (flags, kind, body) = chunk(&mut stream, 512);
        assert_eq!((flags, kind), (CHUNK_DONE, CHUNK_OFFSET_DATA));
        assert_eq!(body[..8], 512_u64.to_be_bytes());
        assert!(body[8..] == bytes);
    }
    // Data, then a hole.
    let (offset, length) = (2 << 20, 4 << 20);
    send(&mut stream, 0, CMD_READ, (offset, length));
    let (flags, kind, body) = chunk(&mut stream, offset);
    assert_eq!((flags, kind), (0, CHUNK_OFFSET_DATA));
    let end = offset + body.len() as u64 - 8;
    let (flags, kind, body) = chunk(&mut stream, offset);
    assert_eq!((flags, kind), (CHUNK_DONE, CHUNK_OFFSET_HOLE));
    let mut body = WireReader(&body);
    assert_eq!(body.u64(), Some(end));
    assert_eq!(body.u32().map(u64::from), Some(offset + length - end));
}

/// More than 32 bits of length: what the headers are for.
#[test]
fn one_request_covers_more_than_four_gigabytes() {
    let size = 6 << 30;
    let bench = bench_with(MemoryStore::new(size, 4096), NbdOptions::default());
    let mut stream = go(bench.server.address(), &["base:allocation"]);
    for command in [CMD_TRIM, CMD_WRITE_ZEROES, CMD_CACHE] {
        send(&mut stream, 0, command, (0, size));
        assert_eq!(error(&mut stream, 0), 0, "command {command}");
    }
    send(&mut stream, 0, CMD_BLOCK_STATUS, (0, size));
    let (flags, kind, body) = chunk(&mut stream, 0);
    assert_eq!((flags, kind), (CHUNK_DONE, CHUNK_BLOCK_STATUS_EXT));
    let mut body = WireReader(&body);
    assert_eq!(
        (body.u32(), body.u32()),
        (Some(1), Some(1)),
        "one run of context 1"
    );
    let run = (body.u64(), body.u64());
    assert_eq!(run, (Some(size), Some(u64::from(STATE_HOLE | STATE_ZERO))));
    assert!(body.0.is_empty());
}

#[test]
fn bad_requests_get_their_error_and_the_connection_lives() {
    let bench = bench_with(MemoryStore::new(SIZE, 4096), NbdOptions::default());
    let mut stream = go(bench.server.address(), &[]);
    send(&mut stream, 0, CMD_READ, (0, 1 << 40));
    assert_eq!(error(&mut stream, 0), EINVAL);
    send(&mut stream, 0, CMD_READ, (4096, u64::from(PAYLOAD_MAX) + 1));
    assert_eq!(error(&mut stream, 4096), EINVAL);
    send(&mut stream, 0, CMD_TRIM, (4096, u64::MAX));
    assert_eq!(error(&mut stream, 4096), EINVAL);
    send(&mut stream, 0, CMD_BLOCK_STATUS, (0, SIZE));
    assert_eq!(error(&mut stream, 0), EINVAL, "no context");
    send(&mut stream, 0, CMD_RESIZE, (0, 2 * SIZE));
    assert_eq!(error(&mut stream, 0), EINVAL, "its size stays");
    // A payload where none is understood is skipped.
    send(&mut stream, FLAG_PAYLOAD_LEN, CMD_BLOCK_STATUS, (0, 12));
    stream.write_all(&[7; 12]).unwrap();
    assert_eq!(error(&mut stream, 0), EINVAL);
    send(&mut stream, 0, CMD_FLUSH, (0, 0));
    assert_eq!(error(&mut stream, 0), 0);
    // One that is too long to be skipped ends the connection.
    send(&mut stream, FLAG_PAYLOAD_LEN, CMD_WRITE, (0, 1 << 50));
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn the_handshake_takes_the_option_once_and_nothing_weaker_behind_it() {
    let bench = bench_with(MemoryStore::new(SIZE, 4096), NbdOptions::default());
    let mut stream = greet(bench.server.address());
    let mut ask = |option, body: &[u8]| haggle(&mut stream, option, body)[0].0;
    assert_eq!(ask(OPT_EXTENDED_HEADERS, &[1]), REP_ERR_INVALID);
    assert_eq!(ask(OPT_STRUCTURED_REPLY, &[]), REP_ACK);
    assert_eq!(ask(OPT_EXTENDED_HEADERS, &[]), REP_ACK);
    assert_eq!(ask(OPT_EXTENDED_HEADERS, &[]), REP_ERR_INVALID);
    assert_eq!(ask(OPT_STRUCTURED_REPLY, &[]), REP_ERR_EXT_HEADER_REQD);
    stream.write_all(&option(OPT_EXPORT_NAME, &[])).unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "GO only");
}
