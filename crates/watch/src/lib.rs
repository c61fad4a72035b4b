#![doc = include_str!("../README.md")]

pub mod account;
pub mod cause;
#[cfg(target_os = "linux")]
mod counted;
pub mod events;
#[cfg(target_os = "linux")]
pub mod exporter;
pub mod figures;
pub mod forecast;
pub mod heat;
pub mod judge;
#[cfg(target_os = "linux")]
pub mod live;
pub mod locality;
pub mod model;
pub mod page;
pub mod preflight;
pub mod record;
pub mod report;
pub mod request;
pub mod schemas;
#[cfg(target_os = "linux")]
pub mod screen;
pub mod show;
mod show_latency;
pub mod source;
pub mod spread;
pub mod stall;
pub mod steps;
#[cfg(target_os = "linux")]
pub mod subject;
