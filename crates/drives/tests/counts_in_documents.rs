//! Do the documents give the counts that the catalogue has? Every phrase of [`PHRASES`] in README,
//! CHANGELOG, CONTRIBUTING, the guides and the crates' own READMEs is compared with the catalogue,
//! `drives/validated.csv` and the table of known drives. `UPDATE_COUNTS=1` mends a number that
//! changes in the documents; the difference belongs in the review.

use ssdlab_drives::{catalogue, known};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A phrase, with `#` for each number, and the names of its counts in order.
const PHRASES: &[(&str, &[&str])] = &[
    ("# drives in # families", &["drives", "families"]),
    ("all # drives were", &["drives"]),
    ("# of # figures", &["figures held", "figures"]),
    (
        "# of the # that no constant was fitted to",
        &["unfitted held", "unfitted"],
    ),
    (
        "# drives of # are validated",
        &["drives validated", "drives with a sheet"],
    ),
    ("# families of real drives", &["known families"]),
    ("# families with power-loss protection", &["known families"]),
];

/// A drive's own sheet has fewer figures: "5 of 6 figures" is not about the catalogue.
const FIGURES_MIN: usize = 100;

type Counts = BTreeMap<&'static str, usize>;

fn counts() -> Counts {
    let names = catalogue::names().unwrap();
    let drives: Vec<_> = names.iter().map(|n| catalogue::drive(n).unwrap()).collect();
    let families: BTreeSet<&str> = drives.iter().map(|drive| drive.family()).collect();
    let figures: Vec<Vec<&str>> = catalogue::VALIDATED
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    let holds = |row: &&Vec<&str>| row[6] == "yes";
    let unfitted = || figures.iter().filter(|row| row[5] == "no");
    let with_a_sheet: BTreeSet<&str> = figures.iter().map(|row| row[0]).collect();
    let missing = figures.iter().filter(|row| row[6] != "yes");
    let missing: BTreeSet<&str> = missing.map(|row| row[0]).collect();
    BTreeMap::from([
        ("drives", drives.len()),
        ("families", families.len()),
        ("figures", figures.len()),
        ("figures held", figures.iter().filter(holds).count()),
        ("unfitted", unfitted().count()),
        ("unfitted held", unfitted().filter(holds).count()),
        ("drives with a sheet", with_a_sheet.len()),
        ("drives validated", with_a_sheet.len() - missing.len()),
        ("known families", known::families().len()),
    ])
}

/// A word in lower case, without what stands around it, and its place in the text.
struct Word {
    text: String,
    place: Range<usize>,
}

fn words(text: &str) -> Vec<Word> {
    let plain = |c: char| !(c.is_alphanumeric() || c == '-');
    let (mut words, mut end) = (Vec::new(), 0);
    for word in text.split_whitespace() {
        let start = end + text[end..].find(word).expect("a word of the text");
        end = start + word.len();
        let core = word.trim_matches(plain);
        let start = start + word.find(core).expect("a part of the word");
        if !core.is_empty() {
            words.push(Word {
                text: core.to_lowercase(),
                place: start..start + core.len(),
            });
        }
    }
    words
}

/// The numbers of `phrase` at the beginning of `words`, with their places, if it stands there.
fn numbers(phrase: &str, words: &[Word]) -> Option<Vec<(usize, Range<usize>)>> {
    let mut numbers = Vec::new();
    for (n, part) in phrase.split(' ').enumerate() {
        let word = words.get(n)?;
        if part == "#" {
            numbers.push((word.text.parse().ok()?, word.place.clone()));
        } else if word.text != part {
            return None;
        }
    }
    Some(numbers)
}

/// A document beside the catalogue.
#[derive(Debug, PartialEq)]
struct Compared {
    /// Counts that are not those of the catalogue.
    offences: Vec<String>,
    /// Counts in all.
    total: usize,
    /// Its text with the counts of the catalogue.
    mended: String,
}

fn compared(path: &str, text: &str, counts: &Counts) -> Compared {
    let words = words(text);
    let (mut offences, mut total) = (Vec::new(), 0);
    let mut changes = Vec::new();
    for start in 0..words.len() {
        for (phrase, names) in PHRASES {
            let Some(numbers) = numbers(phrase, &words[start..]) else {
                continue;
            };
            if names.contains(&"figures") && numbers[1].0 < FIGURES_MIN {
                continue;
            }
            total += 1;
            let expected: Vec<usize> = names.iter().map(|name| counts[name]).collect();
            let given: Vec<usize> = numbers.iter().map(|(number, _)| *number).collect();
            if given != expected {
                offences.push(format!("{path}: `{phrase}` is {expected:?}, not {given:?}"));
                let places = numbers.into_iter().map(|(_, place)| place);
                changes.extend(places.zip(expected));
            }
        }
    }
    let mut mended = text.to_owned();
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    for (place, count) in changes {
        mended.replace_range(place, &count.to_string());
    }
    Compared {
        offences,
        total,
        mended,
    }
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let markdown = |folder: PathBuf| {
        let entries = fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|e| e == "md"))
            .collect::<Vec<_>>()
    };
    let mut paths = markdown(root.to_path_buf());
    paths.extend(markdown(root.join("docs")));
    let crates = fs::read_dir(root.join("crates")).unwrap();
    let readmes = crates.map(|entry| entry.unwrap().path().join("README.md"));
    paths.extend(readmes.filter(|path| path.exists()));
    paths
}

#[test]
fn documents_give_the_counts_of_the_catalogue() {
    let counts = counts();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut offences, mut total) = (Vec::new(), 0);
    for path in documents(&root) {
        let text = fs::read_to_string(&path).unwrap();
        let compared = compared(&path.display().to_string(), &text, &counts);
        total += compared.total;
        if std::env::var_os("UPDATE_COUNTS").is_some() && compared.mended != text {
            fs::write(&path, compared.mended).unwrap();
        } else {
            offences.extend(compared.offences);
        }
    }
    let hint = "UPDATE_COUNTS=1 mends them";
    assert!(offences.is_empty(), "{hint}\n{}", offences.join("\n"));
    assert!(
        total >= 8,
        "{total} counts: the documents say it in other words"
    );
}

#[test]
fn a_count_of_an_earlier_catalogue_is_noticed() {
    let counts = counts();
    let wrong = |text: &str| compared("a.md", text, &counts).offences.len();
    assert_eq!(
        wrong("Catalogue of 57 drives\nin 31 families, with ratings"),
        1
    );
    assert_eq!(
        wrong("**147 of 999 figures hold**, 49 of the 85 that no constant was fitted to"),
        2
    );
    assert_eq!(
        wrong("All 58 drives were measured; 1 drives of 51 are validated."),
        2
    );
    assert_eq!(wrong("5 of 6 figures hold"), 0);
    let right = format!(
        "{} drives in {} families",
        counts["drives"], counts["families"]
    );
    let document = |drives, families| format!("Has {drives} drives\nin **{families} families**.");
    let mended = compared("a.md", &document(1, 2), &counts).mended;
    assert_eq!(mended, document(counts["drives"], counts["families"]));
    let nothing = Compared {
        offences: Vec::new(),
        total: 1,
        mended: right.clone(),
    };
    assert_eq!(compared("a.md", &right, &counts), nothing);
}
