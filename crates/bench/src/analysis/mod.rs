//! From a record to statements: steady state, write cliff, statistics.

pub mod change;
pub mod latency;
pub mod series;
pub mod stats;
pub mod steady;

pub use change::write_cliff;
pub use steady::{steady_state, steady_state_all};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outcome of the SNIA PTS steady-state test over a window of five rounds.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct SteadyState {
    /// Both conditions hold.
    pub attained: bool,
    /// First round of the window, from 0.
    pub window_start: usize,
    /// The tracked variable in the window, raw, so that others can recompute the verdict.
    #[schemars(length(equal = 5))]
    pub window: Vec<f64>,
    /// Average over the window.
    pub average: f64,
    /// max - min over the window, as a share of the average; the limit is 0.20.
    pub range_share: f64,
    /// |slope| x 4 rounds of the least-squares line, as a share of the average; limit 0.10.
    pub excursion_share: f64,
    /// Slope per round.
    pub slope: f64,
    /// Average of the last five rounds, when the state was left again: they differ from `average`
    /// by more than its limit of range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_for: Option<f64>,
}

/// A lasting drop in throughput.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct WriteCliff {
    /// When, in seconds since the series began.
    pub at_s: f64,
    /// Bytes written until then.
    pub after_bytes: u64,
    /// Median rate before, in the series' unit (IOPS).
    pub before: f64,
    /// Median rate after.
    pub after: f64,
    /// How sure: difference of the levels over the noise (robust standard deviation).
    pub signal_to_noise: f64,
}
