//! Which family of the ledger a name means: as people type it, or as a drive reports itself.

use crate::row::LedgerRow;
use std::collections::BTreeSet;

/// Words of a drive's name that say nothing of the product.
const NOISE: [&str; 22] = [
    "dc", "d3", "d5", "d7", "ssd", "nvme", "sata", "sas", "pcie", "m2", "u2", "u3", "drive",
    "disk", "series", "gb", "tb", "inch", "solid", "state", "heatsink", "ledger",
];
/// Shortest code of a model that is looked for in what a drive reports.
const CODE_MIN: usize = 6;

/// The words of a name in lower case, without capacities and what any drive could have.
pub fn words(name: &str) -> BTreeSet<String> {
    let lower = name.to_lowercase().replace("m.2", " ").replace("u.2", " ");
    let is_size = |word: &str| {
        let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &word[number.len()..];
        !number.is_empty() && matches!(unit, "gb" | "tb" | "gib" | "tib" | "g" | "t")
    };
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !is_size(word) && !NOISE.contains(word))
        .map(str::to_owned)
        .collect()
}

/// The makers' codes in a model's name: what stands in parentheses.
fn codes(model: &str) -> impl Iterator<Item = &str> {
    let inside = model
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    let codes = inside.map_or("", |(codes, _)| codes);
    codes
        .split([',', '/', ' '])
        .filter(|code| code.len() >= CODE_MIN && code.contains(|c: char| c.is_ascii_digit()))
}

/// Whether a drive that reports itself so is the drive of the row, by the maker's code.
fn is_reported(row: &LedgerRow, reported: &str) -> bool {
    let reported = reported.to_uppercase();
    codes(&row.drive.model).any(|code| reported.contains(&code.to_uppercase()))
}

/// The family that a name means: the one with most words in it, if nothing of the name is left but
/// a capacity, a maker or a maker's code.
pub fn family<'a>(rows: &'a [LedgerRow], name: &str) -> Option<&'a str> {
    let lower = name.trim().to_lowercase();
    let exact = rows.iter().find(|row| row.drive.family == lower);
    let coded = || rows.iter().find(|row| is_reported(row, name));
    if let Some(row) = exact.or_else(coded) {
        return Some(&row.drive.family);
    }
    let named = words(name);
    let families: BTreeSet<&str> = rows.iter().map(|row| row.drive.family.as_str()).collect();
    let is_code = |word: &String| {
        word.len() >= CODE_MIN + 2 && word.chars().filter(char::is_ascii_digit).count() >= 2
    };
    let fits = |family: &&str| {
        let own = words(family);
        own.len() > 1
            && own.is_subset(&named)
            && named
                .difference(&own)
                .all(|word| is_code(word) || word.parse::<u32>().is_ok())
    };
    families
        .into_iter()
        .filter(fits)
        .max_by_key(|family| words(family).len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ledger;

    #[test]
    fn names_as_typed_and_as_reported_lead_to_one_family() {
        let rows = Ledger::open().all_rows();
        for (name, expected) in [
            ("crucial-t500", Some("crucial-t500")),
            ("Crucial T500 2TB", Some("crucial-t500")),
            ("CT2000T500SSD8", Some("crucial-t500")),
            ("Samsung SSD 990 PRO 2TB", Some("samsung-990-pro")),
            ("Samsung SSD 980 1TB", Some("samsung-980")),
            ("Intel DC S3500", Some("intel-s3500")),
            ("Samsung SSD 980 EVO 1TB", None),
            ("Samsung", None),
            ("", None),
        ] {
            assert_eq!(family(rows, name), expected, "{name}");
        }
    }
}
