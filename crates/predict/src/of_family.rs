//! What the ledger says of a drive, as facts of a draft: `ssdlab drives new ledger:NAME`.

use crate::facts::{self, FactList};
use crate::model::{CAPACITY_SHARE, in_catalogue, is_crosspoint, protection, sheet_of};
use ssdlab_base::LabError;
use ssdlab_judge::qualify::by_others::none_called;
use ssdlab_ledger::Ledger;
use ssdlab_ledger::names::FamilyNames;
use ssdlab_ledger::row::LedgerDrive;
use ssdlab_life::draft::draft;
use std::collections::BTreeMap;

/// Where facts are from that the ledger has without a source.
const OF_CLASS: &str = "assumed: the ledger's general knowledge of the family";
/// Where the others are from.
const OF_SHEETS: &str = "makers' figures as the ledger has them, with their sources";
/// The catalogue's model of media that are written in place.
const IN_PLACE: &str = "intel-optane-p1600x-118gb";
/// Facts that no source gives with a figure.
const CLASS: [&str; 4] = ["interface", "protected", "cells", "map"];
/// Figures that drafts can do without, the doubtful ones first: latencies and ratings of another
/// capacity or firmware contradict rates, rates contradict the class.
const DOUBTFUL: [&[&str]; 3] = [
    &["random-read-latency", "write-latency", "read-latency"],
    &["mixed", "rated-writes", "raw"],
    &[
        "random-read",
        "random-write",
        "span",
        "sequential-read",
        "sequential-write",
    ],
];

/// Facts of a family of the ledger for a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyFacts {
    /// Pairs of key and value as `ssdlab drives new` takes them.
    pub facts: FactList,
    /// Figures that contradict the others.
    pub left_out: Vec<&'static str>,
}

/// Where a model of a family of the ledger comes from.
enum FamilyModel {
    /// A drive of the catalogue.
    Listed(&'static str),
    /// Media that are written in place have no draft.
    InPlace,
    /// Only arrays of such drives were measured.
    Unnamed,
    /// No row says a capacity.
    NoCapacity,
    /// These facts.
    Drafted(FamilyFacts),
}

/// The facts of the drive that `name` means, of this capacity in GB or of the one with most
/// figures.
///
/// # Errors
/// When the ledger has no such drive, knows no capacity of it, the catalogue has it, or its media
/// are not NAND.
pub fn facts_of_family(name: &str, capacity_gb: Option<f64>) -> Result<FamilyFacts, LabError> {
    let Some(family) = FamilyNames::open().family(name) else {
        return Err(none_called(name));
    };
    let (what, hint) = match model_of(family, capacity_gb) {
        FamilyModel::Drafted(facts) => return Ok(facts),
        FamilyModel::Listed(name) => (
            format!("the catalogue has a model of it, drive:{name}"),
            format!("take that: `ssdlab qualify drive:{name}`"),
        ),
        FamilyModel::InPlace => (
            format!("{family} has 3D XPoint, and a draft is of a drive with NAND"),
            format!("drive:{IN_PLACE} is a model of such media"),
        ),
        FamilyModel::Unnamed => (
            format!("the ledger only has figures of arrays with {family}"),
            "type its facts: `ssdlab drives new --help`".to_owned(),
        ),
        FamilyModel::NoCapacity => (
            format!("the ledger has no capacity of {family}"),
            format!("say which: `ssdlab drives new ledger:{family} capacity=960GB`"),
        ),
    };
    Err(LabError::refused(what, hint))
}

/// What to do about a drive of the ledger without one: a command that leads to a model, and what it
/// is, for the end of a sentence.
pub fn model_step(family: &str, role: &str) -> String {
    let command = format!("`ssdlab drives new ledger:{family}");
    match model_of(family, None) {
        FamilyModel::Listed(name) => {
            format!("its model: `ssdlab qualify drive:{name} --role {role}`")
        }
        FamilyModel::InPlace => {
            format!("a model of such media: `ssdlab qualify drive:{IN_PLACE} --role {role}`")
        }
        FamilyModel::Unnamed => "a model of its sheet: `ssdlab drives new --help`".to_owned(),
        FamilyModel::NoCapacity => {
            format!("a model of its sheet: {command} capacity=960GB` (put in its capacity)")
        }
        FamilyModel::Drafted(found) if found.facts.iter().any(|fact| fact.0 == "protected") => {
            format!("a model of its sheet: {command}`")
        }
        FamilyModel::Drafted(_) => {
            format!("a model of its sheet: {command} protected=no` (or yes)")
        }
    }
}

fn model_of(family: &str, capacity_gb: Option<f64>) -> FamilyModel {
    let ledger = Ledger::open();
    let drives: Vec<&LedgerDrive> = ledger
        .drive_rows()
        .map(|row| &row.drive)
        .filter(|drive| drive.family == family)
        .collect();
    let Some(first) = drives.first() else {
        return FamilyModel::Unnamed;
    };
    let Some(capacity_gb) = capacity_gb.or_else(|| usual_capacity(&drives)) else {
        return FamilyModel::NoCapacity;
    };
    let is_near = |drive: &&&LedgerDrive| {
        let own = drive.capacity_gb.unwrap_or(0.0);
        (own / capacity_gb - 1.0).abs() < CAPACITY_SHARE
    };
    let drive = LedgerDrive {
        capacity_gb: Some(capacity_gb),
        ..(**drives.iter().find(is_near).unwrap_or(first)).clone()
    };
    if let Some(listed) = in_catalogue(&drive, capacity_gb) {
        return FamilyModel::Listed(&listed.file.name);
    }
    if is_crosspoint(&drive) {
        return FamilyModel::InPlace;
    }
    let sheet = sheet_of(&drive, None, ledger.all_rows());
    FamilyModel::Drafted(drafted(class_of(&drive, capacity_gb), sheet))
}

/// The capacity that most figures are of; of equals the smallest.
fn usual_capacity(drives: &[&LedgerDrive]) -> Option<f64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for gb in drives.iter().filter_map(|drive| drive.capacity_gb) {
        *counts.entry(gb.round() as u64).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let usual = counts.into_iter().find(|(_, count)| *count == most)?;
    Some(usual.0 as f64)
}

/// Its class; what has no source says so. Whether its buffer is protected is left out where nobody
/// knows it.
fn class_of(drive: &LedgerDrive, capacity_gb: f64) -> FactList {
    let is_protected = protection(drive);
    let class = facts::class(drive, capacity_gb, is_protected.unwrap_or(false));
    let named = |(key, value): (&'static str, String)| match key {
        "name" => Some((key, format!("{}-{capacity_gb:.0}gb", drive.family))),
        "source" => Some((key, OF_SHEETS.to_owned())),
        "protected" if is_protected.is_none() => None,
        _ if CLASS.contains(&key) => Some((key, format!("{value}[{OF_CLASS}]"))),
        _ => Some((key, value)),
    };
    let mut named: FactList = class.into_iter().filter_map(named).collect();
    named.push(("title", format!("{} {}", drive.maker, drive.model)));
    named
}

/// Class and sheet, without the figures that contradict the rest.
fn drafted(class: FactList, mut sheet: FactList) -> FamilyFacts {
    let mut left_out = Vec::new();
    let mut doubtful = DOUBTFUL.iter();
    let is_draft = |sheet: &FactList| {
        let is_open = class.iter().all(|fact| fact.0 != "protected");
        let answer: FactList = is_open
            .then(|| ("protected", "no".into()))
            .into_iter()
            .collect();
        facts::facts(&[&class, sheet, &answer]).is_ok_and(|facts| draft(&facts).is_ok())
    };
    while !is_draft(&sheet) {
        let Some(keys) = doubtful.next() else {
            break;
        };
        let is_doubtful = |fact: &(&'static str, String)| keys.contains(&fact.0);
        left_out.extend(
            sheet
                .iter()
                .filter(|fact| is_doubtful(fact))
                .map(|fact| fact.0),
        );
        sheet.retain(|fact| !is_doubtful(fact));
    }
    let mut facts = class;
    facts.extend(sheet);
    FamilyFacts { facts, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict on a drive of the ledger ends with this step; it drafted a drive of 960 GB where
    /// others had measured one of 800 GB, and over PCIe 3.0 one that the ledger has as 5.0.
    #[test]
    fn every_family_of_the_ledger_has_a_draft_or_says_what_to_do() {
        let (mut drafts, mut refused) = (0, BTreeMap::new());
        for family in Ledger::open().families() {
            match facts_of_family(family, None) {
                Ok(found) => {
                    let answer: FactList = vec![("protected", "no".into())];
                    let is_open = found.facts.iter().all(|fact| fact.0 != "protected");
                    let answer = if is_open { answer } else { FactList::new() };
                    let facts = facts::facts(&[&found.facts, &answer]).expect(family);
                    draft(&facts).expect(family);
                    drafts += 1;
                }
                Err(error) => {
                    let leads = ["drive:", "drives new"];
                    let hint = error.hint();
                    assert!(
                        leads.iter().any(|lead| hint.contains(lead)),
                        "{error}: {hint}"
                    );
                    *refused.entry(error.to_string()).or_insert(0) += 1;
                }
            }
        }
        assert!(drafts > 170, "{drafts} drafts; {refused:?}");
    }

    #[test]
    fn a_draft_is_of_what_others_measured() {
        let value = |name: &str, key: &str| {
            let found = facts_of_family(name, None).expect(name);
            let mut facts = found.facts.into_iter();
            facts.find(|fact| fact.0 == key).map(|fact| fact.1)
        };
        assert_eq!(
            value("hgst-ssd1600mm", "capacity").as_deref(),
            Some("800GB")
        );
        let link = value("hgst-ssd1600mm", "interface").expect("a link");
        assert!(link.starts_with("sas[assumed"), "{link}");
        let error = facts_of_family("kioxia-cd8", None).expect_err("no capacity");
        assert!(error.to_string().contains("no capacity"), "{error}");
        let facts = facts_of_family("kioxia-cd8", Some(1920.0))
            .expect("facts")
            .facts;
        assert!(
            facts
                .iter()
                .any(|fact| fact.0 == "interface" && fact.1.starts_with("pcie5"))
        );
    }
}
