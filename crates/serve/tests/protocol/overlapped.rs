//! Requests of one client on a drive whose commands take time: are they with the drive side by
//! side, is each answered with its own bytes, and is what they hold in memory bounded?

use crate::client::{Client, greet, haggle};
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{
    Address, Lint, MemoryStore, SharedDrive, SocketStream, Store, StoreError, StoreExtent,
    ZeroFlags,
};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

/// Reads and writes wait until somebody lets them go.
struct Gate {
    memory: MemoryStore,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    under_way: usize,
    most: usize,
    is_open: bool,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn pass(&self) {
        let mut state = self.state();
        state.under_way += 1;
        state.most = state.most.max(state.under_way);
        self.changed.notify_all();
        let shut = |state: &mut State| !state.is_open;
        let (mut state, waited) = self.changed.wait_timeout_while(state, LONG, shut).unwrap();
        assert!(!waited.timed_out(), "nobody has opened the gate");
        state.under_way -= 1;
    }

    /// Waits until this many wait at the gate.
    fn await_crowd(&self, count: usize) {
        let fewer = |state: &mut State| state.under_way < count;
        let waited = self
            .changed
            .wait_timeout_while(self.state(), LONG, fewer)
            .unwrap();
        assert!(
            !waited.1.timed_out(),
            "{} of {count} came",
            waited.0.under_way
        );
    }

    fn open(&self) {
        self.state().is_open = true;
        self.changed.notify_all();
    }
}

impl Store for Gate {
    fn size(&self) -> u64 {
        self.memory.size()
    }

    fn sector_size(&self) -> u32 {
        self.memory.sector_size()
    }

    fn is_powered(&self) -> bool {
        true
    }

    fn takes_time(&self) -> bool {
        true
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.pass();
        self.memory.read(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        self.pass();
        self.memory.write(offset, from, fua)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.memory.flush()
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        self.memory.trim(offset, length, fua)
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        self.memory.write_zeroes(offset, length, flags)
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.memory.extents(offset, length, max)
    }
}

struct Bench {
    gate: Arc<Gate>,
    lint: Arc<Lint>,
    server: NbdServer,
    _folder: tempfile::TempDir,
}

fn bench(size: u64) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let (gate, lint) = (
        Arc::new(Gate {
            memory: MemoryStore::new(size, 4096),
            state: Mutex::default(),
            changed: Condvar::new(),
        }),
        Arc::new(Lint::default()),
    );
    let shared = Arc::new(SharedDrive::new(gate.clone()));
    let address = Address::Unix(folder.path().join("nbd"));
    let server = NbdServer::start(shared, lint.clone(), &address, NbdOptions::default()).unwrap();
    Bench {
        gate,
        lint,
        server,
        _folder: folder,
    }
}

/// A client that has begun transmission, with simple replies.
fn stream(bench: &Bench) -> SocketStream {
    let mut stream = greet(bench.server.address());
    assert_eq!(
        haggle(&mut stream, OPT_GO, &[0; 6]).last().unwrap().0,
        REP_ACK
    );
    stream
}

fn ask(mut stream: &SocketStream, command: u16, cookie: u64, length: u32) {
    let request = NbdRequest {
        flags: 0,
        command,
        cookie,
        offset: cookie * u64::from(length),
        length,
    };
    stream.write_all(&request.encode()).unwrap();
}

/// The cookie of the next reply, which must be good, and its bytes.
fn answer(mut stream: &SocketStream, length: usize) -> (u64, Vec<u8>) {
    let mut head = [0; 16];
    stream.read_exact(&mut head).unwrap();
    let mut head = WireReader(&head);
    assert_eq!(head.u32(), Some(SIMPLE_REPLY_MAGIC));
    assert_eq!(head.u32(), Some(0), "error");
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).unwrap();
    (head.u64().unwrap(), bytes)
}

#[test]
fn many_requests_of_one_client_are_with_the_drive_at_once() {
    const COUNT: u64 = 64;
    let mut bench = bench(1 << 20);
    for n in 0..COUNT {
        let value = [n as u8 + 1; 4096];
        bench.gate.memory.write(n * 4096, &value, false).unwrap();
    }
    let client = stream(&bench);
    for n in 0..COUNT {
        ask(&client, CMD_READ, n, 4096);
    }
    bench.gate.await_crowd(COUNT as usize);
    bench.gate.open();
    let mut left: BTreeSet<u64> = (0..COUNT).collect();
    while !left.is_empty() {
        let (cookie, bytes) = answer(&client, 4096);
        assert!(left.remove(&cookie), "{cookie} was answered before");
        assert_eq!(bytes, [cookie as u8 + 1; 4096]);
    }
    drop(client);
    bench.server.stop();
    let notes = &bench.lint.sessions()[0];
    assert_eq!((notes.reads, notes.errors), (COUNT, 0));
}

#[test]
fn what_a_client_has_in_memory_is_bounded() {
    const LENGTH: usize = 1 << 20;
    let mut bench = bench(32 << 20);
    let client = stream(&bench);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..24 {
                ask(&client, CMD_WRITE, n, LENGTH as u32);
                (&client).write_all(&vec![n as u8 + 1; LENGTH]).unwrap();
            }
        });
        bench.gate.await_crowd(16);
        // Time for the seventeenth to come, if it could.
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(bench.gate.state().most, 16);
        bench.gate.open();
        let answered: BTreeSet<u64> = (0..24).map(|_| answer(&client, 0).0).collect();
        assert_eq!(answered, (0..24).collect());
    });
    // And what a client writes and reads after each other is kept in order.
    let mut client = Client::go(bench.server.address(), true);
    assert_eq!(client.read(0, 23 << 20, 4096), Ok(vec![24; 4096]));
    assert_eq!(client.write(0, 23 << 20, &[7; 4096]), 0);
    assert_eq!(client.ask(0, CMD_FLUSH, 0, 0), 0);
    assert_eq!(client.read(0, 23 << 20, 4096), Ok(vec![7; 4096]));
    bench.server.stop();
}

#[test]
fn a_client_that_leaves_takes_nothing_with_it() {
    let mut bench = bench(1 << 20);
    let client = stream(&bench);
    for n in 0..8 {
        ask(&client, CMD_READ, n, 4096);
    }
    bench.gate.await_crowd(8);
    drop(client);
    bench.gate.open();
    let mut next = Client::go(bench.server.address(), false);
    assert_eq!(next.read(0, 0, 4096), Ok(vec![0; 4096]));
    bench.server.stop();
    assert_eq!(bench.gate.state().under_way, 0);
}
