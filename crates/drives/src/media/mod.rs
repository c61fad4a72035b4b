//! The arithmetic of a drive's life: raw bit errors, what the error correction leaves of them,
//! what a standard allows, how time and temperature trade, and what a rating means per day.
//!
//! Pure functions of published constants; [`Media`] makes of them the tables by which a
//! modelled drive wears.

pub mod ecc;
pub mod error_model;
mod given;
pub mod jesd218;
pub mod law;
pub mod rating;
pub mod retention;

pub use ecc::Codeword;
pub use error_model::{PowerLaw, Stress};
pub use given::MediaOverrides;
pub use jesd218::ApplicationClass;
pub use law::Media;
pub use rating::Rating;
