//! Plays the days of a file system on a drive.

use super::result::{DaySample, Months};
use super::spec::{MonthsSpec, TrimSchedule};
use crate::file_system::{BitmapFileSystem, FileExtent};
use crate::probe::{probe, quantile};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, DriveCounters, Nanos, Op};
use std::sync::atomic::{AtomicBool, Ordering};

const DAY: Nanos = Nanos::from_secs(86_400);

/// Bytes written, to keep the spec's share of updates.
#[derive(Clone, Copy, Debug, Default)]
struct WrittenBytes {
    all: u64,
    updates: u64,
}

struct MonthsRunner<'a> {
    spec: &'a MonthsSpec,
    devices: Devices,
    fs: BitmapFileSystem,
    /// Bytes of a block: a mapping unit, 4 KiB at least.
    block: u64,
    slot_bytes: u32,
    files: Rng,
    updates: Rng,
    probes: Rng,
    written: WrittenBytes,
    samples: Vec<DaySample>,
    /// Since the last sample, as `busy` and `bytes`.
    writes: Latencies,
    busy: Nanos,
    bytes: u64,
    /// Counters at the last sample.
    last: DriveCounters,
}

impl<'a> MonthsRunner<'a> {
    pub fn new(spec: &'a MonthsSpec, config: &DriveConfig) -> Result<MonthsRunner<'a>, LabError> {
        let drive = new_drive(config)?;
        let block = u64::from(config.shape.slot_bytes).max(4096);
        Ok(MonthsRunner {
            spec,
            last: drive.counters().clone(),
            devices: Devices::new(vec![drive]),
            fs: BitmapFileSystem::new(config.user_bytes / block),
            block,
            slot_bytes: config.shape.slot_bytes,
            files: Rng::named(spec.seed, "months: files"),
            updates: Rng::named(spec.seed, "months: updates"),
            probes: Rng::named(spec.seed, "months: probes"),
            written: WrittenBytes::default(),
            samples: Vec::new(),
            writes: latencies(),
            busy: Nanos::ZERO,
            bytes: 0,
        })
    }

    pub fn run(mut self, stop: &AtomicBool) -> Result<Months, LabError> {
        let room = self.room();
        let began = self.devices.now();
        while self.fs.used() + self.spec.file_blocks.1 <= room {
            let count = self.file_blocks();
            self.create(count);
        }
        self.end_of_burst(began);
        self.idle_until(DAY);
        self.sample(0)?;
        let after_fill = self.last.clone();
        self.written = WrittenBytes::default();
        let daily = self.fs.blocks() * self.block / 100 * u64::from(self.spec.daily_pct);
        let mut stopped = false;
        for day in 1..=self.spec.days {
            stopped = stop.load(Ordering::Relaxed);
            if stopped {
                break;
            }
            self.day(daily * u64::from(day), day);
            self.idle_until(Nanos(DAY.0 * (u64::from(day) + 1)));
            if day % self.spec.sample_days == 0 || day == self.spec.days {
                self.sample(day)?;
            }
        }
        Ok(self.result(&after_fill, stopped))
    }

    /// Blocks that files may take up.
    fn room(&self) -> u64 {
        self.fs.blocks() * u64::from(self.spec.used_pct) / 100
    }

    /// A burst of writes, until `bytes` have been written since day 0.
    fn day(&mut self, bytes: u64, day: u32) {
        let began = self.devices.now();
        if let TrimSchedule::Batch { days } = self.spec.trim
            && day.is_multiple_of(days)
        {
            self.trim_all();
        }
        while self.written.all < bytes {
            let WrittenBytes { all, updates } = self.written;
            if updates * 100 < all * u64::from(self.spec.update_pct) {
                self.update();
                continue;
            }
            let count = self.file_blocks();
            while self.fs.used() + count > self.room() && self.fs.file_count() > 0 {
                self.delete();
            }
            self.create(count);
        }
        self.end_of_burst(began);
    }

    /// Size of a file: evenly over the powers of two, then evenly within.
    fn file_blocks(&mut self) -> u64 {
        let (least, most) = self.spec.file_blocks;
        let octaves = u64::from((most / least).ilog2()).max(1);
        let low = least << self.files.below(octaves);
        (low + self.files.below(low)).min(most)
    }

    fn create(&mut self, count: u64) {
        let extents = self.fs.create(count).unwrap_or_default().to_vec();
        for extent in extents {
            self.each_command(extent, Command::write);
        }
        self.written.all += count * self.block;
    }

    fn delete(&mut self) {
        let freed = self.fs.delete(&mut self.files);
        if self.spec.trim == TrimSchedule::AtOnce {
            for extent in freed {
                self.trim(extent);
            }
        }
    }

    /// Overwrites a block in use, drawn uniformly.
    fn update(&mut self) {
        if let Some(first) = self.fs.any_used(&mut self.updates) {
            self.each_command(FileExtent { first, count: 1 }, Command::write);
        }
        self.written.all += self.block;
        self.written.updates += self.block;
    }

    fn trim_all(&mut self) {
        let free: Vec<FileExtent> = self.fs.free_runs().collect();
        for extent in free {
            self.trim(extent);
        }
    }

    /// Trims `extent` by commands of at most 1 GiB.
    fn trim(&mut self, extent: FileExtent) {
        let step = (1 << 30) / self.block;
        for first in (extent.first..extent.first + extent.count).step_by(step as usize) {
            let count = step.min(extent.first + extent.count - first);
            let command = Command::trim(first * self.block, (count * self.block) as u32);
            self.submit(&command);
        }
    }

    fn each_command(&mut self, extent: FileExtent, make: fn(u64, u32) -> Command) {
        let step = (u64::from(self.spec.command_max) / self.block).max(1);
        let end = extent.first + extent.count;
        for first in (extent.first..end).step_by(step as usize) {
            let len = step.min(end - first) * self.block;
            self.submit(&make(first * self.block, len as u32));
        }
    }

    fn submit(&mut self, command: &Command) {
        if command.op == Op::Write {
            self.bytes += u64::from(command.len);
        }
        self.devices.submit(0, command, 0);
        while self.devices.outstanding(0) >= u64::from(self.spec.depth) {
            if !self.complete() {
                return;
            }
        }
    }

    fn complete(&mut self) -> bool {
        let Some(done) = self.devices.next(Nanos::MAX) else {
            return false;
        };
        if done.op == Op::Write {
            self.writes
                .saturating_record(done.done.0 - done.submitted.0);
        }
        true
    }

    fn end_of_burst(&mut self, began: Nanos) {
        while self.devices.outstanding(0) > 0 && self.complete() {}
        self.busy += self.devices.now().saturating_sub(began);
        // The rest of a volatile buffer is made durable, as a file system does every few
        // seconds.
        self.devices.submit(0, &Command::flush(), 0);
        while self.devices.outstanding(0) > 0 && self.complete() {}
    }

    fn idle_until(&mut self, time: Nanos) {
        // A burst may take longer than a day: then the next begins at once.
        if time > self.devices.now() {
            self.devices.next(time);
        }
    }

    fn mapped_blocks(&self) -> u64 {
        let per_block = self.block / u64::from(self.slot_bytes);
        let slots = self.fs.blocks() * per_block;
        let drive = self.devices.drive(0);
        let mapped = (0..slots).filter(|&lpn| drive.find(lpn as u32) != SlotPlace::Unmapped);
        mapped.count() as u64 / per_block
    }

    fn sample(&mut self, day: u32) -> Result<(), LabError> {
        let block = self.block;
        let fs = &self.fs;
        let spec = &self.spec.probe;
        let blocks = fs.blocks() - u64::from(spec.block).div_ceil(block);
        let mut place = |rng: &mut Rng| fs.any_used(rng).unwrap_or_default().min(blocks) * block;
        let measured = probe(self.devices.drive(0), spec, &mut self.probes, &mut place)?;
        let drive = self.devices.drive(0);
        let counters = drive.counters().clone();
        let share = |blocks: u64| blocks as f64 / fs.blocks() as f64;
        self.samples.push(DaySample {
            day,
            host_bytes: counters.host_bytes_written,
            waf: counters.waf_since(&self.last, drive.config().geometry().slot_bytes),
            write_bytes_s: self.bytes as f64 / self.busy.as_secs_f64().max(1e-9),
            write_p99_ns: quantile(&self.writes, 0.99),
            write_max_ns: quantile(&self.writes, 1.0),
            used_share: share(fs.used()),
            mapped_share: share(self.mapped_blocks()),
            trims: counters.host_trims - self.last.host_trims,
            free_superblocks: drive.free_superblocks(),
            probe: measured,
        });
        self.last = counters;
        self.writes.reset();
        (self.busy, self.bytes) = (Nanos::ZERO, 0);
        Ok(())
    }

    fn result(self, after_fill: &DriveCounters, stopped: bool) -> Months {
        let drive = self.devices.drive(0);
        let counters = drive.counters();
        let mut checks = self.devices.checks();
        checks.push(SelfCheck::new("file system", self.fs.check()));
        checks.push(SelfCheck::new(
            "the drive holds every file",
            self.files_are_mapped(),
        ));
        Months {
            spec: self.spec.clone(),
            fs_bytes: self.fs.blocks() * self.block,
            host_bytes: counters.host_bytes_written - after_fill.host_bytes_written,
            waf: counters.waf_since(after_fill, drive.config().geometry().slot_bytes),
            virtual_s: self.devices.now().as_secs_f64(),
            stopped,
            samples: self.samples,
            checks,
        }
    }

    /// The drive must map every block in use and, with TRIM at once, no other.
    fn files_are_mapped(&self) -> Result<(), String> {
        let drive = self.devices.drive(0);
        let per_block = self.block / u64::from(self.slot_bytes);
        let mapped = |block: u64| {
            let mut slots = block * per_block..(block + 1) * per_block;
            slots.all(|lpn| drive.find(lpn as u32) != SlotPlace::Unmapped)
        };
        let mut position = 0;
        for run in self.fs.free_runs().chain([FileExtent {
            first: self.fs.blocks(),
            count: 0,
        }]) {
            if let Some(unmapped) = (position..run.first).find(|&block| !mapped(block)) {
                return Err(format!(
                    "block {unmapped} of a file is unknown to the drive"
                ));
            }
            let mut free = run.first..run.first + run.count;
            if self.spec.trim == TrimSchedule::AtOnce
                && let Some(held) = free.find(|&block| mapped(block))
            {
                return Err(format!("block {held} was trimmed, and the drive holds it"));
            }
            position = run.first + run.count;
        }
        Ok(())
    }
}

/// Plays the months on a new drive to the end or until `stop` is set, and returns the samples
/// taken by then.
///
/// # Errors
/// When the spec or the drive is impossible, or a probe fails its self-check.
pub fn run_until(
    spec: &MonthsSpec,
    drive: &DriveConfig,
    stop: &AtomicBool,
) -> Result<Months, LabError> {
    spec.validate(drive.user_bytes)?;
    MonthsRunner::new(spec, drive)?.run(stop)
}
