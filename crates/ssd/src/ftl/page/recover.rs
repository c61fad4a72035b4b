//! Media that keep data: records of the page-mapped layer, and its recovery from them.
//!
//! State that is not on media is rebuilt: superblocks that were being filled are continued behind
//! the torn rows; those being emptied are candidates again; write credits begin with the shortfall
//! of free space against the reserve of reclaim.

use super::{
    BUFFERED, Entry, Found, Frontier, Gear, Layout, Mover, PageFtl, SLC_FRONTIER, State, UNMAPPED,
};
use crate::config::{DriveConfig, RecoverBy};
use crate::ftl::recover::{
    Copy, Recoverable, RecoveredState, RecoveryStep, Seen, Steps, newest_copies, read_media, survey,
};
use crate::nand::media::{Content, Media, SlotContent, Spare};
use crate::nand::{Mode, Recorder, UnitPlace, UsedArray};
use crate::rng::Rng;
use std::collections::BTreeMap;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Records new content of a mapping unit in the buffer.
    #[inline(always)]
    pub(super) fn remember_write(&mut self, lpn: u32, tag: u32) {
        if !G::KEEPS {
            return;
        }
        let found = self.found(lpn);
        let slot = match found {
            Found::Media(slot) => Some(slot),
            _ => None,
        };
        if let Some(media) = self.nand.media_mut() {
            media.take_in(lpn, slot, found == Found::Buffered, tag);
        }
    }

    /// Records the content of a booked unit. `moved`: the slots are copies of data on media.
    #[inline(always)]
    pub(super) fn remember_program(&mut self, at: UnitPlace, batch: &[Entry], moved: bool) {
        if G::KEEPS {
            self.remember_slots(at, batch, moved);
        }
    }

    fn remember_slots(&mut self, at: UnitPlace, batch: &[Entry], moved: bool) {
        let open = |frontier: &Frontier| frontier.open().map(|open| open.0);
        let mut frontiers = self.frontiers.iter();
        let tag = frontiers.position(|frontier| open(frontier) == Some(at.superblock));
        let Some(media) = self.nand.media_mut() else {
            return;
        };
        let mut slots = media.room(at.die);
        let mut next = 0;
        let mut spare = |entry: &Entry, content: Content| {
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

    /// Records a journal page booked on a die.
    #[inline(always)]
    pub(super) fn remember_journal(&mut self, die: u32) {
        if let Some(media) = self.nand.media_mut() {
            media.fill_map(die);
        }
    }
}

impl<L: Layout> Recoverable for PageFtl<Recorder, L> {
    fn buffered(&self) -> Vec<u32> {
        let gathers = self.gathers.iter();
        gathers
            .flat_map(|gather| gather.iter().map(|(_, entry)| entry.lpn))
            .collect()
    }

    fn recover(&mut self, config: &DriveConfig, by: RecoverBy, from: u64) -> Vec<RecoveryStep> {
        self.nand.power_on(from);
        self.forget_all(config);
        let seen = survey(&self.nand);
        self.take_modes(&seen);
        let mut steps = Steps::new(from);
        let copies = match by {
            RecoverBy::Journal => self.copies_by_journal(&mut steps),
            RecoverBy::Scan => newest_copies(&self.nand),
        };
        self.take_copies(copies);
        self.take_superblocks(&seen);
        self.take_map_pages();
        if by == RecoverBy::Scan {
            let hidden = self.user_slots + self.journal.slots;
            let map = self.map[hidden as usize..].iter();
            let map_pages = map.filter_map(|value| value.checked_sub(1)).collect();
            read_media(&mut self.nand, &seen, map_pages, &mut steps);
        }
        steps.done()
    }

    fn recovered_state(&self) -> RecoveredState {
        let count = 0..self.state.len();
        let superblock = |s: usize| {
            [
                self.state[s] as u32,
                self.mode[s] as u32,
                self.stream_of[s].into(),
            ]
        };
        let open = |frontier: &Frontier| frontier.open().map_or(0, |(s, _)| s + 1);
        let dies = self.nand.geometry.die_count;
        let blocks = count
            .clone()
            .flat_map(|s| (0..dies).map(move |die| (s as u32, die)));
        RecoveredState {
            map: self.map.to_vec(),
            valid: count
                .clone()
                .map(|s| self.candidates.valid(s as u32))
                .collect(),
            superblocks: count.map(superblock).collect(),
            rows: blocks.map(|(s, die)| self.nand.next_row(s, die)).collect(),
            lists: vec![
                self.free.iter().copied().collect(),
                self.free_slc.iter().copied().collect(),
                self.slc_full.iter().copied().collect(),
                self.frontiers.iter().map(open).collect(),
                self.map_full.iter().copied().collect(),
            ],
            journal_next: self.journal.next,
        }
    }

    fn take_array(&mut self, array: UsedArray, ended: bool) {
        self.nand.take_used(array);
        self.wear.set_ended(ended);
    }
}

impl<L: Layout> PageFtl<Recorder, L> {
    /// Discards all state that is not on media.
    fn forget_all(&mut self, config: &DriveConfig) {
        self.map.fill(UNMAPPED);
        self.written_end = 0;
        self.owner.fill(0);
        self.valid.fill(0);
        self.live = 0;
        self.candidates.clear();
        self.free.clear();
        self.free_slc.clear();
        self.slc_full.clear();
        self.map_full.clear();
        self.frontiers.fill(Frontier::default());
        for gather in &mut self.gathers {
            gather.clear();
        }
        self.movers = <[Mover; 4]>::default();
        self.refresh_queue.clear();
        self.wear.clear();
        self.reads_since.fill(0);
        self.stream_of.fill(0);
        self.journal.pending = 0;
        self.journal.next = 0;
        self.journal.checkpoint_debt = 0;
        self.lifespans.written_at.fill(0);
        self.upkeep.clear();
        self.launched.clear();
        self.epoch += 1;
        // The draw among equal victims must not depend on the number of power failures.
        self.rng = Rng::named(config.ftl.seed, "victim");
    }

    fn take_modes(&mut self, seen: &[Seen]) {
        let slc = self.rules.slc.superblocks as usize;
        for (s, (mode, seen)) in self.mode.iter_mut().zip(seen).enumerate() {
            let cached = s < slc || (seen.units > 0 && seen.slc);
            *mode = if cached { Mode::Slc } else { Mode::Native };
        }
    }

    fn take_copies(&mut self, copies: BTreeMap<u32, Copy>) {
        for (lpn, copy) in copies {
            if lpn as usize >= self.map.len() {
                continue;
            }
            if lpn < self.user_slots {
                self.written_end = self.written_end.max(lpn + 1);
            }
            self.set_map(lpn, copy.slot + 1);
            self.owner[copy.slot as usize] = lpn;
            self.valid[copy.slot as usize / 64] |= 1 << (copy.slot % 64);
            if let Some(weight) = self.weight.get_mut(copy.slot as usize) {
                *weight = copy.weight as u8;
            }
            let superblock = self.nand.geometry.superblock_of(copy.slot);
            self.candidates.add_valid(superblock, copy.weight);
            self.live += u64::from(copy.weight);
        }
    }

    /// Classifies every superblock as open, full or free, oldest first.
    fn take_superblocks(&mut self, seen: &[Seen]) {
        let mut order: Vec<u32> = (0..seen.len() as u32).collect();
        order.sort_by_key(|&s| (seen[s as usize].last, s));
        let mut open = vec![None; self.frontiers.len()];
        for &s in &order {
            let at = seen[s as usize];
            let tag = (at.tag as usize).min(open.len() - 1);
            let units = self.nand.rows(self.mode[s as usize]) * self.nand.geometry.die_count;
            let retired = self.nand.is_retired(s);
            let begun = at.units > 0 && at.units < units && !retired;
            let usable = begun && self.fits(s, tag);
            if usable {
                open[tag] = Some(s);
            }
        }
        for (frontier, superblock) in open.iter().enumerate() {
            if let Some(superblock) = *superblock {
                self.reopen(frontier, superblock);
            }
        }
        for s in order {
            if open.contains(&Some(s)) {
                continue;
            }
            // Bad block marks are on media too.
            if self.nand.is_retired(s) {
                self.state[s as usize] = State::Retired;
            } else if self.candidates.valid(s) == 0 {
                self.take_empty(s, seen[s as usize]);
            } else {
                self.take_full(s, seen[s as usize]);
            }
        }
        let native = self.rules.slc.superblocks..seen.len() as u32;
        let retired = native.filter(|&s| self.nand.is_retired(s)).count() as u32;
        self.wear.take_retired(retired);
        self.candidates.set_now(self.counters.slots_host);
        self.credits = self.credits_left();
    }

    /// Whether a frontier may continue a superblock that is not full.
    fn fits(&self, superblock: u32, tag: usize) -> bool {
        let slc = self.mode[superblock as usize] == Mode::Slc;
        slc == (tag == SLC_FRONTIER)
    }

    fn reopen(&mut self, frontier: usize, superblock: u32) {
        let s = superblock as usize;
        self.state[s] = State::Open;
        let streams = self.rules.streams as usize;
        self.stream_of[s] = ((frontier.max(1) - 1) % streams) as u8;
        self.frontiers[frontier].resume(superblock, self.mode[s], &self.nand);
    }

    fn take_empty(&mut self, superblock: u32, seen: Seen) {
        let s = superblock as usize;
        self.state[s] = State::Free;
        if seen.blocks > 0 {
            self.nand.make_rest_stale(superblock);
        }
        if superblock < self.rules.slc.superblocks {
            self.free_slc.push_back(superblock);
        } else {
            self.mode[s] = Mode::Native;
            self.free.push_back(superblock);
        }
    }

    fn take_full(&mut self, superblock: u32, seen: Seen) {
        let s = superblock as usize;
        self.state[s] = State::Full;
        let streams = self.rules.streams as usize;
        self.stream_of[s] = ((seen.tag.max(1) as usize - 1) % streams) as u8;
        match self.mode[s] {
            Mode::Slc => self.slc_full.push_back(superblock),
            Mode::Native if self.is_of_tree(seen.tag as usize) => {
                self.map_full.push_back(superblock);
            }
            Mode::Native => {
                // Its age, from the order of programming.
                let newest = self.nand.media().map_or(0, Media::last_seq);
                let units = newest.saturating_sub(seen.last);
                let age = units.saturating_mul(self.unit_slots().into());
                let now = self.counters.slots_host;
                self.candidates.close(superblock, now.saturating_sub(age));
            }
        }
    }

    /// Credits that were spent in advance may be lost with the power: the shortfall of free space
    /// against the reserve becomes the debt.
    fn credits_left(&self) -> i64 {
        let geometry = &self.nand.geometry;
        let slots = i64::from(geometry.slots_per_superblock);
        let reserve = i64::from(self.rules.free_low) * slots;
        (self.free.len() as i64 * slots - reserve).min(0)
    }

    /// Restores the state of the map's own pages: position of the journal, and leaves on media.
    fn take_map_pages(&mut self) {
        let first = self.journal.first as usize;
        let journal = &self.map[first..first + self.journal.slots as usize];
        let newest = (0..).zip(journal).filter(|(_, value)| **value != UNMAPPED);
        let newest = newest.max_by_key(|(_, value)| self.journal_order(**value - 1));
        if let Some((slot, _)) = newest {
            self.journal.next = (slot + 1) % self.journal.slots;
        }
        let map: Vec<bool> = self.map[first + self.journal.slots as usize..]
            .iter()
            .map(|value| *value != UNMAPPED && *value < BUFFERED)
            .collect();
        self.upkeep.take_homes(&map);
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
