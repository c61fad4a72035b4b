//! Does the benchmark measure what it says, on a drive that is small enough for a test?

use super::bench;
use super::life::{self, DRIVE, WornLife};
use super::measure::{BenchmarkMetric, DataCompressibility, IometerMetric};
use super::run::compare;
use super::traces::TRACES;
use crate::experiments::host::DriveSelfChecks;
use crate::keys::ExperimentKey;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::settings;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_life::age::{AgeingPlan, LifeEnd};
use ssdlab_ssd::{Drive, DriveConfig};
use std::sync::atomic::AtomicBool;

const SIZE: bench::BenchmarkSize = bench::BenchmarkSize {
    span: 64 << 20,
    commands: 200,
    smaller: 100,
};

/// The article's drive with fewer blocks.
fn plan(until: LifeEnd) -> AgeingPlan {
    let small = DriveSetting::parse("nand.blocks_per_plane=64").unwrap();
    let user = DriveSetting::parse("capacity.user=3GiB").unwrap();
    let drive = ssdlab_drives::catalogue::drive(DRIVE).unwrap();
    let drive = settings::apply(&drive, &[small, user]).unwrap();
    let manner = life::plan(1, until).unwrap().manner;
    AgeingPlan::new(&drive, manner, until).unwrap()
}

fn aged(plan: &AgeingPlan) -> (Drive, WornLife) {
    life::age(plan, &AtomicBool::new(false)).unwrap()
}

fn measured(plan: &AgeingPlan) -> DriveConfig {
    let mut config = plan.config.clone();
    config.ftl.compression_pack = 8;
    config
}

#[test]
fn a_worn_drive_is_measured_beside_a_new_one() {
    let plan = plan(LifeEnd::LifeLeft(50));
    let (drive, life) = aged(&plan);
    assert!((life.life_left_pct() - 50.0).abs() < 1.0, "{life:?}");
    assert!(life.contradiction.is_none());
    let stop = AtomicBool::new(false);
    let run = || {
        let mut health = DriveSelfChecks::default();
        let config = measured(&plan);
        let both = compare(&config, &drive, SIZE, 1, &mut health, &stop).unwrap();
        assert!(health.passed(), "{health:?}");
        both
    };
    let (new, worn) = run();
    assert_eq!((&new, &worn), (&run().0, &run().1));
    let gain = |number| worn.values[&number] / new.values[&number];
    let of = |data, number| BenchmarkMetric::Iometer((data, number));
    // Half of the rated cycles: programs are 5 % faster, reads as fast, and incompressible data
    // waits for programs.
    let writes = gain(of(
        DataCompressibility::Random,
        IometerMetric::SequentialWriteMbS,
    ));
    assert!((1.01..1.06).contains(&writes), "{writes}");
    let reads = gain(of(
        DataCompressibility::Random,
        IometerMetric::SequentialReadMbS,
    ));
    assert!((0.99..1.01).contains(&reads), "{reads}");
    let written = |data| new.values[&of(data, IometerMetric::SequentialWriteMbS)];
    assert!(written(DataCompressibility::Repeating) > 1.3 * written(DataCompressibility::Random));
}

#[test]
fn a_saved_drive_takes_the_lifes_place_only_when_it_is_that_one() {
    let plan = plan(LifeEnd::Bytes(20_000_000_000));
    let (drive, life) = aged(&plan);
    let about = SavedDriveInfo {
        name: DRIVE.into(),
        lived: Some(plan.manner.clone()),
        ..SavedDriveInfo::default()
    };
    let read = life::saved(&plan, &drive, &about).unwrap();
    assert_eq!(read.host_bytes, life.host_bytes);
    assert_eq!(read.cycles, life.cycles);
    let other = SavedDriveInfo {
        name: "intel-320-40gb".into(),
        ..SavedDriveInfo::default()
    };
    assert!(life::saved(&plan, &drive, &other).is_err());
    // Not one that was aged in another manner, or of which that is not known.
    let lived = |change: fn(&mut ssdlab_drives::keep::manner::LifeConditions)| {
        let mut manner = plan.manner.clone();
        change(&mut manner);
        let about = SavedDriveInfo {
            lived: Some(manner),
            ..about.clone()
        };
        let error = life::saved(&plan, &drive, &about).unwrap_err();
        format!("{error}; {}", error.hint())
    };
    assert!(lived(|m| m.fast = true).contains("--fast"));
    assert!(lived(|m| m.pattern = "uniform".into()).contains("--workload uniform"));
    let slower = lived(|m| m.per_day = 150_000_000_000);
    assert!(slower.contains("--per-day 150 GB, not 10.0 TB"), "{slower}");
    assert!(
        slower.contains("--per-day 10TB"),
        "the whole command: {slower}"
    );
    assert!(lived(|m| m.temperature_c = 55.0).contains("--temperature 55"));
    let unknown = SavedDriveInfo {
        lived: None,
        ..about.clone()
    };
    assert!(life::saved(&plan, &drive, &unknown).is_err());
    let mut longer = plan.clone();
    longer.until = LifeEnd::Bytes(40_000_000_000);
    assert!(life::saved(&longer, &drive, &about).is_err());
}

#[test]
fn traces_have_the_published_volumes() {
    for trace in &TRACES {
        let mut rng = ssdlab_ssd::rng::Rng::named(1, &trace.name.name());
        let commands = trace.commands(&mut rng, 1);
        let volume = |op| -> u64 {
            let of = commands.iter().filter(|c| c.op == op);
            of.map(|c| u64::from(c.len)).sum()
        };
        for (op, mb) in [
            (ssdlab_ssd::Op::Read, trace.read_mb),
            (ssdlab_ssd::Op::Write, trace.written_mb),
        ] {
            let off = volume(op) as f64 / (mb as f64 * 1e6) - 1.0;
            assert!(off.abs() < 0.001, "{:?} {op:?} {off}", trace.name);
        }
    }
}
