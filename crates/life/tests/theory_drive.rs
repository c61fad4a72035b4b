//! Does the modelled drive amplify writes as theory says: against closed forms where there are
//! any, against the reference simulator where there are none?
//!
//! The usual suite; `SSDLAB_THEORY=full` runs all of it, as `ssdlab theory --full` does, and
//! `SSDLAB_THEORY=short`, as `tests/all.sh` sets, every fifth case of the usual one.

use ssdlab_life::theory::report::TheoryRow;
use ssdlab_life::theory::suite::{self, TheoryCase};
use std::sync::atomic::AtomicBool;

#[test]
fn the_drive_agrees_with_theory() {
    let choice = std::env::var("SSDLAB_THEORY").unwrap_or_default();
    let mut cases = suite::cases(choice == "full");
    if choice == "short" {
        // Every fifth: each policy, and each load, is among them.
        cases = cases.into_iter().step_by(5).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let stop = AtomicBool::new(false);
    let rows = suite::run(&cases, threads, &stop, TheoryCase::measure_drive, |_| ()).unwrap();
    assert_eq!(rows.len(), cases.len(), "every case was measured");
    let misses: Vec<&TheoryRow> = rows.iter().filter(|row| !row.agrees()).collect();
    assert!(misses.is_empty(), "{misses:#?}");
}

/// Canary: the tolerance can tell one superblock of a thousand.
#[test]
fn a_drive_with_other_spare_area_is_noticed() {
    let case = &suite::cases(false)[0];
    let mut other = case.clone();
    other.setup.logical_pages += 2 * other.setup.np;
    let measured = match other.drive() {
        Ok(mut drive) => other.measure(&mut drive),
        Err(error) => panic!("{error}"),
    };
    assert!(!case.row(measured).agrees(), "{:?}", case.row(measured));
}
