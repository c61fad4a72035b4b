//! Drives taken apart, inspection and power cuts of real drives, qualification for a role, and the
//! pages of these.

pub mod ablate;
pub mod experiment;
pub mod inspect;
pub mod page;
pub mod pull;
pub mod qualify;
pub mod snia;

pub use qualify::{QualifyPlan, qualify};
