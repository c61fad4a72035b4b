//! Victim policies: which superblock is emptied next. Each has a file of its own and an entry in
//! the registry, which the law tests cover. Their names and parameters are in
//! [`crate::config::policy`].

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod registry;
mod windowed;

pub use cost_benefit::CostBenefit;
pub use d_choices::DChoices;
pub use fifo::Fifo;
pub use greedy::Greedy;
pub use random::Random;
pub(crate) use registry::Victim;
pub use registry::{VICTIM_POLICIES, VictimEntry};
pub use windowed::Windowed;

pub use crate::config::policy::{
    PolicyInfo, PolicyParameter, SEPARATIONS, Separation, VictimChoice,
};

use super::candidates::Candidates;
use crate::rng::Rng;
use std::fmt::Debug;

/// Chooses the superblock to empty.
///
/// Laws, tested for every policy of the registry: it returns a candidate; `None` only when no
/// candidate exists; the same candidates and random numbers give the same choice.
pub trait VictimPolicy: Debug + Send + Sync {
    /// The superblock to empty next.
    fn pick(&self, candidates: &mut Candidates, rng: &mut Rng) -> Option<u32>;
}

#[cfg(test)]
mod tests;
