//! Drives with a planted fault, to see whether the fault is the one that is named.
//!
//! A healthy drive is drawn from a seed, and one cause is turned on until it makes some load take
//! at least twice as long. The ranges of healthy drives are those of published data sheets of SATA
//! and PCIe drives with a protected buffer; thresholds of the diagnosis were not tuned to them.

use super::load::{AblationLoad, measure};
use super::state::steady;
use crate::cause::Cause;
use ssdlab_base::LabError;
use ssdlab_ssd::config::{
    Curve, HeatConfig, HostConfig, MappingConfig, MappingKind, NandConfig, NandTiming, SlcConfig,
    SlcFull, ThrottleStep, UNITY, WearConfig,
};
use ssdlab_ssd::geometry::{Geometry, Shape};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Drive, DriveConfig, Nanos};

/// Faults that can be planted: two of them are [`Cause::Map`].
pub const FAULTS: [(&str, Cause); 14] = [
    ("volatile buffer", Cause::VolatileBuffer),
    ("little spare", Cause::Reclaim),
    ("pSLC cache full", Cause::SlcFull),
    ("table of the map not in DRAM", Cause::Map),
    ("tree of the map fragmented", Cause::Map),
    ("slow link", Cause::Link),
    ("slow controller", Cause::Controller),
    ("latency", Cause::Latency),
    ("one command at a time", Cause::QueueDepth),
    ("worn media", Cause::Wear),
    ("reads in order", Cause::ReadsInOrder),
    ("slow cells", Cause::SlowCells),
    ("no airflow", Cause::Throttling),
    ("write cache off", Cause::WriteCacheOff),
];

/// Steps by which a fault is made stronger until it shows.
const STRONGER: u32 = 5;
/// Draw of a plane that reads, programs or erases, mW: 25 mA at 3.3 V, the currents of SimpleSSD.
const PLANE_MW: u64 = 82;
/// Times as long that some load takes with a fault.
const SLOWED: f64 = 2.0;

/// A healthy drive.
pub fn healthy(seed: u64) -> DriveConfig {
    let rng = &mut Rng::named(seed, "healthy drive");
    let mut between = |low: u64, high: u64| low + rng.below(high - low + 1);
    let pcie = between(0, 1) == 1;
    let bits = between(2, 3) as u32;
    let shape = shape(bits, &mut between);
    let program = match bits {
        2 => vec![between(400, 700), between(1_200, 2_000)],
        _ => vec![
            between(500, 900),
            between(1_500, 2_400),
            between(2_500, 4_000),
        ],
    };
    let read = between(50, 90);
    let spare = between(22, 45);
    let mut timing = NandTiming::new(
        vec![Nanos::from_micros(read); bits as usize],
        program.into_iter().map(Nanos::from_micros).collect(),
        Nanos::from_millis(3),
        1_000_000 * between(200, 600),
    );
    timing.slc_read = Nanos::from_micros(30);
    timing.slc_program = Nanos::from_micros(300);
    let raw = Geometry::new(shape).raw_bytes();
    let user_bytes = raw * 100 / (100 + spare) / (128 << 10) * (128 << 10);
    let name = format!("healthy-{seed}");
    let mut config = DriveConfig::new(name, shape, NandConfig::new(timing), user_bytes);
    config.buffer.bytes = between(4, 16) << 20;
    config.buffer.protected = true;
    config.host = host(pcie, &mut between);
    config
}

/// A healthy drive of another kind: without power-loss protection, with 7 to 12 % of spare, some
/// with a pSLC cache, some without DRAM for the whole map.
pub fn healthy_client(seed: u64) -> DriveConfig {
    let mut config = healthy(seed);
    config.name = format!("healthy-client-{seed}");
    let rng = &mut Rng::named(seed, "healthy client drive");
    config.buffer.protected = false;
    config.buffer.bytes = (1 + rng.below(4)) << 20;
    if rng.below(2) == 1 {
        config.ftl.slc = SlcConfig::default();
        config.ftl.slc.superblocks = 4 + rng.below(4) as u32;
        config.ftl.slc.full = SlcFull::Fold;
    }
    if rng.below(3) == 0 {
        map(&mut config, MappingKind::Cached, 4, 32);
    }
    config.user_bytes = with_spare(&config, 0.07 + 0.01 * rng.below(6) as f64);
    config
}

fn shape(bits: u32, between: &mut impl FnMut(u64, u64) -> u64) -> Shape {
    let mut shape = Shape::default();
    shape.channel_count = 1 << between(1, 3);
    shape.dies_per_channel = 1 << between(0, 1);
    shape.planes_per_die = 2;
    shape.blocks_per_plane = 160;
    shape.pages_per_block = 12 * bits;
    shape.page_bytes = if bits == 2 { 8192 } else { 16384 };
    shape.slot_bytes = 4096;
    shape.bits_per_cell = bits;
    shape
}

fn host(pcie: bool, between: &mut impl FnMut(u64, u64) -> u64) -> HostConfig {
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
    host.moved_slot = Nanos(overhead * between(1, 2));
    host.latency = Nanos::from_micros(between(5, 30));
    host
}

/// Turns a fault on; `strength` from 1.
fn plant(config: &mut DriveConfig, fault: usize, strength: u32) {
    let more = u64::from(strength);
    match FAULTS[fault].0 {
        "volatile buffer" => {
            config.buffer.protected = false;
            config.ftl.journal.commit_map_programs = strength;
        }
        "little spare" => config.user_bytes = with_spare(config, 0.07 - 0.01 * f64::from(strength)),
        "pSLC cache full" => {
            config.ftl.slc = SlcConfig::default();
            config.ftl.slc.superblocks = 6;
            config.ftl.slc.full = SlcFull::Fold;
            config.user_bytes = with_spare(config, 0.25);
        }
        "table of the map not in DRAM" => map(config, MappingKind::Cached, 4, 32 << strength),
        "tree of the map fragmented" => map(config, MappingKind::Tree, 16, 8 << strength),
        "slow link" => config.host.link_bytes_per_second /= 2 * more,
        "slow controller" => {
            config.host.command_overhead.0 *= 2 * more;
            config.host.write_overhead = config.host.command_overhead;
        }
        "latency" => config.host.latency = Nanos::from_micros(150 * more),
        "one command at a time" => config.host.queue_depth = (8 >> strength).max(1),
        "worn media" => {
            config.wear = Some(worn(strength));
            config.ftl.reclaim.free_superblocks_low = 4;
        }
        "reads in order" => {
            config.nand.read_first = false;
            config.buffer.bytes <<= strength - 1;
        }
        "slow cells" => slow_cells(config, 1 + more),
        "write cache off" => {
            config.buffer.protected = false;
            config.buffer.write_cache = false;
            config.ftl.journal.commit_map_programs = strength;
        }
        _ => warm(config, more),
    }
}

fn map(config: &mut DriveConfig, kind: MappingKind, entry_bytes: u32, part: u64) {
    let whole = config.user_slots() * u64::from(entry_bytes);
    config.ftl.mapping = MappingConfig::default();
    config.ftl.mapping.kind = kind;
    config.ftl.mapping.entry_bytes = entry_bytes;
    config.ftl.mapping.dram_bytes = whole / part;
    config.user_bytes = with_spare(config, 0.25);
}

/// Energy of the operations by the power of a plane at work, and air that carries off less of it
/// the stronger the fault is.
fn warm(config: &mut DriveConfig, more: u64) {
    let planes = u64::from(config.shape.planes_per_die);
    let energy = |time: &Nanos| planes * PLANE_MW * time.0 / 1_000_000;
    let timing = &config.nand.timing;
    for (kind, time) in timing.program.iter().enumerate() {
        config.energy.program_nj[kind] = energy(time);
    }
    for (kind, time) in timing.read.iter().enumerate() {
        config.energy.read_nj[kind] = energy(time);
    }
    config.energy.erase_nj = energy(&timing.erase);
    config.energy.idle_mw = 1_000;
    let dies = config.geometry().die_count;
    let steps = [(70, dies / 2), (75, dies / 4), (80, 1)];
    let steps = steps.map(|(at_c, programs)| ThrottleStep::new(at_c, programs.max(1)));
    let mut heat = HeatConfig::new(9_000, 8_000 + 6_000 * more, steps);
    heat.ambient_c = 35;
    heat.hysteresis_k = 3;
    heat.warning_c = 75;
    heat.overheated_c = 80;
    config.heat = Some(heat);
}

fn slow_cells(config: &mut DriveConfig, times: u64) {
    let timing = &mut config.nand.timing;
    for time in timing.read.iter_mut().chain(&mut timing.program) {
        time.0 *= times;
    }
}

/// User bytes that leave `effective` as effective over-provisioning, or the least possible.
fn with_spare(config: &DriveConfig, effective: f64) -> u64 {
    let step = 128 << 10;
    let mut config = config.clone();
    let raw = Geometry::new(config.shape).raw_bytes();
    config.user_bytes = raw / step * step;
    while config.user_bytes > step
        && (config.effective_op() < effective || config.validate().is_err())
    {
        config.user_bytes -= step;
    }
    config.user_bytes
}

/// Media whose reads need `retries` retries, programmed at the end of its life.
fn worn(retries: u32) -> WearConfig {
    let rber = 1_000_000_000;
    let flat = |value: u64| Curve::new(1, move |_| value);
    let mut correctable = vec![rber / 2; retries as usize];
    correctable.push(rber * 100);
    let mut wear = WearConfig::tiny();
    wear.cycles_rated = 3_000;
    wear.rber_cycles = flat(rber);
    wear.rber_retention = flat(0);
    wear.retention_hours = flat(UNITY);
    wear.rber_disturb = flat(0);
    wear.disturb_reads = flat(UNITY);
    wear.block_spread = vec![UNITY as u32];
    wear.page_spread = vec![UNITY as u32];
    wear.correctable = correctable;
    wear.retry = Nanos::from_micros(100);
    wear.refresh_above = rber * 90;
    wear.patrol_pages = 0;
    wear.patrol_hours = 0;
    wear.retire_above = rber * 95;
    wear.failure_cycles = vec![1_000_000];
    wear.reserve_blocks = 0;
    wear.program_time = flat(UNITY);
    wear.erase_time = flat(2 * UNITY);
    wear
}

/// The drive of a seed in its steady state, with the faults of these indices of [`FAULTS`], each
/// strong enough to make some load take twice as long on its own. `None` where a fault does not,
/// however strong.
///
/// # Errors
/// When the drive drawn is impossible.
pub fn planted(seed: u64, faults: &[usize]) -> Result<Option<Drive>, LabError> {
    let mut config = healthy(seed);
    let sound = steady(&config, seed)?;
    for &fault in faults {
        let Some((strength, drive)) = shows(&sound, seed, fault)? else {
            return Ok(None);
        };
        if faults.len() == 1 {
            return Ok(Some(drive));
        }
        plant(&mut config, fault, strength);
    }
    if faults.is_empty() || config.validate().is_err() {
        Ok(faults.is_empty().then_some(sound))
    } else {
        Ok(Some(steady(&config, seed)?))
    }
}

/// The least strength of a fault that makes some load take twice as long, and the drive with it.
fn shows(sound: &Drive, seed: u64, fault: usize) -> Result<Option<(u32, Drive)>, LabError> {
    for strength in 1..=STRONGER {
        let mut faulty = sound.config().clone();
        faulty.name = format!("planted-{seed}");
        plant(&mut faulty, fault, strength);
        if faulty.validate().is_err() {
            continue;
        }
        let drive = steady(&faulty, seed)?;
        let is_slow = |load: AblationLoad| {
            let ns = |drive| measure(drive, load, &[], seed).ns;
            ns(&drive) >= SLOWED * ns(sound)
        };
        if AblationLoad::ALL.into_iter().any(is_slow) {
            return Ok(Some((strength, drive)));
        }
    }
    Ok(None)
}
