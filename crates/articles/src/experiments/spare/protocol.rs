//! Fill, dirty, play back.

use super::bench::{self, DESKTOP_COMPRESS_PCT, SYSTEM_BYTES, Weight};
use super::{SpareSettings, WEIGHTS};
use crate::experiments::host::Host;
use crate::experiments::{Curve, Health, scale};
use ssdlab_base::LabError;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;
use std::sync::atomic::AtomicBool;

/// A trace on a drive in its states.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// `light` or `heavy`.
    pub weight: &'static str,
    /// Reads and writes per second of time in which the drive was at work (a command
    /// outstanding), new: secure erased.
    pub new_iops: f64,
    /// Full of random data, per cent of new.
    pub full_pct: f64,
    /// Full, then a second pass with some random writes, per cent of new.
    pub dirty_pct: f64,
    /// Full, then one user capacity of random writes alone, per cent of new.
    pub scattered_pct: f64,
    /// Write amplification factor of the trace: new, full, dirty.
    pub waf: [f64; 3],
    /// Reads and writes per second of all time, pauses included: full and dirty, per cent of new.
    pub with_pauses_pct: (f64, f64),
    /// The same commands without pauses, the mean depth always outstanding: full and dirty, per
    /// cent of new. What the drive could do at the most hides nothing in pauses.
    pub saturated_pct: (f64, f64),
    /// The traces' dirty percentages one by one, least and most: how far chance goes.
    pub dirty_range_pct: (f64, f64),
    /// Full and dirty as per cent of a new drive with the recorded system on it: there reads are
    /// of data in every state, and only writes can tell the states apart.
    pub of_installed_pct: (f64, f64),
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
    /// Write amplification factor of the second pass, and of random writes alone (the last half).
    pub dirty_waf: [f64; 2],
    /// Superblocks free: new, full, dirty.
    pub free_superblocks: [usize; 3],
    /// Per cent of new by the share of the second pass's bytes that is random, %: light, heavy.
    pub by_share: [Curve; 2],
    /// Per cent of new by how much was written at random and nothing else after the fill, in user
    /// capacities: light, heavy.
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
fn scatter(host: &Host<'_>, count: u64, rng: &mut Rng) -> Vec<Command> {
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
    host: &Host<'_>,
    weight: &Weight,
    settings: &SpareSettings,
    health: &mut Health,
) -> Played {
    let (mut waf, mut given, mut lived) = (0.0, 0, 0);
    let traces = (0..settings.traces).take_while(|_| !host.is_stopped());
    let rates = traces.map(|n| {
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
fn saturate(host: &Host<'_>, weight: &Weight, settings: &SpareSettings) -> f64 {
    let mut fork = host.clone();
    let trace = bench::commands(weight, settings.scale.factor(), settings.seed);
    fork.run(weight.depth_x100.div_ceil(100), trace).iops()
}

/// Rate of traces played one after another, each of as many commands.
pub(super) fn together(rates: &[f64]) -> f64 {
    rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>()
}

/// The second pass: every LBA in order again, with so many of 100 bytes of the pass in random
/// writes of one mapping unit between.
pub(super) fn second_pass(host: &Host<'_>, random_pct: u64, rng: &mut Rng) -> Vec<Command> {
    let slot = u64::from(host.config().shape.slot_bytes);
    let slots = host.config().user_slots();
    let mut all = Vec::new();
    let mut owed = 0;
    for write in fill(host.config().user_bytes, 0) {
        owed += u64::from(write.len) * random_pct;
        all.push(write);
        while owed >= slot * (100 - random_pct) {
            owed -= slot * (100 - random_pct);
            all.push(Command::write(rng.below(slots) * slot, slot as u32));
        }
    }
    all
}

/// A drive in the states that the article compares.
pub(super) struct States<'a> {
    /// Secure erased.
    pub new: Host<'a>,
    pub full: Host<'a>,
    /// After a second pass with so many of 100 bytes at random.
    passes: Vec<(u64, Host<'a>)>,
    /// After so many eighths of the user capacity in random writes alone.
    dirt: Vec<(u64, Host<'a>)>,
    dirty_waf: [f64; 2],
}

/// Of 100 bytes of the second pass, so many are random writes. The article says "some"; of the
/// shares tried this one comes nearest to its 3 points in the heavy trace: calibrated.
const SOME_PCT: u64 = 8;
/// The shares that the result has besides.
const SHARES_PCT: [u64; 8] = [0, 2, 4, 6, 7, SOME_PCT, 9, 10];
/// Random writes alone after the fill, in eighths of the user capacity.
const DIRT: [u64; 4] = [1, 2, 4, 8];

impl<'a> States<'a> {
    /// Every state.
    pub fn of(
        name: &str,
        settings: &SpareSettings,
        stop: &'a AtomicBool,
    ) -> Result<States<'a>, LabError> {
        States::some(name, &[], settings, (&SHARES_PCT, &DIRT), stop)
    }

    /// New, full and dirty, and after so many eighths of random writes alone.
    pub fn some(
        name: &str,
        set: &[&str],
        settings: &SpareSettings,
        (shares, dirt): (&[u64], &[u64]),
        stop: &'a AtomicBool,
    ) -> Result<States<'a>, LabError> {
        let config = settings.scale.apply(&scale::with(name, set)?.config);
        let new = Host::new(config)?.watching(stop);
        let mut full = new.clone();
        full.run(DEPTH, fill(new.config().user_bytes, 0));
        let mut states = States {
            new,
            full,
            passes: Vec::new(),
            dirt: Vec::new(),
            dirty_waf: [f64::NAN; 2],
        };
        for share in shares {
            let mut now = states.full.clone();
            let mut rng = Rng::named(settings.seed, "spare: second pass");
            let writes = second_pass(&now, *share, &mut rng);
            let waf = now.run(DEPTH, writes).waf.unwrap_or(0.0);
            if *share == SOME_PCT {
                states.dirty_waf[0] = waf;
            }
            states.passes.push((*share, now));
        }
        states.scatter(settings.seed, dirt);
        Ok(states)
    }

    fn scatter(&mut self, seed: u64, until: &[u64]) {
        let mut now = self.full.clone();
        let mut rng = Rng::named(seed, "spare: dirty");
        let eighth = now.config().user_slots() / 8;
        let mut eighths = 0;
        for until in until {
            let writes = scatter(&now, (until - eighths) * eighth, &mut rng);
            self.dirty_waf[1] = now.run(DEPTH, writes).waf.unwrap_or(0.0);
            eighths = *until;
            self.dirt.push((eighths, now.clone()));
        }
    }

    /// Full, and after the second pass.
    pub fn dirty(&self) -> &Host<'a> {
        let some = self.passes.iter().find(|(share, _)| *share == SOME_PCT);
        some.map_or(&self.full, |(_, host)| host)
    }

    /// Full, and after the most random writes.
    pub fn scattered(&self) -> &Host<'a> {
        self.dirt.last().map_or(&self.full, |(_, host)| host)
    }

    /// New with the recorded system laid down.
    fn installed(&self, settings: &SpareSettings) -> Host<'a> {
        let mut host = self.new.clone();
        let system = SYSTEM_BYTES / settings.scale.factor() / FILL_BLOCK * FILL_BLOCK;
        let system = system.min(host.config().user_bytes);
        host.run(DEPTH, fill(system, DESKTOP_COMPRESS_PCT));
        host
    }
}

/// The shares that every other experiment needs of the second pass.
pub(super) const SOME: [u64; 1] = [SOME_PCT];

pub(super) fn drive_runs(
    name: &str,
    settings: &SpareSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<DriveRuns, LabError> {
    let states = States::of(name, settings, stop)?;
    let curves = || WEIGHTS.map(|weight| Curve::new(format!("{name}, {}", weight.name)));
    let mut runs = DriveRuns {
        name: name.into(),
        op: states.new.config().nominal_op(),
        kept: Vec::new(),
        dirty_waf: states.dirty_waf,
        free_superblocks: [&states.new, &states.full, states.dirty()].map(Host::free_superblocks),
        by_share: curves(),
        by_dirt: curves(),
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
        states: &States<'_>,
        settings: &SpareSettings,
        health: &mut Health,
    ) {
        let mut play = |host: &Host<'_>| play(host, weight, settings, health);
        let new = play(&states.new);
        let full = play(&states.full);
        let dirty = play(states.dirty());
        let installed = together(&play(&states.installed(settings)).rates);
        let new_rate = together(&new.rates);
        let mut kept = |host: &Host<'_>| 100.0 * together(&play(host).rates) / new_rate;
        let full_pct = 100.0 * together(&full.rates) / new_rate;
        let dirty_pct = 100.0 * together(&dirty.rates) / new_rate;
        for (share, host) in &states.passes {
            let some = *share == SOME_PCT;
            let point = if some { dirty_pct } else { kept(host) };
            self.by_share[index].points.push((*share as f64, point));
        }
        self.by_dirt[index].points.push((0.0, full_pct));
        for (eighths, host) in &states.dirt {
            let point = (*eighths as f64 / 8.0, kept(host));
            self.by_dirt[index].points.push(point);
        }
        let one_by_one = dirty.rates.iter().zip(&new.rates);
        let range = one_by_one.fold((f64::MAX, f64::MIN), |(least, most), (dirty, new)| {
            let pct = 100.0 * dirty / new;
            (least.min(pct), most.max(pct))
        });
        let of_new = |played: &Played| 100.0 * played.rate_with_pauses / new.rate_with_pauses;
        let most = |host: &Host<'_>| saturate(host, weight, settings);
        let [most_new, most_full, most_dirty] =
            [&states.new, &states.full, states.dirty()].map(most);
        let (full_rate, dirty_rate) = (together(&full.rates), together(&dirty.rates));
        let scattered = self.by_dirt[index].points.last();
        self.kept.push(Kept {
            weight: weight.name,
            new_iops: new_rate,
            full_pct,
            dirty_pct,
            scattered_pct: scattered.map_or(f64::NAN, |(_, kept)| *kept),
            waf: [new.waf, full.waf, dirty.waf],
            dirty_range_pct: range,
            with_pauses_pct: (of_new(&full), of_new(&dirty)),
            saturated_pct: (100.0 * most_full / most_new, 100.0 * most_dirty / most_new),
            of_installed_pct: (
                100.0 * full_rate / installed,
                100.0 * dirty_rate / installed,
            ),
        });
    }
}

/// Fills with random data, with an installed system's, and with data as good as empty.
pub(super) fn compress(
    settings: &SpareSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<Vec<Compressed>, LabError> {
    let name = "sandforce-sf1200-120gb";
    let config = settings.scale.apply(&scale::with(name, &[])?.config);
    let mut all = Vec::new();
    for compress_pct in [0, DESKTOP_COMPRESS_PCT, 88] {
        let mut host = Host::new(config.clone())?.watching(stop);
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
