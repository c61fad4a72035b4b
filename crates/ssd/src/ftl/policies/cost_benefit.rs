//! Cost-benefit: the candidate with the highest age x (1 - u) / 2u, u being its valid share.
//!
//! Prefers old superblocks, whose remaining data tends to stay, even at a higher valid count than
//! young ones, whose data is still being overwritten. Better than greedy for a mix of hot and cold
//! data, worse under uniform load. Age is counted in host slots written since the superblock was
//! closed, and one more: among superblocks closed since the last host write the one with the fewest
//! valid slots is best, so that reclaim that cycles through the whole drive within one host write
//! still terminates. A superblock without valid slots comes first. Ties go to the lowest number.

use super::VictimPolicy;
use crate::ftl::candidates::Candidates;
use crate::rng::Rng;
use std::cmp::Reverse;

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct CostBenefit;

impl VictimPolicy for CostBenefit {
    fn pick(&self, candidates: &mut Candidates, _: &mut Rng) -> Option<u32> {
        let capacity = u128::from(candidates.capacity());
        let score = |superblock: u32| {
            let valid = u128::from(candidates.valid(superblock));
            let age = u128::from(candidates.age(superblock)) + 1;
            let gain = age * capacity.saturating_sub(valid);
            // 32 bits of fraction; u = 0 beats everything.
            (gain << 32).checked_div(2 * valid).unwrap_or(u128::MAX)
        };
        (0..candidates.count())
            .map(|index| candidates.any(index))
            .max_by_key(|&superblock| (score(superblock), Reverse(superblock)))
    }
}
