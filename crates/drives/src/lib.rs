#![doc = include_str!("../README.md")]
//! # Structure
//!
//! ```text
//! settings -> catalogue -> media      parameters changed; drive files; the law of wear
//!                       -> smart      attributes, IDENTIFY, the NVMe health page
//! scaling                             the same drive, smaller: one law
//! keep -> saved, directory            a drive in one file; a served drive's log and checkpoints
//! rests_on                            calibrated and assumed values behind figures
//! known                               published protection and endurance of real models
//! cycles                              wear of all blocks, in a few numbers
//! ```

pub mod catalogue;
pub mod cycles;
pub mod keep;
pub mod known;
pub mod media;
pub mod rests_on;
pub mod scaling;
pub mod schemas;
pub mod settings;
pub mod smart;
