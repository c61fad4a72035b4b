//! Journal pages and parts with content, on drives that recover by their journal.
//!
//! Order on media: a journal page begins after every program that it leads to has ended, and after
//! all journal pages and parts before it; a part begins after the last journal page. With each, the
//! lower pages of half-programmed word lines are saved, as before an erase.

use super::change_log::{Change, ChangeLog, JournalPage, Mapped};
use super::{Entry, Gear, Layout, PageFtl};
use crate::config::DriveConfig;
use crate::nand::Ticket;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// The log of a drive that recovers by its journal and holds data.
    pub(super) fn log_of(config: &DriveConfig, page_entries: u32) -> Option<Box<ChangeLog>> {
        let journalled = G::KEEPS && config.recovers_by_journal();
        journalled.then(|| Box::new(ChangeLog::new(config, page_entries)))
    }

    /// Logs a booked program: `batch` lies in the slots from `first` on.
    #[inline(always)]
    pub(super) fn log_program(&mut self, first: u32, batch: &[Entry], ticket: Ticket) {
        if G::KEEPS && self.log.is_some() && !batch.is_empty() {
            self.log_batch(first, batch, ticket);
        }
    }

    /// Logs a booked program of moved slots.
    #[inline(always)]
    pub(super) fn log_moved(&mut self, first: u32, batch: &[Entry], ticket: Ticket) {
        if G::KEEPS && self.log.is_some() {
            self.assert_after_meta(batch, ticket);
            self.log_batch(first, batch, ticket);
        }
    }

    fn assert_after_meta(&self, batch: &[Entry], ticket: Ticket) {
        let original = self.log.as_ref().map_or(0, |log| log.end);
        let hidden = batch.iter().find(|entry| entry.lpn >= self.user_slots);
        assert!(
            hidden.is_none() || ticket.end > original,
            "{hidden:?} is moved by {} ns, before the last map page ends at {original} ns",
            ticket.end
        );
    }

    fn log_batch(&mut self, first: u32, batch: &[Entry], ticket: Ticket) {
        let (Some(log), Some(media)) = (&mut self.log, self.nand.media()) else {
            return;
        };
        let seq = media.last_seq();
        let mut next = first + 1;
        let mapped = batch.iter().map(|entry| {
            let weight = if L::FULL { entry.weight } else { 1 };
            let value = next;
            next += weight;
            Mapped {
                address: entry.lpn,
                seq,
                value,
                weight,
            }
        });
        log.push(Change {
            seq,
            ticket: Some(ticket),
            mapped: mapped.collect(),
        });
    }

    /// Earliest start of moving `batch`: a copy of a journal page or part must not be on media
    /// before the original, which waits for the programs that it leads to.
    #[inline(always)]
    pub(super) fn after_meta(&self, from: u64, batch: &[Entry]) -> u64 {
        match &self.log {
            Some(log) if G::KEEPS && batch.iter().any(|entry| entry.lpn >= self.user_slots) => {
                from.max(log.end)
            }
            _ => from,
        }
    }

    /// Logs the last trim.
    pub(super) fn log_trim(&mut self, address: u32) {
        if let (Some(log), Some(media)) = (&mut self.log, self.nand.media()) {
            let seq = media.last_seq();
            let trimmed = Mapped {
                address,
                seq,
                ..Mapped::default()
            };
            log.push(Change {
                seq,
                ticket: None,
                mapped: vec![trimmed],
            });
        }
    }

    /// Puts the next journal page's content into the buffer, under the addresses of the page.
    /// Returns the earliest start of its program. `all`: it waits for programs that have not ended
    /// by `from`.
    pub(super) fn write_journal(&mut self, from: u64, all: bool) -> u64 {
        let Some(log) = &mut self.log else {
            return from;
        };
        let mut start = from.max(log.end);
        let mut page = JournalPage::default();
        let mut count = 0;
        while let Some(change) = log.oldest() {
            let end = change.ticket.map_or(0, |ticket| self.nand.end_of(ticket));
            if !log.fits(count) || (end > start && !all) {
                break;
            }
            if let Some(ticket) = change.ticket {
                start = start.max(self.nand.make_firm(ticket));
            }
            count += log.host_slots_of(Some(change));
            log.take(&mut page);
        }
        let first = self.journal.first + self.journal.next;
        let slots = log.finish(page);
        if let Some(media) = self.nand.media_mut() {
            for (address, content) in (first..).zip(slots) {
                media.put_in_buffer(address, content);
            }
        }
        start
    }

    /// Completes a booked journal page.
    pub(super) fn wrote_journal(&mut self, ticket: Ticket) {
        let (Some(log), Some(media)) = (&mut self.log, self.nand.media_mut()) else {
            return;
        };
        media.fill_journal(ticket.die, log.covers());
        media.save_lower_pages();
        log.page_end = log.page_end.max(ticket.end);
        log.end = log.end.max(ticket.end);
    }

    /// Puts the contents of parts into the buffer; returns the earliest start of their program.
    pub(super) fn write_parts(&mut self, from: u64, batch: &[Entry]) -> u64 {
        let (Some(log), Some(media)) = (&mut self.log, self.nand.media_mut()) else {
            return from;
        };
        for entry in batch {
            let content = log.write_part(entry.lpn);
            media.put_in_buffer(entry.lpn, content);
        }
        from.max(log.page_end)
    }

    /// Completes a booked program of parts.
    pub(super) fn wrote_parts(&mut self, ticket: Ticket) {
        if let (Some(log), Some(media)) = (&mut self.log, self.nand.media_mut()) {
            media.save_lower_pages();
            log.end = log.end.max(ticket.end);
        }
    }

    /// Writes the parts that lack a change of the journal page that the next one replaces.
    pub(super) fn write_overdue(&mut self, from: u64) {
        let Some(log) = &self.log else {
            return;
        };
        for part in log.overdue() {
            self.upkeep.owe_at(part);
        }
        while self.upkeep.owes() && self.is_overdue() {
            self.program_map_unit(from);
        }
    }

    fn is_overdue(&self) -> bool {
        let log = self.log.as_ref();
        log.is_some_and(|log| !log.overdue().is_empty())
    }

    /// Whether the journal holds all changes up to a sequence number.
    pub(super) fn journal_covers(&self, seq: u64) -> bool {
        let log = self.log.as_ref();
        log.is_none_or(|log| log.oldest().is_none_or(|change| change.seq > seq))
    }
}
