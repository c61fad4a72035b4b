//! Causes of slowness, and what a drive is without each of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::config::{MappingKind, UNITY};
use ssdlab_ssd::drive::Relief;
use ssdlab_ssd::nand::{NandRelief, Purpose};
use ssdlab_ssd::{DriveConfig, Nanos};

/// Why a drive may be slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The write buffer is volatile, and durable writes wait for the media.
    VolatileBuffer,
    /// The host has switched the write cache off, so every write waits for the media.
    WriteCacheOff,
    /// Reclaim moves much data for each page that the host writes.
    Reclaim,
    /// The pSLC cache is full.
    SlcFull,
    /// Parts of the map are not in DRAM.
    Map,
    /// The link is slow.
    Link,
    /// The controller takes long for each command.
    Controller,
    /// Something adds latency to each command.
    Latency,
    /// Few commands are in progress at a time.
    QueueDepth,
    /// Worn media: reads are retried, operations slow down, data is refreshed.
    Wear,
    /// Reads wait behind all programs of their die.
    ReadsInOrder,
    /// Pages take long to read or program.
    SlowCells,
    /// One die of each row holds parity.
    Parity,
    /// Few dies may program at once.
    Power,
    /// It is too warm, and slows down.
    Throttling,
    /// The host lets time pass before it issues its next command.
    HostPauses,
    /// The host flushes twice for what one flush makes durable.
    DoubledFlushes,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 17] = [
        Cause::VolatileBuffer,
        Cause::WriteCacheOff,
        Cause::Reclaim,
        Cause::SlcFull,
        Cause::Map,
        Cause::Link,
        Cause::Controller,
        Cause::Latency,
        Cause::QueueDepth,
        Cause::Wear,
        Cause::ReadsInOrder,
        Cause::SlowCells,
        Cause::Parity,
        Cause::Power,
        Cause::Throttling,
        Cause::HostPauses,
        Cause::DoubledFlushes,
    ];

    /// Whether the host is the cause, not the drive.
    pub fn is_of_host(self) -> bool {
        matches!(self, Cause::HostPauses | Cause::DoubledFlushes)
    }

    /// Whether a setting of the host takes it away: it is named before costs of the drive, which it
    /// may hide behind.
    pub fn is_setting(self) -> bool {
        self == Cause::WriteCacheOff
    }

    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::VolatileBuffer => "volatile buffer",
            Cause::WriteCacheOff => "write cache off",
            Cause::Reclaim => "reclaim",
            Cause::SlcFull => "pSLC cache full",
            Cause::Map => "map not in DRAM",
            Cause::Link => "link",
            Cause::Controller => "controller",
            Cause::Latency => "latency",
            Cause::QueueDepth => "queue depth",
            Cause::Wear => "wear",
            Cause::ReadsInOrder => "reads in order",
            Cause::SlowCells => "cells",
            Cause::Parity => "parity",
            Cause::Power => "power",
            Cause::Throttling => "throttling",
            Cause::HostPauses => "pauses of the host",
            Cause::DoubledFlushes => "doubled flushes",
        }
    }

    /// As a sentence about a drive of this configuration.
    pub fn sentence(self, config: &DriveConfig) -> String {
        let host = &config.host;
        match self {
            Cause::VolatileBuffer => {
                "its write buffer is volatile, so durable writes wait for the media".into()
            }
            Cause::WriteCacheOff => {
                "its write cache is switched off, so every write waits for the media".into()
            }
            Cause::Reclaim => format!(
                "reclaim moves much data for each page written (effective spare {:.0} %)",
                100.0 * config.effective_op()
            ),
            Cause::SlcFull => "its pSLC cache is full".into(),
            Cause::Map if config.ftl.mapping.kind == MappingKind::Tree => {
                "its map is fragmented and no longer fits into DRAM".into()
            }
            Cause::Map => "its map does not fit into DRAM".into(),
            Cause::Link => format!(
                "its link carries only {} MB/s",
                host.link_bytes_per_second / 1_000_000
            ),
            Cause::Controller => format!(
                "its controller needs {} for each command",
                host.command_overhead.max(host.write_overhead)
            ),
            Cause::Latency => format!("each command waits {} on its way", host.latency),
            Cause::QueueDepth => format!(
                "it takes {} at a time",
                match host.queue_depth {
                    1 => "one command".to_owned(),
                    depth => format!("{depth} commands"),
                }
            ),
            Cause::Wear => "its media is worn: reads are retried and data is refreshed".into(),
            Cause::ReadsInOrder => "reads wait behind every program of their die".into(),
            Cause::SlowCells => "its cells are slow to read or program".into(),
            Cause::Parity => "parity takes one die of each row".into(),
            Cause::Power => format!(
                "only {} of its dies may program at once",
                config.nand.programs_at_once
            ),
            Cause::Throttling => throttling(config),
            Cause::HostPauses => "the host waits before it issues its next command".into(),
            Cause::DoubledFlushes => {
                "the host flushes twice for what one flush makes durable".into()
            }
        }
    }
}

fn throttling(config: &DriveConfig) -> String {
    let Some(heat) = &config.heat else {
        return "it is too warm and slows down".into();
    };
    let resistance = heat.resistance_mk_per_w as f64 / 1e3;
    format!(
        "it is too warm and slows down: from {} C on, in air of {} C, with {resistance} K/W to it",
        heat.light.at_c, heat.ambient_c
    )
}

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
                host.link_bytes_per_second < self.link,
                vec![Relief::Link(self.link)],
            ),
            Cause::Controller => (
                host.command_overhead.max(host.write_overhead) > self.overhead,
                vec![Relief::Overhead(self.overhead)],
            ),
            Cause::Latency => (
                host.latency > self.latency,
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
