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
use std::collections::BTreeMap;

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

/// Findings after a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Every sector touched, with its class.
    pub sectors: Vec<(u64, SectorClass)>,
    /// Promises that were not kept.
    pub broken: Vec<BrokenPromise>,
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
struct Change {
    number: u64,
    value: u64,
    completed: bool,
}

#[derive(Clone, Debug)]
struct Sector {
    /// Values since the last promise; the first is the promised one.
    changes: Vec<Change>,
    by: Promise,
    /// Every value ever written.
    values: Vec<u64>,
}

/// A command in progress.
#[derive(Clone, Debug)]
struct Pending {
    number: u64,
    command: Command,
    /// FLUSH: sectors, each with the last change completed when it was submitted.
    covers: Vec<(u64, u64)>,
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
    sectors: BTreeMap<u64, Sector>,
    pending: BTreeMap<u32, Pending>,
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
            sectors: BTreeMap::new(),
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
        for sector in self.changed(command) {
            let entry = self.sectors.entry(sector).or_insert_with(|| Sector {
                changes: vec![Change {
                    number: 0,
                    value: 0,
                    completed: true,
                }],
                by: Promise::Factory,
                values: Vec::new(),
            });
            entry.values.push(value);
            entry.changes.push(Change {
                number,
                value,
                completed: false,
            });
        }
        let covers = if command.op == Op::Flush {
            self.completed_so_far()
        } else {
            Vec::new()
        };
        let pending = Pending {
            number,
            command: *command,
            covers,
        };
        self.pending.insert(tag, pending);
    }

    /// Sectors that a command changes: TRIM and write zeroes take whole mapping units.
    fn changed(&self, command: &Command) -> std::ops::Range<u64> {
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

    fn completed_so_far(&self) -> Vec<(u64, u64)> {
        let last = |sector: &Sector| {
            let mut done = sector.changes.iter().rev();
            done.find(|change| change.completed)
                .map_or(0, |change| change.number)
        };
        let sectors = self.sectors.iter();
        let open = sectors.filter(|(_, sector)| sector.changes.len() > 1);
        open.map(|(&at, sector)| (at, last(sector))).collect()
    }

    /// Records the completion of the command with that tag.
    pub fn completed(&mut self, tag: u32) {
        let Some(pending) = self.pending.remove(&tag) else {
            return;
        };
        let Pending {
            number,
            command,
            covers,
        } = pending;
        for (at, last) in covers {
            self.promise(at, last, Promise::Flush(number));
        }
        let too_much = self.lie == Lie::PromisesTooMuch;
        let durable = command.fua && command.op != Op::Trim;
        for at in self.changed(&command) {
            if let Some(sector) = self.sectors.get_mut(&at) {
                let mut changes = sector.changes.iter_mut();
                if let Some(change) = changes.find(|change| change.number == number) {
                    change.completed = true;
                }
            }
            if self.protected || too_much {
                self.promise(at, number, Promise::Completion(number));
            } else if durable {
                self.promise(at, number, Promise::Fua(number));
            }
        }
    }

    fn promise(&mut self, at: u64, number: u64, by: Promise) {
        let Some(sector) = self.sectors.get_mut(&at) else {
            return;
        };
        let found = sector
            .changes
            .iter()
            .position(|change| change.number == number);
        if let Some(position) = found.filter(|&position| position > 0) {
            sector.changes.drain(..position);
            sector.by = by;
        }
    }

    /// Checks every touched sector, as `read` finds it after a recovery. The values found are the
    /// new promises.
    pub fn after_recovery(&mut self, read: impl Fn(u64) -> u64) -> Report {
        self.recoveries += 1;
        self.pending.clear();
        let mut report = Report::default();
        let promise = Promise::Recovery(self.recoveries);
        for (&at, sector) in &mut self.sectors {
            let found = read(at);
            let allowed = sector.changes.iter().any(|change| change.value == found);
            let class = sector.class(found);
            report.sectors.push((at, class));
            if !allowed && self.lie != Lie::SeesNothing {
                report.broken.push(BrokenPromise {
                    sector: at,
                    by: sector.by,
                    promised: sector.changes[0].value,
                    found,
                    class,
                });
            }
            if sector.changes.len() > 1 || !allowed {
                sector.by = promise;
            }
            sector.changes = vec![Change {
                number: sector.changes[0].number,
                value: found,
                completed: true,
            }];
        }
        report
    }
}

impl Sector {
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
