//! Loads of the specification, as phases of a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_load::plan::{
    BlockSize, CapacityShares, Distribution, JobRateLimits, JobSpec, JobTiming, Mix, Order,
    PlanPhase, WriteDurability, WritePayload,
};
use ssdlab_ssd::Nanos;

/// Command sizes of JESD219 in bytes, with their shares in per cent.
const JESD219: [(u32, u8); 12] = [
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16_384, 7),
    (32_768, 3),
    (65_536, 3),
];
/// Share of accesses and share of the range, in per cent, of JESD219.
const ZONES: [(u8, u8); 3] = [(50, 5), (30, 15), (20, 80)];

/// The two classes of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SniaClass {
    /// Write cache disabled, all of the drive, four threads of depth 32.
    Enterprise,
    /// Write cache enabled, 75 % of the drive, two threads of depth 16.
    Client,
}

impl SniaClass {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SniaClass::Enterprise => "enterprise",
            SniaClass::Client => "client",
        }
    }

    /// Per cent of the drive that the tests use.
    pub fn active_range(self) -> u8 {
        match self {
            SniaClass::Enterprise => 100,
            SniaClass::Client => 75,
        }
    }

    /// Threads and depth of each.
    pub fn demand(self) -> SniaDemand {
        match self {
            SniaClass::Enterprise => SniaDemand::new(4, 32),
            SniaClass::Client => SniaDemand::new(2, 16),
        }
    }

    /// What happens to the write cache, for the report.
    pub fn write_cache(self) -> &'static str {
        match self {
            SniaClass::Enterprise => "disabled (WCD): every write with FUA",
            SniaClass::Client => "enabled (WCE)",
        }
    }
}

/// Command sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SniaSizes {
    /// One, in bytes.
    One(u32),
    /// The mix of JESD219, with its skew.
    Composite,
}

/// A load for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SniaLoad {
    /// Threads.
    pub threads: u32,
    /// Commands outstanding per thread.
    pub depth: u32,
    /// Per cent of reads.
    pub read_pct: u8,
    /// Command sizes.
    pub sizes: SniaSizes,
    /// One after another rather than anywhere.
    pub sequential: bool,
    /// Without a command before it, s of the specification.
    pub wait_s: f64,
    /// How long, s of the specification.
    pub length_s: f64,
}

/// How many commands a load keeps outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SniaDemand {
    /// Threads.
    pub threads: u32,
    /// Commands outstanding of each thread.
    pub depth: u32,
}

impl SniaDemand {
    /// A demand of this many threads, each of this depth.
    pub const fn new(threads: u32, depth: u32) -> SniaDemand {
        SniaDemand { threads, depth }
    }
}

impl SniaLoad {
    /// Random commands for a minute.
    pub fn random(demand: SniaDemand, read_pct: u8, bytes: u32) -> SniaLoad {
        SniaLoad {
            threads: demand.threads,
            depth: demand.depth,
            read_pct,
            sizes: SniaSizes::One(bytes),
            sequential: false,
            wait_s: 0.0,
            length_s: 60.0,
        }
    }

    /// Sequential commands for a minute, by one thread of depth 32.
    pub fn sequential(read_pct: u8, bytes: u32) -> SniaLoad {
        SniaLoad {
            sequential: true,
            ..SniaLoad::random(SniaDemand::new(1, 32), read_pct, bytes)
        }
    }

    /// The same for another time.
    pub fn lasting(self, length_s: f64) -> SniaLoad {
        SniaLoad { length_s, ..self }
    }

    /// The same after a wait.
    pub fn after(self, wait_s: f64) -> SniaLoad {
        SniaLoad { wait_s, ..self }
    }

    /// As a phase. Times are divided by `reduction`.
    pub fn phase(&self, class: SniaClass, reduction: f64, seed: u64) -> PlanPhase {
        let nanos = |s: f64| Nanos((s * 1e9 / reduction).round() as u64);
        let job = JobSpec {
            name: self.what(),
            mix: match self.read_pct {
                0 => Mix::Write,
                100 => Mix::Read,
                read_pct => Mix::ReadWrite { read_pct },
            },
            order: self.order(),
            block_sizes: match self.sizes {
                SniaSizes::One(bytes) => BlockSize::always(bytes),
                SniaSizes::Composite => composite(),
            },
            shares: CapacityShares {
                region: (class.active_range() < 100).then(|| class.active_range()),
                ..CapacityShares::default()
            },
            depth: self.depth,
            copies: self.threads,
            time: JobTiming {
                delay: nanos(self.wait_s),
                run: Some(nanos(self.length_s)),
                time_based: true,
                ..JobTiming::default()
            },
            durability: WriteDurability {
                fua: class == SniaClass::Enterprise,
                ..WriteDurability::default()
            },
            pace: JobRateLimits::default(),
            data: WritePayload {
                compress_pct: 0,
                refill: false,
            },
            seed,
            ..JobSpec::default()
        };
        PlanPhase { jobs: vec![job] }
    }

    fn order(&self) -> Order {
        if self.sequential {
            return Order::Sequential {
                stride: None,
                start_step: 0,
                split_positions: false,
            };
        }
        let (align, distribution) = match self.sizes {
            SniaSizes::One(bytes) => (u64::from(bytes), Distribution::Uniform),
            SniaSizes::Composite => {
                let zones = ZONES.to_vec();
                (4096, Distribution::Zoned { zones })
            }
        };
        Order::Random {
            align,
            distribution,
            each_once: false,
        }
    }

    /// In a few words.
    pub fn what(&self) -> String {
        let order = if self.sequential { "SEQ" } else { "RND" };
        let size = match self.sizes {
            SniaSizes::One(bytes) => size_name(bytes),
            SniaSizes::Composite => "composite".to_owned(),
        };
        let (read, write) = (self.read_pct, 100 - self.read_pct);
        format!(
            "{order} {size} R/W {read}/{write} T{} Q{}",
            self.threads, self.depth
        )
    }
}

/// A command size as the specification writes it.
pub fn size_name(bytes: u32) -> String {
    match bytes {
        512 => "0.5K".to_owned(),
        _ => format!("{}K", bytes / 1024),
    }
}

fn composite() -> [Vec<BlockSize>; 3] {
    let sizes = JESD219.map(|(bytes, percent)| BlockSize { bytes, percent });
    [sizes.to_vec(), sizes.to_vec(), sizes.to_vec()]
}
