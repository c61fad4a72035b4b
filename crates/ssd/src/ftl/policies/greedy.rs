//! Greedy: the candidate with the fewest valid slots.
//!
//! Minimises the slots relocated now; optimal for uniform load, poor where data of different
//! lifetimes is mixed. Ties go to the lowest number.

use super::VictimPolicy;
use crate::ftl::candidates::Candidates;
use crate::rng::Rng;

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

impl VictimPolicy for Greedy {
    fn pick(&self, candidates: &mut Candidates, _: &mut Rng) -> Option<u32> {
        candidates.fewest_valid()
    }
}
