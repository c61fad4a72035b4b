//! Result of a life: `result.json`.

use super::machine::{LifeDrive, OpLatencies};
use super::sample::{LifeSample, three};
use super::{SimulationGear, SimulationPlan};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::check::{SelfCheck, failures};
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_ssd::ftl::policies::Separation;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::{DriveConfig, DriveCounters, Nanos, Op};
use ssdlab_view::units;
use std::collections::BTreeMap;

/// Classes of the distribution of valid counts.
const VALID_CLASSES: usize = 50;
/// Most cells of the map of erases; with more superblocks, a cell is the mean of several.
const ERASE_CELLS: usize = 600;

/// The drive, as far as reclaim sees it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriveFacts {
    /// Name in the catalogue.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Parameters changed from the drive's file.
    pub settings: Vec<String>,
    /// History of a saved drive.
    pub history: Vec<String>,
    /// Bytes.
    pub raw_bytes: u64,
    /// Bytes.
    pub user_bytes: u64,
    /// N: superblocks.
    pub superblocks: u32,
    /// Np: mapping units of a superblock.
    pub slots_per_superblock: u32,
    /// R: superblocks kept free.
    pub free_superblocks_low: u32,
    /// K: open superblocks, the host's and those of relocated data.
    pub open_superblocks: u32,
    /// (raw - user) / user.
    pub op_nominal: f64,
    /// The same with what reclaim can use.
    pub op_effective: f64,
    /// (raw - user) / raw.
    pub spare_factor: f64,
    /// Which superblock is emptied next.
    pub victim: String,
    /// Of the model's tables, bytes.
    pub memory_bytes: u64,
    /// Calibrated and assumed values that figures of this drive rest on.
    pub rests_on: Vec<RestsOn>,
}

impl DriveFacts {
    fn of(plan: &SimulationPlan, config: &DriveConfig) -> DriveFacts {
        let geometry = Geometry::new(config.shape);
        let raw = geometry.raw_bytes();
        DriveFacts {
            name: plan.name.clone(),
            title: plan.title.clone(),
            settings: plan.settings.clone(),
            history: plan.history.clone(),
            raw_bytes: raw,
            user_bytes: config.user_bytes,
            superblocks: geometry.superblock_count,
            slots_per_superblock: geometry.slots_per_superblock,
            free_superblocks_low: config.ftl.reclaim.free_superblocks_low,
            open_superblocks: config.open_superblocks(),
            op_nominal: config.nominal_op(),
            op_effective: config.effective_op(),
            spare_factor: 1.0 - config.user_bytes as f64 / raw as f64,
            victim: config.ftl.reclaim.victim.to_string(),
            memory_bytes: config.memory_bytes(),
            rests_on: plan.rests_on.clone(),
        }
    }
}

/// Latency of a kind of command under the load, ns.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadLatency {
    /// Kind.
    pub op: &'static str,
    /// Commands.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Half of the commands took no longer.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// 99.99 %; `None` of fewer than 10,000 commands.
    pub p9999_ns: Option<u64>,
    /// The longest, to 1 %.
    pub max_ns: u64,
}

impl LoadLatency {
    /// Kind, commands, mean, four quantiles and the longest, as a person reads them.
    pub(super) fn cells(&self) -> [String; 8] {
        [
            self.op.to_owned(),
            units::count(self.count),
            units::time_mean(self.mean_ns),
            units::time(self.p50_ns),
            units::time(self.p99_ns),
            units::time(self.p999_ns),
            self.p9999_ns.map_or(units::NOTHING.to_owned(), units::time),
            units::time(self.max_ns),
        ]
    }

    pub(super) fn of(histograms: &OpLatencies) -> Vec<LoadLatency> {
        let by_op = Op::ALL.into_iter().zip(histograms);
        by_op
            .filter_map(|(op, histogram)| {
                let [p50_ns, p99_ns, p999_ns] = three(histogram)?;
                Some(LoadLatency {
                    op: op.name(),
                    count: histogram.len(),
                    mean_ns: histogram.mean(),
                    p50_ns,
                    p99_ns,
                    p999_ns,
                    p9999_ns: (histogram.len() >= 10_000)
                        .then(|| histogram.value_at_quantile(0.9999).min(histogram.max())),
                    max_ns: histogram.max(),
                })
            })
            .collect()
    }
}

/// Where the array's work of the load went.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PurposeWork {
    /// `host`, `relocation`, `map` and so on.
    pub purpose: &'static str,
    /// Slots programmed for it.
    pub slots: u64,
    /// Busy time of dies for it, reads and erases included, s; `None` in the counting gear.
    pub busy_s: Option<f64>,
}

/// How worn the superblocks are.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SuperblockErases {
    /// Of the superblock with the fewest.
    pub min: u32,
    /// Mean.
    pub mean: f64,
    /// Of the superblock with the most.
    pub max: u32,
    /// Superblocks in a cell of `map`.
    pub per_cell: usize,
    /// Mean erases, in order of superblock.
    pub map: Vec<f64>,
}

/// Everything about a life but its samples. No wall time: the same plan gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Simulation {
    /// `ssdlab-simulation`.
    pub format: &'static str,
    /// Version of this structure.
    pub version: u32,
    /// The drive.
    pub drive: DriveFacts,
    /// `counting` or `timed`.
    pub gear: &'static str,
    /// The load's pattern.
    pub load: String,
    /// Bytes of each command.
    pub block: u32,
    /// Per cent of reads.
    pub read_pct: u32,
    /// Per cent of trims.
    pub trim_pct: u32,
    /// Every write of the load was durable when it completed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub write_through: bool,
    /// Commands outstanding; `None` in the counting gear.
    pub depth: Option<u32>,
    /// Of the load's random numbers.
    pub seed: u64,
    /// Fill before the load.
    pub fill: &'static str,
    /// Percentage of the user capacity that fill and load use.
    pub used_pct: u32,
    /// When the load was to end.
    pub until: String,
    /// Ended early, by the user.
    pub stopped: bool,
    /// Commands of the load.
    pub commands: u64,
    /// Bytes written by the host under the load.
    pub host_bytes: u64,
    /// The same in user capacities.
    pub drive_writes: f64,
    /// NAND bytes programmed / host bytes written, under the load.
    pub waf: Option<f64>,
    /// The same over the last quarter of the load's samples.
    pub waf_last_quarter: Option<f64>,
    /// Virtual time of the load, s.
    pub virtual_s: Option<f64>,
    /// Commands per virtual second under the load.
    pub iops: Option<f64>,
    /// The same over the last quarter of the load's samples.
    pub iops_last_quarter: Option<f64>,
    /// Latencies under the load.
    pub latency: Vec<LoadLatency>,
    /// Where the array's work went, under the load.
    pub work: Vec<PurposeWork>,
    /// Mean share of time that dies and channels were busy, over the drive's life.
    pub utilisation: Option<[f64; 2]>,
    /// Mean power under the load, where the drive has figures.
    pub watts: Option<f64>,
    /// Full superblocks by valid share, from 0 to 1 in equal classes.
    pub valid_shares: Vec<u32>,
    /// Erases of superblocks, since the factory.
    pub erases: SuperblockErases,
    /// What the load changed.
    #[schemars(extend(
        "propertyNames" = serde_json::json!({ "enum": counter_names() }),
        "required" = counter_names(),
    ))]
    pub counters: BTreeMap<&'static str, u64>,
    /// What a drive with Flexible Data Placement counts, where the host names streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<FdpStatistics>,
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
}

/// Statistics and events of NVMe Flexible Data Placement under the load (FDP Statistics log, FDP
/// Events log). A reclaim unit is a superblock, a handle is a write stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FdpStatistics {
    /// Type of the handles: `persistently isolated` or `initially isolated`.
    pub handles: &'static str,
    /// Number of handles.
    pub handle_count: u32,
    /// Bytes of a reclaim unit.
    pub reclaim_unit_bytes: u64,
    /// Host bytes with metadata written. The model's commands carry no metadata.
    pub host_bytes_with_metadata: u64,
    /// Media bytes written.
    pub media_bytes_written: u64,
    /// Media bytes erased.
    pub media_bytes_erased: u64,
    /// Events "media reallocated": reclaim units whose valid data the drive moved.
    pub media_reallocated: u64,
}

/// How things stood when the load began.
pub(super) struct LoadBaseline {
    pub counters: DriveCounters,
    pub began: Nanos,
    pub busy: Option<[u64; Purpose::COUNT]>,
    pub energy_nj: Option<u128>,
    pub commands: u64,
}

impl Simulation {
    pub(super) fn new<M: LifeDrive>(
        plan: &SimulationPlan,
        machine: &M,
        at_load: &LoadBaseline,
        samples: &[LifeSample],
    ) -> Simulation {
        let config = machine.config();
        let counters = machine.counters();
        let host_bytes = counters.host_bytes_written - at_load.counters.host_bytes_written;
        let seconds = (machine.now().0 - at_load.began.0) as f64 / 1e9;
        let virtual_s = (plan.gear == SimulationGear::Timed).then_some(seconds);
        let energy = machine.energy_nj().zip(at_load.energy_nj);
        let per_second = |amount: f64| virtual_s.filter(|s| *s > 0.0).map(|s| amount / s);
        let (waf_last_quarter, iops_last_quarter) = last_quarter(samples);
        let superblocks = machine.superblocks();
        Simulation {
            format: "ssdlab-simulation",
            version: 1,
            drive: DriveFacts::of(plan, config),
            gear: plan.gear.name(),
            load: plan.load.pattern.to_string(),
            block: plan.load.block,
            read_pct: plan.load.read_pct,
            trim_pct: plan.load.trim_pct,
            write_through: plan.write_through,
            depth: (plan.gear == SimulationGear::Timed).then_some(plan.depth),
            seed: plan.load.seed,
            fill: plan.fill.name(),
            used_pct: plan.used_pct,
            until: plan.until.to_string(),
            stopped: false,
            commands: at_load.commands,
            host_bytes,
            drive_writes: host_bytes as f64 / config.user_bytes as f64,
            waf: counters.waf_since(&at_load.counters, config.geometry().slot_bytes),
            waf_last_quarter,
            virtual_s,
            iops: per_second(at_load.commands as f64),
            iops_last_quarter,
            latency: Vec::new(),
            work: work(machine, at_load),
            utilisation: machine
                .utilisation()
                .map(|(dies, channels)| [dies, channels]),
            watts: energy.and_then(|(now, then)| per_second((now - then) as f64 / 1e9)),
            valid_shares: valid_shares(&superblocks),
            erases: erases(&superblocks),
            counters: changed(counters, &at_load.counters),
            placement: placement(config, counters, &at_load.counters),
            checks: Vec::new(),
        }
    }

    /// Names and reasons of the self-checks that failed.
    pub fn failures(&self) -> Vec<String> {
        failures(&self.checks)
    }
}

fn placement(
    config: &DriveConfig,
    now: &DriveCounters,
    then: &DriveCounters,
) -> Option<FdpStatistics> {
    let reclaim = &config.ftl.reclaim;
    let handles = match reclaim.separation {
        Separation::Hint => "persistently isolated",
        Separation::InitiallyIsolated => "initially isolated",
        Separation::Single | Separation::Lifespan => return None,
    };
    let geometry = config.geometry();
    let reclaim_unit_bytes = geometry.superblock_bytes();
    let of_a_die = reclaim_unit_bytes / u64::from(geometry.die_count);
    Some(FdpStatistics {
        handles,
        handle_count: reclaim.streams,
        reclaim_unit_bytes,
        host_bytes_with_metadata: now.host_bytes_written - then.host_bytes_written,
        media_bytes_written: (now.nand_programs - then.nand_programs) * geometry.unit_bytes(),
        media_bytes_erased: (now.nand_erases - then.nand_erases) * of_a_die,
        media_reallocated: now.superblocks_reclaimed - then.superblocks_reclaimed,
    })
}

/// WAF and IOPS over the last quarter of the load's samples.
fn last_quarter(samples: &[LifeSample]) -> (Option<f64>, Option<f64>) {
    let load = samples.iter().position(|s| s.phase == "load");
    let load = load.map_or(&samples[..0], |first| &samples[first..]);
    let from = load.len() - load.len().div_ceil(4);
    let before = load.get(from.wrapping_sub(1));
    let (mut host, mut nand, mut done, mut time) = (0.0, 0.0, 0.0, 0.0);
    let (mut bytes, mut t_s) = before.map_or((0, 0.0), |s| (s.host_bytes, s.t_s));
    for sample in load[from..].iter().filter(|_| before.is_some()) {
        let written = (sample.host_bytes - bytes) as f64;
        host += written;
        nand += sample.waf.unwrap_or(0.0) * written;
        done += sample.iops.unwrap_or(0.0) * (sample.t_s - t_s);
        time += sample.t_s - t_s;
        (bytes, t_s) = (sample.host_bytes, sample.t_s);
    }
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    (ratio(nand, host), ratio(done, time))
}

fn work<M: LifeDrive>(machine: &M, at_load: &LoadBaseline) -> Vec<PurposeWork> {
    let (now, then) = (machine.counters(), &at_load.counters);
    let slots = |counter: fn(&DriveCounters) -> u64| counter(now) - counter(then);
    let busy = machine.busy_by_purpose().zip(at_load.busy);
    let purpose_work = |purpose: Purpose, slots: u64| PurposeWork {
        purpose: Purpose::NAMES[purpose as usize],
        slots,
        busy_s: busy
            .map(|(now, then)| (now[purpose as usize] - then[purpose as usize]) as f64 / 1e9),
    };
    vec![
        purpose_work(Purpose::Host, slots(|c| c.slots_host)),
        purpose_work(Purpose::Relocation, slots(|c| c.slots_relocated)),
        purpose_work(Purpose::Map, slots(|c| c.slots_map)),
        purpose_work(Purpose::Fold, slots(|c| c.slots_folded)),
        purpose_work(Purpose::Refresh, slots(|c| c.slots_refreshed)),
        purpose_work(Purpose::Parity, slots(|c| c.slots_parity)),
        // Its time is that of the program it fills up.
        PurposeWork {
            purpose: "padding",
            slots: slots(|c| c.slots_padding),
            busy_s: None,
        },
    ]
}

fn valid_shares(superblocks: &[ssdlab_ssd::ftl::SuperblockView]) -> Vec<u32> {
    let mut classes = vec![0; VALID_CLASSES];
    for view in superblocks
        .iter()
        .filter(|view| !view.free && view.slots > 0)
    {
        let class = u64::from(view.valid) * VALID_CLASSES as u64 / u64::from(view.slots);
        classes[(class as usize).min(VALID_CLASSES - 1)] += 1;
    }
    classes
}

fn erases(superblocks: &[ssdlab_ssd::ftl::SuperblockView]) -> SuperblockErases {
    let erases: Vec<u32> = superblocks.iter().map(|view| view.erases).collect();
    let mean = |part: &[u32]| {
        let sum: u64 = part.iter().map(|&n| u64::from(n)).sum();
        sum as f64 / part.len().max(1) as f64
    };
    let per_cell = erases.len().div_ceil(ERASE_CELLS).max(1);
    SuperblockErases {
        min: erases.iter().copied().min().unwrap_or(0),
        mean: mean(&erases),
        max: erases.iter().copied().max().unwrap_or(0),
        per_cell,
        map: erases.chunks(per_cell).map(mean).collect(),
    }
}

fn counter_names() -> Vec<&'static str> {
    let counters = DriveCounters::default().named();
    counters.map(|(name, _)| name).to_vec()
}

fn changed(now: &DriveCounters, then: &DriveCounters) -> BTreeMap<&'static str, u64> {
    let pairs = now.named().into_iter().zip(then.named());
    pairs
        .map(|((name, now), (_, then))| (name, now - then))
        .collect()
}
