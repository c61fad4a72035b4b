//! Making room: reclaim of native superblocks, folding of the pSLC cache, refresh.
//!
//! All empty a victim unit by unit: valid slots are read, gathered to whole units, and programmed
//! at the relocation frontier. A victim goes free only when every slot that was valid in it lies
//! elsewhere; until then its copies are still there to fall back on.
//!
//! Spread over host writes, reclaim works for credits: while few superblocks are free, a unit of
//! new data may be programmed only for credits, and each slot of the victim that need not be
//! moved earns one. Over a victim's life the slots written equal the slots it frees, so the free
//! reserve never shrinks and reclaim can never be stuck. (Write credits: NVMeVirt, `conv_ftl.c`.)

use super::{Entry, Gear, Layout, Pace, PageFtl, State};
use crate::image::image_of;
use crate::nand::{Mode, Purpose, UnitPlace};
use crate::prefetch::prefetch;
use std::collections::VecDeque;

/// One emptying in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Mover {
    victim: Option<u32>,
    /// Next unit of the victim to look at.
    unit: u32,
    /// Valid slots read but not yet programmed: logical slot and map value of where it lies.
    moving: VecDeque<Entry>,
    /// When the slots in `moving` are in the controller.
    read_end: u64,
    /// Victims looked through whose last slots are in `moving`.
    retiring: Vec<u32>,
}

image_of!(Mover {
    victim,
    unit,
    moving,
    read_end,
    retiring
});

impl Mover {
    /// Superblocks being emptied.
    pub fn victims(&self) -> impl Iterator<Item = u32> + '_ {
        self.victim.iter().chain(&self.retiring).copied()
    }

    pub fn is_working(&self) -> bool {
        self.victim.is_some() || !self.moving.is_empty()
    }
}

/// Slots ahead of the one looked at whose map entries are fetched.
const AHEAD: u32 = 64;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Does reclaim work until one unit is paid for, while few superblocks are free.
    pub(super) fn earn_credits(&mut self, from: u64) {
        let price = i64::from(self.unit_slots());
        while self.credits < price && self.needs_reclaim() {
            let progress = self.reclaim_step(from);
            assert!(progress.is_some(), "reclaim found no victim");
        }
    }

    /// Empties whole victims until enough superblocks are free.
    pub(super) fn reclaim_whole(&mut self, from: u64) {
        while self.needs_reclaim() {
            let progress = self.reclaim_step(from);
            assert!(progress.is_some(), "reclaim found no victim");
        }
    }

    /// One step of reclaim; `None` when there is nothing to empty.
    pub(super) fn reclaim_step(&mut self, from: u64) -> Option<u64> {
        let mut mover = std::mem::take(&mut self.reclaim);
        let done = self.step(&mut mover, Purpose::Relocation, from);
        self.reclaim = mover;
        done
    }

    /// Whether the pSLC cache holds superblocks that can be folded.
    pub(super) fn can_fold(&self) -> bool {
        self.fold.is_working() || !self.slc_full.is_empty()
    }

    pub(super) fn fold_step(&mut self, from: u64) -> Option<u64> {
        let mut mover = std::mem::take(&mut self.fold);
        let done = self.step(&mut mover, Purpose::Fold, from);
        self.fold = mover;
        done
    }

    /// One step of refresh, if any is due.
    pub(super) fn refresh_step(&mut self, from: u64) -> Option<u64> {
        let mut mover = std::mem::take(&mut self.refresh);
        let done = self.step(&mut mover, Purpose::Refresh, from);
        self.refresh = mover;
        done
    }

    pub(super) fn refresh_is_due(&self) -> bool {
        self.refresh.is_working() || !self.refresh_queue.is_empty()
    }

    /// Looks through one unit of the victim, and programs when a whole unit is gathered.
    /// Returns when its operations end; `None` when there is nothing to empty.
    fn step(&mut self, mover: &mut Mover, purpose: Purpose, from: u64) -> Option<u64> {
        let mut end = from;
        if mover.victim.is_none() {
            mover.victim = self.pick(purpose);
            mover.unit = 0;
        }
        let unit_slots = self.unit_slots() as usize;
        match mover.victim {
            Some(victim) => self.look(mover, purpose, victim, from),
            None if mover.moving.is_empty() => return None,
            None => end = end.max(self.program_moving(mover, purpose, from)),
        }
        // Whole units; less only when a second victim would otherwise wait for a few slots.
        while mover.moving.len() >= unit_slots
            || (mover.retiring.len() > 1 && !mover.moving.is_empty())
        {
            end = end.max(self.program_moving(mover, purpose, from));
        }
        self.retire(mover, purpose, from);
        Some(end.max(mover.read_end))
    }

    fn pick(&mut self, purpose: Purpose) -> Option<u32> {
        let victim = match purpose {
            Purpose::Fold => self.slc_full.pop_front()?,
            Purpose::Refresh => self.pick_for_refresh()?,
            _ => self.pick_for_reclaim()?,
        };
        self.state[victim as usize] = State::Victim;
        Some(victim)
    }

    fn pick_for_reclaim(&mut self) -> Option<u32> {
        if self.rules.slc.dynamic_above_free > 0 {
            // A superblock used as cache gives back more than any native one.
            let own = self.rules.slc.superblocks;
            let at = self.slc_full.iter().position(|&s| s >= own);
            if let Some(victim) = at.and_then(|at| self.slc_full.remove(at)) {
                return Some(victim);
            }
        }
        self.candidates.set_now(self.counters.slots_host);
        let victim = self.victim.pick(&mut self.candidates, &mut self.rng)?;
        self.candidates.withdraw(victim);
        Some(victim)
    }

    fn pick_for_refresh(&mut self) -> Option<u32> {
        while let Some(superblock) = self.refresh_queue.pop_front() {
            if self.candidates.holds(superblock) {
                self.candidates.withdraw(superblock);
                return Some(superblock);
            }
        }
        None
    }

    fn units_of(&self, mode: Mode) -> u32 {
        self.nand.rows(mode) * self.nand.geometry.die_count
    }

    fn look(&mut self, mover: &mut Mover, purpose: Purpose, victim: u32, from: u64) {
        let mode = self.mode[victim as usize];
        let (dies, slots) = (self.nand.geometry.die_count, self.unit_slots());
        let begin = victim * self.nand.geometry.slots_per_superblock;
        let end = begin + self.units_of(mode) * slots;
        let first = begin + mover.unit * slots;
        self.prefetch_ahead(first + AHEAD, (first + AHEAD + slots).min(end));
        let mut found = 0;
        self.each_valid(first, first + slots, |ftl, ppn| {
            let weight = ftl.weight_at(ppn);
            found += weight;
            mover.moving.push_back(Entry {
                lpn: ftl.owner[ppn as usize],
                old: ppn + 1,
                weight,
            });
        });
        if found > 0 {
            let at = UnitPlace {
                superblock: victim,
                row: mover.unit / dies,
                die: mover.unit % dies,
                mode,
            };
            let read = self.nand.read(from, at, found, purpose);
            mover.read_end = mover.read_end.max(read);
            self.counters.nand_reads_internal += 1;
        }
        if purpose == Purpose::Relocation {
            self.credits += i64::from(slots - found);
        }
        mover.unit += 1;
        if mover.unit == self.units_of(mode) {
            self.counters.victims += 1;
            if purpose == Purpose::Relocation && mode == Mode::Slc {
                let gained = self.units_of(Mode::Native) - self.units_of(Mode::Slc);
                self.credits += i64::from(gained * slots);
            }
            mover.retiring.push(victim);
            mover.victim = None;
        }
    }

    /// Calls `f` for each valid slot from `first` up to `last`, a word at a time.
    #[inline(always)]
    fn each_valid(&self, first: u32, last: u32, mut f: impl FnMut(&Self, u32)) {
        let mut ppn = first;
        while ppn < last {
            let word = ppn / 64;
            let until = last.min((word + 1) * 64);
            let mut bits = self.valid[word as usize] >> (ppn % 64);
            if until - ppn < 64 {
                bits &= (1 << (until - ppn)) - 1;
            }
            while bits != 0 {
                f(self, ppn + bits.trailing_zeros());
                bits &= bits - 1;
            }
            ppn = until;
        }
    }

    #[inline(always)]
    fn prefetch_ahead(&self, first: u32, last: u32) {
        self.each_valid(first, last, |ftl, ppn| {
            prefetch(&ftl.map, ftl.owner[ppn as usize] as usize);
        });
    }

    /// Programs up to one unit of the gathered slots.
    fn program_moving(&mut self, mover: &mut Mover, purpose: Purpose, from: u64) -> u64 {
        if purpose != Purpose::Relocation {
            // New to the native superblocks, or taking the place of nothing freed yet: it pays
            // like a host's. Reclaim on the way may move none of it, but the host's order may
            // have made some of it stale since it was read.
            self.pay_for_move(from);
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        let mut room = self.unit_slots();
        while let Some(entry) = mover.moving.front() {
            if !self.is_valid(entry.old - 1) {
                // Overwritten or trimmed since it was read.
                self.credits += i64::from(self.weight_if_relocated(entry, purpose));
                mover.moving.pop_front();
                continue;
            }
            if entry.weight > room {
                break;
            }
            room -= entry.weight;
            batch.push(*entry);
            mover.moving.pop_front();
        }
        let mut end = mover.read_end;
        if !batch.is_empty() {
            let frontier = self.relocation_frontier(&batch);
            let at = self.take_relocation_unit(mover.read_end.max(from), frontier, purpose);
            if purpose == Purpose::Relocation {
                // Padding uses up slots that no credit stands for.
                self.credits -= i64::from(room);
            }
            let ticket = self.program(mover.read_end.max(from), at, &batch, purpose, false);
            end = ticket.end;
            self.journal_change(batch.len() as u32);
            self.close_if_full(frontier);
        }
        self.batch = batch;
        end
    }

    fn weight_if_relocated(&self, entry: &Entry, purpose: Purpose) -> u32 {
        if purpose == Purpose::Relocation {
            entry.weight
        } else {
            0
        }
    }

    fn pay_for_move(&mut self, from: u64) {
        match self.rules.pace {
            Pace::Spread if self.needs_reclaim() => {
                self.earn_credits(from);
                if self.needs_reclaim() {
                    self.credits -= i64::from(self.unit_slots());
                }
            }
            Pace::Spread => {}
            Pace::Whole => self.reclaim_whole(from),
        }
    }

    /// Relocated data goes with its like: to the stream that it came from.
    fn relocation_frontier(&self, batch: &[Entry]) -> usize {
        let superblock = self.nand.geometry.superblock_of(batch[0].old - 1);
        let stream = usize::from(self.stream_of[superblock as usize]);
        let streams = self.rules.streams as usize;
        1 + stream + if self.rules.shared { 0 } else { streams }
    }

    fn take_relocation_unit(&mut self, from: u64, frontier: usize, purpose: Purpose) -> UnitPlace {
        loop {
            if self.frontiers[frontier].open().is_none() {
                self.open(frontier, Mode::Native);
            }
            let at = self.frontiers[frontier].take(&self.nand);
            if !self.holds_parity(at) {
                return at;
            }
            self.program(from, at, &[], Purpose::Parity, false);
            self.close_if_full(frontier);
            if purpose == Purpose::Relocation {
                self.credits -= i64::from(self.unit_slots());
            } else {
                self.pay_for_move(from);
            }
        }
    }

    /// Frees the victims that hold nothing valid any more.
    fn retire(&mut self, mover: &mut Mover, purpose: Purpose, from: u64) {
        let mut index = 0;
        while let Some(&victim) = mover.retiring.get(index) {
            if self.candidates.valid(victim) > 0 {
                index += 1;
                continue;
            }
            mover.retiring.remove(index);
            // Its slot numbers will mean other data.
            let slots = self.nand.geometry.slots_per_superblock;
            let gone = |e: &Entry| (e.old - 1) / slots == victim;
            let credit: u32 = mover
                .moving
                .iter()
                .filter(|e| gone(e))
                .map(|e| e.weight)
                .sum();
            mover.moving.retain(|entry| !gone(entry));
            if purpose == Purpose::Relocation {
                self.credits += i64::from(credit);
            }
            self.set_free(victim, purpose, from);
        }
    }

    fn set_free(&mut self, victim: u32, purpose: Purpose, from: u64) {
        self.state[victim as usize] = State::Free;
        match purpose {
            Purpose::Fold => self.counters.superblocks_folded += 1,
            Purpose::Refresh => self.counters.superblocks_refreshed += 1,
            _ => self.counters.superblocks_reclaimed += 1,
        }
        if victim < self.rules.slc.superblocks {
            self.nand.erase(from, victim);
            self.counters.nand_erases += u64::from(self.nand.geometry.die_count);
            self.free_slc.push_back(victim);
        } else {
            self.nand.make_stale(victim);
            self.free.push_back(victim);
        }
    }
}
