//! The state in which a new drive is taken apart: written at random until it is steady.

use ssdlab_base::LabError;
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos};

/// Times the user capacity that is written at random, unless the drive has programmed
/// [`PROGRAMS`] times its user capacity before: its state then does not change any more.
const OVERWRITES: u64 = 3;
const PROGRAMS: u64 = 20;
const IN_ORDER: u32 = 128 << 10;
const RANDOM: u32 = 4096;
const DEPTH: u32 = 32;

/// A new drive of `config`, filled in order and then overwritten at random until it is steady.
///
/// # Errors
/// When the drive is impossible.
pub fn steady(config: &DriveConfig, seed: u64) -> Result<Drive, LabError> {
    let mut host = Devices::one(new_drive(config)?);
    let blocks = config.user_bytes / u64::from(IN_ORDER);
    let mut fill = (0..blocks).map(|n| Command::write(n * u64::from(IN_ORDER), IN_ORDER));
    host.keep(DEPTH, Nanos::MAX, &mut || fill.next());
    let slots = config.user_bytes / u64::from(RANDOM);
    let mut rng = Rng::named(seed, "steady state");
    for _ in 0..2 * OVERWRITES {
        let mut given = 0;
        host.keep(DEPTH, Nanos::MAX, &mut || {
            given += 1;
            (given <= slots / 2)
                .then(|| Command::write(rng.below(slots) * u64::from(RANDOM), RANDOM))
        });
        if host.drive(0).counters().slots_programmed() > PROGRAMS * config.user_slots() {
            break;
        }
    }
    host.settle();
    Ok(host.into_drive())
}
