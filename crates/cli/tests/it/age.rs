//! `ssdlab age` end to end: a life that is stopped, killed or resumed, the drive that it leaves
//! behind, and what is refused.

use crate::run::{Outcome, ssdlab as run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn ssdlab(dir: &Path, args: &str) -> Outcome {
    let args: Vec<&str> = args.split_whitespace().collect();
    run(dir, &args)
}

fn good(dir: &Path, args: &str) -> Outcome {
    let outcome = ssdlab(dir, args);
    assert_eq!(outcome.code, Some(0), "{args}: {}", outcome.stderr);
    outcome
}

/// A directory with a drive of one's own, `own.toml`.
fn with_own_drive() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/drives/small.toml");
    let text = fs::read_to_string(small).expect("an example");
    let text = text.replace("name = \"small\"", "name = \"own\"");
    fs::write(dir.path().join("own.toml"), text).expect("written");
    dir
}

const LIFE: &str = "--workload uniform --block 4KiB --per-day 1GB --quiet";

fn result(dir: &Path, run: &str) -> Value {
    let path = dir.join(run).join("result.json");
    let text = fs::read_to_string(path).expect("a result");
    serde_json::from_str(&text).expect("JSON")
}

/// Everything of a life in the end but what it was asked for.
fn same_end(a: &Value, b: &Value) {
    for key in [
        "end",
        "program_failures",
        "read_retries",
        "uber_kept",
        "rated_bytes",
    ] {
        assert_eq!(a[key], b[key], "{key}");
    }
    assert!(a["end"]["cycles_average"].as_f64().expect("cycles") > 5.0);
}

#[test]
fn a_life_of_a_drive_of_ones_own_is_resumed_without_its_file() {
    let dir = with_own_drive();
    let at = dir.path();
    good(at, &format!("age own.toml {LIFE} --until 6GB --out whole"));
    good(
        at,
        &format!("age own.toml {LIFE} --until 3GB --out half --checkpoint c --every 1GB"),
    );
    fs::remove_file(at.join("own.toml")).expect("gone");
    good(at, "age --resume c --until 6GB --out rest --quiet");
    same_end(&result(at, "rest"), &result(at, "whole"));
    let title = &result(at, "rest")["manner"]["title"];
    assert_eq!(title, "an example of 300 MiB");
    let text = good(at, "inspect rest --format smartctl-json").stdout;
    let smart: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(smart["device"]["protocol"], "NVMe", "by its own interface");
    for kept in ["rest", "rest/drive.ssd", "c"] {
        let log = good(at, &format!("inspect {kept} --format text")).stdout;
        assert!(log.contains("Percentage Used:"), "{kept}: {log}");
    }
}

/// Bad input: the message says `said` and gives a hint.
#[track_caller]
fn refused(at: &Path, args: &str, said: &str) {
    let outcome = ssdlab(at, args);
    let error = &outcome.stderr;
    assert_eq!(outcome.code, Some(2), "{args}: {error}");
    let hinted = error.contains("hint: ");
    assert!(error.contains(said) && hinted, "{args}: {error}");
}

/// Intel's timed workload counts from an earlier state of the drive.
#[test]
fn a_timed_workload_counts_from_a_checkpoint() {
    let dir = with_own_drive();
    let at = dir.path();
    let text = fs::read_to_string(at.join("own.toml")).expect("an example");
    let intel = text.replace("name = \"own\"", "name = \"intel-own\"");
    let intel = intel.replace("interface = \"nvme\"", "interface = \"sata\"");
    let intel = format!(
        "{intel}\n[smart]\nset = {{ value = \"intel\", kind = \"assumed\", source = \"test\" }}\n"
    );
    fs::write(at.join("intel-own.toml"), intel).expect("written");
    let more = "--until 3GB --out half --checkpoint early --every 1GB";
    good(at, &format!("age intel-own.toml {LIFE} {more}"));
    fs::copy(at.join("early"), at.join("before")).expect("copied");
    good(at, "age --resume early --until 6GB --out whole --quiet");
    let smart = |args: &str| -> Value {
        let text = good(at, &format!("inspect {args} --format smartctl-json")).stdout;
        serde_json::from_str(&text).expect("JSON")
    };
    let raw = |report: &Value, id: u64| {
        let table = report["ata_smart_attributes"]["table"].as_array();
        let row = table.and_then(|rows| rows.iter().find(|row| row["id"] == id));
        row.and_then(|row| row["raw"]["value"].as_u64())
            .expect("a row")
    };
    let (all, since) = (smart("whole"), smart("whole --timed-since before"));
    let then = smart("before");
    assert_eq!(
        raw(&since, 228),
        raw(&all, 228) - raw(&then, 228),
        "minutes"
    );
    // Wear since then is the difference of the two, but for rounding.
    let wear = raw(&all, 226) - raw(&then, 226);
    assert!(raw(&since, 226).abs_diff(wear) <= 1, "{wear}");
    assert_eq!(raw(&since, 227), 0, "no reads");
    for (args, said) in [
        ("inspect before --timed-since whole", "cannot begin later"),
        ("inspect whole --timed-since nonesuch", "nonesuch"),
    ] {
        refused(at, args, said);
    }
}

fn begin(dir: &Path, more: &str) -> Child {
    let args = format!("age own.toml {LIFE} --until 5TB --out run {more}");
    std::process::Command::new(assert_cmd::cargo::cargo_bin("ssdlab"))
        .current_dir(dir)
        .args(args.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

fn wait_for(path: &Path, bytes: u64) {
    let begun = Instant::now();
    while fs::metadata(path).map_or(0, |meta| meta.len()) < bytes {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "{}",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Written so far by the life that a checkpoint holds, in whole GB beyond it.
fn beyond(dir: &Path, kept: &str) -> u64 {
    let text = good(dir, &format!("inspect {kept} --format smartctl-json")).stdout;
    let smart: Value = serde_json::from_str(&text).expect("JSON");
    let units = &smart["nvme_smart_health_information_log"]["data_units_written"];
    units.as_u64().expect("units") * 512_000 / 1_000_000_000 + 2
}

/// Killed at any moment, also while a checkpoint is being written: the last whole one is there, and
/// the life goes on from it as if it had never stopped.
#[test]
fn a_killed_life_goes_on_from_its_last_checkpoint() {
    let dir = with_own_drive();
    let at = dir.path();
    let mut child = begin(at, "--checkpoint c --every 100MB");
    wait_for(&at.join("c"), 1000);
    std::thread::sleep(Duration::from_millis(350));
    child.kill().expect("SIGKILL");
    child.wait().expect("ends");
    let series = fs::read_to_string(at.join("run/series.csv")).expect("a series");
    assert!(series.starts_with("host_bytes,"), "{series}");
    assert!(series.lines().count() > 1, "written as it comes");
    let until = beyond(at, "c");
    good(
        at,
        &format!("age --resume c --until {until}GB --out rest --quiet"),
    );
    good(
        at,
        &format!("age own.toml {LIFE} --until {until}GB --out whole"),
    );
    let (rest, whole) = (result(at, "rest"), result(at, "whole"));
    assert_eq!(rest["end"], whole["end"]);
}

/// Stopped in an orderly way, without a checkpoint asked for: results, the drive, and a checkpoint
/// in the results.
#[test]
fn a_stopped_life_keeps_its_results_and_can_go_on() {
    let dir = with_own_drive();
    let at = dir.path();
    for signal in ["-INT", "-TERM"] {
        let mut child = begin(at, "--replace");
        let series = at.join("run/series.csv");
        let _ = fs::remove_file(&series);
        wait_for(&series, 150);
        let kill = std::process::Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(kill.expect("runs").success());
        assert_eq!(child.wait().expect("ends").code(), Some(3));
        assert_eq!(result(at, "run")["stopped"], true);
        good(
            at,
            "simulate --from run --until 10ms --out look --replace --quiet",
        );
        let until = beyond(at, "run/life.ckpt");
        good(
            at,
            &format!("age --resume run/life.ckpt --until {until}GB --out on --replace --quiet"),
        );
        assert_eq!(result(at, "on")["stopped"], false);
    }
}

/// What it leaves behind is a target like any drive; at its end it refuses writes aloud.
#[test]
fn an_aged_drive_is_measured_like_any_other() {
    let dir = with_own_drive();
    let at = dir.path();
    fs::write(
        at.join("job.fio"),
        "[j]\nrw=randwrite\nbs=4k\niodepth=8\nruntime=1\ntime_based\n",
    )
    .expect("written");
    fs::write(
        at.join("read.fio"),
        "[j]\nrw=randread\nbs=4k\niodepth=8\nio_size=4m\n",
    )
    .expect("written");
    good(at, &format!("age own.toml {LIFE} --until 2GB --out worn"));
    good(at, "run job.fio --target drive:worn --out bench --quiet");
    let run = fs::read_to_string(at.join("bench/run.json")).expect("a run");
    assert!(
        run.contains("\"drive:worn\""),
        "the name that opens it: {run}"
    );
    assert!(
        run.contains("aged by uniform"),
        "its history is there: {run}"
    );
    let dead = "--until dead --set wear.cycles=4 --set wear.failure_median=1.5";
    good(at, &format!("age own.toml {LIFE} {dead} --out dead"));
    assert_eq!(result(at, "dead")["ended"], "read-only");
    let said = ssdlab(at, "run job.fio --target drive:dead --out refused --quiet");
    assert_ne!(said.code, Some(0), "{}", said.stdout);
    let all = said.stdout + &said.stderr;
    assert!(
        all.contains("Read-only") || all.contains("read-only"),
        "{all}"
    );
    good(at, "run read.fio --target drive:dead --out reads --quiet");
}

#[test]
fn what_cannot_be_lived_is_refused_with_a_hint() {
    let dir = with_own_drive();
    let at = dir.path();
    good(
        at,
        &format!("age own.toml {LIFE} --until 1GB --out half --checkpoint c"),
    );
    fs::write(at.join("job.fio"), "[j]\nrw=randwrite\nbs=4k\nruntime=1\n").expect("written");
    let mut bytes = fs::read(at.join("c")).expect("a checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(at.join("damaged"), &bytes).expect("written");
    fs::write(at.join("cut"), &bytes[..middle]).expect("written");
    fs::write(at.join("empty"), b"").expect("written");
    for (args, said) in [
        ("age --resume cut --until 2GB", "cut short"),
        ("age --resume empty --until 2GB", "no checkpoint"),
        ("inspect damaged", "damaged"),
        ("inspect cut", "cut short"),
        ("inspect empty --format text", "no saved drive"),
        ("age --resume damaged --until 2GB", "damaged"),
        ("age --resume damaged --until 2GB", "another checkpoint"),
        ("age --resume own.toml --until 2GB", "no checkpoint"),
        ("age --resume nonesuch --until 2GB", "nonesuch"),
        ("age own.toml --read 100 --until 1GB", "never writes"),
        (
            "age own.toml --temperature 400 --until 1GB",
            "no temperature",
        ),
        (
            "age own.toml --temperature=-300 --until 1GB",
            "no temperature",
        ),
        (
            "age own.toml --read 60 --trim 40 --until 1GB",
            "never writes",
        ),
        (
            "age own.toml --temperature NaN --until 1GB",
            "no temperature",
        ),
        ("age own.toml --until 7", "dead is allowed"),
        ("age own.toml --workload odd --until 1GB", "`--workload`"),
        ("age own.toml --per-day 0 --until 1GB", "--per-day"),
        (
            "age own.toml --set wear.cycles=0 --until 1GB",
            "wear.cycles",
        ),
        ("age own.toml --set wear.life=9 --until 1GB", "wear.life"),
        ("endurance own.toml --workload nonesuch", "path of a trace"),
        ("endurance own.toml --money --price 0", "a price of 0"),
        ("run job.fio --target drive:nonesuch", "nonesuch"),
    ] {
        refused(at, args, said);
    }
    let both = ssdlab(at, "age --resume c --workload uniform --until 2GB");
    assert_eq!(both.code, Some(2));
    assert!(
        both.stderr.contains("cannot be used with"),
        "{}",
        both.stderr
    );
}

/// The client's work is a stand-in, and the table says so where it shows it; JSON where it rests.
#[test]
fn a_stand_in_is_called_one_where_it_is_shown() {
    let dir = with_own_drive();
    let of = |work: &str, more: &str| {
        let args = format!("endurance own.toml --warm 1 --workload {work} {more}");
        good(dir.path(), &args).stdout
    };
    for more in ["", "--json"] {
        assert!(of("client", more).contains("a stand-in for JESD219A"));
        assert!(!of("uniform", more).contains("a stand-in"));
    }
}

/// `age --out old --save elsewhere` left results that `inspect old` refused: they had no drive.
#[test]
fn results_lead_to_a_drive_that_was_saved_elsewhere() {
    let dir = with_own_drive();
    let at = dir.path();
    let life = format!("age own.toml {LIFE} --until 1GB");
    good(at, &format!("{life} --out old --save drive.elsewhere"));
    assert!(!at.join("old/drive.ssd").exists());
    let (direct, led) = (
        good(at, "inspect drive.elsewhere --format text"),
        good(at, "inspect old --format text"),
    );
    assert_eq!(direct.stdout, led.stdout);
    fs::remove_file(at.join("drive.elsewhere")).expect("removed");
    let lost = ssdlab(at, "inspect old");
    assert_eq!(lost.code, Some(2), "{}", lost.stdout);
    assert!(lost.stderr.contains("no saved drive"), "{}", lost.stderr);
}

/// `endurance -q` used to be refused.
#[test]
fn endurance_can_be_quiet() {
    let dir = with_own_drive();
    let args = "endurance own.toml --warm 0 --workload uniform";
    assert!(!good(dir.path(), args).stderr.is_empty());
    assert_eq!(good(dir.path(), &format!("{args} -q")).stderr, "");
}

#[test]
fn endurance_shows_each_work_over_provisioning_and_money() {
    let dir = with_own_drive();
    let at = dir.path();
    let args = "endurance own.toml --op 60%,100% --warm 1 --workload enterprise --workload uniform";
    let out = good(at, args);
    let rows: Vec<&str> = out
        .stdout
        .lines()
        .filter(|l| l.starts_with("own  "))
        .collect();
    assert_eq!(rows.len(), 6, "{}", out.stdout);
    let json = good(at, &format!("{args} --json --money --price 100")).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let rows = json["endurance"].as_array().expect("rows");
    let tbw = |work: &str| -> Vec<f64> {
        let of = rows.iter().filter(|row| row["work"] == work);
        of.map(|row| row["tbw"].as_f64().expect("bytes")).collect()
    };
    for work in ["enterprise", "uniform 4 KiB"] {
        let tbw = tbw(work);
        assert!(
            tbw.windows(2).all(|pair| pair[0] < pair[1]),
            "{work}: {tbw:?}"
        );
    }
    let money = json["money"].as_array().expect("money");
    assert_eq!(money.len(), 3);
    assert!(money[0]["durable_iops"].as_f64().expect("a rate") > 100.0);
    assert_eq!(money[0]["price_usd"], 100.0);
}
