//! Busy polling for the kernel's next request while requests arrive in quick succession.
//!
//! fuser reads `/dev/fuse` until it gets a request, so the serving thread polls while the device is
//! non-blocking. Each request measures its own wait; a second thread makes the device blocking
//! again when requests stop.

use crate::busy_poll::BusyPoll;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest wait that counts as short: a request through a loop device takes as long as waking a
/// few threads.
const SHORT: Duration = Duration::from_micros(250);
/// Weight of a long wait, in short ones.
const LONG_WEIGHT: i32 = 8;
/// Time without a request after which polling ends. It exceeds a scheduler's tick: where
/// processors are few, the client may once have to wait behind the polling thread until the
/// scheduler moves it to another processor.
const IDLE_MAX: Duration = Duration::from_millis(5);

/// Polling state of a thread that serves one request after another.
#[derive(Debug)]
pub(super) struct FusePolling {
    state: Mutex<FusePollState>,
    changed: Condvar,
}

#[derive(Debug)]
struct FusePollState {
    /// The device to switch between blocking and polling; `None` while it must not change.
    device: Option<OwnedFd>,
    poll: BusyPoll,
    /// Time of the last answer; `None` while a request is being served.
    answered: Option<Instant>,
    is_polling: bool,
    is_stopping: bool,
}

impl FusePollState {
    fn set_polling(&mut self, polling: bool) {
        let Some(device) = &self.device else {
            return;
        };
        let changed = fcntl_getfl(device).and_then(|mut flags| {
            flags.set(OFlags::NONBLOCK, polling);
            fcntl_setfl(device, flags)
        });
        match changed {
            Ok(()) => self.is_polling = polling,
            // Polling only affects speed.
            Err(_) => self.device = None,
        }
    }
}

/// A request being served; dropped when it is answered.
pub(super) struct ServedRequest<'a>(&'a FusePolling);

impl Drop for ServedRequest<'_> {
    fn drop(&mut self) {
        self.0.lock().answered = Some(Instant::now());
    }
}

impl FusePolling {
    pub fn new() -> Self {
        let state = FusePollState {
            device: None,
            poll: BusyPoll::new(LONG_WEIGHT),
            answered: None,
            is_polling: false,
            is_stopping: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, FusePollState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the arrival of a request.
    pub fn request(&self) -> ServedRequest<'_> {
        let mut state = self.lock();
        if let Some(answered) = state.answered.take() {
            state.poll.waited(answered.elapsed() < SHORT);
        }
        let pays_off = state.poll.pays_off();
        if state.device.is_some() && pays_off != state.is_polling {
            state.set_polling(pays_off);
            self.changed.notify_all();
        }
        ServedRequest(self)
    }

    /// Starts to switch `device` to polling whenever that pays off. It never does with a single
    /// processor, which the client needs.
    pub fn begin(self: &Arc<Self>, device: &impl AsFd) -> std::io::Result<FusePollWatcher> {
        let is_single = std::thread::available_parallelism().is_ok_and(|count| count.get() == 1);
        if !is_single {
            self.lock().device = Some(device.as_fd().try_clone_to_owned()?);
        }
        let watch = self.clone();
        let thread = std::thread::Builder::new()
            .name("fuse-watch".to_string())
            .spawn(move || watch.run())?;
        Ok(FusePollWatcher {
            watch: self.clone(),
            thread: Some(thread),
        })
    }

    /// Ends polling when requests stop.
    fn run(&self) {
        let mut state = self.lock();
        while !state.is_stopping {
            if !state.is_polling {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.changed.wait_timeout(state, IDLE_MAX);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let answered = state.answered.map(|at| at.elapsed());
            if state.is_polling && answered.is_some_and(|since| since >= IDLE_MAX) {
                state.set_polling(false);
            }
        }
        if state.is_polling {
            state.set_polling(false);
        }
        state.device = None;
    }
}

/// Ends polling when it is dropped.
pub(super) struct FusePollWatcher {
    watch: Arc<FusePolling>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for FusePollWatcher {
    fn drop(&mut self) {
        self.watch.lock().is_stopping = true;
        self.watch.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It runs no code that can panic, and an error would have no receiver.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn polls(device: &UnixStream) -> bool {
        fcntl_getfl(device).unwrap().contains(OFlags::NONBLOCK)
    }

    /// Requests in quick succession start polling; when they stop, the device blocks again.
    #[test]
    fn it_polls_while_waits_are_short_and_sleeps_when_requests_stop() {
        if std::thread::available_parallelism().unwrap().get() == 1 {
            return;
        }
        let (device, _other) = UnixStream::pair().unwrap();
        let watch = Arc::new(FusePolling::new());
        let watcher = watch.begin(&device).unwrap();
        assert!(!polls(&device));
        let begun = Instant::now();
        while !polls(&device) {
            drop(watch.request());
            assert!(begun.elapsed() < Duration::from_secs(60), "never polls");
        }
        let begun = Instant::now();
        while polls(&device) {
            std::thread::sleep(IDLE_MAX);
            assert!(begun.elapsed() < Duration::from_secs(60), "polls for ever");
        }
        drop(watcher);
        for _ in 0..1000 {
            drop(watch.request());
        }
        assert!(!polls(&device), "it has stopped");
    }
}
