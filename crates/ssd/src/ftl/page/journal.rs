//! The map journal: changes that wait for a page, the page to be written next, and the debt to the
//! rolling checkpoint. Where recovery depends on the journal, also what its pages and parts hold.
//!
//! Order on media: a journal page begins after every program that it leads to has ended, and after
//! all journal pages and parts before it; a part begins after the last journal page. With each, the
//! lower pages of half-programmed word lines are saved, as before an erase.

use super::GatherEntry;
use super::change_log::{ChangeLog, JournalPage, MapChange, MappedAddress};
use crate::config::DriveConfig;
use crate::image::image_of;
use crate::nand::{Gear, Nand, Ticket};
use std::ops::Range;

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct MapJournal {
        /// Hidden logical addresses of the ring of pages.
        first: u32,
        slots: u32,
        next: u32,
        slots_per_page: u32,
        entries_per_page: u32,
        pending: u32,
        /// Journal pages in which all of the map is written once; 0 = no checkpoints.
        checkpoint_pages: u32,
        /// Map slots owed to the rolling checkpoint, multiplied by the pages of its cycle.
        checkpoint_debt: u64,
    } afresh {
        /// Changes of the map, where recovery depends on the journal.
        log: Option<Box<ChangeLog>>,
    }
}

impl MapJournal {
    /// `keeps`: the media keep data.
    pub fn new(config: &DriveConfig, keeps: bool) -> MapJournal {
        let shape = &config.shape;
        let room = shape.page_bytes - config.root_bytes() as u32;
        let entries = room.checked_div(config.ftl.journal.entry_bytes);
        let entries_per_page = entries.unwrap_or(0);
        let has_log = keeps && config.recovers_by_journal();
        MapJournal {
            first: config.user_slots() as u32,
            slots: config.journal_slots() as u32,
            next: 0,
            slots_per_page: shape.page_bytes / shape.slot_bytes,
            entries_per_page,
            pending: 0,
            checkpoint_pages: config.ftl.journal.checkpoint_pages,
            checkpoint_debt: 0,
            log: has_log.then(|| Box::new(ChangeLog::new(config, entries_per_page))),
        }
    }

    /// Discards the changes that wait; those up to `covers` were undone.
    pub fn clear(&mut self, covers: u64) {
        self.pending = 0;
        if let Some(log) = &mut self.log {
            log.clear(covers);
        }
    }

    /// Discards all that is not on media but the log, before recovery.
    pub fn forget(&mut self) {
        self.pending = 0;
        self.next = 0;
        self.checkpoint_debt = 0;
    }

    /// Counts changes.
    #[inline(always)]
    pub fn change(&mut self, entries: u32) {
        self.pending = self.pending.saturating_add(entries);
    }

    /// Whether a change waits for a page.
    pub fn has_changes(&self) -> bool {
        self.pending > 0
    }

    /// Whether a page is full.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.will_be_due(0)
    }

    /// Whether a page would be full after `entries` more changes.
    #[inline(always)]
    pub fn will_be_due(&self, entries: u32) -> bool {
        let pending = self.pending.saturating_add(entries);
        self.entries_per_page > 0 && pending >= self.entries_per_page
    }

    /// Takes the changes of a full page.
    pub fn take_page(&mut self) {
        self.pending -= self.entries_per_page;
    }

    /// A commit has written all changes.
    pub fn commit(&mut self) {
        self.pending = 0;
    }

    /// Hidden addresses of the ring of pages.
    pub fn addresses(&self) -> Range<u32> {
        self.first..self.first + self.slots
    }

    /// Slots of a page.
    pub fn page_slots(&self) -> u32 {
        self.slots_per_page
    }

    /// Takes the next hidden address of the ring.
    pub fn take_address(&mut self) -> u32 {
        let address = self.first + self.next;
        self.next = (self.next + 1) % self.slots;
        address
    }

    /// The next slot of the ring.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Continues behind a slot of the ring, which has the newest page.
    pub fn resume_after(&mut self, slot: u32) {
        self.next = (slot + 1) % self.slots;
    }

    /// Adds one page's share of the rolling checkpoint, which covers `map_slots`; returns how many
    /// of them are due.
    pub fn owe_checkpoint(&mut self, map_slots: u64) -> u64 {
        let cycle = u64::from(self.checkpoint_pages);
        if cycle == 0 {
            return 0;
        }
        self.checkpoint_debt += map_slots;
        let due = self.checkpoint_debt / cycle;
        self.checkpoint_debt %= cycle;
        due
    }
}

/// What pages and parts hold, where recovery depends on them.
impl MapJournal {
    /// Whether recovery depends on the journal.
    #[inline(always)]
    pub fn has_log(&self) -> bool {
        self.log.is_some()
    }

    pub fn take_log(&mut self) -> Option<Box<ChangeLog>> {
        self.log.take()
    }

    pub fn put_log(&mut self, log: Box<ChangeLog>) {
        self.log = Some(log);
    }

    /// Logs a booked program: `batch` lies in the slots from `first` on.
    #[inline(always)]
    pub fn log_program<G: Gear>(
        &mut self,
        nand: &Nand<G>,
        first: u32,
        batch: &[GatherEntry],
        ticket: Ticket,
    ) {
        if G::KEEPS && self.log.is_some() && !batch.is_empty() {
            self.log_batch(nand, first, batch, ticket);
        }
    }

    /// Logs a booked program of moved slots.
    #[inline(always)]
    pub fn log_moved<G: Gear>(
        &mut self,
        nand: &Nand<G>,
        first: u32,
        batch: &[GatherEntry],
        ticket: Ticket,
    ) {
        if G::KEEPS && self.log.is_some() {
            self.assert_after_meta(batch, ticket);
            self.log_batch(nand, first, batch, ticket);
        }
    }

    fn assert_after_meta(&self, batch: &[GatherEntry], ticket: Ticket) {
        let original = self.log.as_ref().map_or(0, |log| log.end);
        let hidden = batch.iter().find(|entry| entry.lpn >= self.first);
        assert!(
            hidden.is_none() || ticket.end > original,
            "{hidden:?} is moved by {} ns, before the last map page ends at {original} ns",
            ticket.end
        );
    }

    fn log_batch<G: Gear>(
        &mut self,
        nand: &Nand<G>,
        first: u32,
        batch: &[GatherEntry],
        ticket: Ticket,
    ) {
        let (Some(log), Some(media)) = (&mut self.log, nand.media()) else {
            return;
        };
        let seq = media.last_seq();
        let mut next = first + 1;
        let mapped = batch.iter().map(|entry| {
            let value = next;
            next += entry.weight;
            MappedAddress {
                address: entry.lpn,
                seq,
                value,
                weight: entry.weight,
            }
        });
        log.push(MapChange {
            seq,
            ticket: Some(ticket),
            mapped: mapped.collect(),
        });
    }

    /// Earliest start of moving `batch`: a copy of a journal page or part must not be on media
    /// before the original, which waits for the programs that it leads to.
    #[inline(always)]
    pub fn after_meta<G: Gear>(&self, from: u64, batch: &[GatherEntry]) -> u64 {
        match &self.log {
            Some(log) if G::KEEPS && batch.iter().any(|entry| entry.lpn >= self.first) => {
                from.max(log.end)
            }
            _ => from,
        }
    }

    /// Logs the last trim.
    pub fn log_trim<G: Gear>(&mut self, nand: &Nand<G>, address: u32) {
        if let (Some(log), Some(media)) = (&mut self.log, nand.media()) {
            let seq = media.last_seq();
            let trimmed = MappedAddress {
                address,
                seq,
                ..MappedAddress::default()
            };
            log.push(MapChange {
                seq,
                ticket: None,
                mapped: vec![trimmed],
            });
        }
    }

    /// Puts the next journal page's content into the buffer, under the addresses of the page.
    /// Returns the earliest start of its program. `all`: it waits for programs that have not ended
    /// by `from`.
    pub fn write_page<G: Gear>(&mut self, nand: &mut Nand<G>, from: u64, all: bool) -> u64 {
        let Some(log) = &mut self.log else {
            return from;
        };
        let mut start = from.max(log.end);
        let mut page = JournalPage::default();
        let mut count = 0;
        while let Some(change) = log.oldest() {
            let end = change.ticket.map_or(0, |ticket| nand.end_of(ticket));
            if !log.fits(count) || (end > start && !all) {
                break;
            }
            if let Some(ticket) = change.ticket {
                start = start.max(nand.make_firm(ticket));
            }
            count += log.host_slots_of(Some(change));
            log.take(&mut page);
        }
        let first = self.first + self.next;
        let slots = log.finish(page);
        if let Some(media) = nand.media_mut() {
            for (address, content) in (first..).zip(slots) {
                media.put_in_buffer(address, content);
            }
        }
        start
    }

    /// Records a booked journal page.
    pub fn page_written<G: Gear>(&mut self, nand: &mut Nand<G>, ticket: Ticket) {
        let Some(media) = nand.media_mut() else {
            return;
        };
        let Some(log) = &mut self.log else {
            return media.fill_map(ticket.die);
        };
        media.fill_journal(ticket.die, log.covers());
        media.save_lower_pages();
        log.page_end = log.page_end.max(ticket.end);
        log.end = log.end.max(ticket.end);
    }

    /// Puts the contents of parts into the buffer; returns the earliest start of their program.
    pub fn write_parts<G: Gear>(
        &mut self,
        nand: &mut Nand<G>,
        from: u64,
        batch: &[GatherEntry],
    ) -> u64 {
        let (Some(log), Some(media)) = (&mut self.log, nand.media_mut()) else {
            return from;
        };
        for entry in batch {
            let content = log.write_part(entry.lpn);
            media.put_in_buffer(entry.lpn, content);
        }
        from.max(log.page_end)
    }

    /// Records a booked program of parts.
    pub fn parts_written<G: Gear>(&mut self, nand: &mut Nand<G>, ticket: Ticket) {
        if let (Some(log), Some(media)) = (&mut self.log, nand.media_mut()) {
            media.save_lower_pages();
            log.end = log.end.max(ticket.end);
        }
    }

    /// The parts that lack a change of the journal page that the next one replaces.
    pub fn overdue(&self) -> Vec<u32> {
        let log = self.log.as_ref();
        log.map_or_else(Vec::new, |log| log.overdue())
    }

    /// Whether the journal holds all changes up to a sequence number.
    pub fn covers(&self, seq: u64) -> bool {
        let log = self.log.as_ref();
        log.is_none_or(|log| log.oldest().is_none_or(|change| change.seq > seq))
    }
}
