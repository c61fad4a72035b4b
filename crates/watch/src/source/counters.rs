//! Counters of a device in `/sys/block/*/stat`, which every kernel has.
//!
//! Times are those of requests from their allocation to their end, so time in the host's scheduler
//! is in them. Source: Linux `Documentation/block/stat.rst`.

use crate::figures::{KindFigures, WatchFigures};
use crate::spread::TimeSpread;
use crate::steps::{KindSecond, WatchedSecond};
use std::path::{Path, PathBuf};

/// Fields of `stat`.
const FIELDS: usize = 17;
const MS: u64 = 1_000_000;

/// One reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskStat([u64; FIELDS]);

/// Where a kind of request stands in `stat`: requests, sectors, milliseconds.
#[derive(Clone, Copy)]
struct StatColumns {
    requests: usize,
    sectors: Option<usize>,
    milliseconds: usize,
}

const READS: StatColumns = StatColumns {
    requests: 0,
    sectors: Some(2),
    milliseconds: 3,
};
const WRITES: StatColumns = StatColumns {
    requests: 4,
    sectors: Some(6),
    milliseconds: 7,
};
const DISCARDS: StatColumns = StatColumns {
    requests: 11,
    sectors: Some(13),
    milliseconds: 14,
};
const FLUSHES: StatColumns = StatColumns {
    requests: 15,
    sectors: None,
    milliseconds: 16,
};
const IN_FLIGHT: usize = 8;
const BUSY_MS: usize = 9;
const WAITING_MS: usize = 10;

impl DiskStat {
    /// Of the device whose folder of sysfs is `folder`.
    pub fn read(folder: &Path) -> Option<DiskStat> {
        DiskStat::parse(&std::fs::read_to_string(folder.join("stat")).ok()?)
    }

    pub(crate) fn parse(text: &str) -> Option<DiskStat> {
        let mut fields = [0; FIELDS];
        let mut words = text.split_ascii_whitespace();
        for field in &mut fields {
            *field = words.next()?.parse().ok()?;
        }
        Some(DiskStat(fields))
    }

    /// What was added since `earlier`.
    pub fn since(&self, earlier: &DiskStat) -> DiskStat {
        let mut fields = [0; FIELDS];
        for (field, (now, before)) in fields.iter_mut().zip(self.0.iter().zip(earlier.0)) {
            *field = now.wrapping_sub(before);
        }
        DiskStat(fields)
    }

    fn kind(&self, columns: StatColumns) -> KindSecond {
        KindSecond {
            count: self.0[columns.requests],
            bytes: columns.sectors.map_or(0, |column| self.0[column] * 512),
            device_ns: self.0[columns.milliseconds] * MS,
            max_ns: 0,
        }
    }

    /// Requests in the device at this moment.
    pub fn in_flight(&self) -> u64 {
        self.0[IN_FLIGHT]
    }

    /// Whether requests ended since `earlier`: not with `iostats` off, nor while all stand still.
    pub fn has_advanced(&self, earlier: &DiskStat) -> bool {
        let completed = |stat: &DiskStat| stat.0[READS.requests] + stat.0[WRITES.requests];
        completed(self) > completed(earlier)
    }

    /// These counts as those of a second.
    pub fn second(&self) -> WatchedSecond {
        WatchedSecond {
            reads: self.kind(READS),
            writes: self.kind(WRITES),
            flushes: self.kind(FLUSHES),
            discards: self.kind(DISCARDS),
        }
    }

    /// Requests of all kinds that move data, and their mean time, ns.
    pub fn mean_ns(&self) -> Option<f64> {
        let kinds = [READS, WRITES].map(|columns| self.kind(columns));
        let count: u64 = kinds.iter().map(|kind| kind.count).sum();
        let sum: u64 = kinds.iter().map(|kind| kind.device_ns).sum();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Figures of `seconds` in which these counts were added: sums and means alone.
    pub fn figures(&self, seconds: f64) -> WatchFigures {
        let kind = |columns| {
            let counted = self.kind(columns);
            let mean = counted.device_ns / counted.count.max(1);
            KindFigures {
                bytes: counted.bytes,
                queue: TimeSpread::default(),
                device: TimeSpread {
                    count: counted.count,
                    sum_ns: counted.device_ns,
                    median_ns: mean,
                    p99_ns: mean,
                    max_ns: mean,
                },
            }
        };
        let mut figures = WatchFigures {
            seconds,
            only_means: true,
            reads: kind(READS),
            writes: kind(WRITES),
            flushes: kind(FLUSHES),
            discards: kind(DISCARDS),
            busy: (self.0[BUSY_MS] as f64 / 1e3 / seconds.max(1e-3)).min(1.0),
            ..WatchFigures::default()
        };
        let waiting = self.0[WAITING_MS] as f64 / 1e3 / seconds.max(1e-3);
        // Requests that another one meets: one less than those under way.
        figures.depth = (waiting / figures.busy.max(1e-3) - 1.0).max(0.0);
        // A write that asks for flushes counts as a write with their time in it, a flush alone as a
        // write of no bytes (Linux block/blk-flush.c): flushes do not count again.
        let (writes, flushes) = (&figures.writes.device, &figures.flushes.device);
        figures.awaited = figures.reads.device;
        figures.awaited.count += writes.count.max(flushes.count);
        figures.awaited.sum_ns += writes.sum_ns.max(flushes.sum_ns);
        // Writes of data are at most these.
        let writes = figures.writes.count().min(figures.writes.bytes / 4096);
        let empty = figures.flushes.count().saturating_sub(writes);
        figures.empty_flushes = TimeSpread {
            count: empty,
            sum_ns: empty * figures.flushes.device.median_ns,
            ..figures.flushes.device
        };
        // Blocks of 4 KiB have no mean below that.
        if figures.flushes.count() == 0 && figures.writes.mean_bytes() < 4096.0 {
            figures.pattern.unaligned = 1.0;
        }
        let mean = figures.awaited.sum_ns / figures.awaited.count.max(1);
        figures.awaited.median_ns = mean;
        figures.awaited.p99_ns = mean;
        figures.awaited.max_ns = mean;
        figures
    }
}

/// A device in the stack above the disk, and its counters when the watch began.
#[derive(Clone, Debug)]
pub struct LayerCounters {
    /// Its name and kind.
    pub name: String,
    /// Its folder of sysfs.
    pub folder: PathBuf,
    /// What it had counted.
    pub begun: DiskStat,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a disk that did 100 writes in 200 ms and 50 flushes in 150 ms within a second.
    #[test]
    fn counters_give_means() {
        let before = DiskStat::parse("1 0 8 1 10 0 80 5 0 9 9 0 0 0 0 4 2").expect("a line");
        let line = "1 0 8 1 110 0 880 205 0 409 709 0 0 0 0 54 152";
        let since = DiskStat::parse(line).expect("a line").since(&before);
        let figures = since.figures(1.0);
        assert_eq!(figures.writes.count(), 100);
        assert_eq!(figures.writes.bytes, 100 * 4096);
        assert_eq!(figures.writes.device.median_ns, 2 * MS);
        assert_eq!(figures.flushes.device.median_ns, 3 * MS);
        assert_eq!(figures.awaited.count, 100, "flushes are within writes");
        assert_eq!(figures.awaited.sum_ns, 200 * MS);
        assert!((figures.busy - 0.4).abs() < 1e-9);
        assert!((figures.depth - 0.75).abs() < 1e-9, "{}", figures.depth);
        assert_eq!(since.mean_ns(), Some(2e6));
        assert!(DiskStat::parse("1 2 3").is_none());
    }
}
