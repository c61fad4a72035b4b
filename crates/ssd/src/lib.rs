#![doc = include_str!("../README.md")]
//! # Structure
//!
//! Modules import one way: base helpers <- `config` <- `nand` <- `ftl` <- `drive`. Everything here
//! is pure: no I/O, no clock, no threads, no dependencies. The same build, configuration and seed
//! give the same bytes. Time is integer nanoseconds and is always passed in.
#![deny(unsafe_code)]

pub mod caches;
pub mod command;
pub mod config;
pub mod counters;
pub mod drive;
pub mod ftl;
pub mod geometry;
pub mod image;
pub mod nand;
pub mod rng;
pub mod units;

pub use command::{Command, Op};
pub use config::{ConfigError, DriveConfig};
pub use counters::DriveCounters;
pub use drive::{Completion, CountingDrive, Drive};
pub use image::ImageError;
pub use units::{Bytes, Nanos};
