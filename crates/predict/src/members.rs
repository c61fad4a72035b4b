//! A drive with draws of the constants that its file assumes, for verdicts.
//!
//! ```text
//! file -> facts of its sheet and class -> a draft for each draw of the prior
//!      -> the file with those of the draft's constants that it only assumes
//! ```
//! What the file has from a sheet, a measurement or a fit stays: the draws are conditioned on it.
//! Drawn are the constants that a draft estimated from the ledger. Where a file assumes all that a
//! commit costs, all of it is taken from the drafts, times, programs and superblocks in SLC mode
//! together: a time that was estimated without programs would count twice beside assumed ones.
//! Shapes and other times of a file that is no draft are its own.

use crate::ensemble;
use crate::facts::{self, FactList};
use ssdlab_base::LabError;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::catalogue::{self, CatalogueDrive, CatalogueParameter, Provenance};
use ssdlab_drives::known::draft::open_drive;
use ssdlab_drives::settings::{DriveSetting, apply};
use ssdlab_judge::qualify::draws::DrawnDrives;
use ssdlab_judge::qualify::kept_ensembles as kept;
use ssdlab_life::draft::prior::{DraftPrior, PriorClass};
use ssdlab_life::draft::{DatasheetFacts, draft_with};
use std::collections::{BTreeMap, BTreeSet};

/// What the source of an estimated constant says.
const ESTIMATED: &str = "estimated from the ledger";
/// A limit that only some draws have; the others let all dies program.
const AT_ONCE: &str = "nand.programs_at_once";

/// Draws for the target of a qualification: none where it is no model, assumes nothing that the
/// prior knows, or its ensemble is kept.
pub fn drawn(target: &TargetName) -> DrawnDrives {
    let TargetName::Drive(name) = target else {
        return DrawnDrives::default();
    };
    if kept::kept(name).is_some() {
        return DrawnDrives::default();
    }
    // A drive that was saved or aged has no file, and is what it is.
    open_drive(name).map_or(DrawnDrives::default(), |drive| {
        draws(&drive, DraftPrior::built_in())
    })
}

/// The drive with each draw of `prior`.
pub fn draws(drive: &CatalogueDrive, prior: &DraftPrior) -> DrawnDrives {
    let Some(facts) = facts_of(drive, prior) else {
        return DrawnDrives::default();
    };
    let draws = ensemble::draws(prior, PriorClass::of(&facts));
    let drafts = draws.iter().filter_map(|constants| {
        let text = draft_with(&facts, constants).ok()?;
        catalogue::parse(&text, "draw.toml").ok()
    });
    let drafts: Vec<BTreeMap<String, CatalogueParameter>> =
        drafts.map(|draft| by_key(&draft)).collect();
    let keys = drawn_keys(drive, &drafts);
    let drives = drafts.iter().map(|draft| {
        let settings = keys.iter().map(|key| setting(drive, key, draft));
        let settings: Vec<DriveSetting> = settings.collect::<Result<_, LabError>>()?;
        let mut member = apply(drive, &settings)?;
        member.file.name.clone_from(&drive.file.name);
        Ok(member)
    });
    // Fewer than all of them would be another distribution.
    match drives.collect::<Result<Vec<CatalogueDrive>, LabError>>() {
        Ok(drives) if !keys.is_empty() => DrawnDrives {
            drives,
            constants: keys.into_iter().collect(),
            prior: prior.data.clone(),
        },
        _ => DrawnDrives::default(),
    }
}

fn by_key(drive: &CatalogueDrive) -> BTreeMap<String, CatalogueParameter> {
    let parameters = drive.parameters().into_iter();
    parameters
        .map(|parameter| (parameter.key.clone(), parameter))
        .collect()
}

fn is_of_commits(key: &str) -> bool {
    let others = [
        "ftl.slc_commit_superblocks",
        "buffer.flush_time",
        "buffer.fua_time",
        "buffer.fua_at_once",
    ];
    key.starts_with("ftl.commit") || others.contains(&key)
}

/// Keys of the file that the draws replace.
fn drawn_keys(
    drive: &CatalogueDrive,
    drafts: &[BTreeMap<String, CatalogueParameter>],
) -> BTreeSet<String> {
    let own = by_key(drive);
    let is_estimated = |key: &str| {
        let parameter = own.get(key);
        parameter.is_some_and(|parameter| parameter.source.contains(ESTIMATED))
    };
    let assumes_commits = !drive.config.buffer.protected
        && own
            .values()
            .filter(|parameter| is_of_commits(&parameter.key))
            .all(|parameter| parameter.kind == Provenance::Assumed);
    let keys = drafts.iter().flat_map(BTreeMap::keys);
    let replaced = keys.filter(|key| is_estimated(key) || assumes_commits && is_of_commits(key));
    let differs = |key: &&String| {
        let value = |draft: &BTreeMap<String, CatalogueParameter>| {
            draft.get(*key).map(|parameter| parameter.value.clone())
        };
        let own = own.get(*key).map(|parameter| parameter.value.clone());
        drafts.iter().any(|draft| value(draft) != own)
    };
    replaced.filter(differs).cloned().collect()
}

fn setting(
    drive: &CatalogueDrive,
    key: &str,
    draft: &BTreeMap<String, CatalogueParameter>,
) -> Result<DriveSetting, LabError> {
    let value = match draft.get(key) {
        Some(parameter) => parameter.value.replace(", ", ","),
        None if key == AT_ONCE => {
            let shape = &drive.config.shape;
            (shape.channel_count * shape.dies_per_channel).to_string()
        }
        None => return Err(LabError::refused(format!("a draft without {key}"), "")),
    };
    DriveSetting::new(key, &value)
}

/// The facts from which a draft is most like the drive's file: its sheet's figures, and of its
/// class what the file does not say itself.
fn facts_of(drive: &CatalogueDrive, prior: &DraftPrior) -> Option<DatasheetFacts> {
    let sheet = facts::of_catalogue(drive);
    let interfaces: &[&str] = match drive.file.interface.as_str() {
        "sata" => &["sata"],
        "sas" => &["sas"],
        _ => &["pcie3", "pcie4", "pcie5"],
    };
    let own = by_key(drive);
    let likeness = |facts: &DatasheetFacts| {
        let medians = prior.constants(PriorClass::of(facts), |_| 0.0);
        let text = draft_with(facts, &medians).ok()?;
        let draft = by_key(&catalogue::parse(&text, "median.toml").ok()?);
        let same = own.iter().filter(|(key, parameter)| {
            let drafted = draft.get(*key);
            drafted.is_some_and(|drafted| drafted.value == parameter.value)
        });
        Some(same.count())
    };
    let lists = interfaces.iter().flat_map(|interface| {
        let class = class_of(drive, interface);
        [facts::facts(&[&class, &sheet]), facts::facts(&[&class])]
    });
    let drafted = lists.filter_map(|facts| {
        let facts = facts.ok()?;
        Some((likeness(&facts)?, facts))
    });
    // Of equals the first: the later ones have fewer of the sheet's figures.
    let mut best: Option<(usize, DatasheetFacts)> = None;
    for (count, facts) in drafted {
        if best.as_ref().is_none_or(|(most, _)| count > *most) {
            best = Some((count, facts));
        }
    }
    best.map(|(_, facts)| facts)
}

fn class_of(drive: &CatalogueDrive, interface: &str) -> FactList {
    let is_protected = drive.config.buffer.protected;
    let cells = ["slc", "mlc", "tlc", "qlc"];
    let bits = drive.config.shape.bits_per_cell as usize;
    let mut class: FactList = vec![
        // The maker begins it.
        ("name", drive.file.name.clone()),
        ("source", "its file".to_owned()),
        ("capacity", format!("{} B", drive.config.user_bytes)),
        ("interface", interface.to_owned()),
        (
            "protected",
            if is_protected { "yes" } else { "no" }.to_owned(),
        ),
    ];
    let cells = bits.checked_sub(1).and_then(|place| cells.get(place));
    class.extend(cells.map(|cells| ("cells", (*cells).to_owned())));
    let mut parameters = drive.parameters().into_iter();
    if parameters.any(|p| p.key == "ftl.mapping" && p.value == "cached") {
        class.push(("map", "host".to_owned()));
    }
    class
}

#[cfg(test)]
#[path = "members_tests.rs"]
mod tests;
