//! The catalogue of drives, the law of their media, SMART, scaling, and drives kept in files.

pub mod catalogue;
pub mod cycles;
pub mod keep;
pub mod media;
pub mod rests_on;
pub mod scaling;
pub mod settings;
pub mod smart;
