//! Buffered host data of one stream, before it is programmed.
//!
//! Oldest first. The map of a buffered slot points here, so a lookup, an overwrite in place
//! (coalescing) and a read hit cost no search. The copy on media that the buffered data will
//! replace stays valid until then: it is what remains after a power cut.

use crate::caches::prefetch;
use crate::image::image_of;
use std::ops::Range;

/// Logical slot of a dead entry.
const DEAD: u32 = u32::MAX;

image_of! {
    /// A mapping unit to be programmed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct GatherEntry {
        /// Logical slot, or [`DEAD`] when trimmed or taken out of turn.
        pub lpn: u32,
        /// The previous map value: its older copy on media, if any.
        pub old: u32,
        /// Weight: slots of media that it takes.
        pub weight: u32,
    }
}

image_of! {
    /// A queue of entries with access by index.
    #[derive(Clone, Debug)]
    pub(crate) struct Gather {
        entries: Vec<GatherEntry>,
        head: u32,
        tail: u32,
        live: u32,
        /// Total weight of the live entries.
        weight: u32,
    }
}

impl Gather {
    /// Room for `slots` live entries and as many dead ones.
    pub fn new(slots: u32) -> Gather {
        let size = (2 * slots).next_power_of_two() as usize;
        let dead = GatherEntry {
            lpn: DEAD,
            ..GatherEntry::default()
        };
        Gather {
            entries: vec![dead; size],
            head: 0,
            tail: 0,
            live: 0,
            weight: 0,
        }
    }

    #[inline(always)]
    fn index(&self, position: u32) -> usize {
        position as usize & (self.entries.len() - 1)
    }

    /// Capacity in entries, live and dead.
    pub fn size(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Number of live entries.
    #[inline(always)]
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Total weight of the live entries.
    #[inline(always)]
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Whether no entry can be added before [`Gather::compact`].
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.tail.wrapping_sub(self.head) as usize == self.entries.len()
    }

    /// Number of entries that can be appended before [`Gather::compact`].
    #[inline(always)]
    pub fn room(&self) -> u32 {
        self.size() - self.tail.wrapping_sub(self.head)
    }

    /// Drops dead entries; returns the live ones with their new indices.
    pub fn compact(&mut self) -> Vec<(u32, GatherEntry)> {
        let live: Vec<GatherEntry> = self.iter().map(|(_, entry)| entry).collect();
        self.head = 0;
        self.tail = live.len() as u32;
        self.entries[..live.len()].copy_from_slice(&live);
        (0..).zip(live).collect()
    }

    /// Appends; returns the entry's index.
    #[inline(always)]
    pub fn push(&mut self, entry: GatherEntry) -> u32 {
        let index = self.index(self.tail);
        self.entries[index] = entry;
        self.tail = self.tail.wrapping_add(1);
        self.live += 1;
        self.weight += entry.weight;
        index as u32
    }

    /// The index of the next entry and the contiguous free entries, for appending entries of weight
    /// one; call [`Gather::appended`] afterwards.
    #[inline(always)]
    pub fn appending(&mut self) -> (u32, &mut [GatherEntry]) {
        let first = self.index(self.tail);
        let count = (self.room() as usize).min(self.entries.len() - first);
        (first as u32, &mut self.entries[first..first + count])
    }

    /// Counts the entries appended.
    #[inline(always)]
    pub fn appended(&mut self, count: u32) {
        self.tail = self.tail.wrapping_add(count);
        self.live += count;
        self.weight += count;
    }

    /// The entries, oldest first, in one or two pieces, if there are exactly `count` and none is
    /// dead.
    #[inline(always)]
    pub fn whole(&self, count: u32) -> Option<(&[GatherEntry], &[GatherEntry])> {
        let queued = self.tail.wrapping_sub(self.head);
        if self.live != count || queued != count || self.weight != count {
            return None;
        }
        let first = self.index(self.head);
        let last = first + count as usize;
        let wrapped = last.saturating_sub(self.entries.len());
        Some((
            &self.entries[first..last - wrapped],
            &self.entries[..wrapped],
        ))
    }

    /// Drops all entries.
    pub fn clear(&mut self) {
        self.head = self.tail;
        self.live = 0;
        self.weight = 0;
    }

    /// Moves the oldest live entries that together take no more than `room` slots of media to
    /// `batch`.
    #[inline(always)]
    pub fn pop_into(&mut self, batch: &mut Vec<GatherEntry>, room: u32) {
        if let Some((first, second)) = self.whole(self.live).filter(|_| self.live <= room) {
            batch.extend_from_slice(first);
            batch.extend_from_slice(second);
            return self.clear();
        }
        let mask = self.entries.len() - 1;
        let (mut head, mut left) = (self.head, room);
        while head != self.tail {
            let entry = self.entries[head as usize & mask];
            if entry.lpn != DEAD {
                if entry.weight > left {
                    break;
                }
                left -= entry.weight;
                batch.push(entry);
            }
            head = head.wrapping_add(1);
        }
        self.head = head;
        self.live -= batch.len() as u32;
        self.weight -= room - left;
    }

    /// The oldest live entry.
    pub fn oldest(&self) -> Option<GatherEntry> {
        self.iter().next().map(|(_, entry)| entry)
    }

    /// Removes an entry out of order.
    pub fn kill(&mut self, index: u32) -> GatherEntry {
        let entry = self.entries[index as usize];
        assert_ne!(entry.lpn, DEAD, "buffer entry {index} is dead");
        self.entries[index as usize].lpn = DEAD;
        self.live -= 1;
        self.weight -= entry.weight;
        entry
    }

    /// Prefetches an entry.
    #[inline(always)]
    pub fn prefetch(&self, index: u32) {
        prefetch(&self.entries, index as usize);
    }

    /// Sets the weight of new data.
    #[inline(always)]
    pub fn reweigh(&mut self, index: u32, weight: u32) {
        let entry = &mut self.entries[index as usize];
        self.weight = self.weight - entry.weight + weight;
        entry.weight = weight;
    }

    /// Map value of the older copy of an entry's data.
    pub fn old(&self, index: u32) -> u32 {
        self.entries[index as usize].old
    }

    /// Updates the map value of the older copy of an entry's data, which has been relocated.
    pub fn set_old(&mut self, index: u32, from: u32, to: u32) {
        let entry = &mut self.entries[index as usize];
        assert_eq!(entry.old, from, "buffer entry {index}: older copy");
        entry.old = to;
    }

    /// Whether the live entries are those of `lpns`, in order.
    pub fn holds_exactly(&self, lpns: Range<u32>) -> bool {
        self.live as usize == lpns.len() && self.iter().map(|(_, entry)| entry.lpn).eq(lpns)
    }

    /// Live entries with their indices, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, GatherEntry)> + '_ {
        (0..self.tail.wrapping_sub(self.head))
            .map(|i| self.index(self.head.wrapping_add(i)))
            .map(|index| (index as u32, self.entries[index]))
            .filter(|(_, entry)| entry.lpn != DEAD)
    }
}
