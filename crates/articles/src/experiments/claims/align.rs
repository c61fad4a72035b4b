//! Article zil: writes that do not begin where a mapping unit does, on DRAM and on flash.

use crate::experiments::host::{Health, Host};
use crate::keys::{Key, keys};
use crate::outcome::{About, Experiment, Outcome, Setup, stopped};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;

keys! {
    pub(crate) enum Medium {
        Dram = "dram",
        Flash = "flash",
    }

    /// Rates over that of aligned writes.
    pub(crate) enum Start {
        Requests = "requests_over_aligned",
        Partition = "partition_over_aligned",
    }

    pub(crate) enum Measure {
        ;
        Of((Medium, Start)) = "{}",
    }
}

pub(crate) static ALIGN: Experiment<Measure> = Experiment {
    about: About {
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
enum Begins {
    Aligned,
    Anywhere,
    InPartition,
}

impl Begins {
    fn after(self, rng: &mut Rng) -> u64 {
        match self {
            Begins::Aligned => 0,
            Begins::Anywhere => rng.below(u64::from(BLOCK) / SECTOR) * SECTOR,
            Begins::InPartition => PARTITION * SECTOR,
        }
    }
}

fn run(setup: &Setup<'_>) -> Result<Outcome<Measure>, LabError> {
    let (mut outcome, mut health) = (Outcome::new(), Health::default());
    for (medium, name) in [
        (Medium::Dram, "ddrdrive-x1"),
        (Medium::Flash, "intel-320-40gb"),
    ] {
        let entry = catalogue::drive(name)?;
        outcome.found.rests_on.extend(entry.rests_on());
        let bytes = entry.config.user_bytes;
        let mut filled = Host::new(entry.config.clone())?.watching(setup.stop);
        let pieces = (0..bytes / u64::from(FILL)).map(|n| n * u64::from(FILL));
        filled.run(DEPTH, pieces.map(|place| Command::write(place, FILL)));
        let mut rate = |begins: Begins| {
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
        let aligned = rate(Begins::Aligned);
        for (start, begins) in [
            (Start::Requests, Begins::Anywhere),
            (Start::Partition, Begins::InPartition),
        ] {
            outcome.value(Measure::Of((medium, start)), rate(begins) / aligned);
        }
        if filled.is_stopped() {
            return Err(stopped());
        }
    }
    health.keep(&mut outcome);
    Ok(outcome)
}
