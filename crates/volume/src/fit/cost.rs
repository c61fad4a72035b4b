//! What a setting costs, and which is cheaper.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What a setting costs. One without a price is dearer than any with one; among those, smaller is
/// cheaper: size, then operations, then
/// throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct SettingCost {
    /// As the user's prices have it.
    pub price: Option<f64>,
    /// GiB.
    pub gib: u64,
    /// Provisioned operations a second.
    pub operations: u64,
    /// Provisioned throughput.
    pub throughput: u64,
}

impl SettingCost {
    /// Which of two is cheaper.
    pub fn order(&self, other: &SettingCost) -> Ordering {
        let price = |cost: &SettingCost| cost.price.unwrap_or(f64::INFINITY);
        let size = |cost: &SettingCost| (cost.gib, cost.operations, cost.throughput);
        price(self)
            .total_cmp(&price(other))
            .then_with(|| size(self).cmp(&size(other)))
    }
}
