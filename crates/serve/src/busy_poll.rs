//! Predicts whether busy polling for the next request pays off.
//!
//! Sleeping until a request arrives and being woken costs more than a 4 KiB request. After a
//! reply a front end therefore polls for the next request, provided that recent requests arrived
//! soon enough.

/// Score from which polling pays off.
const THRESHOLD: i32 = 16;
/// Limit of the score in both directions.
const SCORE_MAX: i32 = 64;

/// Predicts from recent waits whether the next request will arrive soon.
#[derive(Debug)]
pub(crate) struct BusyPoll {
    /// Number of short waits minus the weighted number of long ones, clamped.
    score: i32,
    /// Weight of a long wait: polling in vain takes as long as several requests.
    long_weight: i32,
}

impl BusyPoll {
    /// Starts without polling. A long wait weighs as much as `long_weight` short ones.
    pub fn new(long_weight: i32) -> Self {
        Self {
            score: 0,
            long_weight,
        }
    }

    /// Starts at the highest score.
    #[cfg(test)]
    pub fn highest(self) -> Self {
        Self {
            score: SCORE_MAX,
            ..self
        }
    }

    /// Whether to poll for the next request.
    pub fn pays_off(&self) -> bool {
        self.score >= THRESHOLD
    }

    /// Records the wait for one request.
    pub fn waited(&mut self, was_short: bool) {
        let step = if was_short { 1 } else { -self.long_weight };
        self.score = (self.score + step).clamp(-SCORE_MAX, SCORE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_waits_start_polling_and_one_long_wait_ends_it() {
        let mut poll = BusyPoll::new(64);
        for _ in 0..THRESHOLD {
            assert!(!poll.pays_off());
            poll.waited(true);
        }
        assert!(poll.pays_off());
        poll.waited(false);
        assert!(!poll.pays_off());
        for _ in 0..10 * SCORE_MAX {
            poll.waited(true);
        }
        poll.waited(false);
        assert!(!poll.pays_off(), "one long wait ends polling");
        for _ in 0..10 {
            poll.waited(false);
        }
        let short = (0..).take_while(|_| {
            poll.waited(true);
            !poll.pays_off()
        });
        let needed = SCORE_MAX + THRESHOLD - 1;
        assert_eq!(short.count() as i32, needed, "the score is clamped");
    }
}
