//! Does the modelled drive amplify writes as theory says: against closed forms where there are
//! any, against the reference simulator where there are none?
//!
//! The usual suite; `SSDLAB_THEORY=full` runs all of it, as `ssdlab theory --full` does, and
//! `SSDLAB_THEORY=short`, as `tests/all.sh` sets, every fifth case of the usual one. Beside it,
//! settings that a seed drew: 200 with `full`, 12 with `short`, else 40.

use ssdlab_life::theory::drawn::{self, TheoryErrors};
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

/// Seed of the drawn settings: none of them was run before the code that is held against them was
/// done.
const SEED: u64 = 2027;

/// What coalesces in the buffer is on neither side: theory has a buffer too.
#[test]
fn settings_that_a_seed_drew_agree_with_theory() {
    let choice = std::env::var("SSDLAB_THEORY").unwrap_or_default();
    let count = match choice.as_str() {
        "full" => 200,
        "short" => 12,
        _ => 40,
    };
    let cases = drawn::cases(SEED, count);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let stop = AtomicBool::new(false);
    let rows = suite::run(&cases, threads, &stop, TheoryCase::measure_drive, |_| ()).unwrap();
    let misses: Vec<&TheoryRow> = rows.iter().filter(|row| !row.agrees()).collect();
    assert!(misses.is_empty(), "{misses:#?}");
    let errors = TheoryErrors::of(&rows, |_| true);
    assert!(errors.rms <= RMS_MAX, "{errors:?}");
}

/// Root mean square of the errors of drawn settings.
const RMS_MAX: f64 = 0.0015;
