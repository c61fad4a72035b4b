//! The ledger that comes with ssdlab can be read and holds to the laws.

use ssdlab_ledger::Ledger;
use std::collections::BTreeSet;

#[test]
fn every_file_is_read_and_every_law_holds() {
    let ledger = Ledger::parse(Ledger::files()).expect("every file is read");
    let breaches = ledger.check();
    let shown: Vec<String> = breaches.iter().map(ToString::to_string).collect();
    assert!(breaches.is_empty(), "{}", shown.join("\n"));
    assert!(ledger.all_rows().len() >= 2500);
}

#[test]
fn the_families_kept_apart_are_those_that_the_draws_give() {
    let ledger = Ledger::open();
    let families = ledger.families();
    let mut taking_part = BTreeSet::new();
    for draw in &ledger.apart().draws {
        assert_eq!(draw.families, draw.drawn(), "seed {}", draw.seed);
        for family in &draw.among {
            assert!(families.contains(family.as_str()), "{family} has no rows");
            assert!(taking_part.insert(family), "{family} is drawn twice");
        }
    }
    assert!(ledger.apart().families().len() >= 12);
    assert!(ledger.is_apart("samsung-990-pro"));
}
