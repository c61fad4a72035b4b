//! A drive's life under a load: `ssdlab simulate`.
//!
//! A life is a fill and a load. [`settings`] changes the drive's parameters, [`load`] makes the
//! commands, [`life`] gives them to the drive in either gear and takes samples, [`sweep`] lives
//! many. Everything here is a function of its plan: no wall clock, no thread shows in a result.

pub mod life;
mod machine;
pub mod page;
mod plan;
pub mod result;
pub mod sample;
pub mod summary;
pub mod sweep;
#[cfg(test)]
mod tests;

pub use plan::{DEPTH_MAX, LoadEnd, Prefill, SimulationGear, SimulationPlan};
