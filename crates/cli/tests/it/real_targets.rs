//! Real files and devices: are users' data safe, and do results survive whatever happens?
//!
//! Tests that need root and loop devices say so and pass without them elsewhere.

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn ssdlab(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("ssdlab").expect("built");
    command.current_dir(dir).stdin(Stdio::null());
    command
}

fn run(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = ssdlab(dir).args(args).output().expect("runs");
    (output.status.code(), talk(&output))
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("readable")).expect("JSON")
}

fn job(dir: &Path, runtime_s: u32) {
    let text = format!(
        "[w]\nrw=randwrite\nbs=4k\nsize=16m\nfilename=data.bin\ndirect=1\niodepth=4\n\
         time_based\nruntime={runtime_s}\n"
    );
    fs::write(dir.join("j.fio"), text).expect("written");
}

/// A directory on the disk under the build, not on a tmpfs that refuses direct I/O.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

fn shell(script: &str) -> bool {
    let quiet = || Stdio::null();
    Command::new("sh")
        .args(["-c", script])
        .stdout(quiet())
        .stderr(quiet())
        .status()
        .is_ok_and(|status| status.success())
}

/// Buffers were made for the job's commands alone: filling the target beforehand panicked.
#[test]
fn a_target_is_filled_before_a_job_of_smaller_or_no_writes() {
    let dir = scratch();
    job(dir.path(), 1);
    let written = fs::read_to_string(dir.path().join("j.fio")).expect("readable");
    for (name, from, to) in [
        ("small", "4k", "4k"),
        ("reads", "randwrite", "randread"),
        ("deep", "iodepth=4", "iodepth=512"),
    ] {
        fs::write(dir.path().join("j.fio"), written.replace(from, to)).expect("written");
        let args = "run j.fio -q --size 16MiB --fill 4000 -o";
        let args: Vec<&str> = args.split(' ').chain([name]).collect();
        let (code, talk) = run(dir.path(), &args);
        assert_eq!(code, Some(0), "{name}: {talk}");
    }
}

/// A loop device of 64 MiB over `image`; `None` (said aloud) where there are none to be had.
struct Loop {
    path: String,
}

impl Loop {
    fn over(image: &Path) -> Option<Loop> {
        let file = fs::File::create(image).expect("created");
        file.set_len(64 << 20).expect("sized");
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(image)
            .output();
        let path = output
            .ok()
            .filter(|o| o.status.success())
            .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
        if path.is_none() {
            ssdlab_skips::skip("no loop device can be made (needs root)");
        }
        path.map(|path| Loop { path })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        shell(&format!(
            "umount {0}; swapoff {0}; losetup --detach {0}",
            self.path
        ));
    }
}

#[test]
fn a_file_is_made_measured_and_removed() {
    let dir = scratch();
    job(dir.path(), 1);
    let (code, stderr) = run(dir.path(), &["run", "j.fio", "--quiet", "--out", "out"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        !dir.path().join("data.bin").exists(),
        "our file is removed again"
    );
    let result = json(&dir.path().join("out/result.json"));
    assert!(
        result["jobs"][0]["ops"][0]["count"]
            .as_u64()
            .expect("a count")
            > 10
    );
    assert!(
        dir.path().join("out/fio.json").exists() && dir.path().join("out/report.html").exists()
    );
}

#[test]
fn a_users_file_is_written_over_only_when_allowed_and_never_removed() {
    let dir = scratch();
    job(dir.path(), 1);
    let file = dir.path().join("data.bin");
    fs::write(&file, vec![7_u8; 16 << 20]).expect("written");
    let (code, stderr) = run(dir.path(), &["run", "j.fio", "--quiet", "--out", "out"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        fs::read(&file).expect("there").iter().all(|&b| b == 7),
        "untouched"
    );
    assert!(!dir.path().join("out").exists(), "nothing else is left");
    let allowed = ["run", "j.fio", "--quiet", "--out", "out", "--overwrite"];
    let (code, stderr) = run(dir.path(), &allowed);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(file.exists(), "it is the user's");
}

#[test]
fn ctrl_c_ends_cleanly_and_keeps_what_was_measured() {
    let dir = scratch();
    job(dir.path(), 60);
    let mut command = ssdlab(dir.path());
    command.args(["run", "j.fio", "--quiet", "--out", "out"]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("starts");
    wait_for_rows(&dir.path().join("out/series.csv"), 3);
    assert!(shell(&format!("kill -INT {}", child.id())));
    let status = child.wait().expect("ends");
    assert_eq!(status.code(), Some(3), "interrupted is not complete");
    let result = json(&dir.path().join("out/result.json"));
    assert_eq!(result["ending"], "interrupted");
    assert!(
        result["jobs"][0]["ops"][0]["count"]
            .as_u64()
            .expect("a count")
            > 0
    );
    assert!(
        !dir.path().join("data.bin").exists(),
        "our file is removed again"
    );
}

fn wait_for_rows(series: &Path, rows: usize) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while fs::read_to_string(series).map_or(0, |text| text.lines().count()) <= rows {
        assert!(Instant::now() < deadline, "no rows in {}", series.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_killed_run_can_still_be_read() {
    let dir = scratch();
    job(dir.path(), 60);
    let mut command = ssdlab(dir.path());
    command.args(["run", "j.fio", "--quiet", "--out", "out"]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("starts");
    wait_for_rows(&dir.path().join("out/series.csv"), 2);
    child.kill().expect("killed");
    child.wait().expect("ends");
    let (code, stderr) = run(dir.path(), &["report", "out"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(dir.path().join("out/report.html").exists());
}

#[test]
fn a_full_disk_in_mid_run_keeps_the_results_so_far() {
    let dir = scratch();
    let small = dir.path().join("small");
    fs::create_dir(&small).expect("made");
    if !shell(&format!(
        "mount -t tmpfs -o size=32k none {}",
        small.display()
    )) {
        return ssdlab_skips::skip("cannot mount a small tmpfs (needs root)");
    }
    job(dir.path(), 60);
    let (code, stderr) = run(
        dir.path(),
        &["run", "j.fio", "--quiet", "--out", "small/out"],
    );
    let rows = fs::read_to_string(small.join("out/series.csv")).unwrap_or_default();
    let reported = run(dir.path(), &["report", "small/out", "--json"]);
    shell(&format!("umount {}", small.display()));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("No space left"), "{stderr}");
    assert!(
        rows.lines().count() > 1,
        "seconds measured before are there"
    );
    assert!(!reported.1.contains("panicked"), "{}", reported.1);
    assert!(
        !dir.path().join("data.bin").exists(),
        "our file is removed again"
    );
}

#[test]
fn without_direct_io_the_page_cache_is_used_only_when_asked() {
    let shm = Path::new("/dev/shm");
    if !shm.is_dir() {
        return ssdlab_skips::skip("there is no /dev/shm");
    }
    let dir = tempfile::tempdir_in(shm).expect("a directory");
    job(dir.path(), 1);
    let (code, stderr) = run(dir.path(), &["run", "j.fio", "--quiet", "--out", "out"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--buffered"), "{stderr}");
    assert!(!dir.path().join("data.bin").exists() && !dir.path().join("out").exists());
    let asked = ["run", "j.fio", "--quiet", "--out", "out", "--buffered"];
    let (code, stderr) = run(dir.path(), &asked);
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_mounted_device_is_refused_whatever_is_typed() {
    let dir = scratch();
    let image = dir.path().join("disk.img");
    let Some(device) = Loop::over(&image) else {
        return;
    };
    let mount = dir.path().join("mnt");
    fs::create_dir(&mount).expect("made");
    let made = format!(
        "mkfs.ext4 -q {0} && mount {0} {1}",
        device.path,
        mount.display()
    );
    assert!(shell(&made), "mkfs and mount");
    fs::write(mount.join("thesis"), "years of work").expect("written");
    job(dir.path(), 1);
    let name = device.path.trim_start_matches("/dev/").to_owned();
    let args = [
        "run",
        "j.fio",
        "--target",
        &device.path,
        "--serial",
        &name,
        "--overwrite",
    ];
    let (code, stderr) = run(dir.path(), &args);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("mounted"), "{stderr}");
    assert!(
        !dir.path().join("ssdlab-runs").exists(),
        "nothing is written"
    );
    assert_eq!(
        fs::read(mount.join("thesis")).expect("there"),
        b"years of work"
    );
    shell(&format!("umount {}", mount.display()));
    // Not mounted any more, but it carries a file system: refused as well.
    let (code, stderr) = run(dir.path(), &args);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("ext"), "{stderr}");
}

#[test]
fn a_blank_device_needs_its_name_typed() {
    let dir = scratch();
    let image = dir.path().join("disk.img");
    let Some(device) = Loop::over(&image) else {
        return;
    };
    job(dir.path(), 1);
    let (code, stderr) = run(dir.path(), &["run", "j.fio", "--target", &device.path]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--serial"), "{stderr}");
    let name = device.path.trim_start_matches("/dev/").to_owned();
    let args = [
        "run",
        "j.fio",
        "--quiet",
        "--out",
        "out",
        "--target",
        &device.path,
        "--serial",
        &name,
    ];
    let (code, stderr) = run(dir.path(), &args);
    assert_eq!(code, Some(0), "{stderr}");
}
