//! No room for the log, at every write of a session one after the other: the client gets ENOSPC and
//! keeps its connection, the status and the server say why, and what was acknowledged is there when
//! there is room again, in the same run or after a kill. The same through the FUSE file.
//!
//! The limit is that on the size of files, which the system counts to the byte: a frame is half
//! written when it is reached.

use crate::serve::client::Client;
use crate::serve::server::Server;
use crate::serve::{create, say};
use ssdlab_ssd::rng::Rng;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: u64 = 4096;
const PAGES: u64 = 200;
const ENOSPC: i32 = 28;
const O_DSYNC: i32 = 0o10000;

/// What a program sees of the drive.
trait Device {
    fn read(&mut self, offset: u64, length: u32) -> io::Result<Vec<u8>>;
    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> io::Result<()>;
    fn flush(&mut self) -> io::Result<()>;
}

impl Device for Client {
    fn read(&mut self, offset: u64, length: u32) -> io::Result<Vec<u8>> {
        Client::read(self, offset, length)
    }

    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> io::Result<()> {
        Client::write(self, offset, bytes, fua)
    }

    fn flush(&mut self) -> io::Result<()> {
        Client::flush(self)
    }
}

/// The FUSE file, opened twice; the second time each write is a FUA write.
struct FuseDevice(File, File);

impl Device for FuseDevice {
    fn read(&mut self, offset: u64, length: u32) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        self.0.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> io::Result<()> {
        let file = if fua { &self.1 } else { &self.0 };
        file.write_all_at(bytes, offset)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Where the server mounts the file; what a killed one leaves there is unmounted.
struct Folder(PathBuf);

impl Folder {
    fn file(&self) -> PathBuf {
        self.0.join("file")
    }

    fn unmount(&self) {
        let mut command = Command::new("umount");
        let command = command.arg("-l").arg(&self.0);
        // Without a mount there is nothing to do.
        let _ = command.stderr(std::process::Stdio::null()).status();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.unmount();
    }
}

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
    fn write_without_room(&mut self, server: &Server, client: &mut dyn Device) {
        let (at, fua) = (self.rng.below(PAGES), self.rng.percent(50));
        // Not even the first byte, the head of a frame, or a part of its content.
        let more = [0, 1, 47, 48, 60, 70][self.rng.below(6) as usize];
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
    fn look(&mut self, client: &mut dyn Device) {
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
    fn look_after_a_kill(&mut self, client: &mut dyn Device) {
        self.look(client);
        for (at, values) in (0..).zip(&mut self.pages) {
            let bytes = client.read(at * PAGE, 8).expect("read");
            *values = vec![u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"))];
        }
    }
}

/// A session over NBD, or through the file in `mount`.
fn session(folder: &Path, drive: &str, protected: bool, mount: Option<&Folder>) {
    create(&folder.join("drive"), drive);
    let mut session = Session {
        folder,
        pages: vec![vec![0]; PAGES as usize],
        rng: Rng::named(1, drive),
        next: 0,
        protected,
    };
    let start = || -> (Server, Box<dyn Device>) {
        let file = mount.map(|mount| (mount.unmount(), mount.file()).1);
        let place = file.as_deref().map(|file| file.to_str().expect("text"));
        let more: Vec<&str> = place
            .into_iter()
            .flat_map(|file| ["--fuse", file])
            .collect();
        let server = Server::start_without_signal(folder, &more).expect("serves");
        let Some(file) = file else {
            let client = Client::connect(&server.socket).expect("connects");
            return (server, Box::new(client));
        };
        let open = |flags| {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).custom_flags(flags);
            options.open(&file).expect("opens")
        };
        (server, Box::new(FuseDevice(open(0), open(O_DSYNC))))
    };
    let (mut server, mut client) = start();
    for n in 0..40 {
        session.write_without_room(&server, client.as_mut());
        if n % 4 == 3 {
            server.child.kill().expect("killed");
            server.child.wait().expect("ended");
            drop(client);
            (server, client) = start();
            session.look_after_a_kill(client.as_mut());
            continue;
        }
        limit(&server, folder, None);
        let flushed = client.flush();
        assert!(flushed.is_ok(), "{flushed:?}: {}", session.status());
        session.flushed();
        assert!(!session.status().contains("room"), "{}", session.status());
        session.look(client.as_mut());
    }
    drop(client);
    server.stop();
    let (server, mut client) = start();
    session.look(client.as_mut());
    drop(client);
    server.stop();
}

#[test]
fn a_client_learns_that_there_is_no_room_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    session(folder.path(), "consumer-sata-1tb", false, None);
}

#[test]
fn so_does_one_of_a_protected_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    session(folder.path(), "intel-dc-s3700-100gb", true, None);
}

#[test]
fn so_does_a_program_that_uses_the_file() {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|at| at.uid() == 0);
    if !is_root || !Path::new("/dev/fuse").exists() {
        return ssdlab_skips::skip("a full disk under the FUSE file: needs root and /dev/fuse");
    }
    for (drive, protected) in [("consumer-sata-1tb", false), ("intel-dc-s3700-100gb", true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let mount = Folder(folder.path().join("mnt"));
        std::fs::create_dir(&mount.0).expect("made");
        session(folder.path(), drive, protected, Some(&mount));
    }
}

/// It ends with an error, and what was acknowledged is there.
#[test]
fn an_end_without_room_is_no_good_end() {
    let folder = tempfile::tempdir().expect("a folder");
    create(&folder.path().join("drive"), "intel-dc-s3700-100gb");
    let mut server = Server::start_without_signal(folder.path(), &[]).expect("serves");
    let mut client = Client::connect(&server.socket).expect("connects");
    client.write(0, &page(5), true).expect("written");
    // Less than a frame, which names a place.
    limit(&server, folder.path(), Some(60));
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
