//! The map as it is on media, and its changes that no journal page holds yet: for drives that
//! recover by their journal.
//!
//! ```text
//!  changes, in order --(program ended)--> journal page --> map on media --> leaves, directory
//!     \__ pending __/                     a ring           a leaf is written before the ring
//!                                                          reaches the oldest change it lacks
//! ```
//! A journal page holds all changes up to its `covers` that no page before it holds. Their programs
//! have ended before it begins, so that it never leads to a page that a cut has torn. Leaves (runs
//! of the map) and the directory (the place of each leaf and journal page) are parts, written as
//! they are on media at that time. Each journal page has the root: the places of the directory's
//! pages.
//!
//! The bytes of a journal page lie with its first slot. Sequence numbers in them stand for order,
//! which costs nothing on a real drive; sizes and times are those of the configuration.

use crate::config::DriveConfig;
use crate::image::{Image, Reader, Writer, image_of};
use crate::nand::Ticket;
use crate::nand::media::{Content, Numbers, SECTOR_BYTES, SlotContent};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

image_of! {
    /// A change of the map: the place of an address.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct MappedAddress {
        /// Address: of the host, or hidden.
        pub address: u32,
        /// Sequence number of the program or trim.
        pub seq: u64,
        /// Slot plus one; zero: trimmed.
        pub value: u32,
        /// Slots that it takes.
        pub weight: u32,
    }
}

/// Changes made by one program or trim.
#[derive(Clone, Debug)]
pub(super) struct MapChange {
    pub seq: u64,
    /// The program, unless it is known to be over.
    pub ticket: Option<Ticket>,
    pub mapped: Vec<MappedAddress>,
}

image_of! {
    /// Content of a journal page.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(super) struct JournalPage {
        /// Number in order of writing, from 1.
        pub number: u64,
        /// All changes up to this sequence number are in this page, in the pages before it, and in
        /// the parts.
        pub covers: u64,
        /// Number of the oldest page with a change that a part lacks.
        pub head: u64,
        pub changes: Vec<MappedAddress>,
        /// Values of the addresses of the directory.
        pub root: Vec<u32>,
    }
}

image_of! {
    /// Content of a part: a leaf of the map, or of the directory.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(super) struct MapPart {
        /// Value and weight of each of its addresses.
        pub values: Vec<(u32, u32)>,
    }
}

/// Content of the slot with these bytes. Its sectors carry `number`, for order.
fn content<T: Image>(number: u64, sectors: usize, page: &T) -> Content {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    let written = page.save(&mut writer).and_then(|()| writer.flush());
    written.expect("a list takes every byte");
    Some(SlotContent {
        numbers: Numbers::same(number, sectors),
        bytes: Some(bytes.into()),
    })
}

/// A page or part from the content of its slot; `None`: the slot has none.
pub(super) fn decode<T: Image>(content: Option<&SlotContent>) -> Option<T> {
    let bytes = content?.bytes.as_deref()?;
    let length = bytes.len() as u64;
    T::load(&mut Reader::new(&mut &*bytes, length)).ok()
}

/// Addresses of the journal, the leaves and the directory, and what each part maps.
#[derive(Clone, Debug)]
pub(super) struct JournalLayout {
    user_slots: u32,
    /// Addresses of the journal, and of each of its pages.
    pub journal: Range<u32>,
    pub page_slots: u32,
    /// Pages of the journal.
    pages: u32,
    pub leaves: Range<u32>,
    pub directory: Range<u32>,
    /// Addresses mapped by a leaf, and by a directory slot.
    per_leaf: u32,
    per_directory: u32,
}

impl JournalLayout {
    fn new(config: &DriveConfig) -> JournalLayout {
        let user_slots = config.user_slots() as u32;
        let leaves = config.leaf_slots() as u32;
        let journal = user_slots..user_slots + config.journal_slots() as u32;
        let directory = journal.end + leaves;
        JournalLayout {
            user_slots,
            page_slots: config.shape.page_bytes / config.shape.slot_bytes,
            pages: config.journal_pages(),
            leaves: journal.end..directory,
            directory: directory..directory + config.directory_slots() as u32,
            per_leaf: user_slots.div_ceil(leaves),
            per_directory: config.shape.slot_bytes / 4,
            journal,
        }
    }

    /// Addresses mapped by the part at this address.
    pub fn mapped_by(&self, part: u32) -> Range<u32> {
        let (all, per, index) = if self.leaves.contains(&part) {
            (0..self.user_slots, self.per_leaf, part - self.leaves.start)
        } else {
            let addresses = self.journal.start..self.leaves.end;
            (addresses, self.per_directory, part - self.directory.start)
        };
        let first = all.start + index * per;
        first.min(all.end)..first.saturating_add(per).min(all.end)
    }

    /// The part that maps an address; `None`: the root has it.
    pub fn part_of(&self, address: u32) -> Option<u32> {
        if address < self.user_slots {
            Some(self.leaves.start + address / self.per_leaf)
        } else if address < self.leaves.end {
            let index = (address - self.journal.start) / self.per_directory;
            Some(self.directory.start + index)
        } else {
            None
        }
    }
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct ChangeLog {
    pub layout: JournalLayout,
    sectors: usize,
    /// Entries of a journal page.
    page_entries: usize,
    /// The map on media: value and weight.
    map: Vec<(u32, u32)>,
    pending: VecDeque<MapChange>,
    /// Number of the last journal page.
    number: u64,
    covers: u64,
    /// Parts that lack a change, by the number of the oldest journal page that has one.
    dirty: BTreeSet<(u64, u32)>,
    /// That number for each part, zero for none.
    dirty_since: Vec<u64>,
    /// End of the last journal page, and of the last journal page or part.
    pub page_end: u64,
    pub end: u64,
}

impl ChangeLog {
    pub fn new(config: &DriveConfig, page_entries: u32) -> ChangeLog {
        let layout = JournalLayout::new(config);
        ChangeLog {
            sectors: config.shape.slot_bytes as usize / SECTOR_BYTES,
            page_entries: page_entries as usize,
            map: vec![(0, 0); config.mapped_slots() as usize],
            pending: VecDeque::new(),
            number: 0,
            covers: 0,
            dirty: BTreeSet::new(),
            dirty_since: vec![0; layout.leaves.len() + layout.directory.len()],
            page_end: 0,
            end: 0,
            layout,
        }
    }

    /// Discards everything; all changes up to `covers` were undone.
    pub fn clear(&mut self, covers: u64) {
        self.map.fill((0, 0));
        self.pending.clear();
        self.dirty.clear();
        self.dirty_since.fill(0);
        self.covers = covers;
        self.page_end = 0;
        self.end = 0;
    }

    /// Adds a change.
    pub fn push(&mut self, change: MapChange) {
        self.pending.push_back(change);
    }

    /// The last sequence number that a journal page covers.
    pub fn covers(&self) -> u64 {
        self.covers
    }

    /// The oldest pending change.
    pub fn oldest(&self) -> Option<&MapChange> {
        self.pending.front()
    }

    /// Whether the changes of `count` host slots and the oldest pending change fit into a page.
    pub fn fits(&self, count: usize) -> bool {
        count == 0 || count + self.host_slots_of(self.oldest()) <= self.page_entries
    }

    /// Host slots of a change: hidden ones, one or two for each page, take no entries.
    pub fn host_slots_of(&self, change: Option<&MapChange>) -> usize {
        let hidden = |mapped: &&MappedAddress| mapped.address < self.layout.user_slots;
        change.map_or(0, |change| change.mapped.iter().filter(hidden).count())
    }

    /// Takes the oldest pending change for the page to be written.
    pub fn take(&mut self, page: &mut JournalPage) {
        let Some(change) = self.pending.pop_front() else {
            return;
        };
        page.changes.extend(&change.mapped);
        self.covers = change.seq;
        for mapped in change.mapped {
            self.apply(mapped, self.number + 1);
        }
    }

    /// Applies a change that the journal page of that number has.
    pub fn apply(&mut self, mapped: MappedAddress, number: u64) {
        self.map[mapped.address as usize] = (mapped.value, mapped.weight);
        if let Some(part) = self.layout.part_of(mapped.address) {
            let since = &mut self.dirty_since[(part - self.layout.leaves.start) as usize];
            if *since == 0 {
                *since = number;
                self.dirty.insert((number, part));
            }
        }
    }

    /// Value of an address in the map on media.
    pub fn value(&self, address: u32) -> u32 {
        self.map[address as usize].0
    }

    /// Sets an address as a part or the root has it.
    pub fn set(&mut self, address: u32, value: (u32, u32)) {
        self.map[address as usize] = value;
    }

    /// Continues after the journal page of that number.
    pub fn resume(&mut self, number: u64, covers: u64) {
        self.number = number;
        self.covers = covers;
    }

    /// The map on media, without unmapped addresses.
    pub fn mapped(&self) -> impl Iterator<Item = MappedAddress> + '_ {
        let entries = (0..).zip(&self.map);
        entries
            .filter(|(_, mapped)| mapped.0 != 0)
            .map(|(address, &(value, weight))| MappedAddress {
                address,
                seq: self.covers,
                value,
                weight,
            })
    }

    /// Completes a journal page with its number and root; returns the content of each of its slots.
    pub fn finish(&mut self, mut page: JournalPage) -> Vec<Content> {
        self.number += 1;
        page.number = self.number;
        page.covers = self.covers;
        page.head = self.dirty.first().map_or(self.number, |oldest| oldest.0);
        let root = self.layout.directory.clone();
        page.root = root.map(|address| self.map[address as usize].0).collect();
        let further_slot = SlotContent {
            numbers: Numbers::same(self.number, self.sectors),
            bytes: None,
        };
        let mut slots = vec![Some(further_slot); self.layout.page_slots as usize];
        slots[0] = content(self.number, self.sectors, &page);
        slots
    }

    /// Parts that the next journal page makes due: it takes the place of a page with a change that
    /// they lack.
    pub fn overdue(&self) -> Vec<u32> {
        let replaced = (self.number + 1).saturating_sub(self.layout.pages.into());
        let oldest = self.dirty.iter();
        let due = oldest.take_while(|(since, _)| *since <= replaced);
        due.map(|&(_, part)| part).collect()
    }

    /// Content of a part, which then lacks nothing.
    pub fn write_part(&mut self, part: u32) -> Content {
        let index = (part - self.layout.leaves.start) as usize;
        let since = std::mem::take(&mut self.dirty_since[index]);
        self.dirty.remove(&(since, part));
        let mapped = self.layout.mapped_by(part);
        let page = MapPart {
            values: self.map[mapped.start as usize..mapped.end as usize].to_vec(),
        };
        content(0, self.sectors, &page)
    }
}
