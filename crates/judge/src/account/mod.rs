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
mod record;
mod start;
pub mod words;

pub use detect::{AccountEstimate, AccountFinding, SpeedKind, detect};
pub use experiment::{ACCOUNT_DEPTH, AccountLengths, AccountPlan, measure, measure_after};
pub use levels::RateLevel;
pub use record::{AccountRecord, RateSeries, SeriesPurpose};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The experiment and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct AccountEvidence {
    /// What was recorded.
    pub record: AccountRecord,
    /// What it shows.
    pub finding: AccountFinding,
}
