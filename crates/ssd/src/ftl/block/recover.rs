//! Media that keep data: records of the block-mapped layer, and their recovery from them.
//!
//! The spare areas of every superblock give its role: home of a segment, or map. A segment in
//! two superblocks was being rewritten: a new home that holds only copies is dropped, any other is
//! finished by a merge.

use super::{BUFFERED, BlockFtl, Gear, MAP_TAG, NONE, SuperblockRole, UNMAPPED};
use crate::config::{DriveConfig, RecoverBy};
use crate::ftl::frontier::Frontier;
use crate::ftl::recover::{
    Recoverable, RecoveredState, RecoveryStep, Steps, SurveyedSuperblock, newest_copies,
    read_media, survey,
};
use crate::nand::media::{Content, Spare};
use crate::nand::{Mode, Recorder};
use std::collections::BTreeMap;

impl<G: Gear> BlockFtl<G> {
    /// Discards all state that is not on media.
    pub(super) fn forget_all(&mut self) {
        self.table.fill(UNMAPPED);
        self.written_end = 0;
        self.valid.fill(0);
        self.role.fill(SuperblockRole::Free);
        self.home.fill(NONE);
        self.rewrite = None;
        self.free.clear();
        self.gather.clear();
        self.map_log.clear();
        self.launched.clear();
        self.released = 0;
    }

    /// Records new content of a mapping unit in the buffer.
    #[inline(always)]
    pub(super) fn remember_write(&mut self, lpn: u32, tag: u32) {
        if !G::KEEPS {
            return;
        }
        let value = self.table[lpn as usize];
        let buffered = value >= BUFFERED;
        let slot = if buffered { None } else { value.checked_sub(1) };
        if let Some(media) = self.nand.media_mut() {
            media.take_in(lpn, slot, buffered, tag);
        }
    }

    /// Records a slot about to be programmed, from the buffer or from its place on media.
    #[inline(always)]
    pub(super) fn remember_slot(
        &mut self,
        slots: &mut Vec<Spare>,
        offset: u32,
        lpn: u32,
        moved_from: Option<u32>,
    ) {
        if !G::KEEPS {
            return;
        }
        let content: Content = self.nand.media_mut().and_then(|media| match moved_from {
            Some(value) => media.content_at(value - 1).cloned(),
            // The content stays in the buffer: a moving segment may need it before its own write.
            None => media.buffered(lpn).cloned(),
        });
        slots.push(Spare {
            offset,
            weight: 1,
            address: lpn,
            content,
        });
    }

    /// Records the content of a booked unit.
    #[inline(always)]
    pub(super) fn remember_program(&mut self, die: u32, tag: u32, slots: Vec<Spare>) {
        if let Some(media) = self.nand.media_mut() {
            media.fill(die, tag, slots);
        }
    }

    /// Records a booked page of the map.
    #[inline(always)]
    pub(super) fn remember_map(&mut self, die: u32) {
        if let Some(media) = self.nand.media_mut() {
            media.fill(die, MAP_TAG, Vec::new());
            media.fill_map(die);
        }
    }
}

impl Recoverable for BlockFtl<Recorder> {
    fn buffered(&self) -> Vec<u32> {
        self.gather.iter().map(|(_, entry)| entry.lpn).collect()
    }

    fn recover(&mut self, _: &DriveConfig, _: RecoverBy, from: u64) -> Vec<RecoveryStep> {
        self.nand.power_on(from);
        self.forget_all();
        let superblocks = survey(&self.nand);
        let mut steps = Steps::new(from);
        read_media(&mut self.nand, &superblocks, Vec::new(), &mut steps);
        let read = steps.at();
        self.take_copies();
        self.take_map_superblock(&superblocks);
        let homes = self.take_homes(&superblocks);
        self.take_free_ones(&superblocks);
        let programs = self.counters.nand_programs;
        for (segment, homes) in homes {
            self.join(read, segment, &homes);
        }
        let programs = self.counters.nand_programs - programs;
        steps.add("finish rewrites", programs, self.all_free_at(read));
        steps.done()
    }

    fn recovered_state(&self) -> RecoveredState {
        let count = 0..self.nand.geometry.superblock_count;
        let dies = self.nand.geometry.die_count;
        let blocks = count
            .clone()
            .flat_map(|s| (0..dies).map(move |die| (s, die)));
        let role = |s: u32| [self.role[s as usize] as u32, 0, 0];
        RecoveredState {
            map: self.table.clone(),
            valid: self.valid.clone(),
            superblocks: count.map(role).collect(),
            rows: blocks.map(|(s, die)| self.nand.next_row(s, die)).collect(),
            lists: vec![self.free.iter().copied().collect(), self.home.clone()],
            ..RecoveredState::default()
        }
    }
}

impl BlockFtl<Recorder> {
    fn take_copies(&mut self) {
        for (lpn, copy) in newest_copies(&self.nand) {
            if lpn < self.user_slots() {
                self.table[lpn as usize] = copy.slot + 1;
                let superblock = self.nand.geometry.superblock_of(copy.slot);
                self.valid[superblock as usize] += 1;
                self.written_end = self.written_end.max(lpn + 1);
            }
        }
    }

    /// Continues the newest superblock of the map.
    fn take_map_superblock(&mut self, seen: &[SurveyedSuperblock]) {
        let of_map = (0..)
            .zip(seen)
            .filter(|(_, at)| at.units > 0 && at.tag == MAP_TAG);
        let Some((superblock, at)) = of_map.max_by_key(|(_, at)| at.last) else {
            return;
        };
        self.role[superblock as usize] = SuperblockRole::Map;
        let mut frontier = Frontier::default();
        if at.units < self.units() {
            frontier.resume(superblock, Mode::Native, &self.nand);
        }
        self.map_log.resume(superblock, frontier);
    }

    /// Superblocks with valid slots of each segment, oldest first.
    fn take_homes(&mut self, seen: &[SurveyedSuperblock]) -> BTreeMap<u32, Vec<u32>> {
        let mut homes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (superblock, at) in (0..).zip(seen) {
            if self.valid[superblock as usize] > 0 && at.tag != MAP_TAG {
                self.role[superblock as usize] = SuperblockRole::Data;
                homes.entry(at.tag).or_default().push(superblock);
            }
        }
        for (segment, homes) in &mut homes {
            homes.sort_by_key(|&s| seen[s as usize].first);
            self.home[*segment as usize] = homes.last().copied().unwrap_or(NONE);
        }
        homes
    }

    fn take_free_ones(&mut self, seen: &[SurveyedSuperblock]) {
        let mut free: Vec<u32> = (0..seen.len() as u32)
            .filter(|&s| self.role[s as usize] == SuperblockRole::Free)
            .collect();
        free.sort_by_key(|&s| (seen[s as usize].last, s));
        for superblock in free {
            if seen[superblock as usize].blocks > 0 {
                self.nand.make_rest_stale(superblock);
            }
            self.free.push_back(superblock);
        }
    }

    /// Joins a segment's superblocks, given oldest first, into one home.
    fn join(&mut self, from: u64, segment: u32, homes: &[u32]) {
        let mut homes = homes.to_vec();
        while let [.., older, newest] = homes[..]
            && self.give_up(newest, older)
        {
            self.home[segment as usize] = older;
            self.release(newest);
            homes.pop();
        }
        if homes.len() < 2 {
            return;
        }
        self.merge(from, segment);
        homes.pop();
        for stale in homes {
            self.release(stale);
        }
    }

    /// Returns to the copies in an older home of all slots of a superblock, if they are the same.
    fn give_up(&mut self, superblock: u32, home: u32) -> bool {
        let slots = self.nand.geometry.slots_per_superblock;
        let inside = |slot: u32| slot / slots == superblock;
        let mut older: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        let Some(media) = self.nand.media() else {
            return false;
        };
        let dies = self.nand.geometry.die_count;
        for die in 0..dies {
            for (row, page) in media.readable(home * dies + die) {
                let first = self.nand.geometry.first_slot(home, row, die);
                for spare in &page.slots {
                    let value = self.table.get(spare.address as usize).copied();
                    let current_slot = value.and_then(|value| value.checked_sub(1));
                    let forgotten = media.forgotten_at(spare.address) >= page.seq;
                    if current_slot.is_some_and(inside) && !forgotten {
                        let entry = older.entry(spare.address).or_insert((0, 0));
                        *entry = (*entry).max((page.seq, first + spare.offset));
                    }
                }
            }
        }
        let held = (0..).zip(&self.table);
        let held: Vec<(u32, u32)> = held
            .filter_map(|(lpn, &value)| Some((lpn, value.checked_sub(1)?)))
            .filter(|&(_, slot)| inside(slot))
            .collect();
        let same = held.iter().all(|(lpn, slot)| {
            older
                .get(lpn)
                .is_some_and(|old| media.content_at(old.1) == media.content_at(*slot))
        });
        if !same {
            return false;
        }
        for (lpn, _) in held {
            let old = older[&lpn].1;
            let to = self.nand.geometry.superblock_of(old);
            self.table[lpn as usize] = old + 1;
            self.valid[superblock as usize] -= 1;
            self.valid[to as usize] += 1;
        }
        true
    }

    fn all_free_at(&self, from: u64) -> u64 {
        let dies = 0..self.nand.geometry.die_count;
        let free_at = dies.map(|die| self.nand.gear().die_free_at(die));
        free_at.max().unwrap_or(from).max(from)
    }
}
