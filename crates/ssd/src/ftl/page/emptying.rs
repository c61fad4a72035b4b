//! Emptying superblocks: for reclaim, for folding of the pSLC cache, for refresh and for levelling.
//!
//! All of them empty a victim unit by unit: valid slots are read, gathered to whole units, and
//! programmed at the relocation frontier. A victim becomes free only when every valid slot has been
//! programmed elsewhere; until then its copies remain to fall back on.

use super::mover::MoverKind;
use super::space::State;
use super::{GatherEntry, Gear, Layout, PageFtl};
use crate::config::Pace;
use crate::nand::{Erased, Mode, Purpose, UnitPlace};

/// Number of victim slots whose map entries are prefetched at a time, and distance ahead of the
/// scan, in slots. Many at once, so that their memory accesses overlap.
pub(super) const AHEAD: u32 = 128;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// One step of reclaim; `None` when there is nothing to empty.
    pub(super) fn reclaim_step(&mut self, from: u64) -> Option<u64> {
        self.step::<true>(MoverKind::Reclaim, from)
    }

    /// Whether the pSLC cache holds superblocks that can be folded.
    pub(super) fn can_fold(&self) -> bool {
        self.is_folding() || self.space.slc_full_ones().len() > 0
    }

    /// Whether a superblock of the pSLC cache is half folded.
    pub(super) fn is_folding(&self) -> bool {
        self.reclaim.mover(MoverKind::Fold).is_working()
    }

    /// The superblock of the pSLC cache that is being folded.
    pub(super) fn folding(&self) -> Option<u32> {
        self.reclaim.mover(MoverKind::Fold).victim
    }

    pub(super) fn fold_step(&mut self, from: u64) -> Option<u64> {
        self.step::<false>(MoverKind::Fold, from)
    }

    /// One step of refresh, if any is due.
    pub(super) fn refresh_step(&mut self, from: u64) -> Option<u64> {
        self.step::<false>(MoverKind::Refresh, from)
    }

    pub(super) fn refresh_is_due(&self) -> bool {
        self.reclaim.mover(MoverKind::Refresh).is_working() || self.levelling.has_refreshes()
    }

    /// One step of wear levelling, and of moving data off blocks that failed.
    pub(super) fn level_step(&mut self, from: u64) -> Option<u64> {
        self.step::<false>(MoverKind::Level, from)
    }

    pub(super) fn level_is_working(&self) -> bool {
        self.reclaim.mover(MoverKind::Level).is_working()
    }

    /// Scans one unit of the victim, and programs when a whole unit is gathered. Returns the end of
    /// its operations, or `None` when there is nothing to empty.
    ///
    /// `RECLAIM`: the mover is reclaim, which is compiled separately because it takes most of the
    /// time.
    fn step<const RECLAIM: bool>(&mut self, kind: MoverKind, from: u64) -> Option<u64> {
        let kind = kind.or_reclaim::<RECLAIM>();
        let mut end = from;
        if self.reclaim.mover(kind).victim.is_none() {
            let victim = self.pick(kind);
            let mover = self.reclaim.mover_mut(kind);
            mover.victim = victim;
            mover.unit = 0;
        }
        let unit_slots = self.unit_slots() as usize;
        let mover = self.reclaim.mover(kind);
        match mover.victim {
            Some(victim) => self.scan_ahead(kind, victim, from),
            None if mover.moving.is_empty() => return None,
            None => end = end.max(self.program_moving::<RECLAIM>(kind, from)),
        }
        // Whole units, except when a second victim would otherwise wait for a few slots.
        loop {
            let mover = self.reclaim.mover(kind);
            let waiting = mover.retiring.len() > 1 && !mover.moving.is_empty();
            if mover.moving.len() < unit_slots && !waiting {
                break;
            }
            end = end.max(self.program_moving::<RECLAIM>(kind, from));
        }
        if !self.reclaim.mover(kind).retiring.is_empty() {
            self.retire(kind, from);
        }
        Some(end.max(self.reclaim.mover(kind).read_end))
    }

    /// Programs everything that the mover of reclaim holds, and frees its victims.
    pub(super) fn finish_victims(&mut self, from: u64) {
        while !self.reclaim.mover(MoverKind::Reclaim).moving.is_empty() {
            self.program_moving::<true>(MoverKind::Reclaim, from);
        }
        self.retire(MoverKind::Reclaim, from);
    }

    fn pick(&mut self, kind: MoverKind) -> Option<u32> {
        let victim = match kind {
            MoverKind::Fold => self.space.take_slc_full()?,
            MoverKind::Refresh => self.levelling.next_refresh(&mut self.space)?,
            MoverKind::Level => self.levelling.next_move(&mut self.space)?,
            MoverKind::Reclaim => {
                let emptiest = self.is_short();
                let written = self.counters.slots_host;
                self.reclaim.choose(&mut self.space, written, emptiest)?
            }
        };
        self.space.set_state(victim, State::Victim);
        Some(victim)
    }

    pub(super) fn units_of(&self, mode: Mode) -> u32 {
        self.nand.rows(mode) * self.nand.geometry.die_count
    }

    /// Scans the units that a step reads before it programs anything. When it empties whole victims
    /// at once, reclaim reads a row of all dies in parallel: unit by unit, each read would wait for
    /// the program just begun on its die, and the dies would work one after another.
    #[inline(always)]
    fn scan_ahead(&mut self, kind: MoverKind, victim: u32, from: u64) {
        self.scan_unit(kind, victim, from);
        if kind == MoverKind::Reclaim && self.reclaim.pace() == Pace::Whole {
            self.scan_row(kind, victim, from);
        }
    }

    fn scan_row(&mut self, kind: MoverKind, victim: u32, from: u64) {
        let dies = self.nand.geometry.die_count;
        loop {
            let mover = self.reclaim.mover(kind);
            if mover.victim.is_none() || mover.unit.is_multiple_of(dies) {
                return;
            }
            self.scan_unit(kind, victim, from);
        }
    }

    #[inline(always)]
    fn scan_unit(&mut self, kind: MoverKind, victim: u32, from: u64) {
        let mode = self.space.mode(victim);
        let (dies, slots) = (self.nand.geometry.die_count, self.unit_slots());
        let units = self.units_of(mode);
        let begin = victim * self.nand.geometry.slots_per_superblock;
        let unit = self.reclaim.mover(kind).unit;
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
        let valid = self.take_valid(kind, first, first + slots);
        let mover = self.reclaim.mover_mut(kind);
        mover.unit += 1;
        if valid > 0 {
            let place = UnitPlace {
                superblock: victim,
                row: unit / dies,
                die: unit % dies,
                mode,
            };
            let read = self.nand.read(from, place, valid, kind.purpose());
            mover.read_end = mover.read_end.max(read);
            self.counters.nand_reads_internal += 1;
        }
        let is_last = mover.unit == units;
        if is_last {
            mover.retiring.push(victim);
            mover.victim = None;
            self.counters.victims += 1;
        }
        if kind == MoverKind::Reclaim {
            self.reclaim.earn(slots - valid);
            if is_last && mode == Mode::Slc {
                self.reclaim
                    .earn((self.units_of(Mode::Native) - units) * slots);
            }
        }
    }

    /// Takes the valid slots from `first` up to `last` for moving; returns their total weight.
    #[inline(always)]
    fn take_valid(&mut self, kind: MoverKind, first: u32, last: u32) -> u32 {
        let PageFtl { map, reclaim, .. } = self;
        let moving = &mut reclaim.mover_mut(kind).moving;
        let before = moving.len();
        map.each_valid(first, last, |ppn| {
            moving.push(GatherEntry {
                lpn: map.owner(ppn),
                old: ppn + 1,
                weight: map.weight_at(ppn),
            });
        });
        if L::FULL {
            for entry in &moving[before..] {
                map.prefetch_map_page(entry.lpn);
            }
            moving[before..].iter().map(|entry| entry.weight).sum()
        } else {
            (moving.len() - before) as u32
        }
    }

    /// Prefetches the map entries of the valid slots from `first` up to `last`.
    pub(super) fn prefetch_ahead(&self, first: u32, last: u32) {
        self.map.prefetch_valid_slots(first, last, AHEAD);
    }

    /// Programs up to one unit of the gathered slots.
    fn program_moving<const RECLAIM: bool>(&mut self, kind: MoverKind, from: u64) -> u64 {
        let kind = kind.or_reclaim::<RECLAIM>();
        if kind != MoverKind::Reclaim {
            // The data is new to the native superblocks or replaces nothing freed yet, so it pays
            // like host data.
            self.pay_for_move(from);
        }
        self.drop_stale(kind);
        let mover = self.reclaim.mover_mut(kind);
        let read_end = mover.read_end;
        // No slots wait in the mover meanwhile, not even if paying uses this mover.
        let mut moving = std::mem::take(&mut mover.moving);
        let (count, room) = self.unit_of(&moving);
        let mut end = read_end;
        if count > 0 {
            let batch = &moving[..count];
            let purpose = kind.purpose();
            let frontier = self.relocation_frontier(batch);
            let ready = read_end.max(from);
            let place = self.take_relocation_unit(ready, frontier, purpose);
            if kind == MoverKind::Reclaim {
                // Padding uses slots that no credit was paid for.
                self.reclaim.spend(room);
            }
            end = self.program_moved(ready, place, batch, purpose).end;
            if kind == MoverKind::Level {
                self.count_levelled(batch);
            }
            self.journal.change(batch.len() as u32);
            self.close_if_full(frontier);
        }
        moving.drain(..count);
        self.reclaim.mover_mut(kind).moving = moving;
        end
    }

    /// Drops slots that were overwritten or trimmed since they were read.
    #[inline(always)]
    fn drop_stale(&mut self, kind: MoverKind) {
        if self.reclaim.mover(kind).epoch != self.space.epoch() {
            self.drop_now_stale(kind);
        }
    }

    fn drop_now_stale(&mut self, kind: MoverKind) {
        let PageFtl { map, reclaim, .. } = self;
        let mover = reclaim.mover_mut(kind);
        mover.epoch = self.space.epoch();
        let stale = mover.drop_stale(|ppn| map.is_valid(ppn));
        if kind == MoverKind::Reclaim {
            reclaim.earn(stale);
        }
    }

    /// Number of entries that fit into a unit, and the remaining room.
    fn unit_of(&self, moving: &[GatherEntry]) -> (usize, u32) {
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

    fn relocation_frontier(&self, batch: &[GatherEntry]) -> usize {
        let first = batch[0];
        let is_of_map = L::FULL && first.lpn >= self.map.user_slots();
        let superblock = self.nand.geometry.superblock_of(first.old - 1);
        let stream = self.space.stream_of(superblock);
        self.placement.relocation_frontier(is_of_map, stream)
    }

    #[inline(always)]
    fn take_relocation_unit(&mut self, from: u64, frontier: usize, purpose: Purpose) -> UnitPlace {
        loop {
            if !self.placement.is_open(frontier) {
                self.open(frontier, Mode::Native);
            }
            let place = self.placement.take(frontier, &self.nand);
            let parity = self.holds_parity(place);
            if !parity && !self.nand.program_fails(place) {
                return place;
            }
            let wasted = if parity { Purpose::Parity } else { purpose };
            self.program(from, place, &[], wasted, false);
            self.close_if_full(frontier);
            if purpose == Purpose::Relocation {
                self.reclaim.spend(self.unit_slots());
            } else {
                self.pay_for_move(from);
            }
        }
    }

    /// Frees the victims without valid slots.
    fn retire(&mut self, kind: MoverKind, from: u64) {
        let mut index = 0;
        while let Some(&victim) = self.reclaim.mover(kind).retiring.get(index) {
            if self.space.valid(victim) > 0 {
                index += 1;
                continue;
            }
            let mover = self.reclaim.mover_mut(kind);
            mover.retiring.remove(index);
            // Its slot numbers will refer to other data.
            let slots = self.nand.geometry.slots_per_superblock;
            let dropped = mover.drop_stale(|ppn| ppn / slots != victim);
            if kind == MoverKind::Reclaim {
                self.reclaim.earn(dropped);
            }
            self.set_free(victim, kind, from);
        }
    }

    fn set_free(&mut self, victim: u32, kind: MoverKind, from: u64) {
        self.space.set_state(victim, State::Free);
        match kind {
            MoverKind::Fold => self.counters.superblocks_folded += 1,
            MoverKind::Refresh => self.counters.superblocks_refreshed += 1,
            MoverKind::Level => self.count_level_freed(),
            MoverKind::Reclaim => self.counters.superblocks_reclaimed += 1,
        }
        if victim < self.space.static_slc() {
            let (_, erased) = self.nand.erase(from, victim);
            self.counters.nand_erases += u64::from(self.nand.geometry.die_count);
            match erased {
                Erased::Retired => self.space.retire(victim),
                _ => self.space.release(victim),
            }
        } else {
            self.renew(victim, kind == MoverKind::Reclaim);
        }
    }
}
