//! Article spare, its readers: a highly normalised relational database, with joins.
//!
//! Sessions, each with one statement at a time, on tables and indices that are far larger than
//! memory. An index lookup is two page reads, one after the other (the upper levels are in
//! memory); a join looks each row of an outer range up in another table; an insert, update or
//! delete reads its page, changes it in memory and commits by a log write and a flush. Every page
//! read costs CPU time besides.
//!
//! Left out: locks, the buffer pool's dirty pages on their way to the drive, group commit, query
//! plans other than nested loops.

use crate::keys::{ExperimentKey, keys};
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_drives::catalogue;
use ssdlab_hosts::tier::hdd::{Hdd, HddSpec};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos, Op};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

keys! {
    pub(crate) enum JoinStore {
        Disk = "disk",
        Sata = "sata",
        Pcie = "pcie",
    }

    pub(crate) enum JoinRate {
        Statements = "statements_s",
        Joins = "joins_s",
        Reads = "reads_s",
    }

    pub(crate) enum JoinMeasure {
        SataOverDisk = "statements_sata_over_disk",
        PcieReadGain = "reads_pcie_over_sata",
        JoinGainOverReadGain = "join_gain_over_read_gain",
        ;
        Of((JoinStore, JoinRate)) = "{}",
    }
}

pub(crate) static JOINS: Experiment<JoinMeasure> = Experiment {
    about: ExperimentInfo {
        name: "spare.joins",
        what: "selects, inserts, updates, deletes and joins of 16 sessions on tables of 32 GiB: a \
               disk, the DC S3700 of 200 GB (SATA) and the DC P3700 of 400 GB (PCIe); joins \
               alone; and page reads, 128 outstanding",
        weight: 4,
    },
    run,
};

const TABLES: u64 = 32 << 30;
const PAGE: u32 = 8 << 10;
const LOG: u64 = 1 << 30;
const LOG_WRITE: u32 = 4096;
const SESSIONS: u64 = 16;
/// Outstanding when reads alone are measured.
const DEEP: u64 = 128;
/// CPU time of a page: assumed.
const CPU: Nanos = Nanos::from_micros(20);
/// Outer rows of a join: assumed.
const OUTER_ROWS: u32 = 16;
/// Statements of the mixed load, of joins alone, reads alone; a disk does a hundredth of them.
const COUNTS: [(JoinRate, u64); 3] = [
    (JoinRate::Statements, 30_000),
    (JoinRate::Joins, 6_000),
    (JoinRate::Reads, 400_000),
];
const FILL: u32 = 128 << 10;

/// What a session still has to do for its statement.
#[derive(Clone, Copy, Debug, Default)]
struct PendingStatement {
    reads: u32,
    commits: bool,
    flushes: bool,
}

impl PendingStatement {
    /// A statement: 30 % selects, 50 % changes, 20 % joins; assumed.
    fn next(load: JoinRate, rng: &mut Rng) -> PendingStatement {
        let join = 2 * OUTER_ROWS + 2;
        let (reads, commits) = match (load, rng.below(10)) {
            (JoinRate::Reads, _) => (1, false),
            (JoinRate::Joins, _) | (JoinRate::Statements, 0..=1) => (join, false),
            (JoinRate::Statements, 2..=4) => (2, false),
            (JoinRate::Statements, _) => (3, true),
        };
        PendingStatement {
            reads,
            commits,
            flushes: commits,
        }
    }
}

/// A disk that serves one access after the other, or a modelled drive.
enum JoinBackend {
    Disk {
        disk: Hdd,
        now: Nanos,
        free_at: Nanos,
        done: BinaryHeap<Reverse<(Nanos, u64)>>,
    },
    Drive(Devices),
}

impl JoinBackend {
    fn open(store: JoinStore, seed: u64) -> Result<JoinBackend, LabError> {
        let name = match store {
            JoinStore::Disk => {
                return Ok(JoinBackend::Disk {
                    disk: Hdd::new(HddSpec::default(), Rng::named(seed, "joins: platter")),
                    now: Nanos::ZERO,
                    free_at: Nanos::ZERO,
                    done: BinaryHeap::new(),
                });
            }
            JoinStore::Sata => "intel-dc-s3700-200gb",
            JoinStore::Pcie => "intel-dc-p3700-400gb",
        };
        let mut devices = Devices::one(new_drive(&catalogue::drive(name)?.config)?);
        let mut places = (0..(TABLES + LOG) / u64::from(FILL)).map(|n| n * u64::from(FILL));
        let mut fill = || Some(Command::write(places.next()?, FILL));
        devices.keep(32, Nanos::MAX, &mut fill);
        devices.settle();
        devices.rest(Nanos::from_secs(60));
        Ok(JoinBackend::Drive(devices))
    }

    fn now(&self) -> Nanos {
        match self {
            JoinBackend::Disk { now, .. } => *now,
            JoinBackend::Drive(devices) => devices.now(),
        }
    }

    fn submit(&mut self, command: &Command, token: u64) {
        match self {
            JoinBackend::Disk {
                disk,
                now,
                free_at,
                done,
            } => {
                let time = match command.op {
                    Op::Flush => Nanos::ZERO,
                    _ => disk.access(command.offset, u64::from(command.len)),
                };
                *free_at = (*free_at).max(*now) + time;
                done.push(Reverse((*free_at, token)));
            }
            JoinBackend::Drive(devices) => devices.submit(0, command, token),
        }
    }

    /// The next completion by `until`; without one, `until` is the present.
    fn next(&mut self, until: Nanos) -> Option<u64> {
        match self {
            JoinBackend::Disk { now, done, .. } => {
                let due = done.peek().filter(|Reverse((at, _))| *at <= until);
                let Some(&Reverse((at, token))) = due else {
                    *now = until.max(*now);
                    return None;
                };
                done.pop();
                *now = at.max(*now);
                Some(token)
            }
            JoinBackend::Drive(devices) => devices.next(until).map(|done| done.token),
        }
    }
}

/// Statements a second of `load`.
fn rate(
    below: &mut JoinBackend,
    load: JoinRate,
    count: u64,
    setup: &ExperimentSetup<'_>,
) -> Result<f64, LabError> {
    let mut rng = Rng::named(setup.seed, &format!("joins: {}", load.name()));
    let sessions = if load == JoinRate::Reads {
        DEEP
    } else {
        SESSIONS
    };
    let (began, mut finished, mut log_at) = (below.now(), 0, 0);
    let mut pending = vec![PendingStatement::default(); sessions as usize];
    let mut cpu: BinaryHeap<Reverse<(Nanos, u64)>> = BinaryHeap::new();
    for session in 0..sessions {
        pending[session as usize] = PendingStatement::next(load, &mut rng);
        cpu.push(Reverse((began, session)));
    }
    while finished < count {
        let due = cpu.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
        if let Some(token) = below.next(due) {
            cpu.push(Reverse((below.now() + CPU, token)));
            continue;
        }
        let Some(Reverse((_, token))) = cpu.pop() else {
            break;
        };
        let session = &mut pending[token as usize];
        let command = if session.reads > 0 {
            session.reads -= 1;
            let page = rng.below(TABLES / u64::from(PAGE));
            Command::read(page * u64::from(PAGE), PAGE)
        } else if session.commits {
            session.commits = false;
            log_at = (log_at + u64::from(LOG_WRITE)) % LOG;
            Command::write(TABLES + log_at, LOG_WRITE)
        } else if session.flushes {
            session.flushes = false;
            Command::flush()
        } else {
            finished += 1;
            if finished % 1024 == 0 && setup.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            *session = PendingStatement::next(load, &mut rng);
            cpu.push(Reverse((below.now(), token)));
            continue;
        };
        below.submit(&command, token);
    }
    let seconds = (below.now() - began).as_secs_f64();
    while below.next(below.now() + Nanos::from_secs(1)).is_some() {}
    Ok(finished as f64 / seconds)
}

fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<JoinMeasure>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    for store in JoinStore::all() {
        let mut below = JoinBackend::open(store, setup.seed)?;
        for (load, count) in COUNTS {
            let fewer = if store == JoinStore::Disk { 100 } else { 1 };
            let per_second = rate(&mut below, load, count / fewer, setup)?;
            outcome.value(JoinMeasure::Of((store, load)), per_second);
        }
        if let JoinBackend::Drive(devices) = &mut below {
            devices.settle();
            for check in devices.checks() {
                let name = format!("{}: {}", store.name(), check.name);
                outcome.check(name, check.failure.map_or(Ok(()), Err));
            }
        }
    }
    let gain = |outcome: &ExperimentOutcome<JoinMeasure>, rate, over, under| {
        let measure = |store| JoinMeasure::Of((store, rate));
        outcome.ratio(measure(over), measure(under))
    };
    let sata = gain(
        &outcome,
        JoinRate::Statements,
        JoinStore::Sata,
        JoinStore::Disk,
    );
    let reads = gain(&outcome, JoinRate::Reads, JoinStore::Pcie, JoinStore::Sata);
    let joins = gain(&outcome, JoinRate::Joins, JoinStore::Pcie, JoinStore::Sata);
    outcome.value(JoinMeasure::SataOverDisk, sata);
    outcome.value(JoinMeasure::PcieReadGain, reads);
    outcome.value(JoinMeasure::JoinGainOverReadGain, joins / reads);
    Ok(outcome)
}
