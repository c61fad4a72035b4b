//! From booked operations to the state of the media: settling, waiting, cutting.

use super::{CutDamage, Dropped, Event, MapRecord, Media, Page, Pending, Progress, Spare};
use crate::nand::operation::{Mode, Program, Purpose, SLC_KIND, Ticket};
use std::sync::Arc;

impl Media {
    // Booking.

    /// Books a program; its slots follow with [`Media::fill`].
    pub(in crate::nand) fn book_program(&mut self, op: &Program, ticket: Ticket) {
        let block = op.superblock * self.dies + op.die;
        let before = op.erase.then(|| self.before_erase(block));
        if op.erase {
            self.aim.count(op.die, ticket.id, true);
        }
        self.aim.count(op.die, ticket.id, false);
        self.rows[block as usize] += 1;
        let page = Page {
            seq: self.next_seq(),
            purpose: op.purpose,
            mode: if op.kind == SLC_KIND {
                Mode::Slc
            } else {
                Mode::Native
            },
            tag: 0,
            generation: self.generation[op.superblock as usize],
            torn: false,
            slots: Vec::new(),
            map: None,
        };
        let page = self.free.renew(page);
        self.book(Pending {
            id: ticket.id,
            end: ticket.end,
            block,
            erase: op.erase,
            before,
            page: Some(page),
        });
    }

    /// Books an erase without a program.
    pub(in crate::nand) fn book_erase(&mut self, superblock: u32, ticket: Ticket) {
        let die = ticket.die;
        let block = superblock * self.dies + die;
        let before = Some(self.before_erase(block));
        self.aim.count(die, ticket.id, true);
        self.book(Pending {
            id: ticket.id,
            end: ticket.end,
            block,
            erase: true,
            before,
            page: None,
        });
    }

    fn book(&mut self, op: Pending) {
        self.pending_count[op.block as usize] += 1;
        self.pending[(op.block % self.dies) as usize].push_back(op);
    }

    /// Takes the oldest booked operation of a die.
    fn take_first(&mut self, die: u32) -> Option<Pending> {
        let op = self.pending[die as usize].pop_front()?;
        self.pending_count[op.block as usize] -= 1;
        Some(op)
    }

    fn before_erase(&mut self, block: u32) -> Arc<MapRecord> {
        // The erase may remove older copies, so data in half-programmed word lines is saved.
        self.save_lower_pages();
        self.rows[block as usize] = 0;
        self.record()
    }

    /// Saves the data of half-programmed word lines.
    pub fn save_lower_pages(&mut self) {
        self.saved = self.seq;
    }

    /// Whether trims are not yet known to be recorded.
    pub fn has_unsaved(&self) -> bool {
        !self.forgotten_since.is_empty()
    }

    /// A record of the trims that are not recorded yet.
    pub fn unsaved_map(&self) -> Arc<MapRecord> {
        self.record()
    }

    fn record(&self) -> Arc<MapRecord> {
        Arc::new(MapRecord {
            covers: self.seq,
            forgotten: self.forgotten_since.clone(),
        })
    }

    /// Room for the slots of the program last booked on a die.
    pub fn room(&mut self, die: u32) -> Vec<Spare> {
        let page = self.last_page(die);
        page.map_or_else(Vec::new, |page| std::mem::take(&mut page.slots))
    }

    /// The slots of the program last booked on a die.
    pub fn fill(&mut self, die: u32, tag: u32, slots: Vec<Spare>) {
        if let Some(page) = self.last_page(die) {
            page.tag = tag;
            page.slots = slots;
        }
    }

    /// Makes the program last booked on a die a page of the map, which records the trims.
    pub fn fill_map(&mut self, die: u32) {
        let record = self.record();
        if let Some(page) = self.last_page(die) {
            page.map = Some(record);
        }
    }

    /// Makes the program last booked on a die a journal page with all changes up to a sequence
    /// number.
    pub fn fill_journal(&mut self, die: u32, covers: u64) {
        let trims = self.forgotten_since.iter().copied();
        let forgotten = trims.filter(|&(_, seq)| seq <= covers).collect();
        if let Some(page) = self.last_page(die) {
            page.map = Some(Arc::new(MapRecord { covers, forgotten }));
        }
    }

    fn last_page(&mut self, die: u32) -> Option<&mut Page> {
        let last = self.pending[die as usize].back_mut()?;
        last.page.as_mut().map(Arc::make_mut)
    }

    /// Records the map outside the array at `time`, for a layer whose map costs nothing.
    pub fn note_map(&mut self, time: u64) {
        let record = self.record();
        self.notes.push((time, record));
    }

    /// Records the trims until now at `time` and saves half-programmed word lines: a superblock is
    /// retired, which may remove older copies.
    pub(in crate::nand) fn note_forgotten(&mut self, time: u64) {
        self.save_lower_pages();
        let record = MapRecord {
            covers: 0,
            forgotten: self.forgotten_since.clone(),
        };
        self.notes.push((time, Arc::new(record)));
    }

    /// Trims an address.
    pub fn forget(&mut self, address: u32) {
        let seq = self.next_seq();
        self.forgotten_since.push((address, seq));
    }

    /// Makes the next erase of a free superblock wait for the operations booked now.
    pub(in crate::nand) fn freed(&mut self, superblock: u32) {
        self.generation[superblock as usize] += 1;
        let last = (0..).zip(&self.pending);
        let last = last.filter_map(|(die, pending)| {
            let id = pending.back()?.id;
            Some(Ticket { end: 0, die, id })
        });
        self.wait_for.insert(superblock, last.collect());
    }

    /// Takes the operations that must end before the superblock is erased.
    pub(in crate::nand) fn waits(&self, superblock: u32) -> Vec<Ticket> {
        self.wait_for.get(&superblock).cloned().unwrap_or_default()
    }

    /// Erases everything.
    pub(in crate::nand) fn wipe(&mut self) {
        for block in 0..self.blocks.len() as u32 {
            self.erase_block(block);
        }
        self.rows.fill(0);
        for pending in &mut self.pending {
            pending.clear();
        }
        self.pending_count.fill(0);
        for generation in &mut self.generation {
            *generation += 1;
        }
        self.buffer.clear();
        self.wait_for.clear();
        self.beside.clear();
    }

    // Settling.

    /// Applies the operations that have ended on a die: all before `first` (all when there is
    /// none).
    pub(in crate::nand) fn settle(&mut self, die: u32, first: Option<u32>) {
        while let Some(op) = self.pending[die as usize].front() {
            if Some(op.id) == first {
                return;
            }
            if let Some(op) = self.take_first(die) {
                self.apply(op);
            }
        }
    }

    /// Applies the records made outside the array until `now`.
    pub(in crate::nand) fn settle_notes(&mut self, now: u64) {
        // They are not always in the order of their times.
        let notes = std::mem::take(&mut self.notes);
        for (time, record) in notes {
            if time <= now {
                self.fold_beside(&record, true);
            } else {
                self.notes.push((time, record));
            }
        }
    }

    fn apply(&mut self, op: Pending) {
        if op.erase {
            self.begin_erase(&op);
        }
        if let Some(page) = op.page {
            self.put_page(op.block, page);
        }
    }

    fn begin_erase(&mut self, op: &Pending) {
        if let Some(record) = &op.before {
            self.fold_beside(record, false);
        }
        self.erase_block(op.block);
    }

    pub(super) fn erase_block(&mut self, block: u32) {
        let erased = &mut self.blocks[block as usize];
        if erased.pages.is_empty() && !erased.unstable {
            return;
        }
        if let Some(own) = Arc::get_mut(erased) {
            self.free.erased(&mut own.pages);
            own.unstable = false;
        } else {
            *erased = Arc::default();
        }
        self.happened(Event::Erased { block });
    }

    /// Makes the data of a retired superblock unreadable.
    pub(in crate::nand) fn drop_superblock(&mut self, superblock: u32) {
        let first = superblock * self.dies;
        (first..first + self.dies).for_each(|block| self.erase_block(block));
    }

    pub(super) fn put_page(&mut self, block: u32, page: Arc<Page>) {
        if let Some(record) = page.map.as_deref().filter(|_| !page.torn) {
            self.fold(record, true);
            self.beside.retain(|&(_, seq)| seq > record.covers);
        }
        self.seq = self.seq.max(page.seq);
        if let Some(events) = &mut self.events {
            let page = page.clone();
            events.push(Event::Programmed { block, page });
        }
        let target = self.block_mut(block);
        let last = target
            .pages
            .last()
            .map_or(page.generation, |last| last.generation);
        assert!(
            !target.unstable && last == page.generation,
            "block {block} is programmed without the erase that it needs"
        );
        target.pages.push(page);
    }

    /// Applies a record made elsewhere than in a journal page.
    pub(super) fn fold_beside(&mut self, record: &MapRecord, covers: bool) {
        self.fold(record, covers);
        if self.journalled {
            self.beside.extend(&record.forgotten);
        }
    }

    /// Applies the record of a page of the map.
    pub(super) fn fold(&mut self, record: &MapRecord, covers: bool) {
        for &(address, seq) in &record.forgotten {
            let last = self.forgotten.entry(address).or_insert(0);
            *last = seq.max(*last);
            // Media read from files: the next program is newer than every trim.
            self.seq = self.seq.max(seq);
        }
        self.forgotten_since.retain(|&(_, seq)| seq > record.covers);
        if covers {
            self.map.covers = self.map.covers.max(record.covers);
        }
        if let Some(events) = &mut self.events {
            events.push(Event::Noted(Arc::new(MapRecord {
                covers: self.map.covers,
                forgotten: record.forgotten.clone(),
            })));
        }
    }

    // Power.

    /// Cuts power: `progress` returns the state of each booked operation. `saves_map`: there is
    /// energy to record the trims.
    pub(in crate::nand) fn cut(
        &mut self,
        saves_map: bool,
        mut progress: impl FnMut(Ticket) -> Progress,
    ) -> CutDamage {
        self.miss_aim();
        let mut damage = CutDamage::default();
        for die in 0..self.dies {
            while let Some(op) = self.take_first(die) {
                let ticket = Ticket {
                    end: 0,
                    die,
                    id: op.id,
                };
                match progress(ticket) {
                    Progress::Done => self.apply(op),
                    Progress::Erasing => self.tear_erase(op, &mut damage),
                    Progress::Programming => self.tear_program(op, &mut damage),
                    Progress::NotBegun => {
                        damage.not_begun += 1;
                        drop_slots(op.page, &mut damage);
                    }
                }
            }
        }
        damage.dropped.sort_by_key(|slot| slot.seq);
        if saves_map {
            let record = self.record();
            self.fold_beside(&record, true);
        }
        self.forgotten_since.clear();
        self.notes.clear();
        self.staged.clear();
        self.wait_for.clear();
        damage
    }

    fn tear_erase(&mut self, op: Pending, damage: &mut CutDamage) {
        damage.torn_erases += 1;
        self.begin_erase(&op);
        self.interrupt_erase(op.block);
        drop_slots(op.page, damage);
    }

    pub(super) fn interrupt_erase(&mut self, block: u32) {
        self.block_mut(block).unstable = true;
        self.happened(Event::Unstable { block });
    }

    fn tear_program(&mut self, op: Pending, damage: &mut CutDamage) {
        damage.torn_programs += 1;
        if op.erase {
            self.begin_erase(&op);
        }
        let Some(page) = op.page else {
            return;
        };
        damage.torn_by_purpose[page.purpose as usize] += 1;
        damage.torn_records += u64::from(page.map.is_some());
        if page.mode == Mode::Native {
            self.lose_lower_pages(op.block, damage);
        }
        // Its slots are kept for faults that read a torn page as a good one; no other code reads
        // them.
        let torn = Page {
            torn: true,
            map: None,
            ..Page::clone(&page)
        };
        self.put_page(op.block, Arc::new(torn));
        drop_slots(Some(page), damage);
    }

    fn lose_lower_pages(&mut self, block: u32, damage: &mut CutDamage) {
        let b = block as usize;
        let row = self.blocks[b].pages.len() as u32;
        for lower in row - row % self.bits..row {
            let seq = self.blocks[b].pages[lower as usize].seq;
            if self.always_saves_lower || seq <= self.saved {
                damage.lower_pages_saved += 1;
            } else {
                damage.lower_pages_lost += 1;
                self.lose_page(block, lower);
            }
        }
    }

    /// Makes a page unreadable.
    pub fn lose_page(&mut self, block: u32, row: u32) {
        self.page_mut(block as usize, row as usize).torn = true;
        self.happened(Event::Lost { block, row });
    }

    /// Empties the buffer.
    pub fn lose_buffer(&mut self) {
        self.buffer.clear();
    }

    /// Restores power: the programmed rows of each block, or `None` when it must be erased first,
    /// because it was being erased or belongs to an earlier generation of its superblock.
    pub(in crate::nand) fn power_on(&mut self) -> Vec<Option<u32>> {
        let mut rows = Vec::with_capacity(self.blocks.len());
        for superblock in 0..self.generation.len() as u32 {
            let newest = self.generation_on_media(superblock);
            let generation = &mut self.generation[superblock as usize];
            *generation = newest.unwrap_or(*generation);
            rows.extend(self.blocks_of(superblock).iter().map(|block| {
                let first = block.pages.first();
                let is_current = first.is_none_or(|page| Some(page.generation) == newest);
                (is_current && !block.unstable).then_some(block.pages.len() as u32)
            }));
        }
        for (booked, rows) in self.rows.iter_mut().zip(&rows) {
            *booked = rows.unwrap_or(0);
        }
        self.save_lower_pages();
        rows
    }
}

fn drop_slots(page: Option<Arc<Page>>, damage: &mut CutDamage) {
    let Some(page) = page.filter(|page| page.purpose == Purpose::Host) else {
        return;
    };
    damage
        .dropped
        .extend(page.slots.iter().map(|spare| Dropped {
            seq: page.seq,
            address: spare.address,
            content: spare.content.clone(),
        }));
}
