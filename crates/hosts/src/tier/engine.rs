//! The tier at work: workers, copies, misses, destaging, in one virtual time.

use super::cache::{Destage, TierCache};
use super::hdd::Hdd;
use super::layout::{CHUNK, block_at, counters, fill, place_on_disk};
use super::promise::{CompletedCopy, Promises};
use super::result::{Tier, TierSample};
use super::spec::{DurabilityMode, TierSpec};
use ssdlab_base::LabError;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_bench::engine::devices::{DeviceCompletion, Devices, new_drive};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, DriveCounters, Nanos};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

/// Purpose of a device's command; the token is its index.
#[derive(Clone, Debug)]
enum CommandPurpose {
    Idle,
    /// A copy of a worker's write.
    Write {
        worker: u32,
        slot: u32,
    },
    /// A worker's read.
    Hit {
        worker: u32,
    },
    /// Copy into the cache of a block read from a disk.
    Insert {
        slot: u32,
    },
    /// Number of writes that it covers.
    Flush {
        covers: u64,
    },
    /// A block of the next write of a disk.
    Destage {
        disk: usize,
    },
}

/// A worker's command.
#[derive(Clone, Debug)]
struct Worker {
    block: u32,
    began: Nanos,
    version: u32,
    copies: Vec<CompletedCopy>,
}

/// A disk of a side and what it does.
#[derive(Clone, Debug)]
struct BackingDisk {
    hdd: Hdd,
    reads: VecDeque<u32>,
    /// Read from the cache device, ready to be written.
    ready: Vec<Destage>,
    /// Being read from the cache device, and how many blocks are still missing.
    loading: (Vec<Destage>, usize),
    at_work: Option<DiskWork>,
}

#[derive(Clone, Debug)]
enum DiskWork {
    Read(u32),
    Write(Vec<Destage>),
}

#[derive(Clone, Debug)]
pub(super) struct TierSide {
    pub(super) cache: TierCache,
    disks: Vec<BackingDisk>,
    /// Writes that wait for a slot.
    stalled: VecDeque<u32>,
    /// Copies that wait for a flush to begin: worker and copy.
    unflushed: Vec<(u32, CompletedCopy)>,
    flushing: Vec<(u32, CompletedCopy)>,
}

pub(super) struct TierEngine<'a> {
    pub(super) spec: &'a TierSpec,
    pub(super) devices: Devices,
    pub(super) sides: Vec<TierSide>,
    workers: Vec<Worker>,
    errands: Vec<CommandPurpose>,
    idle: Vec<usize>,
    /// Disks that finish: time, sequence, side, disk.
    events: BinaryHeap<Reverse<(Nanos, u64, usize, usize)>>,
    sequence: u64,
    pub(super) promises: Promises,
    /// Newest version of each block, by begun writes.
    pub(super) newest: Vec<u32>,
    rng: Rng,
    pub(super) stop: Nanos,
    /// Workers with a command under way.
    under_way: u32,
    pub(super) latencies: [Latencies; 3],
    pub(super) sums: [u128; 3],
    pub(super) stalls: u64,
    pub(super) destaged: u64,
    pub(super) sample: TierSample,
    pub(super) sample_write_ns: u128,
    pub(super) samples: Vec<TierSample>,
    pub(super) counters: Vec<DriveCounters>,
    pub(super) began: Nanos,
}

/// Kinds of answers: indices of the latencies.
pub(super) const HIT: usize = 0;
pub(super) const MISS: usize = 1;
pub(super) const WRITE: usize = 2;

impl<'a> TierEngine<'a> {
    pub fn new(spec: &'a TierSpec, drives: &[DriveConfig]) -> Result<TierEngine<'a>, LabError> {
        let (slots, blocks) = spec.blocks(drives);
        let chunk = (CHUNK / u64::from(spec.block)) as u32;
        for drive in drives {
            refuse_if_too_big(&drive.name, drive.memory_bytes(), drives.len() as u64)?;
        }
        let fresh = drives
            .iter()
            .map(new_drive)
            .collect::<Result<Vec<_>, _>>()?;
        let mut devices = Devices::new(fresh);
        fill(spec, &mut devices, slots);
        let side = |side: usize| TierSide {
            cache: TierCache::new(slots as u32, blocks as u32, spec.disks, chunk),
            disks: (0..spec.disks)
                .map(|disk| BackingDisk {
                    hdd: Hdd::new(
                        spec.hdd,
                        Rng::named(spec.seed, &format!("tier: side {side} disk {disk}")),
                    ),
                    reads: VecDeque::new(),
                    ready: Vec::new(),
                    loading: (Vec::new(), 0),
                    at_work: None,
                })
                .collect(),
            stalled: VecDeque::new(),
            unflushed: Vec::new(),
            flushing: Vec::new(),
        };
        let mut engine = TierEngine {
            spec,
            sides: (0..drives.len()).map(side).collect(),
            workers: Vec::new(),
            errands: Vec::new(),
            idle: Vec::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            promises: Promises::new(drives.iter().map(|drive| drive.buffer.protected)),
            newest: vec![0; blocks as usize],
            rng: Rng::named(spec.seed, "tier: load"),
            began: devices.now(),
            stop: devices.now() + spec.duration,
            under_way: 0,
            latencies: [latencies(), latencies(), latencies()],
            sums: [0; 3],
            stalls: 0,
            destaged: 0,
            sample: TierSample::default(),
            sample_write_ns: 0,
            samples: Vec::new(),
            counters: counters(&devices),
            devices,
        };
        engine.load();
        Ok(engine)
    }

    /// The working set is in the caches, clean, as far as it fits.
    fn load(&mut self) {
        for block in 0..self.newest.len() as u32 {
            for copy in 0..self.spec.copies {
                let side = self.side_of(block, copy);
                let cache = &mut self.sides[side].cache;
                if cache.used() < cache.slot_count() {
                    cache.take(block);
                }
            }
        }
    }

    pub(super) fn side_of(&self, block: u32, copy: usize) -> usize {
        let chunk = (CHUNK / u64::from(self.spec.block)) as usize;
        // Sides take turns after every disk of a side has had its chunk.
        (block as usize / chunk / self.spec.disks + copy) % self.sides.len()
    }

    pub fn run(mut self, stop: &AtomicBool) -> Result<Tier, LabError> {
        for worker in 0..self.spec.workers {
            self.workers.push(Worker {
                block: 0,
                began: self.began,
                version: 0,
                copies: Vec::new(),
            });
            self.next_command(worker);
        }
        let mut boundary = self.began + self.spec.interval;
        while self.under_way > 0 || self.is_destaging() {
            let due = self
                .events
                .peek()
                .map_or(Nanos::MAX, |Reverse(event)| event.0);
            let until = due.min(boundary);
            let instant = self.devices.now();
            if instant < self.stop && instant > self.began && stop.load(Ordering::Relaxed) {
                self.stop = instant;
            }
            if let Some(completion) = self.devices.next(until) {
                self.completed(&completion);
            } else if due == until {
                self.disk_done();
            } else {
                if boundary <= self.stop {
                    self.take_sample(boundary);
                }
                boundary += self.spec.interval;
            }
        }
        Ok(self.result())
    }

    fn is_destaging(&self) -> bool {
        let busy = |disk: &BackingDisk| disk.at_work.is_some() || disk.loading.1 > 0;
        let device = |side: usize| self.devices.outstanding(side) > 0;
        (0..self.sides.len()).any(|s| device(s) || self.sides[s].disks.iter().any(busy))
    }

    fn next_command(&mut self, worker: u32) {
        let instant = self.devices.now();
        if instant >= self.stop {
            return;
        }
        self.under_way += 1;
        let block = self.rng.below(self.newest.len() as u64) as u32;
        let read = self.rng.percent(self.spec.read_pct);
        let state = &mut self.workers[worker as usize];
        (state.block, state.began) = (block, instant);
        state.copies.clear();
        if read {
            self.read(worker, block);
            return;
        }
        self.newest[block as usize] += 1;
        state.version = self.newest[block as usize];
        for copy in 0..self.spec.copies {
            let side = self.side_of(block, copy);
            if !self.write_copy(side, worker) {
                self.stalls += 1;
                self.sides[side].stalled.push_back(worker);
            }
        }
    }

    fn read(&mut self, worker: u32, block: u32) {
        let side = self.side_of(block, 0);
        match self.sides[side].cache.find(block) {
            Some(slot) => {
                let command = Command::read(self.offset(slot), self.spec.block);
                self.submit(side, &command, CommandPurpose::Hit { worker });
            }
            None => {
                let disk = self.sides[side].cache.disk_of(block);
                self.sides[side].disks[disk].reads.push_back(worker);
                self.disk_next(side, disk);
            }
        }
    }

    /// Begins a copy of a worker's write; false when its side has no slot for it.
    fn write_copy(&mut self, side: usize, worker: u32) -> bool {
        let Worker { block, version, .. } = self.workers[worker as usize];
        let cache = &mut self.sides[side].cache;
        let Some(slot) = cache.take(block) else {
            return false;
        };
        // A write that waited for a slot may come after a newer one of the same block.
        cache.write_begins(slot, version.max(self.newest[block as usize]));
        let fua = self.spec.durable == DurabilityMode::Fua;
        let command = Command {
            fua,
            ..Command::write(self.offset(slot), self.spec.block)
        };
        self.submit(side, &command, CommandPurpose::Write { worker, slot });
        true
    }

    fn offset(&self, slot: u32) -> u64 {
        u64::from(slot) * u64::from(self.spec.block)
    }

    fn submit(&mut self, side: usize, command: &Command, errand: CommandPurpose) {
        let token = self.idle.pop().unwrap_or_else(|| {
            self.errands.push(CommandPurpose::Idle);
            self.errands.len() - 1
        });
        self.errands[token] = errand;
        self.devices.submit(side, command, token as u64);
    }

    fn completed(&mut self, completion: &DeviceCompletion) {
        let token = completion.token as usize;
        let errand = std::mem::replace(&mut self.errands[token], CommandPurpose::Idle);
        self.idle.push(token);
        let side = completion.device;
        match errand {
            CommandPurpose::Idle => {}
            CommandPurpose::Hit { worker } => self.answer(worker, HIT),
            CommandPurpose::Write { worker, slot } => self.written(side, worker, slot),
            CommandPurpose::Insert { slot } => self.sides[side].cache.write_ends(slot),
            CommandPurpose::Flush { covers } => self.flushed(side, covers),
            CommandPurpose::Destage { disk } => {
                let state = &mut self.sides[side].disks[disk];
                state.loading.1 -= 1;
                if state.loading.1 == 0 {
                    state.ready = std::mem::take(&mut state.loading.0);
                    self.disk_next(side, disk);
                }
            }
        }
    }

    fn written(&mut self, side: usize, worker: u32, slot: u32) {
        let cache = &mut self.sides[side].cache;
        cache.write_ends(slot);
        let disk = cache.disk_of(self.workers[worker as usize].block);
        let copy = self
            .promises
            .written(side, self.spec.durable == DurabilityMode::Fua);
        if self.spec.durable == DurabilityMode::Flush {
            self.sides[side].unflushed.push((worker, copy));
            self.flush(side);
        } else {
            self.copy_done(worker, copy);
        }
        self.destage_next(side, disk);
    }

    /// One flush at a time on each side, for all that waits.
    fn flush(&mut self, side: usize) {
        let state = &mut self.sides[side];
        if !state.flushing.is_empty() || state.unflushed.is_empty() {
            return;
        }
        std::mem::swap(&mut state.flushing, &mut state.unflushed);
        let covers = self.promises.flush_begins(side);
        self.submit(side, &Command::flush(), CommandPurpose::Flush { covers });
    }

    fn flushed(&mut self, side: usize, covers: u64) {
        self.promises.flushed(side, covers);
        for (worker, copy) in std::mem::take(&mut self.sides[side].flushing) {
            self.copy_done(worker, copy);
        }
        self.flush(side);
    }

    fn copy_done(&mut self, worker: u32, copy: CompletedCopy) {
        let state = &mut self.workers[worker as usize];
        state.copies.push(copy);
        if state.copies.len() < self.spec.copies {
            return;
        }
        let copies = std::mem::take(&mut state.copies);
        self.promises.acknowledge(self.spec.copies, &copies);
        self.workers[worker as usize].copies = copies;
        self.answer(worker, WRITE);
    }

    /// A worker has its answer.
    fn answer(&mut self, worker: u32, kind: usize) {
        let began = self.workers[worker as usize].began;
        let latency = (self.devices.now() - began).0;
        self.under_way -= 1;
        if self.devices.now() <= self.stop {
            self.latencies[kind].saturating_record(latency);
            self.sums[kind] += u128::from(latency);
            let count = match kind {
                HIT => &mut self.sample.hits,
                MISS => &mut self.sample.misses,
                _ => {
                    self.sample_write_ns += u128::from(latency);
                    &mut self.sample.writes
                }
            };
            *count += 1;
        }
        self.next_command(worker);
    }

    /// Starts the disk's next work: reads first, then blocks ready to be destaged.
    fn disk_next(&mut self, side: usize, disk: usize) {
        let instant = self.devices.now();
        let state = &mut self.sides[side].disks[disk];
        if state.at_work.is_some() {
            return;
        }
        let (block, count, work) = if let Some(worker) = state.reads.pop_front() {
            let block = self.workers[worker as usize].block;
            (block, 1, DiskWork::Read(worker))
        } else if let Some(first) = state.ready.first() {
            let (block, count) = (first.block, state.ready.len() as u64);
            (
                block,
                count,
                DiskWork::Write(std::mem::take(&mut state.ready)),
            )
        } else {
            self.destage_next(side, disk);
            return;
        };
        state.at_work = Some(work);
        let place = place_on_disk(self.spec, block, self.newest.len() as u64);
        let bytes = count * u64::from(self.spec.block);
        let time = state.hdd.access(place, bytes);
        self.sequence += 1;
        let event = (instant + time, self.sequence, side, disk);
        self.events.push(Reverse(event));
        self.destage_next(side, disk);
    }

    /// Reads the next blocks to be destaged from the cache device, while the disk is still busy
    /// with what comes before.
    fn destage_next(&mut self, side: usize, disk: usize) {
        if self.devices.now() >= self.stop {
            return;
        }
        let state = &mut self.sides[side];
        let above = state.cache.slot_count() * u64::from(self.spec.destage_above_pct) / 100;
        let d = &mut state.disks[disk];
        if d.loading.1 > 0 || !d.ready.is_empty() || state.cache.dirty() <= above {
            return;
        }
        let blocks = self.newest.len() as u64;
        let from = block_at(self.spec, d.hdd.head(), blocks);
        let picked = state.cache.pick(disk, from, self.spec.destage_run);
        d.loading = (picked.clone(), picked.len());
        for destage in picked {
            let command = Command::read(self.offset(destage.slot), self.spec.block);
            self.submit(side, &command, CommandPurpose::Destage { disk });
        }
    }

    fn disk_done(&mut self) {
        let Some(Reverse((_, _, side, disk))) = self.events.pop() else {
            return;
        };
        match self.sides[side].disks[disk].at_work.take() {
            Some(DiskWork::Read(worker)) => {
                self.insert(side, self.workers[worker as usize].block);
                self.answer(worker, MISS);
            }
            Some(DiskWork::Write(blocks)) => {
                self.destaged += blocks.len() as u64;
                self.sample.destaged_bytes += blocks.len() as u64 * u64::from(self.spec.block);
                self.sides[side].cache.destaged(&blocks);
                self.unstall(side);
            }
            None => {}
        }
        self.disk_next(side, disk);
    }

    /// A block read from a disk goes into the cache, where there is room for it.
    fn insert(&mut self, side: usize, block: u32) {
        let cache = &mut self.sides[side].cache;
        if cache.find(block).is_some() {
            return;
        }
        if let Some(slot) = cache.take(block) {
            cache.fill_begins(slot);
            let command = Command::write(self.offset(slot), self.spec.block);
            self.submit(side, &command, CommandPurpose::Insert { slot });
        }
    }

    fn unstall(&mut self, side: usize) {
        while let Some(&worker) = self.sides[side].stalled.front() {
            if !self.write_copy(side, worker) {
                return;
            }
            self.sides[side].stalled.pop_front();
        }
    }
}

/// Runs the load on new cache devices, a side for each drive until its end or until `stop` is set:
/// a shorter load.
///
/// # Errors
/// When spec or drives are impossible.
pub fn run_until(
    spec: &TierSpec,
    drives: &[DriveConfig],
    stop: &AtomicBool,
) -> Result<Tier, LabError> {
    spec.validate(drives)?;
    TierEngine::new(spec, drives)?.run(stop)
}
