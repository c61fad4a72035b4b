//! A shared wire: reservations in time, with gaps filled.
//!
//! Transfers are reserved ahead (a read's data moves when its die is ready, milliseconds from
//! now if the die is programming), so a single free-at time would make everybody wait for the
//! latest reservation. The bus keeps the reserved spans still ahead and gives each request the
//! earliest span that fits.

use std::collections::VecDeque;

/// Reserved spans still ahead, in order, never touching (touching ones are joined).
#[derive(Clone, Debug, Default)]
pub struct Bus {
    reserved: VecDeque<(u64, u64)>,
    /// Total time reserved, ns: utilisation = busy / elapsed.
    pub busy_ns: u64,
}

impl Bus {
    /// Reserves `length` ns at the earliest time not before `earliest`; returns the end.
    /// `now` bounds all later requests from below: spans before it are forgotten.
    #[inline]
    pub fn reserve(&mut self, now: u64, earliest: u64, length: u64) -> u64 {
        self.busy_ns += length;
        while let Some(&(_, end)) = self.reserved.front() {
            if end > now {
                break;
            }
            self.reserved.pop_front();
        }
        // Most requests come after everything reserved.
        let last_end = self.reserved.back().map_or(0, |span| span.1);
        if earliest >= last_end {
            return self.append(earliest, length);
        }
        self.insert(earliest, length)
    }

    #[inline]
    fn append(&mut self, start: u64, length: u64) -> u64 {
        let end = start + length;
        match self.reserved.back_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => self.reserved.push_back((start, end)),
        }
        end
    }

    fn insert(&mut self, earliest: u64, length: u64) -> u64 {
        let mut start = earliest;
        for index in 0..self.reserved.len() {
            let (from, to) = self.reserved[index];
            if start + length <= from {
                return self.place(index, start, start + length);
            }
            start = start.max(to);
        }
        self.append(start, length)
    }

    fn place(&mut self, index: usize, start: u64, end: u64) -> u64 {
        let joins_before = index > 0 && self.reserved[index - 1].1 == start;
        let joins_after = self.reserved[index].0 == end;
        match (joins_before, joins_after) {
            (true, true) => {
                self.reserved[index - 1].1 = self.reserved[index].1;
                self.reserved.remove(index);
            }
            (true, false) => self.reserved[index - 1].1 = end,
            (false, true) => self.reserved[index].0 = start,
            (false, false) => self.reserved.insert(index, (start, end)),
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn a_transfer_takes_the_first_gap_that_fits_and_not_one_nanosecond_less() {
        let mut bus = Bus::default();
        assert_eq!(bus.reserve(0, 1000, 100), 1100);
        assert_eq!(bus.reserve(0, 0, 1000), 1000, "the gap before fits exactly");
        let mut bus = Bus::default();
        bus.reserve(0, 1000, 100);
        assert_eq!(bus.reserve(0, 0, 1001), 2101, "one too long for the gap");
        assert_eq!(bus.reserve(0, 0, 10), 10);
        assert_eq!(bus.reserve(0, 5, 10), 20, "waits for the span just before");
    }

    #[test]
    fn spans_never_overlap_and_none_is_lost() {
        let mut rng = Rng::new(7);
        let mut bus = Bus::default();
        let mut spans = Vec::new();
        let mut now = 0;
        for _ in 0..20_000 {
            now += rng.below(50);
            let earliest = now + rng.below(2_000);
            let length = 1 + rng.below(60);
            let end = bus.reserve(now, earliest, length);
            assert!(end >= earliest + length);
            spans.push((end - length, end));
        }
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        assert_eq!(bus.busy_ns, spans.iter().map(|s| s.1 - s.0).sum::<u64>());
    }
}
