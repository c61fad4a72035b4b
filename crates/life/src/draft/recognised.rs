//! Facts that the table of known drives has of the drive that is described.

use super::DatasheetFacts;
use ssdlab_base::LabError;
use ssdlab_drives::known::draft::family_of_file;
use ssdlab_drives::known::{ModelFamily, SourceClass, UNSOURCED};

/// A fact of the table: its key, value, and the class and text of its source.
struct TableFact {
    key: &'static str,
    value: String,
    class: Option<SourceClass>,
    source: String,
}

/// The one family that a title or name means.
fn family(name: &str, title: Option<&str>) -> Option<&'static ModelFamily> {
    let texts = [title, Some(name)].into_iter().flatten();
    texts.map(family_of_file).find_map(|family| family)
}

/// Where a fact is from that the table has without a document.
const OF_TABLE: &str = "the table of known drives, and what is usual for such drives";

fn table_facts(family: &ModelFamily, capacity: u64) -> Vec<TableFact> {
    let unsourced = |key, value: &str| TableFact {
        key,
        value: value.to_owned(),
        class: None,
        source: UNSOURCED.into(),
    };
    let mut facts = Vec::new();
    let link = ["SATA", "SAS"].contains(&family.interface.as_str());
    let link = link.then(|| family.interface.to_lowercase());
    facts.extend(link.map(|link| unsourced("interface", &link)));
    if let Some(plp) = family.plp {
        facts.push(TableFact {
            key: "protected",
            value: if plp { "yes" } else { "no" }.into(),
            class: family.plp_class,
            source: family.plp_source.clone(),
        });
    }
    let cells = family.cells.as_deref().map(str::to_lowercase);
    let cells = cells.filter(|cells| ["slc", "mlc", "tlc", "qlc"].contains(&cells.as_str()));
    facts.extend(cells.map(|value| unsourced("cells", &value)));
    if let Some(rating) = family.rating(capacity) {
        let fact = |key, value| TableFact {
            key,
            value,
            class: rating.class,
            source: rating.source.clone(),
        };
        let terabytes = rating.bytes_written as f64 / 1e12;
        facts.push(fact("rated-writes", format!("{terabytes:.1}TB")));
        let whole_years = rating.years.filter(|years| years.fract() == 0.0);
        facts.extend(whole_years.map(|years| fact("years", format!("{years}"))));
    }
    facts
}

/// Takes from the table what was not given in `keys`, and says so; a fact that was given and that
/// the table has otherwise is said too.
///
/// # Errors
/// When the drive's media are not NAND: a draft of such a drive would be of another.
pub fn complete(facts: &mut DatasheetFacts, keys: &mut Vec<String>) -> Result<String, LabError> {
    let Some(family) = family(&facts.name, facts.title.as_deref()) else {
        return Ok(String::new());
    };
    if !family.is_nand() && !keys.iter().any(|key| key == "cells") {
        let cells = family.cells.as_deref().unwrap_or_default();
        return Err(LabError::refused(
            format!(
                "{} has {cells}, and a draft is of a drive with NAND",
                family.name
            ),
            "drive:intel-optane-p1600x-118gb is a model of such media: copy its file and change \
             its figures; cells=slc drafts a drive of NAND instead",
        ));
    }
    let is_rated = keys
        .iter()
        .any(|key| key == "dwpd" || key == "rated-writes");
    let mut taken = Vec::new();
    let mut differs = String::new();
    for fact in table_facts(family, facts.capacity) {
        let is_given = keys.iter().any(|key| key == fact.key);
        if fact.key == "protected" && is_given && family.plp != Some(facts.protected) {
            differs = format!(
                "You say protected={}; the table says {} ({}).\n",
                if facts.protected { "yes" } else { "no" },
                fact.value,
                fact.source
            );
        }
        let of_rating = fact.key == "rated-writes" || fact.key == "years";
        if is_given || (of_rating && is_rated) {
            continue;
        }
        let kind = match fact.class {
            Some(SourceClass::Test) => "measured: ",
            Some(_) => "",
            None => "assumed: ",
        };
        facts.set(fact.key, &format!("{}[{kind}{}]", fact.value, fact.source))?;
        let mark = if fact.class.is_none() {
            " (assumed)"
        } else {
            ""
        };
        taken.push(format!("{}={}{mark}", fact.key, fact.value));
        keys.push(fact.key.to_owned());
    }
    if !keys.iter().any(|key| key == "source") {
        facts.set("source", OF_TABLE)?;
        keys.push("source".to_owned());
    }
    let taken = if taken.is_empty() {
        String::new()
    } else {
        format!(" From the table of known drives: {}.", taken.join(", "))
    };
    Ok(format!(
        "Recognised as {}.{taken}\n{differs}\n",
        family.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::{QUESTIONS, draft};
    use ssdlab_drives::known::families;

    /// The step that the error about a drive outside the catalogue prints, for every family.
    #[test]
    fn the_printed_command_drafts_every_known_family_or_says_why_not() {
        let (mut drafted, mut refused) = (0, 0);
        for family in families() {
            let Some(command) = family.draft_command() else {
                refused += 1;
                let mut facts = DatasheetFacts::default();
                facts.set("name", &family.slug()).unwrap();
                assert!(
                    complete(&mut facts, &mut Vec::new()).is_err(),
                    "{}",
                    family.name
                );
                continue;
            };
            let mut facts = DatasheetFacts::default();
            let mut keys = Vec::new();
            for word in command.split(' ').skip(3) {
                let (key, value) = word.split_once('=').unwrap();
                facts.set(key, value).unwrap();
                keys.push(key.to_owned());
            }
            let said = complete(&mut facts, &mut keys).unwrap();
            assert!(said.contains(&family.name), "{command}: {said}");
            let mut needed = QUESTIONS.iter().filter(|question| question.needed);
            let missing = needed.find(|question| !keys.iter().any(|key| key == question.key));
            assert!(missing.is_none(), "{command}: {}", missing.unwrap().key);
            if let Err(error) = draft(&facts) {
                panic!("{command}: {error}");
            }
            drafted += 1;
        }
        assert!(drafted >= 200 && refused >= 5, "{drafted} {refused}");
    }
}
