//! To what the costs of a drive are reduced, to see what it is without each of them.

use crate::cause::Cause;
use ssdlab_ssd::config::{MappingKind, UNITY};
use ssdlab_ssd::drive::Relief;
use ssdlab_ssd::nand::{NandRelief, Purpose};
use ssdlab_ssd::{DriveConfig, Nanos};

/// To what each cost is reduced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReliefLevels {
    /// Bytes per second of the link, at least.
    pub link: u64,
    /// Controller time of a command, at most.
    pub overhead: Nanos,
    /// Latency of a command, at most.
    pub latency: Nanos,
    /// Commands in progress, at least.
    pub depth: u32,
    /// Mean time to sense a page, at most.
    pub read: Nanos,
    /// Mean time to program a page, at most.
    pub program: Nanos,
    /// Slots that reclaim may move for each slot of the host.
    pub moves: f64,
    /// Controller time of a slot that the drive moves, at most.
    pub moved_slot: Nanos,
    /// Dies that program at once, at least.
    pub programs: u32,
    /// Whether parity is free.
    pub parity_free: bool,
}

/// Slots that reclaim of a healthy drive moves for each slot that the host writes at random over
/// the whole drive: a WAF of 5 is that of greedy reclaim with about 11 % of spare.
const MOVES: f64 = 4.0;

fn scaled(time: Nanos, share: u32) -> Nanos {
    Nanos(time.0 * u64::from(share) / UNITY)
}

impl ReliefLevels {
    /// What a healthy drive of this interface and these cells does at worst: SATA 6 Gb/s and
    /// 66,000 commands a second, or PCIe with 2.5 GB/s and 250,000; slow parts of published data
    /// sheets of cells.
    pub fn healthy(config: &DriveConfig) -> ReliefLevels {
        let (link, overhead) = if config.host.full_duplex {
            (2_500_000_000, Nanos::from_micros(4))
        } else {
            (500_000_000, Nanos::from_micros(15))
        };
        let (read, program) = match config.shape.bits_per_cell {
            1 => (50, 400),
            2 => (115, 1_600),
            3 => (115, 2_600),
            _ => (200, 8_000),
        };
        ReliefLevels {
            link,
            overhead,
            latency: Nanos::from_micros(40),
            depth: 32,
            read: Nanos::from_micros(read),
            program: Nanos::from_micros(program),
            moves: MOVES,
            moved_slot: Nanos(3 * overhead.0),
            programs: 8,
            parity_free: false,
        }
    }

    /// Everything free of cost: where the time goes in a drive that has no fault.
    pub fn free() -> ReliefLevels {
        ReliefLevels {
            link: u64::MAX,
            overhead: Nanos::ZERO,
            latency: Nanos::ZERO,
            depth: 1024,
            read: Nanos::ZERO,
            program: Nanos::ZERO,
            moves: 0.0,
            moved_slot: Nanos::ZERO,
            programs: u32::MAX,
            parity_free: true,
        }
    }

    /// What takes a cause away from a drive that moves `moved` slots for each slot of the host;
    /// empty where the drive does not have it.
    pub fn reliefs(&self, cause: Cause, config: &DriveConfig, moved: f64) -> Vec<Relief> {
        let (host, slc) = (&config.host, &config.ftl.slc);
        let work = |purpose, share| Relief::Nand(NandRelief::Work(purpose, share));
        let mapping = config.ftl.mapping.kind;
        let (has, reliefs) = match cause {
            Cause::VolatileBuffer => (!config.buffer.protected, vec![Relief::ProtectedBuffer]),
            Cause::WriteCacheOff => (config.buffer.writes_through(), vec![Relief::WriteCacheOn]),
            Cause::Reclaim => {
                let share = (self.moves / moved * UNITY as f64) as u32;
                let share = share.min(UNITY as u32);
                let slot = scaled(host.moved_slot, share).min(self.moved_slot);
                (
                    moved > self.moves || moved > 0.0 && slot < host.moved_slot,
                    vec![work(Purpose::Relocation, share), Relief::MovedSlot(slot)],
                )
            }
            Cause::SlcFull => (
                slc.superblocks > 0 || slc.dynamic_above_free > 0,
                vec![Relief::EndlessSlc],
            ),
            Cause::Map => (
                matches!(mapping, MappingKind::Cached | MappingKind::Tree),
                vec![Relief::MapInDram],
            ),
            Cause::Link => (
                host.link_bytes_per_second < self.link || host.write_bytes_per_second > 0,
                vec![Relief::Link(self.link)],
            ),
            Cause::Controller => (
                host.command_overhead.max(host.write_overhead) > self.overhead,
                vec![Relief::Overhead(self.overhead)],
            ),
            Cause::Latency => (
                host.latency + host.write_latency > self.latency,
                vec![Relief::Latency(self.latency)],
            ),
            Cause::QueueDepth => (
                host.queue_depth < self.depth,
                vec![Relief::QueueDepth(self.depth)],
            ),
            Cause::Wear => (
                config.wear.is_some(),
                vec![Relief::Nand(NandRelief::Unworn), work(Purpose::Refresh, 0)],
            ),
            Cause::ReadsInOrder => (
                !config.nand.read_first,
                vec![Relief::Nand(NandRelief::ReadsFirst)],
            ),
            Cause::SlowCells => (true, vec![Relief::Nand(self.cells(config))]),
            Cause::Power => {
                let at_once = config.nand.programs_at_once;
                let relief = NandRelief::ProgramsAtOnce(self.programs);
                (
                    at_once > 0 && at_once < self.programs,
                    vec![Relief::Nand(relief)],
                )
            }
            Cause::Throttling => (config.heat.is_some(), vec![Relief::Heat]),
            Cause::Parity => (
                self.parity_free && config.ftl.parity,
                vec![work(Purpose::Parity, 0)],
            ),
            // Not the drive's: see `Stream`.
            Cause::HostPauses | Cause::DoubledFlushes => (false, Vec::new()),
        };
        if has { reliefs } else { Vec::new() }
    }

    fn cells(&self, config: &DriveConfig) -> NandRelief {
        NandRelief::Cells {
            read: self.read,
            program: self.program,
            kinds: config.shape.bits_per_cell as usize,
        }
    }
}
