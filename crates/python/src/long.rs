//! Long calls: without the interpreter's lock, with progress, and with Ctrl-C.

use crate::errors::lab;
use pyo3::prelude::*;
use ssdlab_base::LabError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked for and progress is shown.
const TICK: Duration = Duration::from_millis(50);

/// What a long call has reached: the share that is done, 0 to 1, and a text.
#[derive(Default)]
pub struct CallProgress(Mutex<Option<(f64, String)>>);

impl CallProgress {
    /// Notes how far it is; shown at the next tick.
    pub fn note(&self, done: f64, text: impl FnOnce() -> String) {
        // The text is made only once the last note has been shown.
        let mut note = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if note.is_none() {
            *note = Some((done, text()));
        }
    }

    fn take(&self) -> Option<(f64, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The outcome of a long call.
pub struct LongCallResult<T> {
    /// What the work returned.
    pub result: T,
    /// Why it was stopped before its end: Ctrl-C, or an error of the progress function.
    pub interrupted: Option<PyErr>,
}

/// Runs `work` on a thread of its own. Meanwhile this one lets other Python threads run, calls
/// `progress(done, text)` and looks for Ctrl-C, which sets the flag that `work` has to watch.
///
/// # Errors
/// Those of `work`. If it fails after an interruption: Ctrl-C, or the error of `progress`.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&AtomicBool, &CallProgress) -> Result<T, LabError> + Send,
) -> PyResult<LongCallResult<T>> {
    let (stop, reached) = (AtomicBool::new(false), CallProgress::default());
    let caller = std::thread::current();
    let mut interrupted = None;
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = work(&stop, &reached);
            caller.unpark();
            result
        });
        while !worker.is_finished() {
            py.detach(|| std::thread::park_timeout(TICK));
            if interrupted.is_some() {
                continue;
            }
            if let Err(error) = look(py, progress, &reached) {
                stop.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        }
        worker.join()
    });
    let result = match result {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    match (result, interrupted) {
        (Ok(result), interrupted) => Ok(LongCallResult {
            result,
            interrupted,
        }),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(lab(error)),
    }
}

/// Runs `work` to its end, or raises why it was stopped.
///
/// # Errors
/// As [`run`].
pub fn whole<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&AtomicBool, &CallProgress) -> Result<T, LabError> + Send,
) -> PyResult<T> {
    let ended = run(py, progress, work)?;
    match ended.interrupted {
        None => Ok(ended.result),
        Some(error) => Err(error),
    }
}

fn look(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    reached: &CallProgress,
) -> PyResult<()> {
    py.check_signals()?;
    if let (Some(progress), Some(note)) = (progress, reached.take()) {
        progress.call1(note)?;
    }
    Ok(())
}

/// `result` of an ended call; when it was interrupted, as attribute `partial` of what is raised.
///
/// # Errors
/// The interruption.
pub fn finished<T: pyo3::PyClass + Into<PyClassInitializer<T>>>(
    py: Python<'_>,
    ended: LongCallResult<T>,
) -> PyResult<Bound<'_, T>> {
    let result = Bound::new(py, ended.result)?;
    match ended.interrupted {
        None => Ok(result),
        Some(error) => {
            error.value(py).setattr("partial", result)?;
            Err(error)
        }
    }
}
