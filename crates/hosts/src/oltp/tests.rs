//! Laws of the database's load.

use super::*;
use crate::months::TrimSchedule;
use crate::probe::ProbeSpec;
use ssdlab_base::check::failures;
use ssdlab_ssd::{DriveConfig, Nanos};

fn run(spec: &OltpSpec, drive: &DriveConfig) -> Result<Oltp, LabError> {
    run_until(spec, drive, &AtomicBool::new(false))
}

/// About 200 MiB.
fn drive(protected: bool) -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.shape.channel_count = 4;
    config.shape.blocks_per_plane = 256;
    config.shape.pages_per_block = 24;
    config.ftl.slc.superblocks = 8;
    let raw = config.geometry().raw_bytes();
    config.user_bytes = (raw as f64 / 1.2) as u64 / 4096 * 4096;
    // A batch of pages at once does not fit the tiny drive's buffer.
    config.buffer.bytes = 4 << 20;
    config.buffer.protected = protected;
    config
}

fn spec() -> OltpSpec {
    OltpSpec {
        offered_s: 500,
        months: 2,
        window: Nanos::from_secs(2),
        dirty_pages: (64, 512),
        probe: ProbeSpec {
            commands: 500,
            ..OltpSpec::default().probe
        },
        ..OltpSpec::default()
    }
}

fn oltp(spec: &OltpSpec, drive: &DriveConfig) -> Oltp {
    let oltp = run(spec, drive).unwrap();
    assert_eq!(failures(&oltp.checks), Vec::<String>::new());
    oltp
}

#[test]
fn what_the_drive_can_do_is_done_at_the_rate_offered() {
    let found = oltp(&spec(), &drive(true));
    assert_eq!(found.windows.len(), 3);
    for window in &found.windows {
        assert!((window.tps / 500.0 - 1.0).abs() < 0.06, "{window:?}");
        assert_eq!(window.refused, 0);
        assert!(window.p50_ns <= window.p99_ns && window.p99_ns <= window.max_ns);
    }
    // Seconds and windows are counted apart.
    for window in &found.windows {
        let seconds = found.seconds.iter().filter(|s| s.month == window.month);
        let sum: u64 = seconds.map(|s| s.transactions).sum();
        assert_eq!(sum as f64, window.tps * 2.0);
    }
}

#[test]
fn too_much_is_refused_and_the_drive_sets_the_pace() {
    let spec = OltpSpec {
        offered_s: 30_000,
        months: 0,
        ..spec()
    };
    let found = oltp(&spec, &drive(false));
    let window = &found.windows[0];
    assert!(window.refused > 1000 && window.tps < 20_000.0, "{window:?}");
}

/// A commit needs a flush: a volatile buffer makes each group wait for media, a protected one
/// does not, and without flushes there is nothing to wait for.
#[test]
fn flushes_cost_what_the_buffer_makes_them_cost() {
    let p50 = |protected, flushes| {
        let spec = OltpSpec {
            flushes,
            months: 0,
            ..spec()
        };
        oltp(&spec, &drive(protected)).windows[0].p50_ns
    };
    let (volatile, protected, without) = (p50(false, true), p50(true, true), p50(false, false));
    assert!(volatile > 5 * protected, "{volatile} {protected}");
    assert!(without <= protected, "{without} {protected}");
}

#[test]
fn doublewrite_writes_pages_twice() {
    let bytes = |doublewrite| {
        let spec = OltpSpec {
            doublewrite,
            months: 0,
            dirtied_per_100: 200,
            offered_s: 200,
            ..spec()
        };
        oltp(&spec, &drive(true)).windows[0].write_bytes_s
    };
    let (twice, once) = (bytes(true), bytes(false));
    // Log and other files are the rest.
    assert!((1.7..2.0).contains(&(twice / once)), "{twice} {once}");
}

/// The decay: without TRIM the drive fills up with deleted files and amplifies more.
#[test]
fn without_trim_the_drive_decays_and_with_it_less() {
    let with = |trim| oltp(&OltpSpec { trim, ..spec() }, &drive(true)).windows;
    let (never, once) = (with(TrimSchedule::Never), with(TrimSchedule::AtOnce));
    assert!(never[2].mapped_share > 0.99 && once[2].mapped_share < 0.8);
    let waf = |windows: &[OltpWindow]| windows[2].waf_month.unwrap();
    assert!(
        waf(&never) > 1.2 * waf(&once),
        "{} {}",
        waf(&never),
        waf(&once)
    );
    let read = |w: &OltpWindow| w.probe.read_bytes_s;
    assert!(read(&never[2]) < read(&never[0]), "{:?}", never[2].probe);
    assert_eq!(never[0].tps, once[0].tps);
}

#[test]
fn the_same_seed_gives_the_same_life_and_another_does_not() {
    let with = |seed| {
        let spec = OltpSpec {
            seed,
            months: 1,
            ..spec()
        };
        run(&spec, &drive(true)).unwrap()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1).seconds, with(2).seconds);
}

#[test]
fn impossible_databases_are_refused() {
    let change: [fn(&mut OltpSpec); 7] = [
        |s| s.offered_s = 0,
        |s| s.connections = 0,
        |s| s.used_pct = 10,
        |s| s.tables_pct = 99,
        |s| s.window = Nanos::ZERO,
        |s| s.dirty_pages = (0, 10),
        |s| s.dirty_pages = (64, 1 << 20),
    ];
    for change in change {
        let mut spec = spec();
        change(&mut spec);
        let error = run(&spec, &drive(true)).unwrap_err();
        assert!(!error.advice().is_empty(), "{error}");
    }
}
