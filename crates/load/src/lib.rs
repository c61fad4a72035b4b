#![doc = include_str!("../README.md")]
//! # Structure
//!
//! ```text
//! fio, diskspd, profiles -> plan -> stream -> commands     (seeded; the same on every target)
//!                                   follow: reads that verify, trims before writes
//! trace: a recorded load: read, described, converted, replayed as part of a plan
//! synthetic: the patterns of `ssdlab simulate`             distribution, permutation: the draws
//! describe: a job in words
//! ```

pub mod command_line;
pub mod describe;
pub mod diskspd;
pub mod distribution;
pub mod fio;
pub mod follow;
pub mod permutation;
mod place;
pub mod plan;
pub mod profiles;
pub mod program;
pub mod schemas;
pub mod stream;
pub mod synthetic;
pub mod trace;
