//! Article worn: a drive of 120 GB is written until much of its life is gone, and measured again.
//!
//! ```text
//! new drive ----------------------------------------> benchmark
//! new drive -> life: 270 TB, every page write played
//!                -> secure erase, wear kept ---------> the same benchmark
//! ```
//! What is known of the article's benchmark is followed: sizes, queue depths, profiles, traces'
//! volumes. What is not is assumed and said in `docs/articles.md`. The model has no firmware that
//! changes between the two, as the article's drive had: what differs here is wear alone.

mod bench;
mod life;
mod loads;
mod measure;
pub(crate) mod plots;
pub(crate) mod run;
#[cfg(test)]
mod tests;
pub(crate) mod throttled;
mod traces;
