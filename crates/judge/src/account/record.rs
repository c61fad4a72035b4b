//! What the experiment records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a load of the experiment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesPurpose {
    /// Other loads before anything is spent.
    Early,
    /// Writes until the rate drops.
    Drain,
    /// Other loads after the drop.
    Late,
    /// The same writes after a pause.
    Recovery,
}

/// A load and its rate, second by second.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct RateSeries {
    /// What it is for.
    pub purpose: SeriesPurpose,
    /// Reads; else writes.
    pub reads: bool,
    /// Bytes of a command.
    pub block: u64,
    /// Commands outstanding.
    pub depth: u32,
    /// Idle before it, s.
    pub pause_s: f64,
    /// Commands a second in each whole second.
    pub rates: Vec<f64>,
}

/// What the experiment recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct AccountRecord {
    /// Every load, in order.
    pub series: Vec<RateSeries>,
    /// Other loads, of which there is no series, had used the target before: how much credit there
    /// was at the beginning is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub began_late: bool,
}

impl AccountRecord {
    /// Seconds of the loads before the drain.
    pub fn before_s(&self) -> f64 {
        let lengths = self.of(SeriesPurpose::Early);
        lengths.map(|series| series.rates.len() as f64).sum()
    }

    /// The loads of a purpose.
    pub fn of(&self, purpose: SeriesPurpose) -> impl DoubleEndedIterator<Item = &RateSeries> {
        self.series
            .iter()
            .filter(move |series| series.purpose == purpose)
    }
}
