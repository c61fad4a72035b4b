//! Before a command is acknowledged, what it did is in the log.

use super::end::LogEnd;
use super::file::sync_folder;
use super::records::FrameRecord;
use super::stored::{checkpoint_path, forget_saved, log_path};
use super::{CrashSafety, DriveDir, refused};
use ssdlab_base::LabError;
use ssdlab_ssd::drive::power::{Cut, DataError, Recovery};
use ssdlab_ssd::nand::media::{Content, Event};
use std::collections::BTreeMap;
use std::fs::File;

impl DriveDir {
    /// A command changed bytes. On a protected drive what it left in the buffer will be logged
    /// too: the capacitor would have saved it.
    pub fn keep_change(&mut self, offset: u64, len: u64, durable: bool) -> Result<(), LabError> {
        if self.data.drive().config().buffer.protected && len > 0 {
            let slot = u64::from(self.data.drive().config().shape.slot_bytes);
            for lpn in offset / slot..(offset + len).div_ceil(slot) {
                let lpn = lpn as u32;
                let content = self.data.drive().content(lpn).cloned();
                match &content {
                    Some(_) => drop(self.saved.insert(lpn, content.clone())),
                    None => drop(self.saved.remove(&lpn)),
                }
                self.unlogged.push((lpn, content));
            }
        }
        self.keep(durable)
    }

    /// A command was done; with `durable` its files are on disk now, if they are to be.
    pub fn keep(&mut self, durable: bool) -> Result<(), LabError> {
        if durable && self.safety == CrashSafety::Host {
            self.settle()?;
            self.sync()?;
        }
        Ok(())
    }

    /// Logs what has happened, before it is acknowledged; a long log makes way for a
    /// checkpoint.
    ///
    /// # Errors
    /// When the log cannot be written. Where there was no room
    /// ([`LabError::is_out_of_room`]) nothing is forgotten: the next call tries again, and when it
    /// succeeds the log is whole. After any other error every further call fails.
    pub fn settle(&mut self) -> Result<(), LabError> {
        if !self.data.drive().is_on() {
            return self.commit();
        }
        let with_map = !self.unlogged.is_empty();
        if with_map {
            let unlogged = std::mem::take(&mut self.unlogged);
            self.log.append(&FrameRecord::Saved(unlogged))?;
        }
        self.log_events(with_map)?;
        self.places.logged();
        // After what was moved off the blocks that are retired now.
        if self.data.drive().worn_out() != self.worn_out {
            self.log_smart()?;
        }
        self.commit()?;
        if self.safety == CrashSafety::Process {
            self.places.reuse();
        } else if self.places.many_wait() {
            self.sync()?;
        }
        match self.background.take() {
            Some(checkpoint) if checkpoint.has_ended() => self.take_up(checkpoint)?,
            going_on => self.background = going_on,
        }
        let most = self.most().max(self.try_again_at);
        if self.bytes_before + self.log.bytes() > most && self.background.is_none() {
            let begun = self.begin_checkpoint();
            self.unless_put_off(begun)?;
        }
        Ok(())
    }

    /// Writes what the log has not yet, and says how far it goes.
    pub(super) fn commit(&mut self) -> Result<(), LabError> {
        self.log.commit()?;
        if self.owes_checkpoint {
            return self.checkpoint_off();
        }
        self.say_end()
    }

    /// Says in `end` what of the log may be acknowledged.
    pub(super) fn say_end(&mut self) -> Result<(), LabError> {
        let (log, place) = (&self.log, self.log.place());
        let outcome = self.end.say(LogEnd {
            directory: place.directory,
            boot: self.boot,
            host: self.safety == CrashSafety::Host,
            log: place.number,
            bytes: log.bytes(),
            frames: log.count(),
            chain: log.chain(),
            synced: log.synced(),
        });
        outcome.map(drop).inspect_err(|error| {
            if !error.is_out_of_room() {
                self.log.give_up(error.to_string());
            }
        })
    }

    /// The log is on disk, and `end` says so. The bytes that it names come first.
    pub(super) fn sync(&mut self) -> Result<(), LabError> {
        self.sync_places()?;
        self.log.sync()?;
        self.say_end()?;
        self.places.reuse();
        Ok(())
    }

    fn sync_places(&mut self) -> Result<(), LabError> {
        self.places.sync().inspect_err(|error| {
            // As with a log: no second try can know.
            self.log.give_up(error.to_string());
        })
    }

    /// All that was there before is on disk, whatever it survived until now.
    pub(super) fn sync_all(&mut self, checkpoint: u64) -> Result<(), LabError> {
        let before = (checkpoint..self.log.place().number).map(|n| log_path(&self.path, n));
        for path in before.chain([checkpoint_path(&self.path, checkpoint)]) {
            let synced = File::open(&path).and_then(|file| file.sync_all());
            synced.map_err(|error| LabError::file("syncing", path, error))?;
        }
        self.sync_places()?;
        self.log.sync()?;
        sync_folder(&self.path)?;
        self.say_end()?;
        self.end.sync()
    }

    /// Cuts the power now. What it dropped is counted, and not in the result.
    ///
    /// # Errors
    /// When power is off, or the log cannot be written.
    pub fn cut(&mut self) -> Result<Cut, LabError> {
        if !self.data.drive().is_on() {
            return Err(refused(DataError::Off));
        }
        let mut cut = self.data.cut();
        self.keep_cut()?;
        // Their bytes lie in places, which are locked for as long as anybody has some.
        cut.damage.dropped.clear();
        Ok(cut)
    }

    /// Logs a cut: what it left on media, and what the capacitor saved.
    pub fn keep_cut(&mut self) -> Result<(), LabError> {
        let dump: BTreeMap<u32, Content> = self.data.drive().saved().iter().cloned().collect();
        self.unlogged.clear();
        if self.data.drive().has_faults() {
            // Faults change what is on media without an event.
            self.data.drive_mut().take_events();
            self.saved = dump;
            self.owes_checkpoint = true;
            return self.commit();
        }
        self.log_events(false)?;
        let gone = self.saved.keys().filter(|lpn| !dump.contains_key(lpn));
        let mut records: Vec<(u32, Content)> = gone.map(|lpn| (*lpn, None)).collect();
        records.extend(dump.iter().map(|(lpn, content)| (*lpn, content.clone())));
        self.saved = dump;
        if !records.is_empty() {
            self.log.append(&FrameRecord::Saved(records))?;
        }
        self.log_off()?;
        self.commit()
    }

    /// Power is off, and SMART says how it went.
    pub(super) fn log_off(&mut self) -> Result<(), LabError> {
        self.log_smart()?;
        self.log.append(&FrameRecord::Closed)
    }

    /// Switches power on and recovers. The drive may be dead, or off again where a cut was aimed.
    ///
    /// # Errors
    /// When power is on, or the log cannot be written.
    pub fn power_on(&mut self) -> Result<Recovery, LabError> {
        if self.data.drive().is_on() {
            return Err(LabError::refused("the drive has power", ""));
        }
        self.commit()?;
        let recovery = self.data.power_on();
        if self.data.drive().is_on() {
            self.log_on()?;
        }
        Ok(recovery)
    }

    /// From here on the log does not end with power off.
    pub(super) fn log_on(&mut self) -> Result<(), LabError> {
        self.log_smart()?;
        self.settle()
    }

    pub(super) fn log_smart(&mut self) -> Result<(), LabError> {
        self.worn_out = self.data.drive().worn_out();
        let smart = self.data.drive().smart();
        self.log.append(&FrameRecord::Smart(Box::new(smart)))
    }

    pub(super) fn log_events(&mut self, with_map: bool) -> Result<(), LabError> {
        let mut events = self.data.drive_mut().take_events();
        for event in &events {
            forget_saved(&mut self.saved, event);
        }
        if with_map {
            let map = self.data.drive().unsaved_map();
            if !map.forgotten.is_empty() {
                events.push(Event::Noted(map));
            }
        }
        if events.is_empty() {
            return Ok(());
        }
        self.log.append(&FrameRecord::Events(events))
    }
}
