//! Lives of a small drive: resumed they go on as they would have, fast ones come close, bad plans
//! are refused.

use super::health::{SmartInterface, health, identity, page};
use super::live::{Ageing, AgeingOutcome, CheckpointSchedule};
use super::row::AgeingSample;
use super::{checkpoint, *};
use ssdlab_base::check::failures;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_drives::{catalogue, settings};
use ssdlab_ssd::ftl::{SlotPlace, SuperblockView};
use ssdlab_ssd::nand::reliability::WearCounters;
use std::sync::atomic::AtomicBool;

fn manner() -> LifeConditions {
    LifeConditions {
        name: String::new(),
        title: String::new(),
        settings: Vec::new(),
        rests_on: Vec::new(),
        pattern: "uniform".into(),
        block: 4096,
        read_pct: 0,
        trim_pct: 0,
        seed: 1,
        per_day: 10_000_000_000,
        temperature_c: 40.0,
        fast: false,
    }
}

/// The drive of article worn, cut down to 68 MiB, so that it dies within a test.
fn small() -> CatalogueDrive {
    let text = catalogue::files()
        .iter()
        .find(|(name, _)| name.contains("patriot"))
        .map(|(_, text)| text.replace("value = 5000", "value = 60"))
        .unwrap();
    let drive = catalogue::parse(&text, "test").unwrap();
    let set = [
        "nand.channels=2",
        "nand.dies_per_channel=2",
        "nand.blocks_per_plane=128",
        "nand.pages_per_block=16",
        "capacity.user=68MiB",
        "ftl.mapping_unit=4KiB",
    ];
    let set: Vec<DriveSetting> = set
        .iter()
        .map(|s| DriveSetting::parse(s).unwrap())
        .collect();
    settings::apply(&drive, &set).unwrap()
}

fn plan(until: LifeEnd, change: fn(&mut LifeConditions)) -> AgeingPlan {
    let mut manner = manner();
    change(&mut manner);
    AgeingPlan::new(&small(), manner, until).unwrap()
}

fn live(plan: &AgeingPlan) -> AgeingOutcome {
    let ageing = Ageing::begin(plan).unwrap();
    let lived = ageing
        .live(None, &mut |_| {}, &AtomicBool::new(false))
        .unwrap();
    assert_eq!(failures(&lived.life.checks), Vec::<String>::new());
    lived
}

#[test]
fn a_drive_lives_until_it_is_dead_and_says_how() {
    let lived = live(&plan(LifeEnd::Dead, |_| {}));
    let (life, end) = (&lived.life, &lived.life.end);
    assert_eq!(life.ended, Some("read-only"));
    assert_eq!(end.life_left_pct, 0.0);
    assert!(end.blocks_retired > 0 && end.superblocks_retired > 0);
    assert!(end.cycles_average > 60.0, "{end:?}");
    assert!(end.waf > 1.5, "{end:?}");
    let falls = |rows: &[AgeingSample]| {
        rows.windows(2)
            .all(|r| r[1].life_left_pct <= r[0].life_left_pct)
    };
    assert!(falls(&lived.rows));
    assert!(super::row::csv(&lived.rows).lines().count() > 10);
    assert!(result::summary(life).contains("read-only"));
}

/// Lives half of a life, keeps it, and goes on from the file.
fn in_two(whole: &AgeingPlan, path: &std::path::Path) -> AgeingOutcome {
    let LifeEnd::Bytes(bytes) = whole.until else {
        panic!("a life of a number of bytes");
    };
    let half = AgeingPlan {
        until: LifeEnd::Bytes(bytes / 2),
        ..whole.clone()
    };
    let keep = CheckpointSchedule {
        path: path.to_owned(),
        every: u64::MAX,
        at_the_end: true,
    };
    let begun = Ageing::begin(&half).unwrap();
    begun
        .live(Some(&keep), &mut |_| {}, &AtomicBool::new(false))
        .unwrap();
    let (drive, standing) = checkpoint::load(path).unwrap();
    // Of the drive's file nothing is needed any more.
    let rest = AgeingPlan::resumed(drive.config(), &standing, whole.until).unwrap();
    assert_eq!(rest.manner, whole.manner);
    assert_eq!((&rest.media, &rest.config), (&whole.media, &whole.config));
    let resumed = Ageing::resume(&rest, drive, standing).unwrap();
    resumed
        .live(None, &mut |_| {}, &AtomicBool::new(false))
        .unwrap()
}

/// Where everything is, and how worn each block is.
fn state(drive: &ssdlab_ssd::CountingDrive) -> (Vec<SlotPlace>, Vec<SuperblockView>, Vec<u32>) {
    let slots = drive.config().user_slots() as u32;
    let wear = drive.reliability().unwrap();
    (
        (0..slots).map(|lpn| drive.find(lpn)).collect(),
        drive.superblocks(),
        wear.cycles_in_use().collect(),
    )
}

/// The drive after a life in two parts is the one after the same life in one: every mapping unit in
/// its place, every superblock and every block's cycles alike, all counters; under every pattern,
/// with reads and trims between, and after failures.
#[test]
fn a_life_goes_on_from_a_checkpoint_exactly_as_it_would_have() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("life.ckpt");
    let manners: [fn(&mut LifeConditions); 5] = [
        |_| {},
        |m| m.pattern = "sequential".into(),
        |m| m.pattern = "zipf:0.9".into(),
        |m| (m.read_pct, m.trim_pct) = (30, 5),
        |m| (m.block, m.temperature_c) = (1024, 51.7),
    ];
    for change in manners {
        let whole = plan(LifeEnd::Bytes(2_000_000_000), change);
        let (a, b) = (in_two(&whole, &path), live(&whole));
        let what = &whole.manner;
        assert_eq!(a.drive.counters(), b.drive.counters(), "{}", what.pattern);
        assert!(state(&a.drive) == state(&b.drive), "{}", what.pattern);
        // What is refused after the end depends on how many commands were given at once.
        let wear = |l: &AgeingOutcome| WearCounters {
            commands_refused: 0,
            ..l.drive.reliability().unwrap().counters().clone()
        };
        assert_eq!(wear(&a), wear(&b), "{}", what.pattern);
        assert_eq!(
            (&a.life.end, a.life.uber_kept),
            (&b.life.end, b.life.uber_kept)
        );
        assert!(b.life.end.cycles_average > 10.0, "{:?}", b.life.end);
    }
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("life.ckpt");
    in_two(&plan(LifeEnd::Bytes(200_000_000), |_| {}), &path);
    let whole = std::fs::read(&path).unwrap();
    for at in [3, 9, 20, 40, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = checkpoint::load(&path).expect_err("damaged").to_string();
        let known = ["damaged", "no checkpoint of a life", "version"];
        assert!(
            known.iter().any(|said| error.contains(said)),
            "{at}: {error}"
        );
    }
    std::fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let error = checkpoint::load(&path).expect_err("short").to_string();
    assert!(error.contains("cut short"), "{error}");
    std::fs::write(&path, b"ssdlabSV is something else").unwrap();
    let error = checkpoint::load(&path).expect_err("other").to_string();
    assert!(error.contains("no checkpoint of a life"), "{error}");
}

/// Every result names the plan's changes of the drive's file.
#[test]
fn a_raised_reserve_of_free_superblocks_is_listed() {
    let mut drive = small();
    drive.config.ftl.reclaim.free_superblocks_low = 3;
    let plan = AgeingPlan::new(&drive, manner(), LifeEnd::Dead).unwrap();
    assert_eq!(plan.config.ftl.reclaim.free_superblocks_low, 4);
    let said = "ftl.free_superblocks_low=4 (raised from 3";
    let has = |plan: &AgeingPlan| plan.manner.settings.iter().any(|s| s.starts_with(said));
    assert!(has(&plan), "{:?}", plan.manner.settings);
    drive.config.ftl.reclaim.free_superblocks_low = 5;
    let plan = AgeingPlan::new(&drive, manner(), LifeEnd::Dead).unwrap();
    assert!(
        !plan
            .manner
            .settings
            .iter()
            .any(|s| s.contains("free_superblocks"))
    );
}

/// A checkpoint and a saved drive are one drive, to be measured and asked for its SMART.
#[test]
fn a_checkpoint_is_a_drive_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("life.ckpt");
    let lived = in_two(&plan(LifeEnd::Bytes(600_000_000), |_| {}), &path);
    let (drive, about) = left::open(&path).unwrap();
    drive.check().unwrap();
    assert!(about.history[0].contains("uniform"), "{about:?}");
    assert_eq!(about.interface.as_deref(), Some("sata"));
    assert!(drive.counters().host_bytes_written < lived.life.end.host_bytes);
    let saved = dir.path().join(left::DRIVE_FILE);
    let about = lived.life.about("nvme", None);
    let timed = lived.drive.into_timed().unwrap();
    ssdlab_drives::keep::saved::save(
        &saved,
        ssdlab_drives::keep::saved::OverwritePolicy::Refuse,
        &timed,
        &about,
    )
    .unwrap();
    let (again, about) = left::open(dir.path()).unwrap();
    assert_eq!(again.counters(), timed.counters());
    assert_eq!(
        page(&about),
        SmartInterface::Nvme,
        "by its interface, not its name"
    );
    assert!(left::kept(dir.path().to_str().unwrap()).is_some());
    assert!(left::kept("patriot-wildfire-120gb").is_none());
    assert!(left::open(&dir.path().join("none")).is_err());
}

#[test]
fn the_fast_manner_leaps_and_comes_close() {
    let until = LifeEnd::Bytes(2_500_000_000);
    let exact = live(&plan(until, |m| m.pattern = "sequential".into()));
    let fast = live(&plan(until, |m| {
        m.pattern = "sequential".into();
        m.fast = true;
    }));
    assert_eq!(exact.life.leapt_bytes, 0);
    assert!(fast.life.leapt_bytes > 0, "{:?}", fast.life);
    let (a, b) = (&exact.life.end, &fast.life.end);
    assert!((b.waf / a.waf - 1.0).abs() < 0.02, "{a:?} {b:?}");
    assert!((b.cycles_average / a.cycles_average - 1.0).abs() < 0.02);
}

/// Three small drives that differ in mapping, cells and wear levelling, with a load each.
const THREE: [(&str, &str, &str, &[&str]); 3] = [
    (
        "patriot-wildfire-120gb",
        "flat map, MLC, parity, static and dynamic levelling",
        "zipf:0.9",
        &["op=70%", "wear.cycles=600"],
    ),
    (
        "tlc-client-nvme-1tb",
        "map cached in DRAM, TLC, dynamic levelling",
        "uniform",
        &[
            "ftl.mapping=cached",
            "ftl.map_dram=16KiB",
            "ftl.map_entry=4B",
            "ftl.slc_superblocks=0",
            "ftl.slc_dynamic_above_free=0",
            "wear.cycles=500",
            "wear.level_gap=0",
        ],
    ),
    (
        "intel-x25e-64gb",
        "tree map, SLC, no levelling",
        "hotcold:80/20",
        &[
            "ftl.mapping=tree",
            "ftl.map_dram=32KiB",
            "ftl.map_entry=16B",
            "wear.cycles=500",
            "wear.level_dynamic=false",
            "wear.level_gap=0",
        ],
    ),
];

fn one_of_three(name: &str, set: &[&str]) -> CatalogueDrive {
    let shape = [
        "nand.channels=2",
        "nand.dies_per_channel=2",
        "nand.planes_per_die=1",
        "nand.blocks_per_plane=96",
        "nand.pages_per_block=24",
        "nand.page=16KiB",
        "ftl.mapping_unit=4KiB",
        "buffer.size=256KiB",
        "wear.failure_median=1.6",
        "op=30%",
    ];
    let all = shape.iter().chain(set);
    let all: Vec<DriveSetting> = all.map(|s| DriveSetting::parse(s).unwrap()).collect();
    settings::apply(&catalogue::drive(name).unwrap(), &all).unwrap()
}

/// A whole life until death, both ways: bytes that the host wrote, and WAF, within 2 %.
#[test]
fn the_fast_manner_dies_when_the_exact_one_does() {
    for (name, what, pattern, set) in THREE {
        let drive = one_of_three(name, set);
        let lived = |fast: bool| {
            let manner = LifeConditions {
                pattern: pattern.into(),
                fast,
                ..manner()
            };
            live(&AgeingPlan::new(&drive, manner, LifeEnd::Dead).unwrap()).life
        };
        let (exact, fast) = (lived(false), lived(true));
        assert!(exact.ended.is_some() && fast.ended.is_some(), "{what}");
        let leapt = fast.leapt_bytes as f64 / fast.end.host_bytes as f64;
        let life = fast.end.host_bytes as f64 / exact.end.host_bytes as f64 - 1.0;
        let waf = fast.end.waf / exact.end.waf - 1.0;
        println!(
            "{what}: life {:.1} GB, {:+.2} %; WAF {:.3}, {:+.2} %; {:.0} % extrapolated",
            exact.end.host_bytes as f64 / 1e9,
            100.0 * life,
            exact.end.waf,
            100.0 * waf,
            100.0 * leapt
        );
        assert!(leapt > 0.1, "{what}: {leapt}");
        assert!(
            life.abs() < 0.02 && waf.abs() < 0.02,
            "{what}: {life} {waf}"
        );
    }
}

#[test]
fn nonsense_is_refused() {
    for (text, said) in [
        ("270", "10% or"),
        ("100%", "life left"),
        ("0TB", "life left"),
        ("alive", "dead"),
    ] {
        let error = LifeEnd::parse(text).unwrap_err().to_string();
        assert!(error.contains("dead is allowed"), "{text} {said}: {error}");
    }
    assert_eq!(
        LifeEnd::parse("270TB").unwrap(),
        LifeEnd::Bytes(270_000_000_000_000)
    );
    assert_eq!(LifeEnd::parse("10%").unwrap(), LifeEnd::LifeLeft(10));
    let refused = |change: fn(&mut LifeConditions)| {
        let mut manner = manner();
        change(&mut manner);
        AgeingPlan::new(&small(), manner, LifeEnd::Dead)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(|m| m.read_pct = 100).contains("never writes"));
    assert!(refused(|m| m.temperature_c = 1e6).contains("no temperature"));
    assert!(refused(|m| m.temperature_c = f64::NAN).contains("no temperature"));
    assert!(refused(|m| m.per_day = 0).contains("a day"));
    assert!(refused(|m| m.block = 1000).contains("512-byte"));
}

#[test]
fn smart_shows_what_the_drive_counted() {
    let lived = live(&plan(LifeEnd::LifeLeft(50), |_| {}));
    let end = lived.life.end.clone();
    let drive = lived.drive.into_timed().unwrap();
    let about = SavedDriveInfo {
        name: "patriot-wildfire-120gb".into(),
        title: "A drive".into(),
        powered_minutes: 600,
        ..SavedDriveInfo::default()
    };
    let health = health(&drive, &about);
    assert_eq!(
        page(&about),
        SmartInterface::Ata(ssdlab_drives::smart::AttributeSet::SandForce)
    );
    assert_eq!(identity(&about, drive.config()).model, "A drive");
    assert_eq!(health.host_bytes_written, end.host_bytes);
    assert_eq!(health.power_on_minutes, 600);
    assert!(
        (health.wear.share() - 0.5).abs() < 0.02,
        "{:?}",
        health.wear
    );
    // E9 falls from 100 to 1 with rated cycles: half used is 51.
    assert!(
        (50..=52).contains(&health.media_wearout()),
        "{}",
        health.media_wearout()
    );
    assert_eq!(u64::from(health.blocks_retired), end.blocks_retired);
}
