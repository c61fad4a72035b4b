//! The two gears behind one face.

use ssdlab_base::latencies::Latencies;
use ssdlab_bench::engine::devices::{CommandSource, DeviceCompletion, Devices};
use ssdlab_ssd::ftl::SuperblockView;
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::{Command, CountingDrive, Drive, DriveConfig, DriveCounters, Nanos, Op};

/// Histograms of latencies in ns, by kind of command.
pub(super) type OpLatencies = [Latencies; Op::COUNT];

/// Interface of a drive to a life, in either gear.
pub(super) trait LifeDrive {
    /// Does what the commands ask; in the timed gear, as many as its depth allows may be left
    /// outstanding. Latencies in ns go to the table.
    fn run(&mut self, batch: &[Command], latencies: &mut OpLatencies);
    /// Waits for everything outstanding.
    fn settle(&mut self, _: &mut OpLatencies) {}
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

impl LifeDrive for CountingDrive {
    fn run(&mut self, batch: &[Command], _: &mut OpLatencies) {
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

/// A drive in virtual time, kept at a queue depth.
pub(super) struct TimedLifeDrive {
    devices: Devices,
    depth: u32,
}

impl TimedLifeDrive {
    pub fn new(drive: Drive, depth: u32) -> TimedLifeDrive {
        TimedLifeDrive {
            devices: Devices::one(drive),
            depth,
        }
    }

    pub fn into_drive(self) -> Drive {
        self.devices.into_drive()
    }

    fn drive(&self) -> &Drive {
        self.devices.drive(0)
    }
}

/// Commands whose memory is fetched ahead of their turn.
const AHEAD: usize = 24;

/// A batch on its way to the drive.
struct BatchSource<'a> {
    commands: &'a [Command],
    at: usize,
    latencies: &'a mut OpLatencies,
}

impl CommandSource for BatchSource<'_> {
    #[inline]
    fn has_next(&self) -> bool {
        self.at < self.commands.len()
    }

    #[inline]
    fn next(&mut self, drive: &Drive) -> Option<Command> {
        if let Some(later) = self.commands.get(self.at + AHEAD) {
            drive.prefetch(later);
        }
        let next = self.commands.get(self.at).copied();
        self.at += 1;
        next
    }

    #[inline]
    fn done(&mut self, _: &Drive, completion: &DeviceCompletion) {
        record(self.latencies, completion);
    }
}

#[inline]
fn record(latencies: &mut OpLatencies, completion: &DeviceCompletion) {
    latencies[completion.op as usize].saturating_record(completion.done.0 - completion.submitted.0);
}

impl LifeDrive for TimedLifeDrive {
    fn run(&mut self, batch: &[Command], latencies: &mut OpLatencies) {
        let mut source = BatchSource {
            commands: batch,
            at: 0,
            latencies,
        };
        self.devices.keep(self.depth, Nanos::MAX, &mut source);
    }

    fn settle(&mut self, latencies: &mut OpLatencies) {
        self.devices
            .settle_with(|_, completion| record(latencies, completion));
    }

    fn config(&self) -> &DriveConfig {
        self.drive().config()
    }
    fn counters(&self) -> &DriveCounters {
        self.drive().counters()
    }
    fn superblocks(&self) -> Vec<SuperblockView> {
        self.drive().superblocks()
    }
    fn free_superblocks(&self) -> usize {
        self.drive().free_superblocks()
    }
    fn check(&self) -> Result<(), String> {
        self.drive().check()
    }
    fn now(&self) -> Nanos {
        self.devices.now()
    }
    fn busy_by_purpose(&self) -> Option<[u64; Purpose::COUNT]> {
        Some(self.drive().busy_by_purpose())
    }
    fn utilisation(&self) -> Option<(f64, f64)> {
        let (dies, channels) = self.drive().busy_ns();
        // Work is booked ahead: a die's time runs until the end of what is booked on it.
        let end = |die: usize| {
            self.drive()
                .die_free_at(die as u32)
                .max(self.drive().now())
                .0
        };
        let lived: u128 = (0..dies.len()).map(|die| u128::from(end(die))).sum();
        let share = |busy: &[u64]| {
            let sum: u128 = busy.iter().map(|&ns| u128::from(ns)).sum();
            let mean = sum as f64 / busy.len().max(1) as f64;
            mean * dies.len() as f64 / lived.max(1) as f64
        };
        Some((share(&dies), share(&channels)))
    }
    fn energy_nj(&self) -> Option<u128> {
        let figures = self.drive().config().energy != ssdlab_ssd::config::EnergyConfig::default();
        figures.then(|| self.drive().energy().total_nj())
    }
    fn littles_law(&self) -> Option<Result<(), String>> {
        Some(self.devices.littles_law())
    }
}
