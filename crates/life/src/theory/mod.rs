//! Write amplification as theory has it, and the report that holds measurements against it.
//!
//! [`closed_form`] has the laws, each with its paper and where it holds; [`reference`] is a plain
//! simulator for the loads and policies that have none; [`buffered`] puts a write buffer before it;
//! [`suite`] lists what is held against them and [`drawn`] draws such settings by a seed, [`drive`]
//! is the modelled drive as the suite sees it, [`protocol`] says how it is measured, [`report`]
//! makes the page and the CSV.

pub mod buffered;
pub mod closed_form;
pub mod drawn;
pub mod drive;
pub mod load;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod suite;

#[cfg(test)]
mod tests;
