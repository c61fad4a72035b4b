//! Fill, dirty, play back.

use super::bench::{self, DESKTOP_COMPRESS_PCT, SYSTEM_BYTES, Weight};
use super::{SpareSettings, WEIGHTS};
use crate::LabError;
use crate::experiments::host::Host;
use crate::experiments::{Curve, Health, scale};
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;

/// A trace on a drive in its three states.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// `light` or `heavy`.
    pub weight: &'static str,
    /// Reads and writes per second of time in which the drive was at work (a command
    /// outstanding), new, with the recorded system on it.
    pub new_iops: f64,
    /// Full of random data, per cent of new.
    pub full_pct: f64,
    /// Full, then written at random all over, per cent of new.
    pub dirty_pct: f64,
    /// Write amplification factor of the trace: new, full, dirty.
    pub waf: [f64; 3],
    /// Reads and writes per second of all time, pauses included: full and dirty, per cent of new.
    pub with_pauses_pct: (f64, f64),
    /// The same commands without pauses, the mean depth always outstanding: full and dirty, per
    /// cent of new. What the drive could do at the most hides nothing in pauses.
    pub saturated_pct: (f64, f64),
    /// The traces' dirty percentages one by one, least and most: how far chance goes.
    pub dirty_range_pct: (f64, f64),
}

/// The same against a new drive that holds nothing: reads of addresses never written need no
/// flash there, so everything after looks worse.
#[derive(Clone, Debug, PartialEq)]
pub struct Bare {
    /// `light` or `heavy`.
    pub weight: &'static str,
    /// Full, per cent of an empty new drive.
    pub full_pct: f64,
    /// Dirty, per cent of an empty new drive.
    pub dirty_pct: f64,
}

/// All runs of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveRuns {
    /// Name in the catalogue.
    pub name: String,
    /// OP = (raw - user) / user.
    pub op: f64,
    /// By weight: light, heavy.
    pub kept: Vec<Kept>,
    /// By weight: light, heavy.
    pub bare: Vec<Bare>,
    /// Write amplification factor of the random writes that make it dirty, their second half.
    pub dirty_waf: f64,
    /// Superblocks free: new with the system, full, dirty.
    pub free_superblocks: [usize; 3],
    /// Per cent of new by how much was written at random after the fill, in user capacities:
    /// light, heavy.
    pub by_dirt: [Curve; 2],
}

/// A sequential fill of every LBA of the SandForce drive of 13 %.
#[derive(Clone, Debug, PartialEq)]
pub struct Compressed {
    /// Per cent that a compressor takes off the data.
    pub compress_pct: u8,
    /// Flash that holds data or parity afterwards, as a share of all flash.
    pub flash_used: f64,
    /// NAND bytes programmed / host bytes written, parity included.
    pub waf: f64,
}

const FILL_BLOCK: u64 = 128 * 1024;
const DEPTH: u32 = 32;

/// `bytes` from the front, in blocks of 128 KiB.
fn fill(bytes: u64, compress_pct: u8) -> impl Iterator<Item = Command> {
    (0..bytes.div_ceil(FILL_BLOCK)).map(move |block| {
        let offset = block * FILL_BLOCK;
        Command {
            compress_pct,
            ..Command::write(offset, FILL_BLOCK.min(bytes - offset) as u32)
        }
    })
}

/// Writes of one mapping unit each with random data, all over the drive.
fn scatter(host: &Host, count: u64, rng: &mut Rng) -> Vec<Command> {
    let slot = host.config().shape.slot_bytes;
    let slots = host.config().user_slots();
    let at = |rng: &mut Rng| rng.below(slots) * u64::from(slot);
    (0..count).map(|_| Command::write(at(rng), slot)).collect()
}

/// All traces of a weight, each played on a fork.
pub(super) struct Played {
    /// Reads and writes a second of time at work, trace by trace.
    pub rates: Vec<f64>,
    /// The same of all time, pauses included, over all traces.
    rate_with_pauses: f64,
    /// Mean write amplification factor.
    waf: f64,
}

pub(super) fn play(
    host: &Host,
    weight: &Weight,
    settings: &SpareSettings,
    health: &mut Health,
) -> Played {
    let (mut waf, mut given, mut lived) = (0.0, 0, 0);
    let rates = (0..settings.traces).map(|n| {
        let mut fork = host.clone();
        let seed = settings.seed.wrapping_add(u64::from(n));
        let trace = bench::commands(weight, settings.scale.factor(), seed);
        let before = fork.counters().clone();
        let mut at_work = 0;
        for burst in bench::bursts(weight, &trace, seed) {
            at_work += fork.burst(&burst.commands).0;
            fork.rest(burst.pause);
            lived += burst.pause.0;
        }
        given += trace.len();
        lived += at_work;
        waf += fork.waf_since(&before).unwrap_or(0.0) / f64::from(settings.traces);
        health.add(&host.config().name, &fork);
        trace.len() as f64 * 1e9 / at_work as f64
    });
    let rates = rates.collect();
    Played {
        rates,
        rate_with_pauses: given as f64 * 1e9 / lived as f64,
        waf,
    }
}

/// Reads and writes a second of one trace without pauses.
fn saturate(host: &Host, weight: &Weight, settings: &SpareSettings, health: &mut Health) -> f64 {
    let mut fork = host.clone();
    let trace = bench::commands(weight, settings.scale.factor(), settings.seed);
    let span = fork.run(weight.depth_x100.div_ceil(100), trace);
    health.add(&host.config().name, &fork);
    span.iops()
}

/// Rate of traces played one after another, each of as many commands.
pub(super) fn together(rates: &[f64]) -> f64 {
    rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>()
}

/// A drive in the states that the article compares.
pub(super) struct States {
    pub empty: Host,
    pub new: Host,
    pub full: Host,
    /// After so many user capacities of random writes; the last is the dirty drive.
    dirt: Vec<(f64, Host)>,
    dirty_waf: f64,
}

/// Random writes after the fill, in eighths of the user capacity, at which the trace is played.
const DIRT: [u64; 4] = [1, 2, 4, 8];

impl States {
    pub fn of(name: &str, set: &[&str], settings: &SpareSettings) -> Result<States, LabError> {
        let config = settings.scale.apply(&scale::with(name, set)?.config);
        let empty = Host::new(config)?;
        let mut new = empty.clone();
        let user = empty.config().user_bytes;
        let system = SYSTEM_BYTES / settings.scale.factor() / FILL_BLOCK * FILL_BLOCK;
        new.run(DEPTH, fill(system.min(user), DESKTOP_COMPRESS_PCT));
        let mut full = empty.clone();
        full.run(DEPTH, fill(user, 0));
        let mut now = full.clone();
        let mut rng = Rng::named(settings.seed, "spare: dirty");
        let eighth = now.config().user_slots() / 8;
        let (mut eighths, mut dirty_waf) = (0, 0.0);
        let mut dirt = Vec::new();
        for until in DIRT {
            let writes = scatter(&now, (until - eighths) * eighth, &mut rng);
            dirty_waf = now.run(DEPTH, writes).waf.unwrap_or(0.0);
            eighths = until;
            dirt.push((until as f64 / 8.0, now.clone()));
        }
        Ok(States {
            empty,
            new,
            full,
            dirt,
            dirty_waf,
        })
    }

    pub fn dirty(&self) -> &Host {
        self.dirt.last().map_or(&self.full, |(_, host)| host)
    }
}

pub(super) fn drive_runs(
    name: &str,
    settings: &SpareSettings,
    health: &mut Health,
) -> Result<DriveRuns, LabError> {
    let states = States::of(name, &[], settings)?;
    let mut runs = DriveRuns {
        name: name.into(),
        op: states.new.config().nominal_op(),
        kept: Vec::new(),
        bare: Vec::new(),
        dirty_waf: states.dirty_waf,
        free_superblocks: [&states.new, &states.full, states.dirty()].map(Host::free_superblocks),
        by_dirt: WEIGHTS.map(|weight| Curve::new(format!("{name}, {}", weight.name))),
    };
    for (index, weight) in WEIGHTS.iter().enumerate() {
        runs.add(index, weight, &states, settings, health);
    }
    Ok(runs)
}

impl DriveRuns {
    fn add(
        &mut self,
        index: usize,
        weight: &Weight,
        states: &States,
        settings: &SpareSettings,
        health: &mut Health,
    ) {
        let new = play(&states.new, weight, settings, health);
        let full = play(&states.full, weight, settings, health);
        let empty = together(&play(&states.empty, weight, settings, health).rates);
        let new_rate = together(&new.rates);
        let curve = &mut self.by_dirt[index].points;
        curve.push((0.0, 100.0 * together(&full.rates) / new_rate));
        let mut dirty = None;
        for (written, host) in &states.dirt {
            let played = play(host, weight, settings, health);
            curve.push((*written, 100.0 * together(&played.rates) / new_rate));
            dirty = Some(played);
        }
        let dirty = dirty.unwrap_or(Played {
            rates: full.rates.clone(),
            ..full
        });
        let one_by_one = dirty.rates.iter().zip(&new.rates);
        let range = one_by_one.fold((f64::MAX, f64::MIN), |(least, most), (dirty, new)| {
            let pct = 100.0 * dirty / new;
            (least.min(pct), most.max(pct))
        });
        let of_new = |played: &Played| 100.0 * played.rate_with_pauses / new.rate_with_pauses;
        let mut most = |host: &Host| saturate(host, weight, settings, health);
        let [most_new, most_full, most_dirty] =
            [&states.new, &states.full, states.dirty()].map(&mut most);
        let (full_rate, dirty_rate) = (together(&full.rates), together(&dirty.rates));
        self.kept.push(Kept {
            weight: weight.name,
            new_iops: new_rate,
            full_pct: 100.0 * full_rate / new_rate,
            dirty_pct: 100.0 * dirty_rate / new_rate,
            waf: [new.waf, full.waf, dirty.waf],
            dirty_range_pct: range,
            with_pauses_pct: (of_new(&full), of_new(&dirty)),
            saturated_pct: (100.0 * most_full / most_new, 100.0 * most_dirty / most_new),
        });
        self.bare.push(Bare {
            weight: weight.name,
            full_pct: 100.0 * full_rate / empty,
            dirty_pct: 100.0 * dirty_rate / empty,
        });
    }
}

/// Fills with random data, with an installed system's, and with data as good as empty.
pub(super) fn compress(
    settings: &SpareSettings,
    health: &mut Health,
) -> Result<Vec<Compressed>, LabError> {
    let name = "sandforce-sf1200-120gb";
    let config = settings.scale.apply(&scale::with(name, &[])?.config);
    let mut all = Vec::new();
    for compress_pct in [0, DESKTOP_COMPRESS_PCT, 88] {
        let mut host = Host::new(config.clone())?;
        let user = host.config().user_bytes;
        let span = host.run(DEPTH, fill(user, compress_pct));
        let (valid, slots) = host.valid_slots();
        health.add(name, &host);
        // Every die of a row but one holds data: parity is a share of what is used.
        let dies = f64::from(config.shape.channel_count * config.shape.dies_per_channel);
        all.push(Compressed {
            compress_pct,
            flash_used: valid as f64 / slots as f64 * dies / (dies - 1.0),
            waf: span.waf.unwrap_or(0.0),
        });
    }
    Ok(all)
}
