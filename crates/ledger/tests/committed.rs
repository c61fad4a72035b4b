//! The ledger that comes with ssdlab can be read and holds to the laws.

use ssdlab_ledger::Ledger;

#[test]
fn every_file_is_read_and_every_law_holds() {
    let ledger = Ledger::parse(Ledger::files()).expect("every file is read");
    let breaches = ledger.check();
    let shown: Vec<String> = breaches.iter().map(ToString::to_string).collect();
    assert!(breaches.is_empty(), "{}", shown.join("\n"));
    assert!(ledger.all_rows().len() >= 1568);
}

#[test]
fn the_families_kept_apart_are_those_that_the_draw_gives() {
    let ledger = Ledger::open();
    let apart = ledger.apart();
    assert_eq!(apart.families, apart.drawn(ledger.all_rows()));
    assert!(!apart.families.is_empty());
}
