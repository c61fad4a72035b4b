//! Recovery by the journal: what firmware reads that keeps its map in journal pages and parts.
//!
//! 1. The ends of all blocks in use: age and fill of every superblock.
//! 2. Pages in the reverse order of programming, until the newest journal page is found and all
//!    pages programmed since its `covers` are read. Their spare areas have the changes that no
//!    journal page has.
//! 3. The journal pages before it, back to the oldest with a change that a part lacks.
//! 4. The directory, then the leaves of the map.
//!
//! No other spare area is read. See [`super::change_log`] for the order of writing, on which this
//! relies.

use super::change_log::{ChangeLog, JournalPage, MapChange, MapPart, MappedAddress, decode};
use super::{Layout, PageFtl};
use crate::ftl::recover::{NewestCopy, Steps, block_ends};
use crate::image::Image;
use crate::nand::media::{Media, SlotContent};
use crate::nand::{Nand, Recorder, UnitPlace};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Range;

/// Findings of step 2.
#[derive(Default)]
struct JournalTail {
    /// Units read.
    read: Vec<UnitPlace>,
    /// Address and content of the newest journal page.
    journal: Option<(u32, JournalPage)>,
    /// Changes that it does not cover, in order.
    changes: Vec<MappedAddress>,
    /// The last of them for each address.
    newest: BTreeMap<u32, MappedAddress>,
}

/// Reads pages in the reverse order of programming.
struct BackwardRead<'a> {
    nand: &'a Nand<Recorder>,
    media: &'a Media,
    log: &'a ChangeLog,
    /// The next page of each block: sequence number, block, row.
    next: BinaryHeap<(u64, u32, u32)>,
    tail: JournalTail,
}

impl BackwardRead<'_> {
    fn unit(&self, block: u32, row: u32) -> UnitPlace {
        let dies = self.nand.geometry.die_count;
        UnitPlace {
            superblock: block / dies,
            row,
            die: block % dies,
            mode: self.media.blocks()[block as usize].pages[row as usize].mode,
        }
    }

    /// Makes the highest readable page of a block below `rows` the next one. `known`: the first
    /// page tried has been read before.
    fn go_down(&mut self, block: u32, rows: u32, mut known: bool) {
        for row in (0..rows).rev() {
            if !std::mem::take(&mut known) {
                let unit = self.unit(block, row);
                self.tail.read.push(unit);
            }
            let page = &self.media.blocks()[block as usize].pages[row as usize];
            if !page.torn {
                self.next.push((page.seq, block, row));
                return;
            }
        }
    }

    /// Takes the changes of a page, and the journal page in it.
    fn take(&mut self, block: u32, row: u32) {
        let dies = self.nand.geometry.die_count;
        let first = self
            .nand
            .geometry
            .first_slot(block / dies, row, block % dies);
        let page = &self.media.blocks()[block as usize].pages[row as usize];
        for spare in &page.slots {
            self.tail.changes.push(MappedAddress {
                address: spare.address,
                seq: page.seq,
                value: first + spare.offset + 1,
                weight: spare.weight,
            });
            if self.log.layout.journal.contains(&spare.address)
                && let Some(found) = decode::<JournalPage>(spare.content.as_ref())
            {
                let best = self.tail.journal.as_ref();
                if best.is_none_or(|(_, best)| found.number > best.number) {
                    self.tail.journal = Some((spare.address, found));
                }
            }
        }
    }

    fn covers(&self) -> u64 {
        let journal = self.tail.journal.as_ref();
        journal.map_or(0, |(_, page)| page.covers)
    }

    fn run(mut self) -> JournalTail {
        for block in 0..self.media.blocks().len() as u32 {
            let rows = self.media.blocks()[block as usize].pages.len() as u32;
            self.go_down(block, rows, true);
        }
        while let Some((seq, block, row)) = self.next.pop()
            && seq > self.covers()
        {
            self.take(block, row);
            self.go_down(block, row, false);
        }
        let covers = self.covers();
        let mut tail = self.tail;
        tail.changes.retain(|mapped| mapped.seq > covers);
        tail.changes.sort_by_key(|mapped| mapped.seq);
        let newest = tail.changes.iter().map(|mapped| (mapped.address, *mapped));
        tail.newest = newest.collect();
        tail
    }
}

impl<L: Layout> PageFtl<Recorder, L> {
    /// The newest copy of every address, from the journal; the log continues from there.
    pub(super) fn copies_by_journal(&mut self, steps: &mut Steps) -> BTreeMap<u32, NewestCopy> {
        let Some(mut log) = self.journal.take_log() else {
            return BTreeMap::new();
        };
        log.clear(0);
        let ends = block_ends(&self.nand);
        steps.probe(&mut self.nand, "find superblocks", &ends);
        let tail = self.read_back(&log);
        steps.read(&mut self.nand, "read back to the journal", &tail.read);
        let (at, newest) = tail.journal.clone().unwrap_or_default();
        log.resume(newest.number, newest.covers);
        for (address, value) in log.layout.directory.clone().zip(&newest.root) {
            log.set(address, (*value, self.rules.pack));
        }
        let changes = self.replay(&log, &tail, (at, newest), steps);
        let [directory, leaves] = [log.layout.directory.clone(), log.layout.leaves.clone()];
        for (name, parts) in [("read the directory", directory), ("read the map", leaves)] {
            self.take_parts(&mut log, &tail, parts, &changes, name, steps);
        }
        let copies = self.take_pending(&mut log, tail.changes);
        self.journal.put_log(log);
        copies
    }

    fn read_back(&self, log: &ChangeLog) -> JournalTail {
        let Some(media) = self.nand.media() else {
            return JournalTail::default();
        };
        let back = BackwardRead {
            nand: &self.nand,
            media,
            log,
            next: BinaryHeap::new(),
            tail: JournalTail::default(),
        };
        back.run()
    }

    /// Place of an address: its newest copy on media.
    fn place_of(&self, log: &ChangeLog, tail: &JournalTail, address: u32) -> Option<u32> {
        let value = match tail.newest.get(&address) {
            Some(mapped) => mapped.value,
            None => log.value(address),
        };
        value.checked_sub(1)
    }

    fn content_of<T: Image>(&self, slot: u32) -> Option<T> {
        let content: Option<&SlotContent> = self.nand.media()?.content_at(slot);
        decode(content)
    }

    /// Reads each unit of these slots once.
    fn read_slots(
        &mut self,
        name: &'static str,
        slots: impl Iterator<Item = u32>,
        steps: &mut Steps,
    ) {
        let mut units_read = BTreeSet::new();
        let geometry = &self.nand.geometry;
        let places = slots.map(|slot| geometry.place(slot));
        let units: Vec<UnitPlace> = places
            .filter(|place| units_read.insert((place.superblock, place.row, place.die)))
            .map(|place| UnitPlace::of(place, self.space.mode(place.superblock)))
            .collect();
        steps.read(&mut self.nand, name, &units);
    }

    /// Reads the journal pages that parts lack changes of, the newest first: the place of each is
    /// in those after it, or among the pages read back. Returns their changes, in order, each with
    /// the number of its page.
    fn replay(
        &mut self,
        log: &ChangeLog,
        tail: &JournalTail,
        newest: (u32, JournalPage),
        steps: &mut Steps,
    ) -> Vec<(u64, MappedAddress)> {
        let (mut at, newest) = newest;
        let ring = &log.layout.journal;
        let mut places: BTreeMap<u32, MappedAddress> = tail.newest.clone();
        let mut slots = Vec::new();
        let mut pages: Vec<JournalPage> = Vec::new();
        // The first page has the number 1.
        for number in (newest.head.max(1)..=newest.number).rev() {
            let place = places
                .get(&at)
                .and_then(|mapped| mapped.value.checked_sub(1));
            let page = place.and_then(|slot| self.content_of::<JournalPage>(slot));
            let page = page.filter(|page| page.number == number);
            let page = page.unwrap_or_else(|| panic!("journal page {number} is not in its place"));
            slots.extend(place);
            for mapped in page
                .changes
                .iter()
                .filter(|mapped| ring.contains(&mapped.address))
            {
                let known = places.entry(mapped.address).or_insert(*mapped);
                if known.seq < mapped.seq {
                    *known = *mapped;
                }
            }
            pages.push(page);
            let back = if at == ring.start { ring.end } else { at };
            at = back - log.layout.page_slots;
        }
        self.read_slots("replay the journal", slots.into_iter(), steps);
        let pages = pages.into_iter().rev();
        let numbered_changes = |page: JournalPage| {
            let number = page.number;
            page.changes.into_iter().map(move |mapped| (number, mapped))
        };
        pages.flat_map(numbered_changes).collect()
    }

    /// Takes the addresses of some parts from their content, then the changes in the journal pages
    /// read, in order: those that a part has already end as it has them.
    fn take_parts(
        &mut self,
        log: &mut ChangeLog,
        tail: &JournalTail,
        parts: Range<u32>,
        changes: &[(u64, MappedAddress)],
        name: &'static str,
        steps: &mut Steps,
    ) {
        let mut slots = Vec::new();
        for part in parts.clone() {
            let Some(slot) = self.place_of(log, tail, part) else {
                continue;
            };
            slots.push(slot);
            let content = self.content_of::<MapPart>(slot);
            let leaf = content.unwrap_or_else(|| panic!("part {part} has no content at {slot}"));
            for (address, value) in log.layout.mapped_by(part).zip(leaf.values) {
                log.set(address, value);
            }
        }
        self.read_slots(name, slots.into_iter(), steps);
        for &(number, mapped) in changes {
            let part = log.layout.part_of(mapped.address);
            if part.is_some_and(|part| parts.contains(&part)) {
                log.apply(mapped, number);
            }
        }
    }

    /// Makes the changes that no journal page has pending; returns the resulting copies.
    fn take_pending(
        &self,
        log: &mut ChangeLog,
        mut changes: Vec<MappedAddress>,
    ) -> BTreeMap<u32, NewestCopy> {
        let beside = self.nand.media().map_or(&[][..], Media::trims_beside);
        changes.extend(beside.iter().map(|&(address, seq)| MappedAddress {
            address,
            seq,
            ..MappedAddress::default()
        }));
        changes.retain(|mapped| mapped.seq > log.covers());
        changes.sort_by_key(|mapped| mapped.seq);
        let copy = |mapped: MappedAddress| NewestCopy {
            seq: mapped.seq,
            slot: mapped.value - 1,
            weight: mapped.weight,
        };
        let known = log.mapped().map(|mapped| (mapped.address, copy(mapped)));
        let mut copies: BTreeMap<u32, NewestCopy> = known.collect();
        for &mapped in &changes {
            if mapped.value == 0 {
                copies.remove(&mapped.address);
            } else {
                copies.insert(mapped.address, copy(mapped));
            }
        }
        // A journal page covers whole programs.
        for program in changes.chunk_by(|one, other| one.seq == other.seq) {
            log.push(MapChange {
                seq: program[0].seq,
                ticket: None,
                mapped: program.to_vec(),
            });
        }
        copies
    }
}
