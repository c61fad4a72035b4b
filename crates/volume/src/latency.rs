//! How long a command takes once the account has let it pass.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// Shares of commands, in millionths, at which a [`LatencyTail`] is given.
const SHARES: [u64; 5] = [0, 500_000, 990_000, 999_000, 1_000_000];

/// A distribution of times by its quantiles; between two of them it is linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct LatencyTail {
    /// Half of all commands take no longer, ns. None takes less than four fifths of it.
    pub p50_ns: u64,
    /// 99 % take no longer, ns.
    pub p99_ns: u64,
    /// 99.9 % take no longer, ns.
    pub p999_ns: u64,
    /// None takes longer, ns.
    pub max_ns: u64,
}

impl LatencyTail {
    /// The same time for every command.
    pub const fn constant(ns: u64) -> LatencyTail {
        LatencyTail {
            p50_ns: ns,
            p99_ns: ns,
            p999_ns: ns,
            max_ns: ns,
        }
    }

    /// One time from it.
    pub fn draw(&self, rng: &mut Rng) -> Nanos {
        let shortest = if self.p50_ns == self.max_ns {
            self.p50_ns
        } else {
            self.p50_ns / 5 * 4
        };
        let times = [
            shortest,
            self.p50_ns,
            self.p99_ns,
            self.p999_ns,
            self.max_ns,
        ];
        let share = rng.below(SHARES[4]);
        let upper = SHARES.iter().position(|limit| share < *limit).unwrap_or(4);
        let (low, high) = (SHARES[upper - 1], SHARES[upper]);
        let (from, to) = (times[upper - 1], times[upper].max(times[upper - 1]));
        let part = u128::from(to - from) * u128::from(share - low) / u128::from(high - low);
        Nanos(from + u64::try_from(part).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_given_quantiles() {
        let tail = LatencyTail {
            p50_ns: 500_000,
            p99_ns: 1_300_000,
            p999_ns: 2_500_000,
            max_ns: 5_000_000,
        };
        let mut rng = Rng::new(3);
        let mut times: Vec<u64> = (0..100_000).map(|_| tail.draw(&mut rng).0).collect();
        times.sort_unstable();
        let near = |at: usize, ns: u64| times[at].abs_diff(ns) * 50 <= ns;
        assert!(near(50_000, 500_000), "{}", times[50_000]);
        assert!(near(99_000, 1_300_000), "{}", times[99_000]);
        assert!(near(99_900, 2_500_000), "{}", times[99_900]);
        assert!(times[0] >= 400_000 && times[99_999] <= 5_000_000);
        assert_eq!(LatencyTail::constant(7).draw(&mut rng), Nanos(7));
    }
}
