//! Runs a host on a target and keeps what `iopattern` and `seeksize` would print.

use super::host::{HostModel, Issue};
use ssdlab_base::LabError;
use ssdlab_bench::device::{Done, Target};
use ssdlab_load::trace::{Event, IoPattern, PatternRow, SeekSize};
use ssdlab_ssd::{Command, Nanos};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

/// A real target is never waited for longer than this at a time, so that a stop is seen.
const WAIT_MAX: Nanos = Nanos::from_millis(200);
const STUCK: Nanos = Nanos::from_secs(120);

/// What the device saw.
#[derive(Clone, Debug)]
pub struct Pattern {
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
}

/// How to run.
pub struct RunOptions<'a> {
    /// For how long.
    pub duration: Nanos,
    /// Length of an interval of `iopattern`.
    pub interval: Nanos,
    /// Set to end the run.
    pub stop: &'a AtomicBool,
}

struct Runner<'a, T: Target> {
    target: &'a mut T,
    /// The target's time at the start.
    start: Nanos,
    queue: VecDeque<Issue>,
    /// By target tag: the host's tag and what was asked.
    under_way: Vec<Option<(u32, Command)>>,
    free: Vec<u32>,
    pattern: IoPattern,
    found: Pattern,
}

/// Runs `host` on `target`. `sink` sees every command in order of completion.
///
/// # Errors
/// When the target or `sink` fails, a command fails, or nothing completes for two minutes.
pub fn run<T: Target>(
    host: &mut dyn HostModel,
    target: &mut T,
    options: &RunOptions<'_>,
    sink: &mut dyn FnMut(&Event) -> Result<(), LabError>,
) -> Result<Pattern, LabError> {
    let depth = target.depth_max().min(4096);
    let mut runner = Runner {
        start: target.now(),
        target,
        queue: VecDeque::new(),
        under_way: vec![None; depth as usize],
        free: (0..depth).rev().collect(),
        pattern: IoPattern::new(0, options.interval.0),
        found: Pattern {
            rows: Vec::new(),
            total: PatternRow::default(),
            seeks: SeekSize::new(),
            elapsed: Nanos::ZERO,
            interrupted: false,
        },
    };
    runner.work(host, options, sink)?;
    runner.drain(sink)?;
    let mut found = runner.found;
    found.rows.extend(runner.pattern.finish());
    found.total = runner.pattern.total();
    Ok(found)
}

impl<T: Target> Runner<'_, T> {
    fn now(&mut self) -> Nanos {
        self.target.now().saturating_sub(self.start)
    }

    fn work(
        &mut self,
        host: &mut dyn HostModel,
        options: &RunOptions<'_>,
        sink: &mut dyn FnMut(&Event) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let mut issues = Vec::new();
        let mut done = Vec::new();
        loop {
            let now = self.now();
            self.found.elapsed = now.min(options.duration);
            if now >= options.duration {
                return Ok(());
            }
            if options.stop.load(Ordering::Relaxed) {
                self.found.interrupted = true;
                return Ok(());
            }
            host.poll(now, &mut issues);
            self.queue.extend(issues.drain(..));
            self.submit()?;
            let wake = host.wake().unwrap_or(Nanos::MAX).min(options.duration);
            let until = wake.max(now).min(now.saturating_add(WAIT_MAX));
            self.target.reap(Some(self.start + until), &mut done)?;
            for finished in done.drain(..) {
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
            self.under_way[tag as usize] = Some((issue.tag, command));
            let event = Event::new(0, command.op, command.offset, u64::from(command.len));
            self.found.seeks.started(&event);
        }
        Ok(())
    }

    /// Counts a finished command; its tag with the host.
    fn finish(
        &mut self,
        done: &Done,
        sink: &mut dyn FnMut(&Event) -> Result<(), LabError>,
    ) -> Result<u32, LabError> {
        let slot = self.under_way.get_mut(done.tag as usize);
        let Some((tag, command)) = slot.and_then(Option::take) else {
            return Err(LabError::SelfCheck(format!(
                "tag {} completed but is not under way",
                done.tag
            )));
        };
        self.free.push(done.tag);
        if done.errno != 0 {
            return Err(LabError::Io {
                target: self.target.facts().name.clone(),
                op: command.op.name(),
                offset: command.offset,
                len: command.len,
                source: std::io::Error::from_raw_os_error(done.errno),
                hint: String::new(),
            });
        }
        let issued = done.submitted.saturating_sub(self.start).0;
        let event = Event {
            done_ns: Some(done.done.saturating_sub(self.start).0),
            ..Event::new(issued, command.op, command.offset, u64::from(command.len))
        };
        self.found.rows.extend(self.pattern.completed(&event));
        sink(&event)?;
        Ok(tag)
    }

    /// Waits for what is outstanding.
    fn drain(
        &mut self,
        sink: &mut dyn FnMut(&Event) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let give_up = self.target.now().saturating_add(STUCK);
        let mut done = Vec::new();
        while self.free.len() < self.under_way.len() {
            let now = self.target.now();
            if now >= give_up {
                let message = format!(
                    "{}: commands have not completed {STUCK} after the end",
                    self.target.facts().name
                );
                return Err(LabError::refused(message, "see the kernel log (dmesg)"));
            }
            let until = now.saturating_add(WAIT_MAX).min(give_up);
            self.target.reap(Some(until), &mut done)?;
            for finished in done.drain(..) {
                self.finish(&finished, sink)?;
            }
        }
        Ok(())
    }
}
