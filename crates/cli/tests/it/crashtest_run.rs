//! Does `crashtest run` judge a program without scripts: found when it forgets to sync, cleared
//! when it does not, and said clearly what is missing?

use assert_cmd::Command;
use std::path::Path;

struct Run {
    code: i32,
    out: String,
    err: String,
}

fn run(dir: &Path, args: &[&str]) -> Run {
    let mut command = Command::cargo_bin("ssdlab").expect("built");
    let output = command.current_dir(dir).args(["crashtest"]).args(args);
    let output = output.output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run {
        code: output.status.code().expect("ended"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Whether this machine can mount; says so if not.
fn can_mount() -> bool {
    let machine = ssdlab_power::inside::check_machine(ssdlab_power::inside::DriveFileSystem::Ext4);
    let missing =
        machine.inspect_err(|why| ssdlab_skips::skip(format_args!("crashtest run: {why}")));
    missing.is_ok()
}

/// Appends eight lines to a log, and prints each; `SYNC` is what it does before it prints.
const PROGRAM: &str = "for n in 1 2 3 4 5 6 7 8; do echo line $n >>log; SYNC; echo line $n; done";

fn log(dir: &Path, sync: &str, more: &[&str]) -> Run {
    let script = PROGRAM.replace("SYNC", sync);
    std::fs::write(dir.join("my-app.sh"), script).expect("written");
    let mut args = vec![
        "run", "-q", "--cuts", "16", "--found", "cat log", "--out", sync,
    ];
    args.extend(more);
    args.extend(["--", "sh", "./my-app.sh"]);
    run(dir, &args)
}

#[test]
fn a_program_that_forgets_to_sync_is_found_and_one_that_syncs_is_not() {
    if !can_mount() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let bad = log(dir.path(), ":", &[]);
    assert_eq!(bad.code, 1, "{}{}", bad.out, bad.err);
    assert!(bad.out.contains("acknowledged: `line 1`"), "{}", bad.out);
    assert!(
        bad.out.contains("0  the drive broke its word"),
        "{}",
        bad.out
    );
    let good = log(dir.path(), "sync log .", &[]);
    assert_eq!(good.code, 0, "{}{}", good.out, good.err);
    // The same program on a drive that lies is not to blame.
    let lying = log(dir.path(), "sync . log", &["--fault", "ignores-flush"]);
    assert_eq!(lying.code, 1, "{}{}", lying.out, lying.err);
    let blamed = "0  the application failed, the drive kept its word";
    assert!(lying.out.contains(blamed), "{}", lying.out);
}

/// The drive itself as a file, marks by the socket, and a check that compares.
#[test]
fn a_program_without_a_file_system_marks_and_is_checked() {
    if !can_mount() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let program = "echo not a mark; for n in 1 2 3; do \
                   printf $n | dd of={} bs=512 seek=$n conv=notrunc,fsync,sync status=none; \
                   \"$SSDLAB\" mark $n; done";
    let check = "while read -r n; do [ \"$(dd if=\"$SSDLAB_DATA\" bs=512 skip=$n count=1 \
                 status=none | head -c 1)\" = $n ] || exit 1; done <\"$SSDLAB_MARKS\"";
    let more = [
        "--mount", "none", "--marks", "mark", "--cuts", "12", "--size", "64MiB",
    ];
    let mut args = vec!["run", "-q", "--check", check];
    args.extend(more);
    args.extend(["--", "sh", "-c", program]);
    let good = run(dir.path(), &args);
    assert_eq!(good.code, 0, "{}{}", good.out, good.err);
    assert!(
        good.out.contains("12  passed") && good.out.contains("4 marks"),
        "{}",
        good.out
    );
}

#[test]
fn what_is_missing_is_named() {
    let dir = tempfile::tempdir().expect("made");
    let none = run(dir.path(), &["run", "--", "true"]);
    assert!(
        none.code == 2 && none.err.contains("--check"),
        "{}",
        none.err
    );
    let preset = run(dir.path(), &["run", "--preset", "oracle"]);
    assert!(preset.code == 2, "{}", preset.out);
    if !can_mount() {
        return;
    }
    assert!(preset.err.contains("sqlite"), "{}", preset.err);
    let args = ["run", "--found", "true", "--", "./no-such-program"];
    let missing = run(dir.path(), &args);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("no-such-program"), "{}", missing.err);
    let listed = run(dir.path(), &["presets"]);
    assert!(listed.code == 0 && listed.out.contains("keeps   synchronous_commit=on"));
}

/// Makes a file for each record and syncs it, but not its directory unless `SYNC` does.
const FILES: &str = "for n in 1 2 3 4 5 6 7 8; do echo line $n >$n.log; sync $n.log SYNC; \
                     echo line $n; done";

/// ext4 forgives a program that syncs no directory: the result says so, and the command that it
/// prints finds it out. One that does is not accused by the same rules.
#[test]
fn a_program_that_syncs_no_directory_is_forgiven_by_ext4_and_not_by_posix() {
    if !can_mount() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let files = |sync: &str, more: &[&str]| {
        let script = FILES.replace("SYNC", sync);
        std::fs::write(dir.path().join("my-app.sh"), script).expect("written");
        let mut args = vec!["run", "-q", "--cuts", "12", "--found", "cat *.log"];
        args.extend(more);
        args.extend(["--", "sh", "./my-app.sh"]);
        run(dir.path(), &args)
    };
    let forgiven = files("", &["--out", "o"]);
    assert_eq!(forgiven.code, 0, "{}{}", forgiven.out, forgiven.err);
    if forgiven.out.contains("not seen") {
        assert!(forgiven.out.contains("strace"), "{}", forgiven.out);
        return ssdlab_skips::skip(format_args!("names of crashtest run: {}", forgiven.out));
    }
    let named = "8 names whose directory was never synced (`1.log`, `2.log`, `3.log`, ...)";
    assert!(forgiven.out.contains(named), "{}", forgiven.out);
    let (_, command) = forgiven.out.split_once("To try it:\n").expect("a command");
    let bin = assert_cmd::cargo::cargo_bin("ssdlab");
    let line = command.trim().replacen("ssdlab", "\"$BIN\"", 1);
    let mut shell = std::process::Command::new("sh");
    let again = shell
        .args(["-c", &line])
        .env("BIN", bin)
        .current_dir(dir.path());
    let again = again.output().expect("runs");
    let text = String::from_utf8_lossy(&again.stdout).into_owned();
    assert_eq!(again.status.code(), Some(1), "{line}\n{text}");
    assert!(text.contains("acknowledged: `line 1`"), "{text}");
    assert!(text.contains("0  the drive broke its word"), "{text}");
    let good = files(".", &["--out", "good", "--rules", "posix", "--json"]);
    assert_eq!(good.code, 0, "{}{}", good.out, good.err);
    let document: serde_json::Value = serde_json::from_str(&good.out).expect("JSON");
    let names = &document["names"];
    assert_eq!(names["rules"], "posix", "{names}");
    assert_eq!(
        (&names["made"], &names["never_synced"]),
        (&8.into(), &0.into())
    );
    let none = files(
        "",
        &["--out", "none", "--rules", "posix", "--mount", "none"],
    );
    assert_eq!(none.code, 2, "{}{}", none.out, none.err);
}
