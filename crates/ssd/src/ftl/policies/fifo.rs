//! FIFO: the candidate closed longest ago, whatever its valid count.
//!
//! Cheap, and wears all superblocks alike. Its write amplification has a closed form.

use super::VictimPolicy;
use crate::ftl::candidates::Candidates;
use crate::rng::Rng;

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

impl VictimPolicy for Fifo {
    fn pick(&self, candidates: &mut Candidates, _: &mut Rng) -> Option<u32> {
        candidates.oldest()
    }
}
