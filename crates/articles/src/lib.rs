//! The experiments of five published articles, with their figures beside ours.
//!
//! ```text
//! published/*.toml -> figures, resolved against the registry -> experiments they need -> run
//!                                                                            |
//!            rows: published, ours, error, verdict <- measures, lines, self-checks
//! ```
//!
//! * [`experiments`]: one file or folder an experiment: its run, measures, plots and sections.
//! * `registry`: all of them, and the articles' pages. `keys` and `outcome`: measures as types.
//! * [`figures`]: the published figures and the rules by which ours is judged. [`row`]: a figure
//!   with ours beside it, and the verdict.
//! * [`run`]: the experiments that some figures need, over the cores. [`table`]: rows as text and
//!   CSV. [`page`]: the pages.
//!
//! An experiment depends on its seed alone and runs in virtual time, so the number of threads does
//! not show. A figure that is missed is a row like any other; only a failed self-check is an error.

pub mod experiments;
pub mod figures;
mod keys;
mod number;
mod outcome;
pub mod page;
mod plot;
mod published;
mod registry;
pub mod row;
pub mod run;
pub mod schemas;
mod story;
pub mod table;
#[cfg(test)]
mod tests;

pub use outcome::{CurvePoints, ExperimentInfo, ExperimentRecord, ExperimentRecords};
