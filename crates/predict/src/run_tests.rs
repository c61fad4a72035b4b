//! Do loads on a model do what hosts do, and is a model as large as its drive?

use super::*;

/// A file's time stamp moves once a tick, so that of many fsyncs of a drive that does not wait
/// for its media few commit the journal; those of a slow one all do.
#[test]
fn a_sync_commits_the_journal_once_a_tick() {
    let drive = ssdlab_drives::catalogue::drive("intel-dc-p3700-400gb").unwrap();
    let mut config = drive.config;
    let load = ClosedLoad {
        order: AddressOrder::Random,
        read_pct: 0,
        block: 4096,
        outstanding: 1,
        sync: Durability::Journal,
    };
    let mut mean = |protected: bool, sync: Durability| {
        config.buffer.protected = protected;
        let rig = ModelRig::new(&config, false).unwrap();
        let times = rig.run(&ClosedLoad { sync, ..load }, StateBefore::Filled(0));
        let times = times.unwrap();
        (
            time_us(&times.syncs, None).unwrap(),
            times.syncs.len() as f64,
        )
    };
    let (fast, count) = mean(true, Durability::Journal);
    assert!(count > 1000.0 && fast < 10.0, "{fast} {count}");
    let (flush, _) = mean(false, Durability::Flush);
    let (journal, _) = mean(false, Durability::Journal);
    assert!(journal > 1.8 * flush, "{journal} {flush}");
}

/// The buffer of a drive that was made smaller would be a large part of it.
#[test]
fn the_first_rate_of_a_drive_without_a_cache_is_that_of_its_cells() {
    let drive = ssdlab_drives::catalogue::drive("samsung-pm983-960gb").unwrap();
    let rig = ModelRig::new(&drive.config, false).unwrap();
    let rates = rig.fill_curve(1 << 20, 128);
    let last = rates[127];
    let most = rates.iter().copied().fold(0.0, f64::max);
    assert!(most < 1.1 * last, "{most} {last}");
}

/// Hosts send drives that say they have no volatile cache neither flush nor FUA.
#[test]
fn durable_writes_of_a_protected_drive_take_one_time_by_any_method() {
    let drive = ssdlab_drives::catalogue::drive("samsung-pm983-960gb").unwrap();
    let mut config = drive.config;
    config.buffer.fua_time = Nanos::from_micros(50);
    let mean = |sync| {
        let load = ClosedLoad {
            order: AddressOrder::Random,
            read_pct: 0,
            block: 4096,
            outstanding: 1,
            sync,
        };
        let rig = ModelRig::new(&config, false).unwrap();
        let times = rig.run(&load, StateBefore::Filled(0)).unwrap();
        time_us(&times.durable, None).unwrap()
    };
    let fua = mean(Durability::Fua);
    assert!(fua > 50.0, "{fua}");
    assert!((mean(Durability::Flush) / fua - 1.0).abs() < 0.01);
    assert!(mean(Durability::None) < fua - 40.0);
}

/// The kernel has one flush under way and one for all who wait. Ten writers, each with a flush of
/// its own, gained nothing; measured ones gain some five times (850 PRO 4.5, SSD 520 4.6).
#[test]
fn writers_of_a_sata_drive_share_the_flush_that_they_wait_for() {
    let drive = ssdlab_drives::catalogue::drive("consumer-sata-1tb").unwrap();
    let rate = |outstanding, sync| {
        let load = ClosedLoad {
            order: AddressOrder::Random,
            read_pct: 0,
            block: 4096,
            outstanding,
            sync,
        };
        let rig = ModelRig::new(&drive.config, true).unwrap();
        let times = rig.run(&load, StateBefore::Filled(0)).unwrap();
        times.durable.len() as f64 / times.seconds
    };
    for sync in [Durability::Fua, Durability::Flush] {
        let gain = rate(10, sync) / rate(1, sync);
        assert!((3.5..=10.0).contains(&gain), "{sync:?}: {gain}");
    }
}

/// Writers that a commit has served begin together, and the next one has the time stamps of all: an
/// fsync of two takes as long as that of one, on a T500 910 us and 890.
#[test]
fn writers_that_were_served_together_stay_together() {
    let drive = ssdlab_drives::catalogue::drive("samsung-980-pro-1tb").unwrap();
    let rate = |outstanding| {
        let load = ClosedLoad {
            order: AddressOrder::Random,
            read_pct: 0,
            block: 16384,
            outstanding,
            sync: Durability::Journal,
        };
        let rig = ModelRig::new(&drive.config, false).unwrap();
        let times = rig.run(&load, StateBefore::Filled(0)).unwrap();
        times.durable.len() as f64 / times.seconds
    };
    let one = rate(1);
    for writers in [2, 4] {
        let gain = rate(writers) / one;
        let all = f64::from(writers);
        assert!(
            (0.7 * all..=all * 1.05).contains(&gain),
            "{writers}: {gain}"
        );
    }
    // Data of some of eight comes behind the flush; two groups in turn would gain 4.
    let gain = rate(8) / one;
    assert!((4.4..=8.4).contains(&gain), "8: {gain}");
}
