//! Drives that have been in use before a stream is played on them.

use ssdlab_base::LabError;
use ssdlab_ssd::drive::Drive;
use ssdlab_ssd::drive::power::{Power, PowerDrive, Smart};
use ssdlab_ssd::image::{Image, Writer};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, Nanos};
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// Bytes of a write that fills a drive in order, and of one that overwrites it at random.
const FILL: u64 = 128 << 10;
const OVERWRITE: u64 = 4 << 10;

/// What happened to a drive before the stream.
#[derive(Clone, Debug, Default)]
pub enum StartingAge {
    /// Nothing: it comes from the factory.
    #[default]
    New,
    /// It was filled with zeroes and overwritten at random, once over: it has no free space but
    /// its own, and reclaims from the first command on. A program reads what it would read on a
    /// new drive.
    Filled,
    /// The same on an array that has worn, in the drive of a file.
    Worn(Arc<Smart>),
}

impl StartingAge {
    /// The state of an aged drive, without its contents.
    pub fn worn(drive: &Drive) -> StartingAge {
        StartingAge::Worn(Arc::new(Smart::of_used(drive)))
    }

    /// A drive of this age, switched on. It was honest until now, whatever its faults are.
    ///
    /// # Errors
    /// When the configuration is impossible.
    pub(super) fn drive(
        &self,
        config: &DriveConfig,
        power: &Power,
    ) -> Result<PowerDrive, LabError> {
        let refused = |error: &dyn std::fmt::Display| LabError::refused(error.to_string(), "");
        let honest = Power::default();
        let mut drive = match self {
            StartingAge::New => {
                let new = PowerDrive::new(config.clone(), power.clone());
                return new.map_err(|error| refused(&error));
            }
            StartingAge::Filled => PowerDrive::new(config.clone(), honest),
            StartingAge::Worn(smart) => {
                PowerDrive::stored(config.clone(), honest, smart, [], Vec::new())
            }
        }
        .map_err(|error| refused(&error))?;
        if !drive.is_on() {
            let power_on_time = drive.now();
            drive.power_on(power_on_time);
        }
        fill(&mut drive);
        drive.shut_down();
        let events = drive.all_events();
        let saved = drive.saved().to_vec();
        let (smart, config) = (drive.smart(), config.clone());
        let mut drive = PowerDrive::stored(config, power.clone(), &smart, events, saved)
            .map_err(|error| refused(&error))?;
        let on = drive.now().saturating_add(Nanos::from_secs(1));
        let ready = drive.power_on(on).ready;
        while drive.pop_completion(ready).is_some() {}
        Ok(drive)
    }

    /// Tells one age from another.
    pub(super) fn digest(&self) -> u64 {
        let StartingAge::Worn(smart) = self else {
            return u64::from(matches!(self, StartingAge::Filled));
        };
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        // Writing to memory does not fail.
        let _ = smart.save(&mut out).and_then(|()| out.flush());
        XxHash3_64::oneshot(&bytes)
    }
}

/// Writes everything once in order, and once more at random.
fn fill(drive: &mut PowerDrive) {
    let bytes = drive.config().user_bytes;
    let mut rng = Rng::named(1, "aged");
    let mut offset = 0;
    while offset < bytes {
        let len = (bytes - offset).min(FILL);
        run(drive, &Command::write(offset, len as u32));
        offset += len;
    }
    let units = bytes / OVERWRITE;
    for _ in 0..units {
        let offset = rng.below(units) * OVERWRITE;
        run(drive, &Command::write(offset, OVERWRITE as u32));
    }
    run(drive, &Command::flush());
}

fn run(drive: &mut PowerDrive, command: &Command) {
    let submit_time = drive.now();
    drive.submit(0, command, None, submit_time);
    drive.pop_completion(Nanos::MAX);
}
