//! Laws of sources: known, dated, licensed, attributed.

use super::breach::breach;
use crate::read::place;
use crate::row::LedgerRow;
use crate::source::{LedgerSource, LedgerSourceClass};
use ssdlab_base::LabError;
use std::collections::BTreeMap;

/// Every row has a source that `sources.toml` describes.
pub(super) fn of_row(
    row: &LedgerRow,
    sources: &BTreeMap<String, LedgerSource>,
) -> Option<LabError> {
    (!sources.contains_key(&row.source)).then(|| {
        let allowed = "an id of ledger/sources.toml is allowed";
        let hint = "add the source there: address, date read, licence, class";
        breach(row, "source", &row.source, allowed, hint)
    })
}

/// A source has an address, the date on which it was read, a licence, and the credit that its
/// licence asks for.
pub(super) fn of_source(source: &LedgerSource, file: &str) -> Option<LabError> {
    let wrong = |key: &str, given: &str, allowed: &str, hint: &str| {
        Some(LabError::BadValue {
            option: format!("{}.{key}", source.id),
            given: given.into(),
            allowed: allowed.into(),
            place: place(file, None),
            hint: hint.into(),
        })
    };
    // Runs that are sent in have the pull request, whose address is known later.
    let is_sent_in = source.class == LedgerSourceClass::Run;
    if !source.address.starts_with("http") && !is_sent_in {
        let hint = "a figure without an address cannot be looked up";
        return wrong(
            "address",
            &source.address,
            "an http address is allowed",
            hint,
        );
    }
    if !is_date(&source.read) {
        let allowed = "a date as 2026-11-26 is allowed";
        return wrong(
            "read",
            &source.read,
            allowed,
            "the day on which it was read",
        );
    }
    if source.licence.is_empty() {
        let hint = "`none seen` where the source names none";
        return wrong("licence", "", "a licence by its SPDX name is allowed", hint);
    }
    if source.needs_attribution() && source.attribution.is_empty() {
        let allowed = format!("{} asks for the author's name", source.licence);
        return wrong(
            "attribution",
            "",
            &allowed,
            "say who made it, and what was changed",
        );
    }
    None
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number =
        |part: &str, digits: usize| part.parse::<u32>().ok().filter(|_| part.len() == digits);
    match parts[..] {
        [year, month, day] => {
            number(year, 4).is_some_and(|year| (2000..2100).contains(&year))
                && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    }
}
