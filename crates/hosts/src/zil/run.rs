//! Runs a host on a target and keeps what `iopattern` and `seeksize` would print.

use super::host::{HostModel, IssuedCommand};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_bench::device::status::error_of;
use ssdlab_bench::device::{Target, TargetCompletion};
use ssdlab_load::trace::{IoPattern, PatternRow, SeekSize, TraceEvent};
use ssdlab_ssd::{Command, Nanos, Op};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

/// A real target is never waited for longer than this at a time, so that a stop is seen.
const WAIT_MAX: Nanos = Nanos::from_millis(200);
const STUCK: Nanos = Nanos::from_secs(120);

/// Access pattern of the device.
#[derive(Clone, Debug)]
pub struct LogDevicePattern {
    /// `iopattern`, by interval.
    pub rows: Vec<PatternRow>,
    /// All as one row.
    pub total: PatternRow,
    /// `seeksize`.
    pub seeks: SeekSize,
    /// Time from the first command's earliest time to the end.
    pub elapsed: Nanos,
    /// Ended by the user.
    pub interrupted: bool,
    /// Self-checks of the run and of the target.
    pub checks: Vec<SelfCheck>,
}

/// How to run.
pub struct RunOptions<'a> {
    /// Length of the run.
    pub duration: Nanos,
    /// Length of an interval of `iopattern`.
    pub interval: Nanos,
    /// Set to end the run.
    pub stop: &'a AtomicBool,
}

struct Runner<'a, T: Target + ?Sized> {
    target: &'a mut T,
    /// The target's time at the start.
    start: Nanos,
    queue: VecDeque<IssuedCommand>,
    /// By target tag: the host's tag and its command.
    under_way: Vec<Option<(u32, Command)>>,
    free: Vec<u32>,
    pattern: IoPattern,
    result: LogDevicePattern,
    submitted: u64,
    completed: u64,
    bytes_submitted: u64,
}

/// Runs `host` on `target`. `sink` sees every command in order of completion.
///
/// # Errors
/// When the target or `sink` fails, a command fails, or nothing completes for two minutes.
pub fn run<T: Target + ?Sized>(
    host: &mut dyn HostModel,
    target: &mut T,
    options: &RunOptions<'_>,
    sink: &mut dyn FnMut(&TraceEvent) -> Result<(), LabError>,
) -> Result<LogDevicePattern, LabError> {
    let depth = target.depth_max().min(4096);
    let mut runner = Runner {
        start: target.now(),
        target,
        queue: VecDeque::new(),
        under_way: vec![None; depth as usize],
        free: (0..depth).rev().collect(),
        pattern: IoPattern::new(0, options.interval.0),
        result: LogDevicePattern {
            rows: Vec::new(),
            total: PatternRow::default(),
            seeks: SeekSize::new(),
            elapsed: Nanos::ZERO,
            interrupted: false,
            checks: Vec::new(),
        },
        submitted: 0,
        completed: 0,
        bytes_submitted: 0,
    };
    runner.work(host, options, sink)?;
    runner.drain(sink)?;
    let checks = runner.checks();
    let mut result = runner.result;
    result.rows.extend(runner.pattern.finish());
    result.total = runner.pattern.total();
    result.checks = checks;
    Ok(result)
}

/// Whether it is what `iopattern` counts bytes of: trims are not.
fn moves_data(command: &Command) -> bool {
    matches!(command.op, Op::Read | Op::Write)
}

impl<T: Target + ?Sized> Runner<'_, T> {
    fn now(&mut self) -> Nanos {
        self.target.now().saturating_sub(self.start)
    }

    fn work(
        &mut self,
        host: &mut dyn HostModel,
        options: &RunOptions<'_>,
        sink: &mut dyn FnMut(&TraceEvent) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let mut issues = Vec::new();
        let mut completions = Vec::new();
        loop {
            let instant = self.now();
            self.result.elapsed = instant.min(options.duration);
            if instant >= options.duration {
                return Ok(());
            }
            if options.stop.load(Ordering::Relaxed) {
                self.result.interrupted = true;
                return Ok(());
            }
            host.poll(instant, &mut issues);
            self.queue.extend(issues.drain(..));
            self.submit()?;
            let wake = host.wake().unwrap_or(Nanos::MAX).min(options.duration);
            let until = wake.max(instant).min(instant.saturating_add(WAIT_MAX));
            self.target
                .reap(Some(self.start + until), &mut completions)?;
            for finished in completions.drain(..) {
                let tag = self.finish(&finished, sink)?;
                host.completed(tag, finished.done.saturating_sub(self.start));
            }
        }
    }

    fn submit(&mut self) -> Result<(), LabError> {
        while let Some(tag) = self.free.pop() {
            let Some(issue) = self.queue.pop_front() else {
                self.free.push(tag);
                return Ok(());
            };
            let command = issue.command;
            self.target.submit(tag, &command)?;
            self.submitted += 1;
            let moves = moves_data(&command);
            self.bytes_submitted += if moves { u64::from(command.len) } else { 0 };
            self.under_way[tag as usize] = Some((issue.tag, command));
            let event = TraceEvent::new(0, command.op, command.offset, u64::from(command.len));
            if moves || command.op == Op::Flush {
                self.result.seeks.started(&event);
            }
        }
        Ok(())
    }

    /// Counts a finished command; its tag with the host.
    fn finish(
        &mut self,
        completion: &TargetCompletion,
        sink: &mut dyn FnMut(&TraceEvent) -> Result<(), LabError>,
    ) -> Result<u32, LabError> {
        let slot = self.under_way.get_mut(completion.tag as usize);
        let Some((tag, command)) = slot.and_then(Option::take) else {
            return Err(LabError::SelfCheck(format!(
                "tag {} completed but is not under way",
                completion.tag
            )));
        };
        self.free.push(completion.tag);
        self.completed += 1;
        if completion.errno != 0 {
            return Err(LabError::Io {
                target: self.target.facts().name.clone(),
                op: command.op.name(),
                offset: command.offset,
                len: command.len,
                source: error_of(completion.errno),
                hint: String::new(),
            });
        }
        let issued = completion.submitted.saturating_sub(self.start).0;
        let event = TraceEvent {
            done_ns: Some(completion.done.saturating_sub(self.start).0),
            ..TraceEvent::new(issued, command.op, command.offset, u64::from(command.len))
        };
        if command.op != Op::Trim {
            self.result.rows.extend(self.pattern.completed(&event));
        }
        sink(&event)?;
        Ok(tag)
    }

    /// Every command completed once, the pattern has all their bytes, and the target's own check.
    fn checks(&mut self) -> Vec<SelfCheck> {
        let equal = |what: &str, submitted: u64, counted: u64| {
            if submitted == counted {
                Ok(())
            } else {
                Err(format!("{submitted} {what} given, {counted} found"))
            }
        };
        let total = self.pattern.total();
        let bytes = total.bytes_read + total.bytes_written;
        let target = self.target.self_check().map_err(|error| error.to_string());
        vec![
            SelfCheck::new(
                "every command completes once",
                equal("commands", self.submitted, self.completed),
            ),
            SelfCheck::new(
                "the pattern holds every byte",
                equal("bytes", self.bytes_submitted, bytes),
            ),
            SelfCheck::new("log device", target),
        ]
    }

    /// Waits for what is outstanding.
    fn drain(
        &mut self,
        sink: &mut dyn FnMut(&TraceEvent) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let give_up = self.target.now().saturating_add(STUCK);
        let mut completions = Vec::new();
        while self.free.len() < self.under_way.len() {
            let instant = self.target.now();
            if instant >= give_up {
                let message = format!(
                    "{}: commands have not completed {STUCK} after the end",
                    self.target.facts().name
                );
                return Err(LabError::refused(message, "see the kernel log (dmesg)"));
            }
            let until = instant.saturating_add(WAIT_MAX).min(give_up);
            self.target.reap(Some(until), &mut completions)?;
            for finished in completions.drain(..) {
                self.finish(&finished, sink)?;
            }
        }
        Ok(())
    }
}
