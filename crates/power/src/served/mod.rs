//! A modelled drive behind front ends: [`Store`] and [`PowerControl`] over a drive that holds data.
//!
//! ```
//! use ssdlab_power::served::ServedDrive;
//! use ssdlab_serve::{CutMoment, FlushSide, PowerControl, Store};
//! use ssdlab_ssd::DriveConfig;
//! use ssdlab_ssd::drive::power::{DataDrive, Power as Supply};
//!
//! let data = DataDrive::new(DriveConfig::tiny(), Supply::default()).unwrap();
//! let drive = ServedDrive::in_memory(data);
//! let side = FlushSide::Inside;
//! drive.cut_when(Some(CutMoment::Flush { nth: 2, side })).unwrap();
//! drive.write(0, &[1; 512], false).unwrap();
//! drive.flush().unwrap();
//! drive.write(0, &[2; 512], false).unwrap();
//! assert!(drive.flush().is_err(), "never acknowledged");
//! drive.on().unwrap();
//! let mut sector = [0; 512];
//! drive.read(0, &mut sector).unwrap();
//! assert!(sector == [1; 512] || sector == [2; 512]);
//! ```
//! One lock holds the whole drive: commands of all connections are done one after another, in
//! virtual time too. With [`ServedPace::Real`] each is then answered when a copy of the drive that
//! lives in real time has done it, beside those that are with it at the same time.
//!
//! A cut that is aimed falls where it was aimed in virtual time: inside a FLUSH somewhere on its
//! way (drawn from a seed), inside a program or erase in its middle. Once that operation is
//! booked, time passes until it is at work.

mod attach;
mod fault;
mod front;
mod landing;
mod ledger;
mod medium;
mod places;
mod said;
mod source;
mod state;
pub mod switch;
mod tempo;
mod volume;

pub use fault::parse_fault;
pub use front::{DriveServer, ServedStore};
pub use places::{DriveEndpoints, TlsPlan, parse_address};
pub use said::describe;
pub use source::{ServableDrive, in_directory, in_memory, of_config};
pub use volume::ServedVolume;

use landing::ServedLanding;
use medium::ServedMedium;
use ssdlab_base::LabError;
use ssdlab_drives::keep::directory::{DriveDir, WriteLandings};
use ssdlab_serve::{
    CutMoment, PowerControl, PowerError, PowerStatus, ReadPiece, Store, StoreError, StoreExtent,
    StoreLanding, ZeroFlags,
};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::DataDrive;
use ssdlab_ssd::nand::media::SECTOR_BYTES;
use state::ServedState;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempo::{PaceClock, Tempo, TempoRequest};

/// Zeroes written at a time where a hole is not wanted.
const ZEROES: u64 = 1 << 20;
/// Pause between them. The lock is not fair: without a pause, waiting threads would starve.
const LET_OTHERS: Duration = Duration::from_micros(50);

/// How long commands take in real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServedPace {
    /// As long as computing them takes.
    #[default]
    Fast,
    /// As long as they take on the modelled drive, with all that are with it at the same time; idle
    /// time passes in the drive too.
    Real {
        /// Virtual time passes this many times slower than real time; at least 1.
        slower: u32,
    },
}

/// See the module's text.
#[derive(Debug)]
pub struct ServedDrive {
    size: u64,
    /// In real pace.
    tempo: Option<Tempo>,
    /// When virtual time was what it is, and how much slower it passes, in real pace.
    clock: PaceClock,
    powered: AtomicBool,
    state: Mutex<ServedState>,
    /// Where writes are received without that lock.
    landings: Option<WriteLandings>,
    was_cut: Condvar,
}

impl ServedDrive {
    /// A drive in memory. Its state can be forked, and taken out again.
    pub fn in_memory(data: DataDrive) -> ServedDrive {
        ServedDrive::of(ServedMedium::Memory(Box::new(data)))
    }

    /// A drive directory, opened.
    pub fn in_directory(dir: DriveDir) -> ServedDrive {
        ServedDrive::of(ServedMedium::Directory(Box::new(dir)))
    }

    fn of(medium: ServedMedium) -> ServedDrive {
        let state = ServedState::new(medium, 1);
        let drive = state.medium.drive();
        ServedDrive {
            size: drive.config().user_bytes,
            tempo: None,
            clock: PaceClock::from(drive.now().max(drive.ready()), 1),
            powered: AtomicBool::new(state.is_on()),
            landings: state.medium.landings(),
            state: Mutex::new(state),
            was_cut: Condvar::new(),
        }
    }

    /// The same, at another pace.
    pub fn at_pace(mut self, pace: ServedPace) -> ServedDrive {
        let slower = match pace {
            ServedPace::Fast => None,
            ServedPace::Real { slower } => Some(slower),
        };
        self.tempo = slower.map(Tempo::slower);
        self.clock = PaceClock::from(self.clock.begins_at(), slower.unwrap_or(1));
        self.power_is(&self.lock());
        self
    }

    /// The same, with another seed of where inside a flush a cut falls.
    pub fn with_seed(mut self, seed: u64) -> ServedDrive {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.seed(seed);
        self
    }

    /// A copy of the drive as it is now; bytes are shared until they change. Of a drive
    /// directory it is a copy in memory, which the files know nothing of.
    pub fn fork(&self) -> DataDrive {
        self.lock().medium.data().clone()
    }

    /// Takes the drive out of a [`ServedDrive::in_memory`]; of a directory it is a copy.
    pub fn into_data(self) -> DataDrive {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match state.medium {
            ServedMedium::Memory(data) => *data,
            ServedMedium::Directory(mut dir) => dir.data().clone(),
        }
    }

    /// Looks at, or works on, the drive itself; commands wait meanwhile. Power must be left as it
    /// is.
    pub fn with_data<T>(&self, work: impl FnOnce(&mut DataDrive) -> T) -> T {
        work(self.lock().medium.data())
    }

    /// Shuts the drive down in order; every command fails from then on. A drive without power
    /// stays as it is.
    ///
    /// # Errors
    /// When a drive directory cannot be written.
    pub fn close(&self) -> Result<(), LabError> {
        let mut state = self.lock();
        let closed = state.close();
        self.power_is(&state);
        closed
    }

    fn lock(&self) -> MutexGuard<'_, ServedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a request, to be answered when it is done.
    fn command(
        &self,
        asked: TempoRequest,
        run: impl FnOnce(&mut ServedState) -> Result<Nanos, StoreError>,
    ) -> Result<(), StoreError> {
        let arrived = Instant::now();
        let mut state = self.lock();
        state.ready()?;
        let Some(tempo) = &self.tempo else {
            let result = run(&mut state);
            if !state.is_on() {
                self.power_is(&state);
            }
            return result.map(drop);
        };
        let result = self.catch_up(&mut state).and_then(|()| run(&mut state));
        if !state.is_on() {
            self.power_is(&state);
        }
        drop(state);
        result?;
        tempo.wait(arrived, asked.commands());
        if self.is_powered() {
            Ok(())
        } else {
            Err(StoreError::Off)
        }
    }

    /// The drive was idle for as long as virtual time is behind real time.
    fn catch_up(&self, state: &mut ServedState) -> Result<(), StoreError> {
        let real_time = self.clock.at(Instant::now());
        let behind = real_time.0.saturating_sub(state.medium.drive().now().0);
        if behind > 0 {
            state.rest(Nanos(behind))?;
        }
        Ok(())
    }

    fn power_is(&self, state: &ServedState) {
        self.powered.store(state.is_on(), Ordering::SeqCst);
        if let Some(tempo) = &self.tempo {
            tempo.restart(state.is_on().then(|| state.medium.drive()));
        }
        self.was_cut.notify_all();
    }
}

impl Store for ServedDrive {
    fn size(&self) -> u64 {
        self.size
    }

    fn sector_size(&self) -> u32 {
        SECTOR_BYTES as u32
    }

    fn is_powered(&self) -> bool {
        self.powered.load(Ordering::SeqCst)
    }

    fn takes_time(&self) -> bool {
        self.tempo.is_some()
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.command(
            TempoRequest::of(Op::Read, offset, into.len() as u64),
            |state| state.read(offset, into),
        )
    }

    fn read_onto(&self, offset: u64, length: usize, into: &mut Vec<u8>) -> Result<(), StoreError> {
        self.command(TempoRequest::of(Op::Read, offset, length as u64), |state| {
            state.read_onto(offset, length, into)
        })
    }

    fn read_pieces(
        &self,
        offset: u64,
        length: usize,
        take: &mut dyn FnMut(ReadPiece<'_>),
    ) -> Result<(), StoreError> {
        self.command(TempoRequest::of(Op::Read, offset, length as u64), |state| {
            state.read_pieces(offset, length, take)
        })
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        let request = TempoRequest::of(Op::Write, offset, from.len() as u64).with_fua(fua);
        self.command(request, |state| state.write(offset, from, fua))
    }

    fn landing(&self, offset: u64, length: usize) -> Option<Box<dyn StoreLanding>> {
        let room = self.landings.as_ref()?.begin(offset, length)?;
        Some(Box::new(ServedLanding(room)))
    }

    fn write_landed(
        &self,
        offset: u64,
        landing: Box<dyn StoreLanding>,
        fua: bool,
    ) -> Result<(), StoreError> {
        let landing: Box<dyn Any> = landing;
        let Ok(landed) = landing.downcast::<ServedLanding>() else {
            return Err(StoreError::Unsupported);
        };
        let request = TempoRequest::of(Op::Write, offset, landed.0.len() as u64).with_fua(fua);
        self.command(request, |state| state.write_landed(offset, landed.0, fua))
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.command(TempoRequest::of(Op::Flush, 0, 0), ServedState::flush)
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        let request = TempoRequest::of(Op::Trim, offset, length).with_fua(fua);
        self.command(request, |state| state.trim(offset, length, fua))
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        if !flags.no_hole {
            let request = TempoRequest::of(Op::WriteZeroes, offset, length).with_fua(flags.fua);
            return self.command(request, |state| state.write_zeroes(offset, length, flags));
        }
        if flags.fast {
            return Err(StoreError::Unsupported);
        }
        let end = offset + length;
        let mut position = offset;
        loop {
            let part = (end - position).min(ZEROES);
            let request = TempoRequest::of(Op::Write, position, part).with_fua(flags.fua);
            self.command(request, |state| state.write_zeroes(position, part, flags))?;
            position += part;
            if position == end {
                return Ok(());
            }
            std::thread::sleep(LET_OTHERS);
        }
    }

    fn settle(&self) -> Result<(), StoreError> {
        self.lock().settle()
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        let mut state = self.lock();
        state.ready()?;
        Ok(state.extents(offset, length, max))
    }
}

impl PowerControl for ServedDrive {
    fn off(&self) -> Result<PowerStatus, PowerError> {
        let mut state = self.lock();
        let cut = state.cut("switch");
        self.power_is(&state);
        cut.map_err(|error| PowerError::Broken(error.to_string()))?;
        Ok(state.status())
    }

    fn on(&self) -> Result<PowerStatus, PowerError> {
        let mut state = self.lock();
        let result = state.on();
        self.power_is(&state);
        result?;
        Ok(state.status())
    }

    fn status(&self) -> PowerStatus {
        self.lock().status()
    }

    fn cut_when(&self, at: Option<CutMoment>) -> Result<PowerStatus, PowerError> {
        if let Some(at) = &at {
            at.check()?;
        }
        let mut state = self.lock();
        state.arm(at);
        Ok(state.status())
    }

    fn wait_for_cut(&self, cuts: u64, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut state = self.lock();
        while state.status().cuts <= cuts {
            let time_left = until.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                return false;
            }
            let waited = self.was_cut.wait_timeout(state, time_left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
