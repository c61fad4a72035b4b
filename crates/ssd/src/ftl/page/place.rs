//! Placing: whole units at a frontier, and the map journal.

use super::{Entry, Gear, Layout, Pace, PageFtl, SLC_FRONTIER, State, UNMAPPED};
use crate::caches::prefetch;
use crate::config::SlcFull;
use crate::ftl::translation::{Hint, Launched};
use crate::nand::media::Media;
use crate::nand::{Mode, Purpose, Ticket, UnitPlace};
use std::ops::Range;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    pub(super) fn unit_slots(&self) -> u32 {
        self.nand.geometry.slots_per_unit
    }

    /// Opens a free native superblock at a frontier, in `mode`.
    pub(super) fn open(&mut self, frontier: usize, mode: Mode) {
        let stream = ((frontier.max(1) - 1) % self.rules.streams as usize) as u8;
        let Some(superblock) = self.take_free(frontier) else {
            let superblock = self
                .take_unfilled()
                .expect("reclaim keeps superblocks free");
            self.stream_of[superblock as usize] = stream;
            return self.frontiers[frontier].resume(superblock, Mode::Native, &self.nand);
        };
        let s = superblock as usize;
        self.state[s] = State::Open;
        self.mode[s] = mode;
        self.stream_of[s] = stream;
        self.frontiers[frontier].start(superblock, mode, &self.nand);
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
        let superblocks = 0..self.state.len() as u32;
        let unfilled = superblocks
            .filter(|&s| self.mode[s as usize] == Mode::Native && self.candidates.holds(s))
            .map(|s| (units - used(s), s))
            .filter(|&(left, _)| left > 0);
        let (_, superblock) = unfilled.max()?;
        self.candidates.withdraw(superblock);
        self.state[superblock as usize] = State::Open;
        Some(superblock)
    }

    pub(super) fn close_if_full(&mut self, frontier: usize) {
        let Some((superblock, mode)) = self.frontiers[frontier].close_if_full() else {
            return;
        };
        self.state[superblock as usize] = State::Full;
        if let Some(reads) = self.reads_since.get_mut(superblock as usize) {
            *reads = 0;
        }
        match mode {
            Mode::Slc => self.slc_full.push_back(superblock),
            Mode::Native if L::FULL && self.is_of_tree(frontier) => {
                self.map_full.push_back(superblock);
            }
            Mode::Native => self.candidates.close(superblock, self.counters.slots_host),
        }
        if self.wear.is_on() {
            self.closed_worn(superblock, mode);
        }
    }

    /// Whether reclaim must work before further writes.
    #[inline(always)]
    pub(super) fn needs_reclaim(&self) -> bool {
        let free = self.free.len() as u32;
        if free <= self.rules.free_low {
            return true;
        }
        !self.rules.knows_unused() && self.spare_is_used_up(free)
    }

    fn spare_is_used_up(&self, free: u32) -> bool {
        let native = self.native_superblocks();
        let used = u64::from(native - free);
        let open = self.frontiers.len() as u64;
        let allowed = self.live + self.rules.spare_slots;
        used > allowed.div_ceil(self.rules.data_slots.into()) + open
    }

    /// Whether the host's next unit goes to the pSLC cache; opens a superblock there if necessary.
    #[inline(always)]
    fn slc_is_open(&mut self, from: u64) -> bool {
        if self.frontiers[SLC_FRONTIER].open().is_some() {
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
        while slc.full == SlcFull::Fold && self.free_slc.is_empty() && slc.superblocks > 0 {
            if self.fold_step(from).is_none() {
                break;
            }
        }
        if let Some(superblock) = self.free_slc.pop_front() {
            self.state[superblock as usize] = State::Open;
            self.frontiers[SLC_FRONTIER].start(superblock, Mode::Slc, &self.nand);
            return true;
        }
        let dynamic = slc.dynamic_above_free > 0;
        if dynamic && self.free.len() as u32 > slc.dynamic_above_free && !self.needs_reclaim() {
            self.open(SLC_FRONTIER, Mode::Slc);
            return true;
        }
        false
    }

    /// Takes a unit for data of the host or the map: pays for it and programs parity on the way.
    pub(super) fn take_host_unit(&mut self, from: u64, stream: usize) -> (usize, UnitPlace) {
        self.take_unit(from, 1 + stream)
    }

    /// Takes a unit for a page of the map.
    fn take_map_unit(&mut self, from: u64) -> (usize, UnitPlace) {
        let frontier = if self.rules.map_apart {
            self.map_frontier()
        } else {
            1
        };
        self.take_unit(from, frontier)
    }

    #[inline(always)]
    fn take_unit(&mut self, from: u64, native: usize) -> (usize, UnitPlace) {
        loop {
            let frontier = if self.slc_is_open(from) {
                SLC_FRONTIER
            } else {
                self.pay_for_unit(from, native);
                native
            };
            let at = self.frontiers[frontier].take(&self.nand);
            let parity = self.holds_parity(at);
            if !parity && !self.nand.program_fails(at) {
                return (frontier, at);
            }
            let purpose = if parity {
                Purpose::Parity
            } else {
                Purpose::Host
            };
            self.program(from, at, &[], purpose, false);
            self.close_if_full(frontier);
        }
    }

    #[inline(always)]
    pub(super) fn holds_parity(&self, at: UnitPlace) -> bool {
        self.rules.parity && at.row % self.nand.geometry.die_count == at.die
    }

    /// Makes room for one unit of data that is new to the native superblocks, and leaves its
    /// frontier open.
    #[inline(always)]
    pub(super) fn pay_for_unit(&mut self, from: u64, frontier: usize) {
        if self.is_short() {
            self.restore_reserve(from);
        }
        match self.rules.pace {
            Pace::Spread => {
                if self.needs_reclaim() {
                    self.earn_credits(from);
                    if self.needs_reclaim() {
                        self.credits -= i64::from(self.unit_slots());
                    }
                }
                // A frontier shared with reclaim may have just been filled.
                if self.frontiers[frontier].open().is_none() {
                    self.open(frontier, Mode::Native);
                }
            }
            Pace::Whole => {
                if self.frontiers[frontier].open().is_none() {
                    self.reclaim_whole(from, frontier);
                    if self.frontiers[frontier].open().is_none() {
                        self.open(frontier, Mode::Native);
                    }
                }
            }
        }
    }

    /// Places the oldest unit of a stream's buffer.
    pub(super) fn place_oldest(&mut self, from: u64, stream: usize) -> Ticket {
        self.program_due_journal(from);
        self.do_wear_work(from);
        let (frontier, at) = self.take_host_unit(from, stream);
        let mut batch = std::mem::take(&mut self.batch);
        let room = self.unit_slots();
        self.gathers[stream].pop_into(&mut batch, room);
        let ticket = self.program(from, at, &batch, Purpose::Host, false);
        self.journal_change(batch.len() as u32);
        if G::TIMED {
            self.launched.push(Launched {
                slots: batch.len() as u32,
                ticket,
            });
        }
        batch.clear();
        self.batch = batch;
        self.close_if_full(frontier);
        ticket
    }

    /// Places all buffered data; returns the end.
    pub(super) fn place_all(&mut self, from: u64) -> u64 {
        let mut end = from;
        for stream in 0..self.gathers.len() {
            while self.gathers[stream].live() > 0 {
                end = end.max(self.place_oldest(from, stream).end);
            }
        }
        end
    }

    /// Places all buffered data for a commit: begun word lines are filled up.
    pub(super) fn place_all_safely(&mut self, from: u64) -> u64 {
        let mut end = self.place_all(from);
        for frontier in 1..=self.rules.streams as usize {
            for die in 0..self.nand.geometry.die_count {
                end = end.max(self.close_word_line(from, frontier, die));
            }
        }
        end
    }

    /// Programs host slots without buffering them; returns the end, and the number of slots that
    /// had been buffered.
    pub(super) fn place_through(&mut self, from: u64, lpns: Range<u32>, hint: Hint) -> (u64, u32) {
        self.written_end = self.written_end.max(lpns.end);
        let weight = self.weigh(hint);
        let per_unit = self.unit_slots() / weight;
        let mut end = from;
        let mut released = 0;
        let mut next = lpns.start;
        while next < lpns.end {
            self.program_due_journal(from);
            self.do_wear_work(from);
            let stream = self.stream_for(next, hint);
            let (frontier, at) = self.take_host_unit(from, stream);
            let mut batch = std::mem::take(&mut self.batch);
            for lpn in next..lpns.end.min(next + per_unit) {
                self.remember_write(lpn, hint.tag);
                let (old, buffered) = self.take_from_buffer(lpn);
                released += u32::from(buffered);
                batch.push(Entry { lpn, old, weight });
            }
            self.host_slots += batch.len() as u64;
            let ticket = self.program(from, at, &batch, Purpose::Host, true);
            self.journal_change(batch.len() as u32);
            next += batch.len() as u32;
            batch.clear();
            self.batch = batch;
            self.close_if_full(frontier);
            end = end.max(ticket.end);
            if at.mode == Mode::Native {
                end = end.max(self.close_word_line(ticket.end, frontier, at.die));
            }
        }
        (end, released)
    }

    /// Programs the map pages of a commit, each after the one before; returns the end.
    pub(super) fn program_commit_map(&mut self, from: u64) -> u64 {
        let mut end = from;
        let last = self.nand.media().map_or(0, Media::last_seq);
        let mut programs = 0;
        while programs < self.rules.journal.commit_map_programs || !self.journal_covers(last) {
            let (frontier, at, ticket) = self.program_journal_page(end, true);
            end = ticket.end;
            if at.mode == Mode::Native {
                end = end.max(self.close_word_line(end, frontier, at.die));
            }
            programs += 1;
        }
        self.journal.pending = 0;
        if self.rules.journal.commit_map_programs == 0 {
            self.nand.remember_commit(end);
        }
        end
    }

    /// Whether a journal page is full.
    #[inline(always)]
    pub(super) fn journal_is_due(&self) -> bool {
        let per_page = self.journal.entries_per_page;
        per_page > 0 && self.journal.pending >= per_page
    }

    /// Programs the full journal pages and the map pages that are due.
    #[inline(always)]
    pub(super) fn program_due_journal(&mut self, from: u64) {
        while self.journal_is_due() {
            self.journal.pending -= self.journal.entries_per_page;
            self.program_journal_page(from, false);
        }
        if self.upkeep.is_due() {
            self.program_due_map(from);
        }
    }

    fn program_due_map(&mut self, from: u64) {
        // Placing may make more pages due; they wait for the next call.
        for _ in 0..self.upkeep.units_due() {
            self.program_map_unit(from);
        }
    }

    /// Programs the map slots that have been due longest as one unit.
    pub(super) fn program_map_unit(&mut self, from: u64) {
        let per_unit = self.upkeep.together();
        let (frontier, at) = self.take_map_unit(from);
        let mut batch = std::mem::take(&mut self.batch);
        let weight = self.rules.pack;
        while (batch.len() as u32) < per_unit {
            let Some(lpn) = self.upkeep.take_due() else {
                break;
            };
            let old = self.map[lpn as usize];
            batch.push(Entry { lpn, old, weight });
        }
        let start = self.write_parts(from, &batch);
        let ticket = self.program(start, at, &batch, Purpose::Map, self.log.is_some());
        self.wrote_parts(ticket);
        batch.clear();
        self.batch = batch;
        self.close_if_full(frontier);
        for _ in 1..self.rules.leaf_programs {
            let (frontier, at) = self.take_map_unit(from);
            self.program(from, at, &[], Purpose::Map, false);
            self.close_if_full(frontier);
        }
    }

    fn program_journal_page(&mut self, from: u64, firm: bool) -> (usize, UnitPlace, Ticket) {
        self.write_overdue(from);
        let (frontier, at) = self.take_host_unit(from, 0);
        let from = self.write_journal(from, firm);
        let mut batch = std::mem::take(&mut self.batch);
        for _ in 0..self.journal.slots_per_page {
            let lpn = self.journal.first + self.journal.next;
            self.journal.next = (self.journal.next + 1) % self.journal.slots;
            let old = self.map[lpn as usize];
            let weight = self.rules.pack;
            batch.push(Entry { lpn, old, weight });
        }
        let firm = firm || self.log.is_some();
        let ticket = self.program(from, at, &batch, Purpose::Map, firm);
        if self.log.is_some() {
            self.wrote_journal(ticket);
        } else {
            self.remember_journal(at.die);
        }
        batch.clear();
        self.batch = batch;
        self.close_if_full(frontier);
        self.owe_checkpoint();
        (frontier, at, ticket)
    }

    /// Adds the share of the rolling checkpoint for one journal page.
    fn owe_checkpoint(&mut self) {
        let cycle = u64::from(self.rules.journal.checkpoint_pages);
        if cycle == 0 {
            return;
        }
        self.journal.checkpoint_debt += self.upkeep.slots();
        while self.journal.checkpoint_debt >= cycle {
            self.journal.checkpoint_debt -= cycle;
            self.upkeep.owe_next();
        }
    }

    /// Fills up the begun word line on a die of a native host frontier; returns the end.
    fn close_word_line(&mut self, from: u64, frontier: usize, die: u32) -> u64 {
        if !self.rules.journal.commit_closes_word_lines {
            return 0;
        }
        let mut end = 0;
        while let Some((superblock, Mode::Native)) = self.frontiers[frontier].open() {
            let row = self.nand.next_row(superblock, die);
            if self.nand.geometry.page_kind(row) == 0 {
                break;
            }
            self.pay_for_unit(from, frontier);
            if self.frontiers[frontier].open() != Some((superblock, Mode::Native))
                || self.nand.next_row(superblock, die) != row
            {
                // Shared with reclaim, which has programmed there meanwhile.
                continue;
            }
            let at = self.frontiers[frontier].take_on(die, &self.nand);
            end = self.program(from, at, &[], Purpose::Host, true).end;
            self.close_if_full(frontier);
        }
        end
    }

    /// Loads the map pages of `batch` into DRAM for a change; returns the end.
    pub(super) fn keep_up(&mut self, from: u64, batch: &[Entry]) -> u64 {
        let mut ready = from;
        for entry in batch {
            if entry.lpn < self.user_slots {
                ready = ready.max(self.look_up(from, entry.lpn, true));
            }
        }
        ready
    }

    /// Loads the map pages of moved slots for a change, beside other work: the spare areas tell
    /// what the slots are, so nothing waits for it.
    pub(super) fn keep_up_beside(&mut self, from: u64, batch: &[Entry]) {
        for entry in batch {
            if entry.lpn >= self.user_slots {
                continue;
            }
            let Some(missing) = self.upkeep.touch(entry.lpn, true) else {
                continue;
            };
            self.counters.map_misses += 1;
            if let Some(ppn) = self.map[missing as usize].checked_sub(1) {
                let from = self.read_nodes(from, ppn);
                self.read_media(from, ppn, self.rules.pack, Purpose::Map);
            }
        }
    }

    /// Loads the map page of a slot into DRAM; returns the end.
    #[inline]
    pub(super) fn look_up(&mut self, from: u64, lpn: u32, change: bool) -> u64 {
        if !self.upkeep.is_on() {
            return from;
        }
        let Some(missing) = self.upkeep.touch(lpn, change) else {
            return from;
        };
        self.counters.map_misses += 1;
        match self.map[missing as usize] {
            UNMAPPED => from,
            value => {
                let from = self.upkeep.may_read(from);
                let from = self.read_nodes(from, value - 1);
                let end = self.read_media(from, value - 1, self.rules.pack, Purpose::Map);
                self.upkeep.brought(end);
                end
            }
        }
    }

    /// Reads the nodes that lead to the leaf at `ppn`, one after another, where the map lies apart.
    /// They are where a leaf's are written: on the dies after its own.
    fn read_nodes(&mut self, from: u64, ppn: u32) -> u64 {
        let place = self.nand.geometry.place(ppn);
        let at_hand = self.nand.is_pending(place.superblock, place.row, place.die);
        if at_hand || !self.rules.map_apart {
            return from;
        }
        let dies = self.nand.geometry.die_count;
        let slots = self.rules.pack;
        let mut end = from;
        for level in 1..self.rules.leaf_programs {
            self.counters.nand_reads_internal += 1;
            let die = (place.die + level) % dies;
            end = self
                .nand
                .read_blank(end, die, place.row, slots, Purpose::Map);
        }
        end
    }

    /// Prefetches the map entry of a slot's map page, if it must be read.
    #[inline(always)]
    pub(super) fn prefetch_map_slot(&self, lpn: u32) {
        if self.upkeep.is_on()
            && let Some(missing) = self.upkeep.missing(lpn)
        {
            prefetch(&self.map, missing as usize);
        }
    }

    /// Reads `slots` slots of one unit, beginning at `ppn`.
    #[inline]
    pub(super) fn read_media(&mut self, from: u64, ppn: u32, slots: u32, purpose: Purpose) -> u64 {
        let place = self.nand.geometry.place(ppn);
        if self.nand.is_pending(place.superblock, place.row, place.die) {
            return from;
        }
        let s = place.superblock as usize;
        if let Some(reads) = self.reads_since.get_mut(s) {
            *reads += 1;
            if *reads == self.rules.refresh_reads {
                self.refresh_queue.push_back(place.superblock);
            }
        }
        if purpose == Purpose::Host {
            self.counters.nand_reads_host += 1;
        } else {
            self.counters.nand_reads_internal += 1;
        }
        let at = UnitPlace::of(place, self.mode[s]);
        self.nand.read(from, at, slots, purpose)
    }

    /// Reads for an address that was never written: a controller that uses no free space as spare
    /// area does not know that there is nothing to read.
    pub(super) fn read_blank(&mut self, from: u64, ppn: u32, slots: u32) -> u64 {
        self.counters.nand_reads_host += 1;
        let place = self.nand.geometry.place(ppn);
        let (die, row) = (place.die, place.row);
        self.nand.read_blank(from, die, row, slots, Purpose::Host)
    }
}
