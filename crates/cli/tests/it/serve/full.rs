//! No room for the log, at every write of a session one after the other: the client gets ENOSPC and
//! keeps its connection, the status and the server say why, and what was acknowledged is there when
//! there is room again, in the same run or after a kill.
//!
//! The limit is that on the size of files, which the system counts to the byte: a frame is half
//! written when it is reached.

use crate::serve::client::Client;
use crate::serve::server::Server;
use crate::serve::{create, say};
use ssdlab_ssd::rng::Rng;
use std::io;
use std::path::Path;
use std::process::Command;

const PAGE: u64 = 4096;
const PAGES: u64 = 200;
const ENOSPC: i32 = 28;

/// The session: a directory, and what its pages must hold; with more than one number, any of these.
struct Session<'a> {
    folder: &'a Path,
    pages: Vec<Vec<u64>>,
    rng: Rng,
    next: u64,
    protected: bool,
}

fn page(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(PAGE as usize / 8)
}

/// Files may have `bytes` more than the log has now; `None`: as many as they like.
fn limit(server: &Server, folder: &Path, more: Option<u64>) {
    let entries = std::fs::read_dir(folder.join("drive")).expect("there");
    let entries = entries.map(|entry| entry.expect("an entry"));
    let logs = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("log-"));
    let log = logs
        .map(|entry| entry.metadata().expect("there").len())
        .max();
    let bytes = match more {
        Some(more) => (log.expect("a log") + more).to_string(),
        None => "unlimited".to_owned(),
    };
    let id = server.child.id().to_string();
    let set = Command::new("prlimit")
        .args(["--pid", &id, &format!("--fsize={bytes}:unlimited")])
        .status();
    assert!(set.expect("prlimit").success());
}

fn is_full(done: io::Result<()>) -> bool {
    done.is_err_and(|error| error.raw_os_error() == Some(ENOSPC))
}

impl Session<'_> {
    fn status(&self) -> String {
        let control = self.folder.join("control");
        say(&[
            "power",
            "status",
            "--control",
            control.to_str().expect("text"),
        ])
        .1
    }

    fn acknowledged(&mut self, at: u64, number: u64, durable: bool) {
        let values = &mut self.pages[at as usize];
        if durable || self.protected {
            values.clear();
        }
        values.push(number);
    }

    fn flushed(&mut self) {
        for values in &mut self.pages {
            values.drain(..values.len() - 1);
        }
    }

    /// One write that finds no room, and more that find none either.
    fn write_without_room(&mut self, server: &Server, client: &mut Client) {
        let (at, fua) = (self.rng.below(PAGES), self.rng.percent(50));
        // Not even the first byte, the head of a frame, or a part of its content.
        let more = [0, 1, 47, 48, 60, 2000][self.rng.below(6) as usize];
        limit(server, self.folder, Some(more));
        self.next += 1;
        let number = self.next;
        let done = client.write(at * PAGE, &page(number), fua);
        if done.is_ok() {
            // It stayed in the buffer: the FLUSH has no room then.
            self.acknowledged(at, number, fua);
            assert!(!self.protected && !fua, "kept without room");
            assert!(is_full(client.flush()), "ENOSPC for the flush of {number}");
        } else {
            assert!(is_full(done), "ENOSPC for write {number}");
            self.pages[at as usize].push(number);
        }
        assert!(is_full(client.flush()), "ENOSPC for what follows");
        assert!(is_full(client.read(0, 512).map(drop)), "for reads too");
        let status = self.status();
        assert!(
            status.contains("power is on") && status.contains("until there is room: writing"),
            "{status}"
        );
    }

    /// All that was acknowledged is there.
    fn look(&mut self, client: &mut Client) {
        for (at, values) in (0..).zip(&mut self.pages) {
            let bytes = client.read(at * PAGE, PAGE as u32).expect("read");
            let found = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
            assert!(
                values.contains(&found),
                "page {at}: {found}, not {values:?}"
            );
            assert_eq!(bytes, page(found), "page {at} is torn");
        }
    }

    /// Only what it holds now counts from here on.
    fn look_after_a_kill(&mut self, client: &mut Client) {
        self.look(client);
        for (at, values) in (0..).zip(&mut self.pages) {
            let bytes = client.read(at * PAGE, 8).expect("read");
            *values = vec![u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"))];
        }
    }
}

fn session(drive: &str, protected: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    create(&folder.path().join("drive"), drive);
    let mut session = Session {
        folder: folder.path(),
        pages: vec![vec![0]; PAGES as usize],
        rng: Rng::named(1, drive),
        next: 0,
        protected,
    };
    let start = || Server::start_without_signal(folder.path()).expect("serves");
    let mut server = start();
    let mut client = Client::connect(&server.socket).expect("connects");
    for n in 0..40 {
        session.write_without_room(&server, &mut client);
        if n % 4 == 3 {
            server.child.kill().expect("killed");
            server.child.wait().expect("ended");
            server = start();
            client = Client::connect(&server.socket).expect("connects");
            session.look_after_a_kill(&mut client);
            continue;
        }
        limit(&server, folder.path(), None);
        let flushed = client.flush();
        assert!(flushed.is_ok(), "{flushed:?}: {}", session.status());
        session.flushed();
        assert!(!session.status().contains("room"), "{}", session.status());
        session.look(&mut client);
    }
    client.goodbye();
    server.stop();
    let server = start();
    let mut client = Client::connect(&server.socket).expect("connects");
    session.look(&mut client);
    client.goodbye();
    server.stop();
}

#[test]
fn a_client_learns_that_there_is_no_room_and_loses_nothing() {
    session("consumer-sata-1tb", false);
}

#[test]
fn so_does_one_of_a_protected_drive() {
    session("intel-dc-s3700-100gb", true);
}

/// It ends with an error, and what was acknowledged is there.
#[test]
fn an_end_without_room_is_no_good_end() {
    let folder = tempfile::tempdir().expect("a folder");
    create(&folder.path().join("drive"), "intel-dc-s3700-100gb");
    let mut server = Server::start_without_signal(folder.path()).expect("serves");
    let mut client = Client::connect(&server.socket).expect("connects");
    client.write(0, &page(5), true).expect("written");
    limit(&server, folder.path(), Some(100));
    assert!(is_full(client.write(PAGE, &page(6), true)));
    client.goodbye();
    let id = server.child.id().to_string();
    let killed = Command::new("kill").arg(&id).status().expect("kill");
    assert!(killed.success());
    assert_eq!(server.child.wait().expect("ended").code(), Some(2));
    let server = Server::start(folder.path(), &[]).expect("serves again");
    let mut client = Client::connect(&server.socket).expect("connects");
    assert_eq!(client.read(0, PAGE as u32).expect("read"), page(5));
    client.goodbye();
    server.stop();
}
