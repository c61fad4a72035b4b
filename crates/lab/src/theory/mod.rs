//! Write amplification as theory has it, and the report that holds measurements against it.
//!
//! [`closed_form`] has the laws, each with its paper and where it holds; [`report`] the page and
//! the CSV. Loads and policies without a closed form are held to the reference simulator in
//! `crates/ssd/tests/theory`.

pub mod closed_form;
pub mod report;

#[cfg(test)]
mod tests;
