//! Looking for the next request of the kernel instead of sleeping, while they come in quick
//! succession.
//!
//! fuser reads `/dev/fuse` until it gets something, so the thread that serves looks without a
//! pause while the device is non-blocking. Each request tells how long it was waited for; a
//! second thread makes the device blocking again when no request comes at all.

use crate::hope::Hope;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a request is worth looking for: one that a loop device passes on takes as long as
/// waking a few threads does.
const SOON: Duration = Duration::from_micros(250);
/// What a longer wait counts, in shorter ones.
const LONG: i32 = 8;
/// How long the device is looked at when no request comes at all: longer than a scheduler's tick,
/// as where processors are few whoever asks may be behind the thread that looks, once, and is then
/// moved to another one.
const IN_VAIN: Duration = Duration::from_millis(5);

/// One thread's requests, one after another.
#[derive(Debug)]
pub(super) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// None as long as the device is not to be changed.
    device: Option<OwnedFd>,
    hope: Hope,
    /// When the last one was answered; none while one is worked on.
    answered: Option<Instant>,
    is_looking: bool,
    is_over: bool,
}

impl State {
    fn look(&mut self, looking: bool) {
        let Some(device) = &self.device else {
            return;
        };
        let changed = fcntl_getfl(device).and_then(|mut flags| {
            flags.set(OFlags::NONBLOCK, looking);
            fcntl_setfl(device, flags)
        });
        match changed {
            Ok(()) => self.is_looking = looking,
            // Looking is a matter of speed only.
            Err(_) => self.device = None,
        }
    }
}

/// A request that is worked on; dropped when it is answered.
pub(super) struct Asked<'a>(&'a Watch);

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.0.lock().answered = Some(Instant::now());
    }
}

impl Watch {
    pub fn new() -> Self {
        let state = State {
            device: None,
            hope: Hope::new(LONG),
            answered: None,
            is_looking: false,
            is_over: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has come.
    pub fn asked(&self) -> Asked<'_> {
        let mut state = self.lock();
        if let Some(answered) = state.answered.take() {
            state.hope.waited(answered.elapsed() < SOON);
        }
        let high = state.hope.is_high();
        if state.device.is_some() && high != state.is_looking {
            state.look(high);
            self.changed.notify_all();
        }
        Asked(self)
    }

    /// From now on `device` is looked at when that is worth it: not with one processor, which
    /// whoever asks needs.
    pub fn begin(self: &Arc<Self>, device: &impl AsFd) -> std::io::Result<Watcher> {
        let alone = std::thread::available_parallelism().is_ok_and(|count| count.get() == 1);
        if !alone {
            self.lock().device = Some(device.as_fd().try_clone_to_owned()?);
        }
        let watch = self.clone();
        let thread = std::thread::Builder::new()
            .name("fuse-watch".to_string())
            .spawn(move || watch.run())?;
        Ok(Watcher {
            watch: self.clone(),
            thread: Some(thread),
        })
    }

    /// Ends looking when requests have ended.
    fn run(&self) {
        let mut state = self.lock();
        while !state.is_over {
            if !state.is_looking {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.changed.wait_timeout(state, IN_VAIN);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let answered = state.answered.map(|at| at.elapsed());
            if state.is_looking && answered.is_some_and(|since| since >= IN_VAIN) {
                state.look(false);
            }
        }
        if state.is_looking {
            state.look(false);
        }
        state.device = None;
    }
}

/// Ends looking when it is dropped.
pub(super) struct Watcher {
    watch: Arc<Watch>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watch.lock().is_over = true;
        self.watch.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does nothing that can panic, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn looks(device: &UnixStream) -> bool {
        fcntl_getfl(device).unwrap().contains(OFlags::NONBLOCK)
    }

    /// Requests in quick succession are looked for; when they end, the device blocks again.
    #[test]
    fn it_looks_while_requests_come_soon_and_sleeps_when_they_end() {
        if std::thread::available_parallelism().unwrap().get() == 1 {
            return;
        }
        let (device, _other) = UnixStream::pair().unwrap();
        let watch = Arc::new(Watch::new());
        let watcher = watch.begin(&device).unwrap();
        assert!(!looks(&device));
        let begun = Instant::now();
        while !looks(&device) {
            drop(watch.asked());
            assert!(begun.elapsed() < Duration::from_secs(60), "never looks");
        }
        let begun = Instant::now();
        while looks(&device) {
            std::thread::sleep(IN_VAIN);
            assert!(begun.elapsed() < Duration::from_secs(60), "looks for ever");
        }
        drop(watcher);
        for _ in 0..1000 {
            drop(watch.asked());
        }
        assert!(!looks(&device), "it is over");
    }
}
