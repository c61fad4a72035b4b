//! Article s2d: the consumer drive as its data sheet measures it, nearly empty and for seconds.

use crate::experiments::host::{DriveSelfChecks, ExperimentHost};
use crate::experiments::s2d::SHEET_WRITES;
use crate::experiments::scale;
use crate::keys::keys;
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;

keys! {
    pub(crate) enum SheetMeasure {
        ReadIops = "read_iops",
        WriteIops = "write_iops",
    }
}

pub(crate) static SHEET: Experiment<SheetMeasure> = Experiment {
    about: ExperimentInfo {
        name: "s2d.sheet",
        what: "the 1 TB consumer drive, new: 4 KiB random writes over 8 GB, 32 outstanding, then \
               as many reads of them",
        weight: 1,
    },
    run,
};

/// The span that sheets of client drives measure on.
const SPAN: u64 = 8_000_000_000;
const BLOCK: u32 = 4096;
const DEPTH: u32 = 32;
/// About ten seconds of either.
const COMMANDS: usize = 900_000;

fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<SheetMeasure>, LabError> {
    let entry = scale::with("consumer-sata-1tb", &SHEET_WRITES)?;
    let mut host = ExperimentHost::new(entry.config.clone())?.watching(setup.stop);
    let mut rng = Rng::named(setup.seed, "s2d sheet");
    let mut places = move || rng.below(SPAN / u64::from(BLOCK)) * u64::from(BLOCK);
    // Reads are of addresses that were written: unmapped ones need no flash.
    let written: Vec<u64> = (0..COMMANDS).map(|_| places()).collect();
    let writes = written.iter().map(|&place| Command::write(place, BLOCK));
    let writes = host.run(DEPTH, writes);
    let reads = written.iter().rev().step_by(2);
    let reads = host.run(DEPTH, reads.map(|&place| Command::read(place, BLOCK)));
    if host.is_stopped() {
        return Err(stopped());
    }
    let mut outcome = ExperimentOutcome::resting_on(entry.rests_on());
    let mut health = DriveSelfChecks::default();
    health.add(&entry.file.name, &host);
    health.keep(&mut outcome);
    outcome.value(SheetMeasure::ReadIops, reads.iops());
    outcome.value(SheetMeasure::WriteIops, writes.iops());
    Ok(outcome)
}
