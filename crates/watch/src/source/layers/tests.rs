//! Layers that are not on this machine, from files in the formats that their sources document.

use super::*;
use crate::source::settings::StackedDevice;

struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    fn new() -> Tree {
        Tree {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn reader(&self, disk: &str, stack: &[&str], pid: Option<u32>) -> LayerReader {
        let system = SystemPaths {
            sys: self.folder.path().join("sys"),
            proc: self.folder.path().join("proc"),
            udev: self.folder.path().join("udev"),
        };
        let stack = stack.iter().map(|name| StackedDevice {
            name: (*name).to_owned(),
            kind: String::new(),
        });
        let settings = HostSettings {
            stack: stack.collect(),
            ..HostSettings::default()
        };
        let folder = self.folder.path().join("sys/block").join(disk);
        LayerReader::new(&system, &folder, &settings, pid)
    }
}

fn journal_text(transactions: u64) -> String {
    format!(
        "{transactions} transactions ({} requested), each up to 8192 blocks\naverage: \n  \
         1ms waiting for transaction\n  0ms request delay\n  5012ms running transaction\n  \
         0ms transaction was being locked\n  3ms flushing data (in ordered mode)\n  \
         20ms logging transaction\n  20123us average transaction commit time\n  \
         5 handles per transaction\n  3 blocks per transaction\n  4 logged blocks per transaction",
        transactions - 1
    )
}

#[test]
fn a_journal_on_a_partition_is_counted_from_the_watchs_begin() {
    let tree = Tree::new();
    tree.write("sys/block/sdz/sdz1/partition", "1");
    tree.write("proc/fs/jbd2/sdz1-8/info", &journal_text(1234));
    tree.write("proc/fs/jbd2/sdy1-8/info", &journal_text(9));
    let reader = tree.reader("sdz", &[], None);
    tree.write("proc/fs/jbd2/sdz1-8/info", &journal_text(1300));
    let counters = reader.read(1.0);
    let [journal] = counters.journals.as_slice() else {
        panic!("{:?}", counters.journals);
    };
    assert_eq!(journal.device, "sdz1");
    assert_eq!((journal.transactions, journal.requested), (66, 66));
    assert_eq!(journal.commit_ns, 20_123_000);
    assert_eq!(
        (journal.waiting_ms, journal.flushing_ms, journal.logging_ms),
        (1, 3, 20)
    );
    assert_eq!(journal.logged_blocks, 4);
    let states = reader.states(&counters);
    let missing = |name| {
        states
            .iter()
            .find(|state| state.0 == name)
            .expect("named")
            .1
            .clone()
    };
    assert_eq!(missing("ext4 journal (jbd2)"), None);
    assert_eq!(missing("XFS log").as_deref(), Some("not on this disk"));
}

/// A journal without a transaction prints its first line alone.
#[test]
fn an_unused_journal_is_read() {
    let text = "0 transactions (0 requested), each up to 1024 blocks";
    let counters = journal(text).expect("read");
    assert_eq!((counters.transactions, counters.commit_ns), (0, 0));
    assert_eq!(journal("something else"), None);
}

#[test]
fn the_log_of_xfs_is_counted() {
    let tree = Tree::new();
    let path = "sys/fs/xfs/dm-3/stats/stats";
    tree.write(
        path,
        "log 100 2000 3 50 40\npush_ail 900 2 0 80 0 1 0 0 0 5\nxstrat 0 0",
    );
    let reader = tree.reader("nvme9n1", &["dm-3"], None);
    tree.write(
        path,
        "log 160 2900 13 80 65\npush_ail 999 9 0 99 0 1 0 0 0 5\nxstrat 0 0",
    );
    let log = &reader.read(1.0).xfs[0];
    let expected = XfsLogCounters {
        device: "dm-3".to_owned(),
        log_writes: 60,
        no_buffer: 10,
        log_forces: 30,
        log_force_sleeps: 25,
        space_sleeps: 7,
    };
    assert_eq!(log, &expected);
}

#[test]
fn transaction_groups_of_zfs_are_read() {
    let tree = Tree::new();
    let zil =
        |count| format!("8 1 0x01 17 4624 1 2\nname  type data\nzil_commit_count 4 {count}\n");
    tree.write("proc/spl/kstat/zfs/zil", &zil(100));
    tree.write(
        "proc/spl/kstat/zfs/tank/txgs",
        "19 0 0x01 3 336 1 2\n\
         txg birth state ndirty nread nwritten reads writes otime qtime wtime stime\n\
         70 1000 C 3 0 1000000 0 9 5000000000 1 1 200000000\n\
         71 2000 C 3 0 3000000 0 9 5000000000 1 1 400000000\n\
         72 3000 O 0 0 0 0 0 0 0 0 0\n",
    );
    let reader = tree.reader("sdz", &[], None);
    tree.write("proc/spl/kstat/zfs/zil", &zil(150));
    let zfs = reader.read(1.0).zfs.expect("loaded");
    assert_eq!(zfs.zil_commits, 50);
    let expected = ZfsPoolCounters {
        pool: "tank".to_owned(),
        groups: 2,
        sync_ns: 300_000_000,
        sync_ns_max: 400_000_000,
        written: 2_000_000,
    };
    assert_eq!(zfs.pools, [expected]);
}

#[test]
fn an_array_that_resyncs_and_a_cache_are_read() {
    let tree = Tree::new();
    tree.write("sys/block/md0/md/level", "raid1\n");
    tree.write("sys/block/md0/md/sync_action", "resync\n");
    tree.write("sys/block/md0/md/sync_speed", "200000\n");
    tree.write("sys/block/md0/md/degraded", "1\n");
    tree.write(
        "sys/block/bcache0/bcache/cache_mode",
        "writethrough [writeback] writearound none\n",
    );
    tree.write("sys/block/bcache0/bcache/state", "dirty\n");
    tree.write(
        "sys/block/bcache0/bcache/stats_five_minute/cache_hit_ratio",
        "61\n",
    );
    let counters = tree.reader("sdz", &["md0", "bcache0"], None).read(1.0);
    let array = &counters.arrays[0];
    assert_eq!(
        (array.level.as_str(), array.action.as_str()),
        ("raid1", "resync")
    );
    assert_eq!((array.action_rate, array.degraded), (Some(204_800_000), 1));
    let cache = &counters.caches[0];
    assert_eq!(
        (cache.mode.as_str(), cache.hit_percent),
        ("writeback", Some(61))
    );
}

/// An array whose speed is unknown prints "none".
#[test]
fn an_idle_array_has_no_speed() {
    let tree = Tree::new();
    tree.write("sys/block/md1/md/level", "raid0\n");
    tree.write("sys/block/md1/md/sync_speed", "none\n");
    let counters = tree.reader("sdz", &["md1"], None).read(1.0);
    assert_eq!(counters.arrays[0].action, "idle");
    assert_eq!(counters.arrays[0].action_rate, None);
}

#[test]
fn pressure_is_a_share_of_the_time() {
    let tree = Tree::new();
    let root = tree.folder.path().join("cgroup");
    tree.write("proc/7/cgroup", "1:name=systemd:/x\n0::/apps/db\n");
    let mount = format!("31 23 0:26 / {} rw - cgroup2 cgroup2 rw\n", root.display());
    tree.write("proc/self/mountinfo", &mount);
    let psi = |some: u64, full: u64| {
        let averages = "avg10=0.00 avg60=0.00 avg300=0.00";
        format!("some {averages} total={some}\nfull {averages} total={full}\n")
    };
    tree.write("proc/pressure/io", &psi(1_000_000, 0));
    tree.write("cgroup/apps/db/io.pressure", &psi(0, 0));
    let reader = tree.reader("sdz", &[], Some(7));
    tree.write("proc/pressure/io", &psi(3_000_000, 1_000_000));
    tree.write("cgroup/apps/db/io.pressure", &psi(4_000_000, 500_000));
    let counters = reader.read(4.0);
    let share = |some, full| Some(IoPressure { some, full });
    assert_eq!(counters.pressure, share(0.5, 0.25));
    assert_eq!(counters.group_pressure, share(1.0, 0.125));
}

#[test]
fn a_controller_its_queues_and_its_sensor_are_read() {
    let tree = Tree::new();
    for queue in 0..4 {
        tree.write(&format!("sys/block/nvme9n1/mq/{queue}/nr_tags"), "1023");
    }
    for (file, text) in [
        ("queue/wbt_lat_usec", "2000"),
        ("queue/nomerges", "0"),
        ("queue/max_sectors_kb", "128"),
        ("queue/max_hw_sectors_kb", "2048"),
        ("device/state", "live"),
        ("device/transport", "pcie"),
        ("device/hwmon3/temp1_input", "84850"),
        ("device/hwmon3/temp1_max", "83850"),
        ("device/hwmon3/temp1_crit", "87850"),
        ("device/hwmon3/temp1_alarm", "1"),
    ] {
        tree.write(&format!("sys/block/nvme9n1/{file}"), text);
    }
    let counters = tree.reader("nvme9n1", &[], None).read(1.0);
    let queue = &counters.queue;
    assert_eq!((queue.hardware_queues, queue.tags), (4, Some(1023)));
    assert_eq!(queue.request_bytes, Some(128 << 10));
    assert_eq!(queue.request_bytes_max, Some(2 << 20));
    assert_eq!(queue.controller.as_deref(), Some("live"));
    let thermal = counters.thermal.expect("a sensor");
    assert_eq!(thermal.celsius, Some(84.85));
    assert!(thermal.alarm && thermal.warning == Some(83.85));
}

/// Nothing of it is there: each source says so, and nothing is made up.
#[test]
fn an_empty_host_has_no_counters() {
    let tree = Tree::new();
    let reader = tree.reader("sdz", &[], Some(1));
    let counters = reader.read(1.0);
    assert_eq!(counters, HostCounters::default());
    assert!(
        reader
            .states(&counters)
            .iter()
            .all(|(_, missing)| missing.is_some())
    );
}
