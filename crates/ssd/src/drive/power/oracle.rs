//! The oracle: a record, outside of the drive, of its promises and whether they were kept.
//!
//! A plain list per sector: the value it last promised to keep, and all values written since, in
//! the order of submission (the drive changes its map in that order). After a cut a sector may read
//! as exactly one of these. A promise removes older values from the list:
//!
//! - a FUA write that completes promises itself;
//! - a FLUSH that completes promises what had completed when it was submitted;
//! - on a protected drive every completion is a promise;
//! - after a recovery, the values found are promised: a sector changes only by a write.

use crate::command::{Command, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Origin of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// None: the sector was never written.
    Factory,
    /// The FUA write of this number.
    Fua(u64),
    /// The FLUSH of this number.
    Flush(u64),
    /// The completion of the command of this number, on a protected drive.
    Completion(u64),
    /// The recovery of this number, after which the sector read as this value.
    Recovery(u64),
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Factory => f.write_str("the factory"),
            Promise::Fua(number) => write!(f, "FUA write #{number}"),
            Promise::Flush(number) => write!(f, "FLUSH #{number}"),
            Promise::Completion(number) => write!(f, "the completion of command #{number}"),
            Promise::Recovery(number) => write!(f, "recovery {number}"),
        }
    }
}

/// Class of a sector's value after a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectorClass {
    /// The last value written.
    Current,
    /// An older value that was once written there.
    Older,
    /// No value, though it had one.
    Lost,
    /// A value that was never written there.
    Torn,
    /// No value, and it was never written.
    NeverWritten,
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPromise {
    /// Sector of 512 bytes.
    pub sector: u64,
    /// Origin of the promise.
    pub by: Promise,
    /// The promised value; this or a newer one was required.
    pub promised: u64,
    /// The value found.
    pub found: u64,
    /// Class of the value found.
    pub class: SectorClass,
}

/// Part of a command in one mapping unit, whose effect is not there after a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostPart {
    /// Number of the command.
    pub number: u64,
    /// The mapping unit.
    pub unit: u64,
}

/// Findings after a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Every sector touched, with its class.
    pub sectors: Vec<(u64, SectorClass)>,
    /// Promises that were not kept.
    pub broken: Vec<BrokenPromise>,
    /// Commands whose effect on some sector of a unit is not there, as it may be or not.
    pub lost: Vec<LostPart>,
}

impl Report {
    /// Number of sectors of a class.
    pub fn count(&self, class: SectorClass) -> usize {
        self.sectors
            .iter()
            .filter(|sector| sector.1 == class)
            .count()
    }
}

/// A change of a sector: the command and the new value.
#[derive(Clone, Copy, Debug)]
struct SectorChange {
    number: u64,
    value: u64,
    completed: bool,
}

#[derive(Clone, Debug)]
struct SectorHistory {
    /// Values since the last promise; the first is the promised one.
    changes: Vec<SectorChange>,
    by: Promise,
    /// Every value ever written.
    values: Vec<u64>,
}

/// The sectors of a mapping unit.
#[derive(Clone, Debug)]
enum UnitHistory {
    /// All have the same history.
    Same(SectorHistory),
    /// One each; `None`: never touched.
    Each(Vec<Option<SectorHistory>>),
}

impl UnitHistory {
    /// Every history, with the sectors of the unit that have it.
    fn parts(&self, count: u64) -> impl Iterator<Item = (Range<u64>, &SectorHistory)> {
        let (same, each) = match self {
            UnitHistory::Same(sector) => (Some((0..count, sector)), &[][..]),
            UnitHistory::Each(sectors) => (None, &sectors[..]),
        };
        let numbered = (0..).zip(each);
        let single = numbered.filter_map(|(at, sector)| Some((at..at + 1, sector.as_ref()?)));
        same.into_iter().chain(single)
    }

    /// Changes the sectors of a range that have been touched, or all of it with `touch`.
    fn change(
        &mut self,
        range: Range<u64>,
        count: u64,
        touch: bool,
        mut change: impl FnMut(&mut SectorHistory),
    ) {
        if let UnitHistory::Same(sector) = self {
            if range == (0..count) {
                change(sector);
                return;
            }
            *self = UnitHistory::Each(vec![Some(sector.clone()); count as usize]);
        }
        let UnitHistory::Each(sectors) = self else {
            return;
        };
        for sector in &mut sectors[range.start as usize..range.end as usize] {
            if touch {
                change(sector.get_or_insert_with(SectorHistory::from_the_factory));
            } else if let Some(sector) = sector {
                change(sector);
            }
        }
    }
}

/// A part of a mapping unit: the unit, and its sectors.
type UnitPart = (u64, Range<u64>);

/// The value of a sector as read after a recovery.
struct SectorReading {
    sector: u64,
    unit: u64,
    value: u64,
    class: SectorClass,
}

/// A command in progress.
#[derive(Clone, Debug)]
struct PendingCommand {
    number: u64,
    command: Command,
    /// FLUSH: parts, each with the last change completed when it was submitted.
    covers: Vec<(UnitPart, u64)>,
}

/// Lies of an oracle, to test its users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lie {
    /// No lie.
    #[default]
    None,
    /// It treats every completion as a promise.
    PromisesTooMuch,
    /// It reports no broken promise.
    SeesNothing,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Oracle {
    protected: bool,
    slot_sectors: u64,
    /// By mapping unit; shared between forks until one of them changes it.
    units: BTreeMap<u64, Arc<UnitHistory>>,
    /// Units that may have changes without a promise.
    open: BTreeSet<u64>,
    pending: BTreeMap<u32, PendingCommand>,
    recoveries: u64,
    lie: Lie,
}

impl Oracle {
    /// Creates the oracle of a drive with mapping units of `slot_bytes` and a `protected` or
    /// volatile buffer.
    pub fn new(slot_bytes: u32, protected: bool) -> Oracle {
        Oracle {
            protected,
            slot_sectors: u64::from(slot_bytes) / 512,
            units: BTreeMap::new(),
            open: BTreeSet::new(),
            pending: BTreeMap::new(),
            recoveries: 0,
            lie: Lie::None,
        }
    }

    /// Makes the oracle lie from now on.
    pub fn lie(&mut self, lie: Lie) {
        self.lie = lie;
    }

    /// Records a submitted command; `number` as [`super::PowerDrive::submit`] returned it.
    pub fn submitted(&mut self, tag: u32, number: u64, command: &Command) {
        let value = if command.op == Op::Write { number } else { 0 };
        let count = self.slot_sectors;
        for (unit, range) in self.parts_changed(command) {
            self.open.insert(unit);
            let new = || {
                Arc::new(if range == (0..count) {
                    UnitHistory::Same(SectorHistory::from_the_factory())
                } else {
                    UnitHistory::Each(vec![None; count as usize])
                })
            };
            let unit = Arc::make_mut(self.units.entry(unit).or_insert_with(new));
            unit.change(range.clone(), count, true, |sector| {
                sector.values.push(value);
                sector.changes.push(SectorChange {
                    number,
                    value,
                    completed: false,
                });
            });
        }
        let covers = if command.op == Op::Flush {
            self.completed_so_far()
        } else {
            Vec::new()
        };
        let pending = PendingCommand {
            number,
            command: *command,
            covers,
        };
        self.pending.insert(tag, pending);
    }

    /// Sectors that a command changes: TRIM and write zeroes take whole mapping units.
    fn changed(&self, command: &Command) -> Range<u64> {
        let first = command.offset / 512;
        let end = first + u64::from(command.len) / 512;
        let slot = self.slot_sectors;
        match command.op {
            Op::Write => first..end,
            Op::Trim | Op::WriteZeroes => {
                let first = first.next_multiple_of(slot);
                first..(end / slot * slot).max(first)
            }
            Op::Read | Op::Flush => 0..0,
        }
    }

    /// The same by mapping unit.
    fn parts_changed(&self, command: &Command) -> impl Iterator<Item = UnitPart> + use<> {
        let (all, count) = (self.changed(command), self.slot_sectors);
        let units = all.start / count..all.end.div_ceil(count);
        units.map(move |unit| {
            let begin = unit * count;
            let end = all.end.min(begin + count);
            (unit, all.start.max(begin) - begin..end - begin)
        })
    }

    fn sector(&self, at: u64) -> Option<&SectorHistory> {
        let unit = self.units.get(&(at / self.slot_sectors))?;
        let mut parts = unit.parts(self.slot_sectors);
        let part = parts.find(|(range, _)| range.contains(&(at % self.slot_sectors)));
        part.map(|(_, sector)| sector)
    }

    fn change(&mut self, part: UnitPart, change: impl FnMut(&mut SectorHistory)) {
        if let Some(unit) = self.units.get_mut(&part.0) {
            Arc::make_mut(unit).change(part.1, self.slot_sectors, false, change);
        }
    }

    /// The values that a sector may have after a cut now, oldest first: the numbers of the writes
    /// that they come from, zero for none.
    pub fn allowed(&self, sector: u64) -> Vec<u64> {
        let values =
            |sector: &SectorHistory| sector.changes.iter().map(|change| change.value).collect();
        self.sector(sector).map_or(vec![0], values)
    }

    /// The value that a sector has at least after a cut now, and by which promise.
    pub fn promised(&self, sector: u64) -> (u64, Promise) {
        let oldest = |sector: &SectorHistory| (sector.changes[0].value, sector.by);
        self.sector(sector).map_or((0, Promise::Factory), oldest)
    }

    fn completed_so_far(&mut self) -> Vec<(UnitPart, u64)> {
        let last = |sector: &SectorHistory| {
            let mut newest_first = sector.changes.iter().rev();
            newest_first
                .find(|change| change.completed)
                .map_or(0, |change| change.number)
        };
        let mut covers = Vec::new();
        let (units, count) = (&self.units, self.slot_sectors);
        self.open.retain(|unit| {
            let before = covers.len();
            let parts = units.get(unit).into_iter().flat_map(|u| u.parts(count));
            let open = parts.filter(|(_, sector)| sector.changes.len() > 1);
            covers.extend(open.map(|(range, sector)| ((*unit, range), last(sector))));
            covers.len() > before
        });
        covers
    }

    /// Records the completion of the command with that tag.
    pub fn completed(&mut self, tag: u32) {
        let Some(pending) = self.pending.remove(&tag) else {
            return;
        };
        let PendingCommand {
            number,
            command,
            covers,
        } = pending;
        for (part, last) in covers {
            self.change(part, |sector| sector.promise(last, Promise::Flush(number)));
        }
        let too_much = self.lie == Lie::PromisesTooMuch;
        let by = if self.protected || too_much {
            Some(Promise::Completion(number))
        } else if command.fua && command.op != Op::Trim {
            Some(Promise::Fua(number))
        } else {
            None
        };
        for part in self.parts_changed(&command) {
            self.change(part, |sector| {
                let mut changes = sector.changes.iter_mut();
                if let Some(change) = changes.find(|change| change.number == number) {
                    change.completed = true;
                }
                if let Some(by) = by {
                    sector.promise(number, by);
                }
            });
        }
    }

    /// Checks every touched sector, as `read` finds it after a recovery. The values found are the
    /// new promises.
    pub fn after_recovery(&mut self, read: impl Fn(u64) -> u64) -> Report {
        self.recoveries += 1;
        self.pending.clear();
        self.open.clear();
        let mut report = Report::default();
        let promise = Promise::Recovery(self.recoveries);
        let silent = self.lie == Lie::SeesNothing;
        let count = self.slot_sectors;
        for (&unit, sectors) in &mut self.units {
            let first = unit * count;
            let mut changed = false;
            for (range, sector) in sectors.parts(count) {
                let mut class = None;
                for at in first + range.start..first + range.end {
                    let value = read(at);
                    if class.is_none_or(|(of, _)| of != value) {
                        class = Some((value, sector.class(value)));
                        changed |= sector.changes.len() > 1 || sector.changes[0].value != value;
                    }
                    let class = class.map_or(SectorClass::Torn, |(_, class)| class);
                    let reading = SectorReading {
                        sector: at,
                        unit,
                        value,
                        class,
                    };
                    sector.judge(&reading, silent, &mut report);
                }
            }
            if changed {
                settle(Arc::make_mut(sectors), count, promise, |at| {
                    read(first + at)
                });
            }
        }
        report.lost.sort_unstable();
        report.lost.dedup();
        report
    }
}

/// The values found are promised from now on.
fn settle(unit: &mut UnitHistory, count: u64, promise: Promise, read: impl Fn(u64) -> u64) {
    let value = read(0);
    let same = (1..count).all(|at| read(at) == value);
    if let (UnitHistory::Same(sector), true) = (&mut *unit, same) {
        sector.settle(value, promise);
        return;
    }
    for at in 0..count {
        unit.change(at..at + 1, count, false, |sector| {
            sector.settle(read(at), promise);
        });
    }
}

impl SectorHistory {
    fn from_the_factory() -> SectorHistory {
        SectorHistory {
            changes: vec![SectorChange {
                number: 0,
                value: 0,
                completed: true,
            }],
            by: Promise::Factory,
            values: Vec::new(),
        }
    }

    fn allows(&self, found: u64) -> bool {
        self.changes.iter().any(|change| change.value == found)
    }

    /// A promise of the change of that number: older values are no longer allowed.
    fn promise(&mut self, number: u64, by: Promise) {
        let mut changes = self.changes.iter();
        let position = changes.position(|change| change.number == number);
        if let Some(position) = position.filter(|&position| position > 0) {
            self.changes.drain(..position);
            self.by = by;
        }
    }

    /// Reports what a sector reads after a recovery.
    fn judge(&self, reading: &SectorReading, silent: bool, report: &mut Report) {
        report.sectors.push((reading.sector, reading.class));
        if !self.allows(reading.value) && !silent {
            report.broken.push(BrokenPromise {
                sector: reading.sector,
                by: self.by,
                promised: self.changes[0].value,
                found: reading.value,
                class: reading.class,
            });
        }
        let newer = self.changes[1..].iter().rev();
        let lost = newer.take_while(|change| change.value != reading.value);
        report.lost.extend(lost.map(|change| LostPart {
            number: change.number,
            unit: reading.unit,
        }));
    }

    fn settle(&mut self, found: u64, promise: Promise) {
        if self.changes.len() > 1 || !self.allows(found) {
            self.by = promise;
        }
        let number = self.changes[0].number;
        self.changes.truncate(1);
        self.changes[0] = SectorChange {
            number,
            value: found,
            completed: true,
        };
    }
    fn class(&self, found: u64) -> SectorClass {
        let last = self.changes.last().map_or(0, |change| change.value);
        if found == last && (found != 0 || !self.values.is_empty()) {
            SectorClass::Current
        } else if found == 0 {
            if self.values.iter().all(|&value| value == 0) {
                SectorClass::NeverWritten
            } else if self.changes.iter().any(|change| change.value == 0) {
                SectorClass::Older
            } else {
                SectorClass::Lost
            }
        } else if self.values.contains(&found) {
            SectorClass::Older
        } else {
            SectorClass::Torn
        }
    }
}
