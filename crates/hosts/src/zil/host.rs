//! The host as a state machine: writers, logs, transaction groups and the path to the device.
//!
//! ```text
//! writer: think -> write -> log: commit = fill blocks, allocate the next, hand the full one over
//!    ^                            -> path (one write at a time) -> device
//!    +---- acknowledge <- flush done <- flush <- all blocks of the commit written
//! group: closes -> syncs -> blocks that only it needed are free again
//! ```
//!
//! Its only inputs are the time and the completions.

use super::autotrim::Trims;
use super::chain::{BlockWrite, ChainStep, LogChain, LogRecord};
use super::space::{LogExtent, LogSpace};
use super::spec::{HostCounts, HostSpec};
use super::writer::{self, ZilWriter};
use ssdlab_bench::engine::exponential;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A command to hand over.
#[derive(Clone, Copy, Debug)]
pub struct IssuedCommand {
    /// To be given back when it completes.
    pub tag: u32,
    /// Which side of a mirror it is for, from 0.
    pub side: u32,
    /// What to do.
    pub command: Command,
}

/// A host that issues commands and waits for them.
pub trait HostModel {
    /// When it wants to be polled if nothing completes before.
    fn wake(&self) -> Option<Nanos>;
    /// It is `now`: appends the commands to hand over.
    fn poll(&mut self, now: Nanos, out: &mut Vec<IssuedCommand>);
    /// The command with this tag has completed.
    fn completed(&mut self, tag: u32, now: Nanos);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LogHostEvent {
    Think(u32),
    Release(u32),
    Fill(u32),
    OpenWait(u32, u64),
    Close(u64),
    Synced(u64),
}

#[derive(Clone, Copy, Debug)]
enum PendingLogCommand {
    Idle,
    Block {
        log: u32,
        batch: u64,
        side: u32,
        command: Command,
    },
    Flush {
        log: u32,
        batch: u64,
        side: u32,
    },
    Trim {
        number: u64,
        side: u32,
        range: LogExtent,
    },
}

/// The blocks of one commit.
#[derive(Clone, Debug)]
struct CommitBatch {
    number: u64,
    began: Nanos,
    out: u32,
    sealed: bool,
    /// Flushes outstanding, once begun.
    flushing: Option<u32>,
    blocks: Vec<u64>,
}

#[derive(Clone, Debug)]
struct IntentLog {
    chain: LogChain,
    allocator: usize,
    /// The last one is being filled unless sealed.
    batches: VecDeque<CommitBatch>,
    next_batch: u64,
    /// Being filled: not to be begun again.
    filling: bool,
    /// Waits for more records.
    open: bool,
    latency: Nanos,
}

/// Where a writer is.
#[derive(Clone, Debug)]
struct WriterProgress {
    writer: ZilWriter,
    bytes: u64,
    began: Nanos,
}

/// The host.
#[derive(Clone, Debug)]
pub struct LogHost {
    spec: HostSpec,
    rng: Rng,
    writers: Vec<WriterProgress>,
    logs: Vec<IntentLog>,
    space: LogSpace,
    trims: Trims,
    events: BinaryHeap<Reverse<(Nanos, u64, LogHostEvent)>>,
    sequence: u64,
    pending: Vec<PendingLogCommand>,
    idle: Vec<u32>,
    path_free: Nanos,
    group: u64,
    group_bytes: u64,
    syncing: bool,
    stalled: Vec<u32>,
    counts: HostCounts,
    now: Nanos,
}

impl LogHost {
    /// A host at time 0.
    pub fn new(spec: HostSpec) -> LogHost {
        let logs = (0..spec.datasets).map(|number| IntentLog {
            chain: LogChain::new(
                spec.commit.format,
                spec.commit.size_rule,
                spec.commit.chunk.is_none(),
            ),
            allocator: spec.allocator_of.get(number).copied().unwrap_or_else(|| {
                let mut rng = Rng::named(spec.seed, &format!("allocator of dataset {number}"));
                rng.below(spec.space.allocators.max(1) as u64) as usize
            }),
            batches: VecDeque::new(),
            next_batch: 0,
            filling: false,
            open: false,
            latency: Nanos::ZERO,
        });
        let writers = (0..spec.writers).map(|number| WriterProgress {
            writer: ZilWriter::new(&spec.writer, spec.seed, number),
            bytes: 0,
            began: Nanos::ZERO,
        });
        let mut host = LogHost {
            rng: Rng::named(spec.seed, "zil path"),
            writers: writers.collect(),
            logs: logs.collect(),
            space: LogSpace::new(spec.space, spec.capacity),
            trims: Trims::default(),
            events: BinaryHeap::new(),
            sequence: 0,
            pending: Vec::new(),
            idle: Vec::new(),
            path_free: Nanos::ZERO,
            group: 1,
            group_bytes: 0,
            syncing: false,
            stalled: Vec::new(),
            counts: HostCounts::default(),
            now: Nanos::ZERO,
            spec,
        };
        for number in 0..host.writers.len() {
            host.think(number as u32);
        }
        host.schedule(host.spec.group.timeout, LogHostEvent::Close(1));
        host
    }

    /// What has happened so far.
    pub fn counts(&self) -> &HostCounts {
        &self.counts
    }

    /// The logs' chains.
    pub fn chains(&self) -> impl Iterator<Item = &LogChain> {
        self.logs.iter().map(|log| &log.chain)
    }

    /// Checks that the live blocks of all logs lie on the device and apart from each other.
    ///
    /// # Errors
    /// The first block that does not.
    pub fn check(&self) -> Result<(), String> {
        let mut live: Vec<LogExtent> = self
            .chains()
            .flat_map(|chain| chain.blocks().map(|block| block.extent))
            .collect();
        live.sort_unstable_by_key(|extent| extent.offset);
        let ends = live.iter().map(|extent| extent.offset + extent.len);
        let nexts = live.iter().skip(1).map(|extent| extent.offset);
        for (end, next) in ends.zip(nexts.chain([self.spec.capacity])) {
            if end > next {
                return Err(format!("a block ends at {end}, behind {next}"));
            }
        }
        Ok(())
    }

    fn schedule(&mut self, time: Nanos, event: LogHostEvent) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, event)));
    }

    fn think(&mut self, number: u32) {
        let place = &mut self.writers[number as usize];
        place.bytes = place.writer.next_write();
        let time = self.now + place.writer.think(place.bytes);
        self.schedule(time, LogHostEvent::Think(number));
    }

    /// A writer's next write reaches its log.
    fn write(&mut self, number: u32) {
        let place = &mut self.writers[number as usize];
        place.began = self.now;
        let bytes = place.bytes;
        let log = number % self.logs.len() as u32;
        let records = writer::records(bytes, self.spec.commit.chunk);
        let last = records.len() - 1;
        for (position, data) in records.into_iter().enumerate() {
            self.logs[log as usize].chain.push(LogRecord {
                data,
                waiter: (position == last).then_some(number),
                group: self.group,
            });
        }
        self.group_bytes += bytes;
        if self
            .spec
            .group
            .bytes_max
            .is_some_and(|max| self.group_bytes >= max)
        {
            self.close(self.group);
        }
        self.commit(log);
    }

    fn commit(&mut self, log: u32) {
        let pipelined = self.spec.commit.pipelined;
        let state = &mut self.logs[log as usize];
        if state.filling {
            if state.open {
                self.fill(log);
            }
            return;
        }
        if !state.chain.has_queue() || (!pipelined && !state.batches.is_empty()) {
            return;
        }
        state.filling = true;
        state.chain.begin_commit();
        state.batches.push_back(CommitBatch {
            number: state.next_batch,
            began: self.now,
            out: 0,
            sealed: false,
            flushing: None,
            blocks: Vec::new(),
        });
        state.next_batch += 1;
        self.fill(log);
    }

    /// Puts records into blocks and hands full ones over.
    fn fill(&mut self, log: u32) {
        let state = &mut self.logs[log as usize];
        state.open = false;
        match state.chain.fill() {
            ChainStep::Idle => self.seal(log),
            ChainStep::Full => {
                if let Some(written) = self.link(log) {
                    let copied = self.spec.commit.copy_per_kib.0 * (written / 1024);
                    self.schedule(self.now + Nanos(copied), LogHostEvent::Fill(log));
                }
            }
            ChainStep::Open => {
                let wait = state.latency.0 * self.spec.commit.open_wait_pct / 100;
                if wait == 0 {
                    if self.link(log).is_some() {
                        self.seal(log);
                    }
                } else {
                    state.open = true;
                    let (batch, time) = (state.next_batch, self.now + Nanos(wait));
                    self.schedule(time, LogHostEvent::OpenWait(log, batch));
                }
            }
        }
    }

    /// Allocates the next block and hands over the full one; how many bytes that were, or `None`
    /// when the log device is full and the log has to wait for a sync.
    fn link(&mut self, log: u32) -> Option<u64> {
        let state = &mut self.logs[log as usize];
        let size = state.chain.next_size();
        let Some(next) = self.space.allocate(size, state.allocator) else {
            self.counts.full += 1;
            self.stalled.push(log);
            self.close(self.group);
            return None;
        };
        let Some(write) = state.chain.link(next, self.group) else {
            return Some(0);
        };
        self.issue_block(log, write);
        Some(write.extent.len)
    }

    fn issue_block(&mut self, log: u32, write: BlockWrite) {
        let state = &mut self.logs[log as usize];
        let Some(batch) = state.batches.back_mut() else {
            return;
        };
        batch.out += self.spec.sides;
        batch.blocks.push(write.number);
        let LogExtent { offset, len } = write.extent;
        let batch = batch.number;
        self.counts.blocks += 1;
        let path = self.spec.path;
        let mean = path.per_write.0 + path.per_kib.0 * (len / 1024);
        let varying = mean * u64::from(path.jitter_pct) / 100;
        let drawn = exponential(self.rng.next_u64(), Nanos(varying));
        let service = mean - varying + drawn.0;
        self.path_free = self.path_free.max(self.now) + Nanos(service);
        for side in 0..self.spec.sides {
            let pending = PendingLogCommand::Block {
                log,
                batch,
                side,
                command: Command::write(offset, len as u32),
            };
            self.enqueue(pending, self.path_free);
        }
    }

    fn enqueue(&mut self, pending: PendingLogCommand, time: Nanos) {
        let tag = self.idle.pop().unwrap_or_else(|| {
            self.pending.push(PendingLogCommand::Idle);
            self.pending.len() as u32 - 1
        });
        self.pending[tag as usize] = pending;
        self.schedule(time, LogHostEvent::Release(tag));
    }

    fn seal(&mut self, log: u32) {
        let state = &mut self.logs[log as usize];
        state.filling = false;
        if let Some(batch) = state.batches.back_mut() {
            batch.sealed = true;
        }
        self.flush_ready(log);
        if self.spec.commit.pipelined {
            self.commit(log);
        }
    }

    /// Flushes for batches whose writes, and those before, are complete.
    fn flush_ready(&mut self, log: u32) {
        let mut flushes = Vec::new();
        for batch in &mut self.logs[log as usize].batches {
            if batch.out > 0 || !batch.sealed {
                break;
            }
            if batch.flushing.is_none() {
                batch.flushing = Some(self.spec.sides);
                flushes.push(batch.number);
            }
        }
        for batch in flushes {
            self.counts.flushes += 1;
            // Not kept waiting behind other logs' writes.
            let time = self.now + self.spec.path.per_flush;
            for side in 0..self.spec.sides {
                self.enqueue(PendingLogCommand::Flush { log, batch, side }, time);
            }
        }
    }

    fn block_done(&mut self, log: u32, batch: u64) {
        let state = &mut self.logs[log as usize];
        if let Some(batch) = state.batches.iter_mut().find(|b| b.number == batch) {
            batch.out -= 1;
            if batch.out == 0 {
                for &block in &batch.blocks {
                    state.chain.written(block);
                }
            }
        }
        self.flush_ready(log);
    }

    fn flush_done(&mut self, log: u32, number: u64) {
        let state = &mut self.logs[log as usize];
        let flushed = state
            .batches
            .iter_mut()
            .find(|batch| batch.number == number);
        if let Some(out) = flushed.and_then(|batch| batch.flushing.as_mut()) {
            *out -= 1;
            if *out > 0 {
                return;
            }
        }
        let mut waiters = Vec::new();
        // A flush makes durable what was complete before it: earlier batches too.
        while state
            .batches
            .front()
            .is_some_and(|batch| batch.number <= number)
        {
            let Some(batch) = state.batches.pop_front() else {
                break;
            };
            state.latency = self.now.saturating_sub(batch.began);
            for block in batch.blocks {
                waiters.extend(state.chain.acknowledge(block));
            }
        }
        for writer in waiters {
            let place = &self.writers[writer as usize];
            self.counts.writes += 1;
            self.counts.bytes += place.bytes;
            self.counts
                .latencies
                .push(self.now.saturating_sub(place.began));
            self.think(writer);
        }
        self.commit(log);
    }

    /// Closes group `number` if it is the open one and none is syncing.
    fn close(&mut self, number: u64) {
        if number != self.group || self.syncing {
            return;
        }
        self.syncing = true;
        self.group += 1;
        self.group_bytes = 0;
        self.schedule(
            self.now + self.spec.group.sync,
            LogHostEvent::Synced(number),
        );
        let timeout = self.spec.group.timeout.max(self.spec.group.sync);
        self.schedule(self.now + timeout, LogHostEvent::Close(self.group));
    }

    fn synced(&mut self, number: u64) {
        self.syncing = false;
        self.counts.groups += 1;
        let mut freed = Vec::new();
        for log in &mut self.logs {
            freed.extend(log.chain.synced(number));
        }
        if self.spec.autotrim {
            freed = self.trim(freed);
        }
        self.space.synced(freed);
        for log in std::mem::take(&mut self.stalled) {
            self.fill(log);
        }
    }

    /// Issues the trims of what a group freed; what may be used again now.
    fn trim(&mut self, freed: Vec<LogExtent>) -> Vec<LogExtent> {
        let (ready, ranges) = self.trims.free(freed, self.spec.sides);
        for (number, range) in ranges {
            self.counts.trims += 1;
            self.counts.trimmed_bytes += range.len;
            for side in 0..self.spec.sides {
                let pending = PendingLogCommand::Trim {
                    number,
                    side,
                    range,
                };
                self.enqueue(pending, self.now);
            }
        }
        ready
    }

    fn handle(&mut self, event: LogHostEvent, out: &mut Vec<IssuedCommand>) {
        match event {
            LogHostEvent::Think(writer) => self.write(writer),
            LogHostEvent::Fill(log) => self.fill(log),
            LogHostEvent::OpenWait(log, batch) => {
                let state = &self.logs[log as usize];
                if state.open && state.next_batch == batch {
                    self.open_wait_over(log);
                }
            }
            LogHostEvent::Close(group) => self.close(group),
            LogHostEvent::Synced(group) => self.synced(group),
            LogHostEvent::Release(tag) => {
                let (side, command) = match self.pending[tag as usize] {
                    PendingLogCommand::Block { side, command, .. } => (side, command),
                    PendingLogCommand::Flush { side, .. } => (side, Command::flush()),
                    PendingLogCommand::Trim { side, range, .. } => {
                        (side, Command::trim(range.offset, range.len as u32))
                    }
                    PendingLogCommand::Idle => return,
                };
                out.push(IssuedCommand { tag, side, command });
            }
        }
    }

    fn open_wait_over(&mut self, log: u32) {
        let state = &mut self.logs[log as usize];
        state.open = false;
        if state.chain.fill() != ChainStep::Idle && self.link(log).is_some() {
            self.seal(log);
        }
    }
}

impl HostModel for LogHost {
    fn wake(&self) -> Option<Nanos> {
        self.events.peek().map(|Reverse((time, _, _))| *time)
    }

    fn poll(&mut self, now: Nanos, out: &mut Vec<IssuedCommand>) {
        while let Some(Reverse((time, _, _))) = self.events.peek() {
            if *time > now {
                break;
            }
            let Some(Reverse((time, _, event))) = self.events.pop() else {
                break;
            };
            self.now = self.now.max(time);
            self.handle(event, out);
        }
        self.now = self.now.max(now);
    }

    fn completed(&mut self, tag: u32, now: Nanos) {
        self.now = self.now.max(now);
        let pending = std::mem::replace(&mut self.pending[tag as usize], PendingLogCommand::Idle);
        self.idle.push(tag);
        match pending {
            PendingLogCommand::Block { log, batch, .. } => self.block_done(log, batch),
            PendingLogCommand::Flush { log, batch, .. } => self.flush_done(log, batch),
            PendingLogCommand::Trim { number, .. } => self.trims.done(number),
            PendingLogCommand::Idle => {}
        }
    }
}
