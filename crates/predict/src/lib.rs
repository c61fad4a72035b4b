#![doc = include_str!("../README.md")]
//! # Structure
//!
//! ```text
//! load                what a row asks, and why none can answer
//! facts -> model      the catalogue's drive, a draft of a sheet, a draft of a class
//! run -> answers      a load on a model; value and interval (interval)
//! predict -> frozen   every row; files that nobody changes again
//! score               errors, coverage, rank, and the nulls beside them
//! ```

mod answers;
mod facts;
pub mod frozen;
pub mod interval;
pub mod load;
pub mod model;
pub mod predict;
mod run;
pub mod score;

pub use facts::median;
pub use predict::{FrozenPrediction, Predictions, predict};
pub use score::score;
