//! Histograms of times: the same cells whether the kernel counts or this program does.
//!
//! A power of two is cut into [`SUB_BUCKETS`] cells of one width, so a cell is at most an eighth of
//! its lower edge wide. Percentiles lie in the cell of the true one, in proportion to its rank.

use super::event::RequestKind;
use crate::request::BlockRequest;
use schemars::JsonSchema;
use serde::Serialize;

/// Cells of a power of two.
pub const SUB_BUCKETS: u64 = 8;
const SUB_BITS: u32 = SUB_BUCKETS.trailing_zeros();
/// The longest time that has a cell of its own: 2^37 ns, more than two minutes.
pub const TIME_BITS: u32 = 37;
/// Cells of a histogram.
pub const BUCKETS: usize = ((TIME_BITS - SUB_BITS + 1) as usize) * SUB_BUCKETS as usize;

/// The cell of a time.
pub fn bucket(time_ns: u64) -> usize {
    let time_ns = time_ns.min((1 << TIME_BITS) - 1);
    if time_ns < SUB_BUCKETS {
        return time_ns as usize;
    }
    let log = time_ns.ilog2();
    let sub = (time_ns >> (log - SUB_BITS)) & (SUB_BUCKETS - 1);
    (u64::from(log - SUB_BITS + 1) * SUB_BUCKETS + sub) as usize
}

/// The lower edge of a cell, ns; that of the one after the last is its upper edge.
pub fn bucket_begin(bucket: usize) -> u64 {
    let (power, sub) = (bucket as u64 / SUB_BUCKETS, bucket as u64 % SUB_BUCKETS);
    if power == 0 {
        return sub;
    }
    (SUB_BUCKETS + sub) << (power - 1)
}

/// Kinds of requests that have histograms of their own: a write that is forced to the media is not
/// like others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HistogramKind {
    /// Reads.
    Read,
    /// Writes without forced unit access.
    Write,
    /// Writes with forced unit access.
    Fua,
    /// Flushes.
    Flush,
    /// Discards.
    Discard,
    /// All that somebody waits for, from the queue to the end.
    Awaited,
}

/// Upper edges of size classes, bytes; the last class has no edge.
pub const SIZE_EDGES: [u64; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Classes of sizes.
pub const SIZES: usize = SIZE_EDGES.len() + 1;
/// Rows: reads, writes and forced writes by size, then flushes, discards and awaited requests.
pub const ROWS: usize = 3 * SIZES + 3;
/// The row of flushes.
pub const FLUSH_ROW: usize = 3 * SIZES;
/// The row of discards.
pub const DISCARD_ROW: usize = FLUSH_ROW + 1;
/// The row of awaited requests.
pub const AWAITED_ROW: usize = FLUSH_ROW + 2;

/// The class of a size.
fn size_class(bytes: u64) -> usize {
    SIZE_EDGES.iter().filter(|&&edge| bytes > edge).count()
}

/// The row of a request.
fn row_of(request: &BlockRequest) -> usize {
    let class = size_class(request.bytes);
    match request.kind {
        RequestKind::Read => class,
        RequestKind::Write if request.flags.fua => 2 * SIZES + class,
        RequestKind::Write => SIZES + class,
        RequestKind::Flush => FLUSH_ROW,
        RequestKind::Discard => DISCARD_ROW,
    }
}

/// Times of one sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeCells {
    /// All together, ns.
    pub sum_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
    /// By cell.
    pub cells: Vec<u64>,
}

impl Default for TimeCells {
    fn default() -> TimeCells {
        TimeCells {
            sum_ns: 0,
            max_ns: 0,
            cells: vec![0; BUCKETS],
        }
    }
}

impl TimeCells {
    fn add(&mut self, time_ns: u64) {
        self.sum_ns += time_ns;
        self.max_ns = self.max_ns.max(time_ns);
        self.cells[bucket(time_ns)] += 1;
    }

    fn merge(&mut self, other: &TimeCells) {
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            *cell += more;
        }
    }

    /// What was added since `earlier`. The longest time is that of its highest cell, where it may
    /// be an earlier one.
    fn since(&self, earlier: &TimeCells) -> TimeCells {
        let cells: Vec<u64> = self
            .cells
            .iter()
            .zip(&earlier.cells)
            .map(|(cell, before)| cell.saturating_sub(*before))
            .collect();
        let highest = cells.iter().rposition(|&cell| cell > 0);
        let upper_edge = highest.map_or(0, |highest| bucket_begin(highest + 1) - 1);
        TimeCells {
            sum_ns: self.sum_ns.saturating_sub(earlier.sum_ns),
            max_ns: self.max_ns.min(upper_edge),
            cells,
        }
    }

    /// The time that this share of the times does not exceed, ns.
    pub fn quantile(&self, share: f64) -> u64 {
        let count: u64 = self.cells.iter().sum();
        if count == 0 {
            return 0;
        }
        let rank = ((count - 1) as f64 * share) as u64;
        let mut before = 0;
        for (place, &cell) in self.cells.iter().enumerate() {
            if rank < before + cell {
                let (begin, end) = (bucket_begin(place), bucket_begin(place + 1));
                let part = (rank - before) as f64 / cell as f64;
                let time_ns = begin + ((end - begin) as f64 * part) as u64;
                return time_ns.min(self.max_ns);
            }
            before += cell;
        }
        self.max_ns
    }

    fn quantiles(&self) -> TimeQuantiles {
        let count: u64 = self.cells.iter().sum();
        TimeQuantiles {
            mean_ns: self.sum_ns as f64 / count.max(1) as f64,
            p50_ns: self.quantile(0.5),
            p90_ns: self.quantile(0.9),
            p99_ns: self.quantile(0.99),
            p99_9_ns: self.quantile(0.999),
            p99_99_ns: self.quantile(0.9999),
            max_ns: self.max_ns,
        }
    }
}

/// Requests of one kind and size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistogramRow {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that failed.
    pub failed: u64,
    /// Time in the host's queue.
    pub queue: TimeCells,
    /// Time in the device; of awaited requests the total time.
    pub device: TimeCells,
}

impl HistogramRow {
    fn add(&mut self, request: &BlockRequest, device_ns: u64) {
        self.count += 1;
        self.bytes += request.bytes;
        self.failed += u64::from(request.failed);
        self.queue.add(request.queue_ns());
        self.device.add(device_ns);
    }

    /// Adds those of another row.
    pub fn merge(&mut self, other: &HistogramRow) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.failed += other.failed;
        self.queue.merge(&other.queue);
        self.device.merge(&other.device);
    }

    fn since(&self, earlier: &HistogramRow) -> HistogramRow {
        HistogramRow {
            count: self.count.saturating_sub(earlier.count),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            failed: self.failed.saturating_sub(earlier.failed),
            queue: self.queue.since(&earlier.queue),
            device: self.device.since(&earlier.device),
        }
    }
}

/// Histograms of all kinds and sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyHistograms {
    /// By row.
    pub rows: Vec<HistogramRow>,
}

impl Default for LatencyHistograms {
    fn default() -> LatencyHistograms {
        LatencyHistograms {
            rows: vec![HistogramRow::default(); ROWS],
        }
    }
}

/// Points of the spread of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeQuantiles {
    /// Mean, ns.
    pub mean_ns: f64,
    /// Half are at most this, ns.
    pub p50_ns: u64,
    /// 90 % are at most this, ns.
    pub p90_ns: u64,
    /// 99 % are at most this, ns.
    pub p99_ns: u64,
    /// 99.9 % are at most this, ns.
    pub p99_9_ns: u64,
    /// 99.99 % are at most this, ns.
    pub p99_99_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
}

/// Times of one kind and size since the watch began.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyRow {
    /// What.
    pub kind: HistogramKind,
    /// The most bytes of its sizes; `None` where the class has no upper edge, and for kinds whose
    /// sizes are not distinguished.
    pub bytes_at_most: Option<u64>,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that failed.
    pub failed: u64,
    /// Time in the host's queue.
    pub queue: TimeQuantiles,
    /// Time in the device; of awaited requests the total time.
    pub device: TimeQuantiles,
}

impl LatencyHistograms {
    /// Counts a request.
    pub fn add(&mut self, request: &BlockRequest) {
        self.rows[row_of(request)].add(request, request.device_ns());
        if request.is_awaited() {
            self.rows[AWAITED_ROW].add(request, request.total_ns());
        }
    }

    /// What was counted since `earlier`.
    pub fn since(&self, earlier: &LatencyHistograms) -> LatencyHistograms {
        let rows = self.rows.iter().zip(&earlier.rows);
        LatencyHistograms {
            rows: rows.map(|(row, before)| row.since(before)).collect(),
        }
    }

    /// All sizes of a kind; writes are with those forced to the media.
    pub fn kind(&self, kind: RequestKind) -> HistogramRow {
        let rows = match kind {
            RequestKind::Read => 0..SIZES,
            RequestKind::Write => SIZES..3 * SIZES,
            RequestKind::Flush => FLUSH_ROW..FLUSH_ROW + 1,
            RequestKind::Discard => DISCARD_ROW..DISCARD_ROW + 1,
        };
        let mut sum = HistogramRow::default();
        for row in &self.rows[rows] {
            sum.merge(row);
        }
        sum
    }

    /// Requests of all kinds.
    pub fn count(&self) -> u64 {
        self.rows[..AWAITED_ROW].iter().map(|row| row.count).sum()
    }

    /// The rows with requests, as a table.
    pub fn table(&self) -> Vec<LatencyRow> {
        let kinds = [
            HistogramKind::Read,
            HistogramKind::Write,
            HistogramKind::Fua,
        ];
        let sized = kinds.into_iter().flat_map(|kind| {
            let edges = SIZE_EDGES.into_iter().map(Some).chain([None]);
            edges.map(move |edge| (kind, edge))
        });
        let others = [
            HistogramKind::Flush,
            HistogramKind::Discard,
            HistogramKind::Awaited,
        ];
        let names = sized.chain(others.into_iter().map(|kind| (kind, None)));
        let rows = self.rows.iter().zip(names).filter(|(row, _)| row.count > 0);
        rows.map(|(row, (kind, bytes_at_most))| LatencyRow {
            kind,
            bytes_at_most,
            count: row.count,
            bytes: row.bytes,
            failed: row.failed,
            queue: row.queue.quantiles(),
            device: row.device.quantiles(),
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;

    #[test]
    fn each_time_lies_in_its_cell_and_cells_touch() {
        for bucket_number in 0..BUCKETS {
            let (begin, end) = (bucket_begin(bucket_number), bucket_begin(bucket_number + 1));
            assert_eq!(bucket(begin), bucket_number);
            assert_eq!(bucket(end - 1), bucket_number);
            assert!(
                end - begin <= (begin / SUB_BUCKETS).max(1),
                "{begin}..{end}"
            );
        }
        assert_eq!(bucket_begin(BUCKETS), 1 << TIME_BITS);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_within_a_cell_of_the_true_ones() {
        let mut histograms = LatencyHistograms::default();
        for i in 1..=10_000 {
            histograms.add(&request("R", 0, 8192, 0, 50, 1000 * i));
        }
        let row = &histograms.table()[0];
        assert_eq!(
            (row.kind, row.bytes_at_most),
            (HistogramKind::Read, Some(16 << 10))
        );
        assert_eq!((row.count, row.bytes), (10_000, 81_920_000));
        for (quantile, exact) in [
            (row.device.p50_ns, 5_000_000),
            (row.device.p99_ns, 9_900_000),
            (row.device.p99_99_ns, 9_999_000),
        ] {
            let place = bucket(exact);
            let cell = bucket_begin(place)..=bucket_begin(place + 1);
            assert!(cell.contains(&quantile), "{quantile} for {exact}");
        }
        assert_eq!(row.device.max_ns, 10_000_000);
        assert_eq!(bucket(row.queue.p50_ns), bucket(50));
    }

    #[test]
    fn kinds_and_sizes_have_rows_of_their_own() {
        let mut histograms = LatencyHistograms::default();
        for (rwbs, bytes) in [
            ("W", 4096),
            ("WFS", 4097),
            ("FF", 0),
            ("D", 1 << 30),
            ("RA", 2 << 20),
        ] {
            histograms.add(&request(rwbs, 0, bytes, 0, 5, 10));
        }
        let places: Vec<usize> = (0..ROWS)
            .filter(|&row| histograms.rows[row].count > 0)
            .collect();
        let sizes = SIZES;
        assert_eq!(
            places,
            [
                sizes - 1,
                sizes,
                2 * sizes + 1,
                FLUSH_ROW,
                DISCARD_ROW,
                AWAITED_ROW
            ]
        );
        assert_eq!(histograms.kind(RequestKind::Write).count, 2);
        assert_eq!(histograms.count(), 5);
        // The forced write and the flush are waited for, their queue included.
        assert_eq!(histograms.rows[AWAITED_ROW].device.sum_ns, 30);
        let none = histograms.since(&histograms.clone());
        assert_eq!(none, LatencyHistograms::default());
    }
}
