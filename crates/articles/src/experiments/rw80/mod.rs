//! Article zil: 80 minutes of 4 KiB random writes after a secure erase.

pub(crate) mod plots;
pub(crate) mod run;
