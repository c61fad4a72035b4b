//! The standard library, with [`fs`] and parts of [`os`] that are on a crash disk.
//!
//! Everything else is `std` itself, so that `use ssdlab_crash_fs::std::{fs, io, path::Path};` is a
//! change of one word.

pub mod fs;
pub mod os;

pub use ::std::*;
