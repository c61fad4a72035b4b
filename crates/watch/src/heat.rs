//! How long requests took, second by second: counts by class of time, for heat maps.
//!
//! Classes go by 1, 2 and 5 from 10 us to 10 s. A map has at most [`COLUMNS_MAX`] columns: when it
//! is full, two neighbours become one, so a day needs no more memory than five minutes.

use crate::source::event::RequestKind;
use crate::steps::{KindSecond, WatchedSecond};
use schemars::JsonSchema;
use serde::Serialize;

/// Lower bounds of the classes after the first, ns.
pub const BOUNDS_NS: [u64; 19] = [
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];
/// Classes.
pub const CLASSES: usize = BOUNDS_NS.len() + 1;
/// Columns of a map at most.
const COLUMNS_MAX: usize = 300;

/// The class of a time.
pub fn class_of(ns: u64) -> usize {
    BOUNDS_NS.partition_point(|bound| *bound <= ns)
}

/// Requests of a span of time by kind and class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeatColumn {
    counts: [[u32; CLASSES]; RequestKind::ALL.len()],
}

impl HeatColumn {
    /// Counts requests that took this long.
    pub fn add(&mut self, kind: RequestKind, ns: u64, count: u64) {
        let cell = &mut self.counts[kind as usize][class_of(ns)];
        *cell = cell.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Counts the requests of a second of which only means are known.
    pub fn add_means(&mut self, second: &WatchedSecond) {
        let mut add = |kind, counted: &KindSecond| {
            if let Some(mean_ns) = counted.device_ns.checked_div(counted.count) {
                self.add(kind, mean_ns, counted.count);
            }
        };
        add(RequestKind::Read, &second.reads);
        add(RequestKind::Write, &second.writes);
        add(RequestKind::Flush, &second.flushes);
        add(RequestKind::Discard, &second.discards);
    }

    /// Counts by class, of one kind or of all.
    pub fn classes(&self, kind: Option<RequestKind>) -> [u32; CLASSES] {
        if let Some(kind) = kind {
            return self.counts[kind as usize];
        }
        let mut classes = [0_u32; CLASSES];
        for counts in &self.counts {
            for (class, count) in classes.iter_mut().zip(counts) {
                *class = class.saturating_add(*count);
            }
        }
        classes
    }

    fn merge(&mut self, other: &HeatColumn) {
        for (counts, others) in self.counts.iter_mut().zip(&other.counts) {
            for (count, more) in counts.iter_mut().zip(others) {
                *count = count.saturating_add(*more);
            }
        }
    }
}

/// Counts of a whole watch as it grows.
#[derive(Clone, Debug)]
pub struct HeatMap {
    column_s: u64,
    columns: Vec<HeatColumn>,
}

impl Default for HeatMap {
    fn default() -> HeatMap {
        HeatMap {
            column_s: 1,
            columns: Vec::new(),
        }
    }
}

impl HeatMap {
    /// The column of a second, counted from the beginning.
    pub fn column(&mut self, second: u64) -> &mut HeatColumn {
        while second / self.column_s >= COLUMNS_MAX as u64 {
            self.halve();
        }
        let place = (second / self.column_s) as usize;
        if self.columns.len() <= place {
            self.columns.resize(place + 1, HeatColumn::default());
        }
        &mut self.columns[place]
    }

    fn halve(&mut self) {
        let merged = self.columns.chunks(2).map(|pair| {
            let mut column = pair[0];
            if let Some(second) = pair.get(1) {
                column.merge(second);
            }
            column
        });
        self.columns = merged.collect();
        self.column_s *= 2;
    }

    /// As a document, of the seconds that are over.
    pub fn document(&self, seconds: u64) -> WatchHeat {
        let columns = seconds.div_ceil(self.column_s) as usize;
        let mut columns = self.columns[..columns.min(self.columns.len())].to_vec();
        columns.resize(
            seconds.div_ceil(self.column_s) as usize,
            HeatColumn::default(),
        );
        WatchHeat {
            column_s: self.column_s,
            bounds_ns: BOUNDS_NS.to_vec(),
            columns: columns.iter().map(HeatCounts::new).collect(),
        }
    }
}

/// How long requests took, host and drive together, over the watch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WatchHeat {
    /// Seconds of a column.
    pub column_s: u64,
    /// Lower bounds of the classes after the first, ns; the first begins at 0.
    pub bounds_ns: Vec<u64>,
    /// The columns, from the first second on.
    pub columns: Vec<HeatCounts>,
}

/// Counts of a column by class; classes after the last request are left out, and kinds that had
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeatCounts {
    /// Reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<u32>,
    /// Writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<u32>,
    /// Flushes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flushes: Vec<u32>,
    /// Discards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discards: Vec<u32>,
}

impl HeatCounts {
    fn new(column: &HeatColumn) -> HeatCounts {
        let counts = |kind| {
            let classes = column.classes(Some(kind));
            let used = classes.iter().rposition(|count| *count > 0);
            classes[..used.map_or(0, |last| last + 1)].to_vec()
        };
        HeatCounts {
            reads: counts(RequestKind::Read),
            writes: counts(RequestKind::Write),
            flushes: counts(RequestKind::Flush),
            discards: counts(RequestKind::Discard),
        }
    }

    /// Counts of one kind by class; empty where there was none.
    pub fn kind(&self, kind: RequestKind) -> &[u32] {
        match kind {
            RequestKind::Read => &self.reads,
            RequestKind::Write => &self.writes,
            RequestKind::Flush => &self.flushes,
            RequestKind::Discard => &self.discards,
        }
    }

    /// Counts by class, of one kind or of all.
    pub fn classes(&self, kind: Option<RequestKind>) -> [u32; CLASSES] {
        let mut classes = [0_u32; CLASSES];
        for one in RequestKind::ALL {
            if kind.is_none_or(|kind| kind == one) {
                for (class, count) in classes.iter_mut().zip(self.kind(one)) {
                    *class = class.saturating_add(*count);
                }
            }
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_class_that_begins_at_or_before_it() {
        assert_eq!(class_of(0), 0);
        assert_eq!(class_of(9_999), 0);
        assert_eq!(class_of(10_000), 1);
        assert_eq!(class_of(499_999), 5);
        assert_eq!(class_of(500_000), 6);
        assert_eq!(class_of(u64::MAX), CLASSES - 1);
    }

    /// An hour keeps each request and the length of its columns, in no more columns.
    #[test]
    fn a_long_watch_merges_neighbours_and_loses_nothing() {
        let mut map = HeatMap::default();
        for second in 0..3600 {
            map.column(second).add(RequestKind::Write, 1_500_000, 2);
        }
        map.column(3599).add(RequestKind::Read, 30, 1);
        let heat = map.document(3600);
        assert_eq!((heat.column_s, heat.columns.len()), (16, 225));
        let writes: u32 = heat.columns.iter().map(|column| column.writes[7]).sum();
        assert_eq!(writes, 7200);
        assert_eq!(heat.columns[0].writes[7], 32);
        assert_eq!(heat.columns[224].reads, [1]);
        assert!(heat.columns[223].reads.is_empty());
    }
}
