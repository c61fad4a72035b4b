//! Windowed greedy: among the `w` candidates closed longest ago, the one with the fewest valid
//! slots.
//!
//! Keeps young superblocks, still being overwritten, out of the choice. Ties go to the
//! lowest number.

use super::VictimPolicy;
use crate::ftl::candidates::Candidates;
use crate::rng::Rng;

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub struct Windowed {
    /// Superblocks in the window.
    pub w: u64,
}

impl VictimPolicy for Windowed {
    fn pick(&self, candidates: &mut Candidates, _: &mut Rng) -> Option<u32> {
        let oldest = candidates.oldest();
        std::iter::successors(oldest, |&superblock| candidates.newer(superblock))
            .take(self.w as usize)
            .min_by_key(|&superblock| (candidates.valid(superblock), superblock))
    }
}
