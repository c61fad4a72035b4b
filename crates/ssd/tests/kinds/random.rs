//! Random drives: all parameters are drawn until the drive is possible.

use ssdlab_ssd::config::{
    DriveConfig, EnergyConfig, FtlConfig, HostConfig, MappingConfig, MappingKind, Pace,
    ReclaimConfig, SlcFull, SpareArea,
};
use ssdlab_ssd::ftl::policies::{SEPARATIONS, Separation, VICTIM_POLICIES, VictimChoice};
use ssdlab_ssd::geometry::Shape;
use ssdlab_ssd::nand::{EndOfLife, NandConfig, NandTiming, Suspend, WearConfig};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::units::Nanos;

/// Kinds of map that are drawn.
const MAPPINGS: [MappingKind; 4] = [
    MappingKind::Cached,
    MappingKind::Tree,
    MappingKind::Block,
    MappingKind::Block,
];
/// More slots of media make a run too long.
const MEDIA_SLOTS_MAX: u64 = 6_000;

/// A number from `low` to `high`, both included.
fn between(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + rng.below(high - low + 1)
}

fn upto(rng: &mut Rng, low: u32, high: u32) -> u32 {
    between(rng, low.into(), high.into()) as u32
}

fn one<T: Clone>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.below(list.len() as u64) as usize].clone()
}

fn micros(rng: &mut Rng, most: u64) -> Nanos {
    Nanos(rng.below(most * 1_000 + 1))
}

fn shape(rng: &mut Rng) -> Shape {
    let bits_per_cell = upto(rng, 1, 4);
    let slot_bytes = 512 << rng.below(5);
    let mut shape = Shape::default();
    shape.channel_count = upto(rng, 1, 3);
    shape.dies_per_channel = upto(rng, 1, 3);
    shape.planes_per_die = upto(rng, 1, 2);
    shape.blocks_per_plane = upto(rng, 9, 40);
    shape.pages_per_block = bits_per_cell * upto(rng, 1, 8);
    shape.page_bytes = slot_bytes * upto(rng, 1, 4);
    shape.slot_bytes = slot_bytes;
    shape.bits_per_cell = bits_per_cell;
    shape
}

fn nand(rng: &mut Rng, bits_per_cell: u32) -> NandConfig {
    let read_first = rng.percent(60);
    let read = (0..bits_per_cell).map(|_| micros(rng, 100)).collect();
    let program = (0..bits_per_cell).map(|_| micros(rng, 3_000)).collect();
    let (slc_read, slc_program) = (micros(rng, 50), micros(rng, 400));
    let erase = micros(rng, 10_000);
    let channel_rate = between(rng, 1_000_000, 2_000_000_000);
    let mut timing = NandTiming::new(read, program, erase, channel_rate);
    timing.slc_read = slc_read;
    timing.slc_program = slc_program;
    let mut nand = NandConfig::new(timing);
    nand.read_first = read_first;
    nand.suspend = (read_first && rng.percent(50))
        .then(|| Suspend::new(micros(rng, 50), micros(rng, 50), rng.below(4) as u8));
    nand.cache_read = rng.percent(50);
    nand.cache_program = rng.percent(50);
    nand.programs_at_once = one(rng, &[0, 0, 1, 2, 5]);
    nand
}

fn reclaim(rng: &mut Rng, media_bytes: u64) -> ReclaimConfig {
    let streams = if rng.percent(50) { 1 } else { upto(rng, 1, 4) };
    let policy = one(rng, &[0, 1, 2, 3, 4, 5].map(|p| &VICTIM_POLICIES[p].info));
    let parameter = policy.parameter.map_or(0, |p| {
        let most = p.range.1.min(p.range.0.saturating_add(30));
        between(rng, p.range.0, most)
    });
    let mut reclaim = ReclaimConfig::default();
    reclaim.victim = VictimChoice::new(policy.name, parameter);
    reclaim.pace = one(rng, &[Pace::Spread, Pace::Whole]);
    reclaim.free_superblocks_low = 2 * streams + upto(rng, 1, 4);
    reclaim.idle_free_superblocks = one(rng, &[0, 0, 4, 8, 40]);
    reclaim.shared_frontier = rng.percent(30);
    reclaim.streams = streams;
    // The first three: regressions that are named by their seed keep their drives.
    reclaim.separation = one(rng, &SEPARATIONS[..3]).0;
    reclaim.spare = match rng.below(4) {
        0 => SpareArea::Fixed,
        1 => SpareArea::Limited(rng.below(media_bytes)),
        _ => SpareArea::Dynamic,
    };
    reclaim
}

fn ftl(rng: &mut Rng, media_bytes: u64) -> FtlConfig {
    let has_slc = rng.percent(50);
    let has_journal = rng.percent(60);
    let mut ftl = FtlConfig::default();
    ftl.mapping = mapping(rng);
    ftl.reclaim = reclaim(rng, media_bytes);
    if has_slc {
        ftl.slc.superblocks = upto(rng, 0, 4);
        ftl.slc.dynamic_above_free = one(rng, &[0, 10, 15, 20]);
    }
    ftl.slc.full = one(rng, &[SlcFull::Direct, SlcFull::Fold]);
    if has_journal {
        ftl.journal.entry_bytes = one(rng, &[0, 8, 64]);
        ftl.journal.commit_map_programs = upto(rng, 0, 3);
    }
    ftl.journal.commit_closes_word_lines = rng.percent(50);
    ftl.journal.checkpoint_pages = one(rng, &[0, 0, 1, 8]);
    ftl.compression_pack = one(rng, &[1, 1, 1, 2, 4]);
    ftl.parity = rng.percent(25);
    ftl.refresh_reads = one(rng, &[0, 0, 5, 50]);
    ftl.idle_after = Nanos(between(rng, 1, 20_000_000));
    if ftl.slc.dynamic_above_free > 0 {
        ftl.slc.dynamic_superblocks = ftl.idle_after.0 as u32 % 4;
    }
    ftl.trim_queued = rng.percent(60);
    ftl.trim_time = micros(rng, 200);
    ftl.seed = rng.next_u64();
    ftl
}

fn mapping(rng: &mut Rng) -> MappingConfig {
    let mut mapping = MappingConfig::default();
    if !rng.percent(50) {
        mapping.kind = one(rng, &MAPPINGS);
    }
    mapping.dram_bytes = 1 << rng.below(16);
    mapping.entry_bytes = one(rng, &[1, 4, 8, 16, 64]);
    mapping.leaf_programs = one(rng, &[0, 0, 1, 3]);
    mapping.serial_misses = rng.percent(30);
    mapping
}

fn host(rng: &mut Rng) -> HostConfig {
    let mut host = HostConfig::default();
    host.queue_depth = upto(rng, 1, 40);
    host.link_bytes_per_second = between(rng, 1_000_000, 8_000_000_000);
    host.full_duplex = rng.percent(50);
    host.command_overhead = micros(rng, 10);
    host.write_overhead = micros(rng, 10);
    host.moved_slot = micros(rng, 40);
    host.latency = micros(rng, 20);
    host
}

fn energy(rng: &mut Rng) -> EnergyConfig {
    let mut any = || rng.below(1_000_000);
    let mut energy = EnergyConfig::default();
    energy.read_nj = [(); 8].map(|()| any());
    energy.program_nj = [(); 8].map(|()| any());
    energy.erase_nj = any();
    energy.channel_pj_per_byte = any();
    energy.link_pj_per_byte = any();
    energy.command_nj = any();
    energy.idle_mw = any();
    energy
}

/// Wear on one drive of three, drawn from a separate stream so that the other parameters stay the
/// same.
fn wear(seed: u64) -> Option<WearConfig> {
    let mut rng = Rng::named(seed, "swarm wear");
    if !rng.percent(35) {
        return None;
    }
    let fails = upto(&mut rng, 2, 40);
    let mut wear = WearConfig::tiny();
    wear.failure_cycles = (0..8).map(|n| fails + n * upto(&mut rng, 0, 4)).collect();
    wear.program_failures = upto(&mut rng, 0, 4096);
    wear.reserve_blocks = upto(&mut rng, 0, 6);
    wear.levelling.dynamic = rng.percent(60);
    wear.levelling.static_gap = one(&mut rng, &[0, 1, 3, 10]);
    wear.levelling.static_every = upto(&mut rng, 1, 10);
    wear.end_of_life = EndOfLife::Slow;
    wear.refresh_above = 1 << upto(&mut rng, 28, 34);
    wear.seed = rng.next_u64();
    Some(wear)
}

fn draw(rng: &mut Rng) -> DriveConfig {
    let shape = shape(rng);
    let slot = u64::from(shape.slot_bytes);
    let unit = u64::from(shape.planes_per_die * shape.page_bytes);
    let dies = u64::from(shape.channel_count * shape.dies_per_channel);
    let blocks = u64::from(shape.blocks_per_plane * shape.pages_per_block);
    let media_bytes = unit * dies * blocks;
    let nand = nand(rng, shape.bits_per_cell);
    let ftl = ftl(rng, media_bytes);
    let hold_bytes = if rng.percent(30) {
        rng.below(8) * slot
    } else {
        0
    };
    let least = u64::from(ftl.reclaim.streams) * (unit * u64::from(ftl.compression_pack));
    let held = u64::from(ftl.reclaim.streams) * hold_bytes;
    let user_bytes = media_bytes / slot * between(rng, 5, 100) / 100 * slot;
    let mut config = DriveConfig::new("drawn", shape, nand, user_bytes);
    config.buffer.bytes = least + held + unit * between(rng, 1, 8);
    config.buffer.hold_bytes = hold_bytes;
    config.buffer.protected = rng.percent(40);
    config.ftl = ftl;
    config.host = host(rng);
    config.energy = energy(rng);
    config
}

fn leave_out_what_a_block_map_has_not(ftl: &mut FtlConfig) {
    let usual = FtlConfig::default();
    let low = ftl.reclaim.free_superblocks_low;
    ftl.reclaim = usual.reclaim;
    ftl.reclaim.free_superblocks_low = low;
    ftl.slc = usual.slc;
    ftl.journal.commit_closes_word_lines = false;
    ftl.journal.checkpoint_pages = 0;
    ftl.compression_pack = usual.compression_pack;
    ftl.parity = usual.parity;
    ftl.refresh_reads = usual.refresh_reads;
}

/// The possible drive of `seed`, which may read ahead, unless that decides which part of a map is
/// in DRAM: the counting gear does not read ahead.
pub fn reading_ahead(seed: u64) -> DriveConfig {
    let mut config = drive(seed);
    if !super::reads_matter(&config) {
        let mut rng = Rng::named(seed, "swarm read-ahead");
        config.host.read_ahead = one(&mut rng, &[0, 0, 1, 7, 32]);
    }
    config
}

/// The possible drive of `seed`.
pub fn drive(seed: u64) -> DriveConfig {
    let mut rng = Rng::named(seed, "swarm drive");
    loop {
        let mut config = draw(&mut rng);
        if config.ftl.mapping.kind.is_block_mapped() {
            leave_out_what_a_block_map_has_not(&mut config.ftl);
        }
        let slots = config.geometry().raw_bytes() / u64::from(config.shape.slot_bytes);
        config.wear = wear(seed);
        if slots <= MEDIA_SLOTS_MAX && config.validate().is_ok() {
            with_heat(&mut config, seed);
            with_handles(&mut config, seed);
            with_commits(&mut config, seed);
            with_limit(&mut config, seed);
            return with_map_apart(&config, seed).unwrap_or(config);
        }
    }
}

/// Seeds below this draw drives without the features that were added later: `cuts` replays some of
/// them.
const FIRST_WITH_ALL: u64 = 40;

/// Lets the firmware of one drive of four limit its writes and answer them late, and one of three
/// use its cache again.
fn with_limit(config: &mut DriveConfig, seed: u64) {
    let mut rng = Rng::named(seed, "swarm limit");
    if seed >= FIRST_WITH_ALL && rng.percent(25) {
        config.host.write_bytes_per_second = between(&mut rng, 1_000_000, 2_000_000_000);
        config.host.write_latency = Nanos(between(&mut rng, 0, 200_000));
    }
    let slc = &mut config.ftl.slc;
    let has_slc = slc.superblocks > 0 || slc.dynamic_above_free > 0;
    if seed >= FIRST_WITH_ALL && has_slc && rng.percent(33) {
        slc.full = SlcFull::Recycle;
    }
}

/// Makes one drive of four hot and drowsy.
fn with_heat(config: &mut DriveConfig, seed: u64) {
    let mut rng = Rng::named(seed, "swarm drive, heat");
    if seed >= FIRST_WITH_ALL && rng.percent(25) {
        super::hot(config);
    }
}

/// Lets relocated data of the streams of one drive of two mix.
fn with_handles(config: &mut DriveConfig, seed: u64) {
    let mut rng = Rng::named(seed, "swarm drive, handles");
    let separation = &mut config.ftl.reclaim.separation;
    let streams = seed >= FIRST_WITH_ALL && *separation == Separation::Hint;
    if streams && rng.percent(50) {
        *separation = Separation::InitiallyIsolated;
    }
}

/// Gives commits of one drive of three superblocks of their own, where that is possible.
fn with_commits(config: &mut DriveConfig, seed: u64) {
    let mut rng = Rng::named(seed, "swarm drive, commits");
    let is_block_mapped = config.ftl.mapping.kind.is_block_mapped();
    if seed < FIRST_WITH_ALL || is_block_mapped || !rng.percent(35) {
        return;
    }
    config.ftl.slc.commit_superblocks = upto(&mut rng, 1, 3);
    if config.validate().is_err() {
        config.ftl.slc.commit_superblocks = 0;
    }
}

/// The same drive with pages of the map in superblocks of their own, for one seed in two, where
/// that is possible and it has such pages.
fn with_map_apart(config: &DriveConfig, seed: u64) -> Option<DriveConfig> {
    let mut rng = Rng::named(seed, "swarm drive, map apart");
    let leaves = config.ftl.mapping.kind.has_leaves();
    if seed < FIRST_WITH_ALL || !leaves || !rng.percent(50) {
        return None;
    }
    let mut config = config.clone();
    config.ftl.mapping.apart = true;
    let low = &mut config.ftl.reclaim.free_superblocks_low;
    *low += 1;
    config.validate().is_ok().then_some(config)
}
