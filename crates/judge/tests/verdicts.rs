//! Does a longer look give the same answer? The table of `tests/verdicts.sh`, and one drive again.

use ssdlab_base::parallel;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::catalogue;
use ssdlab_judge::qualify::{QualifyPlan, QualifyProfile, SilentProgress, compare, qualify, role};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

const TABLE: &str = include_str!("../../../drives/verdicts.csv");
const PROFILES: [&str; 3] = ["quick", "standard", "full"];

/// Answers by drive and role, one for each profile that was measured.
fn answers(table: &str) -> BTreeMap<(String, String), [Option<String>; 3]> {
    let mut found: BTreeMap<_, [Option<String>; 3]> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let profile = PROFILES
            .iter()
            .position(|name| *name == cells[2])
            .expect(row);
        let key = (cells[0].to_owned(), cells[1].to_owned());
        found.entry(key).or_default()[profile] = Some(cells[3].to_owned());
    }
    found
}

/// What contradicts another profile: a shorter one may leave open what a longer one decides.
fn contradictions(table: &str) -> Vec<String> {
    let mut found = Vec::new();
    for ((drive, role), by_profile) in answers(table) {
        let known: Vec<&String> = by_profile.iter().flatten().collect();
        for pair in known.windows(2) {
            if pair[0] != pair[1] && pair[0] != "UNKNOWN" {
                found.push(format!("{drive}, {role}: {} then {}", pair[0], pair[1]));
            }
        }
    }
    found
}

#[test]
fn no_longer_profile_contradicts_a_shorter_one() {
    assert_eq!(contradictions(TABLE), [""; 0]);
    // Canaries: the law can be broken.
    let broken = |a: &str, b: &str| {
        let rows = format!("head\nd,slog,quick,{a}\nd,slog,full,{b}\n");
        contradictions(&rows).len()
    };
    assert_eq!([broken("PASS", "FAIL"), broken("FAIL", "PASS")], [1, 1]);
    assert_eq!([broken("UNKNOWN", "FAIL"), broken("PASS", "PASS")], [0, 0]);
}

#[test]
fn rows_are_drives_of_the_catalogue_and_drives_that_feed_on_their_map_never_pass() {
    let names = catalogue::names().unwrap();
    let all = answers(TABLE);
    assert!(all.len() >= 2 * 15, "{} rows", all.len());
    for ((drive, role), by_profile) in &all {
        assert!(names.contains(drive), "{drive}");
        let passes = by_profile.iter().flatten().any(|answer| answer == "PASS");
        assert!(
            !(passes && drive.starts_with("intel-320")),
            "{drive} {role}"
        );
    }
}

/// The drive whose standard profile costs least, measured again: the table is this build's.
#[test]
fn a_drive_measured_again_gives_the_answers_of_the_table() {
    let drive = "intel-x25e-32gb";
    let measured = |profile: &QualifyProfile| {
        let plan = QualifyPlan {
            profile: *profile,
            ..QualifyPlan::new(Some(TargetName::Drive(drive.to_owned())), role("slog")?)
        };
        let found = qualify(&plan, &mut SilentProgress, &AtomicBool::new(false))?;
        Ok(compare::outcome(found.target.verdict.outcome).1.to_owned())
    };
    let found = parallel::all(
        &[QualifyProfile::Quick, QualifyProfile::Standard],
        2,
        measured,
    )
    .unwrap();
    let kept = &answers(TABLE)[&(drive.to_owned(), "slog".to_owned())];
    assert_eq!(found.into_iter().map(Some).collect::<Vec<_>>(), kept[..2]);
}
