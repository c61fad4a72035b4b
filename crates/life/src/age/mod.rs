//! A drive's whole life: `ssdlab age`.
//!
//! ```text
//! fill once -> [ load for a week of virtual time -> lie that week, look for faded data -> idle ]
//!           -> ... until so much is written, so much life is left, or the drive is at its end
//! ```
//! Plays every page write on the counting gear. The week's writes come at the daily rate given;
//! hours count at the temperature given (Arrhenius). With `fast`, once two spans of a drive write
//! each agree in WAF, the cycles and counts of many more are added without playing them; every
//! leap is followed by another exact span, and how far that differs is the error that is stated.

pub mod checkpoint;
pub mod health;
pub mod left;
pub mod live;
pub mod modelled;
mod plan;
pub mod result;
pub mod row;
#[cfg(test)]
mod tests;

pub use plan::{AgeingPlan, LifeEnd, load_of};
