//! The best piecewise-constant fit in least absolute deviations, exactly, by dynamic programming.
//!
//! Least absolute deviations (medians) rather than least squares, so that a burst of outliers
//! costs what it weighs and no more. Quadratic in the length: made for a few hundred points.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Splits `y` into segments of at least `length_min` points so that the sum of absolute
/// deviations from each segment's median, plus `penalty` per segment, is least. Gives the
/// segments' first indices, the first of which is 0. O(n^2 log n) time, O(n) space.
pub fn segments(y: &[f64], length_min: usize, penalty: f64) -> Vec<usize> {
    let n = y.len();
    let length_min = length_min.max(1);
    if n < 2 * length_min {
        return vec![0];
    }
    let ranks = Ranks::of(y);
    // best[start]: least cost of y[start..]; next[start]: where its first segment ends.
    let mut best = vec![f64::INFINITY; n + 1];
    let mut next = vec![n; n + 1];
    best[n] = 0.0;
    for start in (0..=n - length_min).rev() {
        let mut deviation = Deviation::default();
        for end in start + 1..=n {
            deviation.push(ranks.rank[end - 1], &ranks.sorted);
            if end - start < length_min || !best[end].is_finite() {
                continue;
            }
            let cost = deviation.total() + penalty + best[end];
            if cost < best[start] {
                best[start] = cost;
                next[start] = end;
            }
        }
    }
    let mut starts = vec![0];
    let mut position = next[0];
    while position < n {
        starts.push(position);
        position = next[position];
    }
    starts
}

/// Values replaced by their places in sorted order, which order totally.
struct Ranks {
    rank: Vec<usize>,
    sorted: Vec<f64>,
}

impl Ranks {
    fn of(y: &[f64]) -> Ranks {
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
        let mut rank = vec![0; y.len()];
        for (place, &index) in order.iter().enumerate() {
            rank[index] = place;
        }
        Ranks {
            rank,
            sorted: order.iter().map(|&index| y[index]).collect(),
        }
    }
}

/// Running sum of absolute deviations from the running median: two heaps with their sums.
#[derive(Default)]
struct Deviation {
    low: BinaryHeap<usize>,
    high: BinaryHeap<Reverse<usize>>,
    low_sum: f64,
    high_sum: f64,
    median: f64,
}

impl Deviation {
    fn push(&mut self, rank: usize, sorted: &[f64]) {
        if self.low.peek().is_none_or(|&top| rank < top) {
            self.low.push(rank);
            self.low_sum += sorted[rank];
        } else {
            self.high.push(Reverse(rank));
            self.high_sum += sorted[rank];
        }
        if self.low.len() > self.high.len() + 1
            && let Some(moved) = self.low.pop()
        {
            self.low_sum -= sorted[moved];
            self.high_sum += sorted[moved];
            self.high.push(Reverse(moved));
        } else if self.high.len() > self.low.len()
            && let Some(Reverse(moved)) = self.high.pop()
        {
            self.high_sum -= sorted[moved];
            self.low_sum += sorted[moved];
            self.low.push(moved);
        }
        self.median = self.low.peek().map_or(0.0, |&top| sorted[top]);
    }

    fn total(&self) -> f64 {
        let odd = (self.low.len() - self.high.len()) as f64;
        (self.high_sum - self.low_sum + odd * self.median).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::stats;
    use proptest::prelude::*;

    fn cost(y: &[f64], starts: &[usize], penalty: f64) -> f64 {
        let mut ends = starts[1..].to_vec();
        ends.push(y.len());
        let of = |(&start, &end): (&usize, &usize)| {
            let part = &y[start..end];
            let median = stats::median(part);
            part.iter().map(|v| (v - median).abs()).sum::<f64>() + penalty
        };
        starts.iter().zip(&ends).map(of).sum()
    }

    /// Every way to cut, by brute force.
    fn least(y: &[f64], length_min: usize, penalty: f64) -> f64 {
        let mut least = f64::INFINITY;
        for mask in 0..1u32 << (y.len() - 1) {
            let mut starts = vec![0];
            starts.extend((1..y.len()).filter(|i| mask >> (i - 1) & 1 == 1));
            let mut ends = starts[1..].to_vec();
            ends.push(y.len());
            if starts.iter().zip(&ends).all(|(s, e)| e - s >= length_min) {
                least = least.min(cost(y, &starts, penalty));
            }
        }
        least
    }

    proptest! {
        #[test]
        fn as_good_as_the_best_of_all_cuts(
            y in prop::collection::vec(0.0f64..100.0, 1..11),
            length_min in 1usize..4,
            penalty in 0.0f64..60.0,
        ) {
            let got = segments(&y, length_min, penalty);
            if y.len() >= length_min {
                let want = least(&y, length_min, penalty);
                prop_assert!((cost(&y, &got, penalty) - want).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn one_step() {
        let y = [[9.0; 7], [2.0; 7]].concat();
        assert_eq!(segments(&y, 3, 1.0), [0, 7]);
        assert_eq!(segments(&y, 3, 1000.0), [0]);
        assert_eq!(segments(&[], 3, 1.0), [0]);
    }
}
