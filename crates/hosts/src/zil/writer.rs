//! A writer as IOzone is one in automatic mode: files of rising size, each written with records
//! of rising size, every record written synchronously before the next.

use super::block_size::RECORD_BYTES;
use ssdlab_bench::engine::exponential;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// Load of a writer.
#[derive(Clone, Debug)]
pub struct WriterSpec {
    /// Smallest and largest file, doubling in between; over and over. Unit: bytes.
    pub file_bytes: (u64, u64),
    /// Smallest and largest record, doubling in between; none larger than the file.
    pub record_bytes: (u64, u64),
    /// Times that a file is written with one record size (write, rewrite).
    pub passes: u32,
    /// Mean time between the end of one write and the next, whatever its size.
    pub think: Nanos,
    /// Mean time besides, per KiB written.
    pub think_per_kib: Nanos,
    /// Share of the think time that is drawn each time (exponentially distributed); the
    /// rest is constant. Unit: %.
    pub think_jitter_pct: u32,
    /// Between two files: closing, reading, deleting. Unit: ns.
    pub between_files: Nanos,
}

/// One writer.
#[derive(Clone, Debug)]
pub struct ZilWriter {
    spec: WriterSpec,
    rng: Rng,
    file: u64,
    record: u64,
    /// Bytes of the passes over this file with this record size so far.
    done: u64,
    between_files: bool,
}

impl ZilWriter {
    /// Writer number `number` of a run with this seed.
    pub fn new(spec: &WriterSpec, seed: u64, number: usize) -> ZilWriter {
        ZilWriter {
            rng: Rng::named(seed, &format!("zil writer {number}")),
            file: spec.file_bytes.0,
            record: spec.record_bytes.0,
            done: 0,
            between_files: false,
            spec: spec.clone(),
        }
    }

    /// Bytes of the next write.
    pub fn next_write(&mut self) -> u64 {
        let bytes = self.record;
        self.between_files = false;
        self.done += bytes;
        if self.done >= self.file * u64::from(self.spec.passes) {
            self.done = 0;
            self.record *= 2;
            if self.record > self.spec.record_bytes.1.min(self.file) {
                self.record = self.spec.record_bytes.0;
                self.file *= 2;
                self.between_files = true;
            }
            if self.file > self.spec.file_bytes.1 {
                self.file = self.spec.file_bytes.0;
            }
        }
        bytes
    }

    /// Time until the next write, of which `bytes` will be written.
    pub fn think(&mut self, bytes: u64) -> Nanos {
        let pause = if self.between_files {
            self.spec.between_files.0
        } else {
            0
        };
        let mean = self.spec.think.0 + self.spec.think_per_kib.0 * bytes.div_ceil(1024) + pause;
        let varying = mean * u64::from(self.spec.think_jitter_pct) / 100;
        Nanos(mean - varying + exponential(self.rng.next_u64(), Nanos(varying)).0)
    }
}

/// Bytes of the log records of a write of `bytes`: what is more than a block holds is split in
/// chunks by the older code; newer code cuts it to fit when it is put into blocks.
pub(super) fn records(bytes: u64, chunk: Option<u64>) -> Vec<u64> {
    let Some(chunk) = chunk else {
        return vec![bytes];
    };
    let mut remaining = bytes;
    let mut records = Vec::new();
    // A file system block of 128 KiB is the most that is written at once.
    while remaining > 0 {
        let limit = super::block_size::BLOCK_MAX - RECORD_BYTES - super::block_size::CHAIN_BYTES;
        let len = if remaining > limit { chunk } else { remaining };
        records.push(len);
        remaining -= len;
    }
    records
}
