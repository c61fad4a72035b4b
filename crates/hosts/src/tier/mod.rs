//! A write-back cache tier in front of slow disks, as in Storage Spaces Direct.
//!
//! ```text
//! workers -> write -> a copy to the cache device of each of its sides -> durable on all
//!                     -> acknowledged
//!         -> read  -> hit: one side's cache device;  miss: its disk, then a copy into the cache
//! each side: cache device (a modelled drive) in front of disks of its own
//!            dirty blocks -> destage: read from the cache device, written to the disk in its order
//! ```
//! The spec says how writes become durable: each write with FUA, or write and flush, or neither
//! (buffered: for comparison; that breaks the promise on a volatile buffer, and the result counts
//! how often). `promise` watches that from outside the tier.
//!
//! Source: article s2d; Microsoft, "Understanding the storage pool cache" (the cache binds to disks
//! of the same server; in front of hard disks it takes reads and writes; writes are destaged in an
//! order that suits disks). Left out: network between sides, the cache's own metadata, failures,
//! rebinding, reads ahead.

mod cache;
mod engine;
pub mod hdd;
mod layout;
mod promise;
mod report;
mod result;
pub mod show;
mod spec;
#[cfg(test)]
mod tests;

pub use engine::run_until;
pub use result::{AccessLatency, DeviceWork, LifeCost, Tier, TierRuns, TierSample, life_cost};
pub use spec::{DurabilityMode, TierSpec};

use crate::HostDrive;
use crate::scenario::{Scenario, document};
use crate::show::heads;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use std::sync::atomic::AtomicBool;

impl Scenario for TierSpec {
    const NAME: &'static str = "tier";
    type TargetDrives = [HostDrive];
    type ScenarioResult = Tier;

    fn validate_on(&self, drives: &[HostDrive]) -> Result<(), LabError> {
        self.validate(&self.sides(drives))
    }

    fn run(&self, drives: &mut [HostDrive], stop: &AtomicBool) -> Result<Tier, LabError> {
        run_until(self, &self.sides(drives), stop)
    }

    fn checks(run: &Tier) -> &[SelfCheck] {
        &run.checks
    }

    fn text(runs: &[Tier], drives: &[HostDrive]) -> String {
        heads(drives) + &show::text(runs, &drives[0])
    }

    fn csv(runs: &[Tier]) -> Result<String, LabError> {
        Ok(show::csv(runs))
    }

    fn json(runs: &[Tier], drives: &[HostDrive]) -> Value {
        let costs: Vec<_> = runs.iter().map(|run| life_cost(run, &drives[0])).collect();
        let runs = TierRuns {
            tiers: runs,
            life_costs: &costs,
        };
        document::<Self>(drives, runs)
    }
}
