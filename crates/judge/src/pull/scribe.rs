//! Keeps the ledger for several streams at once: a thread gathers their records into frames.
//!
//! Records enter the book at once and the ledger in the same order. Who needs a record to be in
//! the ledger waits for it; records that come in meanwhile go into the next frame together.

use super::book::Book;
use super::frames::FramePosition;
use super::ledger::LedgerStore;
use super::record::LedgerRecord;
use ssdlab_base::LabError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

struct ScribeState {
    book: Book,
    pending: Vec<u8>,
    /// Records given, and of these how many are in the ledger.
    given: u64,
    kept: u64,
    /// Text and hint of why the ledger cannot be kept any more.
    failed: Option<(String, String)>,
    closing: bool,
}

struct ScribeShared {
    state: Mutex<ScribeState>,
    changed: Condvar,
}

/// The keeper of a ledger in this process.
pub struct Scribe {
    shared: Arc<ScribeShared>,
    thread: Option<JoinHandle<()>>,
}

impl ScribeShared {
    fn lock(&self) -> MutexGuard<'_, ScribeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, ScribeState>) -> MutexGuard<'a, ScribeState> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, mut store: LedgerStore, mut at: FramePosition) {
        loop {
            let mut state = self.lock();
            while state.pending.is_empty() && !state.closing {
                state = self.wait(state);
            }
            if state.pending.is_empty() || state.failed.is_some() {
                return;
            }
            let payload = std::mem::take(&mut state.pending);
            let entered_count = state.given;
            drop(state);
            let frame = at.frame(&payload);
            let written = store.append(&frame, at);
            let mut state = self.lock();
            match (written, at.after(&frame)) {
                (Ok(()), Some(after)) => {
                    at = after;
                    state.kept = entered_count;
                }
                (Err(error), _) => {
                    state.failed = Some((error.to_string(), error.advice().to_owned()));
                }
                (Ok(()), None) => {
                    let message = "a frame of more than 256 MiB".to_owned();
                    state.failed = Some((message, "use a smaller --size".into()));
                }
            }
            self.changed.notify_all();
        }
    }
}

impl Scribe {
    /// Continues the ledger in `store` from `at` on, which adds up to `book`.
    pub fn new(store: LedgerStore, at: FramePosition, book: Book) -> Scribe {
        let state = ScribeState {
            book,
            pending: Vec::new(),
            given: 0,
            kept: 0,
            failed: None,
            closing: false,
        };
        let shared = Arc::new(ScribeShared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || own.write(store, at));
        Scribe {
            shared,
            thread: Some(thread),
        }
    }

    /// Looks at the book.
    pub fn book<T>(&self, look: impl FnOnce(&Book) -> T) -> T {
        look(&self.shared.lock().book)
    }

    /// Enters records that `make` draws from the book, without waiting for the ledger. Returns
    /// what [`Scribe::wait`] wants.
    ///
    /// # Errors
    /// When the ledger has failed, or the records contradict it.
    pub fn enter(&self, make: impl FnOnce(&Book) -> Vec<LedgerRecord>) -> Result<u64, LabError> {
        let mut state = self.shared.lock();
        go_on(&state)?;
        for record in make(&state.book) {
            let entered = state.book.apply(&record);
            entered.map_err(LabError::SelfCheck)?;
            record.encode(&mut state.pending);
            state.given += 1;
        }
        let entered_count = state.given;
        drop(state);
        self.shared.changed.notify_all();
        Ok(entered_count)
    }

    /// Waits until a number of records are in the ledger.
    ///
    /// # Errors
    /// When the ledger has failed.
    pub fn wait(&self, count: u64) -> Result<(), LabError> {
        let mut state = self.shared.lock();
        while state.kept < count {
            go_on(&state)?;
            state = self.shared.wait(state);
        }
        Ok(())
    }

    /// Both.
    ///
    /// # Errors
    /// Those of [`Scribe::enter`] and [`Scribe::wait`].
    pub fn keep(&self, record: LedgerRecord) -> Result<(), LabError> {
        let count = self.enter(|_| vec![record])?;
        self.wait(count)
    }
}

fn go_on(state: &ScribeState) -> Result<(), LabError> {
    match &state.failed {
        Some((what, hint)) => Err(LabError::refused(what.clone(), hint.clone())),
        None => Ok(()),
    }
}

impl Drop for Scribe {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // Whatever it could not write is an error that a waiter has had.
            let _ = thread.join();
        }
    }
}
