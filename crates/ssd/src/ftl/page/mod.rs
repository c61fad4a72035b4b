//! Page-mapped: every mapping unit may lie anywhere.
//!
//! ```text
//!  host slots -> Gather (per stream) -> frontier -> superblock --(full)--> candidates
//!                                          ^  pSLC while free, else native     | policy
//!  map journal, map pages -----------------+                                   |
//!  relocated slots -> relocation frontier <--- Mover <-------------------------+
//! ```
//! Whole units are placed as soon as the next slot arrives; placing first does the reclaim that
//! pays for it, so that the map depends on the order of writes alone.
//!
//! The map journal and the map pages lie at hidden logical addresses beyond the host's and are
//! relocated like anything else.

mod bulk;
mod by_journal;
mod change_log;
mod check;
mod interface;
mod journalled;
mod levelling;
mod looked;
mod mover;
mod place;
mod plain;
mod program;
mod reclaim;
mod recover;
mod table;
mod upkeep;
mod wear;

use super::candidates::Candidates;
use super::frontier::Frontier;
use super::gather::{Entry, Gather};
use super::map_value::{BUFFERED, UNMAPPED};
use super::policies::{Victim, VictimPolicy};
use super::translation::{Found, Hint, Launched};
use crate::caches::prefetch;
use crate::config::policy::Separation;
use crate::config::{DriveConfig, JournalConfig, Pace, SlcConfig, SpareArea};
use crate::counters::DriveCounters;
use crate::image::{image_of, image_of_choice};
use crate::nand::{Gear, Mode, Nand};
use crate::rng::Rng;
use change_log::ChangeLog;
use looked::Looked;
use mover::Mover;
use std::collections::VecDeque;
use std::marker::PhantomData;
use table::Table;
use upkeep::Upkeep;
use wear::Wear;

/// The pSLC cache's frontier; that of stream `s` is `1 + s`.
const SLC_FRONTIER: usize = 0;

/// Compile-time choice of features: a drive with a flat map and without compression does not pay
/// for the rest.
pub trait Layout: Clone + Copy + std::fmt::Debug + Default {
    /// Whether data is compressed or the map is not all in DRAM.
    const FULL: bool;
}

/// Flat map, uncompressed data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lean;

/// All features.
#[derive(Clone, Copy, Debug, Default)]
pub struct Full;

impl Layout for Lean {
    const FULL: bool = false;
}

impl Layout for Full {
    const FULL: bool = true;
}

/// State of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    Free = 0,
    Open = 1,
    Full = 2,
    /// Being emptied by reclaim, refresh or folding.
    Victim = 3,
    /// Retired: its blocks are worn out.
    Retired = 4,
}

image_of_choice!(State {
    Free,
    Open,
    Full,
    Victim,
    Retired
});

/// Configuration values used while running.
#[derive(Clone, Debug)]
struct Rules {
    pace: Pace,
    free_low: u32,
    idle_free: u32,
    shared: bool,
    streams: u32,
    separation: Separation,
    /// Slots that reclaim may use beyond the valid ones; `u64::MAX`: unlimited.
    spare_slots: u64,
    slc: SlcConfig,
    journal: JournalConfig,
    leaf_programs: u32,
    map_apart: bool,
    /// Superblocks that a tree's own pages may fill.
    tree_superblocks: u32,
    pack: u32,
    parity: bool,
    refresh_reads: u32,
    /// Slots of a superblock that hold data, without its parity.
    data_slots: u32,
    /// Slots gathered before the oldest unit is placed.
    gather_slots: u32,
    /// Mapping units gathered before it is placed, however few slots they take: a buffer full of
    /// well compressible data must not wait for more.
    gather_units: u32,
}

image_of!(Rules {
    pace,
    free_low,
    idle_free,
    shared,
    streams,
    separation,
    spare_slots,
    slc,
    journal,
    leaf_programs,
    map_apart,
    tree_superblocks,
    pack,
    parity,
    refresh_reads,
    data_slots,
    gather_slots,
    gather_units
});

/// State of the map journal.
#[derive(Clone, Debug)]
struct Journal {
    first: u32,
    slots: u32,
    next: u32,
    slots_per_page: u32,
    entries_per_page: u32,
    pending: u32,
    /// Map slots owed to the rolling checkpoint, multiplied by the pages of its cycle.
    checkpoint_debt: u64,
}

image_of!(Journal {
    first,
    slots,
    next,
    slots_per_page,
    entries_per_page,
    pending,
    checkpoint_debt
});

/// Lifespans of overwritten data, for separation by lifespan.
#[derive(Clone, Debug, Default)]
struct Lifespans {
    /// Time of the last write of each slot, in host slots written, modulo 2^32.
    written_at: Vec<u32>,
    /// Exponential mean of recent lifespans, in 1/16 host slots.
    mean: u64,
}

image_of!(Lifespans { written_at, mean });

/// A page-mapped translation layer over its media.
#[derive(Clone, Debug)]
pub struct PageFtl<G, L> {
    nand: Nand<G>,
    counters: DriveCounters,
    map: Table,
    /// One past the highest host slot ever written.
    written_end: u32,
    user_slots: u32,
    owner: Table,
    valid: Vec<u64>,
    /// Weight of each entry in slots; empty unless data is compressed.
    weight: Vec<u8>,
    /// Total of valid slots.
    live: u64,
    candidates: Candidates,
    state: Vec<State>,
    mode: Vec<Mode>,
    stream_of: Vec<u8>,
    reads_since: Vec<u32>,
    free: VecDeque<u32>,
    free_slc: VecDeque<u32>,
    slc_full: VecDeque<u32>,
    /// Full superblocks of a tree's own, oldest first.
    map_full: VecDeque<u32>,
    /// pSLC, host streams, relocation streams, that of the map if it has one.
    frontiers: Vec<Frontier>,
    gathers: Vec<Gather>,
    gather_shift: u32,
    /// Reclaim, folding, refresh, wear levelling.
    movers: [Mover; 4],
    refresh_queue: VecDeque<u32>,
    credits: i64,
    rules: Rules,
    journal: Journal,
    /// Changes of the map, where recovery depends on the journal.
    log: Option<Box<ChangeLog>>,
    lifespans: Lifespans,
    upkeep: Upkeep,
    wear: Wear,
    victim: Victim,
    rng: Rng,
    launched: Vec<Launched>,
    batch: Vec<Entry>,
    looked: Looked,
    /// Host slots written, coalesced ones included: the clock of lifespans.
    host_slots: u64,
    /// Incremented whenever a slot in a superblock that is not a candidate becomes stale other than
    /// by moving.
    epoch: u64,
    layout: PhantomData<L>,
}

image_of!(PageFtl<G: Gear, L: Layout> {
    nand,
    counters,
    map,
    written_end,
    user_slots,
    owner,
    valid,
    weight,
    live,
    candidates,
    state,
    mode,
    stream_of,
    reads_since,
    free,
    free_slc,
    slc_full,
    map_full,
    frontiers,
    gathers,
    gather_shift,
    movers,
    refresh_queue,
    credits,
    rules,
    journal,
    lifespans,
    upkeep,
    wear,
    victim,
    rng,
    launched,
    host_slots,
    epoch
} afresh {
    batch,
    log,
    looked,
    layout
});

/// Value of `spare_slots` for all space without valid data.
const SPARE_IS_ALL: u64 = u64::MAX;

impl Rules {
    /// Whether the controller knows which addresses were never written or were trimmed: it must if
    /// it uses them as spare area, and need not with a fixed spare area.
    #[inline]
    pub(super) fn knows_unused(&self) -> bool {
        self.spare_slots == SPARE_IS_ALL
    }

    fn new(config: &DriveConfig) -> Rules {
        let ftl = &config.ftl;
        let geometry = config.geometry();
        let slots = geometry.slots_per_superblock;
        let parity = if ftl.parity {
            slots / geometry.die_count
        } else {
            0
        };
        let slot_bytes = u64::from(geometry.slot_bytes);
        let held = config.buffer.hold_bytes / u64::from(config.shape.slot_bytes);
        Rules {
            pace: ftl.reclaim.pace,
            free_low: ftl.reclaim.free_superblocks_low,
            idle_free: ftl.reclaim.idle_free_superblocks,
            shared: ftl.reclaim.shared_frontier,
            streams: ftl.reclaim.streams,
            separation: ftl.reclaim.separation,
            spare_slots: match ftl.reclaim.spare {
                SpareArea::Dynamic => SPARE_IS_ALL,
                SpareArea::Fixed => (geometry.raw_bytes() - config.user_bytes) / slot_bytes,
                SpareArea::Limited(bytes) => bytes / slot_bytes,
            },
            slc: ftl.slc,
            journal: ftl.journal,
            leaf_programs: ftl.mapping.leaf_programs,
            map_apart: config.map_is_apart(),
            tree_superblocks: config.tree_superblocks() as u32,
            pack: config.pack(),
            parity: ftl.parity,
            refresh_reads: ftl.refresh_reads,
            data_slots: slots - parity,
            gather_slots: geometry.slots_per_unit + held as u32 * config.pack(),
            gather_units: geometry.slots_per_unit + held as u32,
        }
    }
}

impl Journal {
    fn new(config: &DriveConfig) -> Journal {
        let shape = &config.shape;
        let room = shape.page_bytes - config.root_bytes() as u32;
        let entries = room.checked_div(config.ftl.journal.entry_bytes);
        Journal {
            first: config.user_slots() as u32,
            slots: config.journal_slots() as u32,
            next: 0,
            slots_per_page: shape.page_bytes / shape.slot_bytes,
            entries_per_page: entries.unwrap_or(0),
            pending: 0,
            checkpoint_debt: 0,
        }
    }
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    fn fresh(config: &DriveConfig, own: Option<Box<dyn VictimPolicy>>) -> Self {
        let geometry = config.geometry();
        let rules = Rules::new(config);
        let count = geometry.superblock_count as usize;
        let media = count * geometry.slots_per_superblock as usize;
        let slc = rules.slc.superblocks as usize;
        let streams = rules.streams as usize;
        let user_slots = config.user_slots() as u32;
        let gather = Gather::new(rules.gather_slots + 1);
        let lifespan = rules.separation == Separation::Lifespan;
        let journal = Journal::new(config);
        PageFtl {
            counters: DriveCounters::default(),
            map: Table::new(config.mapped_slots() as usize),
            written_end: 0,
            user_slots,
            owner: Table::new(media),
            valid: vec![0; media.div_ceil(64)],
            weight: if rules.pack > 1 {
                vec![0; media]
            } else {
                Vec::new()
            },
            live: 0,
            candidates: Candidates::new(count, rules.data_slots),
            state: vec![State::Free; count],
            mode: (0..count)
                .map(|s| if s < slc { Mode::Slc } else { Mode::Native })
                .collect(),
            stream_of: vec![0; count],
            reads_since: vec![0; if rules.refresh_reads > 0 { count } else { 0 }],
            free: (slc..count).map(|s| s as u32).collect(),
            free_slc: (0..slc).map(|s| s as u32).collect(),
            slc_full: VecDeque::new(),
            map_full: VecDeque::new(),
            frontiers: vec![Frontier::default(); 1 + 2 * streams + usize::from(rules.map_apart)],
            gather_shift: gather.size().trailing_zeros(),
            gathers: vec![gather; streams],
            movers: Default::default(),
            refresh_queue: VecDeque::new(),
            credits: 0,
            log: Self::log_of(config, journal.entries_per_page),
            journal,
            lifespans: Lifespans {
                written_at: vec![0; if lifespan { user_slots as usize } else { 0 }],
                mean: 0,
            },
            upkeep: Upkeep::new(config),
            wear: Wear::new(config),
            victim: Victim::new(&config.ftl.reclaim.victim, own),
            rng: Rng::named(config.ftl.seed, "victim"),
            launched: Vec::new(),
            batch: Vec::with_capacity(geometry.slots_per_unit as usize),
            looked: Looked::default(),
            host_slots: 0,
            epoch: 0,
            nand: Nand::new(geometry, &config.nand, config.wear.as_ref()),
            rules,
            layout: PhantomData,
        }
    }

    /// Whether a frontier's superblocks are those of a tree's pages.
    fn is_of_tree(&self, frontier: usize) -> bool {
        self.rules.map_apart && self.upkeep.counts_extents() && frontier == self.map_frontier()
    }

    /// The frontier of the map's pages where they lie apart.
    fn map_frontier(&self) -> usize {
        1 + 2 * self.rules.streams as usize
    }

    #[inline(always)]
    fn found(&self, lpn: u32) -> Found {
        match self.map[lpn as usize] {
            UNMAPPED => Found::Unmapped,
            value if value >= BUFFERED => Found::Buffered,
            value => Found::Media(value - 1),
        }
    }

    /// Gather and index of a map value that points into the buffer.
    #[inline(always)]
    fn gathered(&self, value: u32) -> (usize, u32) {
        let position = value - BUFFERED;
        let mask = (1 << self.gather_shift) - 1;
        ((position >> self.gather_shift) as usize, position & mask)
    }

    /// Changes a map entry. All changes but those of the lean loops go through here.
    #[inline(always)]
    fn set_map(&mut self, lpn: u32, value: u32) {
        if L::FULL && self.upkeep.counts_extents() && lpn < self.user_slots {
            self.upkeep.before_change(&self.map, lpn);
            self.map[lpn as usize] = value;
            self.upkeep.after_change(&self.map, lpn);
        } else {
            self.map[lpn as usize] = value;
        }
    }

    /// Slots of media that a mapping unit takes.
    #[inline(always)]
    fn weigh(&self, hint: Hint) -> u32 {
        if !L::FULL {
            return 1;
        }
        let left = 100 - u32::from(hint.compress_pct.min(100));
        (self.rules.pack * left).div_ceil(100).max(1)
    }

    #[inline(always)]
    fn weight_at(&self, ppn: u32) -> u32 {
        if L::FULL && self.rules.pack > 1 {
            u32::from(self.weight[ppn as usize])
        } else {
            1
        }
    }

    #[inline(always)]
    fn is_valid(&self, ppn: u32) -> bool {
        self.valid[ppn as usize / 64] >> (ppn % 64) & 1 == 1
    }

    /// Puts a host slot into its stream's buffer; true if it takes additional space.
    #[inline(always)]
    fn take_in(&mut self, from: u64, lpn: u32, hint: Hint) -> bool {
        self.host_slots += 1;
        self.remember_write(lpn, hint.tag);
        let weight = self.weigh(hint);
        let stream = self.stream_for(lpn, hint);
        let value = self.map[lpn as usize];
        if value >= BUFFERED {
            let (stream, index) = self.gathered(value);
            self.gathers[stream].reweigh(index, weight);
            self.counters.slots_coalesced += 1;
            return false;
        }
        let gather = &self.gathers[stream];
        let many = L::FULL && gather.live() >= self.rules.gather_units;
        if many || gather.weight() + weight > self.rules.gather_slots {
            self.place_oldest(from, stream);
        }
        if self.gathers[stream].is_full() {
            self.compact(stream);
        }
        // Placing may have relocated the slot's older copy.
        let old = self.map[lpn as usize];
        self.written_end = self.written_end.max(lpn + 1);
        if old != UNMAPPED {
            prefetch(&self.valid, (old - 1) as usize / 64);
        }
        let index = self.gathers[stream].push(Entry { lpn, old, weight });
        let position = (stream as u32) << self.gather_shift | index;
        self.set_map(lpn, BUFFERED + position);
        true
    }

    #[cold]
    fn compact(&mut self, stream: usize) {
        for (index, entry) in self.gathers[stream].compact() {
            let position = (stream as u32) << self.gather_shift | index;
            self.set_map(entry.lpn, BUFFERED + position);
        }
    }

    #[inline(always)]
    fn stream_for(&mut self, lpn: u32, hint: Hint) -> usize {
        match self.rules.separation {
            Separation::Single => 0,
            Separation::Hint | Separation::InitiallyIsolated => {
                (u32::from(hint.stream) % self.rules.streams) as usize
            }
            Separation::Lifespan => self.stream_by_lifespan(lpn),
        }
    }

    fn stream_by_lifespan(&mut self, lpn: u32) -> usize {
        let now = self.host_slots as u32;
        let lifespan = now.wrapping_sub(self.lifespans.written_at[lpn as usize]);
        let first = self.map[lpn as usize] == UNMAPPED;
        self.lifespans.written_at[lpn as usize] = now;
        if first {
            return 0;
        }
        let spans = u64::from(lifespan) << 4;
        let mean = self.lifespans.mean;
        self.lifespans.mean = (mean * 1023 + spans) / 1024;
        usize::from(spans < mean).min(self.rules.streams as usize - 1)
    }

    /// Removes a slot from the buffer for a write that cannot wait; returns the copy on media that
    /// it replaces, and whether it was buffered.
    fn take_from_buffer(&mut self, lpn: u32) -> (u32, bool) {
        let value = self.map[lpn as usize];
        if value < BUFFERED {
            return (value, false);
        }
        let (stream, index) = self.gathered(value);
        let old = self.gathers[stream].kill(index).old;
        self.set_map(lpn, old);
        (old, true)
    }

    fn forget(&mut self, lpn: u32) -> u32 {
        let (old, was_buffered) = self.take_from_buffer(lpn);
        if old == UNMAPPED {
            self.set_map(lpn, UNMAPPED);
            return u32::from(was_buffered);
        }
        self.invalidate(old);
        self.set_map(lpn, UNMAPPED);
        self.nand.remember_trim(lpn);
        if G::KEEPS {
            self.log_trim(lpn);
        }
        self.journal_change(1);
        u32::from(was_buffered)
    }

    #[inline(always)]
    fn journal_change(&mut self, entries: u32) {
        self.journal.pending = self.journal.pending.saturating_add(entries);
    }
}
