//! Do the documents give the counts that the catalogue has? Every phrase of [`PHRASES`] in README,
//! CHANGELOG, CONTRIBUTING, the guides and the crates' own READMEs is compared with the catalogue,
//! `drives/validated.csv` and the table of known drives. A number that changes is mended in the
//! document that the failure names.

use ssdlab_drives::{catalogue, known};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
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

/// The numbers of `phrase` at the beginning of `words`, if it stands there.
fn numbers(phrase: &str, words: &[String]) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for (n, part) in phrase.split(' ').enumerate() {
        let word = words.get(n)?;
        if part == "#" {
            numbers.push(word.parse().ok()?);
        } else if word != part {
            return None;
        }
    }
    Some(numbers)
}

/// Counts of a document that are not those of the catalogue, and how many it gives.
fn compared(path: &str, text: &str, counts: &Counts) -> (Vec<String>, usize) {
    let plain = |c: char| !(c.is_alphanumeric() || c == '-');
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.trim_matches(plain).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let (mut offences, mut total) = (Vec::new(), 0);
    for start in 0..words.len() {
        for (phrase, names) in PHRASES {
            let Some(numbers) = numbers(phrase, &words[start..]) else {
                continue;
            };
            if names.contains(&"figures") && numbers[1] < FIGURES_MIN {
                continue;
            }
            total += 1;
            let expected: Vec<usize> = names.iter().map(|name| counts[name]).collect();
            if numbers != expected {
                offences.push(format!(
                    "{path}: `{phrase}` is {expected:?}, not {numbers:?}"
                ));
            }
        }
    }
    (offences, total)
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
        let (wrong, count) = compared(&path.display().to_string(), &text, &counts);
        offences.extend(wrong);
        total += count;
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
    assert!(
        total >= 8,
        "{total} counts: the documents say it in other words"
    );
}

#[test]
fn a_count_of_an_earlier_catalogue_is_noticed() {
    let counts = counts();
    let wrong = |text: &str| compared("a.md", text, &counts).0.len();
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
    assert_eq!(compared("a.md", &right, &counts), (Vec::new(), 1));
}
