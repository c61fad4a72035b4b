//! What is put before the detector: volumes drawn from seeds, and drives that fall off a cliff.

use ssdlab_bench::device::{ModelledTarget, Target, TargetFacts, TargetKind, VolumeTarget};
use ssdlab_bench::engine::{self, Unobserved};
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Drive, Nanos};
use ssdlab_volume::{
    AccountRates, AccountUnit, LatencyTail, MergeRule, VolumeConfig, VolumeLimits,
};
use std::sync::atomic::AtomicBool;

/// The truth of a volume.
#[derive(Clone, Debug)]
pub enum Truth {
    /// An account in this unit.
    Account(AccountUnit, AccountRates),
    /// A limit in this unit.
    Limit(AccountUnit, u64),
    /// No limit within reach.
    None,
    /// A drive.
    Drive(&'static str),
}

/// Drives of the catalogue that fall, each of another kind.
pub const DRIVES: [&str; 6] = [
    "consumer-sata-1tb",
    "consumer-sata-1tb-plp",
    "intel-dc-s3700-100gb",
    "patriot-wildfire-120gb",
    "intel-320-160gb",
    "intel-dc-s3700-400gb",
];

/// Beyond the reach of 32 commands outstanding.
const WIDE: u64 = 1 << 40;

/// From `low` to `high`, evenly in ratio.
fn ratio(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(rng.below(10_001) as f64 / 10_000.0)
}

fn config(seed: u64, operations: AccountRates, bytes: AccountRates, rng: &mut Rng) -> VolumeConfig {
    let p50_ns = ratio(rng, 200_000.0, 1_500_000.0) as u64;
    let tail = LatencyTail {
        p50_ns,
        p99_ns: p50_ns * 17 / 10,
        p999_ns: p50_ns * 5 / 2,
        max_ns: p50_ns * 6,
    };
    VolumeConfig {
        name: format!("drawn {seed}"),
        title: "drawn".into(),
        bytes: 8 << 30,
        operation_bytes: 256 << 10,
        charges_whole: false,
        merge: MergeRule::Queued,
        volume: VolumeLimits { operations, bytes },
        instance: None,
        window: Nanos::from_millis(rng.below(200)),
        read: tail,
        write: tail,
        flush: LatencyTail::constant(35_000),
        transfer_kib: Nanos(1000),
        first_touch: None,
        credit_permille: 1000,
        seed,
    }
}

/// An account that is spent within 20 s to 4 min.
fn account(rng: &mut Rng, low: f64, high: f64) -> AccountRates {
    let base = ratio(rng, low, high);
    let burst = base * ratio(rng, 1.5, 12.0);
    let lasts_s = ratio(rng, 40.0, 240.0);
    let credit = (burst - base) * lasts_s;
    AccountRates::bursting(base as u64, burst as u64, credit as u64)
}

/// The volume of a seed, or the drive.
pub fn drawn(seed: u64) -> (Truth, Option<VolumeConfig>) {
    let mut rng = Rng::named(seed, "blind volumes");
    let wide = AccountRates::constant(WIDE);
    match seed % 12 {
        0..=3 => {
            let rates = account(&mut rng, 100.0, 1000.0);
            let mut config = config(seed, rates, wide, &mut rng);
            if seed.is_multiple_of(3) {
                // An instance whose limits do not bind.
                let limits = VolumeLimits {
                    operations: AccountRates::constant(rates.burst * 3),
                    bytes: wide,
                };
                config.instance = Some(("instance".into(), limits));
            }
            (Truth::Account(AccountUnit::Operations, rates), Some(config))
        }
        4 | 5 => {
            let rates = account(&mut rng, 1e6, 4e6);
            let config = config(seed, wide, rates, &mut rng);
            (Truth::Account(AccountUnit::Bytes, rates), Some(config))
        }
        6 | 7 => {
            let rate = ratio(&mut rng, 100.0, 6000.0) as u64;
            let config = config(seed, AccountRates::constant(rate), wide, &mut rng);
            (Truth::Limit(AccountUnit::Operations, rate), Some(config))
        }
        8 => {
            let rate = ratio(&mut rng, 2e6, 30e6) as u64;
            let config = config(seed, wide, AccountRates::constant(rate), &mut rng);
            (Truth::Limit(AccountUnit::Bytes, rate), Some(config))
        }
        9 => (Truth::None, Some(config(seed, wide, wide, &mut rng))),
        _ => {
            let index = (seed / 12 * 2 + seed % 2) as usize % DRIVES.len();
            (Truth::Drive(DRIVES[index]), None)
        }
    }
}

/// The volume as a target.
pub fn volume(config: VolumeConfig) -> VolumeTarget {
    VolumeTarget::new(config, None).expect("it has a size")
}

/// A drive of the catalogue made smaller, filled once.
pub fn drive(name: &str) -> ModelledTarget {
    let listed = catalogue::open(name).expect("it is in the catalogue");
    let small = scaled(&listed.config, 1 << 30).expect("it can be scaled");
    let facts = TargetFacts {
        capacity: small.config.user_bytes,
        ..TargetFacts::unknown(name.to_owned(), TargetKind::Modelled)
    };
    let drive = Drive::new(small.config).expect("it is valid");
    let mut target = ModelledTarget::around(drive, facts);
    let fill = WorkloadPlan::fill(target.facts().capacity);
    let stop = AtomicBool::new(false);
    engine::run(&fill, &mut target, &mut Unobserved, &stop).expect("it is filled");
    target
}
