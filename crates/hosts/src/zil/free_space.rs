//! Free segments of a metaslab, by place and by size.

use std::collections::{BTreeMap, BTreeSet};

/// A free range of bytes: first byte and the byte after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Segment {
    /// Bytes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Never true of a segment that is kept.
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

/// Free segments; neighbours are joined.
#[derive(Clone, Debug, Default)]
pub struct FreeSpace {
    by_start: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    bytes: u64,
}

impl FreeSpace {
    /// Nothing free.
    pub fn new() -> FreeSpace {
        FreeSpace::default()
    }

    /// Bytes free.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many segments there are.
    pub fn count(&self) -> usize {
        self.by_start.len()
    }

    /// Bytes of the largest segment.
    pub fn largest(&self) -> u64 {
        self.by_size.last().map_or(0, |(size, _)| *size)
    }

    /// Segments in order of place.
    pub fn segments(&self) -> impl Iterator<Item = Segment> {
        let segment = |(&start, &end): (&u64, &u64)| Segment { start, end };
        self.by_start.iter().map(segment)
    }

    /// Makes a range free.
    ///
    /// # Panics
    /// When part of it is free already.
    pub fn add(&mut self, start: u64, len: u64) {
        let mut whole = Segment {
            start,
            end: start + len,
        };
        assert!(
            self.overlapping(start, whole.end).is_none(),
            "freed twice: {start}+{len}"
        );
        self.bytes += len;
        if let Some((&before, &end)) = self.by_start.range(..start).next_back()
            && end == start
        {
            self.forget(before, end);
            whole.start = before;
        }
        if let Some(&end) = self.by_start.get(&whole.end) {
            self.forget(whole.end, end);
            whole.end = end;
        }
        self.keep(whole);
    }

    /// Takes `len` bytes from the start of the free segment at `start`.
    ///
    /// # Panics
    /// When no free segment starts there or it is too short.
    pub fn take(&mut self, start: u64, len: u64) {
        let end = self.by_start.get(&start).copied().unwrap_or(start);
        assert!(start + len <= end, "not free: {start}+{len}");
        self.forget(start, end);
        self.bytes -= len;
        if start + len < end {
            self.keep(Segment {
                start: start + len,
                end,
            });
        }
    }

    /// The first segment that overlaps `start..end`.
    pub fn overlapping(&self, start: u64, end: u64) -> Option<Segment> {
        self.ending_after(start)
            .filter(|segment| segment.start < end)
    }

    /// The first segment that ends after `place`.
    pub fn ending_after(&self, place: u64) -> Option<Segment> {
        let before = self.by_start.range(..=place).next_back();
        let covering = before.filter(|(_, end)| **end > place);
        let entry = covering.or_else(|| self.by_start.range(place..).next())?;
        Some(Segment {
            start: *entry.0,
            end: *entry.1,
        })
    }

    /// The segment after one that starts at `start`.
    pub fn after(&self, start: u64) -> Option<Segment> {
        let (&start, &end) = self.by_start.range(start + 1..).next()?;
        Some(Segment { start, end })
    }

    /// The smallest segment of at least `size` bytes; of equals, the first in place.
    pub fn best_fit(&self, size: u64) -> Option<Segment> {
        let &(size, start) = self.by_size.range((size, 0)..).next()?;
        Some(Segment {
            start,
            end: start + size,
        })
    }

    fn keep(&mut self, segment: Segment) {
        self.by_start.insert(segment.start, segment.end);
        self.by_size.insert((segment.len(), segment.start));
    }

    fn forget(&mut self, start: u64, end: u64) {
        self.by_start.remove(&start);
        self.by_size.remove(&(end - start, start));
    }
}
