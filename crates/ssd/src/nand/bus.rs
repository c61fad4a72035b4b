//! A shared wire: reservations in time, with gaps filled.
//!
//! Transfers are reserved ahead (a read's data moves when its die is ready, milliseconds from now
//! if the die is programming), so a single free-at time would make every request wait for the
//! latest reservation. The bus keeps the reserved spans that lie ahead and gives each request the
//! earliest span that fits.

use crate::image::{Image, ImageError, Reader, Writer};

/// Reserved spans in order, never touching (touching ones are joined).
#[derive(Clone, Debug, Default)]
pub struct Bus {
    /// Past spans are kept until there are many, then dropped together.
    spans: Vec<(u64, u64)>,
    /// Number of spans at the front that are known to be over. They are room: a span put in near
    /// the front moves those before it, not the many that may lie ahead.
    past: usize,
    /// Total time reserved, ns: utilisation = busy / elapsed.
    pub busy_ns: u64,
    /// Spans beyond [`SPANS_MAX`] at which the past ones are dropped next.
    more: usize,
}

impl Image for Bus {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.spans.save(out)?;
        (self.past, self.more).save(out)?;
        self.busy_ns.save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Bus, ImageError> {
        let spans: Vec<(u64, u64)> = Image::load(from)?;
        let (past, more) = Image::load(from)?;
        let in_order = spans.is_sorted_by(|a, b| a.1 <= b.1);
        if !in_order || past > spans.len() || more > u32::MAX as usize {
            return Err(ImageError::Unknown("reservations out of order".into()));
        }
        let busy_ns = Image::load(from)?;
        Ok(Bus {
            spans,
            past,
            busy_ns,
            more,
        })
    }
}

/// Spans kept before the past ones are dropped.
const SPANS_MAX: usize = 64;

impl Bus {
    /// Reserves `length` ns at the earliest time not before `earliest`; returns the end. No later
    /// request begins before `now`: earlier spans may be dropped.
    #[inline]
    pub fn reserve(&mut self, now: u64, earliest: u64, length: u64) -> u64 {
        self.busy_ns += length;
        let after = self.first_after(earliest);
        if after == self.spans.len() {
            return self.append(now, earliest, length);
        }
        self.insert(now, after, earliest, length)
    }

    /// Number of spans that end by `earliest`.
    #[inline]
    fn first_after(&self, earliest: u64) -> usize {
        // Most requests come after nearly everything reserved: look at the back first.
        let near = self.spans.len().saturating_sub(8);
        let tail = &self.spans[near..];
        match tail.iter().rposition(|span| span.1 <= earliest) {
            Some(index) => near + index + 1,
            None => self.spans[..near].partition_point(|span| span.1 <= earliest),
        }
    }

    /// End of a transfer if it were reserved now.
    pub fn would_end(&self, earliest: u64, length: u64) -> u64 {
        let mut start = earliest;
        for &(from, to) in &self.spans[self.first_after(earliest)..] {
            if start + length <= from {
                break;
            }
            start = to;
        }
        start + length
    }

    /// Drops all reservations.
    pub fn restart(&mut self) {
        self.spans.clear();
        self.past = 0;
        self.more = 0;
    }

    /// Drops the spans that are over. A bus reserved far ahead keeps more than the maximum, and is
    /// searched again only when those that lie ahead have doubled.
    #[cold]
    fn forget(&mut self, now: u64) {
        let past = self.spans.partition_point(|span| span.1 < now);
        self.spans.drain(..past);
        self.past = 0;
        self.more = 2 * self.spans.len();
    }

    #[inline]
    fn append(&mut self, now: u64, start: u64, length: u64) -> u64 {
        let end = start + length;
        match self.spans.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => {
                self.spans.push((start, end));
                if self.spans.len() > SPANS_MAX + self.more {
                    self.forget(now);
                }
            }
        }
        end
    }

    /// Takes the first gap that fits, from the one before the span at `after` on; all spans
    /// before that one end at `earliest` or sooner.
    fn insert(&mut self, now: u64, after: usize, earliest: u64, length: u64) -> u64 {
        let mut start = earliest;
        for index in after..self.spans.len() {
            let (from, to) = self.spans[index];
            if start + length <= from {
                return self.place(now, index, start, start + length);
            }
            start = to;
        }
        self.append(now, start, length)
    }

    /// Puts a span before the one at `index`, joining it with those it touches.
    #[inline]
    fn place(&mut self, now: u64, index: usize, start: u64, end: u64) -> u64 {
        let joins_before = index > 0 && self.spans[index - 1].1 == start;
        let joins_after = self.spans[index].0 == end;
        let spans = self.spans.len();
        let many_ahead = || spans - index > 4 * SPANS_MAX;
        match (joins_before, joins_after) {
            (true, false) => self.spans[index - 1].1 = end,
            (false, true) => self.spans[index].0 = start,
            (true, true) if many_ahead() => self.join_moving_front(now, index),
            (true, true) => {
                self.spans[index - 1].1 = self.spans[index].1;
                self.spans.remove(index);
            }
            (false, false) if many_ahead() => self.put_moving_front(now, index, (start, end)),
            (false, false) => self.spans.insert(index, (start, end)),
        }
        end
    }

    /// Counts the spans that are over. Strictly: none of them is touched by a span to come.
    fn pass(&mut self, now: u64) {
        while self.spans[self.past].1 < now {
            self.past += 1;
        }
    }

    #[cold]
    fn put_moving_front(&mut self, now: u64, index: usize, span: (u64, u64)) {
        self.pass(now);
        if self.past > 0 {
            self.spans.copy_within(self.past..index, self.past - 1);
            self.past -= 1;
            self.spans[index - 1] = span;
        } else {
            self.spans.insert(index, span);
        }
    }

    /// Joins the span at `index` with the one before it.
    #[cold]
    fn join_moving_front(&mut self, now: u64, index: usize) {
        self.pass(now);
        let end = self.spans[index].1;
        if self.past > 0 {
            self.spans.copy_within(self.past..index, self.past + 1);
            self.spans[index].1 = end;
            self.spans[self.past] = self.spans[self.past - 1];
            self.past += 1;
        } else {
            self.spans[index - 1].1 = end;
            self.spans.remove(index);
        }
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

    /// Against a search of a plain list of what is reserved.
    #[test]
    fn a_transfer_takes_the_gap_that_a_plain_search_finds() {
        let mut rng = Rng::new(10);
        let mut bus = Bus::default();
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for _ in 0..20_000 {
            now += rng.below(60);
            let ahead = if rng.below(3) == 0 { 90_000 } else { 90 };
            let (earliest, length) = (now + rng.below(ahead), 1 + rng.below(6) * 10);
            let mut start = earliest;
            for &(from, to) in taken.iter().filter(|span| span.1 > earliest) {
                if start + length <= from {
                    break;
                }
                start = to;
            }
            let end = bus.reserve(now, earliest, length);
            assert_eq!(end, start + length);
            let at = taken.partition_point(|span| *span < (start, end));
            taken.insert(at, (start, end));
            taken.retain(|span| span.1 >= now);
        }
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

    /// Transfers that fill gaps count too: with them the number of spans grew without a bound.
    #[test]
    fn spans_that_are_over_do_not_pile_up() {
        let mut rng = Rng::new(9);
        let mut bus = Bus::default();
        let mut now = 0;
        for _ in 0..100_000 {
            now += 100;
            bus.reserve(now, now + rng.below(3_000), 1 + rng.below(30));
            assert!(bus.spans.len() <= 3 * SPANS_MAX, "{}", bus.spans.len());
        }
    }

    #[test]
    fn what_a_transfer_would_take_is_what_it_takes() {
        let mut rng = Rng::new(8);
        let mut bus = Bus::default();
        let mut now = 0;
        for _ in 0..20_000 {
            now += rng.below(50);
            let (earliest, length) = (now + rng.below(2_000), rng.below(60));
            let would = bus.would_end(earliest, length);
            assert_eq!(bus.reserve(now, earliest, length), would);
        }
    }
}
