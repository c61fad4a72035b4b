//! Whole lives of modelled drives: simulation, ageing, endurance, theory.

pub mod adopt;
pub mod age;
pub mod draft;
pub mod endurance;
pub mod simulate;
pub mod theory;
pub mod validate;
