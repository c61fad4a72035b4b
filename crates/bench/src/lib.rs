#![doc = include_str!("../README.md")]

pub mod analysis;
pub mod device;
pub mod engine;
pub mod export;
pub mod finished;
mod layout;
pub mod record;
pub mod report;
mod request;
pub mod run;
pub mod run_dir;
pub mod schemas;
