//! Parts of crates that storage engines use beside `std::fs`, for files on a crash disk.
//!
//! A crate such as `fs2` is written for `std::fs::File`, so that it cannot take a crash file. What
//! is missing here does not compile.

pub mod fs2;
#[cfg(target_os = "linux")]
pub mod libc;
pub mod tempfile;
