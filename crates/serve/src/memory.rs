//! A sparse drive in memory with a volatile cache: the smallest realistic [`Store`].
//!
//! Left out: media, latency, wear. It exists to test the front ends and to show how a drive plugs
//! into them. A cut reverts every change since the last flush, sector by sector.

use crate::power::{CutMoment, CutTrigger, FlushSide, PowerControl, PowerError, PowerStatus};
use crate::store::{SectorDurability, Store, StoreError, StoreExtent, ZeroFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::time::{Duration, Instant};

/// A sector's value. One that is not in the map is a hole: never written, or trimmed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MemorySector {
    Zero,
    Bytes(Box<[u8]>),
    Trimmed,
}

#[derive(Debug, Default)]
struct MemoryStoreState {
    /// Present values, by sector number.
    cells: BTreeMap<u64, MemorySector>,
    /// Durable values of the sectors that a cut would revert.
    undo: BTreeMap<u64, Option<MemorySector>>,
    /// Sectors that a cut reverted to an older value, until they are written again.
    older: BTreeSet<u64>,
    trigger: CutTrigger,
    status: PowerStatus,
}

/// A sparse drive in memory whose unflushed writes a power cut reverts.
pub struct MemoryStore {
    size: u64,
    sector: u64,
    is_read_only: bool,
    powered: AtomicBool,
    state: RwLock<MemoryStoreState>,
    cuts: Mutex<u64>,
    was_cut: Condvar,
}

impl MemoryStore {
    /// Creates an empty, powered drive of `size` bytes in sectors of `sector` bytes.
    ///
    /// # Panics
    /// If `sector` is not a power of two or `size` not a multiple of it.
    pub fn new(size: u64, sector: u32) -> Self {
        assert!(sector.is_power_of_two() && size.is_multiple_of(u64::from(sector)));
        let mut state = MemoryStoreState::default();
        state.status.powered = true;
        Self {
            size,
            sector: u64::from(sector),
            is_read_only: false,
            powered: AtomicBool::new(true),
            state: RwLock::new(state),
            cuts: Mutex::new(0),
            was_cut: Condvar::new(),
        }
    }

    /// Makes the drive refuse writes.
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Cuts the power now.
    pub fn cut(&self) {
        self.lose(&mut self.change(), "switch");
    }

    /// Restores the power.
    pub fn restore(&self) {
        self.change().status.powered = true;
        self.powered.store(true, Ordering::SeqCst);
    }

    /// Number of sectors that a cut would revert.
    pub fn cached_sectors(&self) -> usize {
        self.look().undo.len()
    }

    fn look(&self) -> RwLockReadGuard<'_, MemoryStoreState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, MemoryStoreState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn cut_count(&self) -> MutexGuard<'_, u64> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of a powered drive.
    fn powered(&self) -> Result<RwLockWriteGuard<'_, MemoryStoreState>, StoreError> {
        let state = self.change();
        if state.status.powered {
            Ok(state)
        } else {
            Err(StoreError::Off)
        }
    }

    fn lose(&self, state: &mut MemoryStoreState, why: &str) {
        if !state.status.powered {
            return;
        }
        for (sector, before) in std::mem::take(&mut state.undo) {
            match before {
                Some(cell) => state.cells.insert(sector, cell),
                None => state.cells.remove(&sector),
            };
            state.older.insert(sector);
        }
        self.powered.store(false, Ordering::SeqCst);
        state.status.powered = false;
        state.status.cuts += 1;
        state.status.last_cut = Some(why.to_string());
        *self.cut_count() = state.status.cuts;
        self.was_cut.notify_all();
    }

    /// Makes a range durable, as FUA requires.
    fn make_durable(&self, s: &mut MemoryStoreState, offset: u64, length: u64) {
        let (from, to) = (offset / self.sector, (offset + length) / self.sector);
        let covered: Vec<u64> = s.undo.range(from..to).map(|(sector, _)| *sector).collect();
        for sector in covered {
            s.undo.remove(&sector);
        }
    }

    /// Ends a write: makes it durable with `fua`, then lets an armed cut happen.
    fn written(
        &self,
        s: &mut MemoryStoreState,
        offset: u64,
        length: u64,
        fua: bool,
    ) -> Result<(), StoreError> {
        if fua {
            self.make_durable(s, offset, length);
        }
        s.status.bytes_written += length;
        if s.trigger.after_write(offset, length) {
            self.lose(s, "after a write");
            return Err(StoreError::Off);
        }
        Ok(())
    }

    fn clear(&self, s: &mut MemoryStoreState, offset: u64, length: u64, keep: bool) {
        let (from, to) = (offset / self.sector, (offset + length) / self.sector);
        if keep {
            (from..to).for_each(|sector| s.put(sector, MemorySector::Zero));
            return;
        }
        let held: Vec<u64> = s.cells.range(from..to).map(|(sector, _)| *sector).collect();
        held.into_iter()
            .for_each(|sector| s.put(sector, MemorySector::Trimmed));
    }

    fn describe(&self, state: &MemoryStoreState, sector: u64) -> StoreExtent {
        let cell = state.cells.get(&sector);
        let durability = if state.undo.contains_key(&sector) {
            SectorDurability::Cached
        } else if state.older.contains(&sector) {
            SectorDurability::Older
        } else if cell.is_some() {
            SectorDurability::Durable
        } else {
            SectorDurability::NeverWritten
        };
        StoreExtent {
            length: self.sector,
            is_allocated: matches!(cell, Some(MemorySector::Zero | MemorySector::Bytes(_))),
            is_zero: !matches!(cell, Some(MemorySector::Bytes(_))),
            durability,
        }
    }

    /// The next sector at or after `from` that is not in its initial state.
    fn next_known(&self, state: &MemoryStoreState, from: u64) -> u64 {
        let cell = state.cells.range(from..).next().map(|(sector, _)| *sector);
        let undo = state.undo.range(from..).next().map(|(sector, _)| *sector);
        let older = state.older.range(from..).next().copied();
        [cell, undo, older]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(u64::MAX)
    }
}

impl MemoryStoreState {
    /// Does the same as `put`, in place where a cut would revert the present value anyway.
    fn put_bytes(&mut self, sector: u64, part: &[u8]) {
        if self.undo.contains_key(&sector)
            && let Some(MemorySector::Bytes(bytes)) = self.cells.get_mut(&sector)
        {
            bytes.copy_from_slice(part);
        } else {
            self.put(sector, MemorySector::Bytes(part.into()));
        }
    }

    fn put(&mut self, sector: u64, cell: MemorySector) {
        let before = self.cells.insert(sector, cell);
        self.undo.entry(sector).or_insert(before);
        if !self.older.is_empty() {
            self.older.remove(&sector);
        }
    }
}

impl Store for MemoryStore {
    fn size(&self) -> u64 {
        self.size
    }

    fn sector_size(&self) -> u32 {
        self.sector as u32
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn is_powered(&self) -> bool {
        self.powered.load(Ordering::SeqCst)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let state = self.look();
        if !state.status.powered {
            return Err(StoreError::Off);
        }
        let first = offset / self.sector;
        for (sector, part) in (first..).zip(into.chunks_mut(self.sector as usize)) {
            match state.cells.get(&sector) {
                Some(MemorySector::Bytes(bytes)) => part.copy_from_slice(bytes),
                _ => part.fill(0),
            }
        }
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        let mut state = self.powered()?;
        if state.trigger.before_write(from) {
            self.lose(&mut state, "a magic write");
            return Err(StoreError::Off);
        }
        let first = offset / self.sector;
        for (sector, part) in (first..).zip(from.chunks(self.sector as usize)) {
            state.put_bytes(sector, part);
        }
        self.written(&mut state, offset, from.len() as u64, fua)
    }

    fn flush(&self) -> Result<(), StoreError> {
        let mut state = self.powered()?;
        match state.trigger.at_flush() {
            Some(FlushSide::Before) => {
                self.lose(&mut state, "before a flush");
                return Err(StoreError::Off);
            }
            Some(FlushSide::Inside) => {
                let half = state.undo.len() / 2;
                for _ in 0..half {
                    state.undo.pop_first();
                }
                self.lose(&mut state, "inside a flush");
                return Err(StoreError::Off);
            }
            None => state.undo.clear(),
        }
        state.status.flushes += 1;
        Ok(())
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        let mut state = self.powered()?;
        self.clear(&mut state, offset, length, false);
        if fua {
            self.make_durable(&mut state, offset, length);
        }
        Ok(())
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        let mut state = self.powered()?;
        self.clear(&mut state, offset, length, flags.no_hole);
        self.written(&mut state, offset, length, flags.fua)
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        let state = self.look();
        if !state.status.powered {
            return Err(StoreError::Off);
        }
        let (mut sector, end) = (offset / self.sector, (offset + length) / self.sector);
        let mut extents: Vec<StoreExtent> = Vec::new();
        while sector < end {
            let mut extent = self.describe(&state, sector);
            let is_hole = extent.durability == SectorDurability::NeverWritten;
            let next = if is_hole {
                self.next_known(&state, sector).min(end)
            } else {
                sector + 1
            };
            extent.length = (next - sector) * self.sector;
            sector = next;
            let count = extents.len();
            match extents.last_mut() {
                Some(last)
                    if (StoreExtent {
                        length: extent.length,
                        ..*last
                    }) == extent =>
                {
                    last.length += extent.length;
                }
                _ if count == max => break,
                _ => extents.push(extent),
            }
        }
        Ok(extents)
    }
}

impl PowerControl for MemoryStore {
    fn off(&self) -> Result<PowerStatus, PowerError> {
        self.cut();
        Ok(self.status())
    }

    fn on(&self) -> Result<PowerStatus, PowerError> {
        self.restore();
        Ok(self.status())
    }

    fn status(&self) -> PowerStatus {
        let state = self.look();
        let armed = state.trigger.armed().cloned();
        PowerStatus {
            armed,
            ..state.status.clone()
        }
    }

    fn cut_when(&self, at: Option<CutMoment>) -> Result<PowerStatus, PowerError> {
        if let Some(at) = &at {
            at.check()?;
        }
        if matches!(at, Some(CutMoment::NandOp { .. })) {
            return Err(PowerError::Unsupported("a NAND operation"));
        }
        self.change().trigger.arm(at);
        Ok(self.status())
    }

    fn wait_for_cut(&self, cuts: u64, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut seen = self.cut_count();
        while *seen <= cuts {
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return false;
            }
            let waited = self.was_cut.wait_timeout(seen, remaining);
            seen = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_reverts_exactly_the_values_that_are_not_durable() {
        let drive = MemoryStore::new(8 * 512, 512);
        drive.write(0, &[1; 1024], false).unwrap();
        drive.flush().unwrap();
        drive.write(0, &[2; 512], false).unwrap();
        drive.write(512, &[3; 512], true).unwrap();
        drive.trim(1024, 512, false).unwrap();
        assert_eq!(drive.cached_sectors(), 1);
        drive.cut();
        assert_eq!(drive.read(0, &mut [0; 512]), Err(StoreError::Off));
        drive.restore();
        let mut all = [9; 1024];
        drive.read(0, &mut all).unwrap();
        assert!(all[..512].iter().all(|byte| *byte == 1));
        assert!(all[512..].iter().all(|byte| *byte == 3));
        let states: Vec<_> = drive.extents(0, 8 * 512, 99).unwrap();
        let kinds: Vec<_> = states.iter().map(|e| (e.length, e.durability)).collect();
        let (older, durable) = (SectorDurability::Older, SectorDurability::Durable);
        assert_eq!(
            kinds,
            [
                (512, older),
                (512, durable),
                (3072, SectorDurability::NeverWritten)
            ]
        );
    }

    #[test]
    fn an_armed_cut_happens_at_its_moment() {
        let drive = MemoryStore::new(8 * 512, 512);
        let side = FlushSide::Before;
        drive
            .cut_when(Some(CutMoment::Flush { nth: 2, side }))
            .unwrap();
        drive.write(0, &[1; 512], false).unwrap();
        drive.flush().unwrap();
        drive.write(0, &[2; 512], false).unwrap();
        assert_eq!(drive.flush(), Err(StoreError::Off));
        assert!(drive.wait_for_cut(0, Duration::ZERO));
        drive.restore();
        let mut sector = [0; 512];
        drive.read(0, &mut sector).unwrap();
        assert_eq!(sector, [1; 512]);
        assert_eq!(drive.status().last_cut.as_deref(), Some("before a flush"));
    }
}
