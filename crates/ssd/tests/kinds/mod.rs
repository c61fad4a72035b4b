//! Small drives of every kind, and random commands for them: shared by the tests that cover all
//! kinds. A new kind of translation layer is added to [`all`] and to `random::MAPPINGS`.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod commands;
pub mod random;

use ssdlab_ssd::config::{
    DriveConfig, EnergyConfig, HeatConfig, MappingKind, Pace, PowerState, RecoverBy, SlcFull,
    SpareArea, ThrottleStep,
};
use ssdlab_ssd::ftl::policies::{Separation, VICTIM_POLICIES, VictimChoice};
use ssdlab_ssd::nand::reliability::LevellingConfig;
use ssdlab_ssd::nand::{EndOfLife, Suspend, WearConfig};
use ssdlab_ssd::units::Nanos;

pub const SLOT: u64 = 4096;

/// Two dies of 24 blocks of 12 slots: small enough that a few hundred commands fill it and start
/// reclaim. No pSLC cache; a map that costs nothing.
pub fn bare() -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.name = "bare".into();
    c.shape.planes_per_die = 1;
    c.user_bytes = 300 * SLOT;
    c.ftl.slc.superblocks = 0;
    c.ftl.journal.entry_bytes = 0;
    c.ftl.journal.commit_map_programs = 0;
    c.ftl.journal.commit_closes_word_lines = false;
    c
}

/// With a map journal.
fn journal() -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.planes_per_die = 1;
    c.user_bytes = 260 * SLOT;
    c.ftl.slc.superblocks = 0;
    c
}

/// Heat that throttles a small drive within some hundred commands, and power states.
pub fn hot(c: &mut DriveConfig) {
    let steps = [(25, 2), (27, 1), (30, 1)].map(|(at_c, dies)| ThrottleStep::new(at_c, dies));
    let mut heat = HeatConfig::new(1000, 1000, steps);
    heat.ambient_c = 20;
    heat.heavy.pause = Nanos(20_000);
    heat.critical.pause = Nanos(500_000);
    heat.hysteresis_k = 1;
    heat.warning_c = 26;
    heat.overheated_c = 31;
    c.heat = Some(heat);
    let state = |after, mw| {
        let mut state = PowerState::new(Nanos(after), mw);
        state.entry = Nanos(200_000);
        state.exit = Nanos(1_200_000);
        state
    };
    let mut energy = EnergyConfig::default();
    energy.program_nj = [40_000_000; 8];
    energy.read_nj = [4_000_000; 8];
    energy.idle_mw = 1_000;
    energy.active_mw = 2_000;
    energy.states = vec![state(5_000_000, 70), state(20_000_000, 5)];
    c.energy = energy;
}

fn hot_and_drowsy() -> DriveConfig {
    let mut c = bare();
    c.name = "hot and drowsy".into();
    c.shape.dies_per_channel = 2;
    hot(&mut c);
    c
}

type Change = (&'static str, fn(&mut DriveConfig));

/// Changes of each kind to [`bare`].
const BARE: [Change; 15] = [
    ("bare", |_| {}),
    ("one die", |c| {
        c.shape.channel_count = 1;
        c.shape.bits_per_cell = 1;
        c.nand.timing.read.truncate(1);
        c.nand.timing.program.truncate(1);
        c.user_bytes = 120 * SLOT;
        c.host.queue_depth = 2;
    }),
    ("compressed", |c| c.ftl.compression_pack = 4),
    ("parity", |c| {
        c.shape.dies_per_channel = 2;
        c.ftl.parity = true;
    }),
    ("streams by hint", |c| streams(c, 3, Separation::Hint)),
    ("streams by lifespan", |c| {
        streams(c, 2, Separation::Lifespan)
    }),
    ("shared frontier", |c| c.ftl.reclaim.shared_frontier = true),
    ("whole victims", |c| c.ftl.reclaim.pace = Pace::Whole),
    ("fixed spare", |c| c.ftl.reclaim.spare = SpareArea::Fixed),
    ("limited spare", |c| {
        c.ftl.reclaim.spare = SpareArea::Limited(100 * SLOT);
    }),
    ("reads in order", |c| c.nand.read_first = false),
    ("suspend", |c| {
        let (suspend, resume) = (Nanos::from_micros(20), Nanos::from_micros(30));
        c.nand.suspend = Some(Suspend::new(suspend, resume, 3));
    }),
    ("cache operations", |c| {
        c.nand.cache_read = true;
        c.nand.cache_program = true;
    }),
    ("hold", |c| {
        c.buffer.hold_bytes = 8 * SLOT;
        c.buffer.bytes = 24 * SLOT;
    }),
    ("idle reclaim", |c| c.ftl.reclaim.idle_free_superblocks = 6),
];

/// Changes of each kind to [`journal`].
const JOURNAL: [Change; 13] = [
    ("journal", |_| {}),
    ("protected", |c| c.buffer.protected = true),
    ("pslc", |c| slc(c, 3, 0, SlcFull::Direct)),
    ("pslc folded by writes", |c| slc(c, 3, 0, SlcFull::Fold)),
    ("dynamic pslc", |c| slc(c, 0, 9, SlcFull::Direct)),
    ("both pslc", |c| slc(c, 2, 9, SlcFull::Fold)),
    ("checkpoints", |c| c.ftl.journal.checkpoint_pages = 4),
    ("refresh", |c| c.ftl.refresh_reads = 20),
    ("trim not queued", |c| {
        c.ftl.trim_queued = false;
        c.ftl.trim_time = Nanos::from_micros(100);
    }),
    ("cached map", |c| mapping(c, MappingKind::Cached, 8192)),
    ("cached map, one page", |c| {
        mapping(c, MappingKind::Cached, 1);
        c.ftl.compression_pack = 2;
    }),
    ("tree map", |c| mapping(c, MappingKind::Tree, 2048)),
    ("tree map, parity, streams", |c| {
        mapping(c, MappingKind::Tree, 512);
        c.ftl.parity = true;
        streams(c, 2, Separation::Lifespan);
        c.user_bytes = 100 * SLOT;
    }),
];

/// Changes of each kind of map apart from data to [`journal`]. They come late in [`all`].
const APART: [Change; 4] = [
    ("tree map apart", |c| apart(c, MappingKind::Tree, 3)),
    ("tree map apart, gathered leaves, checkpoints", |c| {
        apart(c, MappingKind::Tree, 0);
        c.ftl.journal.checkpoint_pages = 4;
    }),
    ("cached map apart", |c| apart(c, MappingKind::Cached, 2)),
    ("wear, tree map apart", |c| {
        apart(c, MappingKind::Tree, 3);
        c.shape.pages_per_block = 12;
        c.ftl.reclaim.free_superblocks_low = 6;
        c.ftl.refresh_reads = 20;
        wear(c);
    }),
];

/// Commits that have superblocks in SLC mode of their own, and caches used again, on [`journal`].
/// They come after all others in [`all`].
const COMMITS: [Change; 7] = [
    ("pslc of commits", |c| commits(c, 2)),
    ("pslc of commits, one, parity", |c| {
        commits(c, 1);
        c.shape.dies_per_channel = 2;
        c.ftl.parity = true;
    }),
    ("pslc of commits, both others, compressed", |c| {
        slc(c, 2, 9, SlcFull::Fold);
        commits(c, 1);
        c.ftl.compression_pack = 2;
    }),
    ("pslc of commits, tree map apart", |c| {
        apart(c, MappingKind::Tree, 3);
        commits(c, 2);
    }),
    ("pslc of commits, wear, write cache off", |c| {
        commits(c, 2);
        c.shape.pages_per_block = 12;
        c.ftl.reclaim.free_superblocks_low = 4;
        c.buffer.write_cache = false;
        wear(c);
    }),
    ("pslc used again", |c| slc(c, 3, 0, SlcFull::Recycle)),
    ("both pslc used again", |c| slc(c, 2, 9, SlcFull::Recycle)),
];

/// Superblocks of commits, and nothing to fill them up with.
fn commits(c: &mut DriveConfig, superblocks: u32) {
    c.ftl.slc.commit_superblocks = superblocks;
    c.ftl.journal.commit_closes_word_lines = false;
    c.user_bytes = c.user_bytes.min(200 * SLOT);
}

fn streams(c: &mut DriveConfig, count: u32, separation: Separation) {
    c.ftl.reclaim.streams = count;
    c.ftl.reclaim.separation = separation;
    c.ftl.reclaim.free_superblocks_low = 2 * count + 1;
    c.user_bytes = 160 * SLOT;
}

fn slc(c: &mut DriveConfig, superblocks: u32, dynamic_above_free: u32, full: SlcFull) {
    c.ftl.slc.superblocks = superblocks;
    c.ftl.slc.dynamic_above_free = dynamic_above_free;
    c.ftl.slc.full = full;
}

/// Pages of the map in superblocks of their own.
fn apart(c: &mut DriveConfig, kind: MappingKind, leaf_programs: u32) {
    mapping(c, kind, 512);
    c.ftl.mapping.apart = true;
    c.ftl.mapping.leaf_programs = leaf_programs;
    c.ftl.reclaim.free_superblocks_low = 5;
    c.user_bytes = 140 * SLOT;
}

/// A map on media, of leaves of 64 slots.
fn mapping(c: &mut DriveConfig, kind: MappingKind, dram_bytes: u64) {
    c.ftl.mapping.kind = kind;
    c.ftl.mapping.dram_bytes = dram_bytes;
    c.ftl.mapping.entry_bytes = 64;
}

/// Media that wears, on [`journal`]: failures, levelling and retirement within a test.
const WORN: [Change; 5] = [
    ("wear", |_| {}),
    ("wear, parity", |c| {
        c.shape.dies_per_channel = 2;
        c.ftl.parity = true;
    }),
    ("wear, compressed, pslc", |c| {
        c.ftl.compression_pack = 2;
        slc(c, 3, 0, SlcFull::Fold);
    }),
    ("wear, cached map, whole victims", |c| {
        mapping(c, MappingKind::Cached, 8192);
        c.ftl.reclaim.pace = Pace::Whole;
    }),
    ("wear, shared frontier, no levelling", |c| {
        c.ftl.reclaim.shared_frontier = true;
        wear(c).levelling = LevellingConfig::default();
    }),
];

/// Makes the drive's media wear; the drive continues when its reserve is used up.
fn wear(c: &mut DriveConfig) -> &mut WearConfig {
    c.wear.get_or_insert_with(|| {
        let mut wear = WearConfig::tiny();
        wear.end_of_life = EndOfLife::Slow;
        wear
    })
}

fn worn() -> DriveConfig {
    let mut c = journal();
    c.shape.pages_per_block = 12;
    c.user_bytes = 300 * SLOT;
    c.ftl.reclaim.free_superblocks_low = 4;
    wear(&mut c);
    c
}

/// Every kind, each under its own name.
pub fn all() -> Vec<DriveConfig> {
    let mut list = Vec::new();
    for (base, changes) in [
        (bare(), &BARE[..]),
        (journal(), &JOURNAL[..]),
        (worn(), &WORN[..]),
    ] {
        for (name, change) in changes {
            let mut config = base.clone();
            config.name = (*name).into();
            change(&mut config);
            list.push(config);
        }
    }
    for entry in &VICTIM_POLICIES {
        let mut config = bare();
        config.name = format!("victims by {}", entry.info.name);
        config.ftl.reclaim.victim = VictimChoice::parse(entry.info.name).expect("in the registry");
        list.push(config);
    }
    for (name, change) in APART.iter().chain(&COMMITS) {
        let mut config = journal();
        config.name = (*name).into();
        change(&mut config);
        list.push(config);
    }
    list.push(hot_and_drowsy());
    let mut ahead = bare();
    ahead.name = "read-ahead".into();
    ahead.host.read_ahead = 8;
    list.push(ahead);
    let mut isolated = bare();
    isolated.name = "streams initially isolated".into();
    streams(&mut isolated, 3, Separation::InitiallyIsolated);
    list.push(isolated);
    for (name, mut config) in [("bare", bare()), ("journal", journal())] {
        config.name = format!("{name}, write cache off");
        config.buffer.protected = false;
        config.buffer.write_cache = false;
        list.push(config);
    }
    for config in &list {
        if let Err(error) = config.validate() {
            panic!("{}: {error}", config.name);
        }
    }
    list
}

/// Changes of each kind to [`little`].
const SMALL: [Change; 16] = [
    ("small", |_| {}),
    ("small, journal", |c| c.ftl.recovery = RecoverBy::Journal),
    ("small, journal of few entries", few_entries),
    ("small, journal of few entries, protected", |c| {
        few_entries(c);
        c.buffer.protected = true;
    }),
    ("small, journal of few entries, victims by random", |c| {
        few_entries(c);
        c.ftl.reclaim.victim = VictimChoice::parse("random").expect("in the registry");
        // Superblocks of a word line on each die: some are victims while their last pages, those
        // of a commit, are programmed, and other dies have nothing to do.
        c.shape.pages_per_block = 3;
        c.shape.blocks_per_plane = 14;
        c.user_bytes = 28 * SLOT;
    }),
    ("small, journal, checkpoints", |c| {
        c.ftl.recovery = RecoverBy::Journal;
        c.ftl.journal.entry_bytes = 64;
        c.ftl.journal.checkpoint_pages = 3;
    }),
    ("small, journal, protected", |c| {
        c.ftl.recovery = RecoverBy::Journal;
        c.buffer.protected = true;
    }),
    ("journal, leaves of eight", |c| {
        c.ftl.recovery = RecoverBy::Journal;
        c.shape.page_bytes = 512;
        c.shape.slot_bytes = 512;
        c.shape.pages_per_block = 24;
        c.shape.blocks_per_plane = 48;
        c.buffer.bytes = 16 * 512;
        c.ftl.mapping.entry_bytes = 64;
        c.user_bytes = 1_100 * 512;
    }),
    ("small, journal, pslc", |c| {
        c.ftl.recovery = RecoverBy::Journal;
        c.ftl.slc.superblocks = 2;
        c.ftl.journal.commit_closes_word_lines = false;
    }),
    ("small, journal, cached map", |c| {
        c.ftl.recovery = RecoverBy::Journal;
        mapping(c, MappingKind::Cached, 1);
        c.ftl.journal.checkpoint_pages = 8;
    }),
    ("small, block map", |c| {
        c.ftl.mapping.kind = MappingKind::Block;
        c.ftl.journal.commit_closes_word_lines = false;
    }),
    ("small, joined flushes", |c| c.buffer.joined_flushes = true),
    ("small, journal, joined flushes", |c| {
        few_entries(c);
        c.buffer.joined_flushes = true;
    }),
    ("small, write cache off", |c| c.buffer.write_cache = false),
    ("small, journal, pslc of commits", |c| {
        c.ftl.recovery = RecoverBy::Journal;
        c.ftl.slc.commit_superblocks = 1;
        c.ftl.journal.commit_closes_word_lines = false;
    }),
    ("small, times of commits", |c| {
        c.buffer.flush_time = Nanos::from_micros(300);
        c.buffer.fua_time = Nanos::from_micros(700);
    }),
];

/// A journal page with every fifteen changes, beside other work on four dies.
fn few_entries(c: &mut DriveConfig) {
    c.ftl.recovery = RecoverBy::Journal;
    c.ftl.journal.entry_bytes = 256;
    c.shape.dies_per_channel = 2;
    c.user_bytes = 90 * SLOT;
}

/// So small that a campaign of some dozens of cuts reuses every block several times.
fn little() -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.planes_per_die = 1;
    c.shape.page_bytes = 4096;
    c.shape.blocks_per_plane = 16;
    c.ftl.slc.superblocks = 0;
    c.user_bytes = 48 * SLOT;
    c
}

/// Every kind of small drive.
pub fn small() -> Vec<DriveConfig> {
    let make = |(name, change): &Change| {
        let mut config = little();
        config.name = (*name).into();
        change(&mut config);
        if let Err(error) = config.validate() {
            panic!("{name}: {error}");
        }
        config
    };
    SMALL.iter().map(make).collect()
}

/// Whether reads also affect later operations (through the part of the map in DRAM): then both
/// gears produce the same map only with one command at a time.
pub fn reads_matter(config: &DriveConfig) -> bool {
    matches!(
        config.ftl.mapping.kind,
        MappingKind::Cached | MappingKind::Tree
    )
}
