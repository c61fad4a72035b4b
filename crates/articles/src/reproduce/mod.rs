//! Every published figure beside ours.
//!
//! ```text
//! published.toml -> figures, each with a rule -> experiments they need -> run over all cores
//!                                                      |
//!                  rows: published, ours, error, verdict <- measures, plots, self-checks
//! ```
//!
//! * [`figures`]: the list of figures, what is asked of them, and how ours is judged.
//! * [`experiment`]: what can be run; [`s2d`], [`pattern`], [`rw80`], [`contract`], [`spare`],
//!   [`myth`], [`hosts`], [`mirror`], [`worn`], [`facts`] are the kinds.
//! * [`run`]: the experiments that some figures need, over the cores.
//! * [`table`]: rows as text and CSV. Pages are in `report::html`.
//!
//! An experiment depends on its seed alone and runs in virtual time, so the number of threads does
//! not show. A figure that is missed is a row like any other; only a failed self-check is an error.

pub mod contract;
pub mod experiment;
pub mod facts;
pub mod figures;
pub mod hosts;
pub mod mirror;
pub mod myth;
pub mod pattern;
pub mod run;
pub mod rw80;
pub mod s2d;
pub mod spare;
pub mod table;
#[cfg(test)]
mod tests;
pub mod worn;

pub use experiment::{Experiment, Outcome};
pub use figures::{Figure, Kind, Row, Verdict};
pub use run::{Reproduction, Settings, reproduce, reproduce_with};
