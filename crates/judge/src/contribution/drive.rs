//! The drive of a contribution, by a name that a table has for it or its owner gives.
//!
//! A model that is in no table is not taken from a report: anything could stand there.

use ssdlab_base::LabError;
use ssdlab_drives::known::{self, ModelFamily};
use ssdlab_ledger::Ledger;
use ssdlab_ledger::formats::ReportedDrive;
use ssdlab_ledger::laws::personal;
use ssdlab_ledger::row::LedgerDrive;
use std::path::Path;

/// The drive of a report, or the one that its owner names.
pub(super) fn named(
    reported: &ReportedDrive,
    typed: Option<&str>,
    path: &Path,
) -> Result<LedgerDrive, LabError> {
    let hint = "--drive \"MAKER MODEL CAPACITY\", as in --drive \"Samsung SSD 990 PRO 2TB\"";
    let drive = match (typed, reported.model.as_deref()) {
        (Some(name), _) => {
            let name = name.trim();
            if let Some(trace) = personal(name) {
                let allowed = format!("{} does not belong into the ledger", trace.words());
                return Err(LabError::bad_option("--drive", name, allowed, hint));
            }
            in_rows(name).or_else(|| as_typed(name, reported.capacity))
        }
        (None, Some(model)) => in_tables(model, reported.capacity),
        (None, None) => None,
    };
    let drive = drive.ok_or_else(|| {
        let why = match reported.model {
            Some(_) => "the model that it gives is in no table, so it may be anything",
            None => "it does not name its drive",
        };
        LabError::refused(format!("{}: {why}", path.display()), hint)
    })?;
    Ok(LedgerDrive {
        firmware: reported
            .firmware
            .as_deref()
            .and_then(firmware)
            .unwrap_or_default(),
        ..drive
    })
}

/// A firmware as makers write it: a few capitals and digits. Anything else is left blank.
fn firmware(text: &str) -> Option<String> {
    let text = text.trim();
    let is_allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '.';
    let fits = (2..=10).contains(&text.len()) && text.chars().all(is_allowed);
    (fits && text.chars().any(|c| c.is_ascii_digit())).then(|| text.to_owned())
}

/// The drive as the ledger or the table of known drives has it.
fn in_tables(model: &str, capacity: Option<u64>) -> Option<LedgerDrive> {
    let ledger = Ledger::open();
    let code = code(model);
    if let Some(code) = &code {
        let marked = format!("({code})");
        let mut rows = ledger.all_rows().iter();
        if let Some(row) = rows.find(|row| row.drive.model.contains(&marked)) {
            return Some(row.drive.clone());
        }
    }
    if let Some(population) = ledger.population(model) {
        let capacity_gb = population.capacity_gb;
        return Some(LedgerDrive {
            maker: population.maker.clone(),
            model: titled(
                &population.name,
                Some(capacity_gb),
                Some(&population.model_code),
            ),
            family: population.family.clone(),
            capacity_gb: Some(capacity_gb),
            ..blank()
        });
    }
    let family = known::family_of(model)?;
    let capacity_gb = capacity.map(|bytes| (bytes as f64 / 1e9).round());
    let name = after_maker(family);
    Some(LedgerDrive {
        maker: family.vendor.clone(),
        model: titled(name, capacity_gb, code.as_deref()),
        family: slug(&family.vendor, name),
        capacity_gb,
        plp: family.plp,
        ..blank()
    })
}

/// The drive of the ledger's rows that a typed name means, but for spaces, capitals and "SSD".
fn in_rows(name: &str) -> Option<LedgerDrive> {
    let squeezed = |text: &str| -> String {
        let upper = text.to_ascii_uppercase();
        let words = upper.split_whitespace().filter(|word| *word != "SSD");
        words.collect()
    };
    let mut rows = Ledger::open().all_rows().iter();
    let row = rows.find(|row| {
        squeezed(&format!("{} {}", row.drive.maker, row.drive.model)) == squeezed(name)
    });
    row.map(|row| row.drive.clone())
}

/// A drive as its owner names it, with what the tables have on its family.
fn as_typed(name: &str, capacity: Option<u64>) -> Option<LedgerDrive> {
    let (maker, model) = name.split_once(' ')?;
    let family = known::family_of(name);
    let bytes = capacity.map(|bytes| bytes as f64);
    let capacity_gb = bytes
        .or_else(|| typed_bytes(model))
        .map(|bytes| (bytes / 1e9).round());
    Some(LedgerDrive {
        maker: maker.to_owned(),
        model: model.strip_prefix("SSD ").unwrap_or(model).to_owned(),
        family: slug(maker, family.map_or(model, |family| after_maker(family))),
        capacity_gb,
        plp: family.and_then(|family| family.plp),
        ..blank()
    })
}

/// Bytes of the word of a name that is a capacity: `2TB`, `960GB`.
fn typed_bytes(name: &str) -> Option<f64> {
    let bytes = |word: &str| {
        let upper = word.to_ascii_uppercase();
        let (digits, unit) = match upper.strip_suffix("TB") {
            Some(digits) => (digits, 1e12),
            None => (upper.strip_suffix("GB")?, 1e9),
        };
        digits.parse::<f64>().ok().map(|number| number * unit)
    };
    name.split_whitespace().find_map(bytes)
}

/// The name of a family without its maker before it.
fn after_maker(family: &ModelFamily) -> &str {
    let name = family.name.strip_prefix(family.vendor.as_str());
    name.unwrap_or(&family.name).trim()
}

fn blank() -> LedgerDrive {
    LedgerDrive {
        maker: String::new(),
        model: String::new(),
        family: String::new(),
        capacity_gb: None,
        firmware: String::new(),
        interface: None,
        form: String::new(),
        bits_per_cell: None,
        nand: String::new(),
        dram: None,
        plp: None,
        raw_gib: None,
        year: None,
    }
}

/// The maker's code of a model: its last word, of capitals and digits.
fn code(model: &str) -> Option<String> {
    let word = model.split_whitespace().last()?;
    let is_allowed =
        |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '/');
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    let fits = word.len() >= 7 && word.chars().all(is_allowed) && has_digit;
    let bare = word.strip_prefix("CRUCIAL_").unwrap_or(word);
    fits.then(|| bare.to_owned())
}

fn titled(name: &str, capacity_gb: Option<f64>, code: Option<&str>) -> String {
    let capacity = capacity_gb.map_or(String::new(), |gb| format!(" {gb:.0} GB"));
    let code = code.map_or(String::new(), |code| format!(" ({code})"));
    format!("{name}{capacity}{code}")
}

/// Maker and series in lower case, without capacities and words that any drive could have.
fn slug(maker: &str, name: &str) -> String {
    let text = format!("{maker} {name}").to_ascii_lowercase();
    let is_capacity = |word: &str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &word[digits.len()..];
        !digits.is_empty() && matches!(unit, "gb" | "tb") && digits.parse::<f64>().is_ok()
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let words = words.filter(|word| {
        !word.is_empty() && !matches!(*word, "ssd" | "dc" | "nvme" | "sata") && !is_capacity(word)
    });
    words.collect::<Vec<_>>().join("-").replace('.', "")
}
