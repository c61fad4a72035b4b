//! Random: any candidate, all equally likely.
//!
//! The baseline: write amplification 1 / (1 - rho) under uniform load.

use super::VictimPolicy;
use crate::ftl::candidates::Candidates;
use crate::rng::Rng;

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl VictimPolicy for Random {
    fn pick(&self, candidates: &mut Candidates, rng: &mut Rng) -> Option<u32> {
        let count = candidates.count();
        (count > 0).then(|| candidates.any(rng.below(count as u64) as usize))
    }
}
