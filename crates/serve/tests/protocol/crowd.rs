//! Many clients that want nothing, or want it slowly: does another one notice?

use crate::client::{Client, greet, haggle};
use crate::nbd::{Bench, SIZE, bench_with, wait_until};
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{
    Address, MemoryStore, ServerLog, SharedDrive, SocketStream, Store, StoreError, StoreExtent,
    ZeroFlags,
};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a server has written to its log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn log(&self) -> ServerLog {
        let lines = self.clone();
        ServerLog::new(move |line| lines.0.lock().unwrap().push(line.to_string()))
    }

    fn have(&self, part: &str) -> bool {
        self.0
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.contains(part))
    }
}

fn crowded(options: NbdOptions) -> Bench {
    bench_with(MemoryStore::new(SIZE, 4096), options)
}

/// Whether the server has ended the connection; waits for it.
fn ends(mut stream: &SocketStream, within: Duration) -> bool {
    stream.set_read_timeout(Some(within)).unwrap();
    loop {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// 32 connections that said nothing once locked everybody out for as long as they liked.
#[test]
fn clients_without_a_handshake_lock_nobody_out() {
    let lines = Lines::default();
    let bench = crowded(NbdOptions {
        clients_max: 32,
        handshakes_max: 16,
        handshake_timeout: Duration::from_secs(1000),
        log: lines.log(),
        ..NbdOptions::default()
    });
    let address = bench.server.address();
    let silent: Vec<SocketStream> = (0..100)
        .map(|_| SocketStream::connect(address).unwrap())
        .collect();
    let mut greeted = Vec::new();
    for count in 0..100_usize {
        let mut stream = greet(address);
        // Begins an option, and does not end it.
        let part = option(OPT_GO, &[0; 6]);
        stream.write_all(&part[..count % part.len()]).unwrap();
        greeted.push(stream);
    }
    let mut client = Client::go(address, true);
    for round in 0..200_u64 {
        let bytes = [round as u8; 4096];
        assert_eq!(client.write(0, round * 4096, &bytes), 0);
        assert_eq!(client.read(0, round * 4096, 4096), Ok(bytes.to_vec()));
    }
    assert!(ends(&silent[0], Duration::from_secs(20)), "the oldest goes");
    assert!(
        !ends(&greeted[99], Duration::from_millis(50)),
        "the newest stays"
    );
    assert!(lines.have("the oldest of 16 clients without a handshake"));
    wait_until(|| bench.server.client_count() <= 17);
}

/// The limit is one for the whole handshake: a byte now and then does not prolong it.
#[test]
fn a_slow_handshake_ends_at_its_limit() {
    let lines = Lines::default();
    let bench = crowded(NbdOptions {
        handshake_timeout: Duration::from_millis(300),
        log: lines.log(),
        ..NbdOptions::default()
    });
    let begun = Instant::now();
    let mut slow = greet(bench.server.address());
    let bytes = option(OPT_LIST, &[0; 60_000]);
    let sent = bytes.iter().take_while(|byte| {
        std::thread::sleep(Duration::from_millis(5));
        slow.write_all(&[**byte]).is_ok() && begun.elapsed() < Duration::from_secs(20)
    });
    assert!(sent.count() >= 10, "not at once");
    assert!(begun.elapsed() < Duration::from_secs(20), "at last");
    wait_until(|| bench.server.client_count() == 0);
    wait_until(|| lines.have("no handshake within 0.3 s"));
}

/// A mounted device may be idle for a night.
#[test]
fn a_client_past_its_handshake_may_be_silent() {
    let bench = crowded(NbdOptions {
        handshake_timeout: Duration::from_millis(100),
        handshakes_max: 1,
        ..NbdOptions::default()
    });
    let mut idle: Vec<Client> = (0..20)
        .map(|n| Client::go(bench.server.address(), n % 2 == 0))
        .collect();
    std::thread::sleep(Duration::from_millis(400));
    for client in &mut idle {
        assert_eq!(client.write(0, 512, &[5; 100]), 0);
        assert_eq!(client.read(0, 512, 100), Ok(vec![5; 100]));
    }
}

/// A full server says so, in words, and has a place again when one leaves.
#[test]
fn a_full_server_refuses_in_words() {
    let lines = Lines::default();
    let bench = crowded(NbdOptions {
        clients_max: 16,
        log: lines.log(),
        ..NbdOptions::default()
    });
    let address = bench.server.address();
    let mut idle: Vec<Client> = (0..14).map(|_| Client::go(address, true)).collect();
    let mut late = greet(address);
    let found = haggle(&mut late, OPT_GO, &[0; 6]);
    assert_eq!(found.len(), 1);
    let (kind, text) = (found[0].0, String::from_utf8_lossy(&found[0].1));
    assert_eq!(kind, REP_ERR_POLICY);
    assert!(text.contains("the last 2 of 16 are for others"), "{text}");
    assert!(lines.have("refused a client: 14 connections"));
    let listed = haggle(&mut late, OPT_LIST, &[]);
    assert_eq!(listed[0].0, REP_SERVER, "it may look");
    let mut by_name = greet(address);
    by_name
        .write_all(&option(OPT_EXPORT_NAME, b"drive"))
        .unwrap();
    assert!(ends(&by_name, Duration::from_secs(20)));
    drop(idle.pop());
    wait_until(|| bench.server.client_count() == 14);
    let found = haggle(&mut late, OPT_GO, &[0; 6]);
    assert_eq!(found.last().unwrap().0, REP_ACK);
    assert_eq!(idle[0].write(0, 0, &[1; 512]), 0);
}

/// Half a request, or a reply that nobody takes, holds nothing that others need.
#[test]
fn a_client_that_stops_half_way_holds_up_nobody() {
    let bench = crowded(NbdOptions::default());
    let address = bench.server.address();
    let request = |command, offset, length| NbdRequest {
        flags: 0,
        command,
        cookie: 1,
        offset,
        length,
    };
    let mut stuck = Vec::new();
    // An unaligned write is one that runs alone.
    for length in [100, 4096, 1 << 20, 8 << 20] {
        for part in [0, 1, length / 2, length - 1] {
            let mut client = Client::go(address, true);
            let head = request(CMD_WRITE, 1, length).encode();
            client.stream.write_all(&head).unwrap();
            client.stream.write_all(&vec![7; part as usize]).unwrap();
            stuck.push(client);
        }
    }
    for _ in 0..3 {
        let mut client = Client::go(address, false);
        for _ in 0..40 {
            let read = request(CMD_READ, 0, PAYLOAD_MAX).encode();
            client.stream.write_all(&read).unwrap();
        }
        stuck.push(client);
    }
    let mut client = Client::go(address, true);
    let patience = Some(Duration::from_secs(20));
    client.stream.set_read_timeout(patience).unwrap();
    for round in 0..100 {
        assert_eq!(client.write(FLAG_FUA, 1000, &[round; 5000]), 0);
        assert_eq!(client.read(0, 1000, 5000), Ok(vec![round; 5000]));
        assert_eq!(client.ask(0, CMD_FLUSH, 0, 0), 0);
    }
    // What was sent in part was not written.
    assert_eq!(client.read(0, 0, 1000), Ok(vec![0; 1000]));
}

/// All large requests together get 2 GiB; small ones need none of that.
#[test]
fn large_requests_share_a_budget() {
    let bench = crowded(NbdOptions::default());
    let address = bench.server.address();
    let half_sent = NbdRequest {
        flags: 0,
        command: CMD_WRITE,
        cookie: 1,
        offset: 0,
        length: PAYLOAD_MAX,
    };
    // 32 have room; the others are there in case that a try below takes the room of one.
    let mut stuck: Vec<Client> = (0..40).map(|_| Client::go(address, true)).collect();
    for client in &mut stuck {
        client.stream.write_all(&half_sent.encode()).unwrap();
    }
    let mut client = Client::go(address, true);
    let large = vec![3; 3 << 20];
    wait_until(|| {
        // Tries without a pause would take the room that the last ones need.
        std::thread::sleep(Duration::from_millis(300));
        client.write(0, 0, &large) == ENOMEM
    });
    assert_eq!(client.read(0, 0, 3 << 20), Err(ENOMEM));
    assert_eq!(client.write(0, 0, &large[..2 << 20]), 0);
    assert_eq!(client.read(0, 0, 2 << 20), Ok(large[..2 << 20].to_vec()));
    wait_until(|| {
        drop(stuck.pop());
        client.write(0, 0, &large) == 0
    });
}

/// A drive whose flush is broken.
struct Broken(MemoryStore);

impl Store for Broken {
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_size(&self) -> u32 {
        self.0.sector_size()
    }
    fn is_powered(&self) -> bool {
        self.0.is_powered()
    }
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.0.read(offset, into)
    }
    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        self.0.write(offset, from, fua)
    }
    fn flush(&self) -> Result<(), StoreError> {
        panic!("planted")
    }
    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        self.0.trim(offset, length, fua)
    }
    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        self.0.write_zeroes(offset, length, flags)
    }
    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.0.extents(offset, length, max)
    }
}

/// A client whose request made the drive panic once waited for ever and kept its place.
#[test]
fn a_panic_ends_the_connection_and_frees_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let drive = Broken(MemoryStore::new(SIZE, 4096));
    let shared = Arc::new(SharedDrive::new(Arc::new(drive)));
    let address = Address::Unix(folder.path().join("nbd"));
    let options = NbdOptions::default();
    let server = NbdServer::start(shared, Arc::default(), &address, options).unwrap();
    let mut client = Client::go(server.address(), true);
    let flush = NbdRequest {
        flags: 0,
        command: CMD_FLUSH,
        cookie: 1,
        offset: 0,
        length: 0,
    };
    client.stream.write_all(&flush.encode()).unwrap();
    assert!(ends(&client.stream, Duration::from_secs(20)));
    wait_until(|| server.client_count() == 0);
}

/// Stopping once needed a connection to the server's own address.
#[test]
fn a_server_stops_though_its_socket_is_gone() {
    let mut bench = crowded(NbdOptions::default());
    let Address::Unix(path) = bench.server.address().clone() else {
        unreachable!()
    };
    let client = Client::go(bench.server.address(), true);
    std::fs::remove_file(path).unwrap();
    bench.server.stop();
    assert!(ends(&client.stream, Duration::from_secs(20)));
}
