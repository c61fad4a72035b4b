//! Making room: reclaim of native superblocks, and folding of the pSLC cache.
//!
//! Both empty a victim unit by unit: valid slots are read, gathered to whole units, and programmed
//! at the relocation frontier. A victim goes free only when every slot that was valid in it lies
//! elsewhere; until then its copies are still there to fall back on.

use super::{Ftl, Purpose, State, victim};
use crate::nand::Mode;
use crate::prefetch::prefetch;

/// One emptying in progress.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    purpose: Purpose,
    victim: Option<u32>,
    /// Next unit of the victim to look at.
    unit: u32,
    /// Valid slots read but not yet programmed: logical slot and map value of where it lies.
    moving: Vec<(u32, u32)>,
    /// When the slots in `moving` are in the controller.
    read_end: u64,
    /// Victims looked through whose last slots are in `moving`.
    retiring: Vec<u32>,
}

impl Mover {
    pub fn new(purpose: Purpose) -> Mover {
        Mover {
            purpose,
            victim: None,
            unit: 0,
            moving: Vec::new(),
            read_end: 0,
            retiring: Vec::new(),
        }
    }

    /// Superblocks being emptied.
    pub fn victims(&self) -> impl Iterator<Item = u32> + '_ {
        self.victim.iter().chain(&self.retiring).copied()
    }
}

impl Ftl {
    /// Does reclaim work until one host unit is paid for, while few superblocks are free.
    pub(super) fn earn_credits(&mut self, now: u64, from: u64) {
        let price = i64::from(self.nand.geometry.slots_per_unit);
        while self.free.len() <= self.free_low && self.credits < price {
            let mut mover = std::mem::replace(&mut self.reclaim, Mover::new(Purpose::Relocation));
            let progress = self.step(&mut mover, now, from);
            assert!(progress.is_some(), "reclaim found no victim");
            self.reclaim = mover;
        }
    }

    /// Whether the pSLC cache holds superblocks that can be folded.
    pub fn can_fold(&self) -> bool {
        !self.fold.moving.is_empty()
            || self.fold.victim.is_some()
            || self.candidates(Mode::Slc).next().is_some()
    }

    /// Folds up to one unit per die out of the pSLC cache; returns when that is done, or `None`
    /// when there is nothing to fold.
    pub fn fold_some(&mut self, now: u64) -> Option<u64> {
        let mut end = None;
        for _ in 0..self.nand.geometry.die_count {
            let mut mover = std::mem::replace(&mut self.fold, Mover::new(Purpose::Fold));
            let done = self.step(&mut mover, now, now);
            self.fold = mover;
            match done {
                Some(done) => end = end.max(Some(done)),
                None => break,
            }
        }
        end
    }

    fn candidates(&self, mode: Mode) -> impl Iterator<Item = u32> + '_ {
        (0..self.state.len())
            .filter(move |&s| self.state[s] == State::Full && self.mode[s] == mode)
            .map(|s| s as u32)
    }

    /// Looks through one unit of the victim, and programs when a whole unit is gathered.
    /// Returns when its operations end; `None` when there is nothing to empty.
    fn step(&mut self, mover: &mut Mover, now: u64, from: u64) -> Option<u64> {
        let mut end = from;
        if mover.victim.is_none() {
            mover.victim = self.pick(mover.purpose);
            mover.unit = 0;
        }
        let unit_slots = self.nand.geometry.slots_per_unit as usize;
        match mover.victim {
            Some(victim) => self.look(mover, victim, now, from),
            None if mover.moving.is_empty() => return None,
            None => end = end.max(self.program_moving(mover, now)),
        }
        if mover.moving.len() >= unit_slots {
            self.drop_overwritten(mover);
        }
        // Whole units; less only when a second victim would otherwise wait for a few slots.
        let crowded = mover.retiring.len() > 1 && !mover.moving.is_empty();
        if mover.moving.len() >= unit_slots || crowded {
            end = end.max(self.program_moving(mover, now));
        }
        self.retire(mover, from);
        Some(end.max(mover.read_end))
    }

    fn pick(&mut self, purpose: Purpose) -> Option<u32> {
        let victim = match purpose {
            Purpose::Fold => self.candidates(Mode::Slc).next(),
            _ => victim::greedy(&self.valid_count, |s| {
                self.state[s] == State::Full && self.mode[s] == Mode::Native
            }),
        }?;
        self.state[victim as usize] = State::Victim;
        Some(victim)
    }

    fn look(&mut self, mover: &mut Mover, victim: u32, now: u64, from: u64) {
        let geometry = &self.nand.geometry;
        let mode = self.mode[victim as usize];
        let (dies, slots) = (geometry.die_count, geometry.slots_per_unit);
        let first = victim * geometry.slots_per_superblock + mover.unit * slots;
        let before = mover.moving.len();
        for ppn in first..first + slots {
            if self.is_valid(ppn) {
                let lpn = self.owner[ppn as usize];
                prefetch(&self.map, lpn as usize);
                mover.moving.push((lpn, ppn + 1));
            }
        }
        let found = (mover.moving.len() - before) as u32;
        if found > 0 {
            let (row, die) = (mover.unit / dies, mover.unit % dies);
            let read = self.nand.read(now, from, die, row, mode, found);
            mover.read_end = mover.read_end.max(read);
            self.counters.nand_reads_internal += 1;
        }
        if mover.purpose == Purpose::Relocation {
            self.credits += i64::from(slots - found);
        }
        mover.unit += 1;
        if mover.unit == self.nand.rows(mode) * dies {
            mover.retiring.push(victim);
            mover.victim = None;
        }
    }

    /// Programs up to one unit of the gathered slots.
    fn program_moving(&mut self, mover: &mut Mover, now: u64) -> u64 {
        self.drop_overwritten(mover);
        let count = mover
            .moving
            .len()
            .min(self.nand.geometry.slots_per_unit as usize);
        if count == 0 {
            return mover.read_end;
        }
        if mover.purpose == Purpose::Fold {
            // Folded data is new to the native superblocks, so it pays like a host's.
            self.earn_credits(now, now);
            self.spend_credits();
        }
        self.drop_overwritten(mover);
        let count = mover
            .moving
            .len()
            .min(self.nand.geometry.slots_per_unit as usize);
        if count == 0 {
            return mover.read_end;
        }
        if self.relocation.open().is_none() {
            let superblock = self.take_free();
            self.relocation.start(superblock, Mode::Native, &self.nand);
        }
        let target = self.relocation.take(&self.nand);
        if mover.purpose == Purpose::Relocation {
            // Padding uses up slots that no credit stands for.
            self.credits -= i64::from(self.nand.geometry.slots_per_unit) - count as i64;
        }
        let moved = &mover.moving[..count];
        let end = self.program(now, mover.read_end.max(now), target, moved, mover.purpose);
        mover.moving.drain(..count);
        self.journal_change(count as u32);
        if let Some(full) = self.relocation.close_if_full() {
            self.state[full as usize] = State::Full;
        }
        end
    }

    /// Slots overwritten or trimmed since they were read need not be moved any more.
    fn drop_overwritten(&mut self, mover: &mut Mover) {
        let before = mover.moving.len();
        mover.moving.retain(|&(_, value)| self.is_valid(value - 1));
        if mover.purpose == Purpose::Relocation {
            self.credits += (before - mover.moving.len()) as i64;
        }
    }

    /// Frees the victims that hold nothing valid any more.
    fn retire(&mut self, mover: &mut Mover, from: u64) {
        if mover.retiring.is_empty() {
            return;
        }
        // Before a victim is used again: its slot numbers will mean other data.
        self.drop_overwritten(mover);
        let mut retiring = std::mem::take(&mut mover.retiring);
        retiring.retain(|&victim| {
            if self.valid_count[victim as usize] > 0 {
                return true;
            }
            self.state[victim as usize] = State::Free;
            if mover.purpose == Purpose::Fold {
                self.nand.erase(from, victim);
                self.counters.nand_erases += u64::from(self.nand.geometry.die_count);
                self.counters.superblocks_folded += 1;
                self.free_slc.push_back(victim);
            } else {
                self.nand.make_stale(victim);
                self.counters.superblocks_reclaimed += 1;
                self.free.push_back(victim);
            }
            false
        });
        mover.retiring = retiring;
    }
}
