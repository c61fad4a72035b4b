//! A checkpoint that is written while the drive goes on: a large one takes seconds to minutes, and
//! clients would time out.

use super::file::FrameFileId;
use super::frames::FrameFileWriter;
use super::places::DataPlaces;
use super::stored::{Snapshot, remove_others, write_checkpoint};
use ssdlab_base::LabError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// It is given up when this is dropped.
#[derive(Debug)]
pub(super) struct BackgroundCheckpoint {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<u64, LabError>>>,
}

impl BackgroundCheckpoint {
    /// Begins to write `snapshot` as the checkpoint of this log, and with `sync` to disk; then
    /// removes what came before it. The log has begun with this chain; `ended` is the one before.
    pub fn begin(
        path: &Path,
        log: FrameFileId,
        chain: u64,
        places: Arc<DataPlaces>,
        snapshot: Snapshot,
        ended: FrameFileWriter,
        sync: bool,
    ) -> Result<BackgroundCheckpoint, LabError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (path, stopped) = (path.to_owned(), stop.clone());
        let write = move || {
            // Dropping the old log's index is slow, and so is removing large files.
            drop(ended);
            #[cfg(test)]
            wait_while(&path, "hold-before", &stopped);
            let bytes = write_checkpoint(&path, log, chain, &places, snapshot, sync, &stopped)?;
            let number = log.number;
            #[cfg(test)]
            wait_while(&path, "hold-after", &stopped);
            remove_others(&path, number, number..=u64::MAX)?;
            Ok(bytes)
        };
        let thread = Builder::new().name("checkpoint".to_owned()).spawn(write);
        let thread = thread.map_err(|error| {
            LabError::refused(format!("no thread for a checkpoint: {error}"), "")
        })?;
        Ok(BackgroundCheckpoint {
            stop,
            thread: Some(thread),
        })
    }

    /// Whether [`BackgroundCheckpoint::wait`] would return at once.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end; returns the checkpoint's bytes.
    pub fn wait(mut self) -> Result<u64, LabError> {
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => Err(LabError::refused("writing a checkpoint panicked", "")),
        }
    }
}

/// Tests stop a checkpoint at a moment by a file of this name.
#[cfg(test)]
fn wait_while(path: &Path, name: &str, stopped: &AtomicBool) {
    while path.join(name).exists() && !stopped.load(Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

impl Drop for BackgroundCheckpoint {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
