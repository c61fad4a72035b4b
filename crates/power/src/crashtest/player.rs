//! Playing a stream on a modelled drive, and forking the drive where its power is to be cut.

use super::history::Reached;
use super::stream::Stream;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::drive::power::{Cut, PowerDrive, Recovery};
use std::fmt;

/// Where the power is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutPoint {
    /// Index of the command; the number of commands means after the last.
    pub command: usize,
    /// `None`: before it is submitted. Otherwise the time after it, ns; behind the last command,
    /// rest.
    pub inside: Option<u64>,
}

impl CutPoint {
    /// Before a command.
    pub fn before(command: usize) -> CutPoint {
        CutPoint {
            command,
            inside: None,
        }
    }
}

impl fmt::Display for CutPoint {
    /// As in tokens: `12` before command #13, `12+300` 300 ns into it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inside {
            None => write!(f, "{}", self.command),
            Some(ns) => write!(f, "{}+{ns}", self.command),
        }
    }
}

/// When a command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Submitted.
    pub start: Nanos,
    /// Completed.
    pub end: Nanos,
}

/// A stream being played, one command after the other without a pause.
#[derive(Clone, Debug)]
pub struct Player<'a> {
    stream: &'a Stream,
    drive: PowerDrive,
    next: usize,
}

/// A drive after a cut and its recovery.
#[derive(Clone, Debug)]
pub struct Aftermath {
    /// The drive, on again unless it is dead.
    pub drive: PowerDrive,
    /// How far the stream had come.
    pub reached: Reached,
    /// Effects of the cut.
    pub cut: Cut,
    /// What power-on did.
    pub recovery: Recovery,
}

impl<'a> Player<'a> {
    /// Before the first command.
    pub fn new(stream: &'a Stream, base: PowerDrive) -> Player<'a> {
        Player {
            stream,
            drive: base,
            next: 0,
        }
    }

    /// The drive as it is now.
    pub fn drive(&self) -> &PowerDrive {
        &self.drive
    }

    /// Runs the next command; `None` after the last.
    pub fn step(&mut self) -> Option<Span> {
        let span = submit(self.stream, &mut self.drive, self.next)?;
        self.next += 1;
        Some(span)
    }

    /// Plays until before a command. Never goes back.
    pub fn seek(&mut self, command: usize) {
        while self.next < command && self.step().is_some() {}
    }

    /// The state now, to be cut at `point`, which must not lie before it.
    pub fn fork(&self) -> Player<'a> {
        self.clone()
    }

    /// Plays on to `point`, cuts the power there and gives it back a second after the drive is
    /// dark. Faults strike as the instant has it.
    pub fn cut_at(mut self, point: CutPoint) -> Aftermath {
        self.seek(point.command);
        let mut reached = Reached {
            completed: self.next,
            submitted: self.next,
        };
        let mut drive = self.drive;
        let mut at = drive.now();
        if let Some(ns) = point.inside {
            let until = Nanos(at.0.saturating_add(ns));
            if let Some(recorded) = self.stream.commands.get(self.next) {
                drive.submit(0, &recorded.command, recorded.payload(), at);
                reached.submitted += 1;
            }
            while drive.pop_completion(until).is_some() {
                reached.completed = reached.submitted;
            }
            at = until;
        } else {
            while drive.pop_completion(at).is_some() {}
        }
        let at = at.max(drive.now());
        drive.stir_faults(at.0);
        let cut = drive.cut(at);
        let on = at.0 + cut.held_up.0 + 1_000_000_000;
        let recovery = drive.power_on(Nanos(on));
        Aftermath {
            drive,
            reached,
            cut,
            recovery,
        }
    }

    /// The instants inside the next command, in ns after its start, between which nothing changes
    /// on the media: before, inside and after each program and erase.
    pub fn instants(&self) -> Vec<u64> {
        let mut fork = self.drive.clone();
        let start = fork.now();
        let is_last = self.next >= self.stream.commands.len();
        if let Some(recorded) = self.stream.commands.get(self.next) {
            fork.submit(0, &recorded.command, recorded.payload(), start);
        }
        let mut edges = vec![start.0];
        let last = loop {
            let now = fork.now().0;
            let booked = fork.media().booked_ends().filter(|&end| end > now).min();
            if booked.is_none() && is_last {
                break now + 1;
            }
            edges.extend(booked);
            if let Some(done) = fork.pop_completion(booked.map_or(Nanos::MAX, Nanos)) {
                break done.done.0;
            }
            if booked.is_none() {
                break now;
            }
        };
        inside(&edges, start.0, last)
    }
}

/// For each stretch between two edges its beginning, an eighth, the middle and its last ns.
fn inside(edges: &[u64], start: u64, end: u64) -> Vec<u64> {
    let mut edges: Vec<u64> = edges.iter().copied().filter(|&edge| edge < end).collect();
    edges.push(end);
    edges.sort_unstable();
    edges.dedup();
    let mut found = Vec::new();
    for pair in edges.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = to - from;
        found.extend([from, from + length / 8, from + length / 2, to - 1]);
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|at| at - start).collect()
}

/// Submits one command of the stream and waits for it.
fn submit(stream: &Stream, drive: &mut PowerDrive, index: usize) -> Option<Span> {
    let recorded = stream.commands.get(index)?;
    let start = drive.now();
    drive.submit(0, &recorded.command, recorded.payload(), start);
    let end = drive.pop_completion(Nanos::MAX).map_or(start, |d| d.done);
    Some(Span { start, end })
}

/// Plays the whole stream once: when each command ran.
pub fn timeline(stream: &Stream, base: &PowerDrive) -> Vec<Span> {
    let mut player = Player::new(stream, base.clone());
    std::iter::from_fn(|| player.step()).collect()
}
