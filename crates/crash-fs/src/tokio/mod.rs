//! [`tokio`](::tokio), with [`fs`] on a crash disk.
//!
//! Everything else is `tokio` itself, as far as the program that uses it has it.

mod file;
pub mod fs;
mod options;

pub use ::tokio::*;
