//! The formats that traces come in: one parser each, and how a file's format is recognised.

mod biosnoop;
mod blkparse;
pub(super) mod blktrace;
mod columns;
pub(super) mod csv;
mod detect;
mod iolog;
mod name;
pub(super) mod number;
mod pairing;
mod rows;
pub(super) mod sink;
pub(super) mod vscsi;

pub use columns::ColumnTable;
pub use name::TraceFormat;

pub(super) use detect::detect;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_public;
