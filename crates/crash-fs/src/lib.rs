#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
// The guide shows a test.
#![allow(clippy::test_attr_in_doctest)]

#[cfg(feature = "compat")]
pub mod compat;
#[cfg(all(feature = "descriptors", target_os = "linux"))]
mod descriptors;
mod error;
mod hooks;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
pub mod io_uring;
mod machine;
mod paths;
mod recorder;
mod replay;
mod roots;
mod shadow;
mod state;
pub mod std;
mod test;
#[cfg(feature = "tokio")]
pub mod tokio;

pub use error::CrashFsError;
pub use machine::{CrashFs, CrashFsBuilder};
pub use roots::Entered;
pub use ssdlab_crash::{
    Blame, CrashError, CrashFiles, DriveConfig, FileSystemRules, Nanos, RecoveryReport, drawn_drive,
};
pub use test::{CrashProgram, CrashTest, RecoveredFiles, TestFailure, TestResult};
