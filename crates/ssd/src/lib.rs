//! A software SSD: media, translation layer and host side, in virtual time.
//!
//! Three modules with one-way imports, `nand` <- `ftl` <- `drive`. Everything here is pure:
//! no I/O, no clock, no threads, no dependencies. The same build, configuration and seed give
//! the same bytes. Time is integer nanoseconds and is always passed in.
#![deny(unsafe_code)]

pub mod command;
pub mod rng;
pub mod units;

pub use command::{Command, Op};
pub use units::{Bytes, Nanos};
