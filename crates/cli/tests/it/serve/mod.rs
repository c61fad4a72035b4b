//! Does `ssdlab serve` serve: attached by its own words, switched by `ssdlab power`, ended in
//! order, and when it is killed, does its directory keep what it had promised?

mod client;
mod full;
mod kills;
mod memory;
mod refused;
pub mod server;

use client::Client;
use server::{Server, ssdlab};
use std::path::Path;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `ssdlab` and returns its exit code and what it said.
fn say(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = ssdlab().args(arguments).output().expect("runs");
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn create(directory: &Path, drive: &str) {
    let directory = directory.to_str().expect("text");
    let (code, _, errors) = say(&["create", directory, "--drive", drive, "--size", "64MiB"]);
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn a_drive_is_served_switched_and_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().join("drive");
    create(&directory, "consumer-sata-1tb");
    let server = Server::start(folder.path(), &[]).expect("serves");
    let control = folder.path().join("control");
    let control = control.to_str().expect("text");
    let power = |arguments: &[&str]| {
        let all = [&["power"], arguments, &["--control", control]].concat();
        say(&all)
    };
    let mut client = Client::connect(&server.socket).expect("connects");
    assert_eq!(client.size, 64 << 20);
    client.write(4096, &[7; 4096], false).expect("written");
    client.flush().expect("flushed");
    let (code, said, errors) = power(&["cut-when", "--flush", "1", "--inside", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(said.contains("\"armed\""), "{said}");
    client.write(4096, &[8; 4096], false).expect("written");
    assert!(client.flush().is_err(), "cut inside it");
    let (_, said, _) = power(&["status"]);
    assert!(
        said.starts_with("power is off: cut 1, inside a flush"),
        "{said}"
    );
    let (code, said, errors) = power(&["on"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        said.contains("recovered in") && said.contains("promises broken 0"),
        "{said}"
    );
    let page = client.read(4096, 4096).expect("read");
    assert!(page == [7; 4096] || page == [8; 4096]);
    let (code, _, errors) = power(&["cut-when", "--nand-op", "0"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("counts from 1"), "{errors}");
    let (_, said, _) = power(&["off"]);
    assert!(said.contains("cut 2, by the switch"), "{said}");
    let (_, _, _) = power(&["on"]);
    client.goodbye();
    let said = server.stop();
    assert!(said.contains("nbd 1: 1 reads, 2 writes"), "{said}");
    assert!(said.ends_with("closed\n"), "{said}");
    // Two cuts, and nothing unsafe about the end.
    let server = Server::start(folder.path(), &[]).expect("serves again");
    assert!(
        server.greeting.contains(" 2 unsafe shutdowns"),
        "{}",
        server.greeting
    );
    server.stop();
}
