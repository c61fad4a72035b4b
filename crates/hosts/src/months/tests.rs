//! Laws of the months: what TRIM must and must not change.

use super::*;
use crate::probe::ProbeSpec;
use ssdlab_base::check::failures;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::DriveConfig;

fn run(spec: &MonthsSpec, drive: &DriveConfig) -> Result<Months, LabError> {
    run_until(spec, drive, &AtomicBool::new(false))
}

/// 96 MiB, 128 superblocks, 12 % over-provisioning: quick, and large enough to amplify.
fn drive() -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.shape.blocks_per_plane = 256;
    config.shape.pages_per_block = 24;
    config.ftl.slc.superblocks = 8;
    let raw = config.geometry().raw_bytes();
    config.user_bytes = (raw as f64 / 1.16) as u64 / 4096 * 4096;
    config
}

fn spec(trim: TrimSchedule) -> MonthsSpec {
    MonthsSpec {
        days: 28,
        daily_pct: 30,
        file_blocks: (1, 128),
        trim,
        probe: ProbeSpec {
            commands: 500,
            ..ProbeSpec::default()
        },
        ..MonthsSpec::default()
    }
}

fn months(trim: TrimSchedule) -> Months {
    let months = run(&spec(trim), &drive()).unwrap();
    assert_eq!(failures(&months.checks), Vec::<String>::new());
    months
}

/// The law of online discard: after every day the drive holds what the file system uses, to the
/// block. `files_are_mapped`, among the checks, looks at each block besides.
#[test]
fn trim_at_once_leaves_the_mapped_share_at_the_used_share() {
    for sample in months(TrimSchedule::AtOnce).samples {
        assert_eq!(sample.mapped_share, sample.used_share, "{sample:?}");
    }
}

#[test]
fn without_trim_the_drive_fills_up_and_never_forgets() {
    let months = months(TrimSchedule::Never);
    let shares: Vec<f64> = months.samples.iter().map(|s| s.mapped_share).collect();
    assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]));
    assert!(*shares.last().unwrap() > 0.995, "{shares:?}");
    assert!(
        months
            .samples
            .iter()
            .all(|s| s.used_share < 0.71 && s.trims == 0)
    );
}

#[test]
fn batches_bring_the_mapped_share_down_on_their_day() {
    let mut spec = spec(TrimSchedule::Batch { days: 7 });
    spec.sample_days = 1;
    let months = run(&spec, &drive()).unwrap();
    let share = |day: u32| {
        let sample = months.samples.iter().find(|s| s.day == day).unwrap();
        sample.mapped_share
    };
    for day in [7, 14, 21] {
        assert!(share(day) < share(day - 1) - 0.03, "day {day}");
        assert!(share(day + 1) > share(day), "day {day}");
    }
}

/// The same files, whatever is trimmed: host bytes are equal, and so is the file system's state.
#[test]
fn trim_changes_what_the_drive_does_and_not_what_the_host_does() {
    let all = [
        TrimSchedule::Never,
        TrimSchedule::Batch { days: 7 },
        TrimSchedule::AtOnce,
    ]
    .map(months);
    for other in &all[1..] {
        assert_eq!(all[0].host_bytes, other.host_bytes);
        for (a, b) in all[0].samples.iter().zip(&other.samples) {
            assert_eq!((a.day, a.used_share), (b.day, b.used_share));
        }
    }
    let waf = |months: &Months| months.waf.unwrap();
    assert!(
        waf(&all[0]) > 1.1 * waf(&all[1]),
        "{} {}",
        waf(&all[0]),
        waf(&all[1])
    );
    assert!(
        waf(&all[1]) > 1.1 * waf(&all[2]),
        "{} {}",
        waf(&all[1]),
        waf(&all[2])
    );
}

/// `myth.full70`: less used space does not help a drive without TRIM.
#[test]
fn using_less_helps_only_with_trim() {
    let waf = |trim, used_pct| {
        let spec = MonthsSpec {
            used_pct,
            ..spec(trim)
        };
        run(&spec, &drive()).unwrap().waf.unwrap()
    };
    let (never_90, never_60) = (waf(TrimSchedule::Never, 90), waf(TrimSchedule::Never, 60));
    let (once_90, once_60) = (waf(TrimSchedule::AtOnce, 90), waf(TrimSchedule::AtOnce, 60));
    assert!(once_60 < 0.8 * once_90, "{once_60} {once_90}");
    assert!(never_60 > 0.75 * never_90, "{never_60} {never_90}");
}

#[test]
fn the_same_seed_gives_the_same_months_and_another_does_not() {
    let with = |seed| {
        let spec = MonthsSpec {
            seed,
            days: 7,
            ..spec(TrimSchedule::AtOnce)
        };
        run(&spec, &drive()).unwrap()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1).samples, with(2).samples);
}

#[test]
fn a_drive_with_larger_mapping_units_keeps_the_law() {
    let mut config = drive();
    config.shape.slot_bytes = 8192;
    let config = scaled(&config, u64::MAX).unwrap().config;
    let mut spec = spec(TrimSchedule::AtOnce);
    spec.probe.block = 8192;
    let months = run(&spec, &config).unwrap();
    assert_eq!(failures(&months.checks), Vec::<String>::new());
    let last = months.samples.last().unwrap();
    assert_eq!(last.mapped_share, last.used_share);
}

#[test]
fn impossible_months_are_refused() {
    let change: [fn(&mut MonthsSpec); 6] = [
        |s| s.days = 0,
        |s| s.used_pct = 99,
        |s| s.update_pct = 100,
        |s| s.sample_days = 1000,
        |s| s.file_blocks = (0, 1),
        |s| s.file_blocks = (1, 1 << 20),
    ];
    for change in change {
        let mut spec = spec(TrimSchedule::Never);
        change(&mut spec);
        let error = run(&spec, &drive()).unwrap_err();
        assert!(!error.advice().is_empty(), "{error}");
    }
    for text in ["", "daily", "batch:0", "batch:x", "batch:-1"] {
        assert!(TrimSchedule::parse(text).is_err(), "{text}");
    }
    for text in ["never", "at-once", "batch:3"] {
        assert_eq!(TrimSchedule::parse(text).unwrap().name(), text);
    }
}
