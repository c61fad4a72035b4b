//! Does a campaign that is stopped, killed, or badly asked leave a system that is clean, and a
//! directory that can be gone on with?
//!
//! A workload alone on a new drive: `true`. Checks count themselves in the folder `done`, and hang
//! from the fourth on, with a child in the background, until there is a file `go`.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const HANGS: &str = "case $SSDLAB_CUT in control*) exit 0;; esac; \
                     n=$(ls done | wc -l); touch done/$SSDLAB_CUT; [ -e go ] || [ $n -lt 3 ] || \
                     { sleep 600 & echo $! > child.part; mv child.part child; wait; }";
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

fn has_fuse() -> bool {
    let own = std::fs::metadata("/proc/self");
    let is_root = own.is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    is_root && Path::new("/dev/fuse").exists()
}

/// A folder to work in, with one for temporary files in it.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().expect("made");
        for name in ["tmp", "done"] {
            std::fs::create_dir(dir.path().join(name)).expect("made");
        }
        Place { dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("ssdlab"));
        command.current_dir(self.dir.path()).arg("crashtest");
        command.args(args).env("TMPDIR", self.at("tmp"));
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = Command::from_std(self.command(args)).output();
        let output = output.expect("runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().expect("ended");
        (code, text(&output.stdout), text(&output.stderr))
    }

    /// Starts a campaign and waits until a check hangs.
    fn hanging(&self) -> Child {
        let mut args = vec!["--workload", "true", "--check", HANGS, "--cuts", "8"];
        args.push("--consistency-only");
        args.extend(["--size", "64MiB", "--jobs", "1", "--out", "out"]);
        if !has_fuse() {
            args.push("--no-file");
        }
        let mut command = self.command(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("runs");
        wait_for("a check that hangs", || self.at("child").exists());
        child
    }

    fn results(&self) -> usize {
        let text = std::fs::read_to_string(self.at("out/results.jsonl"));
        text.expect("there").lines().count()
    }

    fn mounts(&self) -> Vec<String> {
        let text = std::fs::read_to_string("/proc/mounts").expect("there");
        let own = self.dir.path().display().to_string();
        let lines = text.lines().filter(|line| line.contains(&own));
        lines.map(str::to_owned).collect()
    }

    /// The campaign goes on to its end, and its temporary files are gone.
    fn assert_goes_on(&self) -> String {
        std::fs::write(self.at("go"), "").expect("written");
        let (code, out, err) = self.run(&["--out", "out", "--resume"]);
        assert_eq!(code, 0, "{out}{err}");
        assert_eq!(self.results(), 8);
        assert_eq!(self.mounts(), Vec::<String>::new());
        err
    }

    fn temporary(&self) -> usize {
        std::fs::read_dir(self.at("tmp")).expect("there").count()
    }
}

fn wait_for(what: &str, done: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = std::process::Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn a_campaign_that_is_stopped_leaves_nothing_behind_and_goes_on() {
    let place = Place::new();
    let campaign = place.hanging();
    signal(&campaign, "INT");
    let output = campaign.wait_with_output().expect("ended");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(
        err.contains("stopped after 3 of 8 cuts") && err.contains("--out out --resume"),
        "{err}"
    );
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        out.contains("3  passed") && out.contains("5  left"),
        "{out}"
    );
    assert_eq!((place.results(), place.temporary()), (3, 0));
    assert_eq!(place.mounts(), Vec::<String>::new());
    let child = std::fs::read_to_string(place.at("child")).expect("there");
    let stat = format!("/proc/{}/stat", child.trim());
    wait_for("the script's child to die", || {
        std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"))
    });
    place.assert_goes_on();
}

#[test]
fn the_drive_of_a_killed_campaign_is_found_and_removed() {
    if !has_fuse() {
        return ssdlab_skips::skip("needs root and /dev/fuse");
    }
    let place = Place::new();
    let mut campaign = place.hanging();
    campaign.kill().expect("killed");
    campaign.wait().expect("ended");
    let script = std::fs::read_to_string(place.at("child")).expect("there");
    let _ = std::process::Command::new("kill")
        .arg(script.trim())
        .status();
    assert_eq!(place.mounts().len(), 1, "a dead drive");
    let said = place.assert_goes_on();
    assert!(said.contains("of a campaign that was killed"), "{said}");
    assert_eq!(place.temporary(), 0);
}

#[test]
fn a_workload_that_failed_may_be_run_again() {
    let place = Place::new();
    let with = |workload| {
        let args = [
            "--check",
            "true",
            "--consistency-only",
            "--no-file",
            "--size",
            "64MiB",
            "--cuts",
        ];
        place.run(&[&["--workload", workload][..], &args, &["3", "--out", "out"]].concat())
    };
    let (code, _, err) = with("echo oh; exit 7");
    assert!(
        code == 2 && err.contains("--out may be used again"),
        "{err}"
    );
    assert!(place.at("out/workload.txt").exists(), "its output is kept");
    let (code, _, err) = place.run(&["--out", "out", "--resume"]);
    assert!(
        code == 2 && err.contains("did not come to its end"),
        "{err}"
    );
    assert_eq!(with("true").0, 0);
    // A campaign is never started over by mistake, nor is anything else taken for one.
    let (code, _, err) = with("true");
    assert!(code == 2 && err.contains("already has something"), "{err}");
    std::fs::remove_file(place.at("out/campaign.json")).expect("removed");
    let (code, _, err) = with("true");
    assert!(code == 2 && err.contains("already has something"), "{err}");
    assert_eq!(place.results(), 3);
}

#[test]
fn a_mark_that_was_never_made_costs_no_recording() {
    let place = Place::new();
    let workload = "\"$SSDLAB\" mark begin; \"$SSDLAB\" mark end; echo once >> runs";
    let mut args = vec!["--workload", workload, "--check", "echo x >> checks.txt"];
    args.extend([
        "--consistency-only",
        "--no-file",
        "--size",
        "64MiB",
        "--cuts",
        "3",
        "--out",
        "out",
    ]);
    args.extend(["--after-mark", "begun"]);
    let (code, _, err) = place.run(&args);
    assert!(code == 2 && err.contains("it made 2: begin, end"), "{err}");
    assert!(err.contains("--resume --after-mark"), "{err}");
    assert!(!place.at("checks.txt").exists(), "no check for nothing");
    let go_on = |mark| place.run(&["--out", "out", "--resume", "--after-mark", mark, "--json"]);
    assert_eq!(go_on("never").0, 2);
    let (code, out, err) = go_on("begin");
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&json["passed"], &json["cuts"]), (&3.into(), &3.into()));
    assert_eq!(json["results"][2]["verdict"], "passed");
    assert_eq!(json["minimal"], serde_json::Value::Null);
    assert_eq!(
        std::fs::read_to_string(place.at("runs")).expect("there"),
        "once\n"
    );
    let (code, _, err) = go_on("end");
    assert!(code == 2 && err.contains("results of other cuts"), "{err}");
}
