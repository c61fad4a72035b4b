//! Does every drive keep its promises when its power is cut at any instant, and is every named
//! fault found, and nothing found where there is none?
//!
//! Random commands on tiny drives of every kind, cut at random times: inside programs, erases,
//! reclaim, folding, journal writes, checkpoints, and during recovery itself. After every recovery
//! the drive checks itself and the oracle looks at every sector. `SSDLAB_CUTS=N` sets the number of
//! cuts on honest drives; a million in full:
//! `SSDLAB_CUTS=1000000 cargo test --release -p ssdlab-ssd --test cuts -- --nocapture`.

#[path = "../kinds/mod.rs"]
mod kinds;
mod rig;

use rig::{Found, Rig};
use ssdlab_ssd::DriveConfig;

/// Cuts on honest drives unless `SSDLAB_CUTS` says otherwise.
const CUTS: u64 = 3_000;

fn cuts_wanted() -> u64 {
    let given = std::env::var("SSDLAB_CUTS").ok();
    given.map_or(CUTS, |given| given.parse().expect("SSDLAB_CUTS is a number"))
}

fn all() -> Vec<DriveConfig> {
    kinds::all()
}

#[test]
fn an_honest_drive_never_breaks_a_promise() {
    let configs = all();
    let each = cuts_wanted().div_ceil(configs.len() as u64);
    let mut total = Found::default();
    for (index, config) in configs.iter().enumerate() {
        let mut seed = index as u64;
        let mut left = each;
        while left > 0 {
            let found = Rig::new(config, seed, &[]).run(left.min(40));
            assert_eq!(found.broken, 0, "{:?}", found.first);
            left -= left.min(found.cuts);
            seed += 1000;
            total.add(&found);
        }
    }
    println!("{total:?}");
}
