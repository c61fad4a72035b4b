#![doc = include_str!("../README.md")]

mod answers;
mod facts;
pub mod interval;
pub mod load;
pub mod model;
pub mod predict;
mod run;

pub use facts::median;
pub use predict::{FrozenPrediction, Predictions, predict};
