//! Access pattern as DTraceToolkit's `iopattern` and `seeksize` state it, for any trace.
//!
//! Both look at reads and writes that move data; flushes and trims are not buffers in those
//! tools. `iopattern` works on completions, `seeksize` on starts: feed each in its own order.
//! What either keeps does not grow with the trace.
//!
//! Definitions: `zil.pattern.*` and `zil.seek.*` are published in these terms. Two choices that
//! the scripts leave open: intervals are counted from the time given to [`IoPattern::new`], and
//! an interval in which nothing completes has no row; the distance of [`SeekSize`] is signed and
//! one for the whole device (the stock script has it unsigned and per thread).

use super::TraceEvent;
use ssdlab_ssd::Op;

/// Bytes in a sector, the unit of seek distances.
const SECTOR: u64 = 512;

/// One interval of `iopattern`. Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternRow {
    /// Number of the interval, from 0.
    pub interval: u64,
    /// Commands completed (COUNT).
    pub count: u64,
    /// Of those, how many did not start where the one before ended.
    pub random: u64,
    /// Smallest command (MIN).
    pub min: u64,
    /// Largest command (MAX).
    pub max: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

impl PatternRow {
    /// %RAN: whole per cent of the commands, rounded down.
    pub fn random_pct(&self) -> u64 {
        (100 * self.random).checked_div(self.count).unwrap_or(0)
    }

    /// %SEQ: 100 less the random percentage.
    pub fn sequential_pct(&self) -> u64 {
        100 - self.random_pct()
    }

    /// AVG: mean size, rounded down.
    pub fn mean(&self) -> u64 {
        let bytes = self.bytes_read.saturating_add(self.bytes_written);
        bytes.checked_div(self.count).unwrap_or(0)
    }

    /// KR: KiB read, rounded down.
    pub fn kib_read(&self) -> u64 {
        self.bytes_read / 1024
    }

    /// KW: KiB written, rounded down.
    pub fn kib_written(&self) -> u64 {
        self.bytes_written / 1024
    }

    fn add(&mut self, event: &TraceEvent, random: bool) {
        self.min = if self.count == 0 {
            event.len
        } else {
            self.min.min(event.len)
        };
        self.max = self.max.max(event.len);
        self.count += 1;
        self.random += u64::from(random);
        let bytes = match event.op {
            Op::Read => &mut self.bytes_read,
            _ => &mut self.bytes_written,
        };
        *bytes = bytes.saturating_add(event.len);
    }
}

/// Makes rows of `iopattern` from completions.
#[derive(Clone, Debug)]
pub struct IoPattern {
    origin_ns: u64,
    interval_ns: u64,
    row: PatternRow,
    total: PatternRow,
    /// Where the last command ended; carried over from interval to interval.
    last_end: Option<u64>,
}

impl IoPattern {
    /// Default of `iopattern`: 1 s.
    pub const INTERVAL_NS: u64 = 1_000_000_000;

    /// Intervals of `interval_ns` (0 counts as 1), the first of which starts at `origin_ns`.
    pub fn new(origin_ns: u64, interval_ns: u64) -> IoPattern {
        IoPattern {
            origin_ns,
            interval_ns: interval_ns.max(1),
            row: PatternRow::default(),
            total: PatternRow::default(),
            last_end: None,
        }
    }

    /// Counts a command that completed, in order of completion; returns the row of the interval
    /// that this ends. A command that completed earlier than the one before it is counted in the
    /// interval at hand.
    pub fn completed(&mut self, event: &TraceEvent) -> Option<PatternRow> {
        if !event.transfers() {
            return None;
        }
        let elapsed_ns = event.done_or_issued_ns().saturating_sub(self.origin_ns);
        let interval = elapsed_ns / self.interval_ns;
        let ended = (interval > self.row.interval)
            .then(|| self.next_row(interval))
            .flatten();
        let random = self.last_end != Some(event.offset);
        self.last_end = Some(event.end());
        self.row.add(event, random);
        self.total.add(event, random);
        ended
    }

    /// The last row, if it has any command.
    pub fn finish(&mut self) -> Option<PatternRow> {
        self.next_row(self.row.interval)
    }

    /// All commands so far as one row, with interval 0.
    pub fn total(&self) -> PatternRow {
        self.total
    }

    fn next_row(&mut self, interval: u64) -> Option<PatternRow> {
        let next = PatternRow {
            interval,
            ..PatternRow::default()
        };
        let row = std::mem::replace(&mut self.row, next);
        (row.count > 0).then_some(row)
    }
}

/// Histogram of the distances between commands, in sectors, as `seeksize` and DTrace's
/// `quantize` make it.
///
/// Distance = first sector - (first sector of the command before + its length). Bucket `v` > 0
/// holds v..=2v-1, bucket 0 the distance 0, bucket `-v` holds -(2v-1)..=-v.
#[derive(Clone, Debug)]
pub struct SeekSize {
    /// Where the last command ended, in sectors.
    last_end: Option<u64>,
    zero: u64,
    forward: [u64; 64],
    backward: [u64; 64],
}

impl Default for SeekSize {
    fn default() -> SeekSize {
        SeekSize {
            last_end: None,
            zero: 0,
            forward: [0; 64],
            backward: [0; 64],
        }
    }
}

impl SeekSize {
    /// Nothing counted yet.
    pub fn new() -> SeekSize {
        SeekSize::default()
    }

    /// Counts a command that starts, in order of starts. The first only sets the position.
    pub fn started(&mut self, event: &TraceEvent) {
        if !event.transfers() {
            return;
        }
        let first = event.offset / SECTOR;
        if let Some(last) = self.last_end.replace(first + event.len / SECTOR) {
            match first.abs_diff(last) {
                0 => self.zero += 1,
                distance if first > last => self.forward[distance.ilog2() as usize] += 1,
                distance => self.backward[distance.ilog2() as usize] += 1,
            }
        }
    }

    /// Distances counted.
    pub fn count(&self) -> u64 {
        self.zero + self.forward.iter().sum::<u64>() + self.backward.iter().sum::<u64>()
    }

    /// Every bucket that is not empty, by rising distance, with its count.
    pub fn buckets(&self) -> Vec<(i64, u64)> {
        // Sector numbers are below 2^55, so no bucket reaches the sign.
        let backward = self.backward.iter().enumerate().rev();
        let forward = self.forward.iter().enumerate();
        backward
            .map(|(power, &count)| (-1i64 << power, count))
            .chain([(0, self.zero)])
            .chain(forward.map(|(power, &count)| (1i64.wrapping_shl(power as u32), count)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn write(done_ms: u64, offset: u64, len: u64) -> TraceEvent {
        TraceEvent {
            done_ns: Some(done_ms * MS),
            ..TraceEvent::new(0, Op::Write, offset, len)
        }
    }

    fn rows(events: &[TraceEvent], interval_ms: u64) -> Vec<PatternRow> {
        let mut pattern = IoPattern::new(0, interval_ms * MS);
        let mut rows: Vec<_> = events.iter().filter_map(|e| pattern.completed(e)).collect();
        rows.extend(pattern.finish());
        rows
    }

    #[test]
    fn the_first_command_is_random_and_a_follower_is_not() {
        let [row] = rows(&[write(1, 4096, 8192), write(2, 12288, 4096)], 1000)[..] else {
            panic!("one row");
        };
        assert_eq!((row.count, row.random), (2, 1));
        assert_eq!((row.random_pct(), row.sequential_pct()), (50, 50));
        assert_eq!((row.min, row.max, row.mean()), (4096, 8192, 6144));
        assert_eq!((row.kib_read(), row.kib_written()), (0, 12));
    }

    #[test]
    fn an_interval_holds_its_first_instant_and_not_its_end() {
        let found = rows(&[write(999, 0, 512), write(1000, 512, 512)], 1000);
        let seen: Vec<_> = found.iter().map(|r| (r.interval, r.count)).collect();
        assert_eq!(seen, [(0, 1), (1, 1)]);
    }

    #[test]
    fn the_position_is_carried_over_and_empty_intervals_have_no_row() {
        let found = rows(&[write(0, 0, 512), write(5500, 512, 512)], 1000);
        let seen: Vec<_> = found.iter().map(|r| (r.interval, r.random)).collect();
        assert_eq!(seen, [(0, 1), (5, 0)]);
    }

    #[test]
    fn shares_are_rounded_down() {
        // 1 of 3 is 33.3 %: 33 random, and so 67 sequential; 1023 bytes are 0 KiB.
        let events = [write(0, 0, 512), write(1, 512, 511), write(2, 1023, 0)];
        let row = rows(&events, 1000)[0];
        assert_eq!((row.count, row.kib_written(), row.mean()), (2, 0, 511));
        let events = [write(0, 0, 512), write(1, 512, 512), write(2, 1024, 512)];
        let row = rows(&events, 1000)[0];
        assert_eq!((row.random_pct(), row.sequential_pct()), (33, 67));
    }

    #[test]
    fn flushes_and_trims_neither_count_nor_move_the_position() {
        let trim = TraceEvent::new(0, Op::Trim, 1 << 20, 4096);
        let flush = TraceEvent::new(0, Op::Flush, 0, 0);
        let row = rows(&[write(0, 0, 512), trim, flush, write(1, 512, 512)], 1000)[0];
        assert_eq!((row.count, row.random), (2, 1));
    }

    #[test]
    fn reads_and_writes_share_one_position() {
        let read = TraceEvent {
            op: Op::Read,
            ..write(1, 512, 2048)
        };
        let row = rows(&[write(0, 0, 512), read, write(2, 2560, 512)], 1000)[0];
        assert_eq!((row.random, row.kib_read(), row.kib_written()), (1, 2, 1));
    }

    fn seeks(places: &[(u64, u64)]) -> Vec<(i64, u64)> {
        let mut seeks = SeekSize::new();
        for &(offset, len) in places {
            seeks.started(&TraceEvent::new(0, Op::Write, offset, len));
        }
        seeks.buckets()
    }

    /// The bucket of one distance in sectors.
    fn bucket(distance: i64) -> i64 {
        let from = 1u64 << 40;
        let to = from.checked_add_signed(distance).unwrap();
        seeks(&[((from - 8) * SECTOR, 8 * SECTOR), (to * SECTOR, 4096)])[0].0
    }

    #[test]
    fn buckets_are_powers_of_two_on_both_sides() {
        for (distance, expected) in [
            (0, 0),
            (1, 1),
            (2, 2),
            (3, 2),
            (4, 4),
            (7, 4),
            (8, 8),
            (15, 8),
            (16, 16),
            (-1, -1),
            (-2, -2),
            (-3, -2),
            (-4, -4),
            (-15, -8),
            (-16, -16),
            (-31, -16),
            (-32, -32),
            (65535, 32768),
            (65536, 65536),
            (-65535, -32768),
            (-65536, -65536),
        ] {
            assert_eq!(bucket(distance), expected, "{distance} sectors");
        }
    }

    #[test]
    fn writing_a_block_again_is_a_seek_back_over_it() {
        assert_eq!(seeks(&[(0, 4096), (0, 4096)]), [(-8, 1)]);
        // The block before: back over both, the -16 of the published tables.
        assert_eq!(seeks(&[(4096, 4096), (0, 4096)]), [(-16, 1)]);
    }

    #[test]
    fn one_command_alone_has_no_distance_and_offsets_may_be_huge() {
        assert_eq!(seeks(&[(4096, 4096)]), []);
        let far = u64::MAX / SECTOR * SECTOR;
        assert_eq!(seeks(&[(far - 512, 512), (0, 512)]), [(-1 << 54, 1)]);
        assert_eq!(seeks(&[(0, 512), (far, u64::MAX)])[0].1, 1);
    }
}
