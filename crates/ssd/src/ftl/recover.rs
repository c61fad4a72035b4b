//! Power failure: the state that a translation layer loses, and its recovery.
//!
//! Recovery uses only the content of the media, step by step, and books the reads it needs. By a
//! scan (a page-mapped layer may recover by its journal instead):
//!
//! 1. the first page of every programmed block: which superblocks are in use, and their age;
//! 2. the map on media (checkpoint or map pages), where the layer keeps one;
//! 3. the map journal written since;
//! 4. the spare areas of the superblocks written since the map was last on media: all of them if
//!    the map is never written to media.
//!
//! The newest readable copy of each address counts, unless it was trimmed since. Sequence numbers
//! decide, so that recovery can be interrupted and restarted any number of times.

use super::translation::{SlotPlace, Translation};
use crate::config::{DriveConfig, JOURNAL_PAGES, RecoverBy};
use crate::nand::media::{CutDamage, Media, Page, SlotContent};
use crate::nand::{Gear, Mode, Nand, Purpose, Recorder, Reliability, UnitPlace, UsedArray};
use std::collections::BTreeMap;

/// One step of recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryStep {
    /// Name of the step.
    pub name: &'static str,
    /// Number of unit reads, or of slots programmed or put into the buffer.
    pub operations: u64,
    /// End, ns of virtual time.
    pub end: u64,
}

/// The state of a translation layer that a recovery restores from media.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveredState {
    /// Slot of each address, hidden ones included, plus one; zero: none.
    pub map: Vec<u32>,
    /// Valid slots of each superblock.
    pub valid: Vec<u32>,
    /// State of each superblock: its number in the layer's list of states, mode and stream or
    /// segment.
    pub superblocks: Vec<[u32; 3]>,
    /// Next row of each block.
    pub rows: Vec<u32>,
    /// Free superblocks and other lists of the layer, each in order.
    pub lists: Vec<Vec<u32>>,
    /// Place in the ring of the next journal page.
    pub journal_next: u32,
    /// Clock of ages, in host slots, when each superblock of the layer's last list was closed.
    pub closed_at: Vec<u64>,
    /// The layer's parts as text: what is not on media begins afresh in them.
    pub parts: Vec<String>,
}

/// A translation layer over media that keep data.
pub trait Recoverable: Translation<Gear = Recorder> {
    /// Cuts power now; see [`Gear::cut`].
    fn cut(&mut self, hold: Option<u64>) -> CutDamage {
        self.nand_mut().cut(hold)
    }
    /// Addresses whose newest content is only in the buffer, oldest first.
    fn buffered(&self) -> Vec<u32>;
    /// Discards all state but the media and recovers it, from `from` on.
    fn recover(&mut self, config: &DriveConfig, by: RecoverBy, from: u64) -> Vec<RecoveryStep>;
    /// The state that recovery restores.
    fn recovered_state(&self) -> RecoveredState;
    /// The media.
    fn media(&self) -> &Media {
        self.nand().media().expect("this gear keeps media")
    }
    /// Mutable access to the media.
    fn media_mut(&mut self) -> &mut Media {
        self.nand_mut().media_mut().expect("this gear keeps media")
    }
    /// Applies everything that has ended by now to the media.
    fn settle(&mut self) {
        self.nand_mut().settle_all();
    }
    /// Present content of a mapping unit; `None`: none.
    fn content(&self, lpn: u32) -> Option<&SlotContent> {
        match self.find(lpn) {
            SlotPlace::Unmapped => None,
            SlotPlace::Buffered => self.media().buffered(lpn),
            SlotPlace::Media(slot) => self.media().content_at(slot),
        }
    }
    /// Wear of the media as a cut now would find it, where it wears.
    fn settled_wear(&self) -> Option<&Reliability> {
        self.nand().settled_wear()
    }
    /// Takes over the wear and counts of an array, for a drive read from files. `ended`: its
    /// reserve is used up.
    fn take_array(&mut self, array: UsedArray, _ended: bool) {
        self.nand_mut().take_used(array);
    }
}

/// The newest readable copy of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewestCopy {
    pub seq: u64,
    pub slot: u32,
    pub weight: u32,
}

/// The newest readable copy of every address that was not trimmed since.
pub(super) fn newest_copies<G: Gear>(nand: &Nand<G>) -> BTreeMap<u32, NewestCopy> {
    let mut copies: BTreeMap<u32, NewestCopy> = BTreeMap::new();
    let Some(media) = nand.media() else {
        return copies;
    };
    let dies = nand.geometry.die_count;
    for block in 0..media.blocks().len() as u32 {
        for (row, page) in media.readable(block) {
            let first = nand.geometry.first_slot(block / dies, row, block % dies);
            for spare in &page.slots {
                let copy = NewestCopy {
                    seq: page.seq,
                    slot: first + spare.offset,
                    weight: spare.weight,
                };
                let newest = copies.entry(spare.address).or_insert(copy);
                if copy.seq > newest.seq {
                    *newest = copy;
                }
            }
        }
    }
    copies.retain(|&address, copy| copy.seq > media.forgotten_at(address));
    copies
}

/// A superblock as found on media.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SurveyedSuperblock {
    /// Sequence number of its first page and of its last; zero: it is empty.
    pub first: u64,
    pub last: u64,
    /// Rows programmed in its present generation, over all dies.
    pub units: u32,
    pub tag: u32,
    pub slc: bool,
    /// Number of its blocks that have pages.
    pub blocks: u32,
}

/// Surveys every superblock on media.
pub(super) fn survey<G: Gear>(nand: &Nand<G>) -> Vec<SurveyedSuperblock> {
    let dies = nand.geometry.die_count;
    let mut superblocks =
        vec![SurveyedSuperblock::default(); nand.geometry.superblock_count as usize];
    let Some(media) = nand.media() else {
        return superblocks;
    };
    let blocks = media.blocks().chunks(dies as usize);
    for (superblock, blocks) in superblocks.iter_mut().zip(blocks) {
        let newest = |page: &Page| page.generation;
        let pages = || blocks.iter().flat_map(|block| &block.pages);
        let life = pages().map(|page| newest(page)).max();
        for block in blocks {
            superblock.blocks += u32::from(!block.pages.is_empty());
        }
        for page in pages().filter(|page| Some(page.generation) == life) {
            if superblock.first == 0 || page.seq < superblock.first {
                superblock.first = page.seq;
            }
            superblock.last = superblock.last.max(page.seq);
            superblock.units += 1;
            if !page.torn {
                superblock.tag = page.tag;
            }
            superblock.slc |= page.mode == Mode::Slc;
        }
    }
    superblocks
}

/// The rows that are read to find the end of each block in use: its first row, its last, and those
/// of a binary search between them.
pub(super) fn block_ends<G: Gear>(nand: &Nand<G>) -> Vec<(UnitPlace, bool)> {
    let dies = nand.geometry.die_count;
    let mut probes = Vec::new();
    let blocks = nand.media().map_or(&[][..], Media::blocks);
    for (number, block) in (0..).zip(blocks) {
        let Some(first) = block.pages.first() else {
            continue;
        };
        let used = block.pages.len() as u32;
        let mut probe = |row| {
            let unit = UnitPlace {
                superblock: number / dies,
                row,
                die: number % dies,
                mode: first.mode,
            };
            probes.push((unit, row < used));
            row < used
        };
        probe(0);
        let (mut low, mut high) = (0, nand.rows(first.mode));
        let mut row = high - 1;
        while high - low > 1 {
            if probe(row) {
                low = row;
            } else {
                high = row;
            }
            row = low.midpoint(high);
        }
    }
    probes
}

/// Books the reads of recovery; each step begins when the previous one has ended.
pub(super) struct Steps {
    at: u64,
    list: Vec<RecoveryStep>,
}

impl Steps {
    pub fn new(at: u64) -> Steps {
        let list = Vec::new();
        Steps { at, list }
    }

    /// Reads the units of one step.
    pub fn read<G: Gear>(&mut self, nand: &mut Nand<G>, name: &'static str, units: &[UnitPlace]) {
        let mut end = self.at;
        for &unit in units {
            end = end.max(nand.read(self.at, unit, 0, Purpose::Map));
        }
        self.add(name, units.len() as u64, end);
    }

    /// Reads rows that may be erased: each with whether it is programmed.
    pub fn probe<G: Gear>(
        &mut self,
        nand: &mut Nand<G>,
        name: &'static str,
        units: &[(UnitPlace, bool)],
    ) {
        let mut end = self.at;
        for &(unit, programmed) in units {
            end = end.max(if programmed {
                nand.read(self.at, unit, 0, Purpose::Map)
            } else {
                nand.read_blank(self.at, unit.die, unit.row, 0, Purpose::Host)
            });
        }
        self.add(name, units.len() as u64, end);
    }

    /// End of the last step.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Adds a step of the layer's own.
    pub fn add(&mut self, name: &'static str, operations: u64, end: u64) {
        self.at = end;
        self.list.push(RecoveryStep {
            name,
            operations,
            end,
        });
    }

    pub fn done(self) -> Vec<RecoveryStep> {
        self.list
    }
}

/// Books the reads of steps 1 to 4. `map_pages`: slots of the map on media.
pub(super) fn read_media<G: Gear>(
    nand: &mut Nand<G>,
    seen: &[SurveyedSuperblock],
    map_pages: Vec<u32>,
    steps: &mut Steps,
) {
    let dies = nand.geometry.die_count;
    let mut first_pages = Vec::new();
    let mut journal = Vec::new();
    let mut open = Vec::new();
    if let Some(media) = nand.media() {
        let covered = media.covered();
        for (block, at) in (0..).zip(media.blocks()) {
            let superblock = block / dies;
            let written_since = seen[superblock as usize].last > covered;
            for (row, page) in (0..).zip(&at.pages) {
                let unit = UnitPlace {
                    superblock,
                    row,
                    die: block % dies,
                    mode: page.mode,
                };
                if row == 0 {
                    first_pages.push(unit);
                }
                if page.map.is_some() && !page.torn {
                    journal.push((page.seq, unit));
                }
                if written_since {
                    open.push(unit);
                }
            }
        }
    }
    journal.sort_by_key(|&(seq, _)| seq);
    // The journal is a ring; older entries are in the map.
    let ring = JOURNAL_PAGES as usize;
    let recent = journal.split_off(journal.len().saturating_sub(ring));
    let journal: Vec<UnitPlace> = recent.into_iter().map(|(_, unit)| unit).collect();
    let map_units: Vec<UnitPlace> = map_pages
        .into_iter()
        .map(|slot| {
            let place = nand.geometry.place(slot);
            UnitPlace::of(
                place,
                if seen[place.superblock as usize].slc {
                    Mode::Slc
                } else {
                    Mode::Native
                },
            )
        })
        .collect();
    steps.read(nand, "find superblocks", &first_pages);
    steps.read(nand, "read the map", &map_units);
    steps.read(nand, "replay the journal", &journal);
    steps.read(nand, "scan open superblocks", &open);
}
