//! What `ssdlab serve` cannot do: refused with what is wrong and a hint, and nothing is harmed.

use crate::serve::client::Client;
use crate::serve::server::Server;
use crate::serve::{create, say, text};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().join("drive");
    create(&directory, "consumer-sata-1tb");
    let at = directory.to_str().expect("text");
    let socket = format!("unix:{}", folder.path().join("no/such/folder").display());
    let cases: [&[&str]; 7] = [
        &["serve", at],
        &["serve", "nowhere", "--nbd", "unix:x"],
        &["serve", at, "--nbd", "/run/socket"],
        &["serve", at, "--nbd", &socket],
        &["serve", at, "--nbd", "unix:x", "--fault", "gremlins"],
        &["serve", at, "--fuse", "name"],
        &["power", "off", "--control", "no-such-socket"],
    ];
    for case in cases {
        let (code, _, errors) = say(case);
        assert_eq!(code, Some(2), "{case:?}: {errors}");
        assert!(errors.contains("hint: "), "{case:?}: {errors}");
        assert!(!errors.contains("panicked"), "{case:?}: {errors}");
    }
    let (code, _, _) = say(&["power", "cut-when", "--control", "x"]);
    assert_eq!(code, Some(2), "no moment");
}

/// Exit code 2, `said`, and a hint.
#[track_caller]
fn refused(arguments: &[&str], said: &str) {
    let (code, _, errors) = say(arguments);
    assert_eq!(code, Some(2), "{arguments:?}: {errors}");
    let good = errors.contains(said) && errors.contains("hint: ");
    assert!(good, "{arguments:?}: {errors}");
}

#[test]
fn drives_that_cannot_be_in_memory() {
    let nbd = ["--nbd", "unix:nowhere"];
    let with = |drive: &str, more: &[&str], said: &str| {
        refused(&[&["serve", drive], &nbd[..], more].concat(), said);
    };
    with("drive:nosuch", &[], "no drive `nosuch`");
    with("drive:no/such.toml", &[], "reading no/such.toml");
    let known = "drive:consumer-sata-1tb";
    with(known, &["--size", "1000B"], "1000 bytes");
    with(known, &["--size", "0"], "0 bytes");
    with(known, &["--size", "64MiBx"], "64MiBx");
    with(known, &["--sync"], "keeps nothing");
    assert!(!Path::new("nowhere").exists(), "nothing was begun");
}

/// Others who can write are named at the start, unless they cannot.
#[test]
fn places_where_others_can_write_are_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let pki = folder.path().to_str().expect("text");
    let serve = |more: &[&str]| {
        let nowhere = ["--nbd", "unix:/no/such/folder/nbd"];
        let drive = ["serve", "drive:consumer-sata-1tb", "--size", "64MiB"];
        let open = ["--nbd", "tcp:0.0.0.0:0"];
        let (code, _, errors) = say(&[&drive[..], &open, more, &nowhere].concat());
        assert_eq!(code, Some(2), "{more:?}: {errors}");
        errors
    };
    let errors = serve(&[]);
    let warned = "warning: tcp:0.0.0.0:0 is open to other machines";
    assert!(
        errors.contains(warned) && errors.contains("--read-only"),
        "{errors}"
    );
    let errors = serve(&["--read-only"]);
    assert!(!errors.contains("warning"), "{errors}");
    let errors = serve(&["--tls", "require"]);
    assert!(errors.contains("--tls-certificates"), "{errors}");
    let errors = serve(&["--tls", "require", "--tls-certificates", pki]);
    let missing = errors.contains("server-cert.pem: No such file") && errors.contains("hint: ");
    assert!(missing && errors.contains(warned), "{errors}");
}

/// One process has a drive directory open, one server a socket, and a size is the directory's own.
#[test]
fn two_servers_do_not_share_a_directory_or_a_socket() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    create(&folder.path().join("drive"), "consumer-sata-1tb");
    let server = Server::start(folder.path(), &[]).expect("serves");
    let mut client = Client::connect(&server.socket).expect("connects");
    client.write(0, &[3; 512], true).expect("written");
    let (drive, free) = (at("drive"), format!("unix:{}", at("free")));
    refused(&["serve", &drive, "--nbd", &free], "open elsewhere");
    let one = ["--size", "64MiB", "--nbd"];
    let other = |more: &[&str], said: &str| {
        let all = [&["serve", "drive:consumer-sata-1tb"], &one[..], more];
        refused(&all.concat(), said);
    };
    other(&[&format!("unix:{}", at("nbd"))], "in use");
    other(&[&free, "--control", &at("control")], "in use");
    other(&[&free, "--nbd", &free], "in use");
    assert!(!folder.path().join("free").exists(), "left by none of them");
    refused(
        &["serve", &drive, "--nbd", &free, "--size", "1GiB"],
        "has its size",
    );
    // The first one has felt nothing.
    assert_eq!(client.read(0, 512).expect("read"), [3; 512]);
    client.goodbye();
    server.stop();
}

/// A user's file has once been taken for a socket that a killed server had left, and was removed.
#[test]
fn a_file_is_not_taken_for_a_dead_socket() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine");
    std::fs::write(&path, "precious").expect("written");
    let (mine, free) = (path.to_str().expect("text"), folder.path().join("free"));
    let (nbd, free) = (format!("unix:{mine}"), format!("unix:{}", free.display()));
    let serve = [
        "serve",
        "drive:consumer-sata-1tb",
        "--size",
        "64MiB",
        "--nbd",
    ];
    refused(&[&serve[..], &[&nbd]].concat(), "is not a socket");
    let control = [&serve[..], &[&free, "--control", mine]].concat();
    refused(&control, "is not a socket");
    assert_eq!(std::fs::read(&path).expect("there"), b"precious");
    // What a killed server has left is no obstacle.
    create(&folder.path().join("drive"), "consumer-sata-1tb");
    let mut killed = Server::start(folder.path(), &[]).expect("serves");
    killed.child.kill().expect("killed");
    killed.child.wait().expect("ended");
    assert!(killed.socket.exists());
    Server::start(folder.path(), &[]).expect("again").stop();
}

/// As root the commands run as nobody, who may do less.
#[test]
fn what_a_user_may_not_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let (drive, locked) = (folder.path().join("drive"), folder.path().join("locked"));
    create(&drive, "consumer-sata-1tb");
    std::fs::create_dir(&locked).expect("made");
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
    };
    mode(folder.path(), 0o755);
    mode(&locked, 0o555);
    mode(&drive, 0o555);
    for entry in std::fs::read_dir(&drive).expect("there") {
        mode(&entry.expect("read").path(), 0o444);
    }
    let (drive, inside) = (drive.display(), locked.join("new"));
    let inside = inside.display();
    let new = "drive:consumer-sata-1tb --size 64MiB";
    let cases = [
        format!("serve {drive} --nbd unix:{inside}"),
        format!("serve {new} --nbd unix:{inside}"),
        format!("create {inside} --drive consumer-sata-1tb --size 64MiB"),
    ];
    // A copy, because nobody may be kept out of the folder that the program was built in.
    let program = folder.path().join("ssdlab");
    std::fs::copy(env!("CARGO_BIN_EXE_ssdlab"), &program).expect("copied");
    mode(&program, 0o755);
    for case in cases {
        let mut command = std::process::Command::new(&program);
        command.args(case.split_whitespace()).current_dir("/");
        let root = std::fs::metadata("/proc/self").expect("Linux");
        if std::os::unix::fs::MetadataExt::uid(&root) == 0 {
            command.uid(65534).gid(65534);
        }
        let output = loop {
            match command.output() {
                // A child that another test is just starting still holds the copy open.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                output => break output.expect("runs"),
            }
        };
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{case}: {errors}");
        let good = errors.contains("Permission denied") && errors.contains("hint: ");
        assert!(good, "{case}: {errors}");
    }
}
