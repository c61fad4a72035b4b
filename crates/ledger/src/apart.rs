//! Families that are kept apart: nothing is fitted on them, so that predictions can be judged.

use crate::metric::Metric;
use crate::row::{LedgerRow, LoadKind};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The file `ledger/apart.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApartFamilies {
    /// Seed of the draw.
    pub seed: u64,
    /// Share of the families that is kept apart.
    pub share: f64,
    /// The families.
    pub families: BTreeSet<String>,
}

impl ApartFamilies {
    /// The families that the draw keeps apart, among those that have a measured rate of random or
    /// durable writes. It depends on a family's name alone: added families change no other's place.
    pub fn drawn(&self, rows: &[LedgerRow]) -> BTreeSet<String> {
        let eligible = rows.iter().filter(|row| takes_part(row));
        let families: BTreeSet<&str> = eligible.map(|row| row.drive.family.as_str()).collect();
        let is_apart = |family: &&str| draw(self.seed, family) < self.share;
        families
            .into_iter()
            .filter(is_apart)
            .map(str::to_owned)
            .collect()
    }
}

/// Whether a row puts its family into the draw.
fn takes_part(row: &LedgerRow) -> bool {
    let is_random_or_durable = row.load.rw == Some(LoadKind::RandWrite) || row.load.is_durable();
    let is_rate = match row.figure.metric {
        Metric::WriteIops => is_random_or_durable,
        metric => metric == Metric::SyncWriteLatencyMean,
    };
    row.is_of_a_drive() && row.is_measured() && is_rate
}

/// A number from 0 to 1 by name: FNV-1a of `SEED:FAMILY` through the finaliser of splitmix64.
fn draw(seed: u64, family: &str) -> f64 {
    let hash = format!("{seed}:{family}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31)) as f64 / 2_f64.powi(64)
}
