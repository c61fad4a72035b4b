//! Families that are kept apart: nothing is fitted on them, so that predictions can be judged.

use serde::Deserialize;
use std::collections::BTreeSet;

/// The file `ledger/apart.toml`: draws, in the order in which their families came.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApartFamilies {
    /// The draws. A family takes part in one of them at most.
    #[serde(default, rename = "draw")]
    pub draws: Vec<FamilyDraw>,
}

/// A draw of families, made before anything was predicted of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyDraw {
    /// The day on which it was made.
    pub date: String,
    /// Its seed.
    pub seed: u64,
    /// Share of the families that is kept apart.
    pub share: f64,
    /// The families that take part.
    pub among: BTreeSet<String>,
    /// The families that are kept apart.
    pub families: BTreeSet<String>,
}

impl ApartFamilies {
    /// Whether a family is kept apart.
    pub fn contains(&self, family: &str) -> bool {
        self.draws.iter().any(|draw| draw.families.contains(family))
    }

    /// Every family that is kept apart.
    pub fn families(&self) -> BTreeSet<&str> {
        let families = self.draws.iter().flat_map(|draw| &draw.families);
        families.map(String::as_str).collect()
    }
}

impl FamilyDraw {
    /// The families that the seed gives. It depends on a family's name alone.
    pub fn drawn(&self) -> BTreeSet<String> {
        let is_apart = |family: &&String| number(self.seed, family) < self.share;
        self.among.iter().filter(is_apart).cloned().collect()
    }
}

/// A number from 0 to 1 by name: FNV-1a of `SEED:FAMILY` through the finaliser of splitmix64.
fn number(seed: u64, family: &str) -> f64 {
    let hash = format!("{seed}:{family}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31)) as f64 / 2_f64.powi(64)
}
