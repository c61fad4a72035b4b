//! The server seen from a client that speaks the protocol byte by byte.

use crate::client::Client;
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{Address, Lint, MemoryStore, SharedDrive, SocketStream};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub const SIZE: u64 = 128 << 20;

pub struct Bench {
    pub drive: Arc<MemoryStore>,
    pub lint: Arc<Lint>,
    pub server: NbdServer,
    _folder: tempfile::TempDir,
}

fn bench() -> Bench {
    bench_with(MemoryStore::new(SIZE, 4096), NbdOptions::default())
}

pub fn bench_with(drive: MemoryStore, options: NbdOptions) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let (drive, lint) = (Arc::new(drive), Arc::new(Lint::default()));
    let shared = Arc::new(SharedDrive::new(drive.clone()));
    let address = Address::Unix(folder.path().join("nbd"));
    let server = NbdServer::start(shared, lint.clone(), &address, options).unwrap();
    Bench {
        drive,
        lint,
        server,
        _folder: folder,
    }
}

#[test]
fn what_is_written_is_read_with_and_without_structure() {
    let bench = bench();
    for structured in [false, true] {
        let mut client = Client::go(bench.server.address(), structured);
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
        assert_eq!(client.write(0, 1000, &bytes), 0);
        assert_eq!(client.read(0, 1000, 300_000), Ok(bytes.clone()));
        assert_eq!(client.ask(FLAG_NO_HOLE, CMD_WRITE_ZEROES, 1000, 100_000), 0);
        assert_eq!(client.ask(0, CMD_TRIM, 8192, 4096), 0);
        assert_eq!(client.ask(0, CMD_CACHE, 0, 4096), 0);
        let mut want = bytes;
        want[..100_000].fill(0);
        assert_eq!(client.read(0, 1000, 300_000), Ok(want));
    }
}

/// A write of `length` bytes that are its cookie, as the client sends it.
fn write_request(cookie: u64, length: u32) -> Vec<u8> {
    let request = NbdRequest {
        flags: 0,
        command: CMD_WRITE,
        cookie,
        offset: cookie << 19,
        length,
    };
    let mut bytes = request.encode().to_vec();
    bytes.extend(vec![cookie as u8; length as usize]);
    bytes
}

/// A client may send a part of its next request and wait for what it asked before: replies that
/// gather must not wait for the rest. Requests of many sizes go by, several MiB of them.
#[test]
fn whole_requests_are_answered_though_the_next_is_there_in_part() {
    let bench = bench();
    let mut client = Client::go(bench.server.address(), false);
    let patience = Some(Duration::from_secs(20));
    client.stream.set_read_timeout(patience).unwrap();
    let mut written = Vec::new();
    for part in [0, 1, 27, 28, 29, 600, 4000, 90_000, 250_000] {
        let first = written.len() as u64;
        written.extend([
            512, 4096, 100_000, 4096, 200_000, 4096, 300_000, 512, 300_000,
        ]);
        let mut requests = Vec::new();
        for (cookie, &length) in (first..).zip(&written[first as usize..]) {
            requests.push(write_request(cookie, length));
        }
        let last = requests.pop().unwrap();
        let (now, later) = last.split_at(part);
        requests.push(now.to_vec());
        client.stream.write_all(&requests.concat()).unwrap();
        let answered = |stream: &mut SocketStream, cookie: u64| {
            let mut reply = [0; 16];
            stream.read_exact(&mut reply).unwrap();
            assert_eq!(reply[4..8], [0; 4], "{part} bytes: request {cookie} failed");
            assert_eq!(reply[8..], cookie.to_be_bytes(), "{part} bytes");
        };
        let stream = &mut client.stream;
        (first..first + 8).for_each(|cookie| answered(stream, cookie));
        stream.write_all(later).unwrap();
        answered(stream, first + 8);
    }
    for (cookie, length) in (0_u64..).zip(written) {
        let bytes = client.read(0, cookie << 19, length).unwrap();
        assert!(bytes.iter().all(|&byte| byte == cookie as u8), "{cookie}");
    }
}

#[test]
fn bad_requests_get_their_error_and_the_connection_lives() {
    let bench = bench();
    for structured in [false, true] {
        let mut client = Client::go(bench.server.address(), structured);
        assert_eq!(client.write(0, SIZE - 1, &[1, 2]), ENOSPC);
        assert_eq!(client.read(0, SIZE, 1), Err(EINVAL));
        assert_eq!(client.read(0, u64::MAX, 4096), Err(EINVAL));
        assert_eq!(client.read(FLAG_NO_HOLE, 0, 4096), Err(EINVAL));
        assert_eq!(client.read(0, 0, PAYLOAD_MAX + 1), Err(EINVAL));
        assert_eq!(client.ask(0, CMD_WRITE_ZEROES, SIZE, 4096), ENOSPC);
        assert_eq!(
            client.ask(0, CMD_BLOCK_STATUS, 0, 4096),
            EINVAL,
            "no context chosen"
        );
        assert_eq!(client.ask(0, 77, 0, 4096), EINVAL);
        assert_eq!(client.ask(0, CMD_TRIM, 0, 0), EINVAL);
        assert_eq!(
            client.ask(FLAG_FAST_ZERO, CMD_WRITE_ZEROES, 1, 4096),
            ENOTSUP
        );
        assert_eq!(
            client.write(0, 0, &vec![3; PAYLOAD_MAX as usize + 1]),
            EINVAL
        );
        assert_eq!(client.write(0, 0, &vec![3; PAYLOAD_MAX as usize]), 0);
        assert_eq!(
            client.read(0, 0, PAYLOAD_MAX).unwrap(),
            vec![3; PAYLOAD_MAX as usize]
        );
    }
}

#[test]
fn a_flush_on_one_connection_covers_the_other() {
    let bench = bench();
    let mut a = Client::go(bench.server.address(), true);
    let mut b = Client::go(bench.server.address(), false);
    assert_eq!(a.write(0, 0, &[1; 4096]), 0);
    assert_eq!(a.write(FLAG_FUA, 4096, &[2; 4096]), 0);
    assert_eq!(bench.drive.cached_sectors(), 1);
    assert_eq!(b.ask(0, CMD_FLUSH, 0, 0), 0);
    assert_eq!(bench.drive.cached_sectors(), 0);
    assert_eq!(b.read(0, 0, 1), Ok(vec![1]));
}

#[test]
fn without_power_every_command_fails_at_once_and_works_again_after() {
    let bench = bench();
    let mut client = Client::go(bench.server.address(), true);
    assert_eq!(client.write(0, 0, &[1; 4096]), 0);
    bench.drive.cut();
    assert_eq!(client.write(0, 0, &[1; 4096]), ESHUTDOWN);
    assert_eq!(client.write(0, 7, &[1; 9]), ESHUTDOWN);
    assert_eq!(client.read(0, 0, 4096), Err(ESHUTDOWN));
    for command in [CMD_FLUSH, CMD_TRIM, CMD_CACHE, CMD_WRITE_ZEROES] {
        assert_eq!(client.ask(0, command, 0, 1), ESHUTDOWN, "command {command}");
    }
    bench.drive.restore();
    assert_eq!(client.read(0, 0, 4096), Ok(vec![0; 4096]), "never flushed");
}

#[test]
fn block_status_tells_holes_and_durability() {
    let bench = bench();
    let mut client = Client::go(bench.server.address(), true);
    client.choose_contexts_again(bench.server.address());
    client.write(FLAG_FUA, 0, &[1; 8192]);
    client.write(0, 8192, &[1; 4096]);
    let found = client.block_status(0, 0, 16384);
    let (hole, never) = (STATE_HOLE | STATE_ZERO, STATE_NEVER_WRITTEN);
    assert_eq!(found[0], (1, vec![(12288, 0), (4096, hole)]));
    assert_eq!(
        found[1],
        (2, vec![(8192, 0), (4096, STATE_CACHED), (4096, never)])
    );
    let one = client.block_status(FLAG_REQ_ONE, 1, 16383);
    assert_eq!(one, [(1, vec![(12287, 0)]), (2, vec![(8191, 0)])]);
}

#[test]
fn a_read_only_drive_refuses_writes() {
    let bench = bench_with(
        MemoryStore::new(SIZE, 4096).read_only(),
        NbdOptions::default(),
    );
    let mut client = Client::go(bench.server.address(), false);
    assert_eq!(client.flags & READ_ONLY, READ_ONLY);
    assert_eq!(client.write(0, 0, &[1; 4096]), EPERM);
    assert_eq!(client.ask(0, CMD_TRIM, 0, 4096), EPERM);
    assert_eq!(client.read(0, 0, 4096), Ok(vec![0; 4096]));
}

#[test]
fn clients_that_vanish_leave_the_server_well() {
    let bench = bench_with(
        MemoryStore::new(SIZE, 4096),
        NbdOptions {
            clients_max: 4,
            ..NbdOptions::default()
        },
    );
    let write = NbdRequest {
        flags: 0,
        command: CMD_WRITE,
        cookie: 1,
        offset: 0,
        length: 1 << 20,
    };
    for keep in 0..40 {
        let mut client = Client::go(bench.server.address(), true);
        client
            .stream
            .write_all(&write.encode()[..keep.min(REQUEST_BYTES)])
            .unwrap();
        client.stream.write_all(&vec![9; keep * 1000]).unwrap();
        drop(client);
        wait_until(|| bench.server.client_count() == 0);
    }
    let mut client = Client::go(bench.server.address(), true);
    assert_eq!(client.write(0, 0, &[5; 512]), 0);
    drop(client);
    wait_until(|| bench.lint.sessions().len() == 41);
    let last = bench.lint.sessions().pop().unwrap();
    assert_eq!((last.writes, last.unaligned, last.uncovered), (1, 1, 1));
    assert!(!last.said_goodbye);
}

#[test]
fn tcp_serves_as_well() {
    let (drive, lint) = (
        Arc::new(MemoryStore::new(SIZE, 512)),
        Arc::new(Lint::default()),
    );
    let shared = Arc::new(SharedDrive::new(drive));
    let address = Address::Tcp("127.0.0.1:0".to_string());
    let server = NbdServer::start(shared, lint, &address, NbdOptions::default()).unwrap();
    let mut client = Client::go(server.address(), true);
    assert_eq!(client.write(FLAG_FUA, 512, &[5; 512]), 0);
    assert_eq!(client.read(FLAG_DF, 0, 1024).unwrap()[511..513], [0, 5]);
}

pub fn wait_until(mut happened: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !happened() {
        assert!(Instant::now() < until, "it never happened");
        std::thread::sleep(Duration::from_millis(2));
    }
}
