//! What a trace of a log device shows of the logs that wrote it.
//!
//! A log allocates its next block when it writes the present one, and allocations of one allocator
//! are given out in order of place. So the *n*th block of a region, by place, was allocated by the
//! log that wrote block *n - k* in order of time, where *k* is the number of logs that share the
//! allocator: every log holds one block that is allocated and not yet written. A block is never
//! further ahead in place than that, so *k* is one more than the furthest. With it every block has
//! its predecessor in its own log, and the times between the two are the writer's.
//!
//! Distances are counted in blocks of the region, not in time, so a host that is slow as a whole
//! for a while does not matter.

use super::block_size::BLOCK_MIN;
use ssdlab_load::trace::TraceEvent;
use ssdlab_ssd::{Nanos, Op};
use std::collections::BTreeMap;

/// Blocks looked at together: few enough that no group returns space to them.
const WINDOW: usize = 100;
/// Bytes between two blocks, by place, from which they belong to two allocators.
const APART: u64 = 8 << 20;
/// Share of a window's blocks below which a region is the end of another, and not counted.
const FEW: f64 = 0.05;
/// Share of the windows in which a number of logs is to be seen. In a short window the furthest
/// block may be less far ahead than it can be, so the most logs that are seen so often are all.
const OFTEN: f64 = 0.15;
/// A block further ahead in place than this many others is no next block of a log.
const AHEAD_MAX: usize = 30;
/// Labels at the start of a log device, and their copies at its end: no log blocks.
const LABELS: u64 = 4 << 20;
/// Share of neighbours with a gap between them from which blocks are not written whole.
const GAPS: f64 = 0.2;
/// Bytes of the blocks that ZFS 2.1 chooses from.
const BUCKETS: [u64; 5] = [4 << 10, 12 << 10, 36 << 10, 68 << 10, 128 << 10];
/// Share of the distances between neighbours that must be such sizes.
const IN_BUCKETS: f64 = 0.9;

/// The logs that wrote a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct LogStructure {
    /// Log blocks.
    pub blocks: usize,
    /// Logs of each allocator, most first.
    pub logs: Vec<usize>,
    /// Share of neighbours in place with a gap between them.
    pub gaps: f64,
    /// Share of the distances between neighbours that are blocks of ZFS 2.1.
    pub in_buckets: f64,
    /// Standard deviation over mean of the number of blocks from one of a log to its next, where
    /// several share an allocator. 0: always in turn.
    pub disorder: f64,
    /// Median time from one block of a log to its next, of blocks that hold little.
    pub cycle: Nanos,
    /// By how much that grows with each KiB of a block.
    pub cycle_per_kib: Nanos,
}

impl LogStructure {
    /// Whether blocks are written whole, with the link at their end (pool version below 23).
    pub fn whole(&self) -> bool {
        self.gaps < GAPS
    }

    /// Whether block sizes are those that ZFS 2.1 chooses from.
    pub fn buckets(&self) -> bool {
        self.in_buckets >= IN_BUCKETS
    }
}

#[derive(Debug, Default)]
struct StructureTally {
    blocks: usize,
    shapes: BTreeMap<Vec<usize>, u64>,
    neighbours: u64,
    gaps: u64,
    in_buckets: u64,
    /// Where several logs share an allocator: count, sum and sum of squares of the distance to the
    /// predecessor over the number of logs.
    turns: (f64, f64, f64),
    /// By bytes of the later block: times from the earlier one.
    cycles: BTreeMap<u64, Vec<u64>>,
}

/// A log block: when it was issued, and where it is.
type IssuedLogBlock = (u64, u64, u64);

/// The structure of the logs behind `events`, in order of issue, on a device of `capacity` bytes.
/// `None` when there are fewer log blocks than one window.
pub fn structure(events: &[TraceEvent], capacity: u64) -> Option<LogStructure> {
    let is_block = |event: &&TraceEvent| {
        let end = capacity.saturating_sub(LABELS);
        event.op == Op::Write && event.len >= BLOCK_MIN && (LABELS..end).contains(&event.offset)
    };
    let blocks: Vec<IssuedLogBlock> = events
        .iter()
        .filter(is_block)
        .flat_map(|event| unmerged(event.issued_ns, event.offset, event.len))
        .collect();
    let mut seen = StructureTally {
        blocks: blocks.len(),
        ..StructureTally::default()
    };
    blocks
        .chunks_exact(WINDOW)
        .for_each(|window| seen.window(window));
    seen.finish()
}

/// The blocks of a write: neighbours of ZFS 2.1 may have been merged in the device queue. Blocks of
/// 4 KiB would explain any size, so they are not looked for.
pub(super) fn unmerged(issued: u64, mut offset: u64, mut len: u64) -> Vec<IssuedLogBlock> {
    let mergeable = &BUCKETS[1..];
    let mut blocks = Vec::new();
    while !BUCKETS.contains(&len) {
        let rest_mergeable = |first: &&u64| mergeable.contains(&len.wrapping_sub(**first));
        let equal = |first: &&u64| len > **first && len.is_multiple_of(**first);
        let first = mergeable.iter().find(rest_mergeable);
        let Some(&first) = first.or_else(|| mergeable.iter().find(equal)) else {
            break;
        };
        blocks.push((issued, offset, first));
        (offset, len) = (offset + first, len - first);
    }
    blocks.push((issued, offset, len));
    blocks
}

impl StructureTally {
    fn window(&mut self, window: &[IssuedLogBlock]) {
        let mut by_place: Vec<usize> = (0..window.len()).collect();
        by_place.sort_by_key(|&turn| (window[turn].1, turn));
        let apart = |a: &usize, b: &usize| window[*b].1 - window[*a].1 <= APART;
        let regions = by_place.chunk_by(apart);
        let regions: Vec<&[usize]> = regions
            .filter(|region| region.len() as f64 >= FEW * window.len() as f64)
            .collect();
        let mut shape = Vec::new();
        for region in regions {
            self.neighbours(window, region);
            match self.region(window, region) {
                Some(logs) => shape.push(logs),
                None => return,
            }
        }
        shape.sort_unstable_by(|a, b| b.cmp(a));
        *self.shapes.entry(shape).or_default() += 1;
    }

    fn neighbours(&mut self, window: &[IssuedLogBlock], region: &[usize]) {
        for pair in region.windows(2) {
            let (here, next) = (window[pair[0]], window[pair[1]]);
            let distance = next.1 - here.1;
            self.neighbours += 1;
            self.gaps += u64::from(distance != here.2);
            self.in_buckets += u64::from(BUCKETS.contains(&distance));
        }
    }

    /// The number of logs in a region; blocks of it by place, each with its turn in the window.
    fn region(&mut self, window: &[IssuedLogBlock], region: &[usize]) -> Option<usize> {
        let mut turns = region.to_vec();
        turns.sort_unstable();
        let turn_of = |index: usize| turns.binary_search(&region[index]).unwrap_or(index);
        let ahead = (0..region.len()).map(|index| index.saturating_sub(turn_of(index)));
        let logs = 1 + ahead.max()?;
        if logs > AHEAD_MAX {
            return None;
        }
        for at in logs..region.len() {
            let before = at - logs;
            let (turn, was) = (turn_of(at), before);
            // In order of issue: the block that was issued `logs` places before in allocation.
            let Some(distance) = turn.checked_sub(was).filter(|distance| *distance > 0) else {
                continue;
            };
            if logs > 1 {
                let turns = distance as f64 / logs as f64;
                let (count, sum, squares) = self.turns;
                self.turns = (count + 1.0, sum + turns, squares + turns * turns);
            }
            let since = window[turns[was]].0;
            let (now, _, len) = window[region[at]];
            let cycles = self.cycles.entry(len).or_default();
            cycles.push(now.saturating_sub(since));
        }
        Some(logs)
    }

    /// A line through the median cycles of the block sizes, by least squares, each size by how
    /// often it occurs: cycle at 0 bytes, and its growth with each KiB.
    fn line(&mut self) -> (Nanos, Nanos) {
        let mut points = Vec::new();
        for (len, cycles) in &mut self.cycles {
            cycles.sort_unstable();
            let median = cycles[cycles.len() / 2] as f64;
            points.push((cycles.len() as f64, *len as f64 / 1024.0, median));
        }
        let weight: f64 = points.iter().map(|(w, ..)| w).sum();
        let mean = |component: fn(&(f64, f64, f64)) -> f64| {
            points
                .iter()
                .map(|point| point.0 * component(point))
                .sum::<f64>()
                / weight.max(1.0)
        };
        let (x, y) = (mean(|point| point.1), mean(|point| point.2));
        let square: f64 = points
            .iter()
            .map(|(w, len_kib, _)| w * (len_kib - x).powi(2))
            .sum();
        let covariance: f64 = points
            .iter()
            .map(|(w, len_kib, cycle_ns)| w * (len_kib - x) * (cycle_ns - y))
            .sum();
        let slope = if square > 0.0 {
            (covariance / square).clamp(0.0, y / x.max(1.0))
        } else {
            0.0
        };
        (Nanos((y - slope * x) as u64), Nanos(slope as u64))
    }

    fn finish(mut self) -> Option<LogStructure> {
        let windows: u64 = self.shapes.values().sum();
        let often = |(_, count): &(&Vec<usize>, &u64)| **count as f64 >= OFTEN * windows as f64;
        let often = self.shapes.iter().filter(often);
        let most = often.max_by_key(|(logs, count)| (logs.iter().sum::<usize>(), **count));
        let most = most.or_else(|| self.shapes.iter().max_by_key(|(_, count)| **count));
        let logs = most?.0.clone();
        let (count, sum, squares) = self.turns;
        let mean = sum / count.max(1.0);
        let variance = (squares / count.max(1.0) - mean * mean).max(0.0);
        let disorder = if mean > 0.0 {
            variance.sqrt() / mean
        } else {
            0.0
        };
        let share = |part: u64| part as f64 / self.neighbours.max(1) as f64;
        let (gaps, in_buckets) = (share(self.gaps), share(self.in_buckets));
        let (cycle, cycle_per_kib) = self.line();
        Some(LogStructure {
            blocks: self.blocks,
            gaps,
            in_buckets,
            disorder,
            cycle,
            cycle_per_kib,
            logs,
        })
    }
}
