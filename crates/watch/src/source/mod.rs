//! Where figures come from: events, counters and settings of the running system.

#[cfg(target_os = "linux")]
pub mod bpf;
#[cfg(target_os = "linux")]
mod cgroup;
pub mod counters;
pub mod event;
#[cfg(target_os = "linux")]
pub mod group_io;
pub mod histogram;
#[cfg(target_os = "linux")]
pub mod host;
pub mod host_counters;
#[cfg(target_os = "linux")]
mod ioctl;
#[cfg(target_os = "linux")]
pub mod layers;
#[cfg(target_os = "linux")]
pub mod process_io;
pub mod settings;
#[cfg(target_os = "linux")]
pub mod smart;
#[cfg(target_os = "linux")]
pub mod tracepoints;
