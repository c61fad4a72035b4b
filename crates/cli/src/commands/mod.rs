//! One module per subcommand.

pub mod age;
pub mod check;
pub mod compare;
#[cfg(target_os = "linux")]
pub mod conform;
#[cfg(target_os = "linux")]
pub mod crashtest;
pub mod create;
pub mod diagnose;
pub mod drives;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
pub mod endurance;
pub mod fingerprint;
pub mod generate;
pub mod host;
pub mod inspect;
pub mod ledger;
pub mod list;
#[cfg(target_os = "linux")]
pub mod mark;
#[cfg(target_os = "linux")]
pub mod power;
#[cfg(target_os = "linux")]
pub mod pull;
pub mod qualify;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod run_names;
pub mod run_plan;
#[cfg(target_os = "linux")]
pub mod serve;
pub mod simulate;
pub mod snia;
pub mod theory;
pub mod trace;
pub mod twin;
pub mod volumes;
#[cfg(target_os = "linux")]
pub mod watch;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{conform, crashtest, mark, power, pull, serve, watch};
