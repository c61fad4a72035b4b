//! The state in which a new drive is taken apart: written at random until it is steady, and as warm
//! as it gets from that.

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

/// Rounds of warming: each reaches one step of throttling at most.
const WARMINGS: u32 = 5;

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
        overwrite(&mut host, &mut rng, slots, slots / 2);
        if host.drive(0).counters().slots_programmed() > PROGRAMS * config.user_slots() {
            break;
        }
    }
    host.settle();
    let mut drive = host.into_drive();
    if config.heat.is_none() {
        return Ok(drive);
    }
    for _ in 0..WARMINGS {
        let mut host = Devices::one(drive);
        let before = (host.now(), host.drive(0).energy().total_nj());
        overwrite(&mut host, &mut rng, slots, slots / 8);
        host.settle();
        let used = host.drive(0).energy().total_nj() - before.1;
        let milliwatts = 1000 * used / u128::from((host.now() - before.0).0).max(1);
        drive = host.into_drive();
        match warmer(&drive, milliwatts as u64) {
            Some(millicelsius) => drive.warm_to(millicelsius),
            None => break,
        }
    }
    Ok(drive)
}

/// Writes `count` slots at random.
fn overwrite(host: &mut Devices, rng: &mut Rng, slots: u64, count: u64) {
    let mut issued = 0;
    host.keep(DEPTH, Nanos::MAX, &mut || {
        issued += 1;
        (issued <= count).then(|| Command::write(rng.below(slots) * u64::from(RANDOM), RANDOM))
    });
}

/// Temperature, mC, to which a drive with this draw would warm up, or that of the next step of
/// throttling, which changes the draw. Simulating the way there would take minutes. `None` when it
/// is as warm as it gets.
fn warmer(drive: &Drive, milliwatts: u64) -> Option<u64> {
    let (config, heat) = (drive.config().heat.as_ref()?, drive.heat()?);
    let settled = drive.equilibrium_millicelsius(milliwatts)?;
    let steps = config.steps().map(|step| u64::from(step.at_c) * 1000);
    let next = steps.get(heat.throttle as usize).copied();
    let to = next.map_or(settled, |next| next.min(settled));
    (to > heat.millicelsius).then_some(to)
}
