//! Article spare: how much of its new performance a drive keeps when it is full, and when it is
//! full and dirty.
//!
//! ```text
//! new   -> trace                                                     = 100 %
//! new   -> every LBA written with random data -> trace               spare.full
//!          -> the same again with some random writes -> trace        spare.dirty
//!          or random writes alone, one user capacity -> trace        (worse than the article)
//! ```
//! Each trace runs on a fork of the drive's state, so the light one does not spoil the heavy one.

pub(crate) mod bench;
mod protocol;
mod rest;
pub(crate) mod run;
#[cfg(test)]
mod tests;
