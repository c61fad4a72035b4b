//! Drives that hold data under power cuts: the served drive, and campaigns that judge programs.

pub mod crashtest;
pub mod inside;
pub mod served;
