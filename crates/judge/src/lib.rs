#![doc = include_str!("../README.md")]

pub mod ablate;
pub mod account;
pub mod cause;
pub mod contribution;
pub mod experiment;
pub mod inspect;
pub mod others;
pub mod page;
pub mod pull;
pub mod qualify;
pub mod schemas;
pub mod snia;
pub mod symptom;
pub mod volumes;

pub use qualify::{QualifyPlan, qualify};
