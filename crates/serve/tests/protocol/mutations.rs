//! Streams of the protocol with mistakes in them: the server answers or hangs up, and lives.
//!
//! Whole client streams, built from valid parts and then changed, are fed to the handshake and
//! the executor without sockets (most of them) and to a running server (some). The number of
//! streams is small by default; `SSDLAB_FUZZ_SECONDS=600` runs for ten minutes,
//! `SSDLAB_FUZZ_SEED` picks another beginning.

use crate::client::{Client, contexts, option};
use ssdlab_serve::nbd::execute::Executor;
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{Handshake, NbdOptions, NbdServer, Session, Step};
use ssdlab_serve::{Address, Lint, MemoryStore, Sectors, SessionNotes, Stream};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZE: u64 = 1 << 20;
/// Streams without sockets, and with one.
const ROUNDS: (u64, u64) = (6000, 200);

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number that breaks things more often than most.
    fn odd_number(&mut self) -> u64 {
        let near = [
            0,
            1,
            511,
            4096,
            SIZE,
            u64::from(PAYLOAD_MAX),
            1 << 31,
            1 << 32,
            1 << 63,
        ];
        let pick = near[self.below(near.len() as u64) as usize];
        pick.wrapping_add(self.below(5)).wrapping_sub(2)
    }
}

/// Some options, most of them sound.
fn handshake_stream(random: &mut Random) -> Vec<u8> {
    let mut bytes = 3_u32.to_be_bytes().to_vec();
    for _ in 0..random.below(6) {
        bytes.extend(match random.below(8) {
            0 => option(OPT_LIST, &[]),
            1 => option(OPT_INFO, &[0, 0, 0, 0, 0, 1, 0, 3]),
            2 => option(OPT_LIST_META_CONTEXT, &contexts(&["base:", "x"])),
            3 | 4 => option(OPT_STRUCTURED_REPLY, &[]),
            5 => option(OPT_SET_META_CONTEXT, &contexts(&CONTEXTS)),
            6 => option(random.next() as u32, &vec![7; random.below(99) as usize]),
            _ => option(random.below(12) as u32, &random.next().to_be_bytes()),
        });
    }
    bytes.extend(match random.below(4) {
        0 => option(OPT_EXPORT_NAME, b"drive"),
        _ => option(OPT_GO, &[0; 6]),
    });
    bytes
}

/// Some requests, many of them sound. A write brings at most a few pages of payload.
fn request_stream(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for cookie in 0..random.below(12) {
        let is_sound = random.below(3) > 0;
        let mut request = Request {
            flags: if random.below(4) == 0 {
                random.below(32) as u16
            } else {
                0
            },
            command: random.below(9) as u16,
            cookie,
            offset: random.below(SIZE),
            length: random.below(9000) as u32,
        };
        if !is_sound {
            request.offset = random.odd_number();
            request.length = random.odd_number() as u32;
        }
        bytes.extend(request.encode());
        if request.command == CMD_WRITE {
            bytes.extend(vec![cookie as u8; request.length.min(16384) as usize]);
        }
    }
    bytes
}

/// Changes, removes, doubles and cuts bytes.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = 0xff,
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, random.next() as u8),
            4 => {
                let end = (at + 28).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ if random.below(4) == 0 => bytes.truncate(at),
            _ => {}
        }
    }
}

/// Feeds `input` in pieces; the agreement and what is left, if it came to that.
fn shake(random: &mut Random, drive: &Sectors, input: &[u8]) -> Option<(Session, usize)> {
    let mut handshake = Handshake::new(NbdOptions::default().export(drive));
    let (mut start, mut end) = (0, 0);
    while end < input.len() {
        end = (end + 1 + random.below(64) as usize).min(input.len());
        let (taken, step) = handshake.feed(&input[start..end]);
        assert!(taken <= end - start);
        start += taken;
        assert!(
            handshake.out.len() < 1 << 20,
            "a reply far larger than its request"
        );
        match step {
            Step::More => {}
            Step::Close(_) => return None,
            Step::Transmit(session) => return Some((session, start)),
        }
    }
    None
}

/// One stream without sockets; the number of replies.
fn round(random: &mut Random, drive: &Sectors, lint: &Lint) -> u64 {
    let mut bytes = handshake_stream(random);
    if random.below(2) == 0 {
        mutate(random, &mut bytes);
    }
    let Some((session, start)) = shake(random, drive, &bytes) else {
        return 0;
    };
    let mut bytes = bytes.split_off(start);
    bytes.extend(request_stream(random));
    mutate(random, &mut bytes);
    let notes = SessionNotes::new("fuzz".to_string(), true);
    let mut executor = Executor {
        drive,
        session,
        notes,
        coverage: &lint.coverage,
    };
    let (mut rest, mut replies) = (bytes.as_slice(), 0);
    while let Some((head, tail)) = rest.split_first_chunk::<REQUEST_BYTES>() {
        let Some(request) = Request::parse(head) else {
            break;
        };
        let Some((payload, after)) = tail.split_at_checked(request.payload() as usize) else {
            break;
        };
        rest = after;
        let mut out = Vec::new();
        executor.run(&request, payload, &mut out);
        check_reply(&request, &out);
        replies += 1;
    }
    replies
}

/// Every reply is whole chunks of the request's cookie, the last and only the last marked done.
fn check_reply(request: &Request, out: &[u8]) {
    let mut bytes = Reader(out);
    let magic = bytes.u32().expect("a reply");
    if magic == SIMPLE_REPLY_MAGIC {
        let error = bytes.u32().unwrap();
        assert_eq!(bytes.u64(), Some(request.cookie));
        let is_read = request.command == CMD_READ && error == 0;
        let want = if is_read { request.length as usize } else { 0 };
        assert_eq!(bytes.0.len(), want);
        return;
    }
    let mut bytes = Reader(out);
    loop {
        assert_eq!(bytes.u32(), Some(STRUCTURED_REPLY_MAGIC));
        let flags = bytes.u16().unwrap();
        bytes.u16().unwrap();
        assert_eq!(bytes.u64(), Some(request.cookie));
        let length = bytes.u32().unwrap() as usize;
        assert!(
            bytes.take(length).is_some(),
            "a chunk longer than the reply"
        );
        if flags & CHUNK_DONE != 0 {
            assert!(bytes.0.is_empty(), "bytes after the last chunk");
            return;
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

/// Calls `step` for the default number of rounds, or for the seconds asked for.
fn repeat(rounds: u64, mut step: impl FnMut(u64)) {
    let seconds = number("SSDLAB_FUZZ_SECONDS", 0);
    let first = number("SSDLAB_FUZZ_SEED", 1);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut done = 0;
    while done < rounds || Instant::now() < until {
        step(first.wrapping_add(done).wrapping_mul(0x1000_0001));
        done += 1;
    }
    println!("{done} streams from seed {first}");
}

#[test]
fn mutated_streams_are_answered_or_refused() {
    let drive = Sectors::new(Arc::new(MemoryStore::new(SIZE, 4096)));
    let (lint, mut replies) = (Lint::default(), 0);
    repeat(ROUNDS.0, |seed| {
        replies += round(&mut Random(seed), &drive, &lint)
    });
    assert!(
        replies > ROUNDS.0,
        "{replies} replies: the streams no longer reach the executor"
    );
}

#[test]
fn a_running_server_survives_mutated_streams() {
    let folder = tempfile::tempdir().unwrap();
    let address = Address::Unix(folder.path().join("nbd"));
    let drive = Arc::new(Sectors::new(Arc::new(MemoryStore::new(SIZE, 4096))));
    let lint = Arc::new(Lint::default());
    let options = NbdOptions {
        clients_max: 1000,
        ..NbdOptions::default()
    };
    let server = NbdServer::start(drive, lint, &address, options).unwrap();
    repeat(ROUNDS.1, |seed| {
        let random = &mut Random(seed);
        let mut bytes = handshake_stream(random);
        bytes.extend(request_stream(random));
        mutate(random, &mut bytes);
        let mut stream = Stream::connect(&address).unwrap();
        if stream.write_all(&bytes).is_ok() && random.below(4) > 0 {
            stream
                .set_read_timeout(Some(Duration::from_millis(1)))
                .unwrap();
            let _ = stream.read(&mut [0; 4096]);
        }
    });
    let mut client = Client::go(server.address(), true);
    assert_eq!(client.write(0, 0, &[5; 512]), 0);
    assert_eq!(client.read(0, 0, 512), Ok(vec![5; 512]));
}
