#![doc = include_str!("../README.md")]
//! # Structure
//!
//! ```text
//! table      what was measured: a row a load, refused where it contradicts itself
//! structure  layouts that a drive may have: victim policy, frontiers, superblocks
//! surface    write amplification by spare area, simulated in the counting gear
//! ensemble   a low-discrepancy design over spare area and costs; weights by agreement
//! likeness   the model's own error, shared by loads that are alike
//! spread     intervals of an ensemble, the model's own error included
//! fit        the ensemble for a table, what it decides and which row decides it
//! predict    loads that were not measured, with intervals; what to measure next
//! trace      a host's trace as a load
//! latency    percentiles beside writes of a rate, from those at other rates
//! keep       twin.json and drive.toml        show, page: the same for a person
//! ```
//!
//! Model: T = T0 / (1 + j + k (WAF - 1)), with T the throughput under a load, T0 the sequential
//! rate, j what scattered writes cost besides (map, journal), k the cost of a moved slot in host
//! slots, and WAF from a simulation of as many overwrites as were measured. Deliberately left out:
//! pSLC caches, mixed reads, anything but the settled rate of writes; latency has a law of its own
//! ([`latency`]).
//!
//! Drives measured: G. Haas, B. Lee, P. Bonnet, V. Leis: "SSD-iq", PVLDB 18(11). The constants in
//! [`ensemble`] were chosen while looking at three drives of it.

pub mod ensemble;
pub mod fingerprint;
pub mod fit;
pub mod keep;
pub mod latency;
mod likeness;
pub mod measured;
pub mod page;
pub mod predict;
pub mod schemas;
pub mod show;
mod spread;
pub mod structure;
pub mod surface;
pub mod table;
pub mod trace;

pub use fit::{Twin, fit};
pub use predict::{LoadPrediction, predict};
