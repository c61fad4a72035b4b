#![doc = include_str!("../README.md")]
//! # Structure
//!
//! ```text
//! rates               the main rates of a draft
//! prior               constants that no sheet gives, by measured drives; hold-out
//! ensemble            draws of them
//! of_family           what the ledger says of a drive, as facts of a draft
//! members             a drive with the draws, for verdicts
//! load                what a row asks, and why none can answer
//! facts -> model      the catalogue's drive, a draft of a sheet, a draft of a class
//! run -> answers      a load on a model; value and interval (interval)
//! untimed             states that are reached without time
//! service             write amplification of years of service
//! predict -> frozen   every row; files that nobody changes again
//! score -> site       errors, coverage, rank, the nulls beside them; pages
//! ```

mod answers;
mod ensemble;
mod facts;
pub mod frozen;
pub mod interval;
pub mod load;
pub mod members;
pub mod model;
pub mod of_family;
pub mod predict;
pub mod prior;
pub mod rates;
mod run;
pub mod schemas;
pub mod score;
mod service;
pub mod site;
mod untimed;

pub use facts::median;
pub use predict::{FrozenPrediction, Predictions, predict};
pub use score::score;
