//! `ssdlab watch` on loop devices of this machine: it sees what programs do, and writes nothing.
//!
//! Needs root and loop devices; says so elsewhere.

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

fn watch(arguments: &[&str]) -> Output {
    Command::cargo_bin("ssdlab")
        .expect("built")
        .arg("watch")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("runs")
}

fn document(output: &Output) -> Value {
    let talk = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {talk}"))
}

/// A loop device over a file; detached in the end.
struct LoopDevice {
    path: String,
}

impl LoopDevice {
    fn over(image: &Path) -> Option<LoopDevice> {
        // The tracepoints, where nobody has mounted them yet.
        let _ = Command::new("mount")
            .args(["-t", "tracefs", "tracefs", "/sys/kernel/tracing"])
            .stderr(Stdio::null())
            .status();
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(image)
            .output();
        let path = output.ok().filter(|output| output.status.success());
        let Some(path) = path else {
            ssdlab_skips::skip("no loop device can be made (needs root)");
            return None;
        };
        let path = String::from_utf8_lossy(&path.stdout).trim().to_owned();
        Some(LoopDevice { path })
    }

    fn counters(&self) -> String {
        let name = Path::new(&self.path).file_name().expect("a name");
        fs::read_to_string(Path::new("/sys/block").join(name).join("stat")).expect("counters")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .args(["--detach", &self.path])
            .status();
    }
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

/// Each mode, on a drive that nobody uses: bytes and counters stay as they were, and the answer is
/// that there is none.
#[test]
fn an_idle_drive_is_not_touched() {
    let folder = scratch();
    let image = folder.path().join("image");
    let bytes: Vec<u8> = (0..16 << 20).map(|i: u32| (i >> 9) as u8).collect();
    fs::write(&image, &bytes).expect("written");
    let Some(device) = LoopDevice::over(&image) else {
        return;
    };
    let record = folder.path().join("idle.gz");
    let record = record.to_str().expect("UTF-8");
    // The kernel's own look for partitions comes first.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let before = device.counters();
    for more in [
        &["--counters"][..],
        &["--source", "ebpf"],
        &["--record", record],
    ] {
        let mut arguments = vec![device.path.as_str(), "--for", "2s", "--json", "-q"];
        arguments.extend(more);
        let output = watch(&arguments);
        assert_eq!(output.status.code(), Some(3), "{more:?}");
        assert_eq!(
            document(&output)["answer"]["kind"],
            "too_little",
            "{more:?}"
        );
    }
    assert_eq!(device.counters(), before, "reads or writes by watch");
    assert!(
        fs::read(&image).expect("readable") == bytes,
        "content changed"
    );
}

/// Writes a block and syncs it, again and again, until it is stopped.
fn commit(path: &str, stop: &AtomicBool) {
    let file = OpenOptions::new().write(true).open(path).expect("opened");
    let mut place = 0;
    while !stop.load(Ordering::Relaxed) {
        file.write_all_at(&[7; 4096], place % (8 << 20))
            .expect("written");
        file.sync_data().expect("synced");
        place += 4096;
    }
}

#[test]
fn a_program_that_syncs_is_seen_recorded_and_read_again() {
    let folder = scratch();
    let image = folder.path().join("image");
    fs::write(&image, vec![0; 16 << 20]).expect("written");
    let Some(device) = LoopDevice::over(&image) else {
        return;
    };
    let record = folder.path().join("busy.gz");
    let record = record.to_str().expect("UTF-8");
    let stop = AtomicBool::new(false);
    let (live, counted) = std::thread::scope(|scope| {
        scope.spawn(|| commit(&device.path, &stop));
        let on = |more: &[&str]| {
            let mut arguments = vec![device.path.as_str(), "--for", "2s", "--json", "-q"];
            arguments.extend(more);
            watch(&arguments)
        };
        let outputs = (on(&["--record", record]), on(&["--counters"]));
        stop.store(true, Ordering::Relaxed);
        outputs
    });
    let (live, counted) = (document(&live), document(&counted));
    assert_eq!(
        live["sources"][0]["missing"],
        Value::Null,
        "{}",
        live["sources"]
    );
    for (name, report) in [("tracepoints", &live), ("counters", &counted)] {
        let flushes = report["figures"]["flushes"]["device"]["count"].as_u64();
        let writes = report["figures"]["writes"]["device"]["count"].as_u64();
        assert!(
            flushes >= Some(30) && writes >= Some(30),
            "{name}: {}",
            report["figures"]
        );
        assert_ne!(report["answer"]["kind"], "too_little", "{name}");
    }
    assert_eq!(live["lost_events"], 0);
    let again = document(&watch(&[record, "--json"]));
    assert_eq!(again["answer"], live["answer"]);
    assert_eq!(again["figures"]["flushes"], live["figures"]["flushes"]);
    let trace = Command::cargo_bin("ssdlab")
        .expect("built")
        .args(["trace", "show", record, "--json"])
        .output()
        .expect("runs");
    assert_eq!(
        document(&trace)["lines_bad"],
        0,
        "{}",
        document(&trace)["lines_bad_shown"]
    );
}

fn example() -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = top.join("examples/traces/watch-volatile-buffer.gz");
    path.to_str().expect("UTF-8").to_owned()
}

/// What the program prints on a terminal of 80 columns, with these keys.
fn on_a_terminal(arguments: &str, keys: &[u8]) -> Option<String> {
    let program = Command::cargo_bin("ssdlab").expect("built");
    let program = program.get_program().to_str().expect("UTF-8").to_owned();
    let command = format!("stty rows 24 cols 80; '{program}' watch {arguments}; stty -a");
    let child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        ssdlab_skips::skip("no terminal can be made (needs script of util-linux)");
        return None;
    };
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let mut stdin = child.stdin.take().expect("piped");
    std::io::Write::write_all(&mut stdin, keys).expect("typed");
    let output = child.wait_with_output().expect("ends");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A screen while it runs; then the terminal is as it was, and the answer is below.
#[test]
fn a_screen_gives_the_terminal_back() {
    // Left by q, and by Ctrl-C, which is a key there.
    for keys in [&b"q"[..], b"\x03"] {
        let arguments = format!("'{}' --play", example());
        let Some(text) = on_a_terminal(&arguments, keys) else {
            return;
        };
        let (screen, after) = text
            .rsplit_once("\u{1b}[?1049l")
            .unwrap_or_else(|| panic!("no screen was left in {text:?}"));
        assert!(screen.contains("\u{1b}[?1049h"), "{screen:?}");
        assert!(screen.contains("a column for each second"), "{screen:?}");
        assert!(after.contains("THE DRIVE: volatile buffer"), "{after:?}");
        let settings: Vec<&str> = after.split([' ', ';', '\r', '\n']).collect();
        for setting in ["icanon", "echo", "isig"] {
            assert!(settings.contains(&setting), "{setting} in {after:?}");
        }
    }
    let Some(plain) = on_a_terminal(&format!("'{}'", example()), b"") else {
        return;
    };
    assert!(!plain.contains("\u{1b}["), "{plain:?}");
}

#[test]
fn a_recording_gives_events_a_page_and_the_limits_of_a_role() {
    let folder = scratch();
    let out = folder.path().join("out");
    let out = out.to_str().expect("UTF-8");
    let example = example();
    let output = watch(&[&example, "--events", "--role", "etcd", "--out", out, "-q"]);
    assert_eq!(output.status.code(), Some(1), "a p99 of 77 ms is too long");
    let text = String::from_utf8_lossy(&output.stdout);
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(events[0]["event"], "begun");
    let seconds = events.iter().filter(|event| event["event"] == "second");
    assert_eq!(seconds.count(), 6);
    let last = events.last().expect("events");
    assert_eq!(last["event"], "report");
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(format!("{out}/watch.json")).expect("a file"))
            .expect("JSON");
    assert_eq!(last["report"], kept);
    assert_eq!(kept["role"]["outcome"], "fail");
    let page = fs::read_to_string(format!("{out}/report.html")).expect("a page");
    assert!(page.contains("volatile buffer") && page.contains("As a disk of an etcd member"));
    let again = watch(&[&example, "--out", out]);
    assert_eq!(again.status.code(), Some(2), "results are not written over");
    let replaced = watch(&[&example, "--out", out, "--replace", "-q"]);
    assert_eq!(replaced.status.code(), Some(1));
    let unknown = watch(&[&example, "--role", "etc"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn what_cannot_be_watched_says_what_can() {
    for (given, reason) in [
        ("/no/such/device", "No such file"),
        ("/proc/self/stat", "on no block device"),
        ("99999999999", "no process has this number"),
    ] {
        let output = watch(&[given, "--for", "1s"]);
        let talk = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{given}: {talk}");
        assert!(
            talk.contains(reason) && talk.contains("hint:"),
            "{given}: {talk}"
        );
    }
    let output = watch(&["/proc/self/stat", "--for", "10ms"]);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(talk.contains("a second or more"), "{talk}");
}
