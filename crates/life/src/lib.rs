#![doc = include_str!("../README.md")]

pub mod adopt;
pub mod age;
pub mod draft;
pub mod endurance;
pub mod schemas;
pub mod simulate;
pub mod theory;
pub mod validate;
