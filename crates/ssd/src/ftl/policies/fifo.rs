//! FIFO: the candidate closed longest ago, whatever it holds.
//!
//! Cheap, and wears all superblocks alike. Its write amplification has a closed form.

use super::{PolicyInfo, VictimEntry, VictimPolicy};
use crate::ftl::candidates::Candidates;
use crate::rng::Rng;

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

pub(super) const ENTRY: VictimEntry = VictimEntry {
    info: PolicyInfo {
        name: "fifo",
        text: "the superblock closed longest ago (cyclic buffer)",
        source: "P. Desnoyers 2012; L. Xiang, B. Kurkoski 2011",
        parameter: None,
    },
    make: |_| Box::new(Fifo),
};

impl VictimPolicy for Fifo {
    fn pick(&self, candidates: &mut Candidates, _: &mut Rng) -> Option<u32> {
        candidates.oldest()
    }
}
