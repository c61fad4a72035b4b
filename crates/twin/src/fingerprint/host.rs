//! The measuring core: a host that keeps commands outstanding on a target and takes the times.

use ssdlab_base::LabError;
use ssdlab_bench::device::status::error_of;
use ssdlab_bench::device::{Target, TargetCompletion};
use ssdlab_ssd::{Command, Nanos, Op};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a small command, and of a large one.
pub const SMALL: u32 = 4 << 10;
/// Bytes of a large command.
pub const LARGE: u32 = 128 << 10;
/// Most commands outstanding in any probe.
pub const DEPTH_MAX: u32 = 256;
/// Bytes of one trim.
const TRIM: u64 = 1 << 30;

/// A command that has completed.
#[derive(Clone, Copy, Debug)]
pub struct AckedCommand {
    /// When, in the target's time.
    pub at: Nanos,
    /// From hand-over to completion.
    pub latency: Nanos,
    /// Bytes that it wrote or read.
    pub bytes: u32,
}

/// A target with the commands sent to it so far.
pub struct ProbedTarget<'a, T: Target> {
    target: &'a mut T,
    stop: &'a AtomicBool,
    /// Bytes used, from the target's start.
    pub bytes: u64,
    /// Bytes written so far.
    pub written: u64,
    began: Nanos,
    until: Nanos,
    tags: Vec<(u32, Command)>,
    completions: Vec<TargetCompletion>,
}

impl<'a, T: Target> ProbedTarget<'a, T> {
    /// A host for the first `bytes` of `target`.
    pub fn new(target: &'a mut T, bytes: u64, stop: &'a AtomicBool) -> ProbedTarget<'a, T> {
        let began = target.now();
        ProbedTarget {
            target,
            stop,
            bytes,
            written: 0,
            began,
            until: Nanos::MAX,
            tags: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// The target's time.
    pub fn now(&mut self) -> Nanos {
        self.target.now()
    }

    /// Time since the host began.
    pub fn elapsed(&mut self) -> Nanos {
        self.now().saturating_sub(self.began)
    }

    /// Stops when this much time has passed since the host began.
    pub fn limit(&mut self, time: Nanos) {
        self.until = self.began.saturating_add(time);
    }

    /// Keeps `depth` commands outstanding until `next` has no more and all have completed.
    ///
    /// # Errors
    /// When a command fails, or the run is stopped.
    pub fn keep(
        &mut self,
        depth: u32,
        mut next: impl FnMut(Nanos) -> Option<Command>,
        mut on_ack: impl FnMut(&AckedCommand),
    ) -> Result<(), LabError> {
        let depth = depth.min(self.target.depth_max());
        let mut free: Vec<u32> = (0..depth).rev().collect();
        self.tags.clear();
        self.tags.resize(depth as usize, (0, Command::flush()));
        let mut more = true;
        loop {
            while let Some(&tag) = free.last().filter(|_| more) {
                let time = self.target.now();
                let Some(command) = next(time) else {
                    more = false;
                    break;
                };
                free.pop();
                self.tags[tag as usize].1 = command;
                self.target.submit(tag, &command)?;
            }
            if free.len() == depth as usize {
                return Ok(());
            }
            if self.is_stopped() {
                more = false;
            }
            self.completions.clear();
            self.target.reap(None, &mut self.completions)?;
            for completion in &self.completions {
                let command = self.tags[completion.tag as usize].1;
                if completion.errno != 0 {
                    return Err(failed(&command, completion.errno));
                }
                if command.op == Op::Write {
                    self.written += u64::from(command.len);
                }
                on_ack(&AckedCommand {
                    at: completion.done,
                    latency: completion.done.saturating_sub(completion.submitted),
                    bytes: command.len,
                });
                free.push(completion.tag);
            }
        }
    }

    /// Whether the user has asked to stop, or the time is up.
    pub fn is_stopped(&mut self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.target.now() > self.until
    }

    /// Leaves the target idle.
    ///
    /// # Errors
    /// When the target fails.
    pub fn rest(&mut self, time: Nanos) -> Result<(), LabError> {
        let until = self.target.now() + time;
        while self.target.now() < until && !self.is_stopped() {
            let step = self.target.now() + Nanos::from_millis(200);
            self.target.reap(Some(until.min(step)), &mut Vec::new())?;
        }
        Ok(())
    }

    /// Trims `len` bytes from `offset`.
    ///
    /// # Errors
    /// When the target has no TRIM.
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<(), LabError> {
        let mut next_offset = offset;
        let end = offset + len;
        let next = |_| {
            let len = (end - next_offset).min(TRIM);
            next_offset += len;
            (len > 0).then(|| Command::trim(next_offset - len, len as u32))
        };
        self.keep(1, next, |_| {})
    }

    /// Times of `count` commands, one at a time.
    ///
    /// # Errors
    /// As [`ProbedTarget::keep`].
    pub fn singles(
        &mut self,
        count: u64,
        mut command: impl FnMut() -> Command,
    ) -> Result<Vec<f64>, LabError> {
        let mut remaining = count;
        let mut times = Vec::new();
        let next = |_| {
            remaining = remaining.checked_sub(1)?;
            Some(command())
        };
        self.keep(1, next, |acked| times.push(acked.latency.0 as f64))?;
        Ok(times)
    }
}

fn failed(command: &Command, errno: i32) -> LabError {
    let problem = format!(
        "the target refused a {} of {} bytes at {}: {}",
        command.op.name(),
        command.len,
        command.offset,
        error_of(errno)
    );
    LabError::refused(problem, "what was measured so far is lost with it")
}
