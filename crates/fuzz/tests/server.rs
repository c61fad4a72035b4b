//! A running NBD server whose clients send mutated streams and vanish: does it still serve the
//! next client?

use ssdlab_fuzz::mutate::Mutator;
use ssdlab_fuzz::targets::named;
use ssdlab_serve::nbd::wire::{MAGIC, REP_ACK, WireReader};
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{Address, Lint, MemoryStore, SharedDrive, SocketStream};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_running_server_survives_mutated_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = Address::Unix(folder.path().join("nbd"));
    let drive = SharedDrive::new(Arc::new(MemoryStore::new(1 << 20, 4096)));
    let options = NbdOptions::default();
    let lint = Arc::new(Lint::default());
    let _server = NbdServer::start(Arc::new(drive), lint, &address, options).expect("a server");
    let target = named("nbd_conversation").expect("known");
    let corpus = target.corpus();
    let mut mutator = Mutator::new(1, target.words);
    for round in 0..300 {
        let mut bytes = corpus[mutator.pick(corpus.len())][1..].to_vec();
        let other = &corpus[mutator.pick(corpus.len())];
        mutator.mutate(&mut bytes, other);
        let mut stream = SocketStream::connect(&address).expect("the server listens");
        // A server that refuses what it got may have closed the connection.
        let sent = stream.write_all(&bytes).is_ok();
        if sent && round % 4 > 0 {
            let wait = Some(Duration::from_millis(1));
            stream.set_read_timeout(wait).expect("a timeout");
            let _ = stream.read(&mut [0; 4096]);
        }
    }
    serves_a_good_client(&address);
}

/// Runs the handshake of a client that means well.
fn serves_a_good_client(address: &Address) {
    let mut stream = SocketStream::connect(address).expect("the server listens");
    let wait = Some(Duration::from_secs(20));
    stream.set_read_timeout(wait).expect("a timeout");
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).expect("a greeting");
    assert_eq!(WireReader(&greeting).u64(), Some(MAGIC));
    let go = b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";
    stream.write_all(go).expect("the server reads");
    loop {
        let mut head = [0; 20];
        stream.read_exact(&mut head).expect("a reply");
        let mut head = WireReader(&head[12..]);
        let (kind, length) = (head.u32(), head.u32().expect("a length"));
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body).expect("the rest of a reply");
        if kind == Some(REP_ACK) {
            return;
        }
    }
}
