//! Sessions of vhost-user leave nothing behind.
#![cfg(feature = "vhost-user")]

use ssdlab_serve::vhost_user::VhostUserServer;
use ssdlab_serve::{Lint, MemoryStore, SharedDrive};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

#[test]
fn a_session_that_has_ended_leaves_no_descriptor_open() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("disk.sock");
    let drive = Arc::new(SharedDrive::new(Arc::new(MemoryStore::new(1 << 20, 4096))));
    let mut server =
        VhostUserServer::start(drive, Arc::new(Lint::default()), &path, "x").expect("listens");
    // VHOST_USER_GET_FEATURES: request 1, version 1, no payload; answered once a session has begun.
    let ask_and_close = || {
        let mut socket = UnixStream::connect(&path).expect("connects");
        let words: [u32; 3] = [1, 1, 0];
        socket
            .write_all(&words.map(u32::to_le_bytes).concat())
            .expect("sent");
        socket.read_exact(&mut [0; 20]).expect("an answer");
    };
    ask_and_close();
    std::thread::sleep(Duration::from_millis(500));
    let before = descriptors();
    for _ in 0..20 {
        ask_and_close();
    }
    // A session ends some time after its socket is closed.
    let deadline = Instant::now() + Duration::from_secs(20);
    while descriptors() > before + 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    let after = descriptors();
    server.stop();
    assert!(
        after <= before + 2,
        "{before} descriptors before 20 sessions, {after} after"
    );
}
