//! The search for the depth at which a latency keeps its limit: fio's `latency_target`.
//!
//! As fio (io_u.c): start at a depth of 1; after each window in which enough commands kept the
//! limit, double the depth, or go half-way to the lowest that failed; after one in which they did
//! not, go half-way back. When the depth stays the same, one more window is the result.

use ssdlab_load::plan::LatencyTarget;
use ssdlab_ssd::Nanos;

/// A search under way.
#[derive(Clone, Debug)]
pub(super) struct DepthSearch {
    target: LatencyTarget,
    depth_max: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable: u32,
    /// Start of the window, commands in it, and those that were too late.
    window: (Nanos, u64, u64),
    /// The last window is running.
    last: bool,
    /// Nothing is issued before all that is under way has completed.
    quiet: bool,
    outcome: Option<DepthSearchOutcome>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DepthSearchOutcome {
    /// This depth keeps the limit.
    Found(u32),
    /// Even a depth of 1 misses the limit.
    None,
}

impl DepthSearch {
    pub fn new(target: LatencyTarget, depth: u32) -> DepthSearch {
        DepthSearch {
            target,
            depth_max: depth,
            depth: 1,
            low: 1,
            high: depth,
            stable: 0,
            window: (Nanos::ZERO, 0, 0),
            last: false,
            quiet: false,
            outcome: None,
        }
    }

    pub fn begin(&mut self, now: Nanos) {
        self.window = (now, 0, 0);
    }

    /// Whether another command may go beside `outstanding` ones.
    pub fn allows(&mut self, outstanding: u32) -> bool {
        self.quiet &= outstanding > 0;
        !self.quiet && outstanding < self.depth
    }

    /// How it ended, once it has.
    pub fn outcome(&self) -> Option<DepthSearchOutcome> {
        self.outcome
    }

    /// The outcome, for the reader of the result.
    pub fn note(&self) -> String {
        let limit = self.target.limit;
        match self.outcome {
            Some(DepthSearchOutcome::Found(depth)) => format!(
                "latency_target: a depth of {depth} keeps {limit}; the figures include the search"
            ),
            Some(DepthSearchOutcome::None) => {
                format!("latency_target: not even a depth of 1 keeps {limit}")
            }
            None => format!(
                "latency_target: the search for {limit} stood at a depth of {} when the job ended",
                self.depth
            ),
        }
    }

    /// A command took `latency` and completed `now`.
    pub fn completed(&mut self, latency: Nanos, now: Nanos) {
        self.window.1 += 1;
        if latency > self.target.limit {
            if self.target.percentile >= 100.0 {
                if self.depth == 1 {
                    self.outcome = Some(DepthSearchOutcome::None);
                }
                return self.down(now);
            }
            self.window.2 += 1;
        }
        if now.saturating_sub(self.window.0) < self.target.window {
            return;
        }
        let (_, count, late) = self.window;
        let met_pct = 100.0 * (count - late) as f64 / count as f64;
        if met_pct >= self.target.percentile {
            self.up(now);
        } else {
            self.down(now);
        }
    }

    fn up(&mut self, now: Nanos) {
        let before = self.depth;
        self.low = before;
        if before + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                self.high += 1;
                self.stable = 0;
            }
        }
        self.depth = if self.high == self.depth_max {
            before.saturating_mul(2)
        } else {
            before.midpoint(self.high)
        }
        .min(self.depth_max);
        if !self.target.run && self.depth == before {
            if self.last {
                self.outcome = Some(DepthSearchOutcome::Found(before));
            }
            self.last = true;
            self.quiet = true;
        }
        self.window = (now, 0, 0);
    }

    fn down(&mut self, now: Nanos) {
        if self.depth > 1 {
            self.high = self.depth;
            if self.depth == self.low {
                self.low -= 1;
            }
            self.depth = self.depth.midpoint(self.low).max(1);
            self.stable = 0;
            self.quiet = true;
        }
        self.window = (now, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::{DepthSearch, DepthSearchOutcome, LatencyTarget, Nanos};

    /// A device whose latency is 100 us for each command outstanding.
    fn found(limit_us: u64) -> Option<DepthSearchOutcome> {
        let target = LatencyTarget {
            limit: Nanos(limit_us * 1000),
            window: Nanos::from_millis(10),
            percentile: 99.0,
            run: false,
        };
        let mut search = DepthSearch::new(target, 64);
        let mut now = Nanos::ZERO;
        search.begin(now);
        for _ in 0..1_000_000 {
            let latency = Nanos(100_000 * u64::from(search.depth));
            now = now.saturating_add(Nanos(100_000));
            assert!(search.allows(0));
            search.completed(latency, now);
            if search.outcome().is_some() {
                break;
            }
        }
        search.outcome()
    }

    #[test]
    fn the_depth_that_keeps_the_limit_is_found() {
        assert_eq!(found(1_050), Some(DepthSearchOutcome::Found(10)));
        assert_eq!(found(100), Some(DepthSearchOutcome::Found(1)));
        assert_eq!(found(100_000), Some(DepthSearchOutcome::Found(64)));
    }

    #[test]
    fn with_all_commands_to_keep_it_a_depth_of_1_that_does_not_ends_the_search() {
        let target = LatencyTarget {
            limit: Nanos(1000),
            window: Nanos::from_millis(10),
            percentile: 100.0,
            run: false,
        };
        let mut search = DepthSearch::new(target, 64);
        search.completed(Nanos(2000), Nanos(2000));
        assert_eq!(search.outcome(), Some(DepthSearchOutcome::None));
    }
}
