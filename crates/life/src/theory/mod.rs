//! Write amplification as theory has it, and the report that holds measurements against it.
//!
//! [`closed_form`] has the laws, each with its paper and where it holds; [`reference`] is a plain
//! simulator for the loads and policies that have none; [`suite`] lists what is held against
//! them, [`drive`] is the modelled drive as the suite sees it, [`protocol`] says how it is
//! measured, [`report`] makes the page and the CSV.

pub mod closed_form;
pub mod drive;
pub mod load;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod suite;

#[cfg(test)]
mod tests;
