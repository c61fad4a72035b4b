//! Making room: reclaim of native superblocks, folding of the pSLC cache, refresh.
//!
//! All of them empty a victim unit by unit: valid slots are read, gathered to whole units, and
//! programmed at the relocation frontier. A victim becomes free only when every valid slot has been
//! programmed elsewhere; until then its copies remain to fall back on.
//!
//! Spread over host writes, reclaim works with credits: while few superblocks are free, programming
//! a unit of new data costs credits, and each slot of the victim that need not be moved earns one.
//! Over a victim's life the slots written equal the slots it frees, so the free reserve never
//! shrinks and reclaim never gets stuck. (Write credits: NVMeVirt, `conv_ftl.c`.)

use super::mover::Which;
use super::{Entry, Gear, Layout, Pace, PageFtl, SLC_FRONTIER, State};
use crate::caches::prefetch;
use crate::config::policy::Separation;
use crate::nand::{Erased, Mode, Purpose, UnitPlace};

/// Number of victim slots whose map entries are prefetched at a time, and distance ahead of the
/// scan, in slots. Many at once, so that their memory accesses overlap.
pub(super) const AHEAD: u32 = 128;

/// One over the part of a superblock that is hardly worth waiting for.
const HARDLY: u32 = 32;

/// Calls `f` for each valid slot from `first` up to `last`, a word at a time.
#[inline(always)]
fn each_valid(valid: &[u64], first: u32, last: u32, mut f: impl FnMut(u32)) {
    let mut ppn = first;
    while ppn < last {
        let word = ppn / 64;
        let until = last.min((word + 1) * 64);
        let mut bits = valid[word as usize] >> (ppn % 64);
        if until - ppn < 64 {
            bits &= (1 << (until - ppn)) - 1;
        }
        while bits != 0 {
            f(ppn + bits.trailing_zeros());
            bits &= bits - 1;
        }
        ppn = until;
    }
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Does reclaim work until one unit is paid for, while few superblocks are free.
    pub(super) fn earn_credits(&mut self, from: u64) {
        let price = i64::from(self.unit_slots());
        while self.credits < price && self.needs_reclaim() {
            let progress = self.reclaim_step(from);
            assert!(progress.is_some(), "reclaim found no victim");
        }
    }

    /// Whether cuts have used up the reserve. Each cut leaves a half emptied victim and torn rows,
    /// and many in a row can do so before one victim is empty. A free superblock then has priority,
    /// and the emptiest superblock is the victim, whatever the policy.
    #[inline(always)]
    pub(super) fn is_short(&self) -> bool {
        G::KEEPS && self.free.len() <= self.rules.streams as usize
    }

    /// Empties victims one by one, without waiting for full units.
    #[cold]
    pub(super) fn restore_reserve(&mut self, from: u64) {
        let w = Which::Reclaim as usize;
        while self.is_short() && self.reclaim_step(from).is_some() {
            if self.movers[w].victim.is_none() {
                while !self.movers[w].moving.is_empty() {
                    self.program_moving::<true>(Which::Reclaim, from);
                }
                self.retire(Which::Reclaim, from);
            }
        }
    }

    /// Empties whole victims until enough superblocks are free for `frontier` to have room. A
    /// frontier shared with reclaim may get room on the way.
    pub(super) fn reclaim_whole(&mut self, from: u64, frontier: usize) {
        while self.needs_reclaim() {
            let between = self.movers[Which::Reclaim as usize].victim.is_none();
            let enough = self.free.len() as u32 >= self.rules.free_low;
            if between && enough && self.frontiers[frontier].open().is_some() {
                return;
            }
            let progress = self.reclaim_step(from);
            assert!(progress.is_some(), "reclaim found no victim");
        }
    }

    /// One step of reclaim; `None` when there is nothing to empty.
    pub(super) fn reclaim_step(&mut self, from: u64) -> Option<u64> {
        self.step::<true>(Which::Reclaim, from)
    }

    /// Whether the pSLC cache holds superblocks that can be folded.
    pub(super) fn can_fold(&self) -> bool {
        self.movers[Which::Fold as usize].is_working() || !self.slc_full.is_empty()
    }

    pub(super) fn fold_step(&mut self, from: u64) -> Option<u64> {
        self.step::<false>(Which::Fold, from)
    }

    /// One step of refresh, if any is due.
    pub(super) fn refresh_step(&mut self, from: u64) -> Option<u64> {
        self.step::<false>(Which::Refresh, from)
    }

    /// One step of wear levelling, and of moving data off blocks that failed.
    pub(super) fn level_step(&mut self, from: u64) -> Option<u64> {
        self.step::<false>(Which::Level, from)
    }

    pub(super) fn level_is_working(&self) -> bool {
        self.movers[Which::Level as usize].is_working()
    }

    pub(super) fn refresh_is_due(&self) -> bool {
        self.movers[Which::Refresh as usize].is_working() || !self.refresh_queue.is_empty()
    }

    /// Scans one unit of the victim, and programs when a whole unit is gathered. Returns the end of
    /// its operations, or `None` when there is nothing to empty.
    ///
    /// `RECLAIM`: the mover is reclaim, which is compiled separately because it takes most of the
    /// time.
    fn step<const RECLAIM: bool>(&mut self, which: Which, from: u64) -> Option<u64> {
        let which = which.or_reclaim::<RECLAIM>();
        let w = which as usize;
        let mut end = from;
        if self.movers[w].victim.is_none() {
            self.movers[w].victim = self.pick(which);
            self.movers[w].unit = 0;
        }
        let unit_slots = self.unit_slots() as usize;
        match self.movers[w].victim {
            Some(victim) => self.look_ahead(which, victim, from),
            None if self.movers[w].moving.is_empty() => return None,
            None => end = end.max(self.program_moving::<RECLAIM>(which, from)),
        }
        // Whole units, except when a second victim would otherwise wait for a few slots.
        while self.movers[w].moving.len() >= unit_slots
            || (self.movers[w].retiring.len() > 1 && !self.movers[w].moving.is_empty())
        {
            end = end.max(self.program_moving::<RECLAIM>(which, from));
        }
        if !self.movers[w].retiring.is_empty() {
            self.retire(which, from);
        }
        Some(end.max(self.movers[w].read_end))
    }

    fn pick(&mut self, which: Which) -> Option<u32> {
        let victim = match which {
            Which::Fold => self.slc_full.pop_front()?,
            Which::Refresh => self.pick_for_refresh()?,
            Which::Level => self.pick_for_level()?,
            Which::Reclaim => self.pick_for_reclaim()?,
        };
        self.state[victim as usize] = State::Victim;
        Some(victim)
    }

    fn pick_for_reclaim(&mut self) -> Option<u32> {
        if self.rules.slc.dynamic_above_free > 0 {
            // A superblock used as cache frees more space than any native one.
            let own = self.rules.slc.superblocks;
            let at = self.slc_full.iter().position(|&s| s >= own);
            if let Some(victim) = at.and_then(|at| self.slc_full.remove(at)) {
                return Some(victim);
            }
        }
        self.candidates.set_now(self.counters.slots_host);
        if let Some(victim) = self.pick_of_tree() {
            return Some(victim);
        }
        let victim = if self.is_short() {
            self.candidates.fewest_valid()?
        } else {
            self.victim.pick(&mut self.candidates, &mut self.rng)?
        };
        self.candidates.withdraw(victim);
        Some(victim)
    }

    /// The oldest superblock of a tree's pages, when nearly all of them have been written again,
    /// for they are written as a ring; the emptiest, when they fill more than the ring takes.
    #[inline(always)]
    fn pick_of_tree(&mut self) -> Option<u32> {
        let &oldest = self.map_full.front()?;
        if self.candidates.valid(oldest) <= self.candidates.capacity() / HARDLY {
            return self.map_full.pop_front();
        }
        if self.map_full.len() < self.rules.tree_superblocks as usize {
            return None;
        }
        let valid = |at: &usize| self.candidates.valid(self.map_full[*at]);
        let at = (0..self.map_full.len()).min_by_key(valid)?;
        self.map_full.remove(at)
    }

    /// Whether a superblock is full of data, or of a tree's pages.
    pub(super) fn may_empty(&self, superblock: u32) -> bool {
        self.candidates.holds(superblock) || self.map_full.contains(&superblock)
    }

    /// Takes a superblock to be emptied, if it may be.
    pub(super) fn claim(&mut self, superblock: u32) -> bool {
        if self.candidates.holds(superblock) {
            self.candidates.withdraw(superblock);
            return true;
        }
        let at = self.map_full.iter().position(|&s| s == superblock);
        at.is_some_and(|at| self.map_full.remove(at).is_some())
    }

    fn pick_for_refresh(&mut self) -> Option<u32> {
        while let Some(superblock) = self.refresh_queue.pop_front() {
            if self.claim(superblock) {
                return Some(superblock);
            }
        }
        None
    }

    pub(super) fn units_of(&self, mode: Mode) -> u32 {
        self.nand.rows(mode) * self.nand.geometry.die_count
    }

    /// Scans the units that a step reads before it programs anything. When it empties whole victims
    /// at once, reclaim reads a row of all dies in parallel: unit by unit, each read would wait for
    /// the program just begun on its die, and the dies would work one after another.
    #[inline(always)]
    fn look_ahead(&mut self, which: Which, victim: u32, from: u64) {
        self.look(which, victim, from);
        if which == Which::Reclaim && self.rules.pace == Pace::Whole {
            self.look_through_row(which, victim, from);
        }
    }

    fn look_through_row(&mut self, which: Which, victim: u32, from: u64) {
        let dies = self.nand.geometry.die_count;
        let mover = which as usize;
        while self.movers[mover].victim.is_some() && !self.movers[mover].unit.is_multiple_of(dies) {
            self.look(which, victim, from);
        }
    }

    #[inline(always)]
    fn look(&mut self, which: Which, victim: u32, from: u64) {
        let mode = self.mode[victim as usize];
        let (dies, slots) = (self.nand.geometry.die_count, self.unit_slots());
        let units = self.units_of(mode);
        let begin = victim * self.nand.geometry.slots_per_superblock;
        let unit = self.movers[which as usize].unit;
        let first = begin + unit * slots;
        let end = begin + units * slots;
        let next = (unit + 1) * slots;
        if unit == 0 {
            self.prefetch_ahead((first + slots).min(end), (begin + 2 * AHEAD).min(end));
        } else if unit * slots / AHEAD != next / AHEAD {
            let block = begin + next / AHEAD * AHEAD + AHEAD;
            self.prefetch_ahead(block.min(end), (block + AHEAD).min(end));
        }
        if G::KEEPS
            && let Some(media) = self.nand.media()
        {
            media.prefetch_units(victim, unit);
        }
        let found = self.take_valid(which, first, first + slots);
        let mover = &mut self.movers[which as usize];
        mover.unit += 1;
        if found > 0 {
            let at = UnitPlace {
                superblock: victim,
                row: unit / dies,
                die: unit % dies,
                mode,
            };
            let read = self.nand.read(from, at, found, which.purpose());
            mover.read_end = mover.read_end.max(read);
            self.counters.nand_reads_internal += 1;
        }
        if which == Which::Reclaim {
            self.credits += i64::from(slots - found);
        }
        if mover.unit == units {
            mover.retiring.push(victim);
            mover.victim = None;
            self.counters.victims += 1;
            if which == Which::Reclaim && mode == Mode::Slc {
                let gained = self.units_of(Mode::Native) - units;
                self.credits += i64::from(gained * slots);
            }
        }
    }

    /// Takes the valid slots from `first` up to `last` for moving; returns their total weight.
    #[inline(always)]
    fn take_valid(&mut self, which: Which, first: u32, last: u32) -> u32 {
        let mut moving = std::mem::take(&mut self.movers[which as usize].moving);
        let before = moving.len();
        each_valid(&self.valid, first, last, |ppn| {
            moving.push(Entry {
                lpn: self.owner[ppn as usize],
                old: ppn + 1,
                weight: self.weight_at(ppn),
            });
        });
        let found = if L::FULL {
            for entry in &moving[before..] {
                self.prefetch_map_slot(entry.lpn);
            }
            moving[before..].iter().map(|entry| entry.weight).sum()
        } else {
            (moving.len() - before) as u32
        };
        self.movers[which as usize].moving = moving;
        found
    }

    /// Prefetches the map entries of the valid slots from `first` up to `last`.
    pub(super) fn prefetch_ahead(&self, first: u32, last: u32) {
        // The owners that the next block reads, a cache line at a time.
        let later = last as usize + AHEAD as usize;
        for first in (later..later + AHEAD as usize).step_by(16) {
            prefetch(&self.owner, first);
        }
        let (map, owner) = (&self.map[..], &self.owner[..]);
        each_valid(&self.valid, first, last, |ppn| {
            if let Some(&lpn) = owner.get(ppn as usize) {
                prefetch(map, lpn as usize);
                if L::FULL {
                    self.upkeep.prefetch(lpn);
                }
            }
        });
    }

    /// Programs up to one unit of the gathered slots.
    fn program_moving<const RECLAIM: bool>(&mut self, which: Which, from: u64) -> u64 {
        let which = which.or_reclaim::<RECLAIM>();
        if which != Which::Reclaim {
            // The data is new to the native superblocks or replaces nothing freed yet, so it pays
            // like host data.
            self.pay_for_move(from);
        }
        self.drop_stale(which);
        let mover = &mut self.movers[which as usize];
        let read_end = mover.read_end;
        // No slots wait in the mover meanwhile, not even if paying uses this mover.
        let mut moving = std::mem::take(&mut mover.moving);
        let (count, room) = self.unit_of(&moving);
        let mut end = read_end;
        if count > 0 {
            let batch = &moving[..count];
            let purpose = which.purpose();
            let frontier = self.relocation_frontier(batch);
            let ready = read_end.max(from);
            let at = self.take_relocation_unit(ready, frontier, purpose);
            if which == Which::Reclaim {
                // Padding uses slots that no credit was paid for.
                self.credits -= i64::from(room);
            }
            end = self.program_moved(ready, at, batch, purpose).end;
            if which == Which::Level {
                self.count_levelled(batch);
            }
            self.journal_change(batch.len() as u32);
            self.close_if_full(frontier);
        }
        moving.drain(..count);
        self.movers[which as usize].moving = moving;
        end
    }

    /// Drops slots that were overwritten or trimmed since they were read.
    #[inline(always)]
    fn drop_stale(&mut self, which: Which) {
        if self.movers[which as usize].epoch != self.epoch {
            self.drop_now_stale(which);
        }
    }

    fn drop_now_stale(&mut self, which: Which) {
        let mover = &mut self.movers[which as usize];
        mover.epoch = self.epoch;
        let mut stale = 0;
        mover.moving.retain(|entry| {
            let ppn = entry.old - 1;
            let valid = self.valid[ppn as usize / 64] >> (ppn % 64) & 1 == 1;
            stale += if valid { 0 } else { entry.weight };
            valid
        });
        if which == Which::Reclaim {
            self.credits += i64::from(stale);
        }
    }

    /// Number of entries that fit into a unit, and the remaining room.
    fn unit_of(&self, moving: &[Entry]) -> (usize, u32) {
        let unit = self.unit_slots();
        if !L::FULL {
            let count = moving.len().min(unit as usize);
            return (count, unit - count as u32);
        }
        let mut room = unit;
        let mut count = 0;
        while let Some(entry) = moving.get(count).filter(|entry| entry.weight <= room) {
            room -= entry.weight;
            count += 1;
        }
        (count, room)
    }

    pub(super) fn pay_for_move(&mut self, from: u64) {
        if self.is_short() {
            self.restore_reserve(from);
        }
        match self.rules.pace {
            Pace::Spread if self.needs_reclaim() => {
                self.earn_credits(from);
                if self.needs_reclaim() {
                    self.credits -= i64::from(self.unit_slots());
                }
            }
            Pace::Spread => {}
            Pace::Whole => self.reclaim_whole(from, SLC_FRONTIER),
        }
    }

    /// Relocated data goes to the stream that it came from, or all of it to one; the map's pages
    /// to their own superblocks where they have them.
    fn relocation_frontier(&self, batch: &[Entry]) -> usize {
        if L::FULL && self.rules.map_apart && batch[0].lpn >= self.user_slots {
            return self.map_frontier();
        }
        let superblock = self.nand.geometry.superblock_of(batch[0].old - 1);
        let stream = match self.rules.separation {
            Separation::InitiallyIsolated => 0,
            _ => usize::from(self.stream_of[superblock as usize]),
        };
        let streams = self.rules.streams as usize;
        1 + stream + if self.rules.shared { 0 } else { streams }
    }

    #[inline(always)]
    fn take_relocation_unit(&mut self, from: u64, frontier: usize, purpose: Purpose) -> UnitPlace {
        loop {
            if self.frontiers[frontier].open().is_none() {
                self.open(frontier, Mode::Native);
            }
            let at = self.frontiers[frontier].take(&self.nand);
            let parity = self.holds_parity(at);
            if !parity && !self.nand.program_fails(at) {
                return at;
            }
            let wasted = if parity { Purpose::Parity } else { purpose };
            self.program(from, at, &[], wasted, false);
            self.close_if_full(frontier);
            if purpose == Purpose::Relocation {
                self.credits -= i64::from(self.unit_slots());
            } else {
                self.pay_for_move(from);
            }
        }
    }

    /// Frees the victims without valid slots.
    fn retire(&mut self, which: Which, from: u64) {
        let mut index = 0;
        while let Some(&victim) = self.movers[which as usize].retiring.get(index) {
            if self.candidates.valid(victim) > 0 {
                index += 1;
                continue;
            }
            let mover = &mut self.movers[which as usize];
            mover.retiring.remove(index);
            // Its slot numbers will refer to other data.
            let slots = self.nand.geometry.slots_per_superblock;
            let mut gone = 0;
            mover.moving.retain(|entry| {
                let stays = (entry.old - 1) / slots != victim;
                gone += if stays { 0 } else { entry.weight };
                stays
            });
            if which == Which::Reclaim {
                self.credits += i64::from(gone);
            }
            self.set_free(victim, which, from);
        }
    }

    fn set_free(&mut self, victim: u32, which: Which, from: u64) {
        self.state[victim as usize] = State::Free;
        match which {
            Which::Fold => self.counters.superblocks_folded += 1,
            Which::Refresh => self.counters.superblocks_refreshed += 1,
            Which::Level => self.count_level_freed(),
            Which::Reclaim => self.counters.superblocks_reclaimed += 1,
        }
        if victim < self.rules.slc.superblocks {
            let (_, erased) = self.nand.erase(from, victim);
            self.counters.nand_erases += u64::from(self.nand.geometry.die_count);
            match erased {
                Erased::Retired => self.state[victim as usize] = State::Retired,
                _ => self.free_slc.push_back(victim),
            }
        } else {
            self.renew(victim, which == Which::Reclaim);
        }
    }
}
