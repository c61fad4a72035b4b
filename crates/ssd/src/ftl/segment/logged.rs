//! Hybrid: homes for data written in order, log superblocks for the rest.
//!
//! FAST (S.-W. Lee et al., "A log buffer-based flash translation layer using fully-associative
//! sector translation", 2007), with the segment's open rewrite as its sequential log block:
//!
//! - a whole unit that begins a segment opens a fresh home for it, and whole units that follow in
//!   order go there; when all of the segment is there, the old home is stale without a copy
//!   (switch merge); when another segment begins first, the rest is copied (partial merge);
//! - a whole unit that is the next one of its block in a home goes there;
//! - everything else goes to the log, in the order written, whatever its segment. When the log is
//!   full, its oldest superblock is merged: each segment with valid slots in it is rewritten with
//!   the newest copy of all its slots (full merge).
//!
//! The cost of a write depends on the number of segments that the log's slots belong to, and not on
//! the free space of the drive.

use super::VecDeque;
use super::rewrite::Content;
use super::{
    BUFFERED, Core, DriveConfig, Gear, LOG_TAG, NONE, Placement, Range, Role, Target, Ticket,
};
use crate::image::image_of;
use crate::nand::{Mode, UnitPlace};

/// A log superblock.
#[derive(Clone, Debug)]
struct Log {
    superblock: u32,
    /// The logical slot of each slot programmed, or [`NONE`].
    owners: Vec<u32>,
}

image_of!(Log { superblock, owners });

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Oldest first; the last one is written to.
    logs: VecDeque<Log>,
    most: u32,
}

image_of!(Logged { logs, most });

impl Placement for Logged {
    fn new(config: &DriveConfig) -> Logged {
        Logged {
            logs: VecDeque::new(),
            most: config.ftl.mapping.log_superblocks,
        }
    }

    fn place_oldest<G: Gear>(&mut self, core: &mut Core<G>, from: u64) -> Ticket {
        core.program_due_map(from);
        let Some(oldest) = core.gather.oldest() else {
            return Ticket::default();
        };
        let at = core.target(oldest.lpn);
        let mut slots = core.slots_of(at);
        if slots.all(|lpn| core.table[lpn as usize] >= BUFFERED)
            && let Some(ticket) = place_home(core, from, at, &(0..0), false)
        {
            return ticket;
        }
        // Merging also takes the buffered slots of the merged segments, so the buffer may be empty
        // afterwards.
        let place = self.take_unit(core, from);
        self.log(core, from, place, 0..0, false)
    }

    fn place_fresh<G: Gear>(&mut self, core: &mut Core<G>, from: u64, fresh: Range<u32>) -> Ticket {
        core.program_due_map(from);
        let at = core.target(fresh.start);
        if core.slots_of(at) == fresh
            && let Some(ticket) = place_home(core, from, at, &fresh, true)
        {
            return ticket;
        }
        let place = self.take_unit(core, from);
        self.log(core, from, place, fresh, true)
    }

    fn superblocks(&self) -> impl Iterator<Item = u32> {
        self.logs.iter().map(|log| log.superblock)
    }

    fn owns(&self, lpn: u32, superblock: u32, slot: u32) -> bool {
        let mut logs = self.logs.iter();
        let log = logs.find(|log| log.superblock == superblock);
        log.is_some_and(|log| log.owners.get(slot as usize) == Some(&lpn))
    }

    fn clear(&mut self) {
        self.logs.clear();
    }

    fn logs_max(&self) -> usize {
        self.most as usize
    }

    fn take_logs(&mut self, logs: Vec<(u32, Vec<u32>)>) {
        let log = |(superblock, owners)| Log { superblock, owners };
        self.logs = logs.into_iter().map(log).collect();
    }
}

/// Programs a whole unit in its segment's home if it is the next in order there.
fn place_home<G: Gear>(
    core: &mut Core<G>,
    from: u64,
    at: Target,
    fresh: &Range<u32>,
    firm: bool,
) -> Option<Ticket> {
    let home = core.home[at.segment as usize];
    let in_order = match core.rewrite {
        Some(rewrite) if rewrite.segment == at.segment => rewrite.next == at.unit,
        _ => home != NONE && core.is_next(at),
    };
    if !in_order {
        if at.unit > 0 {
            return None;
        }
        core.finish_rewrite(from);
        if core.home[at.segment as usize] == NONE {
            core.give_home(at.segment);
        } else {
            core.begin_rewrite(at.segment);
        }
    }
    let ticket = core.program(from, at, fresh, firm);
    core.pass(at);
    Some(ticket)
}

impl Logged {
    /// Takes the next unit of the log, making room for it.
    fn take_unit<G: Gear>(&mut self, core: &mut Core<G>, from: u64) -> UnitPlace {
        let full = core.nand.geometry.slots_per_superblock as usize;
        if self.logs.back().is_none_or(|log| log.owners.len() == full) {
            if self.logs.len() as u32 == self.most {
                self.merge_oldest(core, from);
            }
            self.logs.push_back(Log {
                superblock: core.take_free(Role::Log),
                owners: Vec::with_capacity(full),
            });
        }
        let log = self.logs.back().expect("a log superblock is open");
        let unit = log.owners.len() as u32 / core.nand.geometry.slots_per_unit;
        UnitPlace {
            superblock: log.superblock,
            row: unit / core.nand.geometry.die_count,
            die: unit % core.nand.geometry.die_count,
            mode: Mode::Native,
        }
    }

    /// Programs `fresh`, or the oldest buffered slots, to the log.
    fn log<G: Gear>(
        &mut self,
        core: &mut Core<G>,
        from: u64,
        place: UnitPlace,
        fresh: Range<u32>,
        firm: bool,
    ) -> Ticket {
        let unit = core.nand.geometry.slots_per_unit;
        let first = core
            .nand
            .geometry
            .first_slot(place.superblock, place.row, place.die);
        let log = self.logs.back_mut().expect("a log superblock is open");
        let mut content = Content::default();
        let begin = log.owners.len();
        let mut next = fresh.clone();
        let mut kept = Vec::new();
        while content.host < unit {
            let (lpn, old) = if fresh.is_empty() {
                let Some(entry) = core.gather.pop() else {
                    break;
                };
                content.buffered += 1;
                (entry.lpn, entry.old)
            } else {
                let Some(lpn) = next.next() else { break };
                let (old, buffered) = core.take_out(lpn);
                core.released += u32::from(buffered);
                (lpn, old)
            };
            core.remember_slot(&mut kept, content.host, lpn, None);
            core.invalidate(old);
            core.table[lpn as usize] = first + content.host + 1;
            log.owners.push(lpn);
            content.host += 1;
        }
        if content.host == 0 {
            return Ticket::default();
        }
        log.owners.resize(begin + unit as usize, NONE);
        core.map_log.change(content.host);
        let ticket = core.program_at(from, place, content, firm);
        core.remember_program(place.die, LOG_TAG, kept);
        for lpn in &log.owners[begin..begin + content.host as usize] {
            core.settle(core.target(*lpn).segment);
        }
        ticket
    }

    /// Does full merges of all segments with valid slots in the oldest log superblock, which
    /// becomes free.
    fn merge_oldest<G: Gear>(&mut self, core: &mut Core<G>, from: u64) {
        let Some(log) = self.logs.front() else {
            return;
        };
        let first = log.superblock * core.nand.geometry.slots_per_superblock;
        for (value, &lpn) in (first + 1..).zip(&log.owners) {
            if core.valid[log.superblock as usize] == 0 {
                break;
            }
            if lpn != NONE && core.copy_on_media(lpn) == value {
                core.merge(from, core.target(lpn).segment);
            }
        }
        core.counters.victims += 1;
        core.counters.superblocks_reclaimed += 1;
        core.release(log.superblock);
        self.logs.pop_front();
    }
}
