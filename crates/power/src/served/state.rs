//! One command at a time on the drive: triggers, the drive, the ledger, the files.

use super::ledger::SectorLedger;
use super::medium::ServedMedium;
use ssdlab_base::LabError;
use ssdlab_drives::keep::directory::WriteLanding;
use ssdlab_serve::{
    CutMoment, CutNote, CutTrigger, FlushSide, PowerError, PowerStatus, ReadPiece, StepNote,
    StoreError, StoreExtent, ZeroFlags,
};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::drive::power::{Cut, DataError};
use ssdlab_ssd::nand::media::SECTOR_BYTES;
use ssdlab_ssd::rng::Rng;
use std::ops::Range;

const SECTOR: u64 = SECTOR_BYTES as u64;

/// Everything behind the lock.
#[derive(Debug)]
pub(super) struct ServedState {
    pub medium: ServedMedium,
    ledger: SectorLedger,
    trigger: CutTrigger,
    status: PowerStatus,
    /// Draws how far into a flush a cut falls.
    rng: Rng,
    /// Why nothing works any more: what holds the data failed.
    broken: Option<String>,
    /// Why nothing is acknowledged until there is room again.
    full: Option<String>,
    /// Shut down, for good.
    closed: bool,
}

/// How far into a flush cuts fall.
fn cut_shares(seed: u64) -> Rng {
    Rng::named(seed, "served: cuts inside flushes")
}

impl ServedState {
    pub fn new(mut medium: ServedMedium, seed: u64) -> ServedState {
        medium.data().drive_mut().keep_before_cuts();
        let drive = medium.drive();
        let status = PowerStatus {
            powered: drive.is_on(),
            ..PowerStatus::default()
        };
        ServedState {
            ledger: SectorLedger::new(drive),
            trigger: CutTrigger::default(),
            status,
            rng: cut_shares(seed),
            broken: None,
            full: None,
            closed: false,
            medium,
        }
    }

    /// Draws from another seed from now on.
    pub fn seed(&mut self, seed: u64) {
        self.rng = cut_shares(seed);
    }

    /// Whether commands can be taken. Where there was no room for the last, it looks for some.
    pub fn ready(&mut self) -> Result<(), StoreError> {
        if self.full.is_some() || self.broken.is_some() {
            self.settle()?;
        }
        if self.status.powered {
            Ok(())
        } else {
            Err(StoreError::Off)
        }
    }

    pub fn is_on(&self) -> bool {
        self.status.powered
    }

    pub fn status(&self) -> PowerStatus {
        PowerStatus {
            nand_ops: Some(self.medium.drive().media().booked_count()),
            armed: self.trigger.armed().cloned(),
            trouble: self.trouble(),
            ..self.status.clone()
        }
    }

    /// Why nothing is acknowledged, or what else must be mended soon.
    fn trouble(&self) -> Option<String> {
        let why = match (&self.broken, &self.full) {
            (Some(why), _) if !self.closed => format!("nothing is acknowledged any more: {why}"),
            (_, Some(why)) => format!("nothing is acknowledged until there is room: {why}"),
            _ => {
                let why = self.medium.put_off()?;
                format!("no room for a checkpoint, the logs grow on: {why}")
            }
        };
        Some(why)
    }

    pub fn arm(&mut self, at: Option<CutMoment>) {
        let nth = match at {
            Some(CutMoment::NandOp { nth }) => Some(nth),
            _ => None,
        };
        self.medium.data().aim_at(nth);
        self.trigger.arm(at);
    }

    // Commands. Each returns how long it took, in virtual time.

    pub fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<Nanos, StoreError> {
        let result = self.medium.data().read(offset, into);
        self.did_nothing(result, false)
    }

    pub fn read_onto(
        &mut self,
        offset: u64,
        length: usize,
        into: &mut Vec<u8>,
    ) -> Result<Nanos, StoreError> {
        let result = self.medium.data().read_onto(offset, length, into);
        self.did_nothing(result, false)
    }

    pub fn read_pieces(
        &mut self,
        offset: u64,
        length: usize,
        take: &mut dyn FnMut(ReadPiece<'_>),
    ) -> Result<Nanos, StoreError> {
        let data = self.medium.data();
        let result = data.read_parts(offset, length, |found, length| {
            take(found.map_or(ReadPiece::Zeroes(length), ReadPiece::Bytes));
        });
        self.did_nothing(result, false)
    }

    pub fn write(&mut self, offset: u64, from: &[u8], fua: bool) -> Result<Nanos, StoreError> {
        if self.trigger.before_write(from) {
            return self.cut_instead("a magic write");
        }
        let len = from.len() as u64;
        self.begin(sectors(offset, len));
        let result = self.medium.data().write(offset, from, fua);
        let took = self.changed(result, offset, len, fua)?;
        self.written(offset, len, took)
    }

    /// A write whose bytes were received into places of the directory.
    pub fn write_landed(
        &mut self,
        offset: u64,
        landing: WriteLanding,
        fua: bool,
    ) -> Result<Nanos, StoreError> {
        if let Some(CutMoment::Magic { text }) = self.trigger.armed()
            && self.trigger.before_write(&landing.begins_with(text.len()))
        {
            return self.cut_instead("a magic write");
        }
        let ServedMedium::Directory(dir) = &mut self.medium else {
            return Err(StoreError::Unsupported);
        };
        let len = landing.len() as u64;
        let first = dir.drive().last_number() + 1;
        self.ledger.begin(first, sectors(offset, len));
        let result = dir.write_landed(offset, landing, fua);
        let took = self.changed(result, offset, len, fua)?;
        self.written(offset, len, took)
    }

    /// Where a hole is not wanted, the zeroes are written: few at a time, commands wait meanwhile.
    pub fn write_zeroes(
        &mut self,
        offset: u64,
        len: u64,
        flags: ZeroFlags,
    ) -> Result<Nanos, StoreError> {
        self.begin(sectors(offset, len));
        let data = self.medium.data();
        let result = if flags.no_hole {
            data.write(offset, &vec![0; len as usize], flags.fua)
        } else {
            data.write_zeroes(offset, len, flags.fua)
        };
        let took = self.changed(result, offset, len, flags.fua)?;
        self.written(offset, len, took)
    }

    /// Whole mapping units are forgotten, the rest stays as it is.
    pub fn trim(&mut self, offset: u64, len: u64, fua: bool) -> Result<Nanos, StoreError> {
        let slot = u64::from(self.medium.drive().config().shape.slot_bytes);
        let first = offset.next_multiple_of(slot);
        let len = ((offset + len) / slot * slot).saturating_sub(first);
        if len == 0 {
            return Ok(Nanos::ZERO);
        }
        self.begin(sectors(first, len));
        let data = self.medium.data();
        let result = if fua {
            data.write_zeroes(first, len, true)
        } else {
            data.trim(first, len)
        };
        self.changed(result, first, len, fua)
    }

    pub fn flush(&mut self) -> Result<Nanos, StoreError> {
        match self.trigger.at_flush() {
            Some(FlushSide::Before) => return self.cut_instead("before a flush"),
            Some(FlushSide::Inside) => {
                let share = self.rng.below(1000) as u32;
                let cut = self.medium.data().cut_inside_flush(share);
                let cut = cut.map_err(refused)?;
                self.was_cut("inside a flush", &cut)?;
                return Err(StoreError::Off);
            }
            None => {}
        }
        let result = self.medium.data().flush();
        if result.is_ok() {
            self.ledger.flushed();
        }
        let took = self.did_nothing(result, true)?;
        self.status.flushes += 1;
        Ok(took)
    }

    /// Time passes with nothing to do.
    pub fn rest(&mut self, time: Nanos) -> Result<(), StoreError> {
        self.medium.data().rest(time);
        self.did_nothing(Ok(Nanos::ZERO), false)?;
        self.ready()
    }

    fn begin(&mut self, sectors: Range<u64>) {
        let first = self.medium.drive().last_number() + 1;
        self.ledger.begin(first, sectors);
    }

    /// Ends a command that changed bytes.
    fn changed(
        &mut self,
        done: Result<Nanos, DataError>,
        offset: u64,
        len: u64,
        fua: bool,
    ) -> Result<Nanos, StoreError> {
        if done.is_ok() {
            self.ledger.done(self.medium.drive().last_number(), fua);
        }
        self.struck()?;
        let took = done.map_err(refused)?;
        if self.status.powered {
            let store_result = self.medium.keep_change(offset, len, fua);
            self.kept(store_result)?;
        }
        Ok(took)
    }

    /// Ends a command that changed none.
    fn did_nothing(
        &mut self,
        done: Result<Nanos, DataError>,
        durable: bool,
    ) -> Result<Nanos, StoreError> {
        self.struck()?;
        let took = done.map_err(refused)?;
        if self.status.powered {
            let store_result = self.medium.keep(durable);
            self.kept(store_result)?;
        }
        Ok(took)
    }

    /// A write is done and not yet acknowledged.
    fn written(&mut self, offset: u64, len: u64, took: Nanos) -> Result<Nanos, StoreError> {
        self.status.bytes_written += len;
        if self.trigger.after_write(offset, len) && self.status.powered {
            return self.cut_instead("after a write");
        }
        Ok(took)
    }

    /// Called before any command since the last call is acknowledged.
    ///
    /// Where there is no room, nothing is acknowledged until there is: what was done since waits,
    /// in order. Once something could not be kept for another reason, nothing is acknowledged any
    /// more: what another connection waits for may have been in what was lost.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        if let Some(why) = &self.broken {
            return Err(StoreError::Io(why.clone()));
        }
        let store_result = self.medium.settle();
        self.kept(store_result)
    }

    fn kept(&mut self, kept: Result<(), LabError>) -> Result<(), StoreError> {
        let Err(error) = kept else {
            self.full = None;
            return Ok(());
        };
        let why = error.to_string();
        if error.is_out_of_room() {
            self.full = Some(why.clone());
            return Err(StoreError::NoSpace(why));
        }
        self.broken = Some(why.clone());
        Err(StoreError::Io(why))
    }

    // Power.

    fn cut_instead<T>(&mut self, why: &str) -> Result<T, StoreError> {
        self.cut(why)?;
        Err(StoreError::Off)
    }

    /// Cuts the power now.
    pub fn cut(&mut self, why: &str) -> Result<(), StoreError> {
        if !self.status.powered {
            return Ok(());
        }
        let cut = self.medium.data().cut();
        self.medium.data().take_struck();
        self.was_cut(why, &cut)
    }

    /// Whether a cut has fallen where it was aimed.
    fn struck(&mut self) -> Result<(), StoreError> {
        match self.medium.data().take_struck() {
            Some(cut) => {
                self.trigger.arm(None);
                self.was_cut("inside a NAND operation", &cut)
            }
            None => Ok(()),
        }
    }

    fn was_cut(&mut self, why: &str, cut: &Cut) -> Result<(), StoreError> {
        let data = self.medium.data();
        let before = data.drive_mut().take_before();
        let last = data.drive().last_number();
        self.ledger.cut(last, before);
        self.status.powered = false;
        self.status.cuts += 1;
        self.status.last_cut = Some(why.to_string());
        self.status.cut = Some(CutNote {
            at_ns: cut.at.0,
            buffered: cut.buffered,
            saved: cut.saved,
            torn_programs: cut.damage.torn_programs,
            torn_erases: cut.damage.torn_erases,
            lower_pages_lost: cut.damage.lower_pages_lost,
            not_begun: cut.damage.not_begun,
        });
        self.status.found = None;
        let store_result = self.medium.keep_cut();
        self.kept(store_result)
    }

    /// Shuts the drive down in order, for good.
    pub fn close(&mut self) -> Result<(), LabError> {
        self.medium.data().aim_at(None);
        self.status.powered = false;
        if self.closed {
            return Ok(());
        }
        self.closed = true;
        let why = self.broken.replace("the drive is shut down".to_string());
        match why {
            Some(why) => Err(LabError::refused(why, "acknowledged data is on disk")),
            None => self.medium.close(),
        }
    }

    /// Gives power.
    pub fn on(&mut self) -> Result<(), PowerError> {
        if let Some(why) = &self.broken {
            return Err(PowerError::Broken(why.clone()));
        }
        if self.status.powered {
            return Ok(());
        }
        let settled = self.settle();
        settled.map_err(|error| PowerError::Broken(error.to_string()))?;
        let recovery = self.medium.power_on();
        let recovery = recovery.map_err(|error| PowerError::Broken(error.to_string()))?;
        if recovery.dead {
            let cuts = self.medium.drive().power_counters().unsafe_shutdowns;
            let why = format!("it has died after {cuts} unsafe shutdowns");
            return Err(PowerError::Dead(why));
        }
        self.status.powered = true;
        self.status.recovery_ns = Some(recovery.ready.0 - recovery.at.0);
        self.status.recovery_steps = recovery
            .steps
            .iter()
            .scan(recovery.at.0, |from, step| {
                let ns = step.end.saturating_sub(*from);
                *from = step.end.max(*from);
                Some(StepNote {
                    name: step.name.to_string(),
                    operations: step.operations,
                    ns,
                })
            })
            .collect();
        let struck = self.struck();
        struck.map_err(|error| PowerError::Broken(error.to_string()))?;
        if self.status.powered {
            let diff = self.ledger.recovered(self.medium.drive());
            self.status.promises_broken += diff.broken;
            self.status.cuts_with_broken += u64::from(diff.broken > 0);
            self.status.found = Some(diff);
        }
        Ok(())
    }

    // To look at.

    pub fn extents(&self, offset: u64, length: u64, max: usize) -> Vec<StoreExtent> {
        let drive = self.medium.drive();
        let per_slot = u64::from(drive.config().shape.slot_bytes) / SECTOR;
        let Range { start, end } = sectors(offset, length);
        let mut extents: Vec<StoreExtent> = Vec::new();
        let mut position = start;
        while position < end {
            let lpn = position / per_slot;
            let until = ((lpn + 1) * per_slot).min(end);
            let content = drive.content(lpn as u32);
            let has_bytes = content.is_some_and(|c| c.bytes.is_some());
            let number = |sector: u64| {
                let index = (sector % per_slot) as usize;
                content.map_or(0, |c| c.numbers[index])
            };
            let is_uniform = content.is_none_or(|c| c.numbers.one().is_some());
            let is_even = is_uniform && self.ledger.is_even(&(position..until));
            let step = if is_even { until - position } else { 1 };
            for sector in (position..until).step_by(step as usize) {
                let number = number(sector);
                let extent = StoreExtent {
                    length: step * SECTOR,
                    is_allocated: content.is_some(),
                    is_zero: number == 0 || !has_bytes,
                    durability: self.ledger.state(sector, number),
                };
                if !put(&mut extents, extent, max) {
                    return extents;
                }
            }
            position = until;
        }
        extents
    }
}

/// Adds an extent; false when there are enough.
fn put(found: &mut Vec<StoreExtent>, extent: StoreExtent, max: usize) -> bool {
    let count = found.len();
    match found.last_mut() {
        Some(last)
            if (last.is_allocated, last.is_zero, last.durability)
                == (extent.is_allocated, extent.is_zero, extent.durability) =>
        {
            last.length += extent.length;
            true
        }
        _ if count == max => false,
        _ => {
            found.push(extent);
            true
        }
    }
}

fn sectors(offset: u64, len: u64) -> Range<u64> {
    offset / SECTOR..(offset + len) / SECTOR
}

fn refused(error: DataError) -> StoreError {
    match error {
        DataError::Off => StoreError::Off,
        DataError::Outside {
            offset,
            len,
            capacity,
        } => StoreError::OutOfRange {
            offset,
            length: len,
            size: capacity,
        },
        DataError::Unaligned { .. } | DataError::Unreadable { .. } | DataError::Ended => {
            StoreError::Io(error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::DriveConfig;
    use ssdlab_ssd::drive::power::DataDrive;

    #[test]
    fn what_could_not_be_kept_is_told_to_nobody_and_not_hidden_at_the_end() {
        let data = DataDrive::new(DriveConfig::tiny(), Default::default()).unwrap();
        let mut state = ServedState::new(ServedMedium::Memory(Box::new(data)), 1);
        state.write(0, &[1; 512], false).unwrap();
        assert_eq!(state.settle(), Ok(()));
        assert!(state.kept(Err(LabError::refused("disk full", ""))).is_err());
        // Another connection, and once more: its write may have been in what was lost.
        for _ in 0..2 {
            assert!(matches!(state.settle(), Err(StoreError::Io(why)) if why.contains("full")));
        }
        assert!(state.close().is_err(), "an end as if all were well");
        assert!(state.close().is_ok(), "said once");
    }
}
