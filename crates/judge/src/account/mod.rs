//! Is the speed of a target an account, as a cloud volume's is, or a drive's own?
//!
//! ```text
//! experiment (loads, pauses) -> AccountRecord -> detect -> AccountFinding -> words
//! ```
//!
//! An account leaves a signature that no drive does. The rate is the same for reads and writes and
//! does not grow with the queue, because a bucket counts commands and does not do them. It stays
//! within a per cent until one second, and within a per cent afterwards. After a pause it bursts
//! for as much as the pause earned at the lower rate. A drive that falls off its write cliff still
//! reads as fast as ever; a neighbour or heat gives no constant at all.

pub mod detect;
mod experiment;
mod levels;
pub mod words;

pub use detect::{AccountEstimate, AccountFinding, SpeedKind, detect};
pub use experiment::{AccountPlan, measure};

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
}

impl AccountRecord {
    /// The loads of a purpose.
    pub fn of(&self, purpose: SeriesPurpose) -> impl DoubleEndedIterator<Item = &RateSeries> {
        self.series
            .iter()
            .filter(move |series| series.purpose == purpose)
    }
}

/// The experiment and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct AccountEvidence {
    /// What was recorded.
    pub record: AccountRecord,
    /// What it shows.
    pub finding: AccountFinding,
}
