//! A job's writes until the power is gone.

use super::record::FioPull;
use crate::pull::record::PowerCutSource;
use crate::pull::switch::PullSwitch;
use ssdlab_base::LabError;
use ssdlab_bench::device::direct::{DirectBuffer, DirectFile};
use ssdlab_ssd::rng::Rng;
use ssdlab_verify::{RunEnd, VerifiedJob, VerifyTarget, WriteProgress, WriteTime, run};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const TICK: Duration = Duration::from_millis(5);

/// What happens in a run.
#[derive(Clone, Copy, Debug)]
pub enum FioPullEvent<'a> {
    /// Pull `number` is next; a person is to make it if `by_hand`.
    Writing {
        /// From 1.
        number: u32,
        /// By a person.
        by_hand: bool,
    },
    /// The target stopped to answer.
    Struck(&'a CutWrites),
    /// A person is to bring the power back.
    PlugIn,
    /// A pull is over.
    Pulled(&'a FioPull),
}

/// How far the writes came.
#[derive(Clone, Debug)]
pub struct CutWrites {
    /// Of the job.
    pub progress: WriteProgress,
    /// What the target answered, unless the job was over.
    pub error: Option<String>,
}

/// How long to write, and to wait.
pub struct WriterLimits {
    /// Mean time of writing before the power goes.
    pub write_for: Duration,
    /// Longest time until the target stops to answer.
    pub gone: Duration,
}

impl WriterLimits {
    /// Time of writing before a pull.
    fn writing(&self, seed: u64) -> Duration {
        let mean = self.write_for.as_millis() as u64;
        let millis = Rng::named(seed, "when").below(mean.max(1)) + mean / 2;
        Duration::from_millis(millis)
    }
}

/// A file or a device as the target of a job.
struct JobTarget<'a> {
    file: &'a DirectFile,
    buffer: DirectBuffer,
}

impl JobTarget<'_> {
    fn failed(&self, error: std::io::Error) -> LabError {
        LabError::file("writing", &self.file.facts().name, error)
    }
}

impl VerifyTarget for JobTarget<'_> {
    fn write(&mut self, offset: u64, bytes: &[u8], is_durable: bool) -> Result<(), LabError> {
        self.buffer.bytes()[..bytes.len()].copy_from_slice(bytes);
        let written = self
            .file
            .write(offset, bytes.len(), &mut self.buffer, is_durable);
        written.map_err(|error| self.failed(error))
    }

    fn sync(&mut self) -> Result<(), LabError> {
        self.file.flush().map_err(|error| self.failed(error))
    }
}

fn now() -> WriteTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(WriteTime::default(), |since| WriteTime {
        seconds: since.as_secs() as u32,
        nanos: since.subsec_nanos(),
    })
}

/// Waits until the writer has ended, for `time` at most, or until `stop`.
fn wait<T>(writer: &ScopedJoinHandle<'_, T>, time: Duration, stop: Option<&AtomicBool>) {
    let until = Instant::now() + time;
    let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    while Instant::now() < until && !writer.is_finished() && !is_stopped() {
        std::thread::sleep(TICK);
    }
}

/// Writes until the job is over, an error, or `halt`.
fn write(file: &DirectFile, job: &VerifiedJob, halt: &AtomicBool) -> RunEnd {
    match DirectBuffer::new(job.block_bytes as usize) {
        Ok(buffer) => {
            let mut before = |_: &WriteProgress| (!halt.load(Ordering::SeqCst)).then(now);
            run(job, &mut JobTarget { file, buffer }, &mut before)
        }
        Err(error) => RunEnd {
            progress: WriteProgress::default(),
            error: Some(LabError::file("writing", &file.facts().name, error)),
        },
    }
}

/// Writes until the target stops to answer; `None`: stopped before.
///
/// # Errors
/// When the switch does not work, the target fails before, or goes on answering.
pub fn write_until_cut(
    file: &DirectFile,
    job: &VerifiedJob,
    switch: &PullSwitch,
    limits: &WriterLimits,
    stop: &AtomicBool,
) -> Result<Option<CutWrites>, LabError> {
    let halt = AtomicBool::new(false);
    let by_hand = switch.by() == PowerCutSource::Hand;
    let mut switched = None;
    let end = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(file, job, &halt));
        if by_hand {
            wait(&writer, limits.gone, Some(stop));
        } else {
            wait(&writer, limits.writing(job.seed), Some(stop));
            if !writer.is_finished() && !stop.load(Ordering::Relaxed) {
                switched = Some(switch.off());
                wait(&writer, limits.gone, None);
            }
        }
        halt.store(true, Ordering::SeqCst);
        let end = writer.join();
        end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match (switched, &end.error) {
        (Some(off), _) => off?,
        (None, _) if by_hand => {}
        (None, _) if stop.load(Ordering::Relaxed) => return Ok(None),
        (None, Some(error)) => {
            return Err(LabError::refused(
                format!("{error}, before --off"),
                "that is no pull; see that it works, and run this again",
            ));
        }
        // The job is over: what no sync covers may still be in the drive's buffer.
        (None, None) => switch.off()?,
    }
    let stop = Some(stop).filter(|_| by_hand);
    wait_until_gone(file, job, end, limits.gone, stop)
}

/// Waits until the target does not answer reads, if no write has said so.
fn wait_until_gone(
    file: &DirectFile,
    job: &VerifiedJob,
    end: RunEnd,
    limit: Duration,
    stop: Option<&AtomicBool>,
) -> Result<Option<CutWrites>, LabError> {
    let RunEnd { progress, error } = end;
    if let Some(error) = error {
        return Ok(Some(CutWrites {
            progress,
            error: Some(error.to_string()),
        }));
    }
    let mut buffer = DirectBuffer::new(job.block_bytes as usize)
        .map_err(|error| LabError::file("reading", &file.facts().name, error))?;
    let until = Instant::now() + limit;
    while Instant::now() < until {
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(None);
        }
        if file
            .read(job.offset, job.block_bytes as usize, &mut buffer)
            .is_err()
        {
            return Ok(Some(CutWrites {
                progress,
                error: None,
            }));
        }
        std::thread::sleep(TICK);
    }
    Err(LabError::refused(
        format!("{} went on answering: that is no pull", file.facts().name),
        "does --off take the power of this very target away?",
    ))
}
