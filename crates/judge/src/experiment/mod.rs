//! "Performance is horrible: what gives?", answered by experiment through the block interface.
//!
//! A real drive hides its counters and cannot be forked, so what [`crate::ablate`] does to a model
//! is not possible. What is: to try things and to take the time. Every cause is a hypothesis
//! ([`hypotheses`]): figures show it, exclude it, or leave it open until something has been tried.
//! As long as any is open, the cheapest experiment is carried out that the two most suspicious of
//! them ask for. Causes that no experiment here separates are given together.

mod figures;
pub mod hypotheses;
mod investigate;
mod kinds;
mod measure;
mod own_word;
mod plan;
mod show;

pub use figures::{ExperimentFigure, ExperimentFigures};
pub use hypotheses::{CAUSES, HypothesisStatus, InterfaceLimits, stands};
pub use investigate::{CompletedExperiment, Investigation, InvestigationAnswer, investigate};
pub use kinds::{ExperimentKind, ExperimentRefusal};
pub use measure::ExperimentBench;
pub use own_word::{DriveSelfReport, SmartSnapshot};
pub use plan::{FILE_BYTES, InvestigationProgress, InvestigationRequest, look_into};
pub use show::text;

#[cfg(test)]
mod tests;
