//! Does a longer look give the same answer? The table of `tests/verdicts.sh`, and one drive again.
//! What do the roles say of the kept drives, and what did they say before?

use ssdlab_base::parallel;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::catalogue;
use ssdlab_judge::qualify::evidence::RequirementShare;
use ssdlab_judge::qualify::{
    QualifyOutcome, QualifyPlan, QualifyProfile, RoleFinding, RoleVerdict, SilentProgress, compare,
    judge, qualify, references, role, roles,
};
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

/// No verdict on a kept drive passes unless more than nine of ten of its drawn drives do; the share
/// that is counted here is that of the file, not of the finding.
#[test]
fn no_verdict_is_a_pass_whose_ensemble_passes_below_nine_tenths() {
    let mut shares = 0;
    for drive in references::kept().unwrap() {
        let Some(ensemble) = &drive.evidence.ensemble else {
            continue;
        };
        let mut alone = drive.evidence.clone();
        alone.ensemble = None;
        for role in roles() {
            let [own, verdict] = [&alone, &drive.evidence].map(|evidence| judge(role, evidence));
            let of_role = |share: &&RequirementShare| share.role == role.name;
            for share in ensemble.shares.iter().filter(of_role) {
                let outcome = |verdict: &RoleVerdict| {
                    let mut findings = verdict.findings.iter();
                    let finding = findings.find(|f| f.id == share.requirement);
                    finding.expect("a finding of each requirement").outcome
                };
                let needed = 0.9 * f64::from(ensemble.members);
                let by_share = match (f64::from(share.met), f64::from(share.missed)) {
                    (met, _) if met > needed => QualifyOutcome::Pass,
                    (_, missed) if missed > needed => QualifyOutcome::Fail,
                    _ => QualifyOutcome::Unknown,
                };
                let expected = if outcome(&own) == by_share {
                    by_share
                } else {
                    QualifyOutcome::Unknown
                };
                assert_eq!(outcome(&verdict), expected, "{share:?}");
                shares += 1;
            }
        }
    }
    assert!(shares > 100, "{shares} shares");
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

/// Answers on the kept drives before a role had a load of its own, with the *musts* that were
/// missed and those not known.
const BEFORE: &str = include_str!("../../../drives/verdicts-before.csv");
const PAGE: &str = "docs/roles.md";
const DRAWN: &str = "\n## 4.10 Answers that rest on drawn constants\n";
const SECTION: &str = "## 4.9 Answers on the kept drives\n";

struct AnswerBefore<'a> {
    answer: &'a str,
    /// Requirements that were missed, or else those that were not known.
    reasons: &'a str,
}

fn before(drive: &str, role: &str) -> Option<AnswerBefore<'static>> {
    let start = format!("{drive},{role},");
    let rest = BEFORE.lines().find_map(|row| row.strip_prefix(&start))?;
    let cells: Vec<&str> = rest.split(',').collect();
    let reasons = if cells[1].is_empty() {
        cells[2]
    } else {
        cells[1]
    };
    Some(AnswerBefore {
        answer: cells[0],
        reasons,
    })
}

fn held(f: &RoleFinding) -> String {
    let need = if f.hard { "must" } else { "should" };
    let outcome = compare::outcome(f.outcome).1;
    let surplus = f.why.find("It does no harm").map(|at| &f.why[at..]);
    let surplus = surplus.map_or(String::new(), |why| {
        format!(". {}", why.trim_end_matches('.'))
    });
    let drawn = f
        .ensemble
        .as_ref()
        .map(|drawn| format!("; {}", drawn.clause()));
    let drawn = drawn.unwrap_or_default();
    format!(
        "{}: {} ({}, {need}, {outcome}{drawn}){surplus}",
        f.title, f.value, f.limit
    )
}

/// The answers that draws of assumed constants change.
fn drawn() -> String {
    let kept = references::kept().unwrap();
    let (mut rows, mut changed, mut all) = (String::new(), 0, 0);
    let drives = kept
        .iter()
        .filter(|drive| drive.evidence.ensemble.is_some());
    for drive in drives.clone() {
        let name = drive.evidence.facts.name.trim_start_matches("drive:");
        let mut alone = drive.evidence.clone();
        alone.ensemble = None;
        for role in roles() {
            let [before, now] = [&alone, &drive.evidence].map(|e| judge(role, e));
            all += 1;
            if before.outcome == now.outcome {
                continue;
            }
            changed += 1;
            let [from, to] = [&before, &now].map(|v| compare::outcome(v.outcome).1);
            let pairs = before.findings.iter().zip(&now.findings);
            let opened = pairs.filter(|(was, is)| is.hard && was.outcome != is.outcome);
            let opened: Vec<String> = opened.map(|(_, is)| held(is)).collect();
            assert!(
                !opened.is_empty(),
                "{name}, {}: a finding has changed",
                role.name
            );
            let why = opened.join("; ");
            rows += &format!("| {name} | {} | {from} | {to} | {why} |\n", role.name);
        }
    }
    let drives = drives.count();
    format!(
        "{DRAWN}\nOf {drives} of these drives the file assumes all that a commit costs. Nine \
         drives with draws of it, as\nmeasured drives of the ledger have it, leave open {changed} \
         of their {all} answers, and turn none round.\nThe value is that of the file's own \
         constants, which are the tenth drive.\n\n\
         | drive | role | without draws | with | musts that are open |\n\
         |---|---|---|---|---|\n{rows}"
    )
}

/// What became of the findings that had decided, and which decides now.
fn reason(before: &AnswerBefore<'_>, verdict: &RoleVerdict) -> String {
    let mut findings = verdict.findings.iter();
    let mut finding = |id: &str| findings.clone().find(|f| f.id == id);
    let were: Vec<&RoleFinding> = before.reasons.split(' ').filter_map(&mut finding).collect();
    let decides = findings.find(|f| f.hard && f.outcome == verdict.outcome);
    let decides = decides.filter(|_| verdict.outcome != QualifyOutcome::Pass);
    let decides = decides.filter(|f| !were.iter().any(|were| were.id == f.id));
    let all = were.into_iter().chain(decides).map(held);
    all.collect::<Vec<String>>().join("; ")
}

/// The section of answers, before and now.
fn section() -> String {
    let kept = references::kept().unwrap();
    let names: Vec<&str> = roles().iter().map(|role| role.name.as_str()).collect();
    let mut table = format!(
        "| drive | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let (mut changes, mut changed, mut count) = (String::new(), 0, 0);
    for drive in &kept {
        let name = drive.evidence.facts.name.trim_start_matches("drive:");
        let mut cells = vec![name.to_owned()];
        for role in roles() {
            let verdict = judge(role, &drive.evidence);
            let answer = compare::outcome(verdict.outcome).1;
            count += 1;
            cells.push(match before(name, &role.name) {
                Some(before) if before.answer != answer => {
                    changed += 1;
                    let why = reason(&before, &verdict);
                    let from = before.answer;
                    changes += &format!("| {name} | {} | {from} | {answer} | {why} |\n", role.name);
                    format!("{from}, now **{answer}**")
                }
                _ => answer.to_owned(),
            });
        }
        table += &format!("| {} |\n", cells.join(" | "));
    }
    format!(
        "{SECTION}\n\
         Each validated drive of the catalogue and each role: the answer of the quick profile, and \
         what it\nwas before roles had loads of their own and limits named the harm beyond them. \
         Of {count} answers,\n{changed} changed; `etcd` is new. Written by `UPDATE_VERDICTS=1 \
         cargo test -p ssdlab-judge --test\nverdicts`.\n\n{table}\n\
         What changed, and why: the findings that decided before, as they are now, and the one \
         that decides\nnow.\n\n\
         | drive | role | before | now | findings |\n|---|---|---|---|---|\n{changes}"
    )
}

#[test]
fn the_answers_in_the_guide_are_what_the_roles_say_now() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let start = page.find(SECTION).unwrap_or(page.len());
    let (guide, kept) = page.split_at(start);
    let section = section() + &drawn();
    if std::env::var_os("UPDATE_VERDICTS").is_some() {
        std::fs::write(&path, format!("{guide}{section}")).unwrap();
        return;
    }
    let differs = kept.lines().zip(section.lines()).find(|(a, b)| a != b);
    assert!(
        kept == section,
        "UPDATE_VERDICTS=1 writes the end of {PAGE} again: {differs:?}"
    );
}
