//! Facts that the table of known drives has of the drive that is described.

use ssdlab_base::LabError;
use ssdlab_drives::known::lookup::{Lookup, look_up};
use ssdlab_drives::known::{ModelFamily, SourceClass, UNSOURCED};
use ssdlab_life::draft::DatasheetFacts;

/// A fact of the table: its key, value, and the class and text of its source.
struct TableFact {
    key: &'static str,
    value: String,
    class: Option<SourceClass>,
    source: String,
}

/// The one family that a name or title means.
fn family(name: &str, title: Option<&str>) -> Option<&'static ModelFamily> {
    [title, Some(name)]
        .into_iter()
        .flatten()
        .find_map(|text| match look_up(text) {
            Lookup::Matches(matches) if matches.len() == 1 => matches.first().copied(),
            _ => None,
        })
}

fn table_facts(family: &ModelFamily, capacity: u64) -> Vec<TableFact> {
    let mut facts = Vec::new();
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
    facts.extend(cells.map(|value| TableFact {
        key: "cells",
        value,
        class: None,
        source: UNSOURCED.into(),
    }));
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
/// Never for a table that the tests have read.
pub fn complete(facts: &mut DatasheetFacts, keys: &mut Vec<String>) -> Result<String, LabError> {
    let Some(family) = family(&facts.name, facts.title.as_deref()) else {
        return Ok(String::new());
    };
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
