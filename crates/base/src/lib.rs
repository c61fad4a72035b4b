//! Errors, sizes and durations, self-checks, histograms: what every part of the lab shares.

pub mod check;
pub mod clock;
pub mod error;
pub mod huge_pages;
pub mod latencies;
pub mod memory;
pub mod parallel;
pub mod quantity;
pub mod recognise;
pub mod schema;
pub mod stop;

pub use error::LabError;
pub use ssdlab_ssd::{Bytes, Nanos};
