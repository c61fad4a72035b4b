//! Finds drives by name and reads their files.

use super::drive::CatalogueDrive;
use super::parameters::check_sources;
use super::place::{self, toml_error};
use super::resolve;
use super::standing::DatasheetStanding;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use std::collections::BTreeSet;
use std::path::Path;

/// The drives that come with ssdlab, every file of `drives/`: file name and text.
const BUILT_IN: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// Keys of `[documented]` that members of a family do not take from its base.
const RATES: [&str; 13] = [
    "random_read_iops",
    "random_write_iops",
    "sequential_read",
    "sequential_write",
    "mixed_iops",
    "sequential_read_latency",
    "sequential_write_latency",
    "random_read_999",
    "random_write_999",
    "random_depth",
    "random_span",
    "compress_pct",
    "rw80_iops",
];

/// Names of the drives that come with ssdlab, in order.
///
/// # Errors
/// Never for a released build: a test loads every file.
pub fn names() -> Result<Vec<String>, LabError> {
    BUILT_IN
        .iter()
        .map(|(source, text)| Ok(header(text, source)?.0))
        .collect()
}

/// One drive of each family to put beside another: its base or, where that is not validated, the
/// smallest member that is. A family without a validated drive has no reference; one without
/// figures of sheets has its base.
///
/// # Errors
/// Never for a released build: a test loads every file.
pub fn references() -> Result<Vec<String>, LabError> {
    let drives = names()?.into_iter().map(|name| drive(&name));
    let drives: Vec<CatalogueDrive> = drives.collect::<Result<_, _>>()?;
    let families: BTreeSet<&str> = drives.iter().map(CatalogueDrive::family).collect();
    let mut chosen = Vec::new();
    for family in families {
        let mut members: Vec<&CatalogueDrive> =
            drives.iter().filter(|d| d.family() == family).collect();
        members.sort_by_key(|d| (d.file.base.is_some(), d.config.user_bytes));
        let standing = |d: &&&CatalogueDrive| DatasheetStanding::of(&d.file.name);
        let valid = members
            .iter()
            .find(|d| standing(d) == DatasheetStanding::Validated);
        let base = members.first();
        let representative = valid.or(base.filter(|d| standing(d) == DatasheetStanding::Unknown));
        chosen.extend(representative.map(|d| d.file.name.clone()));
    }
    chosen.sort();
    Ok(chosen)
}

/// The drive files that come with ssdlab: file name and text.
pub fn files() -> &'static [(&'static str, &'static str)] {
    BUILT_IN
}

/// The text of a drive file.
///
/// # Errors
/// When it cannot be read.
pub fn read(file: &str) -> Result<String, LabError> {
    let path = Path::new(file);
    std::fs::read_to_string(path).map_err(|error| LabError::file("reading", path, error))
}

/// A drive of the catalogue by name.
///
/// # Errors
/// When there is no such drive; the message gives the names nearest to it.
pub fn drive(name: &str) -> Result<CatalogueDrive, LabError> {
    for &(source, text) in BUILT_IN {
        if header(text, source)?.0 == name {
            return parse(text, source);
        }
    }
    let nearest = match &nearest(name, &names()?)[..] {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(" or ")),
    };
    Err(LabError::refused(
        format!("there is no drive `{name}` in the catalogue{nearest}"),
        "`ssdlab list drives` lists all; a path ending in .toml reads your own",
    ))
}

/// The drive called `name`, or the one that is most likely meant by it.
pub fn meant(name: &str) -> Option<String> {
    let names = names().ok()?;
    if names.iter().any(|known| known == name) {
        Some(name.to_owned())
    } else {
        nearest(name, &names).into_iter().next()
    }
}

/// The names that are most like `name`, at most three, best first: by words, as people write models
/// (`990pro`, `Samsung SSD 990 PRO 2TB`), then by spelling.
fn nearest(name: &str, names: &[String]) -> Vec<String> {
    let by_words = |known: &String| (words_matched(name, known), known.clone());
    let mut near: Vec<(f64, String)> = names.iter().map(by_words).collect();
    near.retain(|(share, _)| *share >= WORDS_LIKELY);
    if near.is_empty() {
        let by_spelling = |known: &String| (strsim::jaro_winkler(name, known), known.clone());
        near = names.iter().map(by_spelling).collect();
        near.retain(|(likeness, _)| *likeness >= SPELLING_LIKELY);
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(3).map(|(_, known)| known).collect()
}

/// Similarity below which a name is not a likely misspelling.
const SPELLING_LIKELY: f64 = 0.85;
/// Share of a name's letters and digits that a drive must have to be meant.
const WORDS_LIKELY: f64 = 0.6;

/// Share of the letters and digits of `name` that stand, word by word, in `known`; 0 when none of
/// the words with a digit, which tell models apart, is there.
fn words_matched(name: &str, known: &str) -> f64 {
    let squeezed = |text: &str| -> String {
        let characters = text.chars().filter(char::is_ascii_alphanumeric);
        characters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let known = squeezed(known);
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    // Every name could have these.
    let words: Vec<&str> = words
        .filter(|word| {
            !matches!(
                *word,
                "" | "ssd" | "nvme" | "drive" | "sata" | "solid" | "state"
            )
        })
        .collect();
    let is_capacity = |word: &str| word.ends_with("gb") || word.ends_with("tb");
    let has_model = words.iter().any(|word| {
        word.contains(|c: char| c.is_ascii_digit()) && !is_capacity(word) && known.contains(word)
    });
    let count =
        |words: &mut dyn Iterator<Item = &&str>| words.map(|word| word.len()).sum::<usize>();
    let matched = count(&mut words.iter().filter(|word| known.contains(**word)));
    if !has_model {
        return 0.0;
    }
    matched as f64 / count(&mut words.iter()).max(1) as f64
}

/// A drive by name, or from a TOML file when `name` ends in `.toml`.
///
/// # Errors
/// When it cannot be found, read or understood.
pub fn open(name: &str) -> Result<CatalogueDrive, LabError> {
    if !name.ends_with(".toml") {
        return drive(name.strip_prefix("drive:").unwrap_or(name));
    }
    parse(&read(name)?, name)
}

/// Reads a drive file.
///
/// # Errors
/// With file and line: unknown keys, missing sources, bad units, an impossible drive.
pub fn parse(text: &str, source: &str) -> Result<CatalogueDrive, LabError> {
    parse_table(text, source).map_err(|error| place::located(error, text))
}

fn parse_table(text: &str, source: &str) -> Result<CatalogueDrive, LabError> {
    let table = merged(text, source, 0)?;
    let file = place::file_of(table, text, source)?;
    check_sources(&file, source)?;
    let config = resolve::config(&file, source)?;
    resolve::wear(&file, source)?;
    config.validate().map_err(|error| LabError::BadValue {
        hint: hint(&error.what).into(),
        option: error.what,
        given: error.given,
        allowed: error.allowed,
        place: InputLocation {
            source: source.into(),
            line: None,
        },
    })?;
    Ok(CatalogueDrive { file, config })
}

/// Help with an impossible value.
fn hint(option: &str) -> &'static str {
    match option.split('.').next() {
        Some("heat") => {
            "from cold to warm: ambient, light_at, heavy_at, critical_at; each step lets fewer \
             dies program at once"
        }
        Some("energy") => "each power state is entered later than the one before, and draws less",
        Some("user capacity") => {
            "raw capacity (channels x dies x planes x blocks x pages x page size) must hold the \
             user capacity, the pSLC cache and the superblocks kept free: lower one of these"
        }
        _ => "raw capacity is channels x dies x planes x blocks x pages x page size",
    }
}

/// The file's table with its base's values where it gives none.
fn merged(text: &str, source: &str, depth: u32) -> Result<toml::Table, LabError> {
    let own: toml::Table = text
        .parse()
        .map_err(|error| toml_error(&error, text, source))?;
    let Some(base) = own.get("base").and_then(toml::Value::as_str) else {
        return Ok(own);
    };
    let base_file = BUILT_IN
        .iter()
        .find(|(s, t)| header(t, s).is_ok_and(|(name, _)| name == base));
    let Some((base_source, base_text)) = base_file.filter(|_| depth < 4) else {
        return Err(LabError::BadValue {
            option: "base".into(),
            given: base.into(),
            allowed: format!(
                "a drive of the catalogue is allowed: {}",
                names()?.join(", ")
            ),
            place: InputLocation {
                source: source.into(),
                line: None,
            },
            hint: String::new(),
        });
    };
    let mut table = merged(base_text, base_source, depth + 1)?;
    if let Some(toml::Value::Table(documented)) = table.get_mut("documented") {
        // A rate belongs to a capacity.
        RATES.iter().for_each(|rate| drop(documented.remove(*rate)));
    }
    for (key, value) in own {
        match (table.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => below.extend(above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
    Ok(table)
}

fn header(text: &str, source: &str) -> Result<(String, String), LabError> {
    let table: toml::Table = text
        .parse()
        .map_err(|error| toml_error(&error, text, source))?;
    let field = |key: &str| {
        table
            .get(key)
            .and_then(toml::Value::as_str)
            .unwrap_or("")
            .to_string()
    };
    Ok((field("name"), field("title")))
}

#[cfg(test)]
mod tests {
    use super::super::standing::{HEADER, TABLE as VALIDATED};
    use super::*;

    fn consumer() -> &'static str {
        let found = BUILT_IN
            .iter()
            .find(|(file, _)| *file == "consumer-sata-1tb.toml");
        found.unwrap().1
    }

    /// `endurance drive:NAME` knew no such drive, where `qualify` asks for the prefix.
    #[test]
    fn a_drive_opens_by_its_name_with_and_without_the_prefix() {
        let name = |given| open(given).unwrap().file.name;
        assert_eq!(name("drive:intel-x25e-32gb"), name("intel-x25e-32gb"));
        assert!(open("drive:drive:intel-x25e-32gb").is_err());
    }

    #[test]
    fn every_drive_of_the_catalogue_is_complete_possible_and_sourced() {
        for name in names().unwrap() {
            let drive = drive(&name).unwrap();
            assert_eq!(drive.file.name, name);
            assert!(drive.parameters().len() > 25, "{name}");
        }
    }

    #[test]
    fn every_row_of_the_table_is_a_figure_of_its_drives_file() {
        assert_eq!(VALIDATED.lines().next(), Some(HEADER));
        for row in VALIDATED.lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            assert_eq!(cells.len(), HEADER.split(',').count(), "{row}");
            let key = format!("documented.{}", cells[1]);
            let parameters = drive(cells[0]).unwrap().parameters();
            assert!(parameters.iter().any(|p| p.key == key), "{row}");
        }
    }

    #[test]
    fn a_drive_that_misses_its_sheet_is_no_reference_and_says_so() {
        let references = references().unwrap();
        assert!(references.len() > 3, "{references:?}");
        for name in names().unwrap() {
            let premises = drive(&name).unwrap().rests_on();
            let says = premises
                .iter()
                .any(|p| p.as_ref().contains("not validated"));
            let is_off = matches!(DatasheetStanding::of(&name), DatasheetStanding::Off { .. });
            assert_eq!(says, is_off, "{name}");
            assert!(!(is_off && references.contains(&name)), "{name}");
        }
        assert_eq!(
            DatasheetStanding::of("my-drive"),
            DatasheetStanding::Unknown
        );
    }

    #[test]
    fn the_twin_differs_only_in_protection() {
        let mut twin = drive("consumer-sata-1tb-plp").unwrap().config;
        let base = drive("consumer-sata-1tb").unwrap().config;
        assert!(twin.buffer.protected && !base.buffer.protected);
        twin.buffer.protected = false;
        twin.name.clone_from(&base.name);
        assert_eq!(twin, base);
    }

    #[test]
    fn figures_of_the_article_are_in_the_file() {
        let drive = drive("consumer-sata-1tb").unwrap();
        assert_eq!(drive.rated_bytes_written(), Some(185_000_000_000_000));
        assert_eq!(drive.config.nand.timing.read[0], ssdlab_ssd::Nanos(56_500));
        assert_eq!(
            drive.config.host.command_overhead,
            ssdlab_ssd::Nanos(10_500)
        );
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            ("channels = {", "chanels = {", "unknown field `chanels`"),
            ("\"16 KiB\"", "\"16 bananas\"", "16 bananas"),
            (
                "value = \"400 MB/s\"",
                "value = \"400 MB\"",
                "a size per second",
            ),
            ("\"1000204886016 B\"", "\"2 TB\"", "raw capacity is"),
            (
                "source = \"article s2d\" }\nrandom_read",
                "source = \"\" }\nrandom_read",
                "source must",
            ),
            ("fitted_to = [\"s2d.buffered.cliff_s\"], ", "", "fitted_to"),
            (
                "kind = \"calibrated\"",
                "kind = \"guessed\"",
                "unknown variant `guessed`",
            ),
            (
                "{ value = 8, kind = \"assumed\", source = ",
                "{ value = 8, source = ",
                "missing field `kind`",
            ),
            ("[buffer]", "[bufer]", "unknown field `bufer`"),
        ];
        for (from, to, expected) in cases {
            let text = consumer().replacen(from, to, 1);
            assert_ne!(text, consumer(), "{from}");
            let error = parse(&text, "x.toml").unwrap_err();
            let shown = error.to_string();
            assert!(shown.contains(expected), "{to}: {shown}");
            assert!(shown.starts_with("x.toml"), "{shown}");
            assert!(!error.hint().is_empty());
        }
    }

    #[test]
    fn an_unknown_name_leads_to_the_list_of_known_ones() {
        let error = drive("nonesuch").unwrap_err();
        assert!(error.advice().contains("ssdlab list drives"), "{error}");
    }

    /// A misspelt drive was answered with the whole catalogue.
    #[test]
    fn a_misspelt_drive_is_answered_with_the_nearest() {
        let error = drive("consumer-sata-1t").unwrap_err().to_string();
        assert!(error.contains("did you mean consumer-sata-1tb"), "{error}");
        assert!(!error.contains("intel"), "{error}");
        for (asked, meant) in [
            ("990pro", "samsung-990-pro-1tb"),
            ("Samsung SSD 990 PRO 2TB", "samsung-990-pro-1tb"),
            ("P1600X", "intel-optane-p1600x-118gb"),
            ("Intel S3700 200GB", "intel-dc-s3700-200gb"),
            ("PM983", "samsung-pm983-"),
        ] {
            let error = drive(asked).unwrap_err().to_string();
            assert!(
                error.contains(&format!("did you mean {meant}")),
                "{asked}: {error}"
            );
        }
        for unknown in ["990", "1TB", "Kingston DC2000B 480GB", "SSD"] {
            let error = drive(unknown).unwrap_err().to_string();
            assert!(!error.contains("kingston"), "{error}");
        }
        let error = drive("xyzzy").unwrap_err().to_string();
        assert!(error.ends_with("`xyzzy` in the catalogue"), "{error}");
    }
}
