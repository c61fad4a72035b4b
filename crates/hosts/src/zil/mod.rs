//! The intent log of ZFS as a load: what a separate log device has to endure.
//!
//! ```text
//! writers -> datasets, each with its log -> blocks in the log device's space -> path -> target
//! ```
//!
//! * [`writer`]: IOzone-like synchronous writers.
//! * [`block_size`], [`chain`]: one log, its blocks and how large they are made.
//! * [`space`], [`free_space`]: where blocks go, by age of the allocator.
//! * [`host`]: all of it as a state machine that issues commands and depends on their completion.
//! * [`spec`]: what a host is made of.
//! * [`run`]: that machine on any target; [`fixed`]: a target for access patterns.
//! * [`scenario`]: a run with what its writers saw.
//! * [`replay`]: what a crash leaves.
//! * [`published`]: the histograms that the model is held against.
//! * [`preset`]: the code of 2010 and ZFS 2.1, every value with its reason.
//!
//! Left out: the pool's own devices, logs in the pool, indirect writes, several log devices side
//! by side, merging of neighbouring writes in the device queue, gang blocks.
//!
//! Source: the behaviour of OpenSolaris b121 to b134 and of OpenZFS 2.1.11, described in
//! `docs/zil-model.md`.

pub mod block_size;
pub mod chain;
pub mod fixed;
pub mod free_space;
pub mod host;
pub mod preset;
pub mod published;
pub mod replay;
pub mod run;
pub mod scenario;
mod show;
pub mod space;
pub mod spec;
#[cfg(test)]
mod tests;
pub mod writer;

pub use fixed::FixedTarget;
pub use host::{HostModel, LogHost};
pub use preset::Preset;
pub use run::{Pattern, RunOptions, run};
pub use scenario::{LogDevice, Zil, ZilSpec};
pub use spec::{HostCounts, HostSpec};
