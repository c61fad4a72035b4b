//! Article zil: how a log device saves the pool fragments of free space, and time.
//!
//! Writers rewrite a file each, in order, every write synchronous. A write is first a log block;
//! when its group closes, its record gets a new place in the pool and the old one is freed, as are
//! the group's log blocks. Random reads go on throughout. Log blocks are allocated in the pool,
//! between the records, or on a device of their own; everything else is the same.
//!
//! Left out: compression, metadata, several disks, the cache in front of reads.

use crate::keys::{ExperimentKey, keys};
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_hosts::tier::hdd::{Hdd, HddSpec};
use ssdlab_hosts::zil::ZfsPreset;
use ssdlab_hosts::zil::space::{LogExtent, LogSpace};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;
use std::sync::atomic::Ordering;

keys! {
    pub(crate) enum LogPlacement {
        InPool = "in_pool",
        OnDevice = "on_device",
    }

    pub(crate) enum PoolLogMetric {
        FreeSegments = "free_segments",
        ReadMs = "read_ms",
        BusyPct = "busy_pct",
    }

    pub(crate) enum PoolLogMeasure {
        FragmentsOver = "fragments_in_pool_over_on_device",
        ReadOver = "read_ms_in_pool_over_on_device",
        ;
        Of((LogPlacement, PoolLogMetric)) = "{}",
    }
}

pub(crate) static POOL_LOG: Experiment<PoolLogMeasure> = Experiment {
    about: ExperimentInfo {
        name: "zil.pool_log",
        what: "five synchronous writers and random reads on a pool of one disk, 70 % full, for \
               400 transaction groups, by the allocator of 2010: the log in the pool, and on a \
               log device",
        weight: 1,
    },
    run,
};

const POOL: u64 = 4 << 30;
const USED_PCT: u64 = 70;
const WRITERS: usize = 5;
const RECORD: u64 = 128 << 10;
/// A synchronous write, and its log block: data, a header, rounded up.
const WRITE: u64 = 32 << 10;
const LOG_BLOCK: u64 = 36 << 10;
const READ: u64 = 8 << 10;
/// Of all writers, and of reads; assumed, so that the disk is half idle without the log.
const WRITES_S: u64 = 20;
const READS_S: u64 = 30;
/// Time from a group to the next: the longest that ZFS waits.
const GROUP: Nanos = Nanos::from_secs(5);
const GROUPS: u64 = 400;
const SECOND_NS: u64 = 1_000_000_000;

/// A file, and the record that is being rewritten.
struct PoolFile {
    records: Vec<LogExtent>,
    current: usize,
    /// Bytes of the record written so far.
    written: u64,
}

struct PoolLogModel {
    space: LogSpace,
    disk: Hdd,
    /// Time, in ns, when the disk has served all accesses.
    free_at: u64,
    busy_ns: u64,
    files: Vec<PoolFile>,
    in_pool: bool,
    /// Bytes that the allocator had free at first.
    allocatable: u64,
    rng: Rng,
    /// Count, and the sum of latencies in ns.
    reads: (u64, u64),
}

impl PoolLogModel {
    fn new(place: LogPlacement, seed: u64) -> Result<PoolLogModel, LabError> {
        let rules = ZfsPreset::V2010.host(WRITERS, WRITERS, POOL, seed)?.space;
        let mut space = LogSpace::new(rules, POOL);
        let allocatable = space.free_bytes();
        let record_count = POOL * USED_PCT / 100 / RECORD;
        let mut files: Vec<PoolFile> = Vec::new();
        for _ in 0..WRITERS {
            let file_records = 0..record_count / WRITERS as u64;
            let records = file_records
                .filter_map(|_| space.allocate(RECORD, 0))
                .collect();
            files.push(PoolFile {
                records,
                current: 0,
                written: 0,
            });
        }
        space.synced(Vec::new());
        let spec = HddSpec {
            capacity: POOL,
            ..HddSpec::default()
        };
        Ok(PoolLogModel {
            space,
            disk: Hdd::new(spec, Rng::named(seed, "pool log: platter")),
            free_at: 0,
            busy_ns: 0,
            files,
            allocatable,
            in_pool: matches!(place, LogPlacement::InPool),
            rng: Rng::named(seed, "pool log: load"),
            reads: (0, 0),
        })
    }

    /// Queues an access at time `at`, in ns; returns the time of its completion.
    fn access(&mut self, at: u64, offset: u64, len: u64) -> u64 {
        let time = self.disk.access(offset, len).0;
        self.busy_ns += time;
        self.free_at = self.free_at.max(at) + time;
        self.free_at
    }

    /// Plays the load of one group in order of time, then closes the group.
    fn group(&mut self, number: u64) {
        let start = number * GROUP.0;
        let seconds = GROUP.0 / SECOND_NS;
        let draw = |rng: &mut Rng, count: u64, read: bool| -> Vec<(u64, bool)> {
            (0..count)
                .map(|_| (start + rng.below(GROUP.0), read))
                .collect()
        };
        let mut load = draw(&mut self.rng, READS_S * seconds, true);
        load.extend(draw(&mut self.rng, WRITES_S * seconds, false));
        load.sort_unstable();
        let (mut logged, mut dirty) = (Vec::new(), Vec::new());
        for (at, read) in load {
            if read {
                let file = self.rng.below(WRITERS as u64) as usize;
                let records = &self.files[file].records;
                let record = records[self.rng.below(records.len() as u64) as usize];
                let completed_at = self.access(at, record.offset, READ);
                self.reads = (self.reads.0 + 1, self.reads.1 + (completed_at - at));
            } else {
                self.sync_write(at, &mut logged, &mut dirty);
            }
        }
        self.close(start + GROUP.0, logged, dirty);
    }

    fn sync_write(
        &mut self,
        at: u64,
        logged: &mut Vec<LogExtent>,
        dirty: &mut Vec<(usize, usize)>,
    ) {
        let writer = self.rng.below(WRITERS as u64) as usize;
        if self.in_pool
            && let Some(block) = self.space.allocate(LOG_BLOCK, writer)
        {
            self.access(at, block.offset, block.len);
            logged.push(block);
        }
        let file = &mut self.files[writer];
        if dirty.last() != Some(&(writer, file.current)) && !dirty.contains(&(writer, file.current))
        {
            dirty.push((writer, file.current));
        }
        file.written += WRITE;
        if file.written >= RECORD {
            (file.current, file.written) = ((file.current + 1) % file.records.len(), 0);
        }
    }

    /// Gives the group's records new places, in the order of files, and frees old ones and log
    /// blocks.
    fn close(&mut self, at: u64, mut freed: Vec<LogExtent>, mut dirty: Vec<(usize, usize)>) {
        dirty.sort_unstable();
        for (writer, record) in dirty {
            let Some(new) = self.space.allocate(RECORD, writer) else {
                continue;
            };
            self.access(at, new.offset, new.len);
            freed.push(std::mem::replace(
                &mut self.files[writer].records[record],
                new,
            ));
        }
        self.space.synced(freed);
    }
}

fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<PoolLogMeasure>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    for place in LogPlacement::all() {
        let mut system = PoolLogModel::new(place, setup.seed)?;
        for number in 0..GROUPS {
            if setup.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            system.group(number);
        }
        let (count, sum_ns) = system.reads;
        let elapsed = system.free_at.max(GROUPS * GROUP.0) as f64;
        let records: u64 = system.files.iter().map(|f| f.records.len() as u64).sum();
        let accounted_bytes = system.space.free_bytes() + records * RECORD;
        let space_check = if accounted_bytes == system.allocatable {
            Ok(())
        } else {
            Err(format!(
                "{accounted_bytes} bytes are free or used, of {}",
                system.allocatable
            ))
        };
        outcome.check(
            format!("{}: every byte is free or used", place.name()),
            space_check,
        );
        for (metric, value) in [
            (
                PoolLogMetric::FreeSegments,
                system.space.free_segments() as f64,
            ),
            (PoolLogMetric::ReadMs, sum_ns as f64 / count as f64 / 1e6),
            (
                PoolLogMetric::BusyPct,
                100.0 * system.busy_ns as f64 / elapsed,
            ),
        ] {
            outcome.value(PoolLogMeasure::Of((place, metric)), value);
        }
    }
    for (measure, metric) in [
        (PoolLogMeasure::FragmentsOver, PoolLogMetric::FreeSegments),
        (PoolLogMeasure::ReadOver, PoolLogMetric::ReadMs),
    ] {
        let measure_in = |place| PoolLogMeasure::Of((place, metric));
        let ratio = outcome.ratio(
            measure_in(LogPlacement::InPool),
            measure_in(LogPlacement::OnDevice),
        );
        outcome.value(measure, ratio);
    }
    Ok(outcome)
}
