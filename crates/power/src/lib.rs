#![doc = include_str!("../README.md")]

pub mod crashtest;
pub mod inside;
pub mod preload;
pub mod schemas;
pub mod served;
pub mod verified;
