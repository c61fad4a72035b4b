//! The SNIA Performance Test Specification, whole, on a modelled drive.
//!
//! ```text
//! suite -> tests (iops, throughput, latency, saturation, idle, stimulus, demand)
//!            |-> rounds -> rig -> engine         a load is a phase; a phase is a row
//! page <- result: rows, tracked variables, histograms
//! ```
//!
//! Each test begins with a drive fresh from the factory, which is what a purge is to reach; follows
//! the order of the specification; and repeats its rounds until every tracked variable is in steady
//! state over five of them, or 25 have passed. Every row of `rounds.csv` is a measured point, from
//! which the steady state can be recomputed.
//!
//! On a drive that is scaled down, all times shrink by the same factor as the capacity, so that a
//! minute writes the same share of the drive. The result says so.
//!
//! Source: SNIA SSS PTS 2.0.2 (client and enterprise), read in py-sss-pts, SSS-PTS-TEST and
//! cloudharmony block-storage, see `docs/methods.md`. Left out: real drives (the tests take days;
//! the profiles `pts-*` run one round of each on them), and CPU use, which a model does not have.

mod demand;
mod idle;
mod load;
mod page;
mod parts;
mod result;
mod rig;
mod rounds;
mod short;
mod stimulus;
mod suite;
mod terminal;
#[cfg(test)]
mod tests;

pub use load::{SniaClass, SniaDemand};
pub use page::page;
pub use result::{
    ResponseHistogram, SniaPoint, SniaTest, SniaTestResult, Suite, TrackingVariable, csv,
};
pub use suite::{SniaRequest, suite};
pub use terminal::text;
