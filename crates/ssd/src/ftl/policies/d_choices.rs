//! d-choices: of `d` candidates drawn at random (with replacement), the one with the fewest
//! valid slots.
//!
//! Between random (d = 1) and greedy (large d) at a cost that does not grow with the drive. Ties
//! go to the lowest number.

use super::VictimPolicy;
use crate::ftl::candidates::Candidates;
use crate::rng::Rng;

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub struct DChoices {
    /// Candidates drawn.
    pub d: u64,
}

impl VictimPolicy for DChoices {
    fn pick(&self, candidates: &mut Candidates, rng: &mut Rng) -> Option<u32> {
        let count = candidates.count() as u64;
        if count == 0 {
            return None;
        }
        (0..self.d)
            .map(|_| candidates.any(rng.below(count) as usize))
            .min_by_key(|&superblock| (candidates.valid(superblock), superblock))
    }
}
