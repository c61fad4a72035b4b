//! Twelve run directories on one page, some of them damaged.

use super::*;
use crate::qualify::{Assessment, fixtures, judge};
use ssdlab_bench::run_dir::FORMAT_VERSION;
use std::fs;

fn qualification(directory: &Path, name: &str, drive: &str, passes: bool) {
    let mut evidence = if passes {
        fixtures::protected()
    } else {
        fixtures::consumer()
    };
    evidence.facts.name = drive.to_owned();
    let q = Qualification {
        version: FORMAT_VERSION,
        role: "slog".into(),
        profile: "quick".into(),
        seed: 1,
        target: Assessment {
            verdict: judge(role("slog").unwrap(), &evidence),
            evidence,
        },
        references: Vec::new(),
        kept: None,
        incomplete: Vec::new(),
    };
    let path = directory.join(name);
    fs::create_dir(&path).unwrap();
    fs::write(
        path.join("qualification.json"),
        serde_json::to_string(&q).unwrap(),
    )
    .unwrap();
    fs::write(path.join("report.html"), "").unwrap();
}

/// Ten qualifications, one whose file was cut, and a directory that holds nothing.
fn twelve(directory: &Path) -> Vec<FleetRow> {
    for number in 0..10 {
        let drive = format!("drive:number-{number}");
        qualification(directory, &format!("run {number:02}"), &drive, number < 3);
    }
    qualification(directory, "run 10", "drive:cut", true);
    let cut = directory.join("run 10/qualification.json");
    let text = fs::read_to_string(&cut).unwrap();
    fs::write(&cut, &text[..text.len() / 2]).unwrap();
    fs::create_dir(directory.join("run 11")).unwrap();
    fleet(&[directory.to_owned()])
}

#[test]
fn twelve_directories_are_twelve_rows_and_damage_is_named_not_fatal() {
    let directory = tempfile::tempdir().unwrap();
    let rows = twelve(directory.path());
    assert_eq!(rows.len(), 12);
    assert_eq!(tally(&rows), "12 runs: 3 PASS, 7 FAIL, 2 cannot be read");
    let trouble = |at: usize| rows[at].trouble.clone().unwrap_or_default();
    assert!(
        trouble(10).contains("qualification.json"),
        "{}",
        trouble(10)
    );
    assert!(
        trouble(11).contains("run 11 has no run.json"),
        "{}",
        trouble(11)
    );
    let text = fleet_text(&rows);
    assert!(
        text.contains("run 11") && text.contains("run.json"),
        "{text}"
    );
    let missing = fleet(&[directory.path().join("none")]);
    assert!(
        missing[0]
            .trouble
            .as_ref()
            .is_some_and(|why| why.contains("does not exist"))
    );
}

#[test]
fn the_page_links_to_every_run_and_shows_the_deciding_number() {
    let directory = tempfile::tempdir().unwrap();
    let rows = twelve(directory.path());
    let page = fleet_page(&rows, &directory.path().join("pages/fleet.html"));
    assert_eq!(page.matches("href=\"./../run%20").count(), 12);
    assert!(page.contains("href=\"./../run%2000/report.html\""));
    assert!(
        page.contains("66 /s (&gt;= 700 /s)"),
        "the number that condemns"
    );
    assert!(page.contains("class=\"sortable\"") && page.contains("aria-sort"));
    let at = |head: &str| page.find(head).unwrap();
    assert!(at("Answer") < at("Decided by") && at("Durable writes/s") < at("Trouble"));
    // No run of these has a flush of its own: an empty column would take room from the others.
    assert!(!page.contains("Flush p50"));
}

#[test]
fn addresses_are_relative_and_escaped() {
    let below = |name: &str| PathBuf::from("runs").join(name);
    let from = |page: &str, target: &str| relative(&below(page), &below(target)).unwrap();
    assert_eq!(from("fleet.html", "b/report.html"), "./b/report.html");
    assert_eq!(from("x/fleet.html", "b c"), "./../b%20c");
    assert_eq!(from("fleet.html", "\"javascript:x"), "./%22javascript%3Ax");
}
