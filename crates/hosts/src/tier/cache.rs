//! The cache of one side: which block is in which slot of the cache device, and which are dirty.
//!
//! A write goes to the slot that the block has, or to a free one, or to one whose clean block is
//! given up (in turn). A dirty slot is never given up. Each slot knows the version of the block
//! that it holds, so that nothing is lost without being noticed.

use std::collections::BTreeSet;

/// No slot.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct CacheSlot {
    /// Block, or `NONE`.
    block: u32,
    version: u32,
    dirty: bool,
    /// Writes to the slot under way.
    busy: u32,
    /// On its way to the disk.
    destaging: bool,
}

/// A block on its way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destage {
    /// Block.
    pub block: u32,
    /// Its slot.
    pub slot: u32,
    version: u32,
}

/// The cache of a side.
#[derive(Clone, Debug)]
pub struct TierCache {
    slots: Vec<CacheSlot>,
    /// By block.
    place: Vec<u32>,
    /// Never used yet: those from here on.
    fresh: u32,
    hand: u32,
    /// Version on the disk, by block.
    on_disk: Vec<u32>,
    /// By disk: dirty blocks that may be destaged.
    waiting: Vec<BTreeSet<u32>>,
    chunk: u32,
    dirty: u64,
    /// Times a slot became dirty, and clean again.
    pub dirtied: u64,
    /// See `dirtied`.
    pub cleaned: u64,
}

impl TierCache {
    /// A cache of `slots` slots for `blocks` blocks on `disks` disks, which take turns every
    /// `chunk` blocks.
    pub fn new(slots: u32, blocks: u32, disks: usize, chunk: u32) -> TierCache {
        let free = CacheSlot {
            block: NONE,
            ..CacheSlot::default()
        };
        TierCache {
            slots: vec![free; slots as usize],
            place: vec![NONE; blocks as usize],
            fresh: 0,
            hand: 0,
            on_disk: vec![0; blocks as usize],
            waiting: vec![BTreeSet::new(); disks],
            chunk,
            dirty: 0,
            dirtied: 0,
            cleaned: 0,
        }
    }

    /// The disk that a block is on.
    pub fn disk_of(&self, block: u32) -> usize {
        (block / self.chunk) as usize % self.waiting.len()
    }

    /// The slot that has the block.
    pub fn find(&self, block: u32) -> Option<u32> {
        let slot = self.place[block as usize];
        (slot != NONE).then_some(slot)
    }

    /// A slot for the block: its own, a free one, or that of a clean block. `None` when all are
    /// dirty or being written.
    pub fn take(&mut self, block: u32) -> Option<u32> {
        if let Some(slot) = self.find(block) {
            return Some(slot);
        }
        let slot = self.free_slot()?;
        let old = self.slots[slot as usize].block;
        if old != NONE {
            self.place[old as usize] = NONE;
        }
        self.slots[slot as usize] = CacheSlot {
            block,
            version: self.on_disk[block as usize],
            ..CacheSlot::default()
        };
        self.place[block as usize] = slot;
        Some(slot)
    }

    fn free_slot(&mut self) -> Option<u32> {
        let count = self.slots.len() as u32;
        if self.fresh < count {
            self.fresh += 1;
            return Some(self.fresh - 1);
        }
        if self.dirty >= u64::from(count) {
            return None;
        }
        for _ in 0..count {
            let slot_index = self.hand;
            self.hand = (slot_index + 1) % count;
            let slot = &self.slots[slot_index as usize];
            if !slot.dirty && slot.busy == 0 {
                return Some(slot_index);
            }
        }
        None
    }

    /// A host write of `version` to the slot begins.
    pub fn write_begins(&mut self, slot: u32, version: u32) {
        let s = &mut self.slots[slot as usize];
        s.busy += 1;
        s.version = version;
        if !s.dirty {
            s.dirty = true;
            self.dirty += 1;
            self.dirtied += 1;
        }
    }

    /// It has ended.
    pub fn write_ends(&mut self, slot: u32) {
        let s = &mut self.slots[slot as usize];
        s.busy -= 1;
        if s.busy == 0 && s.dirty && !s.destaging {
            let block = s.block;
            let disk = self.disk_of(block);
            self.waiting[disk].insert(block);
        }
    }

    /// A copy of the disk's data is being written to the slot.
    pub fn fill_begins(&mut self, slot: u32) {
        self.slots[slot as usize].busy += 1;
    }

    /// Dirty slots.
    pub fn dirty(&self) -> u64 {
        self.dirty
    }

    /// Slots that hold something.
    pub fn used(&self) -> u64 {
        self.fresh.into()
    }

    /// Slots.
    pub fn slot_count(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Up to `most` neighbouring dirty blocks of a disk, the first at or after `from`, or from the
    /// beginning when there is none.
    pub fn pick(&mut self, disk: usize, from: u32, most: usize) -> Vec<Destage> {
        let waiting = &mut self.waiting[disk];
        let first = waiting.range(from..).next().or_else(|| waiting.first());
        let Some(&first) = first else {
            return Vec::new();
        };
        let last = first - first % self.chunk + self.chunk;
        let run = (first..last).take(most);
        let run: Vec<u32> = run.take_while(|block| waiting.contains(block)).collect();
        run.into_iter()
            .map(|block| {
                self.waiting[disk].remove(&block);
                let slot = self.place[block as usize];
                let s = &mut self.slots[slot as usize];
                s.destaging = true;
                Destage {
                    block,
                    slot,
                    version: s.version,
                }
            })
            .collect()
    }

    /// The blocks are on the disk; those that were written since stay dirty.
    pub fn destaged(&mut self, blocks: &[Destage]) {
        for done in blocks {
            self.on_disk[done.block as usize] = done.version;
            let s = &mut self.slots[done.slot as usize];
            s.destaging = false;
            if s.version == done.version && s.busy == 0 {
                s.dirty = false;
                self.dirty -= 1;
                self.cleaned += 1;
            } else if s.busy == 0 {
                let disk = self.disk_of(done.block);
                self.waiting[disk].insert(done.block);
            }
        }
    }

    /// Every block's newest version is in the cache or on the disk; what is not newer than the
    /// disk's is clean; the counts agree. To be asked for when nothing is under way.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self, newest: impl Fn(u32) -> Option<u32>) -> Result<(), String> {
        let mut dirty = 0;
        for (block, &slot) in (0_u32..).zip(&self.place) {
            let Some(newest) = newest(block) else {
                continue;
            };
            let disk = self.on_disk[block as usize];
            let (held, is_dirty) = match slot {
                NONE => (disk, false),
                slot => {
                    let s = &self.slots[slot as usize];
                    if s.block != block {
                        return Err(format!("slot {slot} holds {}, not {block}", s.block));
                    }
                    (s.version, s.dirty)
                }
            };
            dirty += u64::from(is_dirty);
            if held != newest || (!is_dirty && disk != newest) {
                return Err(format!(
                    "block {block}: version {newest} was written, the cache has {held} and the \
                     disk {disk}"
                ));
            }
        }
        if dirty != self.dirty || self.dirtied - self.cleaned != dirty {
            return Err(format!(
                "{dirty} slots are dirty, {} were counted; {} became dirty, {} clean",
                self.dirty, self.dirtied, self.cleaned
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_written_while_it_is_destaged_stays_dirty() {
        let mut cache = TierCache::new(4, 100, 1, 100);
        let slot = cache.take(7).unwrap();
        cache.write_begins(slot, 1);
        cache.write_ends(slot);
        let batch = cache.pick(0, 0, 8);
        assert_eq!(batch.len(), 1);
        cache.write_begins(slot, 2);
        cache.write_ends(slot);
        cache.destaged(&batch);
        assert_eq!(cache.dirty(), 1);
        cache
            .check(|block| Some(if block == 7 { 2 } else { 0 }))
            .unwrap();
        let batch = cache.pick(0, 50, 8);
        cache.destaged(&batch);
        assert_eq!((cache.dirty(), cache.dirtied, cache.cleaned), (0, 1, 1));
        cache
            .check(|block| Some(if block == 7 { 2 } else { 0 }))
            .unwrap();
        assert!(cache.check(|_| Some(3)).is_err());
    }

    #[test]
    fn dirty_slots_are_never_given_up_and_neighbours_go_together() {
        let mut cache = TierCache::new(4, 100, 2, 10);
        for block in [3, 4, 5, 12] {
            let slot = cache.take(block).unwrap();
            cache.write_begins(slot, 1);
            cache.write_ends(slot);
        }
        assert_eq!(cache.take(50), None);
        let batch = cache.pick(0, 0, 8);
        let blocks: Vec<u32> = batch.iter().map(|d| d.block).collect();
        assert_eq!(blocks, [3, 4, 5]);
        cache.destaged(&batch);
        assert!(cache.take(50).is_some());
        assert_eq!(cache.find(12), Some(3));
    }
}
