//! Facts that the table of known drives has of the drive that is described.

mod facts;

use facts::table_facts;
use ssdlab_base::LabError;
use ssdlab_drives::known::draft::family_of_file;
use ssdlab_drives::known::{ModelFamily, SourceClass};
use ssdlab_life::draft::DatasheetFacts;

/// The one family that a title or name means.
fn family(name: &str, title: Option<&str>) -> Option<&'static ModelFamily> {
    let texts = [title, Some(name)].into_iter().flatten();
    texts.map(family_of_file).find_map(|family| family)
}

/// Where a fact is from that the table has without a document.
const OF_TABLE: &str = "the table of known drives, and what is usual for such drives";

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
mod tests;
