//! Article zil: writes that do not begin where a mapping unit does, on DRAM and on flash.

use crate::experiments::host::{DriveSelfChecks, ExperimentHost};
use crate::keys::{ExperimentKey, keys};
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;

keys! {
    pub(crate) enum AlignMedium {
        Dram = "dram",
        Flash = "flash",
    }

    /// Rates over that of aligned writes.
    pub(crate) enum MisalignedRatio {
        Requests = "requests_over_aligned",
        Partition = "partition_over_aligned",
    }

    pub(crate) enum AlignMeasure {
        ;
        Of((AlignMedium, MisalignedRatio)) = "{}",
    }
}

pub(crate) static ALIGN: Experiment<AlignMeasure> = Experiment {
    about: ExperimentInfo {
        name: "zil.align",
        what: "the X1 and the 320 of 40 GB, filled in order; 4 KiB random writes, 32 outstanding: \
               aligned, beginning at any sector, and in a partition that begins at sector 63",
        weight: 4,
    },
    run,
};

const SECTOR: u64 = 512;
const BLOCK: u32 = 4096;
const DEPTH: u32 = 32;
/// First sector of a partition as old tools made it.
const PARTITION: u64 = 63;
const FILL: u32 = 128 << 10;
const COMMANDS: usize = 400_000;

/// Distance of a write from where a block begins.
#[derive(Clone, Copy)]
enum WriteAlignment {
    Aligned,
    Anywhere,
    InPartition,
}

impl WriteAlignment {
    fn after(self, rng: &mut Rng) -> u64 {
        match self {
            WriteAlignment::Aligned => 0,
            WriteAlignment::Anywhere => rng.below(u64::from(BLOCK) / SECTOR) * SECTOR,
            WriteAlignment::InPartition => PARTITION * SECTOR,
        }
    }
}

fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<AlignMeasure>, LabError> {
    let (mut outcome, mut health) = (ExperimentOutcome::new(), DriveSelfChecks::default());
    for (medium, name) in [
        (AlignMedium::Dram, "ddrdrive-x1"),
        (AlignMedium::Flash, "intel-320-40gb"),
    ] {
        let entry = catalogue::drive(name)?;
        outcome.found.rests_on.extend(entry.rests_on());
        let bytes = entry.config.user_bytes;
        let mut filled = ExperimentHost::new(entry.config.clone())?.watching(setup.stop);
        let pieces = (0..bytes / u64::from(FILL)).map(|n| n * u64::from(FILL));
        filled.run(DEPTH, pieces.map(|place| Command::write(place, FILL)));
        let mut rate = |begins: WriteAlignment| {
            let mut host = filled.clone();
            let mut rng = Rng::named(setup.seed, "zil align");
            let blocks = bytes / u64::from(BLOCK) - 16;
            let write = |_| {
                let place = rng.below(blocks) * u64::from(BLOCK);
                Command::write(place + begins.after(&mut rng), BLOCK)
            };
            let span = host.run(DEPTH, (0..COMMANDS).map(write));
            health.add(&medium.name(), &host);
            span.iops()
        };
        let aligned = rate(WriteAlignment::Aligned);
        for (start, begins) in [
            (MisalignedRatio::Requests, WriteAlignment::Anywhere),
            (MisalignedRatio::Partition, WriteAlignment::InPartition),
        ] {
            outcome.value(AlignMeasure::Of((medium, start)), rate(begins) / aligned);
        }
        if filled.is_stopped() {
            return Err(stopped());
        }
    }
    health.keep(&mut outcome);
    Ok(outcome)
}
