//! Placing: whole units at a frontier, and the pages of the map journal.

use super::placement::SLC_FRONTIER;
use super::space::FullOf;
use super::{GatherEntry, Gear, Layout, PageFtl};
use crate::config::SlcFull;
use crate::ftl::translation::{BookedUnit, Hint};
use crate::nand::media::Media;
use crate::nand::{Mode, Purpose, Ticket, UnitPlace};
use std::ops::Range;

/// A unit to be programmed, and the frontier that it was taken from.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrontierUnit {
    pub frontier: usize,
    pub place: UnitPlace,
}

/// Why data of the host is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostWrite {
    /// The buffer has a whole unit, or the drive is idle.
    Usual,
    /// The host waits for it: FLUSH, FUA.
    Commit,
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    pub(super) fn unit_slots(&self) -> u32 {
        self.nand.geometry.slots_per_unit
    }

    /// Opens a free native superblock at a frontier, in `mode`.
    pub(super) fn open(&mut self, frontier: usize, mode: Mode) {
        let stream = self.placement.stream_of(frontier);
        let Some(superblock) = self.take_free(frontier) else {
            let superblock = self
                .take_unfilled()
                .expect("reclaim keeps superblocks free");
            self.space.set_stream(superblock, stream);
            let frontier = self.placement.frontier_mut(frontier);
            return frontier.resume(superblock, Mode::Native, &self.nand);
        };
        self.space.open(superblock, mode, stream);
        let frontier = self.placement.frontier_mut(frontier);
        frontier.start(superblock, mode, &self.nand);
    }

    /// Takes the closed superblock with the most unprogrammed rows. Only cuts leave such
    /// superblocks, and many cuts in a row can use up the free ones: torn data must be rewritten,
    /// and only one open superblock of each kind is continued.
    #[cold]
    fn take_unfilled(&mut self) -> Option<u32> {
        if !G::KEEPS {
            return None;
        }
        let units = self.units_of(Mode::Native);
        let dies = self.nand.geometry.die_count;
        let used = |s: u32| (0..dies).map(|die| self.nand.next_row(s, die)).sum::<u32>();
        let space = &self.space;
        let unfilled = (0..space.count())
            .filter(|&s| space.mode(s) == Mode::Native && space.is_candidate(s))
            .map(|s| (units - used(s), s))
            .filter(|&(unused, _)| unused > 0);
        let (_, superblock) = unfilled.max()?;
        self.space.reopen(superblock);
        Some(superblock)
    }

    pub(super) fn close_if_full(&mut self, frontier: usize) {
        let closed = self.placement.frontier_mut(frontier).close_if_full();
        let Some((superblock, mode)) = closed else {
            return;
        };
        let content = match mode {
            Mode::Slc => FullOf::Slc,
            Mode::Native if L::FULL && self.placement.is_of_tree(frontier) => FullOf::Tree,
            Mode::Native => FullOf::Data,
        };
        self.space
            .close(superblock, content, self.counters.slots_host);
        self.levelling.restart_reads(superblock);
        if self.levelling.is_on() {
            self.closed_worn(superblock, mode);
        }
    }

    /// Whether the host's next unit goes to the pSLC cache; opens a superblock there if necessary.
    #[inline(always)]
    fn slc_is_open(&mut self, from: u64) -> bool {
        if self.placement.is_open(SLC_FRONTIER) {
            return true;
        }
        let slc = self.rules.slc;
        if slc.superblocks == 0 && slc.dynamic_above_free == 0 {
            return false;
        }
        self.open_slc(from)
    }

    fn open_slc(&mut self, from: u64) -> bool {
        let slc = self.rules.slc;
        let for_commits = slc.commit_superblocks;
        while slc.full == SlcFull::Fold
            && self.space.free_slc_ones().len() <= for_commits as usize
            && slc.superblocks > 0
        {
            if self.fold_step(from).is_none() {
                break;
            }
        }
        while slc.full == SlcFull::Recycle && !self.has_slc_room() && self.has_stale_slc() {
            if self.fold_step(from).is_none() {
                break;
            }
        }
        let has_room = self.space.free_slc_ones().len() > for_commits as usize;
        if let Some(superblock) = has_room.then(|| self.space.open_slc()).flatten() {
            let frontier = self.placement.frontier_mut(SLC_FRONTIER);
            frontier.start(superblock, Mode::Slc, &self.nand);
            return true;
        }
        if self.has_dynamic_room() && !self.needs_reclaim() {
            self.open(SLC_FRONTIER, Mode::Slc);
            return true;
        }
        false
    }

    /// Whether a superblock may be opened in SLC mode.
    fn has_slc_room(&self) -> bool {
        let for_commits = self.rules.slc.commit_superblocks;
        let free = self.space.free_slc_ones().len();
        free > for_commits as usize || self.has_dynamic_room() && !self.needs_reclaim()
    }

    /// Whether the host has overwritten half or more of the superblock of the cache that is folded
    /// next.
    fn has_stale_slc(&self) -> bool {
        let next = self.folding().or_else(|| self.space.next_slc_full());
        let slots = self.units_of(Mode::Slc) * self.unit_slots();
        next.is_some_and(|superblock| 2 * self.space.valid(superblock) <= slots)
    }

    /// Whether a native superblock may be opened in SLC mode.
    fn has_dynamic_room(&self) -> bool {
        let slc = &self.rules.slc;
        let (above, most) = (slc.dynamic_above_free, slc.dynamic_superblocks);
        above > 0
            && self.space.free() > above
            && (most == 0 || self.space.dynamic_slc_full() < most as usize)
    }

    /// Whether the next unit of a commit goes to a superblock kept for commits; opens one if
    /// necessary. Once none is free, the oldest is folded by a step for each unit, so that one is
    /// when the open one is full.
    fn commit_is_open(&mut self, from: u64, frontier: usize) -> bool {
        if self.placement.is_open(frontier) {
            self.fold_for_commits(from);
            return true;
        }
        while self.space.free_slc_ones().len() == 0 {
            if !self.fold_for_commits(from) {
                return false;
            }
        }
        let Some(superblock) = self.space.open_slc() else {
            return false;
        };
        let frontier = self.placement.frontier_mut(frontier);
        frontier.start(superblock, Mode::Slc, &self.nand);
        true
    }

    /// Folds by a step if no superblock for commits is free and one is full; whether it did.
    fn fold_for_commits(&mut self, from: u64) -> bool {
        let is_wanted = self.space.free_slc_ones().len() == 0
            && (self.space.has_static_full() || self.is_folding());
        is_wanted && self.fold_step(from).is_some()
    }

    /// Takes a unit for data of a stream of the host: pays for it and programs parity on the way.
    fn take_host_unit(&mut self, from: u64, stream: usize, write: HostWrite) -> FrontierUnit {
        if write == HostWrite::Commit
            && let Some(commits) = self.placement.commit_frontier()
        {
            while self.commit_is_open(from, commits) {
                if let Some(unit) = self.take_at(from, commits) {
                    return unit;
                }
            }
        }
        self.take_unit(from, self.placement.host_frontier(stream))
    }

    /// Takes a unit for a page of the map.
    fn take_map_unit(&mut self, from: u64) -> FrontierUnit {
        self.take_unit(from, self.placement.map_frontier())
    }

    #[inline(always)]
    fn take_unit(&mut self, from: u64, native: usize) -> FrontierUnit {
        loop {
            let frontier = if self.slc_is_open(from) {
                SLC_FRONTIER
            } else {
                self.pay_for_unit(from, native);
                native
            };
            if let Some(unit) = self.take_at(from, frontier) {
                return unit;
            }
        }
    }

    /// Takes the next unit of an open frontier; `None` if it holds parity, which is programmed, or
    /// has failed.
    #[inline(always)]
    fn take_at(&mut self, from: u64, frontier: usize) -> Option<FrontierUnit> {
        let place = self.placement.take(frontier, &self.nand);
        let parity = self.holds_parity(place);
        if !parity && !self.nand.program_fails(place) {
            return Some(FrontierUnit { frontier, place });
        }
        let purpose = if parity {
            Purpose::Parity
        } else {
            Purpose::Host
        };
        self.program(from, place, &[], purpose, false);
        self.close_if_full(frontier);
        None
    }

    #[inline(always)]
    pub(super) fn holds_parity(&self, place: UnitPlace) -> bool {
        self.rules.parity && place.row % self.nand.geometry.die_count == place.die
    }

    /// Places the oldest unit of a stream's buffer.
    pub(super) fn place_oldest(&mut self, from: u64, stream: usize, write: HostWrite) -> Ticket {
        self.program_due_journal(from);
        self.do_wear_work(from);
        let FrontierUnit { frontier, place } = self.take_host_unit(from, stream, write);
        let mut batch = self.buffer.take_batch();
        let room = self.unit_slots();
        self.buffer.gather_mut(stream).pop_into(&mut batch, room);
        let ticket = self.program(from, place, &batch, Purpose::Host, false);
        let slots = batch.len() as u32;
        self.journal.change(slots);
        if G::TIMED {
            self.buffer.launched().push(BookedUnit { slots, ticket });
        }
        self.buffer.give_back(batch);
        self.close_if_full(frontier);
        ticket
    }

    /// Places all buffered data; returns the end.
    pub(super) fn place_all(&mut self, from: u64, write: HostWrite) -> u64 {
        let mut end = from;
        for stream in 0..self.buffer.gathers().len() {
            while self.buffer.gather(stream).live() > 0 {
                end = end.max(self.place_oldest(from, stream, write).end);
            }
        }
        end
    }

    /// Places all buffered data for a commit: begun word lines are filled up.
    pub(super) fn place_all_safely(&mut self, from: u64) -> u64 {
        let mut end = self.place_all(from, HostWrite::Commit);
        for frontier in 1..=self.placement.streams() as usize {
            for die in 0..self.nand.geometry.die_count {
                end = end.max(self.close_word_line(from, frontier, die));
            }
        }
        end
    }

    /// Programs host slots without buffering them; returns the end, and the number of slots that
    /// had been buffered.
    pub(super) fn place_through(&mut self, from: u64, lpns: Range<u32>, hint: Hint) -> (u64, u32) {
        self.map.note_written(lpns.end);
        let weight = self.weigh(hint);
        let per_unit = self.unit_slots() / weight;
        let mut end = from;
        let mut released = 0;
        let mut next = lpns.start;
        while next < lpns.end {
            self.program_due_journal(from);
            self.do_wear_work(from);
            let stream = self.stream_for(next, hint);
            let FrontierUnit { frontier, place } =
                self.take_host_unit(from, stream, HostWrite::Commit);
            let mut batch = self.buffer.take_batch();
            for lpn in next..lpns.end.min(next + per_unit) {
                self.remember_write(lpn, hint.tag);
                let (old, buffered) = self.take_from_buffer(lpn);
                released += u32::from(buffered);
                batch.push(GatherEntry { lpn, old, weight });
            }
            let slots = batch.len() as u32;
            self.placement.count_host_slots(slots.into());
            let ticket = self.program(from, place, &batch, Purpose::Host, true);
            self.journal.change(slots);
            next += slots;
            self.buffer.give_back(batch);
            self.close_if_full(frontier);
            end = end.max(ticket.end);
            if place.mode == Mode::Native {
                end = end.max(self.close_word_line(ticket.end, frontier, place.die));
            }
        }
        (end, released)
    }

    /// Programs the map pages of a commit, each after the one before; returns the end.
    pub(super) fn program_commit_map(&mut self, from: u64) -> u64 {
        let mut end = from;
        let last = self.nand.media().map_or(0, Media::last_seq);
        let least = self.rules.journal.commit_map_programs;
        let mut programs = 0;
        while programs < least || !self.journal.covers(last) {
            let (unit, ticket) = self.program_journal_page(end, true);
            end = ticket.end;
            if unit.place.mode == Mode::Native {
                end = end.max(self.close_word_line(end, unit.frontier, unit.place.die));
            }
            programs += 1;
        }
        self.journal.commit();
        if least == 0 {
            self.nand.remember_commit(end);
        }
        end
    }

    /// Programs the full journal pages and the map pages that are due.
    #[inline(always)]
    pub(super) fn program_due_journal(&mut self, from: u64) {
        while self.journal.is_due() {
            self.journal.take_page();
            self.program_journal_page(from, false);
        }
        if self.map.upkeep().is_due() {
            self.program_due_map(from);
        }
    }

    fn program_due_map(&mut self, from: u64) {
        // Placing may make more pages due; they wait for the next call.
        for _ in 0..self.map.upkeep().units_due() {
            self.program_map_unit(from);
        }
    }

    /// Programs the map slots that have been due longest as one unit.
    fn program_map_unit(&mut self, from: u64) {
        let per_unit = self.map.upkeep().together();
        let FrontierUnit { frontier, place } = self.take_map_unit(from);
        let mut batch = self.buffer.take_batch();
        while (batch.len() as u32) < per_unit {
            let Some(lpn) = self.map.upkeep_mut().take_due() else {
                break;
            };
            batch.push(self.page_entry(lpn));
        }
        let start = self.journal.write_parts(&mut self.nand, from, &batch);
        let firm = self.journal.has_log();
        let ticket = self.program(start, place, &batch, Purpose::Map, firm);
        self.journal.parts_written(&mut self.nand, ticket);
        self.buffer.give_back(batch);
        self.close_if_full(frontier);
        for _ in 1..self.rules.leaf_programs {
            let FrontierUnit { frontier, place } = self.take_map_unit(from);
            self.program(from, place, &[], Purpose::Map, false);
            self.close_if_full(frontier);
        }
    }

    /// The new copy of a page of the map.
    fn page_entry(&self, lpn: u32) -> GatherEntry {
        GatherEntry {
            lpn,
            old: self.map.value(lpn),
            weight: self.rules.pack,
        }
    }

    fn program_journal_page(&mut self, from: u64, firm: bool) -> (FrontierUnit, Ticket) {
        self.write_overdue(from);
        let write = if firm {
            HostWrite::Commit
        } else {
            HostWrite::Usual
        };
        let unit = self.take_host_unit(from, 0, write);
        let from = self.journal.write_page(&mut self.nand, from, firm);
        let mut batch = self.buffer.take_batch();
        for _ in 0..self.journal.page_slots() {
            let lpn = self.journal.take_address();
            batch.push(self.page_entry(lpn));
        }
        let firm = firm || self.journal.has_log();
        let ticket = self.program(from, unit.place, &batch, Purpose::Map, firm);
        self.journal.page_written(&mut self.nand, ticket);
        self.buffer.give_back(batch);
        self.close_if_full(unit.frontier);
        let upkeep = self.map.upkeep_mut();
        for _ in 0..self.journal.owe_checkpoint(upkeep.slots()) {
            upkeep.owe_next();
        }
        (unit, ticket)
    }

    /// Writes the parts that lack a change of the journal page that the next one replaces.
    fn write_overdue(&mut self, from: u64) {
        if !self.journal.has_log() {
            return;
        }
        for part in self.journal.overdue() {
            self.map.upkeep_mut().owe_at(part);
        }
        while self.map.upkeep().owes() && self.is_overdue() {
            self.program_map_unit(from);
        }
    }

    fn is_overdue(&self) -> bool {
        !self.journal.overdue().is_empty()
    }

    /// Fills up the begun word line on a die of a native host frontier; returns the end.
    fn close_word_line(&mut self, from: u64, frontier: usize, die: u32) -> u64 {
        if !self.rules.journal.commit_closes_word_lines {
            return 0;
        }
        let mut end = 0;
        while let Some((superblock, Mode::Native)) = self.placement.open(frontier) {
            let row = self.nand.next_row(superblock, die);
            if self.nand.geometry.page_kind(row) == 0 {
                break;
            }
            self.pay_for_unit(from, frontier);
            if self.placement.open(frontier) != Some((superblock, Mode::Native))
                || self.nand.next_row(superblock, die) != row
            {
                // Shared with reclaim, which has programmed there meanwhile.
                continue;
            }
            let place = self
                .placement
                .frontier_mut(frontier)
                .take_on(die, &self.nand);
            end = self.program(from, place, &[], Purpose::Host, true).end;
            self.close_if_full(frontier);
        }
        end
    }
}
