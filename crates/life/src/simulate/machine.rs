//! The two gears behind one face.

use hdrhistogram::Histogram;
use ssdlab_ssd::ftl::SuperblockView;
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::{Command, CountingDrive, Drive, DriveConfig, DriveCounters, Nanos, Op};

/// Histograms of latencies in ns, by kind of command.
pub(super) type ByOp = [Histogram<u64>; Op::COUNT];

/// What a life needs of a drive, in either gear.
pub(super) trait Machine {
    /// Does what the commands ask; in the timed gear, as many as its depth allows may be left
    /// outstanding. Latencies in ns go to the table.
    fn run(&mut self, batch: &[Command], latencies: &mut ByOp);
    /// Waits for everything outstanding.
    fn settle(&mut self, _: &mut ByOp) {}
    fn config(&self) -> &DriveConfig;
    fn counters(&self) -> &DriveCounters;
    fn superblocks(&self) -> Vec<SuperblockView>;
    fn free_superblocks(&self) -> usize;
    fn check(&self) -> Result<(), String>;
    /// Virtual time; zero without.
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    /// Busy time of all dies by purpose, ns.
    fn busy_by_purpose(&self) -> Option<[u64; Purpose::COUNT]> {
        None
    }
    /// Busy time of all dies and of all channels as shares of the time that has passed.
    fn utilisation(&self) -> Option<(f64, f64)> {
        None
    }
    /// Energy so far, where the drive has figures.
    fn energy_nj(&self) -> Option<u128> {
        None
    }
    /// Whether mean outstanding = throughput x mean latency; `None` without time.
    fn littles_law(&self) -> Option<Result<(), String>> {
        None
    }
}

impl Machine for CountingDrive {
    fn run(&mut self, batch: &[Command], _: &mut ByOp) {
        self.apply_all(batch);
    }
    fn config(&self) -> &DriveConfig {
        CountingDrive::config(self)
    }
    fn counters(&self) -> &DriveCounters {
        CountingDrive::counters(self)
    }
    fn superblocks(&self) -> Vec<SuperblockView> {
        CountingDrive::superblocks(self)
    }
    fn free_superblocks(&self) -> usize {
        CountingDrive::free_superblocks(self)
    }
    fn check(&self) -> Result<(), String> {
        CountingDrive::check(self)
    }
}

/// A drive in virtual time, kept at a queue depth: the next command is submitted the moment one
/// completes.
pub(super) struct Timed {
    drive: Drive,
    depth: u32,
    /// Commands under way, by tag.
    under_way: Vec<Op>,
    free: Vec<u32>,
    /// Integral of the number outstanding over time, and sum of latencies: equal by Little's law
    /// once nothing is outstanding. In ns.
    area: u128,
    latency_sum: u128,
    last: Nanos,
}

impl Timed {
    pub fn new(drive: Drive, depth: u32) -> Timed {
        Timed {
            last: drive.now(),
            drive,
            depth,
            under_way: vec![Op::Flush; depth as usize],
            free: (0..depth).rev().collect(),
            area: 0,
            latency_sum: 0,
        }
    }

    pub fn into_drive(self) -> Drive {
        self.drive
    }

    /// Takes one completion; returns its tag.
    #[inline]
    fn complete(&mut self, latencies: &mut ByOp) -> Option<u32> {
        let outstanding = self.depth as usize - self.free.len();
        let done = self.drive.pop_completion(Nanos::MAX)?;
        let latency = done.done.0 - done.submitted.0;
        self.area += outstanding as u128 * u128::from(done.done.0 - self.last.0);
        self.latency_sum += u128::from(latency);
        self.last = done.done;
        let op = self.under_way[done.tag as usize] as usize;
        latencies[op].saturating_record(latency);
        Some(done.tag)
    }

    #[inline]
    fn submit(&mut self, tag: u32, command: &Command) {
        self.under_way[tag as usize] = command.op;
        self.drive.submit(tag, command, self.last);
    }
}

/// Commands whose memory is fetched ahead of their turn.
const AHEAD: usize = 24;

impl Machine for Timed {
    fn run(&mut self, batch: &[Command], latencies: &mut ByOp) {
        for (index, command) in batch.iter().enumerate() {
            if let Some(next) = batch.get(index + AHEAD) {
                self.drive.prefetch(next);
            }
            let tag = match self.free.pop() {
                Some(tag) => tag,
                None => match self.complete(latencies) {
                    Some(tag) => tag,
                    // A drive that loses commands is found by the self-check.
                    None => return,
                },
            };
            self.submit(tag, command);
        }
    }

    fn settle(&mut self, latencies: &mut ByOp) {
        // Asked for more than is outstanding, the drive would live on to the end of time.
        while self.free.len() < self.depth as usize {
            let Some(tag) = self.complete(latencies) else {
                return;
            };
            self.free.push(tag);
        }
    }

    fn config(&self) -> &DriveConfig {
        self.drive.config()
    }
    fn counters(&self) -> &DriveCounters {
        self.drive.counters()
    }
    fn superblocks(&self) -> Vec<SuperblockView> {
        self.drive.superblocks()
    }
    fn free_superblocks(&self) -> usize {
        self.drive.free_superblocks()
    }
    fn check(&self) -> Result<(), String> {
        self.drive.check()
    }
    fn now(&self) -> Nanos {
        self.last
    }
    fn busy_by_purpose(&self) -> Option<[u64; Purpose::COUNT]> {
        Some(self.drive.busy_by_purpose())
    }
    fn utilisation(&self) -> Option<(f64, f64)> {
        let (dies, channels) = self.drive.busy_ns();
        // Work is booked ahead: a die's time runs until the end of what is booked on it.
        let end = |die: usize| self.drive.die_free_at(die as u32).max(self.drive.now()).0;
        let lived: u128 = (0..dies.len()).map(|die| u128::from(end(die))).sum();
        let share = |busy: &[u64]| {
            let sum: u128 = busy.iter().map(|&ns| u128::from(ns)).sum();
            let mean = sum as f64 / busy.len().max(1) as f64;
            mean * dies.len() as f64 / lived.max(1) as f64
        };
        Some((share(&dies), share(&channels)))
    }
    fn energy_nj(&self) -> Option<u128> {
        let figures = self.drive.config().energy != ssdlab_ssd::config::EnergyConfig::default();
        figures.then(|| self.drive.energy().total_nj())
    }
    fn littles_law(&self) -> Option<Result<(), String>> {
        Some(
            if self.drive.outstanding() == 0 && self.area == self.latency_sum {
                Ok(())
            } else {
                Err(format!(
                    "{} outstanding in the end; the integral of the number outstanding is {} ns, \
                 the sum of latencies {} ns",
                    self.drive.outstanding(),
                    self.area,
                    self.latency_sum
                ))
            },
        )
    }
}
