//! The facts of a command line: those typed, and those of the ledger.

use ssdlab_base::LabError;
use ssdlab_life::draft::DatasheetFacts;
use ssdlab_predict::of_family::facts_of_family;

/// Facts that were given.
#[derive(Default)]
pub struct GivenFacts {
    /// The facts.
    pub facts: DatasheetFacts,
    /// Their keys.
    pub keys: Vec<String>,
    /// What is of the ledger, in a paragraph; empty: nothing.
    pub of_family: String,
}

impl GivenFacts {
    /// Reads `KEY=VALUE`, and before them `ledger:NAME`.
    ///
    /// # Errors
    /// When a fact is wrong or given twice, or the ledger does not lead to a draft.
    pub fn read(texts: &[String]) -> Result<GivenFacts, LabError> {
        let family = texts.first().and_then(|text| text.strip_prefix("ledger:"));
        let mut typed = GivenFacts::default();
        for text in texts.iter().skip(usize::from(family.is_some())) {
            let Some((key, value)) = text.split_once('=') else {
                let hint = "`ssdlab drives new --help` lists the facts";
                return Err(LabError::refused(
                    format!("`{text}` is not KEY=VALUE"),
                    hint,
                ));
            };
            if typed.keys.iter().any(|known| known == key) {
                let message = format!("the fact `{key}` is given twice");
                return Err(LabError::refused(message, "give it once"));
            }
            typed.facts.set(key, value)?;
            typed.keys.push(key.to_owned());
        }
        if let Some(name) = family {
            typed.of_family = from_ledger(name, &mut typed.facts, &mut typed.keys)?;
        }
        Ok(typed)
    }
}

/// Takes from the ledger what was not given, and says what.
fn from_ledger(
    name: &str,
    facts: &mut DatasheetFacts,
    keys: &mut Vec<String>,
) -> Result<String, LabError> {
    let is_sized = keys.iter().any(|key| key == "capacity");
    let family = facts_of_family(name, is_sized.then(|| facts.capacity as f64 / 1e9))?;
    let mut texts = Vec::new();
    for (key, value) in &family.facts {
        if keys.iter().any(|typed| typed == key) {
            continue;
        }
        facts.set(key, value)?;
        keys.push((*key).to_owned());
        if !["name", "title", "source"].contains(key) {
            let (value, mark) = match value.split_once("[assumed") {
                Some((value, _)) => (value, " (assumed)"),
                None => (value.as_str(), ""),
            };
            texts.push(format!("{key}={value}{mark}"));
        }
    }
    let left_out = match family.left_out.join(", ") {
        keys if keys.is_empty() => keys,
        keys => format!(" Left out, because the others contradict it: {keys}."),
    };
    Ok(format!(
        "From the ledger: {}.{left_out}\n\n",
        texts.join(", ")
    ))
}
