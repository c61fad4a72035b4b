//! Article myth: the drive that it bought beside a hard disk, at random accesses.

use crate::experiments::host::{DriveSelfChecks, ExperimentHost};
use crate::keys::{ExperimentKey, keys};
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_hosts::tier::hdd::{Hdd, HddSpec};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Op};

keys! {
    pub(crate) enum DiskAccess {
        Read = "read",
        Write = "write",
    }

    pub(crate) enum DiskQueueDepth {
        One = "qd1",
        Deep = "qd32",
    }

    /// Rates of the drive over those of the disk.
    pub(crate) enum DiskMeasure {
        ;
        Of((DiskAccess, DiskQueueDepth)) = "{}_over_disk",
    }
}

pub(crate) static DISK: Experiment<DiskMeasure> = Experiment {
    about: ExperimentInfo {
        name: "myth.disk",
        what: "4 KiB at random over the DC S3700 of 200 GB, filled in order, and over a nearline \
               disk of 7,200 turns a minute: one at a time, and 32 outstanding, which the disk \
               serves in order of place",
        weight: 3,
    },
    run,
};

const BLOCK: u32 = 4096;
const FILL: u32 = 128 << 10;
const DEEP: u32 = 32;
const DISK_ACCESSES: usize = 20_000;
const DRIVE_COMMANDS: usize = 200_000;

fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<DiskMeasure>, LabError> {
    let entry = catalogue::drive("intel-dc-s3700-200gb")?;
    let bytes = entry.config.user_bytes;
    let mut filled = ExperimentHost::new(entry.config.clone())?.watching(setup.stop);
    let pieces = (0..bytes / u64::from(FILL)).map(|n| n * u64::from(FILL));
    filled.run(DEEP, pieces.map(|place| Command::write(place, FILL)));
    let (mut outcome, mut health) = (
        ExperimentOutcome::resting_on(entry.rests_on()),
        DriveSelfChecks::default(),
    );
    for (kind, depth) in <(DiskAccess, DiskQueueDepth)>::all() {
        let op = match kind {
            DiskAccess::Read => Op::Read,
            DiskAccess::Write => Op::Write,
        };
        let (outstanding, commands) = match depth {
            DiskQueueDepth::One => (1, DRIVE_COMMANDS / 10),
            DiskQueueDepth::Deep => (DEEP, DRIVE_COMMANDS),
        };
        let mut host = filled.clone();
        let mut rng = Rng::named(setup.seed, "myth disk: drive");
        let command = |_| {
            let place = rng.below(bytes / u64::from(BLOCK)) * u64::from(BLOCK);
            Command {
                op,
                ..Command::read(place, BLOCK)
            }
        };
        let span = host.run(outstanding, (0..commands).map(command));
        health.add(&(kind, depth).name(), &host);
        let ratio = span.iops() / disk_rate(outstanding as usize, setup.seed);
        outcome.value(DiskMeasure::Of((kind, depth)), ratio);
    }
    if filled.is_stopped() {
        return Err(stopped());
    }
    health.keep(&mut outcome);
    Ok(outcome)
}

/// Random accesses a second of a disk that is given `depth` at a time and sweeps over them.
fn disk_rate(depth: usize, seed: u64) -> f64 {
    let spec = HddSpec::default();
    let mut rng = Rng::named(seed, "myth disk: places");
    let mut disk = Hdd::new(spec, Rng::named(seed, "myth disk: platter"));
    let (mut time_ns, mut count) = (0, 0);
    while count < DISK_ACCESSES {
        let place = |_| rng.below(spec.capacity / u64::from(BLOCK)) * u64::from(BLOCK);
        let mut sweep: Vec<u64> = (0..depth).map(place).collect();
        sweep.sort_unstable();
        for place in sweep {
            time_ns += disk.access(place, u64::from(BLOCK)).0;
            count += 1;
        }
    }
    count as f64 / (time_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8.47 ms of seek and half a turn of 8.33 ms; sorted, a seek is over a 32nd of the disk.
    #[test]
    fn a_disk_does_about_eighty_accesses_a_second_and_more_in_order_of_place() {
        let one = disk_rate(1, 1);
        assert!((one - 1000.0 / 12.66).abs() < 2.0, "{one}");
        let deep = disk_rate(32, 1);
        assert!((110.0..160.0).contains(&deep), "{deep}");
    }
}
