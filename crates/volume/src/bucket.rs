//! A token bucket in whole numbers.
//!
//! Tokens are kept in billionths (token x ns / s), so that a rate of any whole number of tokens a
//! second fills the bucket exactly, whatever the length of the interval.

use ssdlab_ssd::Nanos;

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// A bucket that fills at a constant rate up to its depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Tokens a second.
    rate: u64,
    depth: i128,
    level: i128,
    /// The time of `level`.
    time: Nanos,
}

impl TokenBucket {
    /// A bucket of `depth` tokens that holds `level` of them at time 0.
    ///
    /// # Panics
    /// When the rate or the depth is 0: nothing would ever pass.
    pub fn new(rate: u64, depth: u64, level: u64) -> TokenBucket {
        assert!(rate > 0 && depth > 0, "a bucket without rate or depth");
        let depth = i128::from(depth) * NANOS_PER_SECOND;
        TokenBucket {
            rate,
            depth,
            level: (i128::from(level) * NANOS_PER_SECOND).min(depth),
            time: Nanos::ZERO,
        }
    }

    fn level_at(&self, time: Nanos) -> i128 {
        let passed = i128::from(time.0.saturating_sub(self.time.0));
        (self.level + passed * i128::from(self.rate)).min(self.depth)
    }

    /// The first time, not before `time`, at which `tokens` can be taken. More than the depth at
    /// once is granted by a full bucket, which then owes the rest.
    pub fn earliest(&self, time: Nanos, tokens: u64) -> Nanos {
        let needed = (i128::from(tokens) * NANOS_PER_SECOND).min(self.depth);
        let missing = needed - self.level_at(time);
        if missing <= 0 {
            return time;
        }
        let rate = i128::from(self.rate);
        let wait_ns = (missing + rate - 1) / rate;
        Nanos(
            time.0
                .saturating_add(u64::try_from(wait_ns).unwrap_or(u64::MAX)),
        )
    }

    /// Takes `tokens` at `time`.
    pub fn take(&mut self, time: Nanos, tokens: u64) {
        self.level = self.level_at(time) - i128::from(tokens) * NANOS_PER_SECOND;
        self.time = self.time.max(time);
    }

    /// Whole tokens in it at `time`; 0 while it owes some.
    pub fn tokens(&self, time: Nanos) -> u64 {
        u64::try_from(self.level_at(time) / NANOS_PER_SECOND).unwrap_or(0)
    }

    /// Tokens a second.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Tokens that it holds when full.
    pub fn depth(&self) -> u64 {
        u64::try_from(self.depth / NANOS_PER_SECOND).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_exactly_and_no_further_than_its_depth() {
        let mut bucket = TokenBucket::new(3, 10, 0);
        // A third of a second is not a whole number of nanoseconds.
        assert_eq!(bucket.earliest(Nanos::ZERO, 1), Nanos(333_333_334));
        assert_eq!(bucket.tokens(Nanos(333_333_333)), 0);
        assert_eq!(bucket.tokens(Nanos(333_333_334)), 1);
        assert_eq!(bucket.tokens(Nanos::from_secs(100)), 10);
        bucket.take(Nanos::from_secs(100), 10);
        assert_eq!(
            bucket.earliest(Nanos::from_secs(100), 3),
            Nanos::from_secs(101)
        );
    }

    #[test]
    fn more_than_its_depth_is_owed() {
        let mut bucket = TokenBucket::new(10, 5, 5);
        assert_eq!(bucket.earliest(Nanos::ZERO, 25), Nanos::ZERO);
        bucket.take(Nanos::ZERO, 25);
        assert_eq!(bucket.tokens(Nanos::from_secs(1)), 0);
        // 20 owed, then 1 wanted, at 10 a second.
        assert_eq!(bucket.earliest(Nanos::ZERO, 1), Nanos::from_millis(2100));
    }
}
