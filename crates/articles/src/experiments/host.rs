//! The host of the experiments: keeps a drive at a queue depth, in virtual time.

use hdrhistogram::Histogram;
use ssdlab_base::LabError;
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::{Command, Drive, DriveConfig, DriveCounters, Nanos, Op};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a drive did between two times.
#[derive(Clone, Debug)]
pub struct Span {
    /// Commands completed, by kind; indexed by [`Op`].
    pub commands: [u64; Op::COUNT],
    /// Bytes read by the host.
    pub bytes_read: u64,
    /// Bytes written by the host.
    pub bytes_written: u64,
    /// Virtual time from the first submission to the last completion.
    pub time: Nanos,
    /// Write amplification factor within; `None` when nothing was written.
    pub waf: Option<f64>,
    /// Busy time of the dies by purpose as a share of all their busy time; by [`Purpose`].
    pub die_share: [f64; Purpose::COUNT],
    /// Latency of reads, ns.
    pub read_latency: Histogram<u64>,
    /// Latency of writes, ns.
    pub write_latency: Histogram<u64>,
    /// Superblocks free for data at its end.
    pub free_superblocks: usize,
}

impl Span {
    fn rate(&self, amount: u64) -> f64 {
        amount as f64 / (self.time.0.max(1) as f64 / 1e9)
    }

    /// Reads and writes a second.
    pub fn iops(&self) -> f64 {
        self.rate(self.commands[Op::Read as usize] + self.commands[Op::Write as usize])
    }

    /// MB (10^6 B) read a second.
    pub fn read_mb_s(&self) -> f64 {
        self.rate(self.bytes_read) / 1e6
    }

    /// MB (10^6 B) written a second.
    pub fn write_mb_s(&self) -> f64 {
        self.rate(self.bytes_written) / 1e6
    }

    /// MB (10^6 B) read and written a second.
    pub fn mb_s(&self) -> f64 {
        self.read_mb_s() + self.write_mb_s()
    }

    /// Latency in ms that so many of 100 reads do not exceed.
    pub fn read_ms(&self, percentile: f64) -> f64 {
        self.read_latency.value_at_percentile(percentile) as f64 / 1e6
    }
}

/// What the self-checks of an experiment's drives found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Drives checked.
    pub drives: u32,
    /// Commands given to them.
    pub commands: u64,
    /// What was wrong, in sentences; empty when all is well.
    pub faults: Vec<String>,
}

impl Health {
    /// No drive contradicted itself and every command was served.
    pub fn passed(&self) -> bool {
        self.drives > 0 && self.faults.is_empty()
    }

    pub(super) fn add(&mut self, name: &str, host: &Host<'_>) {
        self.drives += 1;
        self.commands += host.given;
        if let Err(what) = host.check() {
            self.faults.push(format!("{name}: {what}"));
        }
    }
}

/// A drive and what has been asked of it. Cloning it forks the drive.
#[derive(Clone, Debug)]
pub(super) struct Host<'a> {
    /// When it is set, no more commands are given: what was measured then is worth nothing.
    stop: Option<&'a AtomicBool>,
    drive: Drive,
    now: Nanos,
    given: u64,
    served: u64,
}

fn latencies() -> Histogram<u64> {
    // From 1 us to 100 s: whatever is longer is recorded as that.
    Histogram::new_with_bounds(1_000, 100_000_000_000, 3)
        .unwrap_or_else(|_| unreachable!("the bounds are allowed"))
}

/// Commands given between two looks at whether to stop.
const CHUNK: u64 = 1024;

impl<'a> Host<'a> {
    pub fn new(config: DriveConfig) -> Result<Host<'a>, LabError> {
        let name = config.name.clone();
        let drive = Drive::new(config).map_err(|error| {
            LabError::refused(
                format!("drive `{name}` of the experiment is not possible: {error}"),
                "choose a scale that leaves it more blocks",
            )
        })?;
        Ok(Host::around(drive))
    }

    /// Of a drive that has not been given a command yet.
    pub fn around(drive: Drive) -> Host<'a> {
        Host {
            stop: None,
            now: drive.now(),
            drive,
            given: 0,
            served: 0,
        }
    }

    /// Looks at `stop` from now on, as do its forks.
    pub fn watching(self, stop: &'a AtomicBool) -> Host<'a> {
        Host {
            stop: Some(stop),
            ..self
        }
    }

    /// Whether what it watches has been set.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Energy used so far, nJ.
    pub fn energy_nj(&self) -> u128 {
        self.drive.energy().total_nj()
    }

    pub fn config(&self) -> &DriveConfig {
        self.drive.config()
    }

    pub fn counters(&self) -> &DriveCounters {
        self.drive.counters()
    }

    pub fn free_superblocks(&self) -> usize {
        self.drive.free_superblocks()
    }

    /// Slots of media that hold valid data, and all that there are.
    pub fn valid_slots(&self) -> (u64, u64) {
        let views = self.drive.superblocks();
        let valid = views.iter().map(|view| u64::from(view.valid)).sum();
        let geometry = self.config().geometry();
        (
            valid,
            views.len() as u64 * u64::from(geometry.slots_per_superblock),
        )
    }

    /// Write amplification factor since then.
    pub fn waf_since(&self, before: &DriveCounters) -> Option<f64> {
        // On a drive that compresses, slots of media are smaller than mapping units.
        let slot = self.config().geometry().slot_bytes;
        self.counters().waf_since(before, slot)
    }

    /// Leaves the drive alone for so long.
    pub fn rest(&mut self, time: Nanos) {
        self.now = Nanos(self.now.0 + time.0);
        // Nothing is outstanding, so nothing can complete.
        let _ = self.drive.pop_completion(self.now);
    }

    /// Gives `commands` all at once and waits for all; returns the time from first to last.
    pub fn burst(&mut self, commands: &[Command]) -> Nanos {
        let began = self.now;
        if self.is_stopped() {
            return Nanos(0);
        }
        for (tag, command) in (0..).zip(commands) {
            self.drive.submit(tag, command, began);
            self.given += 1;
        }
        while self.drive.outstanding() > 0 {
            let Some(completion) = self.drive.pop_completion(Nanos::MAX) else {
                break;
            };
            self.now = completion.done;
            self.served += 1;
        }
        Nanos(self.now.0 - began.0)
    }

    /// Gives `commands`, always `depth` of them outstanding, and waits for all.
    pub fn run(&mut self, depth: u32, commands: impl IntoIterator<Item = Command>) -> Span {
        let begin = (
            self.now,
            self.counters().clone(),
            self.drive.busy_by_purpose(),
        );
        let mut latency: [Histogram<u64>; 2] = [latencies(), latencies()];
        let mut under_way = vec![Op::Flush; depth as usize];
        let mut free: Vec<u32> = (0..depth).rev().collect();
        let mut done = [0; Op::COUNT];
        let mut wait = |host: &mut Host<'a>, under_way: &[Op]| -> Option<u32> {
            let completion = host.drive.pop_completion(Nanos::MAX)?;
            host.now = completion.done;
            host.served += 1;
            let op = under_way[completion.tag as usize];
            done[op as usize] += 1;
            if let Some(table) = latency.get_mut(op as usize) {
                table.saturating_record(completion.done.0 - completion.submitted.0);
            }
            Some(completion.tag)
        };
        for command in commands {
            if self.given.is_multiple_of(CHUNK) && self.is_stopped() {
                break;
            }
            let tag = match free.pop() {
                Some(tag) => Some(tag),
                None => wait(self, &under_way),
            };
            // A drive that loses commands is found by the check.
            let Some(tag) = tag else { break };
            under_way[tag as usize] = command.op;
            self.drive.submit(tag, &command, self.now);
            self.given += 1;
        }
        while self.drive.outstanding() > 0 {
            let Some(_) = wait(self, &under_way) else {
                break;
            };
        }
        let [read_latency, write_latency] = latency;
        self.span(begin, done, read_latency, write_latency)
    }

    fn span(
        &self,
        (began, before, busy): (Nanos, DriveCounters, [u64; Purpose::COUNT]),
        commands: [u64; Op::COUNT],
        read_latency: Histogram<u64>,
        write_latency: Histogram<u64>,
    ) -> Span {
        let now = self.counters();
        let mut die_share = [0.0; Purpose::COUNT];
        let busy_now = self.drive.busy_by_purpose();
        let total: u64 = busy_now
            .iter()
            .zip(busy)
            .map(|(now, then)| now - then)
            .sum();
        for (share, (now, then)) in die_share.iter_mut().zip(busy_now.iter().zip(busy)) {
            *share = (now - then) as f64 / total.max(1) as f64;
        }
        Span {
            commands,
            bytes_read: now.host_bytes_read - before.host_bytes_read,
            bytes_written: now.host_bytes_written - before.host_bytes_written,
            time: Nanos(self.now.0 - began.0),
            waf: self.waf_since(&before),
            die_share,
            read_latency,
            write_latency,
            free_superblocks: self.free_superblocks(),
        }
    }

    /// The drive's own check, and that every command was served once.
    pub fn check(&self) -> Result<(), String> {
        self.drive.check()?;
        let c = self.counters();
        let counted = c.host_reads + c.host_writes + c.host_trims + c.host_flushes;
        if self.given == self.served && self.given == counted {
            return Ok(());
        }
        Err(format!(
            "{} commands given, {} completed, {counted} counted by the drive",
            self.given, self.served
        ))
    }
}
