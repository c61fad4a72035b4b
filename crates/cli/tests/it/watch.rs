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
