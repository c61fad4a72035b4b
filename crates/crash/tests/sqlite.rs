//! Does SQLite on a crash disk keep what its documentation says of each setting, and lose what it
//! says may be lost?

#[allow(dead_code)]
#[path = "../examples/sqlite.rs"]
mod example;

use ssdlab_crash::Blame;

#[test]
fn every_setting_keeps_what_its_authors_promise_and_no_more() {
    for (settings, expected) in example::SETTINGS {
        match (example::campaign(settings), expected) {
            (Ok(cuts), None) => assert!(cuts > 100, "{settings} {cuts} cuts"),
            (Err(failure), Some(said)) => {
                assert_eq!(failure.blame, Blame::Program, "{settings} {failure}");
                assert!(failure.to_string().contains(said), "{settings} {failure}");
            }
            (seen, _) => panic!("{settings} {seen:?}"),
        }
    }
}
