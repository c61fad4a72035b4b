//! Article zil: cache flushes switched off for a whole system (`zfs_nocacheflush`), and the power
//! cut.
//!
//! ```text
//! sync writes -> log device (flush) -> acknowledged
//! group closes -> their blocks, at free places of the pool's drives (flush) -> root block on
//! every drive of the pool (flush) -> the log blocks are released
//! ```
//! Power is cut for all drives at the same moment. Recovery takes the newest root block that any
//! drive of the pool holds, reads the blocks of its groups, and replays the log from there to its
//! first gap. An acknowledged write that neither gives back is lost. The article warns: without
//! flushes, *every* drive needs a protected cache, not the log device alone.
//!
//! Left out: mirrors and parity in the pool, metadata below the root, writers at work while a
//! group is written.

use crate::experiments::contract::small_drive;
use crate::keys::{ExperimentKey, keys};
use crate::number::number;
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_ssd::drive::power::{Power, PowerDrive};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};
use std::sync::atomic::Ordering;

keys! {
    /// Pools of a log device and two drives.
    pub(crate) enum PoolFlushCase {
        AllProtected = "all_protected_off",
        OneUnprotected = "one_unprotected_off",
        OneUnprotectedFlushed = "one_unprotected_on",
    }

    pub(crate) enum PoolCutCount {
        Lost = "lost",
        BadCuts = "bad_cuts",
    }

    pub(crate) enum PoolCutMeasure {
        ;
        Of((PoolFlushCase, PoolCutCount)) = "{}",
    }
}

pub(crate) static POOL_CUTS: Experiment<PoolCutMeasure> = Experiment {
    about: ExperimentInfo {
        name: "zil.pool_cuts",
        what: "a log device and two pool drives of 64 MiB, cache flushes switched off: with \
               protected caches everywhere, and with one drive of the pool that has none; power \
               is cut at random, the newest root block is taken and the log replayed",
        weight: 3,
    },
    run,
};

const CUTS: u64 = 60;
const SIZE: u64 = 64 << 20;
const BLOCK: u32 = 4096;
const LIFE_MAX_NS: u64 = 200_000_000;
const OFF: Nanos = Nanos::from_secs(1);
/// Synchronous writes of a group.
const GROUP: u64 = 16;
/// Root blocks before the first is written over.
const ROOTS: u64 = 64;
/// Groups that recovery may go back by: what was freed is not used before that.
const GROUPS_KEPT: usize = 4;
/// The log device comes first, then the drives of the pool.
const LOG: usize = 0;

impl PoolFlushCase {
    /// Its drives, and whether flushes are given.
    fn case(self) -> ([&'static str; 3], bool) {
        const SAFE: &str = "intel-320-40gb";
        const VOLATILE: &str = "intel-x25m-g2-80gb";
        match self {
            PoolFlushCase::AllProtected => ([SAFE, SAFE, SAFE], false),
            PoolFlushCase::OneUnprotected => ([SAFE, SAFE, VOLATILE], false),
            PoolFlushCase::OneUnprotectedFlushed => ([SAFE, SAFE, VOLATILE], true),
        }
    }
}

/// A write to a drive of the pool, by the number that the drive gave it.
#[derive(Clone, Copy, Debug)]
struct PoolWrite {
    drive: usize,
    offset: u64,
    number: u64,
}

/// An acknowledged synchronous write that is in no finished group yet, or in one of the last.
#[derive(Clone, Copy, Debug)]
struct AcknowledgedSyncWrite {
    logged: PoolWrite,
    /// Its block in the pool, once its group is written.
    block: Option<PoolWrite>,
}

/// A group whose root block was handed to the drives.
#[derive(Clone, Debug)]
struct TransactionGroup {
    roots: Vec<PoolWrite>,
    promises: Vec<AcknowledgedSyncWrite>,
}

/// Power fails before a command completes.
struct PowerFailed;

struct PoolSystem {
    drives: Vec<PowerDrive>,
    flushes: bool,
    now: Nanos,
    cut_at: Nanos,
    /// Blocks given out so far, by drive.
    places: [u64; 3],
    group: u64,
    open: Vec<AcknowledgedSyncWrite>,
    /// The open promises are those of the last group: its root was not acknowledged yet.
    closing: bool,
    groups: Vec<TransactionGroup>,
    acknowledged: u64,
}

impl PoolSystem {
    fn new(pool: PoolFlushCase) -> Result<PoolSystem, LabError> {
        let (names, flushes) = pool.case();
        let drives: Result<Vec<PowerDrive>, LabError> = names
            .iter()
            .map(|name| small_drive(name, SIZE, Power::default()))
            .collect();
        Ok(PoolSystem {
            drives: drives?,
            flushes,
            now: Nanos::ZERO,
            cut_at: Nanos::ZERO,
            places: [0; 3],
            group: 0,
            open: Vec::new(),
            closing: false,
            groups: Vec::new(),
            acknowledged: 0,
        })
    }

    /// The next free block of a drive, never near the last one: the first blocks are for roots.
    fn free_place(&mut self, drive: usize) -> u64 {
        let blocks = SIZE / u64::from(BLOCK) - ROOTS;
        let n = self.places[drive];
        self.places[drive] += 1;
        // A prime that does not divide the number of blocks: every block has its turn.
        (ROOTS + n * 7_919 % blocks) * u64::from(BLOCK)
    }

    fn write(&mut self, drive: usize, offset: u64, tag: u32) -> PoolWrite {
        let command = Command::write(offset, BLOCK);
        let number = self.drives[drive].submit(tag, &command, None, self.now);
        PoolWrite {
            drive,
            offset,
            number,
        }
    }

    /// Waits for everything outstanding.
    fn wait(&mut self) -> Result<(), PowerFailed> {
        let mut last = self.now;
        for drive in &mut self.drives {
            while drive.outstanding() > 0 {
                let completion = drive.pop_completion(self.cut_at).ok_or(PowerFailed)?;
                last = last.max(completion.done);
            }
        }
        self.now = last;
        Ok(())
    }

    fn flush(&mut self, drives: std::ops::Range<usize>) -> Result<(), PowerFailed> {
        if self.flushes {
            for drive in drives {
                self.drives[drive].submit(0, &Command::flush(), None, self.now);
            }
        }
        self.wait()
    }

    /// One synchronous write, until it is acknowledged.
    fn sync_write(&mut self) -> Result<(), PowerFailed> {
        let place = self.free_place(LOG);
        let logged = self.write(LOG, place, 0);
        self.wait()?;
        self.flush(LOG..LOG + 1)?;
        self.open.push(AcknowledgedSyncWrite {
            logged,
            block: None,
        });
        self.acknowledged += 1;
        Ok(())
    }

    /// Writes the blocks of the open group, then its root block.
    fn close_group(&mut self) -> Result<(), PowerFailed> {
        let data_drives = LOG + 1..self.drives.len();
        let mut promises = self.open.clone();
        for (tag, promise) in (0..).zip(&mut promises) {
            let drive = data_drives.start + tag as usize % data_drives.len();
            let place = self.free_place(drive);
            promise.block = Some(self.write(drive, place, tag));
        }
        self.wait()?;
        self.flush(data_drives.clone())?;
        let offset = self.group % ROOTS * u64::from(BLOCK);
        self.group += 1;
        let roots = data_drives
            .clone()
            .map(|drive| self.write(drive, offset, 0));
        let roots = roots.collect();
        // A root block may be found though it was never acknowledged.
        self.groups.push(TransactionGroup { roots, promises });
        self.closing = true;
        if self.groups.len() > GROUPS_KEPT {
            self.groups.remove(0);
        }
        self.wait()?;
        self.flush(data_drives)?;
        self.open.clear();
        self.closing = false;
        Ok(())
    }

    fn live(&mut self) -> Result<(), PowerFailed> {
        loop {
            for _ in 0..GROUP {
                self.sync_write()?;
            }
            self.close_group()?;
        }
    }

    fn holds(&self, placed: &PoolWrite) -> bool {
        let sectors = placed.offset / 512..(placed.offset + u64::from(BLOCK)) / 512;
        let drive = &self.drives[placed.drive];
        sectors
            .into_iter()
            .all(|sector| drive.sector(sector) == placed.number)
    }

    /// Acknowledged writes that recovery does not give back.
    fn lost(&self) -> u64 {
        let root = |group: &TransactionGroup| group.roots.iter().any(|placed| self.holds(placed));
        let newest = self.groups.iter().rposition(root);
        let committed = newest.map_or(0, |n| n + 1);
        let in_pool = self.groups[..committed].iter().flat_map(|g| &g.promises);
        let torn = in_pool.filter(|p| !p.block.is_some_and(|block| self.holds(&block)));
        let torn = torn.count() as u64;
        let waiting = self.groups[committed..].iter().flat_map(|g| &g.promises);
        // A group that was being written has its promises already.
        let open = self.open.iter().filter(|_| !self.closing);
        let log: Vec<&AcknowledgedSyncWrite> = waiting.chain(open).collect();
        let replayed = log.iter().take_while(|p| self.holds(&p.logged)).count();
        torn + (log.len() - replayed) as u64
    }

    /// Runs until the power fails, cuts it everywhere, and counts what is lost.
    fn life(&mut self, life: Nanos) -> Result<u64, String> {
        let ready = self
            .drives
            .iter()
            .map(|drive| drive.now().max(drive.ready()));
        self.now = ready.max().unwrap_or_default();
        self.cut_at = self.now + life;
        self.open.clear();
        self.closing = false;
        self.groups.clear();
        let Err(PowerFailed) = self.live() else {
            return Err("a pool that works for ever".into());
        };
        for drive in &mut self.drives {
            let cut = drive.cut(self.cut_at);
            let recovery = drive.power_on(cut.at + cut.held_up + OFF);
            drive.check()?;
            while drive.pop_completion(recovery.ready).is_some() {}
        }
        Ok(self.lost())
    }
}

fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<PoolCutMeasure>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    for pool in PoolFlushCase::all() {
        let mut system = PoolSystem::new(pool)?;
        let mut rng = Rng::named(setup.seed, "zil pool cuts");
        let (mut lost, mut bad_cuts) = (0, 0);
        let mut health = Ok(());
        for cut in 0..CUTS {
            if setup.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            match system.life(Nanos(1_000_000 + rng.below(LIFE_MAX_NS))) {
                Ok(found) => {
                    lost += found;
                    bad_cuts += u64::from(found > 0);
                }
                Err(what) => health = Err(format!("cut {cut}: {what}")),
            }
        }
        outcome.check(format!("{} after each recovery", pool.name()), health);
        let n = |count: u64| number(count as f64);
        let text = format!("{} of {}", n(lost), n(system.acknowledged));
        outcome.text(PoolCutMeasure::Of((pool, PoolCutCount::Lost)), text);
        outcome.value(PoolCutMeasure::Of((pool, PoolCutCount::Lost)), lost as f64);
        outcome.value(
            PoolCutMeasure::Of((pool, PoolCutCount::BadCuts)),
            bad_cuts as f64,
        );
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(pool: PoolFlushCase) -> (u64, u64) {
        let mut system = PoolSystem::new(pool).unwrap();
        let lost = (1..=6).map(|n| system.life(Nanos(n * 13_000_000)).unwrap());
        (lost.sum(), system.acknowledged)
    }

    #[test]
    fn without_flushes_one_volatile_cache_in_the_pool_loses_what_was_promised() {
        let (lost, acknowledged) = losses(PoolFlushCase::OneUnprotected);
        assert!(lost > 0 && acknowledged > 100, "{lost} of {acknowledged}");
    }

    #[test]
    fn flushes_or_protected_caches_everywhere_keep_it() {
        for pool in [
            PoolFlushCase::AllProtected,
            PoolFlushCase::OneUnprotectedFlushed,
        ] {
            let (lost, acknowledged) = losses(pool);
            assert!(lost == 0 && acknowledged > 10, "{pool:?}: {lost}");
        }
    }
}
