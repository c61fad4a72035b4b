//! Are the kept figures those of this build, and are the right drives chosen?

use super::super::{Assessment, QualifyPlan, SilentProgress, qualify, role, roles};
use super::*;
use crate::qualify::kept_ensembles::config_hash;
use std::sync::atomic::AtomicBool;

fn measured(name: &str) -> String {
    let target = Some(TargetName::Drive(name.to_owned()));
    let plan = QualifyPlan::new(target, role("general").unwrap());
    let found = qualify(&plan, &mut SilentProgress, &AtomicBool::new(false)).unwrap();
    line(name, found.target.evidence).unwrap()
}

fn name_of(drive: &ReferenceRecord) -> &str {
    drive.evidence.facts.name.trim_start_matches("drive:")
}

/// A drive that is not validated, or was changed since it was measured, may not be a reference.
#[test]
fn the_kept_drives_are_the_validated_ones_as_the_catalogue_has_them() {
    let kept = kept().unwrap();
    let names: Vec<&str> = kept.iter().map(name_of).collect();
    assert_eq!(names, names_kept().unwrap(), "{WRITE}");
    for drive in &kept {
        let now = config_hash(name_of(drive)).unwrap();
        assert_eq!(drive.config, now, "{}: {WRITE}", name_of(drive));
        let standing = DatasheetStanding::of(name_of(drive));
        assert_eq!(standing, DatasheetStanding::Validated, "{}", name_of(drive));
    }
}

const WRITE: &str = "run `ssdlab drives references --write drives/references.jsonl`";

/// One drive in full; `ssdlab drives references` compares all.
#[test]
fn a_kept_drive_measured_again_is_the_same_byte_for_byte() {
    let name = "sandforce-sf1200-120gb";
    assert!(
        kept_line(name) == Some(measured(name).as_str()),
        "{name}: {WRITE}"
    );
}

#[test]
fn a_drive_is_nearest_to_its_own_kind_and_never_beside_itself() {
    let role = role("slog").unwrap();
    for drive in kept().unwrap() {
        let target = TargetName::Drive(name_of(&drive).to_owned());
        let found = beside(role, &target, &drive.evidence).unwrap();
        let name = |d: &Assessment| d.evidence.facts.name.clone();
        let names: Vec<String> = found.iter().map(name).collect();
        assert!((4..=NEAREST + 2).contains(&names.len()), "{names:?}");
        assert!(!names.contains(&drive.evidence.facts.name), "{names:?}");
        if name_of(&drive) == "intel-dc-s3700-800gb" {
            assert_eq!(names[0], "drive:intel-dc-s3700-400gb");
        }
    }
}

/// What is kept of a run is enough for every requirement: nothing is unknown that was measured.
#[test]
fn every_role_has_a_best_and_a_worst_and_reads_the_kept_figures() {
    let none = Evidence::none(super::super::fixtures::protected().facts);
    let file = TargetName::Path("a-file".into());
    for role in roles() {
        // Nothing is near to a drive of which nothing is known.
        let found = beside(role, &file, &none).unwrap();
        assert_eq!(found.len(), 2, "{}", role.name);
        assert!(standing(role, &found[0]) > standing(role, &found[1]));
        for finding in found.iter().flat_map(|drive| &drive.verdict.findings) {
            assert!(
                !finding.why.contains("not measured"),
                "{}: {}",
                role.name,
                finding.why
            );
        }
    }
}
