//! Media that keep data: the content of each page, and what remains of it when power fails.
//!
//! Model. Every programmed unit keeps its spare area: a sequence number, its purpose, and for each
//! slot the address that the layer above gave it, with its content. Programs and erases are booked
//! ahead, so the *booked* and the *present* state differ: an operation takes effect when it has
//! ended (`Media::settle`). A cut keeps the operations that have ended, tears those in progress,
//! and drops those that have not begun.
//!
//! - A torn program: the unit cannot be read. In a word line of several bits, the pages below it
//!   are lost too unless the controller has saved them: it does so before every erase (the erase
//!   may remove their older copies), and always where commits do not fill up word lines.
//! - An interrupted erase: the block is empty and must be erased again.
//! - An erase begins only after the programs that moved or overwrote its superblock's data have
//!   ended and the trims until then are recorded.
//!
//! The map's own pages hold the trimmed addresses and the sequence number up to which the map is on
//! media. The entries themselves are those of the spare areas, and are not stored twice.
//!
//! Left out: partly readable torn pages, and torn pages that fade later (Tseng et al., DAC 2011).

mod aim;
mod booked;
mod bytes;
mod content;
mod page;
mod recent;
mod shelved;
#[cfg(test)]
mod tests;

pub use aim::Aimed;
pub use bytes::{Payload, Shelf, SlotBytes};
pub use content::{Content, Numbers, SlotContent};
pub use page::{Block, MapRecord, Page, Spare};
pub(crate) use shelved::forget;

use super::operation::{Purpose, Ticket};
use crate::caches::prefetch;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Bytes of a sector, the smallest that a host writes.
pub const SECTOR_BYTES: usize = 512;

/// A change of the media, for storing them in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A block was erased.
    Erased {
        /// Block: superblock times dies plus die.
        block: u32,
    },
    /// The next row of a block was programmed.
    Programmed {
        /// Block: superblock times dies plus die.
        block: u32,
        /// The page.
        page: Arc<Page>,
    },
    /// A page was lost to an interrupted program above it.
    Lost {
        /// Block: superblock times dies plus die.
        block: u32,
        /// Its row.
        row: u32,
    },
    /// The map was recorded beside the array.
    Noted(Arc<MapRecord>),
    /// An erase was interrupted: the block needs another before it can be programmed.
    Unstable {
        /// Block: superblock times dies plus die.
        block: u32,
    },
}

/// A booked operation.
#[derive(Clone, Debug)]
struct Pending {
    id: u32,
    /// End as first booked.
    end: u64,
    block: u32,
    erase: bool,
    /// Map record written when the erase begins.
    before: Option<Arc<MapRecord>>,
    page: Option<Arc<Page>>,
}

/// State of a booked operation at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It has ended, or the capacitor lets it end.
    Done,
    /// It is erasing.
    Erasing,
    /// It is programming.
    Programming,
    /// It has not begun.
    NotBegun,
}

/// A host slot that was sent to media and was not programmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Order.
    pub seq: u64,
    /// Its address.
    pub address: u32,
    /// Its content.
    pub content: Content,
}

/// Effects of a cut on the media.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutDamage {
    /// Programs in progress: torn units.
    pub torn_programs: u64,
    /// Torn programs by purpose; indexed by [`Purpose`].
    pub torn_by_purpose: [u64; Purpose::COUNT],
    /// Torn pages that record the map (journal pages).
    pub torn_records: u64,
    /// Erases in progress.
    pub torn_erases: u64,
    /// Pages lost because the page above them was being programmed.
    pub lower_pages_lost: u64,
    /// Such pages that the controller had saved.
    pub lower_pages_saved: u64,
    /// Booked programs and erases that had not begun.
    pub not_begun: u64,
    /// Host slots of programs that were torn or had not begun, oldest first.
    pub dropped: Vec<Dropped>,
}

/// A write with its data in the controller.
#[derive(Clone, Debug)]
pub struct Staged {
    /// Its number.
    pub number: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Its data, where bytes are kept.
    pub bytes: Option<Payload>,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Media {
    dies: u32,
    slots_per_unit: u32,
    bits: u32,
    rows_max: u32,
    sectors: usize,
    /// Lower pages are always saved before a page above them is programmed.
    pub always_saves_lower: bool,
    /// The map is in journal pages: they alone record trims for good.
    pub journalled: bool,
    seq: u64,
    /// Shared between forks until one of them writes there.
    blocks: Vec<Arc<Block>>,
    /// Rows booked since the last booked erase, per block.
    rows: Vec<u32>,
    /// Sequence number up to which lower pages are saved elsewhere.
    saved: u64,
    generation: Vec<u32>,
    pending: Vec<VecDeque<Pending>>,
    /// Number of pending operations of each block: zero for most.
    pending_count: Vec<u32>,
    map: MapRecord,
    forgotten: BTreeMap<u32, u64>,
    forgotten_since: Vec<(u32, u64)>,
    /// Recorded trims that no journal page has, where the map is in journal pages.
    beside: Vec<(u32, u64)>,
    notes: Vec<(u64, Arc<MapRecord>)>,
    /// Operations that must end before a superblock may be erased.
    wait_for: BTreeMap<u32, Vec<Ticket>>,
    staged: BTreeMap<u32, Staged>,
    buffer: recent::ByAddress<Content>,
    events: Option<Vec<Event>>,
    aim: aim::Aim,
    free: recent::FreePages,
    shelf: content::OnShelf,
}

impl Media {
    /// Factory-fresh media.
    pub(super) fn new(geometry: &crate::geometry::Geometry) -> Media {
        let superblocks = geometry.superblock_count as usize;
        let blocks = superblocks * geometry.die_count as usize;
        let unit_bytes = geometry.shape.slot_bytes as usize;
        Media {
            dies: geometry.die_count,
            slots_per_unit: geometry.slots_per_unit,
            bits: geometry.shape.bits_per_cell,
            rows_max: geometry.shape.pages_per_block,
            sectors: unit_bytes / SECTOR_BYTES,
            always_saves_lower: false,
            journalled: false,
            seq: 0,
            blocks: vec![Arc::default(); blocks],
            rows: vec![0; blocks],
            saved: 0,
            generation: vec![0; superblocks],
            pending: vec![VecDeque::new(); geometry.die_count as usize],
            pending_count: vec![0; blocks],
            map: MapRecord::default(),
            forgotten: BTreeMap::new(),
            forgotten_since: Vec::new(),
            beside: Vec::new(),
            notes: Vec::new(),
            wait_for: BTreeMap::new(),
            staged: BTreeMap::new(),
            buffer: recent::ByAddress::default(),
            events: None,
            aim: aim::Aim::default(),
            free: recent::FreePages::default(),
            shelf: content::OnShelf::default(),
        }
    }

    fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Every block with its number: superblock times dies plus die.
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// A programmed row of a block, for faults.
    pub fn page_mut(&mut self, block: usize, row: usize) -> &mut Page {
        Arc::make_mut(&mut self.block_mut(block as u32).pages[row])
    }

    /// Mutable access: a block that a fork shares is copied.
    fn block_mut(&mut self, block: u32) -> &mut Block {
        Arc::make_mut(&mut self.blocks[block as usize])
    }

    /// The readable pages of a block, with their rows; none of a block that has not been erased
    /// since its superblock began another life. What such a block holds is superseded: the first
    /// erase of that life waited for newer copies and for records of trims, and a home that was
    /// given up at recovery held copies only.
    pub fn readable(&self, block: u32) -> impl Iterator<Item = (u32, &Arc<Page>)> {
        let superblock = block / self.dies;
        let current = self.generation_on_media(superblock);
        let pages = (0..).zip(&self.blocks[block as usize].pages);
        pages.filter(move |(_, page)| !page.torn && Some(page.generation) == current)
    }

    /// The newest generation of which a superblock holds pages; `None`: it holds none.
    pub(super) fn generation_on_media(&self, superblock: u32) -> Option<u32> {
        let blocks = self.blocks_of(superblock).iter();
        let first_pages = blocks.filter_map(|block| block.pages.first());
        first_pages.map(|page| page.generation).max()
    }

    pub(super) fn blocks_of(&self, superblock: u32) -> &[Arc<Block>] {
        let first = (superblock * self.dies) as usize;
        &self.blocks[first..first + self.dies as usize]
    }

    /// The sequence numbers of the newest readable copies of some addresses.
    pub fn newest_of(&self, addresses: impl Iterator<Item = u32>) -> BTreeMap<u32, u64> {
        let mut newest: BTreeMap<u32, u64> = addresses.map(|address| (address, 0)).collect();
        if newest.is_empty() {
            return newest;
        }
        let pages = self.blocks.iter().flat_map(|block| &block.pages);
        for page in pages.filter(|page| !page.torn) {
            for spare in &page.slots {
                if let Some(seq) = newest.get_mut(&spare.address) {
                    *seq = page.seq.max(*seq);
                }
            }
        }
        newest
    }

    /// Bits of a cell.
    pub fn bits_per_cell(&self) -> u32 {
        self.bits
    }

    /// Dies.
    pub fn die_count(&self) -> u32 {
        self.dies
    }

    /// Ends of the programs and erases that have not settled, as booked (a read may have delayed
    /// them since), ns.
    pub fn booked_ends(&self) -> impl Iterator<Item = u64> {
        self.pending.iter().flatten().map(|op| op.end)
    }

    /// The same by die, in the order in which they run, with the purpose of a program.
    pub fn booked(&self) -> impl Iterator<Item = impl Iterator<Item = (u64, Option<Purpose>)>> {
        let purpose = |op: &Pending| op.page.as_ref().map(|page| page.purpose);
        let of_die = move |ops: &VecDeque<Pending>| {
            let ops: Vec<_> = ops.iter().map(|op| (op.end, purpose(op))).collect();
            ops.into_iter()
        };
        self.pending.iter().map(of_die)
    }

    /// Sequence number up to which the map is on media.
    pub fn covered(&self) -> u64 {
        self.map.covers
    }

    /// The last sequence number assigned.
    pub fn last_seq(&self) -> u64 {
        self.seq
    }

    /// Sequence number of the last recorded trim of an address.
    pub fn forgotten_at(&self, address: u32) -> u64 {
        self.forgotten.get(&address).copied().unwrap_or(0)
    }

    /// Trims recorded before an erase or by a capacitor, and not yet in a journal page: addresses
    /// with sequence numbers.
    pub fn trims_beside(&self) -> &[(u32, u64)] {
        &self.beside
    }

    /// Keeps all changes from now on for [`Media::take_events`].
    pub fn keep_events(&mut self) {
        self.events = Some(Vec::new());
    }

    /// Takes the changes since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn happened(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// Applies a change at once, when media are read from files.
    pub fn replay(&mut self, event: Event) {
        match event {
            Event::Erased { block } => self.erase_block(block),
            Event::Programmed { block, page } => self.put_page(block, page),
            Event::Lost { block, row } => self.lose_page(block, row),
            Event::Noted(record) => self.fold_beside(&record, true),
            Event::Unstable { block } => self.interrupt_erase(block),
        }
    }

    /// The whole content of the media as events, in an order that can be replayed.
    pub fn as_events(&self) -> Vec<Event> {
        let record = MapRecord {
            covers: self.map.covers,
            forgotten: self.forgotten.iter().map(|(&a, &s)| (a, s)).collect(),
        };
        let mut events = vec![Event::Noted(Arc::new(record))];
        for (number, block) in (0..).zip(&self.blocks) {
            let pages = block.pages.iter();
            events.extend(pages.map(|page| Event::Programmed {
                block: number,
                page: page.clone(),
            }));
            if block.unstable {
                events.push(Event::Unstable { block: number });
            }
        }
        events
    }

    // Calls of the layer above.

    /// Takes the data of a write into the controller, under a tag.
    pub fn stage(&mut self, tag: u32, staged: Staged) {
        self.staged.insert(tag, staged);
    }

    /// Drops the data of that tag: its write has completed.
    pub fn unstage(&mut self, tag: u32) {
        self.staged.remove(&tag);
    }

    /// Gives an address new content in the buffer, from the write with this tag; `media`: slot of
    /// its newest copy if the buffer has none.
    pub fn take_in(&mut self, address: u32, media: Option<u32>, buffered: bool, tag: u32) {
        let Some(staged) = self.staged.get(&tag) else {
            return;
        };
        let bytes = self.sectors as u64 * SECTOR_BYTES as u64;
        let begin = u64::from(address) * bytes;
        let first = staged.offset.max(begin) - begin;
        let last = (staged.offset + staged.len).min(begin + bytes) - begin;
        let whole = first == 0 && last == bytes;
        let old = if whole {
            None
        } else if buffered {
            self.buffered(address).cloned()
        } else {
            media.and_then(|at| self.content_at(at)).cloned()
        };
        let mut content = old.unwrap_or_else(|| self.nothing());
        let sectors = first as usize / SECTOR_BYTES..last as usize / SECTOR_BYTES;
        content.numbers.set(sectors, staged.number);
        if let Some(data) = &staged.bytes {
            let from = (begin + first - staged.offset) as usize;
            let new = from..from + (last - first) as usize;
            let at = first as usize..last as usize;
            match &mut content.bytes {
                all if whole => *all = Some(data.part(new)),
                Some(all) => all.change(|bytes| bytes[at].copy_from_slice(&data.part(new))),
                all => {
                    let mut zeroes = vec![0; bytes as usize];
                    zeroes[at].copy_from_slice(&data.part(new));
                    *all = Some(zeroes.into());
                }
            }
        }
        self.shelf.take(&mut content);
        self.buffer.insert(address, Some(content));
    }

    /// Content of a slot that was never written.
    pub fn nothing(&self) -> SlotContent {
        SlotContent {
            numbers: Numbers::same(0, self.sectors),
            bytes: None,
        }
    }

    /// Puts content into the buffer as it is.
    pub fn put_in_buffer(&mut self, address: u32, content: Content) {
        self.buffer.insert(address, content);
    }

    /// Buffered content of an address.
    pub fn buffered(&self, address: u32) -> Option<&SlotContent> {
        self.buffer.get(address)?.as_ref()
    }

    /// Takes the content of an address out of the buffer, for programming.
    pub fn take_buffered(&mut self, address: u32) -> Content {
        self.buffer.remove(address).flatten()
    }

    /// Prefetches the pages after `unit` that reclaim will read as it moves the units of a
    /// superblock in order.
    pub fn prefetch_units(&self, superblock: u32, unit: u32) {
        let page = |unit: u32| {
            let block = superblock * self.dies + unit % self.dies;
            let pages = &self.blocks.get(block as usize)?.pages;
            pages.get((unit / self.dies) as usize)
        };
        if let Some(page) = page(unit + 4) {
            prefetch(std::slice::from_ref(&**page), 0);
        }
        if let Some(page) = page(unit + 2) {
            (0..page.slots.len()).for_each(|n| prefetch(&page.slots, n));
        }
    }

    /// Content of a slot once all booked operations have ended.
    pub fn content_at(&self, slot: u32) -> Option<&SlotContent> {
        let page = self.page_at(slot / self.slots_per_unit)?;
        page.content_of(slot % self.slots_per_unit)
    }

    /// The same for many slots; neighbours often lie in one unit.
    pub fn contents_at(
        &self,
        slots: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = Option<&SlotContent>> {
        let mut last = None;
        slots.map(move |slot| {
            let unit = slot / self.slots_per_unit;
            let known = last.filter(|&(known, _)| known == unit);
            let (_, page) = known.unwrap_or_else(|| (unit, self.page_at(unit)));
            last = Some((unit, page));
            page?.content_of(slot % self.slots_per_unit)
        })
    }

    /// The page of a unit once all booked operations have ended.
    fn page_at(&self, unit: u32) -> Option<&Page> {
        let units = self.units_per_superblock();
        let (superblock, in_superblock) = (unit / units, unit % units);
        let (row, die) = (in_superblock / self.dies, in_superblock % self.dies);
        let block = superblock * self.dies + die;
        let mut left = self.pending_count[block as usize];
        let mut rows = self.rows[block as usize];
        let mut booked = self.pending[die as usize].iter().rev();
        while left > 0
            && let Some(op) = booked.next()
        {
            if op.block == block {
                left -= 1;
                if let Some(page) = &op.page {
                    rows -= 1;
                    if rows == row {
                        return Some(page);
                    }
                }
                if op.erase {
                    return None;
                }
            }
        }
        let pages = &self.blocks[block as usize].pages;
        pages.get(row as usize).map(|page| &**page)
    }

    fn units_per_superblock(&self) -> u32 {
        self.dies * self.rows_max
    }
}

impl Media {
    /// Programs and erases booked since the drive was created or read from files; a block's erase
    /// and the program after it count as two.
    pub fn booked_count(&self) -> u64 {
        self.aim.booked
    }

    /// Aims at the `nth` program or erase booked from now on, counted from 1; `None`: clears the
    /// aim.
    pub fn aim_at(&mut self, nth: Option<u64>) {
        self.aim.target = nth.map(|nth| self.aim.booked.saturating_add(nth));
        self.aim.hit = None;
    }

    /// Clears the aim at a booked operation when power fails. An operation that is not booked yet
    /// stays the target: it may be one of recovery.
    pub(super) fn miss_aim(&mut self) {
        if self.aim.hit.take().is_some() {
            self.aim.target = None;
        }
    }

    /// Whether there is a target.
    pub fn is_aiming(&self) -> bool {
        self.aim.target.is_some()
    }

    /// The target, once it is booked.
    pub fn aimed(&self) -> Option<Aimed> {
        self.aim.hit
    }

    /// Sets the currently known times of the target.
    pub(in crate::nand) fn aimed_lies(&mut self, start: u64, end: u64) {
        if let Some(hit) = &mut self.aim.hit {
            (hit.start, hit.end) = (start, end);
        }
    }
}
