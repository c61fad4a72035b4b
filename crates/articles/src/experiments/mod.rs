//! The experiments, one file or folder each: its run, its measures as types, its plots and its
//! part of the article's page. Each is a function of its seed and runs in virtual time; every drive
//! checks itself. Assumptions are in `docs/articles.md`.

pub(crate) mod claims;
pub(crate) mod contract;
pub(crate) mod facts;
mod host;
pub(crate) mod hosts;
pub mod mirror;
pub(crate) mod myth;
pub(crate) mod pattern;
pub(crate) mod rw80;
pub(crate) mod s2d;
mod scale;
pub(crate) mod spare;
pub(crate) mod wear;
pub(crate) mod worn;
