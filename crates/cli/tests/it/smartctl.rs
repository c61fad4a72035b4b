//! Does smartctl itself, and nvme-cli, read what the modelled drive serves, as the drive means it?
//!
//! ATA: smartctl replays the sectors as it would a saved log of its own commands (`smartctl -`).
//! NVMe: a small library that is loaded before the C library answers the admin commands from our
//! pages. Where the tools are missing the tests say so and pass.

use serde_json::Value;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::smart::json::{DeviceName, ata_report, nvme_report};
use ssdlab_drives::smart::replay::smartctl_log;
use ssdlab_drives::smart::{AttributeSet, Capacitor, Identity, SmartHealth, nvme, sample, text};
use ssdlab_judge::inspect;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SMARTCTL: &str = "/usr/sbin/smartctl";
const NVME: &str = "/usr/sbin/nvme";

fn missing(tools: &[&str]) -> bool {
    let absent: Vec<&&str> = tools.iter().filter(|t| !Path::new(t).exists()).collect();
    if !absent.is_empty() {
        ssdlab_skips::skip(format_args!("{absent:?} not installed"));
    }
    !absent.is_empty()
}

/// What smartctl makes of our sectors.
fn replayed(log: &str, arguments: &[&str]) -> (String, i32) {
    let mut child = Command::new(SMARTCTL)
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(log.as_bytes()).expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("ends");
    let text = String::from_utf8(output.stdout).expect("text");
    (text, output.status.code().expect("no signal"))
}

/// The first place where the two differ.
fn difference(at: &str, ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let gone = b.keys().find(|key| !a.contains_key(*key));
            if let Some(key) = gone {
                return Some(format!("{at}.{key} is missing in ours: {}", b[key]));
            }
            a.iter().find_map(|(key, value)| match b.get(key) {
                None => Some(format!("{at}.{key} is only in ours")),
                Some(other) => difference(&format!("{at}.{key}"), value, other),
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs
                .into_iter()
                .find_map(|(n, (a, b))| difference(&format!("{at}[{n}]"), a, b))
        }
        _ => (ours != theirs).then(|| format!("{at}: ours {ours}, smartctl's {theirs}")),
    }
}

/// Both reports without what a tool says of itself and of the clock.
fn assert_same(mut ours: Value, theirs: &str) {
    let mut theirs: Value = serde_json::from_str(theirs).expect("JSON");
    for report in [&mut ours, &mut theirs] {
        let report = report.as_object_mut().expect("an object");
        report.remove("smartctl");
        report.remove("local_time");
    }
    let differ = difference("", &ours, &theirs);
    assert!(differ.is_none(), "{}\n{theirs:#}", differ.unwrap());
}

/// A drive of each attribute set, under a name that smartctl knows or does not.
fn drives() -> [(Identity, AttributeSet); 5] {
    let intel = "Intel 730 and DC S35x0/3610/3700 Series SSDs";
    [
        (
            sample::identity("INTEL SSDSC2BA200G3", Some(intel)),
            AttributeSet::Intel,
        ),
        (
            sample::identity("KINGSTON SV300S37A240G", Some("SandForce Driven SSDs")),
            AttributeSet::SandForce,
        ),
        (
            sample::identity("ssdlab consumer-sata-1tb", None),
            AttributeSet::Generic,
        ),
        (
            sample::identity("ssdlab intel-320", None),
            AttributeSet::Intel,
        ),
        (
            sample::identity("ssdlab wildfire", None),
            AttributeSet::SandForce,
        ),
    ]
}

fn failing() -> SmartHealth {
    SmartHealth {
        reserve_left: 0,
        capacitor: Capacitor::Failed,
        read_only: true,
        ..sample::health()
    }
}

#[test]
fn smartctl_reads_our_sectors_and_its_json_is_ours() {
    if missing(&[SMARTCTL]) {
        return;
    }
    let device = DeviceName {
        name: "-".into(),
        kind: "ata".into(),
    };
    for (identity, set) in drives() {
        for (health, exit) in [(sample::health(), 0), (failing(), 8)] {
            let log = smartctl_log(&identity, set, &health);
            let (theirs, code) = replayed(&log, &["--json=c", "-x"]);
            assert!(!theirs.contains("REPLAY-IOCTL"), "{theirs}");
            assert_same(ata_report(&device, &identity, set, &health), &theirs);
            assert_eq!(code & 8, exit, "{set:?}");
        }
    }
}

/// Drives of the catalogue that go by their model number: smartctl's database has them all, and
/// shows host writes with their unit. Of the data-centre drives `inspect` believes wear and WAF.
#[test]
fn smartctl_knows_the_drives_that_have_a_number() {
    if missing(&[SMARTCTL]) {
        return;
    }
    let device = DeviceName {
        name: "-".into(),
        kind: "ata".into(),
    };
    let mut found = 0;
    let names = catalogue::names().expect("the catalogue");
    for name in &names {
        let about = SavedDriveInfo {
            name: name.clone(),
            ..SavedDriveInfo::default()
        };
        let config = catalogue::drive(name).expect("in the catalogue").config;
        let who = ssdlab_life::age::health::identity(&about, &config);
        if who.family.is_none() {
            continue;
        }
        let set = match name.starts_with("sandforce-") {
            true => AttributeSet::SandForce,
            false => AttributeSet::Intel,
        };
        let log = smartctl_log(&who, set, &sample::health());
        let (theirs, _) = replayed(&log, &["--json=c", "-x"]);
        let ours = ata_report(&device, &who, set, &sample::health());
        let (text, _) = replayed(&log, &["-i", "-A"]);
        assert!(!text.contains("firmware update"), "{text}");
        assert!(text.contains("Host_Writes_32MiB") || text.contains("Lifetime_Writes_GiB"));
        found += 1;
        if !name.starts_with("intel-dc-s3") {
            assert_same(ours, &theirs);
            continue;
        }
        let reports = inspect::report::parse(&ours.to_string(), name).expect("a report");
        let life = inspect::inspect(&reports[0]).expect("read").life;
        assert!(life.used_percent.is_some() && life.waf.is_some(), "{name}");
        assert_same(ours, &theirs);
    }
    assert_eq!(found, 27);
}

#[test]
fn smartctl_prints_our_table() {
    if missing(&[SMARTCTL]) {
        return;
    }
    for (identity, set) in drives() {
        for health in [sample::health(), failing()] {
            let log = smartctl_log(&identity, set, &health);
            let (theirs, _) = replayed(&log, &["-H", "-A"]);
            for line in text::ata_text(&identity, set, &health).lines() {
                assert!(theirs.lines().any(|l| l == line), "{line}\n{theirs}");
            }
        }
    }
}

#[test]
fn a_changed_byte_is_noticed() {
    if missing(&[SMARTCTL]) {
        return;
    }
    let (identity, set) = &drives()[0];
    let log = smartctl_log(identity, *set, &sample::health());
    let spoiled = log.replacen("000-015: 01 00 05 32", "000-015: 01 00 05 33", 1);
    assert_ne!(log, spoiled);
    let (theirs, _) = replayed(&spoiled, &["-A"]);
    assert!(theirs.contains("invalid SMART checksum"), "{theirs}");
}

/// Pages in a directory, and the library that serves them.
struct Served {
    dir: tempfile::TempDir,
    shim: PathBuf,
}

fn serve(identity: &Identity, health: &SmartHealth) -> Served {
    let dir = tempfile::tempdir().expect("a directory");
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.path().join(name), bytes).expect("written");
    };
    put("controller", &nvme::identify_controller(identity));
    put("namespace", &nvme::identify_namespace(identity));
    put("health", &nvme::health_page(health));
    let shim = dir.path().join("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/nvme_shim.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&shim)
        .arg(source)
        .arg("-ldl")
        .status()
        .expect("a C compiler, which linking Rust needs too");
    assert!(built.success());
    Served { dir, shim }
}

impl Served {
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .env("LD_PRELOAD", &self.shim)
            .env("SSDLAB_NVME", self.dir.path())
            .output()
            .expect("starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    }
}

#[test]
fn smartctl_reads_our_nvme_pages_and_its_json_is_ours() {
    if missing(&[SMARTCTL]) {
        return;
    }
    let identity = sample::identity("ssdlab nvme", None);
    let device = DeviceName {
        name: "/dev/nvme0".into(),
        kind: "nvme".into(),
    };
    for health in [sample::health(), failing(), SmartHealth::default()] {
        let served = serve(&identity, &health);
        let theirs = served.run(SMARTCTL, &["--json=c", "-i", "-H", "-A", "/dev/nvme0"]);
        assert_same(nvme_report(&device, &identity, &health), &theirs);
        let theirs = served.run(SMARTCTL, &["-H", "-A", "/dev/nvme0"]);
        for line in text::nvme_text(&health).lines() {
            assert!(theirs.lines().any(|l| l == line), "{line}\n{theirs}");
        }
    }
}

#[test]
fn nvme_cli_reads_our_health_page() {
    if missing(&[NVME]) {
        return;
    }
    let health = sample::health();
    let served = serve(&sample::identity("ssdlab nvme", None), &health);
    let text = served.run(NVME, &["smart-log", "-o", "json", "/dev/nvme0"]);
    let log: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let ours = nvme::health_page(&health);
    for (key, expected) in [
        ("temperature", 34 + 273),
        ("avail_spare", u64::from(ours[3])),
        ("percent_used", u64::from(ours[5])),
        ("power_cycles", health.power_cycles),
        ("power_on_hours", health.power_on_minutes / 60),
        ("unsafe_shutdowns", health.unsafe_shutdowns),
        ("media_errors", health.uncorrectable_errors),
        ("host_write_commands", health.write_commands),
    ] {
        // nvme-cli writes wide counters as text.
        let value = &log[key];
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        assert_eq!(number, Some(expected), "{key} in {text}");
    }
}
