//! What a forecast says.

use super::draw::{WeightedValue, quantile};
use schemars::JsonSchema;
use serde::Serialize;

/// Shares of the ensemble at the ends of an interval, and at its middle.
const INTERVAL: [f64; 3] = [0.1, 0.5, 0.9];

/// What comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForecastCause {
    /// The pSLC cache is full.
    CacheFull,
    /// No free space is left, and reclaim works for each write.
    SpareExhausted,
    /// The drive is too warm.
    Throttling,
    /// What its maker warrants has been written.
    RatedLife,
}

/// An 80 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForecastInterval {
    /// In 10 % of the cases it is less.
    pub low: f64,
    /// In half of the cases.
    pub median: f64,
    /// In 10 % of the cases it is more; `None`: it may not come at all.
    pub high: Option<f64>,
}

impl ForecastInterval {
    /// Of drawn values; `None` when more than half of them are infinite.
    pub(super) fn new(values: &mut [WeightedValue]) -> Option<ForecastInterval> {
        let [low, median, high] = INTERVAL.map(|share| quantile(values, share));
        Some(ForecastInterval {
            low: low?,
            median: median.filter(|value| value.is_finite())?,
            high: high.filter(|value| value.is_finite()),
        })
    }

    /// How many times as long the upper end is as the lower; infinite where there is none.
    pub fn width(&self) -> f64 {
        self.high
            .map_or(f64::INFINITY, |high| high / self.low.max(1e-9))
    }

    /// Whether a value lies in it.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && self.high.is_none_or(|high| value <= high)
    }
}

/// Something that will happen at the present load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedEvent {
    /// What.
    pub cause: ForecastCause,
    /// Share of the ensemble in which it comes.
    pub likelihood: f64,
    /// In how many seconds.
    pub seconds: ForecastInterval,
    /// After how many written bytes.
    pub bytes: ForecastInterval,
    /// Bytes written a second from then on, where the model says so.
    pub rate_after: Option<f64>,
}

/// What is to be expected.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "outlook")]
pub enum ForecastOutlook {
    /// It comes.
    Expected {
        /// What comes, and when.
        event: ExpectedEvent,
    },
    /// It does not come at the present load.
    NotExpected {
        /// Why not.
        why: String,
        /// Share of the ensemble in which it comes nevertheless.
        likelihood: f64,
    },
    /// It is not known.
    Unknown {
        /// Why not.
        why: String,
        /// The fact that would settle it.
        settled_by: String,
    },
}

impl ForecastOutlook {
    pub(crate) fn unknown(why: &str, settled_by: &str) -> ForecastOutlook {
        ForecastOutlook::Unknown {
            why: why.to_owned(),
            settled_by: settled_by.to_owned(),
        }
    }

    pub(crate) fn none(why: impl Into<String>, likelihood: f64) -> ForecastOutlook {
        ForecastOutlook::NotExpected {
            why: why.into(),
            likelihood,
        }
    }

    /// The event, if one is expected.
    pub fn expected(&self) -> Option<&ExpectedEvent> {
        match self {
            ForecastOutlook::Expected { event } => Some(event),
            ForecastOutlook::NotExpected { .. } | ForecastOutlook::Unknown { .. } => None,
        }
    }
}

/// What comes next at the present load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchForecast {
    /// The modelled drive, if one was named.
    pub drive: Option<String>,
    /// Bytes written a second at present, pauses included.
    pub write_rate: f64,
    /// When writes become slow.
    pub cliff: ForecastOutlook,
    /// When the drive slows down because of heat.
    pub throttling: ForecastOutlook,
    /// When the rated life is used up.
    pub life: ForecastOutlook,
}
