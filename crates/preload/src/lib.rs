//! What a program does to the files of one folder, reported to a crash campaign as it happens.
//!
//! `ssdlab crashtest run --way preload` starts the program with this library in `LD_PRELOAD`. The
//! files are real and the kernel does every call; a call that changes a file of the folder, makes a
//! name durable or gives it up takes a turn of the campaign first and reports afterwards, so that
//! the campaign knows the one order of calls over all threads and processes. It replays them on a
//! crash disk.
//!
//! ```text
//!  program --write()--> begin() --> campaign grants the turn
//!                       the kernel's write()
//!                       turn ends: Write { file, offset, length } -> it reads them
//! ```
//! Not seen are system calls made without libc: static programs, Go, io_uring. At the end the
//! campaign compares the folder with the reports, and refuses if they differ.
#![cfg(target_os = "linux")]
#![allow(clippy::missing_safety_doc)]

mod data;
mod files;
mod kernel;
mod maps;
mod names;
mod streams;
mod sync;
mod turn;
