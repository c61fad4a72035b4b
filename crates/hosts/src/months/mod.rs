//! A file system over months: with TRIM at once, in batches, or never.
//!
//! ```text
//! each day: a burst of files created, old ones deleted to stay within the used share, blocks
//! of files overwritten in place -> drive at a queue depth -> the rest of the day it is idle
//! each week: throughput and WAF since, mapped share, and a probe on a fork of the drive
//! ```
//!
//! A deleted file's blocks are free to the file system at once. The drive goes on taking them for
//! valid data until they are written again or trimmed. The same seed makes the same
//! files whichever way TRIM is used, so differences are those of TRIM alone.
//!
//! Left out: directories and journal of the file system, reads of the files (but for the probe),
//! the time between a deletion and its TRIM (ext4 and XFS send it with the next journal commit).

mod life;
mod result;
pub mod show;
mod spec;
#[cfg(test)]
mod tests;

pub use life::run_until;
pub use result::{DaySample, Months};
pub use spec::{MonthsSpec, TrimSchedule};

use crate::HostDrive;
use crate::scenario::{Scenario, document};
use crate::show::heads;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use std::sync::atomic::AtomicBool;

impl Scenario for MonthsSpec {
    const NAME: &'static str = "months";
    type TargetDrives = [HostDrive];
    type ScenarioResult = Months;

    fn validate_on(&self, drives: &[HostDrive]) -> Result<(), LabError> {
        self.validate(drives[0].user_bytes)
    }

    fn run(&self, drives: &mut [HostDrive], stop: &AtomicBool) -> Result<Months, LabError> {
        run_until(self, &drives[0].config, stop)
    }

    fn checks(run: &Months) -> &[SelfCheck] {
        &run.checks
    }

    fn text(runs: &[Months], drives: &[HostDrive]) -> String {
        heads(drives) + &show::text(runs)
    }

    fn csv(runs: &[Months]) -> Result<String, LabError> {
        Ok(show::csv(runs))
    }

    fn json(runs: &[Months], drives: &[HostDrive]) -> Value {
        document::<Self>(drives, runs)
    }
}
