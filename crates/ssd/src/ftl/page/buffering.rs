//! Host slots on their way into the write buffer and out of it.

use super::place::HostWrite;
use super::write_buffer::BufferPlace;
use super::{BUFFERED, GatherEntry, Gear, Hint, Layout, PageFtl, UNMAPPED};

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Slots of media that a mapping unit takes.
    #[inline(always)]
    pub(super) fn weigh(&self, hint: Hint) -> u32 {
        if !L::FULL {
            return 1;
        }
        let kept_pct = 100 - u32::from(hint.compress_pct.min(100));
        (self.rules.pack * kept_pct).div_ceil(100).max(1)
    }

    /// Puts a host slot into its stream's buffer; true if it takes additional space.
    #[inline(always)]
    pub(super) fn take_in(&mut self, from: u64, lpn: u32, hint: Hint) -> bool {
        self.placement.count_host_slots(1);
        self.remember_write(lpn, hint.tag);
        let weight = self.weigh(hint);
        let stream = self.stream_for(lpn, hint);
        let value = self.map.value(lpn);
        if value >= BUFFERED {
            self.buffer.reweigh(value, weight);
            self.counters.slots_coalesced += 1;
            return false;
        }
        let gather = self.buffer.gather(stream);
        let many = L::FULL && gather.live() >= self.rules.gather_units;
        if many || gather.weight() + weight > self.rules.gather_slots {
            self.place_oldest(from, stream, HostWrite::Usual);
        }
        if self.buffer.gather(stream).is_full() {
            self.compact(stream);
        }
        // Placing may have relocated the slot's older copy.
        let old = self.map.value(lpn);
        self.map.note_written(lpn + 1);
        if old != UNMAPPED {
            self.map.prefetch_valid(old);
        }
        let value = self.buffer.push(stream, GatherEntry { lpn, old, weight });
        self.map.set(lpn, value);
        true
    }

    #[cold]
    fn compact(&mut self, stream: usize) {
        for (index, entry) in self.buffer.gather_mut(stream).compact() {
            let value = self.buffer.value_of(BufferPlace { stream, index });
            self.map.set(entry.lpn, value);
        }
    }

    #[inline(always)]
    pub(super) fn stream_for(&mut self, lpn: u32, hint: Hint) -> usize {
        let map = &self.map;
        let is_mapped = || map.value(lpn) != UNMAPPED;
        self.placement.stream_for(lpn, hint, is_mapped)
    }

    /// Removes a slot from the buffer for a write that cannot wait; returns the copy on media that
    /// it replaces, and whether it was buffered.
    pub(super) fn take_from_buffer(&mut self, lpn: u32) -> (u32, bool) {
        let value = self.map.value(lpn);
        if value < BUFFERED {
            return (value, false);
        }
        let old = self.buffer.kill(value);
        self.map.set(lpn, old);
        (old, true)
    }

    /// Trims a slot; returns the number of buffer places that this frees.
    pub(super) fn forget(&mut self, lpn: u32) -> u32 {
        let (old, was_buffered) = self.take_from_buffer(lpn);
        if old == UNMAPPED {
            self.map.set(lpn, UNMAPPED);
            return u32::from(was_buffered);
        }
        self.map
            .invalidate(old, &mut self.space, &self.nand.geometry);
        self.map.set(lpn, UNMAPPED);
        self.nand.remember_trim(lpn);
        if G::KEEPS {
            self.journal.log_trim(&self.nand, lpn);
        }
        self.journal.change(1);
        u32::from(was_buffered)
    }
}
