#![doc = include_str!("../README.md")]

pub mod cause;
#[cfg(target_os = "linux")]
mod counted;
#[cfg(target_os = "linux")]
pub mod exporter;
pub mod figures;
pub mod judge;
#[cfg(target_os = "linux")]
pub mod live;
pub mod locality;
pub mod model;
pub mod record;
pub mod report;
pub mod request;
pub mod schemas;
pub mod show;
mod show_latency;
pub mod source;
pub mod steps;
#[cfg(target_os = "linux")]
pub mod subject;
