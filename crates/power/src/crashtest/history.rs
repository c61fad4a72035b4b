//! What every sector may read as after a cut, worked out from the stream alone.
//!
//! The oracle of `ssdlab_ssd::drive::power` follows one drive command by command. A campaign has
//! one stream and thousands of cuts in it, so here the same contract is a question about the
//! stream: the values that a sector had, newest first, back to the last one that was promised
//! when the power went. A test holds both against each other.

use super::stream::CommandStream;
use ssdlab_ssd::command::{Command, Op};
use ssdlab_ssd::drive::power::{BrokenPromise, PowerDrive, Promise, SectorClass};
use ssdlab_ssd::nand::media::{Content, SlotContent};
use std::collections::BTreeMap;

/// Sectors of a mapping unit that a command changes: from, up to.
type UnitSectors = (u32, u32);

/// A change of a mapping unit.
#[derive(Clone, Copy, Debug)]
struct UnitChange {
    /// Index of the command.
    command: u32,
    sectors: UnitSectors,
}

impl UnitChange {
    fn changes(&self, sector: u32) -> bool {
        (self.sectors.0..self.sectors.1).contains(&sector)
    }
}

/// A piece of a command: the part of it in one mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandPiece {
    /// Index of the command in the stream.
    pub command: u32,
    /// The mapping unit.
    pub unit: u32,
}

/// How far the stream had come when the power went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamProgress {
    /// Of each command that was submitted: how many were submitted when it completed; `None`: it
    /// was in flight.
    pub done: Vec<Option<u32>>,
}

impl StreamProgress {
    /// Number of commands submitted.
    pub fn submitted(&self) -> usize {
        self.done.len()
    }

    /// How many commands were submitted when one completed; `None`: it did not.
    fn done_by(&self, command: u32) -> Option<u32> {
        self.done.get(command as usize).copied().flatten()
    }

    /// Whether a command had completed.
    pub fn is_done(&self, command: usize) -> bool {
        self.done_by(command as u32).is_some()
    }
}

/// What was found on a recovered drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryFindings {
    /// Promises that were not kept, the first [`BROKEN_MAX`].
    pub broken: Vec<BrokenPromise>,
    /// How many there are.
    pub broken_count: u64,
    /// Sectors that read as an older value, as they may.
    pub older: u64,
    /// Pieces of commands whose effect is not there.
    pub lost: Vec<CommandPiece>,
}

/// Broken promises that are kept in full.
pub const BROKEN_MAX: usize = 16;

/// Every change of every mapping unit that a stream makes.
#[derive(Clone, Debug)]
pub struct UnitHistory {
    protected: bool,
    sectors_per_unit: u32,
    /// Number of the drive's last command before the stream.
    base_number: u64,
    /// Earlier contents of the drive, where there were any.
    base: BTreeMap<u32, Content>,
    units: u32,
    changes: BTreeMap<u32, Vec<UnitChange>>,
    commands: Vec<Command>,
    /// Indices of the FLUSHes.
    flushes: Vec<u32>,
}

impl UnitHistory {
    /// Of a stream that is played on `base`.
    pub fn new(stream: &CommandStream, base: &PowerDrive) -> UnitHistory {
        let config = base.config();
        let slot = config.shape.slot_bytes;
        let units = (config.user_bytes / u64::from(slot)) as u32;
        let number = base.smart().number;
        let held = |unit| {
            base.content(unit)
                .map(|content| (unit, Some(content.clone())))
        };
        let mut history = UnitHistory {
            protected: config.buffer.protected,
            sectors_per_unit: slot / 512,
            base_number: number,
            base: if number == 0 {
                BTreeMap::new()
            } else {
                (0..units).filter_map(held).collect()
            },
            units,
            changes: BTreeMap::new(),
            commands: stream.commands.iter().map(|r| r.command).collect(),
            flushes: Vec::new(),
        };
        for index in 0..history.commands.len() as u32 {
            history.note(index);
        }
        history
    }

    fn note(&mut self, index: u32) {
        let command = self.commands[index as usize];
        match command.op {
            Op::Flush => self.flushes.push(index),
            Op::Read => {}
            Op::Write | Op::Trim | Op::WriteZeroes => {
                for (unit, sectors) in parts(&command, self.sectors_per_unit) {
                    let changes = self.changes.entry(unit).or_default();
                    changes.push(UnitChange {
                        command: index,
                        sectors,
                    });
                }
            }
        }
    }

    /// The FLUSHes of the stream around a command: the last before it and the first after it.
    pub fn flushes_around(&self, command: u32) -> (Option<u32>, Option<u32>) {
        let next = self.flushes.partition_point(|&flush| flush < command);
        let before = next.checked_sub(1).map(|last| self.flushes[last]);
        (before, self.flushes.get(next).copied())
    }

    /// The command that has promised a change when the power was cut, if any.
    fn promise(&self, change: u32, reached: &StreamProgress) -> Option<Promise> {
        let done_by = reached.done_by(change)?;
        let number = |index: u32| u64::from(index) + 1;
        let command = &self.commands[change as usize];
        if self.protected {
            return Some(Promise::Completion(number(change)));
        }
        if command.fua && command.op != Op::Trim {
            return Some(Promise::Fua(number(change)));
        }
        // A FLUSH covers what had completed when it was submitted.
        let first = self.flushes.partition_point(|&flush| flush < done_by);
        let mut later = self.flushes[first..].iter();
        let flush = later.find(|&&flush| reached.is_done(flush as usize))?;
        Some(Promise::Flush(number(*flush)))
    }

    /// Whether a command's changes were promised.
    pub fn is_promised(&self, command: u32, reached: &StreamProgress) -> bool {
        self.promise(command, reached).is_some()
    }

    /// The value that a command gives to a sector, as reports number it.
    fn value(&self, change: u32) -> u64 {
        match self.commands[change as usize].op {
            Op::Write => u64::from(change) + 1,
            _ => 0,
        }
    }

    /// The drive's number of a write as the stream's; what lay there before keeps its own, marked.
    fn in_stream(&self, found: u64) -> u64 {
        if found == 0 {
            0
        } else {
            found
                .checked_sub(self.base_number)
                .filter(|&n| n > 0)
                .unwrap_or(found | BEFORE)
        }
    }

    fn base_value(&self, unit: u32, sector: u32) -> u64 {
        let content = self.base.get(&unit).and_then(|content| content.as_ref());
        let number = content.map_or(0, |content| content.numbers[sector as usize]);
        self.in_stream(number)
    }

    /// Looks at every sector of a recovered drive.
    pub fn look<'a>(
        &self,
        reached: &StreamProgress,
        read: impl Fn(u32) -> Option<&'a SlotContent>,
    ) -> RecoveryFindings {
        let mut look = RecoveryFindings::default();
        for unit in 0..self.units {
            let changes = self.changes_of(unit);
            let seen = changes.partition_point(|c| (c.command as usize) < reached.submitted());
            let content = read(unit);
            if seen == 0 && content.is_none() && self.base.is_empty() {
                continue;
            }
            self.look_at_unit(unit, &changes[..seen], reached, content, &mut look);
        }
        look.lost.sort_unstable();
        look
    }

    /// Looks for sectors that changed between two recoveries, with no command in between: what a
    /// recovery has found is promised. `held`: what the drive held after the first.
    pub fn look_again<'a>(
        &self,
        held: &[(u32, Content)],
        read: impl Fn(u32) -> Option<&'a SlotContent>,
        look: &mut RecoveryFindings,
    ) {
        let held: BTreeMap<u32, &Content> = held.iter().map(|(unit, c)| (*unit, c)).collect();
        let number = |content: Option<&SlotContent>, sector: u32| {
            self.in_stream(content.map_or(0, |c| c.numbers[sector as usize]))
        };
        for unit in 0..self.units {
            let before = held.get(&unit).and_then(|content| content.as_ref());
            let after = read(unit);
            for sector in 0..self.sectors_per_unit {
                let (promised, found) = (number(before, sector), number(after, sector));
                if promised == found {
                    continue;
                }
                look.broken_count += 1;
                if look.broken.len() < BROKEN_MAX {
                    look.broken.push(BrokenPromise {
                        sector: u64::from(unit) * u64::from(self.sectors_per_unit)
                            + u64::from(sector),
                        by: Promise::Recovery(1),
                        promised,
                        found,
                        class: self.class(self.changes_of(unit), sector, found),
                    });
                }
            }
        }
    }

    fn changes_of(&self, unit: u32) -> &[UnitChange] {
        self.changes.get(&unit).map_or(&[], Vec::as_slice)
    }

    fn look_at_unit(
        &self,
        unit: u32,
        changes: &[UnitChange],
        reached: &StreamProgress,
        content: Option<&SlotContent>,
        look: &mut RecoveryFindings,
    ) {
        let mut lost: Vec<u32> = Vec::new();
        for sector in 0..self.sectors_per_unit {
            let number = content.map_or(0, |c| c.numbers[sector as usize]);
            let number = self.in_stream(number);
            let mut passed: Vec<u32> = Vec::new();
            let of_sector = changes.iter().rev().filter(|c| c.changes(sector));
            let mut due = (self.base_value(unit, sector), Promise::Factory);
            let mut is_there = false;
            for change in of_sector {
                if self.value(change.command) == number {
                    is_there = true;
                    break;
                }
                passed.push(change.command);
                if let Some(by) = self.promise(change.command, reached) {
                    due = (self.value(change.command), by);
                    break;
                }
            }
            let is_promised = due.1 != Promise::Factory;
            if is_there || (!is_promised && number == due.0) {
                look.older += u64::from(!passed.is_empty());
            } else {
                look.broken_count += 1;
                if look.broken.len() < BROKEN_MAX {
                    look.broken.push(BrokenPromise {
                        sector: u64::from(unit) * u64::from(self.sectors_per_unit)
                            + u64::from(sector),
                        by: due.1,
                        promised: due.0,
                        found: number,
                        class: self.class(changes, sector, number),
                    });
                }
            }
            lost.extend(passed);
        }
        lost.sort_unstable();
        lost.dedup();
        let pieces = lost
            .into_iter()
            .map(|command| CommandPiece { command, unit });
        look.lost.extend(pieces);
    }

    /// What a value that may not be there is.
    fn class(&self, changes: &[UnitChange], sector: u32, found: u64) -> SectorClass {
        let mut of_sector = changes.iter().filter(|c| c.changes(sector));
        if found == 0 {
            SectorClass::Lost
        } else if found & BEFORE != 0 || of_sector.any(|c| self.value(c.command) == found) {
            SectorClass::Older
        } else {
            SectorClass::Torn
        }
    }
}

/// The bit of a value that was there before the stream, or that no write ever had.
const BEFORE: u64 = 1 << 62;

/// The mapping units that a command changes, with the sectors in each. TRIM and write zeroes take
/// whole units.
pub fn parts(command: &Command, sectors_per_unit: u32) -> impl Iterator<Item = (u32, UnitSectors)> {
    let per_unit = u64::from(sectors_per_unit);
    let mut first = command.offset / 512;
    let mut end = first + u64::from(command.len) / 512;
    if command.op != Op::Write {
        end = end / per_unit * per_unit;
        first = first.next_multiple_of(per_unit).min(end);
    }
    let units = if first < end {
        first / per_unit..end.div_ceil(per_unit)
    } else {
        0..0
    };
    units.map(move |unit| {
        let begin = unit * per_unit;
        let low = first.max(begin) - begin;
        let high = end.min(begin + per_unit) - begin;
        (unit as u32, (low as u32, high as u32))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_large_units_are_whole() {
        // Units of 64 KiB, 128 sectors: more than fit into a word of bits.
        let write = Command::write(60 * 1024, 70 * 1024);
        let found: Vec<_> = parts(&write, 128).collect();
        assert_eq!(found, [(0, (120, 128)), (1, (0, 128)), (2, (0, 4))]);
        let trim = Command {
            op: Op::Trim,
            ..write
        };
        let found: Vec<_> = parts(&trim, 128).collect();
        assert_eq!(found, [(1, (0, 128))]);
    }
}
