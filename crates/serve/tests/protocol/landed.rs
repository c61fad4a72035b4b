//! Large writes over a plain socket are received straight into room of the store, and nothing else
//! is different.

use crate::client::Client;
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{
    Address, Lint, MemoryStore, SharedDrive, Store, StoreError, StoreExtent, StoreLanding,
    ZeroFlags,
};
use std::any::Any;
use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room in memory, of which nothing can be put behind a number of bytes.
struct Room {
    bytes: Vec<u8>,
    length: usize,
    most: usize,
}

impl StoreLanding for Room {
    fn missing(&self) -> usize {
        self.length - self.bytes.len()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend(bytes);
        Ok(())
    }

    fn splice(&mut self, pipe: BorrowedFd<'_>, count: usize) -> io::Result<()> {
        let mut from = std::fs::File::from(pipe.try_clone_to_owned()?);
        let mut bytes = vec![0; count.min(self.most.saturating_sub(self.bytes.len()))];
        from.read_exact(&mut bytes)?;
        self.bytes.extend(&bytes);
        if bytes.len() == count {
            Ok(())
        } else {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
}

/// A store that has such room for all but every seventh write.
struct Roomy {
    drive: MemoryStore,
    asked: AtomicUsize,
    landed: AtomicUsize,
    most: AtomicUsize,
}

impl Store for Roomy {
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

    fn landing(&self, _: u64, length: usize) -> Option<Box<dyn StoreLanding>> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let (bytes, most) = (Vec::new(), self.most.load(Ordering::SeqCst));
        let room = Room {
            bytes,
            length,
            most,
        };
        (asked % 7 != 6).then(|| Box::new(room) as Box<dyn StoreLanding>)
    }

    fn write_landed(
        &self,
        offset: u64,
        landing: Box<dyn StoreLanding>,
        fua: bool,
    ) -> Result<(), StoreError> {
        let landing: Box<dyn Any> = landing;
        let room = landing.downcast::<Room>().expect("its own");
        assert_eq!(room.missing(), 0);
        self.landed.fetch_add(1, Ordering::SeqCst);
        self.drive.write(offset, &room.bytes, fua)
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

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.drive.extents(offset, length, max)
    }
}

fn roomy() -> Arc<Roomy> {
    Arc::new(Roomy {
        drive: MemoryStore::new(8 << 20, 512),
        asked: AtomicUsize::new(0),
        landed: AtomicUsize::new(0),
        most: AtomicUsize::new(usize::MAX),
    })
}

fn serve(drive: &Arc<Roomy>, address: &Address) -> NbdServer {
    let shared = Arc::new(SharedDrive::new(drive.clone()));
    let lint = Arc::new(Lint::default());
    NbdServer::start(shared, lint, address, NbdOptions::default()).expect("listens")
}

fn addresses(folder: &std::path::Path) -> [Address; 2] {
    let tcp = Address::Tcp("127.0.0.1:0".to_owned());
    [Address::Unix(folder.join("nbd")), tcp]
}

/// Many writes of all sizes sent without waiting, with flushes and odd ones in between, and in
/// pieces that end anywhere: against a plain array.
#[test]
fn any_mix_of_requests_is_done_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()) {
        let drive = roomy();
        let server = serve(&drive, &address);
        let mut client = Client::go(server.address(), false);
        let mut plain = vec![0_u8; 8 << 20];
        let lengths = [131_072, 4096, 65_536, 200_704, 512, 1_048_576, 700, 131_072];
        let mut sent = Vec::new();
        for n in 0..200_u64 {
            let length = lengths[(n * 5 % 8) as usize];
            let offset = (n * 7_340_033 % 7) * 1_048_576 + (n % 3) * 512;
            let request = NbdRequest {
                flags: 0,
                command: if n % 11 == 5 { CMD_FLUSH } else { CMD_WRITE },
                cookie: n,
                offset,
                length: length as u32,
            };
            sent.extend(request.encode());
            if request.command == CMD_WRITE {
                let bytes: Vec<u8> = (0..length)
                    .map(|k| (k / 512 * 7 + k) as u8 ^ n as u8)
                    .collect();
                plain[offset as usize..][..length].copy_from_slice(&bytes);
                sent.extend(bytes);
            }
        }
        std::thread::scope(|scope| {
            let mut stream = &client.stream;
            let mut replies = &client.stream;
            scope.spawn(move || {
                for (n, piece) in sent.chunks(50_001).enumerate() {
                    stream.write_all(piece).unwrap();
                    if n % 40 == 7 {
                        std::thread::sleep(std::time::Duration::from_millis(2));
                    }
                }
            });
            for n in 0..200_u64 {
                let mut reply = [0; 16];
                replies.read_exact(&mut reply).unwrap();
                assert_eq!(reply[4..8], [0; 4], "{address}: request {n}");
                assert_eq!(reply[8..], n.to_be_bytes(), "{address}");
            }
        });
        let found = client.read(0, 0, 8 << 20).unwrap();
        assert!(found == plain, "{address}");
        let landed = drive.landed.load(Ordering::SeqCst);
        assert!(landed > 10, "{address}: {landed}");
    }
}

/// Where the store cannot keep what comes, the write fails, the rest of its payload is skipped, and
/// the connection goes on.
#[test]
fn a_write_without_room_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()) {
        let drive = roomy();
        let server = serve(&drive, &address);
        let mut client = Client::go(server.address(), false);
        assert_eq!(client.write(0, 0, &[1; 131_072]), 0);
        for most in [0, 1, 4096, 70_000, 131_071] {
            drive.most.store(most, Ordering::SeqCst);
            let before = drive.landed.load(Ordering::SeqCst);
            let error = client.write(0, 0, &[2; 131_072]);
            let landed = drive.landed.load(Ordering::SeqCst) > before;
            // It may have come through memory.
            assert!(
                error == ENOSPC || error == 0 && !landed,
                "{address}: {error}"
            );
            drive.most.store(usize::MAX, Ordering::SeqCst);
            assert_eq!(client.write(0, 0, &[3; 131_072]), 0);
            assert!(client.read(0, 0, 131_072).unwrap() == [3; 131_072]);
        }
        assert_eq!(
            client.write(0, 8 << 20, &[1; 131_072]),
            ENOSPC,
            "beyond the end"
        );
        assert_eq!(client.write(FLAG_DF, 0, &[1; 131_072]), EINVAL, "of reads");
        assert_eq!(client.write(0, 4096, &[9; 131_072]), 0);
    }
}
