//! The load of each role on a used drive: filled, overwritten at random ([`super::overwrite`]),
//! then idle for an hour, then written as the role's host writes, until the log has gone round.
//!
//! Three states have three names everywhere: *fresh* is the first probe, *used* is this, *worst
//! case* is the drive that is overwritten at random over its whole span without a pause. A log
//! goes round in a region of a stated size, which is made smaller with the drive.

use super::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_bench::engine::devices::Devices;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const PAGE: u64 = 4 * KIB;

/// One block of an intent log: how often of a thousand, bytes written, bytes left free behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogBlock {
    /// Of a thousand blocks.
    pub per_mille: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes of the block behind them that are not.
    pub gap: u64,
}

const fn block(per_mille: u64, written_kib: u64, gap_kib: u64) -> LogBlock {
    LogBlock {
        per_mille,
        written: written_kib * KIB,
        gap: gap_kib * KIB,
    }
}

/// Sizes and gaps of `examples/traces/zfs-2.1.11-log-1-dataset.csv.gz`, the rare ones with their
/// neighbours.
const SLIM_BLOCKS: [LogBlock; 5] = [
    block(515, 8, 4),
    block(256, 12, 0),
    block(128, 20, 16),
    block(66, 36, 0),
    block(35, 68, 0),
];
/// The same of `examples/traces/zfs-2.1.11-log-5-datasets.csv.gz`.
const SLIM_BLOCKS_OF_FIVE: [LogBlock; 6] = [
    block(525, 8, 4),
    block(224, 12, 0),
    block(133, 20, 16),
    block(62, 36, 0),
    block(50, 68, 0),
    block(6, 132, 0),
];
/// Records of 8 KiB.
const RECORDS_8K: [LogBlock; 1] = [block(1000, 8, 0)];

/// Where the commits of a load go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CommitPattern {
    /// Blocks one behind the other, round and round.
    Blocks(&'static [LogBlock]),
    /// Blocks of five logs, each at the place that its log reserved one commit ago. Four logs share
    /// an allocator, the fifth has the other half of the region.
    FiveLogs(&'static [LogBlock]),
    /// Records of this number of bytes, each appended to the last: its first page is written again.
    Append(u64),
    /// 4 KiB anywhere.
    Random,
}

/// The load of a role.
#[derive(Clone, Copy, Debug)]
pub struct RoleLoad {
    /// Stable name.
    pub name: &'static str,
    /// What a commit is.
    pub title: &'static str,
    /// Several of them, after their number.
    pub commits: &'static str,
    /// Where commits go.
    pub pattern: CommitPattern,
    /// Bytes of the whole drive in which they stay.
    pub region: u64,
    /// `fua` or `write_flush`.
    pub method: &'static str,
}

/// ZFS intent log of one dataset on a log device of 4 GiB, as in the open traces.
pub const ZIL: &str = "zil";
/// The same of five datasets that commit in no order.
pub const ZIL_FIVE: &str = "zil-5";
/// Storage Spaces Direct: written through, anywhere.
pub const TIER: &str = "tier";
/// The log of a database, or of an OSD: records of 8 KiB.
pub const LOG_8K: &str = "log-8k";
/// etcd's log as its documentation tests disks.
pub const ETCD: &str = "etcd";
/// A program that flushes its files.
pub const DESKTOP: &str = "desktop";

/// Every load. Sources: `zil`, `zil-5`: the open traces, docs/hosts.md; `tier`: docs/hosts.md;
/// `log-8k`: PostgreSQL 16, `max_wal_size` 1 GB and `wal_block_size` 8 KiB, and BlueStore's four
/// memtables of 256 MiB (8 KiB a record assumed); `etcd`: its documentation's fio line, `--rw=write
/// --fdatasync=1 --size=22m --bs=2300`; `desktop`: assumed.
pub const LOADS: [RoleLoad; 6] = [
    RoleLoad {
        name: ZIL,
        title: "log block of one dataset, 15 KiB on average",
        commits: "log blocks of 15 KiB",
        pattern: CommitPattern::Blocks(&SLIM_BLOCKS),
        region: 4 * GIB,
        method: names::WRITE_FLUSH,
    },
    RoleLoad {
        name: ZIL_FIVE,
        title: "log block of five datasets, 16 KiB on average",
        commits: "log blocks of five datasets",
        pattern: CommitPattern::FiveLogs(&SLIM_BLOCKS_OF_FIVE),
        region: 4 * GIB,
        method: names::WRITE_FLUSH,
    },
    RoleLoad {
        name: TIER,
        title: "4 KiB write, written through, anywhere",
        commits: "writes",
        pattern: CommitPattern::Random,
        region: u64::MAX,
        method: names::FUA,
    },
    RoleLoad {
        name: LOG_8K,
        title: "log record of 8 KiB",
        commits: "log records of 8 KiB",
        pattern: CommitPattern::Blocks(&RECORDS_8K),
        region: GIB,
        method: names::WRITE_FLUSH,
    },
    RoleLoad {
        name: ETCD,
        title: "record of 2,300 bytes, appended",
        commits: "records of 2,300 bytes",
        pattern: CommitPattern::Append(2300),
        region: 22 * MIB,
        method: names::WRITE_FLUSH,
    },
    RoleLoad {
        name: DESKTOP,
        title: "4 KiB write within 16 GiB of files",
        commits: "writes",
        pattern: CommitPattern::Random,
        region: 16 * GIB,
        method: names::WRITE_FLUSH,
    },
];

/// The load of this name.
pub fn load(name: &str) -> Option<&'static RoleLoad> {
    LOADS.iter().find(|load| load.name == name)
}

/// A role's load on a used drive.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct UsedRun {
    /// One of [`LOADS`].
    pub load: String,
    /// Commits a second, one after the other.
    pub per_second: f64,
    /// Commits measured.
    pub count: u64,
    /// Median time of a commit, ns.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Bytes written per commit, mean.
    pub commit_bytes: f64,
}

/// Idle time before each load.
const IDLE: Nanos = Nanos::from_secs(3600);
/// A region is not made smaller than this with its drive, or than it is.
const REGION_LEAST: u64 = 16 * MIB;
/// Commits before the measured ones: a round of the region, and at least a quarter of the drive, so
/// that random data has left the spare area; at most this number.
const ROUND_COMMITS_MAX: u64 = 40_000;
const ROUND_SHARE: u64 = 4;
/// Commits measured: a hundred beyond the 99th percentile.
const COMMITS: u64 = 10_000;
/// Slots programmed after which either is enough, and the fewest commits measured.
const PROGRAMS_MAX: u64 = 500_000;
const COMMITS_LEAST: u64 = 1_000;

/// A commit: its first byte and its length, in whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub offset: u64,
    pub bytes: u64,
}

impl Commit {
    /// What is sent for it, in this order.
    pub fn commands(self, load: &RoleLoad) -> Vec<Command> {
        let length = u32::try_from(self.bytes).expect("a commit is less than 4 GiB");
        match load.method {
            names::FUA => vec![Command::write_fua(self.offset, length)],
            _ => vec![Command::write(self.offset, length), Command::flush()],
        }
    }
}

/// Logs of [`CommitPattern::FiveLogs`].
const LOGS: u64 = 5;

/// Where the commits of a load go, one after the other.
pub(super) struct CommitStream {
    rng: Rng,
    pub load: &'static RoleLoad,
    /// First byte of the region, and its length.
    offset: u64,
    pub region: u64,
    /// Of a log: bytes from its start to the next block; of five logs, of each allocator.
    next: [u64; 2],
    /// Of five logs: the place that each has reserved.
    reserved: [Option<Commit>; LOGS as usize],
}

impl CommitStream {
    /// The commits of `load` within `region` bytes from `offset`.
    pub fn new(load: &'static RoleLoad, offset: u64, region: u64, seed: u64) -> CommitStream {
        CommitStream {
            rng: Rng::named(seed, load.name),
            load,
            offset,
            region: region / PAGE * PAGE,
            next: [0; 2],
            reserved: [None; LOGS as usize],
        }
    }

    fn draw(&mut self, blocks: &'static [LogBlock]) -> LogBlock {
        let mut drawn = self.rng.below(1000);
        let drawn_block = blocks.iter().find(|block| {
            let is_it = drawn < block.per_mille;
            drawn = drawn.saturating_sub(block.per_mille);
            is_it
        });
        *drawn_block.unwrap_or(&blocks[0])
    }

    /// The next place of an allocator that goes round in `region` bytes.
    fn allocate(&mut self, blocks: &'static [LogBlock], allocator: usize, region: u64) -> Commit {
        let block = self.draw(blocks);
        if self.next[allocator] + block.written > region {
            self.next[allocator] = 0;
        }
        let offset = self.next[allocator];
        self.next[allocator] += block.written + block.gap;
        let bytes = block.written;
        Commit { offset, bytes }
    }

    /// A block of one of five logs, which then reserves its next.
    fn of_five(&mut self, blocks: &'static [LogBlock]) -> Commit {
        let log = self.rng.below(LOGS);
        let allocator = usize::from(log + 1 == LOGS);
        let half = self.region / 2 / PAGE * PAGE;
        let reserve = |stream: &mut CommitStream| {
            let mut place = stream.allocate(blocks, allocator, half);
            place.offset += allocator as u64 * half;
            place
        };
        let place = match self.reserved[log as usize] {
            Some(place) => place,
            None => reserve(self),
        };
        self.reserved[log as usize] = Some(reserve(self));
        place
    }

    /// The next commit.
    pub fn next(&mut self) -> Commit {
        let mut commit = match self.load.pattern {
            CommitPattern::Random => Commit {
                offset: self.rng.below(self.region / PAGE) * PAGE,
                bytes: PAGE,
            },
            CommitPattern::Blocks(blocks) => self.allocate(blocks, 0, self.region),
            CommitPattern::FiveLogs(blocks) => self.of_five(blocks),
            CommitPattern::Append(bytes) => {
                if self.next[0] + bytes > self.region {
                    self.next[0] = 0;
                }
                let offset = self.next[0] / PAGE * PAGE;
                self.next[0] += bytes;
                let end = self.next[0].div_ceil(PAGE) * PAGE;
                Commit {
                    offset,
                    bytes: end - offset,
                }
            }
        };
        commit.offset += self.offset;
        commit
    }
}

struct LoadBench<'a> {
    devices: Devices,
    stream: CommitStream,
    written: u64,
    stop: &'a AtomicBool,
}

impl LoadBench<'_> {
    /// One commit, and how long it took, ns.
    fn commit(&mut self) -> u64 {
        let commit = self.stream.next();
        self.written += commit.bytes;
        let began = self.devices.now();
        for command in commit.commands(self.stream.load) {
            self.devices.submit(0, &command, 0);
            self.devices.next(Nanos::MAX);
        }
        (self.devices.now() - began).0
    }

    /// Commits until `count`, or `bytes` are written, or the drive programmed enough.
    fn commits(&mut self, count: u64, bytes: u64, least: u64) -> (Latencies, u64) {
        let (mut times, mut longest) = (latencies(), 0);
        let programmed = |devices: &Devices| devices.drive(0).counters().slots_programmed();
        let programs_max = programmed(&self.devices) + PROGRAMS_MAX;
        self.written = 0;
        for number in 0..count {
            let enough = programmed(&self.devices) > programs_max && number >= least;
            if enough || self.written >= bytes || self.stop.load(Ordering::Relaxed) {
                break;
            }
            let ns = self.commit();
            times.saturating_record(ns);
            longest = longest.max(ns);
        }
        (times, longest)
    }

    fn run(&mut self) -> UsedRun {
        let user = self.devices.drive(0).config().user_bytes;
        let round = self.stream.region.max(user / ROUND_SHARE);
        self.commits(ROUND_COMMITS_MAX, round, 0);
        let began = self.devices.now();
        let (times, longest) = self.commits(COMMITS, u64::MAX, COMMITS_LEAST);
        let took = (self.devices.now() - began).as_secs_f64();
        let quantile = |q| times.value_at_quantile(q).min(longest);
        UsedRun {
            load: self.stream.load.name.to_owned(),
            per_second: times.len() as f64 / took.max(1e-9),
            count: times.len(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            max_ns: longest,
            commit_bytes: self.written as f64 / times.len().max(1) as f64,
        }
    }
}

/// The loads of all roles on forks of a drive that was overwritten, which stands for one of
/// `whole` bytes.
pub(super) fn used(drive: &Drive, whole: u64, seed: u64, stop: &AtomicBool) -> Vec<UsedRun> {
    let user = drive.config().user_bytes;
    let mut rested = Devices::one(drive.clone());
    rested.rest(IDLE);
    let rested = rested.into_drive();
    let bench = |load: &'static RoleLoad| {
        let share = u128::from(load.region.min(whole)) * u128::from(user) / u128::from(whole);
        let region = (share as u64).max(load.region.min(REGION_LEAST)).min(user);
        LoadBench {
            devices: Devices::one(rested.clone()),
            stream: CommitStream::new(load, 0, region, seed),
            written: 0,
            stop,
        }
    };
    let runs = LOADS.iter().map(|load| bench(load).run());
    runs.filter(|run| run.count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_bench::engine::devices::new_drive;
    use ssdlab_drives::{catalogue, scaling::scaled};
    use ssdlab_load::trace::{ReadOptions, TraceReader};
    use ssdlab_ssd::Op;

    fn small(name: &str) -> Drive {
        let whole = catalogue::drive(name).unwrap().config;
        new_drive(&scaled(&whole, 64 << 20).unwrap().config).unwrap()
    }

    fn places(name: &str, region: u64, count: usize) -> Vec<Commit> {
        let mut stream = CommitStream::new(load(name).unwrap(), 0, region, 1);
        (0..count).map(|_| stream.next()).collect()
    }

    #[test]
    fn a_log_goes_round_in_its_region_and_an_append_writes_its_first_page_again() {
        let zil = places(ZIL, MIB, 1000);
        assert!(zil.iter().all(|commit| commit.offset + commit.bytes <= MIB));
        let rounds = zil.iter().filter(|commit| commit.offset == 0).count();
        assert!((8..=30).contains(&rounds), "{rounds}");
        let appended = places(ETCD, 22 * MIB, 4);
        let pages: Vec<(u64, u64)> = appended
            .iter()
            .map(|commit| (commit.offset / PAGE, commit.bytes / PAGE))
            .collect();
        assert_eq!(pages, [(0, 1), (0, 2), (1, 1), (1, 2)]);
    }

    /// The trace: 94.0 % of the log writes of five datasets are random, 65.4 % of those of one.
    #[test]
    fn five_datasets_write_as_randomly_as_in_the_open_trace() {
        for (name, share) in [(ZIL_FIVE, 0.940), (ZIL, 0.654)] {
            let commits = places(name, 4 * GIB, 20_000);
            let is_random = |pair: &&[Commit]| pair[1].offset != pair[0].offset + pair[0].bytes;
            let random = commits.windows(2).filter(is_random).count() as f64 / 20_000.0;
            assert!((random - share).abs() < 0.02, "{name}: {random}");
        }
        let five = places(ZIL_FIVE, 32 * MIB, 5000);
        assert!(
            five.iter()
                .all(|commit| commit.offset + commit.bytes <= 32 * MIB)
        );
        let mut written: Vec<(u64, u64)> = five[..100]
            .iter()
            .map(|commit| (commit.offset, commit.offset + commit.bytes))
            .collect();
        written.sort_unstable();
        assert!(
            written.windows(2).all(|pair| pair[0].1 <= pair[1].0),
            "{written:?}"
        );
    }

    /// The sizes are those of the trace that they are said to be from.
    #[test]
    fn the_blocks_of_the_intent_log_are_those_of_the_open_trace() {
        sizes_are_of("zfs-2.1.11-log-1-dataset.csv.gz", &SLIM_BLOCKS);
        sizes_are_of("zfs-2.1.11-log-5-datasets.csv.gz", &SLIM_BLOCKS_OF_FIVE);
    }

    fn sizes_are_of(file: &str, blocks: &[LogBlock]) {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = root.join("examples/traces").join(file);
        let mut trace = TraceReader::open(&path, &ReadOptions::default()).unwrap();
        let mut sizes: Vec<u64> = Vec::new();
        while let Some(event) = trace.next_event().unwrap() {
            sizes.extend((event.op == Op::Write).then_some(event.len));
        }
        let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        let weighted = blocks.iter().map(|b| b.per_mille * b.written);
        let ours = weighted.sum::<u64>() as f64 / 1e3;
        assert!((ours / mean - 1.0).abs() < 0.02, "{file}: {ours} {mean}");
        assert_eq!(blocks.iter().map(|b| b.per_mille).sum::<u64>(), 1000);
        for block in blocks {
            let count = sizes.iter().filter(|size| **size == block.written).count();
            let share = 1e3 * count as f64 / sizes.len() as f64;
            let off = (share - block.per_mille as f64).abs();
            assert!(off < 10.0, "{file}: {} bytes: {share}", block.written);
        }
    }

    /// Idle time lets a drive recover, so that a log on a used drive is never slower than random
    /// overwrites without a pause, and a protected drive's log is as fast as a new one's.
    #[test]
    fn a_rested_drive_serves_its_log_as_a_new_one_does() {
        let stop = AtomicBool::new(false);
        let drive = small("intel-dc-s3700-400gb");
        let runs = used(&drive, 400_000_000_000, 1, &stop);
        assert_eq!(runs.len(), LOADS.len());
        let etcd = runs.iter().find(|run| run.load == ETCD).unwrap();
        assert!(etcd.p99_ns >= etcd.p50_ns && etcd.max_ns >= etcd.p99_ns);
        assert!(etcd.per_second > 5_000.0, "{etcd:?}");
        let rate = 1e9 / etcd.p50_ns as f64;
        assert!((etcd.per_second / rate - 1.0).abs() < 0.2, "{etcd:?}");
    }
}
