//! Write amplification of drives in service, on a drive without time.
//!
//! Which data moves does not depend on how long anything takes, and many drives are alike once they
//! are made smaller. So each layout runs once in a program, whatever the times of its drives are.

use crate::run::MODEL_BYTES;
use crate::untimed::{FILL_BLOCK, UntimedRig};
use ssdlab_base::LabError;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::{Command, DriveConfig, Nanos};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// What a drive in service is assumed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceLoad {
    /// The whole drive in order.
    InOrder,
    /// 16 KiB, 80 % of the writes to 20 % of three quarters of the drive; the rest is trimmed.
    HotAndCold,
    /// 4 KiB over all of it.
    Uniform,
}

/// Write amplification by layout and load.
static WAFS: LazyLock<Mutex<HashMap<(String, ServiceLoad), f64>>> = LazyLock::new(Mutex::default);

/// Write amplification of a drive of `config`, made smaller, under a load.
///
/// # Errors
/// When so small a drive cannot be made of its parts.
pub fn waf(config: &DriveConfig, load: ServiceLoad) -> Result<f64, LabError> {
    let small = scaled(config, MODEL_BYTES)?.config;
    let key = (layout(&small), load);
    let known = |key| {
        let wafs = WAFS.lock().unwrap_or_else(PoisonError::into_inner);
        wafs.get(key).copied()
    };
    if let Some(waf) = known(&key) {
        return Ok(waf);
    }
    let waf = run(UntimedRig::new(small)?, load);
    let mut wafs = WAFS.lock().unwrap_or_else(PoisonError::into_inner);
    wafs.insert(key, waf);
    Ok(waf)
}

/// What decides which data moves: the configuration without names, times and energy.
fn layout(config: &DriveConfig) -> String {
    let DriveConfig {
        shape,
        user_bytes,
        ftl,
        buffer,
        wear,
        ..
    } = config;
    let mut buffer = buffer.clone();
    (buffer.flush_time, buffer.fua_time, buffer.fua_at_once) = (Nanos(0), Nanos(0), 0);
    format!("{shape:?} {user_bytes} {ftl:?} {buffer:?} {wear:?}")
}

fn run(mut rig: UntimedRig, load: ServiceLoad) -> f64 {
    let user = rig.user();
    rig.in_order(0, Command::write);
    match load {
        ServiceLoad::InOrder => rig.waf_of(|rig| rig.in_order(0, Command::write)),
        ServiceLoad::Uniform => rig.overwrite(4096, |rng, slots| rng.below(slots)),
        ServiceLoad::HotAndCold => {
            let used = user / 4 * 3 / u64::from(FILL_BLOCK) * u64::from(FILL_BLOCK);
            rig.in_order(used, Command::trim);
            rig.overwrite(16 << 10, |rng, slots| {
                let slots = (u128::from(slots) * u128::from(used) / u128::from(user)) as u64;
                let hot = slots / 5;
                if rng.percent(80) {
                    rng.below(hot)
                } else {
                    hot + rng.below(slots - hot)
                }
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a shorter program would change is a rate, not which data moves.
    #[test]
    fn drives_that_differ_in_times_have_one_layout() {
        let drive = ssdlab_drives::catalogue::drive("samsung-pm983-960gb").unwrap();
        let mut quick = drive.config.clone();
        quick.buffer.fua_time = Nanos::from_micros(50);
        quick.host.moved_slot = Nanos(1);
        assert_eq!(layout(&drive.config), layout(&quick));
        let mut spared = drive.config.clone();
        spared.user_bytes -= 1 << 30;
        assert_ne!(layout(&drive.config), layout(&spared));
    }

    #[test]
    fn in_order_moves_nothing_and_uniform_moves_most() {
        let drive = ssdlab_drives::catalogue::drive("samsung-pm983-960gb").unwrap();
        let waf = |load| waf(&drive.config, load).unwrap();
        let order = waf(ServiceLoad::InOrder);
        let middle = waf(ServiceLoad::HotAndCold);
        let most = waf(ServiceLoad::Uniform);
        assert!(
            order < 1.1 && order < middle && middle < most,
            "{order} {middle} {most}"
        );
    }
}
