//! A drive that cannot keep what it did: every request of a batch gets the error, once, and the
//! connection lives.

use crate::client::Client;
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{
    Address, Lint, MemoryStore, SharedDrive, Store, StoreError, StoreExtent, ZeroFlags,
};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Full {
    drive: MemoryStore,
    is_full: AtomicBool,
}

impl Store for Full {
    fn size(&self) -> u64 {
        self.drive.size()
    }

    fn sector_size(&self) -> u32 {
        self.drive.sector_size()
    }

    fn is_powered(&self) -> bool {
        true
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.drive.read(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        self.drive.write(offset, from, fua)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.drive.flush()
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        self.drive.trim(offset, length, fua)
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        self.drive.write_zeroes(offset, length, flags)
    }

    fn settle(&self) -> Result<(), StoreError> {
        if self.is_full.load(Ordering::SeqCst) {
            Err(StoreError::NoSpace("writing the log: no room".to_owned()))
        } else {
            Ok(())
        }
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.drive.extents(offset, length, max)
    }
}

/// Requests in one piece, whose last payload comes later: no reply may come twice.
#[test]
fn each_request_gets_its_error_once() {
    let folder = tempfile::tempdir().unwrap();
    let drive = Arc::new(Full {
        drive: MemoryStore::new(1 << 20, 512),
        is_full: AtomicBool::new(false),
    });
    let shared = Arc::new(SharedDrive::new(drive.clone()));
    let address = Address::Unix(folder.path().join("nbd"));
    let options = NbdOptions::default();
    let server = NbdServer::start(shared, Arc::new(Lint::default()), &address, options).unwrap();
    let mut client = Client::go(server.address(), false);
    assert_eq!(client.write(0, 0, &[1; 4096]), 0);
    drive.is_full.store(true, Ordering::SeqCst);
    let commands = [CMD_WRITE, CMD_READ, CMD_FLUSH, 77, CMD_TRIM, CMD_WRITE];
    let mut bytes = Vec::new();
    for (cookie, &command) in (0..).zip(&commands) {
        let request = NbdRequest {
            flags: 0,
            command,
            cookie,
            offset: 0,
            length: 4096,
        };
        bytes.extend(request.encode());
        if command == CMD_WRITE {
            bytes.extend([2; 4096]);
        }
    }
    let (now, later) = bytes.split_at(bytes.len() - 1000);
    client.stream.write_all(now).unwrap();
    let mut answered = |cookie: u64| {
        let mut reply = [0; 16];
        client.stream.read_exact(&mut reply).unwrap();
        assert_eq!(reply[4..8], ENOSPC.to_be_bytes(), "request {cookie}");
        assert_eq!(reply[8..], cookie.to_be_bytes());
    };
    (0..5).for_each(&mut answered);
    client.stream.write_all(later).unwrap();
    let mut reply = [0; 16];
    client.stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[4..8], ENOSPC.to_be_bytes());
    drive.is_full.store(false, Ordering::SeqCst);
    assert_eq!(client.ask(0, CMD_FLUSH, 0, 0), 0, "the connection lives");
    assert_eq!(client.read(0, 0, 4096), Ok(vec![2; 4096]));
}
