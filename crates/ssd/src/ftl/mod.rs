//! The translation layer: where each logical slot lies, and how room is made.
//!
//! ```text
//!   host slots -> Ring (buffered) -> host frontier -> superblock --(full)--> candidates
//!                                        ^  pSLC while free, else native        |
//!   map journal -------------------------+                                      | greedy
//!   relocated slots -> relocation frontier <------------------------------------+
//! ```
//! Page-mapped. Reclaim is paid by host writes: while few superblocks are free, a host unit may be
//! programmed only for credits, and scanning a stale slot of the victim earns one. Over a victim's
//! life the slots written by host and relocation equal the slots it frees, so the free reserve
//! never shrinks and reclaim can never be stuck. (Write credits: NVMeVirt, `conv_ftl.c`.)
//!
//! The map journal lies at hidden logical addresses beyond the host's and is relocated like
//! anything else.

mod check;
mod frontier;
mod reclaim;
mod ring;
pub mod victim;

use crate::config::{DriveConfig, MEDIA_SLOTS_MAX};
use crate::counters::DriveCounters;
use crate::geometry::Geometry;
use crate::nand::{Mode, Nand};
use crate::prefetch::prefetch;
use frontier::{Frontier, Target};
use reclaim::Mover;
use ring::Ring;
use std::collections::VecDeque;

/// The map's value for a slot that lies nowhere. Zero, so that a fresh map costs no memory until
/// it is used; a slot on media at `ppn` has the value `ppn + 1`.
const UNMAPPED: u32 = 0;
/// Map values from here up are positions in the write buffer.
const BUFFERED: u32 = MEDIA_SLOTS_MAX as u32;

/// What a superblock is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Open,
    Full,
    /// Being emptied by reclaim or folding.
    Victim,
}

/// Where a logical slot's newest copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nowhere: never written, or trimmed.
    Unmapped,
    /// In the write buffer.
    Buffered,
    /// On media, at this slot.
    Media(u32),
}

/// Who a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Host,
    Map,
    Relocation,
    Fold,
}

/// The translation layer over its media.
#[derive(Clone, Debug)]
pub struct Ftl {
    /// The media.
    pub nand: Nand,
    /// Counters of the drive; host-side ones are kept by the drive.
    pub counters: DriveCounters,
    map: Vec<u32>,
    /// One past the highest host slot ever written.
    written_end: u32,
    owner: Vec<u32>,
    valid: Vec<u64>,
    valid_count: Vec<u32>,
    state: Vec<State>,
    mode: Vec<Mode>,
    free: VecDeque<u32>,
    free_slc: VecDeque<u32>,
    /// The host's open superblock of the pSLC cache, used while there is one.
    host_slc: Frontier,
    /// The host's open superblock in native mode.
    host_native: Frontier,
    relocation: Frontier,
    ring: Ring,
    reclaim: Mover,
    fold: Mover,
    credits: i64,
    free_low: usize,
    close_word_lines: bool,
    journal: Journal,
    batch: Vec<(u32, u32)>,
}

/// The map journal: how many changes are not yet on media.
#[derive(Clone, Debug)]
struct Journal {
    first: u32,
    slots: u32,
    next: u32,
    slots_per_page: u32,
    entries_per_page: u32,
    pending: u32,
}

impl Ftl {
    /// A translation layer over factory-fresh media. `config` has been validated.
    pub fn new(config: &DriveConfig) -> Ftl {
        let geometry = Geometry::new(config.shape);
        let count = geometry.superblock_count as usize;
        let media = count * geometry.slots_per_superblock as usize;
        let user_slots = config.user_slots() as u32;
        let slots_per_page = config.shape.page_bytes / config.shape.slot_bytes;
        let slc = config.ftl.slc_superblocks as usize;
        let entries = config
            .shape
            .page_bytes
            .checked_div(config.ftl.journal_entry_bytes);
        let journal = Journal {
            first: user_slots,
            slots: config.journal_slots() as u32,
            next: 0,
            slots_per_page,
            entries_per_page: entries.unwrap_or(0),
            pending: 0,
        };
        let buffer_slots = (config.buffer.bytes / u64::from(config.shape.slot_bytes)) as usize;
        Ftl {
            map: vec![UNMAPPED; (user_slots + journal.slots) as usize],
            written_end: 0,
            owner: vec![0; media],
            valid: vec![0; media.div_ceil(64)],
            valid_count: vec![0; count],
            state: vec![State::Free; count],
            mode: (0..count)
                .map(|s| if s < slc { Mode::Slc } else { Mode::Native })
                .collect(),
            free: (slc..count).map(|s| s as u32).collect(),
            free_slc: (0..slc).map(|s| s as u32).collect(),
            host_slc: Frontier::default(),
            host_native: Frontier::default(),
            relocation: Frontier::default(),
            ring: Ring::new(buffer_slots + 1),
            reclaim: Mover::new(Purpose::Relocation),
            fold: Mover::new(Purpose::Fold),
            credits: 0,
            free_low: config.ftl.free_superblocks_low as usize,
            close_word_lines: config.ftl.commit_closes_word_lines,
            journal,
            batch: Vec::with_capacity(geometry.slots_per_unit as usize),
            nand: Nand::new(geometry, &config.timing),
            counters: DriveCounters::default(),
        }
    }

    /// Where a logical slot's newest copy is.
    #[inline(always)]
    pub fn find(&self, lpn: u32) -> Found {
        match self.map[lpn as usize] {
            UNMAPPED => Found::Unmapped,
            value if value >= BUFFERED => Found::Buffered,
            value => Found::Media(value - 1),
        }
    }

    /// The newest copy of a logical slot that has been given to media, whether or not the write
    /// buffer holds a newer one: what is left of the slot after a power cut.
    pub fn media_copy(&self, lpn: u32) -> Option<u32> {
        let value = match self.map[lpn as usize] {
            value if value >= BUFFERED => self.ring.old(value - BUFFERED),
            value => value,
        };
        value.checked_sub(1)
    }

    /// How the cells of a superblock are used.
    #[inline(always)]
    pub fn mode_of(&self, superblock: u32) -> Mode {
        self.mode[superblock as usize]
    }

    /// Fetches a logical slot's map entry early.
    #[inline(always)]
    pub fn prefetch(&self, lpn: u32) {
        prefetch(&self.map, lpn as usize);
    }

    /// Slots in the write buffer not yet given to media.
    pub fn buffered_slots(&self) -> u32 {
        self.ring.live()
    }

    /// Places taken in the write buffer, those of dead entries included.
    pub fn ring_len(&self) -> u32 {
        self.ring.len()
    }

    /// Superblocks free for data in native mode.
    pub fn free_superblocks(&self) -> usize {
        self.free.len()
    }

    /// Superblocks of the pSLC cache ready for use.
    pub fn free_slc_superblocks(&self) -> usize {
        self.free_slc.len()
    }

    /// Map changes not yet covered by a commit.
    pub fn uncommitted(&self) -> bool {
        self.journal.pending > 0
    }

    /// Whether the logical slot is in the buffer, so that a write to it coalesces.
    #[inline(always)]
    pub fn is_buffered(&self, lpn: u32) -> bool {
        self.map[lpn as usize] >= BUFFERED
    }

    /// Gives up the places of dead entries that are next in turn; returns how many.
    pub fn purge_dead(&mut self) -> u32 {
        self.ring.purge()
    }

    /// Puts a host slot into the buffer; true when it replaced one there (takes no room).
    #[inline]
    pub fn buffer(&mut self, lpn: u32) -> bool {
        if self.is_buffered(lpn) {
            self.counters.slots_coalesced += 1;
            return true;
        }
        self.written_end = self.written_end.max(lpn + 1);
        let old = self.map[lpn as usize];
        self.map[lpn as usize] = BUFFERED + self.ring.push(lpn, old);
        false
    }

    /// The slot's data is no longer needed.
    pub fn trim(&mut self, lpn: u32) {
        let value = self.map[lpn as usize];
        if value == UNMAPPED {
            return;
        }
        let old = if value >= BUFFERED {
            self.ring.kill(value - BUFFERED).old
        } else {
            value
        };
        self.invalidate(old);
        self.map[lpn as usize] = UNMAPPED;
        self.journal_change(1);
    }

    /// Takes a slot out of the buffer's order for a write that cannot wait; returns the copy on
    /// media that it replaces.
    fn take_from_buffer(&mut self, lpn: u32) -> u32 {
        let value = self.map[lpn as usize];
        if value >= BUFFERED {
            let old = self.ring.kill(value - BUFFERED).old;
            self.map[lpn as usize] = old;
            return old;
        }
        value
    }

    #[inline(always)]
    fn invalidate(&mut self, value: u32) {
        if value == UNMAPPED {
            return;
        }
        let ppn = value - 1;
        let bit = 1 << (ppn % 64);
        let word = &mut self.valid[ppn as usize / 64];
        assert!(*word & bit != 0, "slot {ppn} invalidated twice");
        *word &= !bit;
        self.valid_count[self.nand.geometry.superblock_of(ppn) as usize] -= 1;
    }

    #[inline(always)]
    fn is_valid(&self, ppn: u32) -> bool {
        self.valid[ppn as usize / 64] >> (ppn % 64) & 1 == 1
    }

    /// When the die that the next host unit goes to will be free.
    pub fn host_die_free_at(&mut self, now: u64, from: u64) -> u64 {
        let die = match self.prepare_host_unit(now, from) {
            Mode::Slc => self.host_slc.next_die(&self.nand),
            Mode::Native => self.host_native.next_die(&self.nand),
        };
        self.nand.die_free_at(die)
    }

    /// Opens a superblock for the host if needed, and does the reclaim work that one host unit
    /// must pay for when room is scarce. Idempotent until the unit is programmed. Returns where
    /// that unit will go: the pSLC cache while it has room.
    fn prepare_host_unit(&mut self, now: u64, from: u64) -> Mode {
        if self.host_slc.open().is_some() {
            return Mode::Slc;
        }
        if let Some(superblock) = self.free_slc.pop_front() {
            self.state[superblock as usize] = State::Open;
            self.host_slc.start(superblock, Mode::Slc, &self.nand);
            return Mode::Slc;
        }
        if self.host_native.open().is_none() {
            let superblock = self.take_free();
            self.host_native.start(superblock, Mode::Native, &self.nand);
        }
        self.earn_credits(now, from);
        Mode::Native
    }

    fn take_free(&mut self) -> u32 {
        let superblock = self
            .free
            .pop_front()
            .expect("reclaim keeps superblocks free");
        self.state[superblock as usize] = State::Open;
        superblock
    }

    fn spend_credits(&mut self) {
        if self.free.len() <= self.free_low {
            self.credits -= i64::from(self.nand.geometry.slots_per_unit);
        }
    }

    /// Programs up to one unit of buffered slots, oldest first; `None` when nothing is buffered.
    /// Returns the slots taken from the buffer and when they are on media.
    pub fn program_buffered(&mut self, now: u64, from: u64) -> Option<(u32, u64)> {
        if self.ring.live() == 0 {
            return None;
        }
        self.program_due_journal(now, from);
        self.prepare_host_unit(now, from);
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        let before = self.ring.len();
        while batch.len() < self.nand.geometry.slots_per_unit as usize {
            let Some(entry) = self.ring.pop() else { break };
            batch.push((entry.lpn, entry.old));
        }
        let taken = before - self.ring.len();
        let (_, end) = self.program_host_unit(now, from, &batch, Purpose::Host);
        self.journal_change(batch.len() as u32);
        self.batch = batch;
        Some((taken, end))
    }

    /// Programs host slots that cannot wait, past the buffer; returns when they are on media.
    pub fn program_now(&mut self, now: u64, from: u64, lpns: std::ops::Range<u32>) -> u64 {
        self.written_end = self.written_end.max(lpns.end);
        let mut end = from;
        let mut next = lpns.start;
        while next < lpns.end {
            self.prepare_host_unit(now, from);
            let mut batch = std::mem::take(&mut self.batch);
            batch.clear();
            let last = lpns.end.min(next + self.nand.geometry.slots_per_unit);
            for lpn in next..last {
                let old = self.take_from_buffer(lpn);
                batch.push((lpn, old));
            }
            let (at, done) = self.program_host_unit(now, from, &batch, Purpose::Host);
            self.journal_change(batch.len() as u32);
            self.batch = batch;
            end = end.max(done).max(self.close_word_line(now, done, at));
            next = last;
        }
        end
    }

    /// Programs everything buffered; returns when it is on media.
    pub fn program_all_buffered(&mut self, now: u64, from: u64) -> u64 {
        let mut end = from;
        while let Some((_, done)) = self.program_buffered(now, from) {
            end = end.max(done);
        }
        end
    }

    /// Programs everything buffered as a commit must: word lines begun are filled up.
    pub fn commit_buffered(&mut self, now: u64, from: u64) -> u64 {
        let mut end = self.program_all_buffered(now, from);
        let Some((superblock, mode)) = self.host_native.open() else {
            return end;
        };
        for die in 0..self.nand.geometry.die_count {
            let at = Target {
                superblock,
                row: 0,
                die,
                mode,
            };
            end = end.max(self.close_word_line(now, from, at));
        }
        end
    }

    /// Programs one page of map journal for a commit; returns when it is on media.
    pub fn program_commit_journal(&mut self, now: u64, from: u64) -> u64 {
        let (at, end) = self.program_journal_page(now, from);
        self.journal.pending = 0;
        end.max(self.close_word_line(now, end, at))
    }

    fn program_due_journal(&mut self, now: u64, from: u64) {
        let per_page = self.journal.entries_per_page;
        while per_page > 0 && self.journal.pending >= per_page {
            self.journal.pending -= per_page;
            self.program_journal_page(now, from);
        }
    }

    fn journal_change(&mut self, entries: u32) {
        self.journal.pending = self.journal.pending.saturating_add(entries);
    }

    fn program_journal_page(&mut self, now: u64, from: u64) -> (Target, u64) {
        self.prepare_host_unit(now, from);
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        for _ in 0..self.journal.slots_per_page {
            let lpn = self.journal.first + self.journal.next;
            self.journal.next = (self.journal.next + 1) % self.journal.slots;
            batch.push((lpn, self.map[lpn as usize]));
        }
        let done = self.program_host_unit(now, from, &batch, Purpose::Map);
        self.batch = batch;
        done
    }

    /// Programs one unit at the host frontier; returns where it went and when it ends.
    fn program_host_unit(
        &mut self,
        now: u64,
        from: u64,
        batch: &[(u32, u32)],
        purpose: Purpose,
    ) -> (Target, u64) {
        let slc = self.host_slc.open().is_some();
        let target = if slc {
            self.host_slc.take(&self.nand)
        } else {
            self.spend_credits();
            self.host_native.take(&self.nand)
        };
        let end = self.program(now, from, target, batch, purpose);
        let frontier = if slc {
            &mut self.host_slc
        } else {
            &mut self.host_native
        };
        if let Some(full) = frontier.close_if_full() {
            self.state[full as usize] = State::Full;
        }
        (target, end)
    }

    /// Fills up the word line that a unit `at` a die of the host's native superblock began, if
    /// it is half done; returns the end of the last program (`from` when there was none).
    fn close_word_line(&mut self, now: u64, from: u64, at: Target) -> u64 {
        let mut end = from;
        while self.close_word_lines && self.host_native.open() == Some((at.superblock, at.mode)) {
            let row = self.nand.next_row(at.superblock, at.die);
            if self.nand.geometry.page_kind(row) == 0 {
                break;
            }
            self.earn_credits(now, from);
            self.spend_credits();
            let target = self.host_native.take_on(at.die, &self.nand);
            end = self.program(now, from, target, &[], Purpose::Host);
            if let Some(full) = self.host_native.close_if_full() {
                self.state[full as usize] = State::Full;
            }
        }
        end
    }

    /// Programs `batch` (logical slot, map value of the copy it replaces) as one unit, maps it.
    fn program(
        &mut self,
        now: u64,
        from: u64,
        at: Target,
        batch: &[(u32, u32)],
        purpose: Purpose,
    ) -> u64 {
        let done = self
            .nand
            .program(now, from, at.superblock, at.die, at.row, at.mode);
        let first = self.nand.geometry.first_slot(at.superblock, at.row, at.die);
        let moved = matches!(purpose, Purpose::Relocation | Purpose::Fold);
        for (ppn, &(lpn, old)) in (first..).zip(batch) {
            self.invalidate(old);
            let value = self.map[lpn as usize];
            if moved && value != old {
                // Newer data waits in the buffer; this copy is what it will replace.
                self.ring.set_old(value - BUFFERED, old, ppn + 1);
            } else {
                self.map[lpn as usize] = ppn + 1;
            }
            self.owner[ppn as usize] = lpn;
            self.valid[ppn as usize / 64] |= 1 << (ppn % 64);
        }
        self.valid_count[at.superblock as usize] += batch.len() as u32;
        self.count_program(batch.len() as u64, purpose, at.mode, done.erased);
        done.end
    }

    fn count_program(&mut self, slots: u64, purpose: Purpose, mode: Mode, erased: bool) {
        let unit = u64::from(self.nand.geometry.slots_per_unit);
        let c = &mut self.counters;
        c.nand_programs += 1;
        c.nand_erases += u64::from(erased);
        c.slots_padding += unit - slots;
        match purpose {
            Purpose::Host => c.slots_host += slots,
            Purpose::Map => c.slots_map += slots,
            Purpose::Relocation => c.slots_relocated += slots,
            Purpose::Fold => c.slots_folded += slots,
        }
        if mode == Mode::Slc {
            c.slots_slc_mode += unit;
        }
    }

    /// Forgets everything and erases the media; returns when that is done.
    pub fn secure_erase(&mut self, from: u64) -> u64 {
        self.map.fill(UNMAPPED);
        self.written_end = 0;
        self.valid.fill(0);
        self.valid_count.fill(0);
        self.state.fill(State::Free);
        let count = self.state.len() as u32;
        let slc = self.mode.iter().filter(|&&mode| mode == Mode::Slc).count() as u32;
        self.free_slc = (0..slc).collect();
        self.free = (slc..count).collect();
        self.host_slc = Frontier::default();
        self.host_native = Frontier::default();
        self.relocation = Frontier::default();
        while self.ring.pop().is_some() {}
        self.reclaim = Mover::new(Purpose::Relocation);
        self.fold = Mover::new(Purpose::Fold);
        self.credits = 0;
        self.journal.pending = 0;
        self.counters.nand_erases += u64::from(count) * u64::from(self.nand.geometry.die_count);
        self.nand.erase_all(from)
    }
}
