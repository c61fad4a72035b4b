//! A database under transactions, as MySQL with InnoDB loads a drive, over months.
//!
//! ```text
//! arrivals -> connection -> page reads (not in the buffer pool), one after another -> CPU
//!          -> pages made dirty, log record -> group commit: log write, flush -> committed
//! page cleaner: a batch of the oldest dirty pages -> doublewrite area -> flush -> in place
//!          -> flush
//! other files (binary logs, dumps, temporary tables): written in turn, the oldest deleted
//! ```
//! A window of transactions is measured on a new drive and then once a month; between windows the
//! month's writing is made up for at full speed (page writes in place and other files, in the
//! shares of the spec), since writing ages a drive and time does not.
//!
//! Left out: the server's locks and its CPUs, changes of the tables' size, skew of the pages (the
//! buffer pool takes the hottest), checkpoints, backups' reads.

mod age;
mod engine;
mod layout;
mod result;
pub mod show;
mod spec;
#[cfg(test)]
mod tests;

pub use age::run_until;
pub use result::{Oltp, OltpSecond, OltpWindow};
pub use spec::OltpSpec;

use crate::HostDrive;
use crate::scenario::{Scenario, document};
use crate::show::heads;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use std::sync::atomic::AtomicBool;

impl Scenario for OltpSpec {
    const NAME: &'static str = "oltp";
    type TargetDrives = [HostDrive];
    type ScenarioResult = Oltp;

    fn validate_on(&self, drives: &[HostDrive]) -> Result<(), LabError> {
        self.validate(drives[0].user_bytes)
    }

    fn run(&self, drives: &mut [HostDrive], stop: &AtomicBool) -> Result<Oltp, LabError> {
        run_until(self, &drives[0].config, stop)
    }

    fn checks(run: &Oltp) -> &[SelfCheck] {
        &run.checks
    }

    fn text(runs: &[Oltp], drives: &[HostDrive]) -> String {
        heads(drives) + &show::text(runs)
    }

    fn csv(runs: &[Oltp]) -> Result<String, LabError> {
        Ok(show::csv(runs))
    }

    fn json(runs: &[Oltp], drives: &[HostDrive]) -> Value {
        document::<Self>(drives, runs)
    }
}
