//! Does `ssdlab pull` name what a drive lost over power cuts, and nothing else?
//!
//! A served drive stands for the real one: its file is the target, and `ssdlab power` cuts its
//! power. The server's own oracle knows which promises it broke.

use crate::serve::server::{Server, ssdlab};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A directory on the disk under the build: a tmpfs has no direct I/O.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

/// A ledger in another process.
struct Ledger {
    child: Child,
    address: String,
}

impl Ledger {
    fn listen(file: &Path, address: &str) -> Ledger {
        let mut child = ssdlab()
            .args(["pull", "ledger", "--listen", address, "--file"])
            .arg(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let first = lines.next().expect("a line").expect("text");
        assert_eq!(lines.next().expect("a line").expect("text"), "ready");
        let at = first.find("tcp:").expect("an address");
        let address = first[at..].to_owned();
        Ledger { child, address }
    }

    /// Kills it at once.
    fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A served drive as the target, with its ledger.
pub struct Bench {
    folder: tempfile::TempDir,
    server: Option<Server>,
    ledger: Ledger,
}

impl Bench {
    /// `None`, said aloud, where there is no FUSE.
    pub fn new(more: &[&str]) -> Option<Bench> {
        let folder = scratch();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("mnt")).expect("made");
        let drive = ["--drive", "consumer-sata-1tb", "--size", "64MiB"];
        let made = ssdlab().arg("create").arg(at("drive")).args(drive).output();
        assert!(made.expect("runs").status.success());
        let file = at("mnt/drive");
        let fuse = [&["--fuse", file.to_str().expect("text")], more].concat();
        let server = Server::start(folder.path(), &fuse);
        if server.is_none() {
            ssdlab_skips::skip("the drive is not served as a file: no FUSE");
        }
        let ledger = Ledger::listen(&at("ledger"), "127.0.0.1:0");
        Some(Bench {
            server: Some(server?),
            folder,
            ledger,
        })
    }

    /// A path in its folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The switch, and short times.
    pub fn power_and_times(&self) -> Vec<String> {
        let power = |state: &str| {
            let program = env!("CARGO_BIN_EXE_ssdlab");
            let control = self.at("control");
            let log = self.at("power.log");
            let (control, log) = (control.display(), log.display());
            format!("'{program}' power {state} --json --control '{control}' >> '{log}'")
        };
        let (off, on) = (power("off"), power("on"));
        let args = ["--off", &off, "--on", &on, "--write-for", "200ms"];
        let times = ["--settle", "0s", "--back", "20s"];
        args.iter().chain(&times).map(ToString::to_string).collect()
    }

    /// `ssdlab pull run` with short times.
    fn run(&self, more: &[&str]) -> Command {
        let mut command = ssdlab();
        command
            .args(["pull", "run"])
            .arg(self.at("mnt/drive"))
            .args(["--overwrite", "--size", "16MiB", "--ledger"])
            .arg(&self.ledger.address)
            .args(self.power_and_times())
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn record(&self) -> serde_json::Value {
        let output = ssdlab()
            .args(["pull", "status", "--json", "--ledger"])
            .arg(&self.ledger.address)
            .output()
            .expect("runs");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Cuts in which the drive broke a promise, by the server's oracle.
    fn broken(&self) -> u64 {
        let log = fs::read_to_string(self.at("power.log")).expect("a log");
        let last = log.lines().rfind(|line| line.contains("\"on\""));
        let last: serde_json::Value = serde_json::from_str(last.expect("a line")).expect("JSON");
        last["status"]["cuts_with_broken"]
            .as_u64()
            .expect("a count")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

fn done(mut command: Command) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("runs");
    (status.code(), text(&stdout) + &text(&stderr))
}

#[test]
fn an_honest_drive_is_not_accused() {
    let Some(bench) = Bench::new(&[]) else { return };
    let (code, said) = done(bench.run(&["--pulls", "3"]));
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("22 more are needed"), "{said}");
    let record = bench.record();
    assert_eq!((record["counted"].as_u64(), bench.broken()), (Some(3), 0));
    let check = |ledger: &str| {
        let mut check = ssdlab();
        check.args(["pull", "check"]).arg(bench.at("mnt/drive"));
        check.args(["--ledger", ledger]);
        done(check)
    };
    let (code, said) = check(&bench.ledger.address);
    assert_eq!(code, Some(0), "{said}");
    // What the ledger does not know any more is no fault of the drive.
    let bytes = fs::read(bench.at("ledger")).expect("there");
    let short = bench.at("short");
    fs::write(&short, &bytes[..bytes.len() / 2]).expect("written");
    let (code, said) = check(short.to_str().expect("text"));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("lost its end"), "{said}");
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&short, damaged).expect("written");
    let (code, said) = check(short.to_str().expect("text"));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("damaged frame"), "{said}");
}

/// Stops at the first broken promise: at the first pull by this mechanism, which is one of the
/// first two. A few more are allowed, as a drive may have just written out what it promised.
fn is_found(fault: &str, maker: &str) {
    let Some(bench) = Bench::new(&["--fault", fault]) else {
        return;
    };
    let (code, said) = done(bench.run(&["--pulls", "20"]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(maker), "{said}");
    let record = bench.record();
    assert_eq!(record["breaking"], 1, "{record}");
    assert!(record["counted"].as_u64() <= Some(5), "{record}");
    assert!(bench.broken() >= 1, "found what was not lost: {said}");
}

#[test]
fn a_drive_that_ignores_flushes_is_found() {
    is_found("ignores-flush", "durable by a flush");
}

#[test]
fn a_drive_that_ignores_fua_is_found() {
    is_found("ignores-fua", "durable by FUA");
}

#[test]
fn killed_writers_and_ledgers_accuse_nobody() {
    let Some(mut bench) = Bench::new(&[]) else {
        return;
    };
    let endless = ["--pulls", "1000", "--quiet"];
    for round in 0..4 {
        let mut writer = bench.run(&endless).spawn().expect("starts");
        let long = Duration::from_millis(700 + 170 * round);
        std::thread::sleep(long);
        if round % 2 == 0 {
            let address = bench.ledger.address["tcp:".len()..].to_owned();
            bench.ledger.kill();
            bench.ledger = Ledger::listen(&bench.at("ledger"), &address);
            std::thread::sleep(long);
        }
        assert!(writer.try_wait().expect("asked").is_none(), "it went on");
        writer.kill().expect("killed");
        writer.wait().expect("ended");
    }
    let pulls = bench.record()["counted"].as_u64().expect("a count");
    let more = (pulls + 1).to_string();
    let (code, said) = done(bench.run(&["--pulls", &more]));
    assert!(matches!(code, Some(0 | 3)), "{said}");
    let record = bench.record();
    assert_eq!((record["lost"].as_u64(), bench.broken()), (Some(0), 0));
    assert_eq!(record["counted"].as_u64(), Some(pulls + 1));
}

#[test]
fn pulls_that_take_no_power_away_do_not_count() {
    let folder = scratch();
    let run = |more: &[&str]| {
        let mut run = ssdlab();
        run.current_dir(folder.path())
            .args(["pull", "run", "target", "--ledger", "ledger"])
            .args(["--size", "8MiB", "--off", "true", "--on", "true"])
            .args(["--write-for", "50ms", "--settle", "0s", "--gone", "50ms"])
            .args(more);
        done(run)
    };
    let (code, said) = run(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the last 3 pulls do not count"), "{said}");
    let (code, said) = run(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--overwrite"), "asked again: {said}");
    // The record of one drive is no evidence for another.
    let mut qualify = ssdlab();
    qualify
        .current_dir(folder.path())
        .args(["qualify", "drive:consumer-sata-1tb", "--role", "slog"])
        .args(["--no-reference", "--pull-record", "ledger"]);
    let (code, said) = done(qualify);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--pull-record: the pulls are of"), "{said}");
}

/// The next step that a verdict on a model prints leads to `pull`, and is a command that it takes.
/// It is refused for the placeholder of the device, not for its form.
#[test]
fn the_next_step_of_a_verdict_is_a_command_of_pull() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = "qualify drive:consumer-sata-1tb --role slog -q --no-reference --out q";
    let args: Vec<&str> = args.split(' ').collect();
    let verdict = crate::run::ssdlab(dir.path(), &args).stdout;
    let words: Vec<&str> = verdict.split_whitespace().collect();
    let text = words.join(" ");
    let step = text.split("`ssdlab ").nth(1).expect("a next step");
    let step = step.split('`').next().expect("its end");
    let step: Vec<&str> = step.split(' ').collect();
    assert_eq!(step[..2], ["pull", "run"]);
    let outcome = crate::run::ssdlab(dir.path(), &step);
    assert!(outcome.stderr.contains("/dev/DEVICE"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("Usage:"), "{}", outcome.stderr);
}
