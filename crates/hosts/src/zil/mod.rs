//! The intent log of ZFS as a load on a separate log device.
//!
//! ```text
//! writers -> datasets, each with its log -> blocks in the log device's space -> path -> target
//! ```
//!
//! * [`writer`]: IOzone-like synchronous writers.
//! * [`block_size`], [`chain`]: one log, its blocks and how large they are made.
//! * [`space`], [`free_space`]: where blocks go, by age of the allocator.
//! * [`host`]: all of it as a state machine that issues commands and depends on their completion.
//! * `autotrim`: trims of freed log blocks.
//! * [`spec`]: parts of a host.
//! * [`run`]: that machine on any target; [`fixed`]: a target for access patterns.
//! * [`scenario`]: a run, with counts and latencies of its writers.
//! * [`replay`]: the log after a crash.
//! * [`published`]: the histograms that the model is held against.
//! * [`structure`]: the logs that a trace shows; [`fit`]: a host made from it.
//! * [`preset`]: the code of 2010 and ZFS 2.1, every value with its reason.
//!
//! Left out: the pool's own devices, logs in the pool, indirect writes, several log devices side
//! by side, merging of neighbouring writes in the device queue, gang blocks.
//!
//! Source: the behaviour of OpenSolaris b121 to b134 and of OpenZFS 2.1.11, described in
//! `docs/hosts.md`.

mod autotrim;
pub mod block_size;
pub mod chain;
pub mod fit;
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
pub mod structure;
#[cfg(test)]
mod tests;
pub mod writer;

pub use fit::ZilTraceFit;
pub use fixed::FixedTarget;
pub use host::{HostModel, LogHost};
pub use preset::ZfsPreset;
pub use run::{LogDevicePattern, RunOptions, run};
pub use scenario::{LogDevice, Zil, ZilSpec};
pub use spec::{HostCounts, HostSpec};

use crate::scenario::Scenario;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use std::sync::atomic::AtomicBool;

impl Scenario for ZilSpec {
    const NAME: &'static str = "zil";
    type TargetDrives = LogDevice;
    type ScenarioResult = Zil;

    fn validate_on(&self, device: &LogDevice) -> Result<(), LabError> {
        self.validate(device.capacity)
    }

    fn run(&self, device: &mut LogDevice, stop: &AtomicBool) -> Result<Zil, LabError> {
        self.run_on(device, stop)
    }

    fn checks(run: &Zil) -> &[SelfCheck] {
        &run.checks
    }

    fn text(runs: &[Zil], device: &LogDevice) -> String {
        runs.iter().map(|run| show::text(run, device)).collect()
    }

    fn csv(runs: &[Zil]) -> Result<String, LabError> {
        scenario::csv(runs)
    }

    /// One run: the document is that run.
    fn json(runs: &[Zil], device: &LogDevice) -> Value {
        runs.first()
            .map_or(Value::Null, |run| show::json(run, device))
    }
}
