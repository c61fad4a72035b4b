//! What is measured of a real drive after it was overwritten.

use super::DurableRun;
use super::loads::UsedRun;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was measured of a real drive after the profile's random writes.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct LaterStates {
    /// Durable writes right after the random writes, by method; `before` is the fresh rate.
    pub worst: Vec<DurableRun>,
    /// Idle time before each of the role's loads, s.
    pub idle_s: f64,
    /// Bytes within which the loads stay, at most.
    pub region_bytes: u64,
    /// The role's loads.
    pub used: Vec<UsedRun>,
}

impl LaterStates {
    /// The run of this load.
    pub fn used(&self, load: &str) -> Option<&UsedRun> {
        self.used.iter().find(|run| run.load == load)
    }

    /// Durable writes by this method right after the random writes.
    pub fn worst_case(&self, method: &str) -> Option<&DurableRun> {
        self.worst.iter().find(|run| run.method == method)
    }
}
