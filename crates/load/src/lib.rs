//! Workloads: fio job files, DISKSPD command lines, profiles, traces and synthetic streams.

pub mod describe;
pub mod diskspd;
pub mod distribution;
pub mod fio;
pub mod permutation;
pub mod plan;
pub mod profiles;
pub mod stream;
pub mod synthetic;
pub mod trace;
