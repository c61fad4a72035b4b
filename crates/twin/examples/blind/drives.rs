//! Drives drawn from seeds, with their configuration hidden and noise on their times.

use ssdlab_base::LabError;
use ssdlab_bench::device::{
    Counters, ModelledTarget, Target, TargetCompletion, TargetFacts, TargetKind,
};
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_ssd::config::{
    DriveConfig, HostConfig, MappingKind, NandConfig, NandTiming, Pace, ReclaimConfig, SlcConfig,
    SlcFull, SpareArea,
};
use ssdlab_ssd::ftl::policies::VictimChoice;
use ssdlab_ssd::geometry::{Geometry, Shape};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos};

/// Raw bytes of a drive: what its simulation costs.
const RAW: (u64, u64) = (160 << 20, 400 << 20);
/// Sigma of the noise on times.
const NOISE: f64 = 0.02;
/// Time after which the clock's own error is drawn again, ns.
const STRETCH: u64 = 100_000_000;

fn unit(rng: &mut Rng) -> f64 {
    (rng.below(1 << 30) as f64 + 0.5) / (1 << 30) as f64
}

fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}

fn log_between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(unit(rng))
}

fn shape(rng: &mut Rng) -> Shape {
    let bits = 2 + rng.below(2) as u32;
    let mut shape = Shape::default();
    shape.channel_count = 1 << (1 + rng.below(2));
    shape.dies_per_channel = 1 << rng.below(2);
    shape.planes_per_die = 1 << rng.below(2);
    shape.blocks_per_plane = 300 + rng.below(500) as u32;
    shape.page_bytes = if bits == 2 { 8192 } else { 16384 };
    shape.slot_bytes = 4096;
    shape.bits_per_cell = bits;
    let raw = log_between(rng, RAW.0 as f64, RAW.1 as f64);
    let row = u64::from(shape.channel_count * shape.dies_per_channel * shape.planes_per_die)
        * u64::from(shape.page_bytes)
        * u64::from(bits);
    let lines = raw / (u64::from(shape.blocks_per_plane) * row) as f64;
    shape.pages_per_block = bits * (lines.round() as u32).max(2);
    shape
}

fn nand(rng: &mut Rng, bits: u32) -> NandConfig {
    let mut between = |low: u64, high: u64| low + rng.below(high - low + 1);
    let program: &[(u64, u64)] = match bits {
        2 => &[(400, 700), (1_200, 2_000)],
        _ => &[(500, 900), (1_500, 2_400), (2_500, 4_000)],
    };
    let program = program.iter().map(|(low, high)| between(*low, *high));
    let program = program.map(Nanos::from_micros).collect();
    let read = vec![Nanos::from_micros(between(50, 90)); bits as usize];
    let slc_program = Nanos::from_micros(between(180, 350));
    let erase = Nanos::from_micros(between(2_000, 6_000));
    let channel_rate = 1_000_000 * between(200, 800);
    let mut timing = NandTiming::new(read, program, erase, channel_rate);
    timing.slc_read = Nanos::from_micros(30);
    timing.slc_program = slc_program;
    NandConfig::new(timing)
}

fn host(rng: &mut Rng) -> HostConfig {
    let pcie = rng.below(2) == 1;
    let mut between = |low: u64, high: u64| low + rng.below(high - low + 1);
    let (megabytes, overhead) = if pcie {
        (between(2_500, 3_400), between(1_500, 3_500))
    } else {
        (between(500, 560), between(9_000, 14_000))
    };
    let mut host = HostConfig::default();
    host.queue_depth = if pcie { 1024 } else { 32 };
    host.link_bytes_per_second = 1_000_000 * megabytes;
    host.full_duplex = pcie;
    host.command_overhead = Nanos(overhead);
    host.write_overhead = Nanos(overhead);
    host.moved_slot = Nanos(overhead * between(0, 2));
    host.latency = Nanos::from_micros(between(5, 30));
    host
}

fn reclaim(rng: &mut Rng) -> ReclaimConfig {
    let mut reclaim = ReclaimConfig::default();
    reclaim.victim = match rng.below(10) {
        0 => VictimChoice::new("cost-benefit", 0),
        1 => VictimChoice::new("d-choices", 10),
        _ => VictimChoice::greedy(),
    };
    if rng.below(5) == 0 {
        reclaim.pace = Pace::Whole;
    }
    reclaim.free_superblocks_low = 3 + rng.below(3) as u32;
    reclaim.idle_free_superblocks = if rng.below(3) == 0 { 8 } else { 0 };
    reclaim.shared_frontier = rng.below(5) < 2;
    if rng.below(3) == 0 {
        reclaim.spare = SpareArea::Fixed;
    }
    reclaim
}

fn slc(rng: &mut Rng, superblocks: u32) -> SlcConfig {
    let kind = rng.below(5);
    let share = log_between(rng, 0.02, 0.08);
    let fixed = (share * f64::from(superblocks)) as u32;
    let dynamic = (log_between(rng, 0.2, 0.7) * f64::from(superblocks)) as u32;
    let full = if rng.below(3) == 0 {
        SlcFull::Fold
    } else {
        SlcFull::Direct
    };
    let config = |superblocks, dynamic_above_free| {
        let mut slc = SlcConfig::default();
        slc.superblocks = superblocks;
        slc.dynamic_above_free = dynamic_above_free;
        slc.full = full;
        slc
    };
    match kind {
        0 | 1 => config(0, 0),
        2 => config(fixed, 0),
        3 => config(0, dynamic),
        _ => config(fixed, dynamic),
    }
}

/// Superblocks of the whole pSLC cache with `free` native superblocks: its own, and those opened in
/// SLC mode while enough are free, and while a fixed spare area (with the data that the cache's own
/// ones hold) is not used up by data that takes `bits` times its space. A cache of its own that
/// folds never opens others.
fn slc_superblocks(config: &DriveConfig, superblock: f64, free: f64) -> f64 {
    let (slc, bits) = (&config.ftl.slc, f64::from(config.shape.bits_per_cell));
    let own = f64::from(slc.superblocks);
    if slc.dynamic_above_free == 0 || (slc.full == SlcFull::Fold && slc.superblocks > 0) {
        return own;
    }
    let mut opened = (free - f64::from(slc.dynamic_above_free)).max(0.0);
    if config.ftl.reclaim.spare == SpareArea::Fixed {
        let spare = (config.geometry().raw_bytes() - config.user_bytes) as f64 / superblock;
        opened = opened.min((spare + own / bits) / (1.0 - 1.0 / bits));
    }
    own + opened
}

/// What is true of a drive.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Seed.
    pub seed: u64,
    /// Write buffer, bytes.
    pub buffer: f64,
    /// Part of it that a rested drive may still hold back.
    pub held: f64,
    /// Acknowledged writes survive a power cut.
    pub protected: bool,
    /// pSLC cache of an emptied drive, bytes; 0: none.
    pub slc: f64,
    /// The same on a full drive.
    pub slc_full: f64,
    /// Effective over-provisioning.
    pub spare: f64,
    /// Superblock, bytes.
    pub superblock: f64,
    /// Relocated data shares the host's open superblock.
    pub shared: bool,
    /// Bytes of addresses whose map fits in DRAM; `None`: all.
    pub map_span: Option<f64>,
    /// The configuration.
    pub config: DriveConfig,
}

/// A drive without its capacity and its map.
fn parts(rng: &mut Rng, seed: u64) -> DriveConfig {
    let shape = shape(rng);
    let bits = shape.bits_per_cell;
    let slc = slc(rng, shape.blocks_per_plane);
    let buffer = (log_between(rng, 4.0, 32.0)) as u64 * (128 << 10);
    let protected = rng.below(2) == 0;
    let mut config = DriveConfig::new(format!("blind-{seed}"), shape, nand(rng, bits), 0);
    config.ftl.reclaim = reclaim(rng);
    config.ftl.slc = slc;
    config.ftl.journal.entry_bytes = 8;
    config.ftl.journal.commit_map_programs = 1 + rng.below(2) as u32;
    config.ftl.idle_after = Nanos::from_millis(200 + rng.below(800));
    config.buffer.bytes = buffer;
    config.buffer.hold_bytes = if rng.below(4) == 0 { buffer / 4 } else { 0 };
    config.buffer.protected = protected;
    config.host = host(rng);
    config
}

/// The drive of a seed.
pub fn drawn(seed: u64) -> Truth {
    let rng = &mut Rng::named(seed, "blind drive");
    let mut config = parts(rng, seed);
    let shape = config.shape;
    let bits = shape.bits_per_cell;
    let protected = config.buffer.protected;
    let cached = rng.below(8) == 0;
    let part = 4 << rng.below(2);
    let wanted = log_between(rng, 0.06, 0.5);
    let step = 128 << 10;
    let raw = Geometry::new(shape).raw_bytes();
    config.user_bytes = raw / step * step;
    while config.user_bytes > step && (config.effective_op() < wanted || config.validate().is_err())
    {
        config.user_bytes -= step;
    }
    let mut map_span = None;
    if cached {
        config.ftl.mapping.kind = MappingKind::Cached;
        config.ftl.mapping.entry_bytes = 4;
        config.ftl.mapping.dram_bytes = config.user_slots() * 4 / part;
        map_span = Some(config.user_bytes as f64 / part as f64);
        while config.effective_op() < wanted || config.validate().is_err() {
            config.user_bytes -= step;
        }
    }
    let geometry = config.geometry();
    // A protected buffer need not let go of what it holds back, even for a flush.
    let held = if protected {
        config.buffer.hold_bytes
    } else {
        0
    };
    let superblock = f64::from(geometry.slots_per_superblock) * 4096.0;
    let native = f64::from(shape.blocks_per_plane - config.ftl.slc.superblocks);
    let free = native - config.user_bytes as f64 / superblock;
    Truth {
        seed,
        buffer: config.buffer.bytes as f64,
        held: held as f64,
        protected,
        slc: slc_superblocks(&config, superblock, native) * superblock / f64::from(bits),
        slc_full: slc_superblocks(&config, superblock, free) * superblock / f64::from(bits),
        spare: config.effective_op(),
        superblock,
        // Folded host data goes where relocated data goes.
        shared: config.ftl.reclaim.shared_frontier
            || (config.ftl.slc.full == SlcFull::Fold && config.ftl.slc.superblocks > 0),
        map_span,
        config,
    }
}

/// A drive that was written in order until every block was in use.
fn lived(config: &DriveConfig) -> Result<Drive, LabError> {
    let new = new_drive(config)?;
    if config.ftl.slc.dynamic_above_free > 0 {
        // As after a format: the model frees trimmed superblocks only when it needs them, and a
        // dynamic cache needs free ones.
        return Ok(new);
    }
    let mut host = Devices::one(new);
    let chunk = 128 << 10;
    let (count, places) = (
        config.geometry().raw_bytes() / chunk * 5 / 4,
        config.user_bytes / chunk,
    );
    let mut given = 0;
    host.keep(32, Nanos::MAX, &mut || {
        given += 1;
        (given <= count).then(|| Command::write(given % places * chunk, chunk as u32))
    });
    host.settle();
    Ok(host.into_drive())
}

/// A drive behind the block interface: no configuration, no counters, noise on its times.
pub struct Hidden {
    inside: ModelledTarget,
    rng: Rng,
    /// The host's clock at `from` of the drive's.
    shown: f64,
    from: u64,
    error: f64,
}

impl Hidden {
    /// The drive of `truth` after a life: every block was programmed before.
    ///
    /// # Errors
    /// When the drive drawn is impossible.
    pub fn used(truth: &Truth) -> Result<Hidden, LabError> {
        let pcie = truth.config.host.full_duplex;
        let facts = TargetFacts {
            capacity: truth.config.user_bytes,
            interface: Some(if pcie { "nvme" } else { "sata" }.into()),
            ..TargetFacts::unknown("hidden".into(), TargetKind::BlockDevice)
        };
        let drive = lived(&truth.config)?;
        Ok(Hidden {
            inside: ModelledTarget::around(drive, facts),
            rng: Rng::named(truth.seed, "noise"),
            shown: 0.0,
            from: 0,
            error: 1.0,
        })
    }

    /// The host's clock at a time of the drive's.
    fn clock(&mut self, time: Nanos) -> Nanos {
        while time.0 > self.from + STRETCH {
            self.shown += STRETCH as f64 * self.error;
            self.from += STRETCH;
            self.error = (NOISE * normal(&mut self.rng)).exp();
        }
        Nanos((self.shown + (time.0.saturating_sub(self.from)) as f64 * self.error) as u64)
    }
}

impl Target for Hidden {
    fn facts(&self) -> &TargetFacts {
        self.inside.facts()
    }

    fn depth_max(&self) -> u32 {
        self.inside.depth_max()
    }

    fn now(&mut self) -> Nanos {
        let now = self.inside.now();
        self.clock(now)
    }

    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        self.inside.submit(tag, command)
    }

    fn reap(
        &mut self,
        until: Option<Nanos>,
        done: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let wait = until.map(|until| {
            let now = self.now();
            self.inside.now() + until.saturating_sub(now) + Nanos(1)
        });
        let from = done.len();
        self.inside.reap(wait, done)?;
        for one in &mut done[from..] {
            let latency = one.done.saturating_sub(one.submitted).0 as f64;
            let noisy = latency * (NOISE * normal(&mut self.rng)).exp();
            let at = self.clock(one.done);
            one.done = at;
            one.submitted = at.saturating_sub(Nanos(noisy as u64));
        }
        Ok(())
    }

    fn counters(&mut self) -> Counters {
        Counters::default()
    }
}
