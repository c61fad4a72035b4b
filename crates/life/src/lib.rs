//! Whole lives of modelled drives: simulation, ageing, endurance, theory.

pub mod age;
pub mod endurance;
mod parallel;
pub mod simulate;
pub mod theory;
