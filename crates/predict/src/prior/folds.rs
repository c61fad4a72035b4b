//! Five folds of families: `ledger/folds.toml`.

use serde::Deserialize;
use std::sync::LazyLock;

/// The file `ledger/folds.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folds {
    /// Seed of the draw.
    pub seed: u64,
    /// Families of each fold at the time of the draw.
    pub folds: Vec<Vec<String>>,
}

static BUILT_IN: LazyLock<Folds> = LazyLock::new(|| {
    // A test reads it.
    toml::from_str(include_str!("../../../../ledger/folds.toml")).unwrap_or_default()
});

impl Folds {
    /// Those that come with ssdlab.
    pub fn built_in() -> &'static Folds {
        &BUILT_IN
    }

    /// The fold of a family, listed or not: it depends on its name alone.
    pub fn fold(&self, family: &str) -> usize {
        let hash = format!("{}:{family}", self.seed)
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let draw = (hash ^ (hash >> 31)) as f64 / 2_f64.powi(64);
        (draw * self.folds.len() as f64) as usize
    }
}
