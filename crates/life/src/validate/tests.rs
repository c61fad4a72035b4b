//! Are documented rates read as the drive's own, measured, and held to their limit?

use super::measure::is_steady;
use super::*;
use ssdlab_drives::catalogue;
use std::sync::atomic::AtomicBool;

#[test]
fn a_state_is_steady_when_neither_rate_nor_waf_moves() {
    let flat = [10.0; 6];
    assert!(is_steady(&flat, &flat));
    assert!(!is_steady(&flat[..4], &flat[..4]), "too few rounds");
    assert!(!is_steady(&flat, &[3.0, 3.0, 3.02, 3.04, 3.06, 3.08]));
    assert!(!is_steady(&[10.0, 10.0, 9.0, 10.0, 11.1, 10.0], &flat));
}

/// The sheet of 200 GB says 365 MB/s, that of 100 GB about 200: a rate belongs to a capacity.
#[test]
fn a_member_of_a_family_inherits_no_rate() {
    let drive = catalogue::drive("intel-dc-s3700-100gb").unwrap();
    let own = documented(&drive).unwrap();
    assert_eq!(own.len(), 1, "{own:?}");
    assert_eq!(own[0].figure, DatasheetFigure::RandomWrite);
}

/// The X25-E has ten channels of SLC behind a link of 3 Gb/s: what the model does by arithmetic.
#[test]
fn a_rate_is_the_models_and_twice_the_sheet_does_not_hold() {
    let mut drive = catalogue::drive("intel-x25e-64gb").unwrap();
    let go = AtomicBool::new(false);
    let found = validate(&drive, 64 << 20, 1, &go).unwrap();
    assert!(ssdlab_base::check::failures(&found.checks).is_empty());
    let ours = |found: &Validation| {
        found
            .rows
            .iter()
            .find(|r| r.documented.figure == DatasheetFigure::SequentialRead)
            .unwrap()
            .clone()
    };
    let read = ours(&found);
    assert!(
        read.ours <= drive.config.host.link_bytes_per_second as f64,
        "{read:?}"
    );
    for (share, holds) in [(1.0, true), (2.0, false), (0.5, false)] {
        let sheet = drive.file.documented.sequential_read.as_mut().unwrap();
        sheet.value = format!("{} B/s", (read.ours * share).round());
        let again = ours(&validate(&drive, 64 << 20, 1, &go).unwrap());
        assert_eq!(again.ours, read.ours);
        assert_eq!(again.holds(), holds, "{again:?}");
    }
}

/// The table is what the model gives today: all figures of all drives are in it, and those of a few
/// are measured again as the table's were.
#[test]
fn the_checked_in_table_is_current() {
    let go = AtomicBool::new(false);
    let rows_of = |name: &str| -> Vec<&str> {
        let prefix = format!("{name},");
        let rows = catalogue::VALIDATED.lines();
        rows.filter(|row| row.starts_with(&prefix)).collect()
    };
    for name in catalogue::names().unwrap() {
        let drive = catalogue::drive(&name).unwrap();
        let of = |d: DocumentedFigure| {
            let fitted = if d.fitted { "yes" } else { "no" };
            format!("{name},{},{:.0},{fitted}", d.figure.key(), d.value)
        };
        let expected: Vec<String> = documented(&drive).unwrap().into_iter().map(of).collect();
        let short = |row: &&str| {
            let cells: Vec<&str> = row.split(',').collect();
            format!("{},{},{},{}", cells[0], cells[1], cells[2], cells[5])
        };
        let listed: Vec<String> = rows_of(&name).iter().map(short).collect();
        assert_eq!(listed, expected, "run `ssdlab drives validate --write`");
    }
    for name in ["intel-x25e-32gb", "intel-dc-s3700-400gb"] {
        let drive = catalogue::drive(name).unwrap();
        let found = validate(&drive, 4 << 30, 1, &go).unwrap();
        let now = table(&[found]);
        let now: Vec<&str> = now.lines().skip(1).collect();
        assert_eq!(rows_of(name), now, "run `ssdlab drives validate --write`");
    }
}

#[test]
fn the_page_draws_a_family_over_its_capacities_and_no_drive_alone() {
    let of = |drive: &str, value: f64| Validation {
        drive: drive.into(),
        scaled: String::new(),
        rows: vec![ValidationRow {
            documented: DocumentedFigure {
                figure: DatasheetFigure::RandomWrite,
                value,
                kind: Provenance::Datasheet,
                source: String::new(),
                fitted: false,
            },
            ours: 1.5 * value,
            null: value,
            steady: Some(true),
            factor: None,
        }],
        checks: Vec::new(),
    };
    let charts = |all: &[Validation]| page(all).unwrap().matches("data-chart=").count();
    let [small, large] = [("100", 19e3), ("200", 32e3)];
    let [small, large] =
        [small, large].map(|(gb, rate)| of(&format!("intel-dc-s3700-{gb}gb"), rate));
    let alone = charts(std::slice::from_ref(&small));
    let all = page(&[small, large]).unwrap();
    assert_eq!((alone, all.matches("data-chart=").count()), (0, 1));
    assert!(all.contains("random write over user capacity") && all.contains("+50 %"));
}
