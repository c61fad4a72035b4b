//! The writes while the power is on: five streams at once, each with a fifth of the sectors.
//!
//! Three make their writes durable: all by flushes, all by FUA, or one by flushes and two by FUA
//! (`Mode`), in turn from pull to pull, because each mechanism covers for the other: the
//! flushes of an honest kind hide ignored FUA, and the other way round. Two streams make nothing
//! durable: what they have had acknowledged since the last flush may be lost, and shows that a
//! pull took the power away. All mix sizes from a sector to 64 KiB, sequential, random and over and
//! over in one small place.
//!
//! A drive that lies keeps only its newest writes in its buffer, and five streams at once leave few
//! promised ones among these. So before the power goes the streams are *calm*: the first one alone
//! goes on, with small writes that are each made durable at once, and what is newest is promised.
//! Where a person pulls the plug, the time is unknown, and the streams are calm three quarters of
//! the time. With both mechanisms the load stays as it is.

use super::record::{LedgerRecord, PullDurabilityMode};
use super::scribe::Scribe;
use super::stamp::Stamp;
use ssdlab_base::LabError;
use ssdlab_bench::device::direct::{DirectBuffer, DirectFile};
use ssdlab_ssd::rng::Rng;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of streams.
pub const STREAMS: u64 = 5;
/// Largest write.
const WRITE_MAX: u64 = 64 << 10;
/// Most writes that are entered into the ledger at once.
const BATCH_MAX: u64 = 16;
/// What completes this long after the first error had completed before: the thread that saw the
/// error was faster, and no drive comes back from a power cut that soon.
const GRACE_NS: u64 = 100_000_000;
/// Writes that are entered at once while the streams are calm.
const CALM_BATCH: u64 = 8;
/// Of four such slices of time, three are calm where a person takes the power away.
const SLICE_NS: u64 = 100_000_000;
/// Most writes between two flushes of a stream.
const FLUSH_AFTER_MAX: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamDurability {
    Flushed,
    Fua,
    Plain,
}

impl StreamDurability {
    /// Writes between two flushes, of a stream that flushes after this number of them.
    fn flush_after(self, writes: u64) -> u64 {
        match self {
            StreamDurability::Flushed => writes,
            StreamDurability::Fua | StreamDurability::Plain => u64::MAX,
        }
    }
}

/// How the streams ended.
#[derive(Default)]
pub struct StreamStatus {
    halt: AtomicBool,
    calm: AtomicBool,
    /// First error of the target: when, in ns since the session began, and what.
    struck: Mutex<Option<(u64, io::Error)>>,
    failed: AtomicU64,
    ledger: Mutex<Option<LabError>>,
}

impl StreamStatus {
    /// Ends the streams.
    pub fn halt(&self) {
        self.halt.store(true, Ordering::SeqCst);
    }

    /// The power goes soon: only the first stream goes on.
    pub fn calm(&self) {
        self.calm.store(true, Ordering::SeqCst);
    }

    /// Whether they are to end, or have.
    pub fn is_halted(&self) -> bool {
        self.halt.load(Ordering::SeqCst)
    }

    /// When the target failed first, and how.
    pub fn struck(&self) -> Option<(u64, String)> {
        let struck = self.struck.lock().unwrap_or_else(PoisonError::into_inner);
        struck.as_ref().map(|(at, error)| (*at, error.to_string()))
    }

    /// Commands that the target did not complete.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::SeqCst)
    }

    /// Why the ledger could not be kept.
    pub fn ledger_error(&self) -> Option<LabError> {
        let mut error = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        error.take()
    }

    fn strike(&self, at_ns: u64, error: io::Error) {
        let mut struck = self.struck.lock().unwrap_or_else(PoisonError::into_inner);
        struck.get_or_insert((at_ns, error));
        self.failed.fetch_add(1, Ordering::SeqCst);
        self.halt();
    }

    fn no_ledger(&self, error: LabError) {
        let mut first = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.halt();
    }
}

/// What all streams share.
pub struct StreamContext<'a> {
    /// The target.
    pub file: &'a DirectFile,
    /// The ledger.
    pub scribe: &'a Scribe,
    /// Number of the run.
    pub run: u64,
    /// Bytes of a sector.
    pub sector_bytes: u64,
    /// Sectors of the part that is used.
    pub sectors: u64,
    /// When the session began.
    pub began: Instant,
    /// How the streams end.
    pub ended: &'a StreamStatus,
    /// How writes are made durable.
    pub mode: PullDurabilityMode,
    /// A person takes the power away.
    pub by_hand: bool,
}

/// One write: first sector and number of sectors.
pub type SectorExtent = (u64, u32);

enum StreamError {
    Target(io::Error),
    Ledger(LabError),
}

impl From<LabError> for StreamError {
    fn from(error: LabError) -> StreamError {
        StreamError::Ledger(error)
    }
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> StreamError {
        StreamError::Target(error)
    }
}

impl StreamContext<'_> {
    /// ns since the session began.
    pub fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Stream `number`, until the streams are to end.
    pub fn stream(&self, number: u64, seed: u64) {
        let kind = match (number, self.mode) {
            (0, PullDurabilityMode::Flush | PullDurabilityMode::Both)
            | (1 | 2, PullDurabilityMode::Flush) => StreamDurability::Flushed,
            (0..=2, PullDurabilityMode::Fua | PullDurabilityMode::Both) => StreamDurability::Fua,
            _ => StreamDurability::Plain,
        };
        let share = self.sectors / STREAMS;
        let area = share * number..share * (number + 1);
        let mut draw = ExtentGenerator {
            rng: Rng::named(seed, &format!("stream {number}")),
            cursor: area.start,
            area,
            sector_bytes: self.sector_bytes,
            is_first: number == 0,
        };
        match self.write_on(kind, &mut draw) {
            Ok(()) => {}
            Err(StreamError::Target(error)) => self.ended.strike(self.now(), error),
            Err(StreamError::Ledger(error)) => self.ended.no_ledger(error),
        }
    }

    fn write_on(
        &self,
        kind: StreamDurability,
        draw: &mut ExtentGenerator,
    ) -> Result<(), StreamError> {
        let mut buffer = DirectBuffer::new(WRITE_MAX as usize)
            .map_err(|error| LabError::refused(format!("no memory to write from: {error}"), ""))?;
        while !self.ended.is_halted() {
            if self.is_calm() {
                self.write_calmly(kind, draw, &mut buffer)?;
                continue;
            }
            let count = 1 + draw.rng.below(BATCH_MAX);
            let extents: Vec<SectorExtent> = (0..count).map(|_| draw.extent()).collect();
            let flush_after = kind.flush_after(1 + draw.rng.below(FLUSH_AFTER_MAX));
            self.write(
                &extents,
                kind == StreamDurability::Fua,
                flush_after,
                &mut buffer,
            )?;
            if kind == StreamDurability::Plain {
                self.rest(2 + draw.rng.below(8));
            }
        }
        Ok(())
    }

    fn is_calm(&self) -> bool {
        let announced = self.ended.calm.load(Ordering::SeqCst);
        let is_due = announced || self.by_hand && is_calm_slice(self.now());
        is_due && self.mode != PullDurabilityMode::Both
    }

    /// The first stream makes every small write durable at once; the others wait.
    fn write_calmly(
        &self,
        kind: StreamDurability,
        draw: &mut ExtentGenerator,
        buffer: &mut DirectBuffer,
    ) -> Result<(), StreamError> {
        if !draw.is_first {
            self.rest(1);
            return Ok(());
        }
        let extents: Vec<SectorExtent> = (0..CALM_BATCH).map(|_| draw.small()).collect();
        self.write(
            &extents,
            kind == StreamDurability::Fua,
            kind.flush_after(1),
            buffer,
        )
    }

    fn rest(&self, ms: u64) {
        if !self.ended.is_halted() {
            std::thread::sleep(Duration::from_millis(ms));
        }
    }

    /// Writes `extents` one after the other once the ledger has them all, with a flush after
    /// every `flush_after` of them.
    fn write(
        &self,
        extents: &[SectorExtent],
        fua: bool,
        flush_after: u64,
        buffer: &mut DirectBuffer,
    ) -> Result<(), StreamError> {
        let mut next = 0;
        let record_count = self.scribe.enter(|book| {
            next = book.seq + 1;
            issued(next, extents, fua)
        })?;
        self.scribe.wait(record_count)?;
        for (seq, &(first, count)) in (next..).zip(extents) {
            if self.ended.is_halted() {
                return Ok(());
            }
            let len = self.stamp(buffer, first, count, seq);
            self.file
                .write(first * self.sector_bytes, len, buffer, fua)?;
            self.acknowledge(LedgerRecord::Acked {
                seq,
                at_ns: self.now(),
            })?;
            if (seq + 1 - next).is_multiple_of(flush_after) {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn stamp(&self, buffer: &mut DirectBuffer, first: u64, count: u32, seq: u64) -> usize {
        let len = (u64::from(count) * self.sector_bytes) as usize;
        let sectors = buffer.bytes()[..len].chunks_mut(self.sector_bytes as usize);
        for (sector, bytes) in (first..).zip(sectors) {
            let run = self.run;
            Stamp { run, sector, seq }.write(bytes);
        }
        len
    }

    /// Enters what the target has completed. Soon after the first error nothing counts any more:
    /// a kernel may send a command again once the power is back.
    fn acknowledge(&self, record: LedgerRecord) -> Result<(), LabError> {
        let struck = self.ended.struck();
        if struck.is_none_or(|(at, _)| self.now() < at + GRACE_NS) {
            self.scribe.enter(|_| vec![record])?;
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StreamError> {
        let mut flush = 0;
        self.scribe.enter(|book| {
            flush = book.flush + 1;
            vec![LedgerRecord::FlushBegun { flush }]
        })?;
        self.file.flush()?;
        self.acknowledge(LedgerRecord::FlushDone {
            flush,
            at_ns: self.now(),
        })?;
        Ok(())
    }

    /// Writes every sector of `parts` that has no stamp yet, and flushes.
    ///
    /// # Errors
    /// When the target or the ledger fails.
    pub fn fill(
        &self,
        parts: &[Range<u64>],
        progress: &mut dyn FnMut(u64, u64),
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let total: u64 = parts.iter().map(|part| part.end - part.start).sum();
        let step = WRITE_MAX / self.sector_bytes;
        let extents: Vec<SectorExtent> = parts
            .iter()
            .flat_map(|part| {
                let starts = part.clone().step_by(step as usize);
                starts.map(|first| (first, (part.end - first).min(step) as u32))
            })
            .collect();
        let mut filled = 0;
        let failed = |stopped| match stopped {
            StreamError::Ledger(error) => error,
            StreamError::Target(error) => LabError::file("filling", &self.file.facts().name, error),
        };
        let memory = |error| failed(StreamError::Target(error));
        let mut buffer = DirectBuffer::new(WRITE_MAX as usize).map_err(memory)?;
        for batch in extents.chunks(256) {
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::refused(
                    "stopped before the target was filled",
                    "run it again: it continues",
                ));
            }
            self.write(batch, false, u64::MAX, &mut buffer)
                .map_err(failed)?;
            filled += batch
                .iter()
                .map(|&(_, count)| u64::from(count))
                .sum::<u64>();
            progress(filled * self.sector_bytes, total * self.sector_bytes);
        }
        self.flush().map_err(failed)
    }
}

/// Whether the streams are calm at this time, ns, where the time of the pull is unknown.
fn is_calm_slice(at_ns: u64) -> bool {
    !(at_ns / SLICE_NS).is_multiple_of(4)
}

fn issued(from: u64, extents: &[SectorExtent], fua: bool) -> Vec<LedgerRecord> {
    let record = |(seq, &(first, count))| LedgerRecord::Issued {
        seq,
        first,
        count,
        fua,
    };
    (from..).zip(extents).map(record).collect()
}

/// Where and how much a stream writes.
struct ExtentGenerator {
    rng: Rng,
    area: Range<u64>,
    cursor: u64,
    sector_bytes: u64,
    is_first: bool,
}

impl ExtentGenerator {
    fn extent(&mut self) -> SectorExtent {
        let bytes = match self.rng.below(20) {
            0 | 1 => self.sector_bytes,
            2..=11 => 4 << 10,
            12..=14 => 8 << 10,
            15..=17 => 16 << 10,
            _ => WRITE_MAX,
        };
        self.of(bytes)
    }

    fn small(&mut self) -> SectorExtent {
        let bytes = match self.rng.below(4) {
            0 => self.sector_bytes,
            _ => 4 << 10,
        };
        self.of(bytes)
    }

    fn of(&mut self, bytes: u64) -> SectorExtent {
        let count = (bytes / self.sector_bytes).max(1);
        let size = self.area.end - self.area.start;
        let step = ((4 << 10) / self.sector_bytes).max(1).min(count);
        let first = match self.rng.below(10) {
            0..=3 => {
                if self.cursor + count > self.area.end {
                    self.cursor = self.area.start;
                }
                self.cursor += count;
                self.cursor - count
            }
            place => {
                // Three in ten go over and over to a sixteenth of the area.
                let size = if place < 7 {
                    (size / 16).max(count)
                } else {
                    size
                };
                self.area.start + self.rng.below((size - count) / step + 1) * step
            }
        };
        (first, count as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plug that is pulled at any time mostly finds the streams calm, and sometimes at work.
    #[test]
    fn three_quarters_of_the_time_are_calm() {
        let calm = (0..10_000).filter(|ms| is_calm_slice(ms * 1_000_000));
        assert_eq!(calm.count(), 7_500);
    }

    #[test]
    fn writes_stay_in_their_area_and_come_in_every_size() {
        for sector_bytes in [512, 4096] {
            let mut draw = ExtentGenerator {
                rng: Rng::named(1, "test"),
                area: 1000..1000 + (1 << 20) / sector_bytes,
                cursor: 1000,
                sector_bytes,
                is_first: true,
            };
            let mut sizes = std::collections::BTreeSet::new();
            let calm = (0..1_000).map(|_| draw.small());
            assert!(
                calm.into_iter()
                    .all(|(_, count)| u64::from(count) * sector_bytes <= 4096)
            );
            for _ in 0..10_000 {
                let (first, count) = draw.extent();
                assert!(first >= draw.area.start);
                assert!(first + u64::from(count) <= draw.area.end);
                sizes.insert(u64::from(count) * sector_bytes);
            }
            let wanted = [sector_bytes, 4 << 10, 8 << 10, 16 << 10, 64 << 10];
            assert_eq!(sizes, wanted.into_iter().collect());
        }
    }
}
