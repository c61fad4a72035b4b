//! Is the next step that is printed accepted as it stands, and does it change its finding?

use crate::run::ssdlab;
use serde_json::Value;
use ssdlab_bench::device::{TargetFacts, TargetKind};
use ssdlab_judge::inspect::{Inspection, enrich};
use ssdlab_judge::qualify::{Evidence, OpenQuestion, QualifyOutcome, RoleFinding, judge, roles};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The first command of ssdlab between backticks, as arguments.
fn printed(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut quoted = text.split('`').skip(1).step_by(2);
    let command = quoted.find(|command| command.starts_with("ssdlab drives new"));
    let command = command.unwrap_or_else(|| panic!("no command in {text}"));
    command.split(' ').skip(1).map(str::to_owned).collect()
}

/// `drive:pm893` is a drive that people have, and the error led nowhere.
#[test]
fn a_drive_that_the_catalogue_lacks_is_drafted_by_the_printed_command() {
    let dir = tempfile::tempdir().expect("a directory");
    let unknown = ssdlab(dir.path(), &["qualify", "drive:pm893", "--role", "slog"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stdout);
    assert!(
        unknown.stderr.contains("Samsung PM893"),
        "{}",
        unknown.stderr
    );
    let step = printed(&unknown.stderr);
    let step: Vec<&str> = step.iter().map(String::as_str).collect();
    let drafted = ssdlab(dir.path(), &step);
    assert_eq!(drafted.code, Some(0), "{}", drafted.stderr);
    let file = drafted.stdout.lines().next().expect("a file").to_owned();
    assert!(
        drafted.stdout.contains("Recognised as Samsung PM893"),
        "{}",
        drafted.stdout
    );
    let target = format!("drive:{file}");
    // Draws take ten times as long; judge's tests have them.
    let args = ["qualify", &target, "--role", "slog", "-q", "--no-reference"];
    let verdict = ssdlab(dir.path(), &[&args[..], &["--no-draws"]].concat());
    assert_eq!(verdict.code, Some(0), "{}", verdict.stderr);
    // Sentences are wrapped wherever their figures end.
    let screen = verdict
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(screen.contains("assumed protected"), "{screen}");
    assert!(
        screen.contains("Mind") && screen.contains("file of your own"),
        "{screen}"
    );
}

/// A draft of 3D XPoint would be a drive of NAND under its name.
#[test]
fn a_drive_without_nand_is_not_drafted() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = [
        "drives",
        "new",
        "name=optane-900p-280gb",
        "capacity=280GB",
        "interface=pcie3",
    ];
    let refused = ssdlab(dir.path(), &args);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("3D XPoint"), "{}", refused.stderr);
    assert!(!dir.path().join("optane-900p-280gb.toml").exists());
    let model = ["drives", "show", "intel-optane-p1600x-118gb"];
    assert_eq!(
        ssdlab(dir.path(), &model).code,
        Some(0),
        "the drive that it names is there"
    );
}

/// Drive writes a day are of years, and a draft without them takes what is usual.
#[test]
fn years_that_were_not_given_are_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let said = |name: &str, years: Option<&str>| {
        let name = format!("name={name}");
        let facts = [
            "source=sheet",
            "capacity=1TB",
            "interface=sata",
            "protected=yes",
            "dwpd=0.4",
        ];
        let args = ["drives", "new", name.as_str()];
        let args: Vec<&str> = args.into_iter().chain(facts).chain(years).collect();
        let drafted = ssdlab(dir.path(), &args);
        assert_eq!(drafted.code, Some(0), "{}", drafted.stderr);
        drafted.stdout
    };
    let assumed = "Assumed: a warranty of 5 years";
    assert!(said("without", None).contains(assumed));
    assert!(!said("with", Some("years=3")).contains(assumed));
}

struct LoopDevice(String);

impl LoopDevice {
    fn over(image: &Path) -> Option<LoopDevice> {
        std::fs::File::create(image)
            .and_then(|file| file.set_len(32 << 20))
            .expect("an image");
        let made = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(image)
            .output();
        let made = made.ok().filter(|output| output.status.success());
        if made.is_none() {
            ssdlab_skips::skip("no loop device can be made (needs root)");
        }
        made.map(|output| LoopDevice(String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// The role's load runs on a device as on a model, and the step that is printed for what the quick
/// profile leaves open is accepted; it is ended once it measures.
#[test]
fn a_device_is_put_under_the_roles_load_and_the_longer_run_is_accepted() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let Some(device) = LoopDevice::over(&dir.path().join("disk.img")) else {
        return;
    };
    let name = device.0.trim_start_matches("/dev/").to_owned();
    let args = ["qualify", &device.0, "--role", "etcd", "--serial", &name];
    let quick = ssdlab(
        dir.path(),
        &[&args[..], &["-q", "--no-reference", "--out", "quick"]].concat(),
    );
    assert!(matches!(quick.code, Some(0 | 1 | 3)), "{}", quick.stderr);
    let text = std::fs::read(dir.path().join("quick/qualification.json")).expect("a result");
    let found: Value = serde_json::from_slice(&text).expect("JSON");
    let evidence = &found["target"]["evidence"];
    let run = &evidence["later"]["used"][0];
    assert_eq!(run["load"], "etcd");
    assert!(run["count"].as_u64() > Some(10), "{run}");
    assert_eq!(evidence["later"]["region_bytes"], 22 << 20);
    let findings = found["target"]["verdict"]["findings"]
        .as_array()
        .expect("findings");
    let titles: Vec<&str> = findings
        .iter()
        .filter_map(|f| f["title"].as_str())
        .collect();
    for state in ["fresh", "used", "worst case"] {
        assert!(
            titles.iter().any(|title| title.ends_with(state)),
            "{state}: {titles:?}"
        );
    }
    // What the first run wrote looks like data. On a virtual machine the screen names another step
    // first, so this one is typed as it is printed elsewhere.
    let longer = "--profile full --size 33554432 --destroy 33554432 -q".split(' ');
    let longer = ["qualify", &device.0, "--role", "etcd"]
        .into_iter()
        .chain(longer);
    // The kernel gives up the claim of an io_uring that is torn down after its process has ended.
    std::thread::sleep(Duration::from_secs(5));
    let mut child = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .args(longer)
        .args(["--no-reference", "--out", "full"])
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    std::thread::sleep(Duration::from_secs(4));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .expect("kill")
            .success()
    );
    let code = child.wait().expect("ends").code();
    assert!(
        matches!(code, Some(0 | 1 | 3)),
        "{code:?}: accepted, and stopped"
    );
}

/// Targets of each kind, as far as their next steps differ.
fn targets() -> Vec<TargetFacts> {
    let of = |name: &str, kind, change: fn(&mut TargetFacts)| {
        let mut facts = TargetFacts::unknown(name.into(), kind);
        facts.capacity = 1 << 30;
        change(&mut facts);
        facts
    };
    let asked = |facts: &mut TargetFacts| enrich(facts, &Inspection::default());
    vec![
        of("drive:consumer-sata-1tb", TargetKind::Modelled, |_| {}),
        of("drive:mine", TargetKind::Modelled, |facts| {
            facts.typed = Some("drive:twin/drive.toml".into());
        }),
        of("file", TargetKind::File, |_| {}),
        of("file", TargetKind::File, |facts| {
            facts.virtualised = Some(true)
        }),
        of("file", TargetKind::File, asked),
        of("/dev/sdx", TargetKind::BlockDevice, |facts| {
            facts.serial = Some("S1".into())
        }),
        of("/dev/sdx", TargetKind::BlockDevice, |facts| {
            facts.serial = None
        }),
        of("/dev/sdx", TargetKind::BlockDevice, asked),
    ]
}

/// Every command that can be printed as a next step, for each kind of target and each kind of
/// unknown finding, is one that the program takes as it stands.
#[test]
fn every_next_step_that_can_be_printed_is_accepted() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut commands = BTreeSet::new();
    for facts in targets() {
        for role in roles() {
            let verdict = judge(role, &Evidence::none(facts.clone()));
            for profile in ["quick", "full"] {
                let question = OpenQuestion {
                    facts: &facts,
                    role: &role.name,
                    profile,
                };
                let unknown = |f: &&RoleFinding| f.outcome == QualifyOutcome::Unknown;
                for finding in verdict.findings.iter().filter(unknown) {
                    let mut so_far = finding.clone();
                    so_far.value += " so far";
                    for finding in [finding, &so_far] {
                        let step = question.step(finding);
                        let quoted = step.split('`').skip(1).step_by(2);
                        commands.extend(quoted.map(str::to_owned));
                    }
                }
            }
        }
    }
    assert!(commands.len() >= 20, "{commands:#?}");
    for command in &commands {
        let typed = command.strip_prefix("sudo ").unwrap_or(command);
        let mut args: Vec<&str> = typed.split(' ').skip(1).collect();
        // Everything before it is parsed, and nothing is run.
        args.push("--help");
        let shown = ssdlab(dir.path(), &args);
        assert_eq!(shown.code, Some(0), "{command}: {}", shown.stderr);
    }
    println!("{} commands", commands.len());
}
