//! Write amplification as theory has it, and the report that holds measurements against it.
//!
//! [`closed_form`] has the laws, each with its paper and where it holds; [`reference`] is a plain
//! simulator for the loads and policies that have none; [`suite`] lists what is held against
//! them, [`protocol`] says how it is measured, [`report`] makes the page and the CSV.
//!
//! Reference, loads and protocol are the files of the drive's own tests, so that command and
//! tests cannot drift apart.

pub mod closed_form;
#[path = "../../../ssd/tests/theory/load.rs"]
pub mod load;
#[path = "../../../ssd/tests/theory/protocol.rs"]
pub mod protocol;
#[path = "../../../ssd/tests/theory/reference.rs"]
pub mod reference;
pub mod report;
pub mod suite;

#[cfg(test)]
mod tests;
