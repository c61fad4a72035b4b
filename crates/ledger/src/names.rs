//! Which family of the ledger a name means: as people type it, or as a drive reports itself.

use crate::Ledger;
use crate::row::{LedgerDrive, LedgerRow};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

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
    let is_unit = |word: &str| matches!(word, "gb" | "tb" | "gib" | "tib");
    let is_size = |word: &str| {
        let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &word[number.len()..];
        !number.is_empty() && (is_unit(unit) || matches!(unit, "g" | "t"))
    };
    let split: Vec<&str> = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    // `410 GB`: the number is a size as well.
    let is_sized = |index: usize| {
        let next = split.get(index + 1);
        split[index].parse::<u32>().is_ok() && next.is_some_and(|word| is_unit(word))
    };
    split
        .iter()
        .enumerate()
        .filter(|(index, word)| !is_sized(*index) && !is_size(word) && !NOISE.contains(word))
        .map(|(_, word)| (*word).to_owned())
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

/// Names of the families of a ledger.
pub struct FamilyNames<'a> {
    families: BTreeSet<&'a str>,
    /// Codes in capitals, in the order of the rows.
    codes: Vec<(String, &'a str)>,
    /// Every name of every family, as words: its own, and those of its products without the codes.
    names: Vec<(&'a str, BTreeSet<String>)>,
}

static OPEN: LazyLock<FamilyNames<'static>> =
    LazyLock::new(|| FamilyNames::of(Ledger::open().all_rows()));

impl FamilyNames<'static> {
    /// Of the ledger that comes with ssdlab.
    pub fn open() -> &'static FamilyNames<'static> {
        &OPEN
    }
}

impl<'a> FamilyNames<'a> {
    /// Of these rows.
    pub fn of(rows: &'a [LedgerRow]) -> FamilyNames<'a> {
        let mut names = BTreeSet::new();
        for row in rows {
            let LedgerDrive {
                maker,
                model,
                family,
                ..
            } = &row.drive;
            let product = model
                .split_once('(')
                .map_or(model.as_str(), |(name, _)| name);
            names.insert((family.as_str(), family.clone()));
            names.insert((family.as_str(), format!("{maker} {product}")));
        }
        let words = names
            .into_iter()
            .map(|(family, name)| (family, words(&name)));
        let words: BTreeSet<_> = words.collect();
        let mut known = BTreeSet::new();
        let coded = rows.iter().flat_map(|row| {
            let codes = codes(&row.drive.model).map(str::to_uppercase);
            codes.map(|code| (code, row.drive.family.as_str()))
        });
        FamilyNames {
            families: rows.iter().map(|row| row.drive.family.as_str()).collect(),
            codes: coded.filter(|code| known.insert(code.clone())).collect(),
            names: words.into_iter().collect(),
        }
    }

    /// The family that a name means: the one with most words in it, if nothing of the name is left
    /// but a capacity, a maker or a maker's code.
    pub fn family(&self, name: &str) -> Option<&'a str> {
        let lower = name.trim().to_lowercase();
        let exact = self.families.get(lower.as_str()).copied();
        let reported = name.to_uppercase();
        let mut codes = self.codes.iter();
        let coded = codes.find(|(code, _)| reported.contains(code.as_str()));
        if let Some(family) = exact.or(coded.map(|(_, family)| *family)) {
            return Some(family);
        }
        let named = words(name);
        let is_code = |word: &String| {
            word.len() >= CODE_MIN + 2 && word.chars().filter(char::is_ascii_digit).count() >= 2
        };
        let fits = |own: &BTreeSet<String>| {
            own.len() > 1
                && own.is_subset(&named)
                && named
                    .difference(own)
                    .all(|word| is_code(word) || word.parse::<u32>().is_ok())
        };
        let fitting = self.names.iter().filter(|(_, own)| fits(own));
        let (family, _) = fitting.max_by_key(|(_, own)| own.len())?;
        Some(family)
    }

    /// Families of which a name has a word with a digit, or the beginning of one, best first.
    pub fn near(&self, name: &str) -> Vec<&'a str> {
        const LETTERS_MIN: usize = 3;
        let named = words(name);
        let shared = |own: &str| {
            let likeness = |word: &String| {
                let letters = word
                    .chars()
                    .zip(own.chars())
                    .take_while(|(a, b)| a == b)
                    .count();
                let is_whole = letters == word.len().min(own.len());
                if is_whole { letters } else { 0 }
            };
            named.iter().map(likeness).max().unwrap_or(0)
        };
        let has_digit = |word: &&String| word.contains(|c: char| c.is_ascii_digit());
        let mut near: BTreeMap<&str, usize> = BTreeMap::new();
        for (family, own) in &self.names {
            let letters = own.iter().filter(has_digit).map(|word| shared(word)).max();
            let best = near.entry(family).or_insert(0);
            *best = letters.unwrap_or(0).max(*best);
        }
        let mut near: Vec<(&str, usize)> = near.into_iter().collect();
        near.retain(|(_, letters)| *letters >= LETTERS_MIN);
        near.sort_by_key(|(_, letters)| std::cmp::Reverse(*letters));
        near.into_iter().map(|(family, _)| family).take(3).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_typed_and_as_reported_lead_to_one_family() {
        let names = FamilyNames::open();
        for (name, expected) in [
            ("crucial-t500", Some("crucial-t500")),
            ("Crucial T500 2TB", Some("crucial-t500")),
            ("CT2000T500SSD8", Some("crucial-t500")),
            ("Samsung SSD 990 PRO 2TB", Some("samsung-990-pro")),
            ("Samsung SSD 980 1TB", Some("samsung-980")),
            ("Intel DC S3500", Some("intel-s3500")),
            // By the name of a product of the family, and with the capacity in two words.
            ("Kingston DC500M", Some("kingston-dc500")),
            ("Fusion-io ioDrive2 410 GB", Some("fusionio-iodrive2")),
            ("HGST Ultrastar SSD1600MM", Some("hgst-ssd1600mm")),
            ("Samsung SSD 980 EVO 1TB", None),
            ("Samsung", None),
            ("", None),
        ] {
            assert_eq!(names.family(name), expected, "{name}");
        }
        assert_eq!(names.near("Kingston DC500 Pro")[0], "kingston-dc500");
        assert!(names.near("Vorrath Rocket").is_empty());
    }
}
