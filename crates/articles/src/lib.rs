//! The experiments of five published articles, with their figures beside ours.

pub mod experiments;
pub mod page;
pub mod reproduce;
