//! `ssdlab serve drive:NAME`: does a drive that is kept nowhere do what one in a directory does,
//! and leave nothing?

use crate::serve::client::Client;
use crate::serve::say;
use crate::serve::server::Server;
use std::ffi::OsStr;
use std::path::Path;

fn serve(folder: &Path, name: &str, more: &[&str]) -> Server {
    let server = Server::spawn_of(OsStr::new(name), folder, more).wait();
    server.expect("serves")
}

#[test]
fn a_drive_in_memory_obeys_the_switch_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let control = folder.path().join("control");
    let power = |what: &str| say(&["power", what, "--control", control.to_str().expect("text")]);
    let name = "drive:consumer-sata-1tb";
    let server = serve(folder.path(), name, &["--size", "64MiB"]);
    let said = format!("{name}: 64 MiB, new, in memory: nothing of it is kept");
    assert!(server.greeting.contains(&said), "{}", server.greeting);
    let mut client = Client::connect(&server.socket).expect("connects");
    assert_eq!(client.size, 64 << 20);
    client.write(8192, &[7; 4096], false).expect("written");
    client.flush().expect("flushed");
    client.write(8192, &[8; 4096], false).expect("written");
    client.write(0, &[9; 4096], true).expect("written");
    assert_eq!(power("off").0, Some(0));
    assert!(client.read(0, 4096).is_err(), "no power, no data");
    let (_, said, _) = power("on");
    assert!(said.contains("promises broken 0"), "{said}");
    let page = client.read(8192, 4096).expect("read");
    assert!(page == [7; 4096] || page == [8; 4096], "flushed, or newer");
    assert_eq!(client.read(0, 4096).expect("read"), [9; 4096], "by FUA");
    client.goodbye();
    let said = server.stop();
    assert!(said.ends_with("closed\n"), "{said}");
    let left = std::fs::read_dir(folder.path()).expect("there").count();
    assert_eq!(left, 0, "sockets are removed, and no drive is there");
    let server = serve(folder.path(), name, &["--size", "64MiB"]);
    let mut client = Client::connect(&server.socket).expect("connects");
    assert_eq!(client.read(0, 4096).expect("read"), [0; 4096], "a new one");
    client.goodbye();
    server.stop();
}

/// Without `--size` it offers what the catalogue says, and its ends can be written.
#[test]
fn without_a_size_it_is_as_large_as_the_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path(), "drive:intel-x25e-32gb", &[]);
    let mut client = Client::connect(&server.socket).expect("connects");
    assert_eq!(client.size, 32_017_047_552);
    let end = client.size - 4096;
    client.write(end, &[5; 4096], true).expect("written");
    assert_eq!(client.read(end, 4096).expect("read"), [5; 4096]);
    assert!(client.write(end + 512, &[5; 4096], false).is_err());
    client.goodbye();
    server.stop();
}

/// Some write, and others watch.
#[test]
fn one_address_reads_beside_another_that_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let reading = folder.path().join("reading");
    let address = format!("unix:{}", reading.display());
    let more = ["--size", "64MiB", "--nbd-read-only", &address];
    let server = serve(folder.path(), "drive:consumer-sata-1tb", &more);
    assert!(
        server.greeting.contains(", read-only\n"),
        "{}",
        server.greeting
    );
    let mut writer = Client::connect(&server.socket).expect("connects");
    let mut reader = Client::connect(&reading).expect("connects");
    writer.write(0, &[6; 4096], false).expect("written");
    assert_eq!(reader.read(0, 4096).expect("read"), [6; 4096]);
    let refused = reader.write(0, &[7; 4096], false).expect_err("refused");
    assert_eq!(refused.raw_os_error(), Some(1), "EPERM");
    assert_eq!(writer.read(0, 4096).expect("read"), [6; 4096]);
    writer.goodbye();
    reader.goodbye();
    server.stop();
}
