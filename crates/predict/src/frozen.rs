//! Predictions as they were made: files that nobody changes again.
//!
//! `ledger/predictions/DATE.csv` holds what one build said on one day. `frozen.txt` has a line for
//! each file: its name, the digest of its text, and the digest of the line before with both, so
//! that no line can be changed or left out alone. A later build adds a file.

use crate::predict::{FrozenPrediction, Predictions};
use ssdlab_base::LabError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// Every file of `ledger/predictions/`: name and text.
const BUILT_IN: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/frozen.rs"));
/// The list of the files.
pub const LIST: &str = "frozen.txt";

/// The files that come with ssdlab.
pub fn files() -> &'static [(&'static str, &'static str)] {
    BUILT_IN
}

/// Every frozen prediction of these files, the oldest first.
///
/// # Errors
/// When a line cannot be read.
pub fn read(files: &[(&str, &str)]) -> Result<Vec<FrozenPrediction>, LabError> {
    let mut predictions = Vec::new();
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".csv")) {
        for line in csv::Reader::from_reader(text.as_bytes()).into_deserialize() {
            let refused = |error| LabError::refused(format!("{name}: {error}"), "restore the file");
            predictions.push(line.map_err(refused)?);
        }
    }
    Ok(predictions)
}

/// The first prediction of each row, by the row's id.
pub fn first(predictions: &[FrozenPrediction]) -> BTreeMap<&str, &FrozenPrediction> {
    let mut first = BTreeMap::new();
    for prediction in predictions {
        first.entry(prediction.row.as_str()).or_insert(prediction);
    }
    first
}

/// The last prediction of each row, by the row's id.
pub fn last(predictions: &[FrozenPrediction]) -> BTreeMap<&str, &FrozenPrediction> {
    let rows = predictions.iter();
    rows.map(|prediction| (prediction.row.as_str(), prediction))
        .collect()
}

fn digest(text: &str) -> String {
    format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

/// The line of the list for a file, after the line `before`.
fn line(before: &str, name: &str, text: &str) -> String {
    let digest_of_text = digest(text);
    let chained = digest(&format!("{before}\n{name} {digest_of_text}"));
    format!("{name} {digest_of_text} {chained}")
}

/// What is wrong with frozen files: one that was changed, is missing, or is not in the list.
pub fn offences(files: &[(&str, &str)]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let list = texts.get(LIST).copied().unwrap_or_default();
    let mut offences = Vec::new();
    let (mut before, mut listed) = ("", BTreeSet::new());
    for kept in list.lines() {
        let name = kept.split(' ').next().unwrap_or_default();
        listed.insert(name);
        match texts.get(name) {
            None => offences.push(format!("{name} is missing")),
            Some(text) if line(before, name, text) != kept => {
                offences.push(format!("{name} or its line in {LIST} was changed"));
            }
            Some(_) => {}
        }
        before = kept;
    }
    for name in texts.keys().filter(|name| name.ends_with(".csv")) {
        if !listed.contains(name) {
            offences.push(format!("{name} is not in {LIST}"));
        }
    }
    offences
}

/// Adds a file with the predictions that this build has not frozen before, and its line; `None`
/// when there is none.
///
/// # Errors
/// When the folder cannot be read or written, or a frozen file was changed.
pub fn freeze(
    folder: &Path,
    predictions: &Predictions,
    date: &str,
) -> Result<Option<(PathBuf, usize)>, LabError> {
    let owned = read_folder(folder)?;
    let files: Vec<(&str, &str)> = owned
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    if let Some(offence) = offences(&files).first() {
        return Err(LabError::refused(
            format!("{}: {offence}", folder.display()),
            "a frozen prediction is never changed: restore the file",
        ));
    }
    let before: BTreeSet<(String, String)> = read(&files)?
        .into_iter()
        .map(|frozen| (frozen.row, frozen.build))
        .collect();
    let is_new =
        |made: &&FrozenPrediction| !before.contains(&(made.row.clone(), made.build.clone()));
    let new: Vec<&FrozenPrediction> = predictions.made.iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for prediction in &new {
        let wrote = writer.serialize(prediction);
        wrote.map_err(|error| LabError::refused(error.to_string(), ""))?;
    }
    let bytes = writer.into_inner().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let numbered = (2..).map(|n| format!("{date}-{n:02}.csv"));
    let mut names = std::iter::once(format!("{date}.csv")).chain(numbered);
    let is_free = |name: &String| !owned.iter().any(|(taken, _)| taken == name);
    let name = names.find(is_free).unwrap_or_default();
    let list = files.iter().find(|(name, _)| *name == LIST);
    let list = list.map_or("", |(_, text)| *text);
    let added = line(list.lines().last().unwrap_or_default(), &name, &text);
    let path = folder.join(&name);
    write(&path, &text)?;
    write(&folder.join(LIST), &format!("{list}{added}\n"))?;
    Ok(Some((path, new.len())))
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    std::fs::write(path, text).map_err(|error| LabError::file("writing", path, error))
}

fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, LabError> {
    let failed = |error| LabError::file("reading", folder, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".csv") || name == LIST {
            let text = std::fs::read_to_string(&path);
            files.push((
                name,
                text.map_err(|error| LabError::file("reading", &path, error))?,
            ));
        }
    }
    // The second file of a day has a longer stem than the first: it comes after it.
    files.sort_by_key(|(name, _)| Path::new(name).with_extension(""));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(row: &str, build: &str, predicted: f64) -> FrozenPrediction {
        FrozenPrediction {
            row: row.into(),
            family: "a".into(),
            model: "b".into(),
            capacity_gb: 1.0,
            metric: "write_iops".into(),
            source: "s".into(),
            predicted,
            low: 1.0,
            high: 2.0,
            basis: "draft:class".into(),
            config: String::new(),
            assumed: String::new(),
            build: build.into(),
            date: "2026-11-27".into(),
        }
    }

    fn all(made: Vec<FrozenPrediction>) -> Predictions {
        Predictions {
            made,
            unpredicted: Vec::new(),
        }
    }

    #[test]
    fn what_comes_with_ssdlab_is_as_it_was_frozen() {
        assert_eq!(offences(files()), Vec::<String>::new());
        let predictions = read(files()).expect("every line can be read");
        let sane = |p: &FrozenPrediction| p.low <= p.predicted && p.predicted <= p.high;
        assert!(predictions.iter().all(sane));
    }

    #[test]
    fn a_later_build_adds_and_a_changed_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let first_build = all(vec![made("r1", "one", 10.0), made("r2", "one", 20.0)]);
        freeze(path, &first_build, "2026-11-27").unwrap();
        assert_eq!(freeze(path, &first_build, "2026-11-28").unwrap(), None);
        let (_, count) = freeze(path, &all(vec![made("r1", "two", 11.0)]), "2026-11-27")
            .unwrap()
            .unwrap();
        assert_eq!(count, 1);
        let owned = read_folder(path).unwrap();
        let mut files: Vec<(&str, &str)> = owned
            .iter()
            .map(|(n, t)| (n.as_str(), t.as_str()))
            .collect();
        assert_eq!(offences(&files), Vec::<String>::new());
        let frozen = read(&files).unwrap();
        assert_eq!(first(&frozen)["r1"].predicted, 10.0);
        assert_eq!(last(&frozen)["r1"].predicted, 11.0);
        // One digit of a frozen row, then a file that is gone, then one that nobody listed.
        let changed = files[0].1.replacen("10", "12", 1);
        let original = std::mem::replace(&mut files[0].1, &changed);
        assert_eq!(offences(&files).len(), 1, "{:?}", offences(&files));
        files[0].1 = original;
        let gone: Vec<_> = files
            .iter()
            .copied()
            .filter(|f| f.0 != "2026-11-27.csv")
            .collect();
        assert!(!offences(&gone).is_empty());
        files.push(("2026-12-01.csv", ""));
        assert!(!offences(&files).is_empty());
        std::fs::write(path.join("2026-11-27.csv"), &changed).unwrap();
        assert!(freeze(path, &all(vec![made("r3", "two", 1.0)]), "2026-11-29").is_err());
    }
}
