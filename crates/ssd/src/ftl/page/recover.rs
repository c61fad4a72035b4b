//! Media that keep data: records of the page-mapped layer, and its recovery from them.
//!
//! State that is not on media is rebuilt: superblocks that were being filled are continued behind
//! the torn rows; those being emptied are candidates again; write credits begin with the shortfall
//! of free space against the reserve of reclaim.

use super::space::{FullOf, State};
use super::{BUFFERED, GatherEntry, Gear, Layout, PageFtl, SlotPlace, UNMAPPED};
use crate::config::{DriveConfig, RecoverBy};
use crate::ftl::frontier::Frontier;
use crate::ftl::recover::{
    NewestCopy, Recoverable, RecoveredState, RecoveryStep, Steps, SurveyedSuperblock,
    newest_copies, read_media, survey,
};
use crate::nand::media::{Content, SlotContent, Spare};
use crate::nand::{Mode, Recorder, UnitPlace, UsedArray};
use std::collections::BTreeMap;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Records new content of a mapping unit in the buffer.
    #[inline(always)]
    pub(super) fn remember_write(&mut self, lpn: u32, tag: u32) {
        if !G::KEEPS {
            return;
        }
        let newest = self.map.find(lpn);
        let slot = match newest {
            SlotPlace::Media(slot) => Some(slot),
            _ => None,
        };
        if let Some(media) = self.nand.media_mut() {
            media.take_in(lpn, slot, newest == SlotPlace::Buffered, tag);
        }
    }

    /// Records the content of a booked unit. `moved`: the slots are copies of data on media.
    #[inline(always)]
    pub(super) fn remember_program(&mut self, at: UnitPlace, batch: &[GatherEntry], moved: bool) {
        if G::KEEPS {
            self.remember_slots(at, batch, moved);
        }
    }

    fn remember_slots(&mut self, at: UnitPlace, batch: &[GatherEntry], moved: bool) {
        let tag = self.placement.frontier_of(at.superblock);
        let Some(media) = self.nand.media_mut() else {
            return;
        };
        let mut slots = media.room(at.die);
        let mut next = 0;
        let mut spare = |entry: &GatherEntry, content: Content| {
            let weight = if L::FULL { entry.weight } else { 1 };
            let offset = next;
            next += weight;
            Spare {
                offset,
                weight,
                address: entry.lpn,
                content,
            }
        };
        // Pages of the map have no content.
        if moved {
            let old = batch.iter().map(|entry| entry.old - 1);
            let contents = media.contents_at(old.clone()).flatten();
            contents.for_each(SlotContent::prefetch);
            let contents = media.contents_at(old);
            let mut contents = contents.map(|content| content.map(SlotContent::to_move));
            slots.extend(
                batch
                    .iter()
                    .map(|entry| spare(entry, contents.next().flatten())),
            );
        } else {
            slots.extend(
                batch
                    .iter()
                    .map(|entry| spare(entry, media.take_buffered(entry.lpn))),
            );
        }
        media.fill(at.die, tag.unwrap_or(0) as u32, slots);
    }
}

impl<L: Layout> Recoverable for PageFtl<Recorder, L> {
    fn buffered(&self) -> Vec<u32> {
        let gathers = self.buffer.gathers().iter();
        gathers
            .flat_map(|gather| gather.iter().map(|(_, entry)| entry.lpn))
            .collect()
    }

    fn recover(&mut self, config: &DriveConfig, by: RecoverBy, from: u64) -> Vec<RecoveryStep> {
        self.nand.power_on(from);
        self.forget_all(config);
        let superblocks = survey(&self.nand);
        self.take_modes(&superblocks);
        let mut steps = Steps::new(from);
        let copies = match by {
            RecoverBy::Journal => self.copies_by_journal(&mut steps),
            RecoverBy::Scan => newest_copies(&self.nand),
        };
        self.take_copies(copies);
        self.take_superblocks(&superblocks);
        self.take_map_pages();
        if by == RecoverBy::Scan {
            let hidden = self.journal.addresses().end;
            let map = self.map.values()[hidden as usize..].iter();
            let map_pages = map.filter_map(|value| value.checked_sub(1)).collect();
            read_media(&mut self.nand, &superblocks, map_pages, &mut steps);
        }
        steps.done()
    }

    fn recovered_state(&self) -> RecoveredState {
        let space = &self.space;
        let superblocks = 0..space.count();
        let state = |s: u32| {
            [
                space.state(s) as u32,
                space.mode(s) as u32,
                space.stream_of(s).into(),
            ]
        };
        let candidates: Vec<u32> = space.candidates_by_age().collect();
        let open = |frontier: &Frontier| frontier.open().map_or(0, |(s, _)| s + 1);
        let dies = self.nand.geometry.die_count;
        let blocks = superblocks
            .clone()
            .flat_map(|s| (0..dies).map(move |die| (s, die)));
        RecoveredState {
            map: self.map.values().to_vec(),
            valid: superblocks.clone().map(|s| space.valid(s)).collect(),
            superblocks: superblocks.map(state).collect(),
            rows: blocks.map(|(s, die)| self.nand.next_row(s, die)).collect(),
            lists: vec![
                space.free_ones().collect(),
                space.free_slc_ones().collect(),
                space.slc_full_ones().collect(),
                self.placement.frontiers().iter().map(open).collect(),
                space.tree_full_ones().collect(),
                candidates.clone(),
            ],
            journal_next: self.journal.next(),
            closed_at: candidates.iter().map(|&s| space.closed_at(s)).collect(),
            parts: self.parts(),
        }
    }

    fn take_array(&mut self, array: UsedArray, ended: bool) {
        self.nand.take_used(array);
        self.levelling.set_ended(ended);
    }
}

impl<L: Layout> PageFtl<Recorder, L> {
    fn parts(&self) -> Vec<String> {
        vec![
            format!("{:?}", self.space),
            format!("{:?}", self.placement),
            format!("{:?}", self.reclaim),
            format!("{:?}", self.levelling),
            format!("{:?}", self.map.upkeep()),
        ]
    }

    /// Discards all state that is not on media.
    fn forget_all(&mut self, config: &DriveConfig) {
        self.map.forget();
        self.space.forget();
        self.placement.forget();
        self.buffer.clear();
        self.reclaim.forget(config);
        self.journal.forget();
        self.levelling.forget(self.counters.nand_reads_patrol);
    }

    fn take_modes(&mut self, found: &[SurveyedSuperblock]) {
        for (superblock, found) in (0..).zip(found) {
            let static_slc = superblock < self.space.static_slc();
            let cached = static_slc || (found.units > 0 && found.slc);
            let mode = if cached { Mode::Slc } else { Mode::Native };
            self.space.set_mode(superblock, mode);
        }
    }

    fn take_copies(&mut self, copies: BTreeMap<u32, NewestCopy>) {
        for (lpn, copy) in copies {
            if lpn as usize >= self.map.values().len() {
                continue;
            }
            self.map.restore(lpn, &copy);
            let superblock = self.nand.geometry.superblock_of(copy.slot);
            self.space.add_valid(superblock, copy.weight);
        }
    }

    /// Classifies every superblock as open, full or free, oldest first.
    fn take_superblocks(&mut self, found: &[SurveyedSuperblock]) {
        let mut order: Vec<u32> = (0..found.len() as u32).collect();
        order.sort_by_key(|&s| (found[s as usize].last, s));
        let mut open = vec![None; self.placement.frontiers().len()];
        for &s in &order {
            let content = found[s as usize];
            let frontier = (content.tag as usize).min(open.len() - 1);
            let mode = self.space.mode(s);
            let units = self.units_of(mode);
            let retired = self.nand.is_retired(s);
            let begun = content.units > 0 && content.units < units && !retired;
            let usable = begun && self.placement.fits(mode, frontier);
            if usable {
                open[frontier] = Some(s);
            }
        }
        for (frontier, superblock) in open.iter().enumerate() {
            if let Some(superblock) = *superblock {
                self.reopen(frontier, superblock);
            }
        }
        let newest = found.iter().map(|found| found.last).max().unwrap_or(0);
        for s in order {
            if open.contains(&Some(s)) {
                continue;
            }
            // Bad block marks are on media too.
            if self.nand.is_retired(s) {
                self.space.set_state(s, State::Retired);
            } else if self.space.valid(s) == 0 {
                self.take_empty(s, found[s as usize]);
            } else {
                self.take_full(s, found[s as usize], newest);
            }
        }
        let native = self.space.static_slc()..found.len() as u32;
        let retired = native.filter(|&s| self.nand.is_retired(s)).count() as u32;
        self.space.set_native_retired(retired);
        self.space.set_now(self.counters.slots_host);
        let superblock_slots = self.nand.geometry.slots_per_superblock;
        self.reclaim.restore_credits(&self.space, superblock_slots);
    }

    fn reopen(&mut self, frontier: usize, superblock: u32) {
        let mode = self.space.mode(superblock);
        let stream = self.placement.stream_of(frontier);
        self.space.open(superblock, mode, stream);
        let frontier = self.placement.frontier_mut(frontier);
        frontier.resume(superblock, mode, &self.nand);
    }

    fn take_empty(&mut self, superblock: u32, found: SurveyedSuperblock) {
        if found.blocks > 0 {
            self.nand.make_rest_stale(superblock);
        }
        if superblock >= self.space.static_slc() {
            self.space.set_mode(superblock, Mode::Native);
        }
        self.space.release(superblock);
    }

    /// `newest`: the sequence number of the newest page on media.
    fn take_full(&mut self, superblock: u32, found: SurveyedSuperblock, newest: u64) {
        let frontier = found.tag as usize;
        let stream = self.placement.stream_of(frontier);
        self.space.set_stream(superblock, stream);
        // Its age, from the order of programming.
        let units = newest - found.last;
        let age = units.saturating_mul(self.unit_slots().into());
        let written = self.counters.slots_host.saturating_sub(age);
        let content = match self.space.mode(superblock) {
            Mode::Slc => FullOf::Slc,
            Mode::Native if self.placement.is_of_tree(frontier) => FullOf::Tree,
            Mode::Native => FullOf::Data,
        };
        self.space.close(superblock, content, written);
        self.closed_worn(superblock, self.space.mode(superblock));
    }

    /// Restores the state of the map's own pages: position of the journal, and leaves on media.
    fn take_map_pages(&mut self) {
        let ring = self.journal.addresses();
        let journal = &self.map.values()[ring.start as usize..ring.end as usize];
        let pages = (0..).zip(journal).filter(|(_, value)| **value != UNMAPPED);
        let newest = pages.max_by_key(|(_, value)| self.journal_order(**value - 1));
        if let Some((slot, _)) = newest {
            self.journal.resume_after(slot);
        }
        let on_media: Vec<bool> = self.map.values()[ring.end as usize..]
            .iter()
            .map(|value| *value != UNMAPPED && *value < BUFFERED)
            .collect();
        self.map.upkeep_mut().take_homes(&on_media);
    }

    /// Order of the journal page in a slot: its number; of pages without content, their order of
    /// programming.
    fn journal_order(&self, slot: u32) -> u64 {
        let content = self.nand.media().and_then(|media| media.content_at(slot));
        content.map_or_else(|| self.seq_of(slot), |content| content.numbers.highest())
    }

    fn seq_of(&self, slot: u32) -> u64 {
        let place = self.nand.geometry.place(slot);
        let block = place.superblock * self.nand.geometry.die_count + place.die;
        let media = self.nand.media();
        let page = media.and_then(|m| m.blocks()[block as usize].pages.get(place.row as usize));
        page.map_or(0, |page| page.seq)
    }
}
