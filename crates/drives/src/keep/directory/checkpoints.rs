//! A long log makes way for a checkpoint.

use super::background::BackgroundCheckpoint;
use super::file::sync_folder;
use super::frames::FrameFileWriter;
use super::stored::{Snapshot, log_path, remove_others, write_checkpoint};
use super::{CrashSafety, DriveDir, LOG_BYTES_MIN};
use ssdlab_base::LabError;
use std::sync::atomic::AtomicBool;

impl DriveDir {
    /// Bytes of logs beyond which a checkpoint is written.
    pub(super) fn most(&self) -> u64 {
        let most = LOG_BYTES_MIN.max(2 * self.checkpoint_bytes);
        self.log_bytes_max.unwrap_or(most)
    }

    pub(super) fn begin_checkpoint(&mut self) -> Result<(), LabError> {
        let (snapshot, ended) = self.begin_log(false)?;
        self.background = Some(BackgroundCheckpoint::begin(
            &self.path,
            self.log.place(),
            ended.chain(),
            self.places.clone(),
            snapshot,
            ended,
            self.safety == CrashSafety::Host,
        )?);
        Ok(())
    }

    /// A checkpoint for which there is no room is put off: the logs hold all that it would.
    pub(super) fn unless_put_off(&mut self, outcome: Result<(), LabError>) -> Result<(), LabError> {
        match outcome {
            Err(error) if error.is_out_of_room() => {
                self.put_off = Some(error.to_string());
                self.try_again_at = self.bytes_before + self.log.bytes() + self.most();
                Ok(())
            }
            other_outcome => other_outcome,
        }
    }

    /// Begins the next log; returns all that came before it, and the log that ended. Where that
    /// fails, the log goes on.
    pub(super) fn begin_log(
        &mut self,
        closed: bool,
    ) -> Result<(Snapshot, FrameFileWriter), LabError> {
        let mut place = self.log.place();
        place.number += 1;
        let path = log_path(&self.path, place.number);
        let host = self.safety == CrashSafety::Host;
        if host {
            // First: a log that another follows is whole.
            self.sync()?;
        }
        let mut log = FrameFileWriter::create(&path, place, self.log.chain(), &self.places)?;
        if host {
            log.sync()?;
            sync_folder(&self.path)?;
        }
        let ended = std::mem::replace(&mut self.log, log);
        let outcome = self.say_end();
        let outcome = outcome.and_then(|()| if host { self.end.sync() } else { Ok(()) });
        if let Err(error) = outcome {
            self.log = ended;
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        self.bytes_before += ended.bytes();
        let drive = self.data.drive_mut();
        let snapshot = Snapshot::of(drive, &self.title, &self.saved, closed);
        Ok((snapshot, ended))
    }

    /// A checkpoint of a drive without power: nothing goes on beside it.
    pub(super) fn checkpoint_off(&mut self) -> Result<(), LabError> {
        self.background = None;
        self.owes_checkpoint = true;
        let (snapshot, ended) = self.begin_log(true)?;
        let (log, sync) = (self.log.place(), self.safety == CrashSafety::Host);
        let (begins, go_on) = (ended.chain(), AtomicBool::new(false));
        let number = log.number;
        let (path, places) = (&self.path, &self.places);
        let written = write_checkpoint(path, log, begins, places, snapshot, sync, &go_on);
        self.checkpoint_bytes = written.inspect_err(|error| {
            if !error.is_out_of_room() {
                self.log.give_up(error.to_string());
            }
        })?;
        self.owes_checkpoint = false;
        self.bytes_before = 0;
        remove_others(&self.path, number, number..=number)
    }

    /// A checkpoint has ended, or is waited for: the directory begins with it.
    pub(super) fn take_up(&mut self, checkpoint: BackgroundCheckpoint) -> Result<(), LabError> {
        let written = checkpoint.wait();
        if let Err(error) = &written
            && !error.is_out_of_room()
        {
            self.log.give_up(error.to_string());
        }
        let outcome = written.map(|bytes| {
            (self.checkpoint_bytes, self.bytes_before) = (bytes, 0);
            (self.put_off, self.try_again_at) = (None, 0);
        });
        self.unless_put_off(outcome)
    }
}
