//! Playing a stream on a modelled drive, and forking the drive where its power is to be cut.

use super::history::StreamProgress;
use super::stream::CommandStream;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::drive::Completion;
use ssdlab_ssd::drive::power::{Cut, PowerDrive, Recovery};
use ssdlab_ssd::nand::media::Content;
use std::fmt;

/// Where the power is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutPoint {
    /// Index of the command; the number of commands means after the last.
    pub command: usize,
    /// `None`: before it is submitted. Otherwise the time after it, ns; behind the last command,
    /// rest. Further commands may be in flight, and may be submitted in this time.
    pub inside: Option<u64>,
    /// Whether the power is cut a second time.
    pub again: Option<SecondCut>,
}

/// When the power is cut a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecondCut {
    /// Inside the recovery from the first cut, after this share of it in thousandths.
    InRecovery(u16),
    /// After the recovery, by this time in ns, before any command.
    After(u64),
    /// Inside this FLUSH of a check, counted from 1; the check then runs once more. The
    /// caller that runs the check makes this cut.
    InCheck(u32),
}

impl CutPoint {
    /// Before a command.
    pub fn before(command: usize) -> CutPoint {
        CutPoint {
            command,
            inside: None,
            again: None,
        }
    }
}

impl fmt::Display for CutPoint {
    /// As in tokens: `12` before command #13, `12+300` 300 ns into it; `12r500` and again in the
    /// middle of the recovery, `12a500` and again 500 ns after it, `12c3` and again inside the
    /// third FLUSH of the check.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.command)?;
        if let Some(ns) = self.inside {
            write!(f, "+{ns}")?;
        }
        match self.again {
            None => Ok(()),
            Some(SecondCut::InRecovery(share)) => write!(f, "r{share}"),
            Some(SecondCut::After(ns)) => write!(f, "a{ns}"),
            Some(SecondCut::InCheck(nth)) => write!(f, "c{nth}"),
        }
    }
}

/// When a command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandSpan {
    /// Submitted.
    pub start: Nanos,
    /// Completed.
    pub end: Nanos,
}

/// A command in flight.
#[derive(Clone, Copy, Debug)]
struct StreamFlight {
    tag: u32,
    index: usize,
}

/// A stream being played without a pause: a command is submitted as soon as those have completed
/// that had completed before it when it was recorded.
#[derive(Clone, Debug)]
pub struct Player<'a> {
    stream: &'a CommandStream,
    drive: PowerDrive,
    open: Vec<StreamFlight>,
    reached: StreamProgress,
}

/// A drive after a cut and its recovery.
#[derive(Clone, Debug)]
pub struct Aftermath {
    /// The drive, on again unless it is dead.
    pub drive: PowerDrive,
    /// How far the stream had come.
    pub reached: StreamProgress,
    /// Effects of the cut.
    pub cut: Cut,
    /// What power-on did, the last time.
    pub recovery: Recovery,
    /// What the drive held between its first recovery and a cut after that.
    pub held: Option<Vec<(u32, Content)>>,
}

impl<'a> Player<'a> {
    /// Before the first command.
    pub fn new(stream: &'a CommandStream, base: PowerDrive) -> Player<'a> {
        Player {
            stream,
            drive: base,
            open: Vec::new(),
            reached: StreamProgress::default(),
        }
    }

    /// The drive as it is now.
    pub fn drive(&self) -> &PowerDrive {
        &self.drive
    }

    /// Number of commands submitted.
    pub fn submitted(&self) -> usize {
        self.reached.submitted()
    }

    /// Whether all is there that the next command waits for; behind the last, that everything has
    /// completed.
    pub fn is_ready(&self) -> bool {
        let next = self.submitted();
        let is_last = next >= self.stream.commands.len();
        let mut open = self.open.iter();
        !open.any(|flight| is_last || self.stream.done_before(flight.index) <= next)
    }

    /// Submits the next command; false after the last.
    pub fn submit(&mut self) -> bool {
        let index = self.submitted();
        let Some(recorded) = self.stream.commands.get(index) else {
            return false;
        };
        let is_free = |tag: &u32| self.open.iter().all(|flight| flight.tag != *tag);
        let tag = (0..).find(is_free).unwrap_or_default();
        let submit_time = self.drive.now();
        self.drive
            .submit(tag, &recorded.command, recorded.payload(), submit_time);
        self.open.push(StreamFlight { tag, index });
        self.reached.done.push(None);
        true
    }

    /// Takes the next completion until a time: the index of its command, and when it came.
    pub fn complete(&mut self, until: Nanos) -> Option<(usize, Nanos)> {
        let Completion { tag, done, .. } = self.drive.pop_completion(until)?;
        let position = self.open.iter().position(|flight| flight.tag == tag)?;
        let index = self.open.remove(position).index;
        self.reached.done[index] = Some(self.submitted() as u32);
        Some((index, done))
    }

    /// Plays until just before a command is submitted. Never goes back.
    pub fn seek(&mut self, command: usize) {
        loop {
            while !self.is_ready() && self.complete(Nanos::MAX).is_some() {}
            if self.submitted() >= command || !self.submit() {
                return;
            }
        }
    }

    /// Completes everything that is in flight.
    pub fn settle(&mut self) {
        while self.complete(Nanos::MAX).is_some() {}
    }

    /// The state now, to be cut at `point`, which must not lie before it.
    pub fn fork(&self) -> Player<'a> {
        self.clone()
    }

    /// Plays on to `point`, cuts the power there and gives it back a second after the drive is
    /// dark; the same for a second cut. Faults strike as the instant has it.
    pub fn cut_at(mut self, point: CutPoint) -> Aftermath {
        self.seek(point.command);
        let mut cut_time = self.drive.now();
        if let Some(ns) = point.inside {
            let until = Nanos(cut_time.0.saturating_add(ns));
            self.submit();
            self.play_until(until);
            cut_time = until;
        } else {
            while self.complete(cut_time).is_some() {}
        }
        let mut drive = self.drive;
        let (cut, mut recovery) = cut_and_recover(&mut drive, cut_time);
        let mut held = None;
        let (on, ready) = (recovery.at.0, recovery.ready.0);
        let second = match point.again.filter(|_| !recovery.dead) {
            Some(SecondCut::InRecovery(share)) => {
                Some(on + (ready - on) * u64::from(share.min(999)) / 1000)
            }
            Some(SecondCut::After(ns)) => {
                drive.keep_before_cuts();
                Some(ready.saturating_add(ns))
            }
            Some(SecondCut::InCheck(_)) | None => None,
        };
        if let Some(at) = second {
            while drive.pop_completion(Nanos(at)).is_some() {}
            recovery = cut_and_recover(&mut drive, Nanos(at)).1;
            held = drive.take_before();
        }
        Aftermath {
            drive,
            reached: self.reached,
            cut,
            recovery,
            held,
        }
    }

    fn play_until(&mut self, until: Nanos) {
        loop {
            while self.is_ready() && self.submit() {}
            if self.complete(until).is_none() {
                return;
            }
        }
    }

    /// The instants from the submission of the next command to that of the one after it, in ns,
    /// between which nothing changes on the media: before, inside and after each program and
    /// erase.
    pub fn instants(&self) -> Vec<u64> {
        let mut fork = self.clone();
        let start = fork.drive.now();
        let is_last = !fork.submit();
        let mut edges = vec![start.0];
        let last = loop {
            let now_ns = fork.drive.now().0;
            if !is_last && fork.is_ready() {
                break now_ns;
            }
            let booked = fork.drive.media().booked_ends();
            let booked = booked.filter(|&end| end > now_ns).min();
            edges.extend(booked);
            let completion = fork.complete(booked.map_or(Nanos::MAX, Nanos));
            edges.extend(completion.map(|(_, at)| at.0));
            if completion.is_none() && booked.is_none() {
                break now_ns + 1;
            }
        };
        inside(&edges, start.0, last)
    }
}

/// Cuts the power, and gives it back a second after the drive is dark.
fn cut_and_recover(drive: &mut PowerDrive, at: Nanos) -> (Cut, Recovery) {
    let cut_time = at.max(drive.now());
    drive.stir_faults(cut_time.0);
    let cut = drive.cut(cut_time);
    let on = cut_time.0 + cut.held_up.0 + 1_000_000_000;
    let recovery = drive.power_on(Nanos(on));
    (cut, recovery)
}

/// For each stretch between two edges its beginning, an eighth, the middle and its last ns.
fn inside(edges: &[u64], start: u64, end: u64) -> Vec<u64> {
    let mut edges: Vec<u64> = edges.iter().copied().filter(|&edge| edge < end).collect();
    edges.push(end);
    edges.sort_unstable();
    edges.dedup();
    let mut instants = Vec::new();
    for pair in edges.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = to - from;
        instants.extend([from, from + length / 8, from + length / 2, to - 1]);
    }
    instants.sort_unstable();
    instants.dedup();
    instants.into_iter().map(|at| at - start).collect()
}
