//! Page-mapped: every mapping unit may lie anywhere.
//!
//! ```text
//!  host slots -> Gather (per stream) -> frontier -> superblock --(full)--> candidates
//!                                          ^  pSLC while free, else native     | policy
//!  map journal, map pages -----------------+                                   |
//!  relocated slots -> relocation frontier <--- Mover <-------------------------+
//! ```
//! [`PageFtl`] is a set of objects with one purpose each, which know of one another only what a
//! call hands them:
//!
//! | object | knows |
//! |---|---|
//! | [`SlotMap`] | where each slot lies, whose each slot on media is, what is valid |
//! | [`Space`] | state and valid slots of each superblock, which are free and which full |
//! | [`WriteBuffer`] | host data that waits to be placed |
//! | [`Placement`] | the frontiers, and which of them takes what |
//! | [`Reclaimer`] | when reclaim must work, what it empties, who has paid for it |
//! | [`MapJournal`] | changes of the map that wait to be written |
//! | [`Levelling`] | what wear and fading data give to do |
//!
//! What needs several of them is a method of [`PageFtl`], by subject: `buffering`, `place`,
//! `program`, `paying`, `emptying`, `wear_work`, `lookup`, `recover`, and the fast paths
//! `plain` and `bulk`.
//!
//! Whole units are placed as soon as the next slot arrives; placing first does the reclaim that
//! pays for it, so that the map depends on the order of writes alone.
//!
//! The map journal and the map pages lie at hidden logical addresses beyond the host's and are
//! relocated like anything else.

mod buffering;
mod bulk;
mod by_journal;
mod change_log;
mod check;
mod emptying;
mod interface;
mod journal;
mod layout;
mod levelling;
mod lookup;
mod mover;
mod paying;
mod place;
mod placement;
mod plain;
mod program;
mod reclaim;
mod recover;
mod scan;
mod slot_map;
mod space;
mod table;
mod upkeep;
mod wear_work;
mod write_buffer;

use super::gather::GatherEntry;
use super::map_value::{BUFFERED, UNMAPPED};
use super::policies::VictimPolicy;
use super::translation::{Hint, SlotPlace};
use crate::config::{DriveConfig, JournalConfig, SlcConfig};
use crate::counters::DriveCounters;
use crate::image::image_of;
use crate::nand::{Gear, Nand};
use journal::MapJournal;
pub use layout::{Full, Layout, Lean};
use levelling::Levelling;
use placement::Placement;
use reclaim::Reclaimer;
use slot_map::SlotMap;
use space::Space;
use write_buffer::WriteBuffer;

image_of! {
    /// Configuration values used while running.
    #[derive(Clone, Debug)]
    struct Rules {
        slc: SlcConfig,
        journal: JournalConfig,
        leaf_programs: u32,
        pack: u32,
        parity: bool,
        /// Slots gathered before the oldest unit is placed.
        gather_slots: u32,
        /// Mapping units gathered before it is placed, however few slots they take: a buffer full
        /// of well compressible data must not wait for more.
        gather_units: u32,
    }
}

impl Rules {
    fn new(config: &DriveConfig) -> Rules {
        let ftl = &config.ftl;
        let unit = config.geometry().slots_per_unit;
        let held = config.buffer.hold_bytes / u64::from(config.shape.slot_bytes);
        Rules {
            slc: ftl.slc,
            journal: ftl.journal,
            leaf_programs: ftl.mapping.leaf_programs,
            pack: config.pack(),
            parity: ftl.parity,
            gather_slots: unit + held as u32 * config.pack(),
            gather_units: unit + held as u32,
        }
    }
}

image_of! {
    /// A page-mapped translation layer over its media.
    #[derive(Clone, Debug)]
    pub struct PageFtl<G: Gear, L: Layout> {
        nand: Nand<G>,
        counters: DriveCounters,
        rules: Rules,
        map: SlotMap<L>,
        space: Space,
        buffer: WriteBuffer,
        placement: Placement,
        reclaim: Reclaimer,
        journal: MapJournal,
        levelling: Levelling,
    }
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    fn fresh(config: &DriveConfig, own: Option<Box<dyn VictimPolicy>>) -> Self {
        let geometry = config.geometry();
        let rules = Rules::new(config);
        let slots = geometry.slots_per_superblock;
        let parity = if rules.parity {
            slots / geometry.die_count
        } else {
            0
        };
        let data_slots = slots - parity;
        let streams = config.ftl.reclaim.streams as usize;
        let unit = geometry.slots_per_unit;
        PageFtl {
            counters: DriveCounters::default(),
            map: SlotMap::new(config, &geometry),
            space: Space::new(config, &geometry, data_slots),
            buffer: WriteBuffer::new(streams, rules.gather_slots + 1, unit),
            placement: Placement::new(config),
            reclaim: Reclaimer::new(config, own, data_slots),
            journal: MapJournal::new(config, G::KEEPS),
            levelling: Levelling::new(config),
            nand: Nand::new(geometry, &config.nand, config.wear.as_ref()),
            rules,
        }
    }
}
