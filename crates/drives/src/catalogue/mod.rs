//! The catalogue: one TOML file per drive, every value with its source and kind.
//!
//! A member of a family names its `base` and gives only what the product differs in; the rest
//! comes from the base. Unknown keys are errors, so a misspelt parameter cannot be ignored.

mod check;
mod documented;
mod families;
mod place;
mod resolve;
mod wear;

pub use check::{Checked, check, check_family};
pub use documented::{Documented, Family};
pub use resolve::derived;
pub use wear::WearTable;

use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::error::Place;
use ssdlab_ssd::DriveConfig;
use std::path::Path;

/// The drives that come with ssdlab, every file of `drives/`: file name and text.
const BUILT_IN: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// How a value is known, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The maker says so.
    Datasheet,
    /// Somebody opened a drive and looked.
    Teardown,
    /// Somebody measured it.
    Measured,
    /// Follows from other values by arithmetic.
    Derived,
    /// Fitted so that the model meets the published figures in `fitted_to`.
    Calibrated,
    /// Chosen by us; the source says why.
    Assumed,
}

impl Kind {
    /// As written in drive files.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Datasheet => "datasheet",
            Kind::Teardown => "teardown",
            Kind::Measured => "measured",
            Kind::Derived => "derived",
            Kind::Calibrated => "calibrated",
            Kind::Assumed => "assumed",
        }
    }
}

/// A value with where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// How it is known.
    pub kind: Kind,
    /// Where from, or why.
    pub source: String,
    /// Ids of the published figures that a calibrated value was fitted to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted_to: Vec<String>,
}

/// A drive file as written, its base merged in.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFile {
    /// Name for the command line.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// `sata`, `nvme`, `pcie`.
    pub interface: String,
    /// The drive it is the same as, but for what this file gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The family it belongs to; given by the family's base, a drive alone has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What its papers say.
    pub documented: Documented,
    /// Capacity offered to the host.
    pub capacity: Capacity,
    /// The array.
    pub nand: NandTable,
    /// Translation layer.
    pub ftl: FtlTable,
    /// Write buffer.
    pub buffer: BufferTable,
    /// Host side.
    pub host: HostTable,
    /// Energy of its operations, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyTable>,
    /// How its media wears, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearTable>,
}

/// `[capacity]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Bytes the host may address.
    pub user: Sourced<String>,
}

/// `[nand]`: shape and times of the array.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The names are those of `Shape` and `NandTiming`, where they are explained.
pub struct NandTable {
    pub channels: Sourced<u32>,
    pub dies_per_channel: Sourced<u32>,
    pub planes_per_die: Sourced<u32>,
    pub blocks_per_plane: Sourced<u32>,
    pub pages_per_block: Sourced<u32>,
    pub page: Sourced<String>,
    pub bits_per_cell: Sourced<u32>,
    pub read: Sourced<Vec<String>>,
    pub program: Sourced<Vec<String>>,
    pub slc_read: Sourced<String>,
    pub slc_program: Sourced<String>,
    pub erase: Sourced<String>,
    pub channel_rate: Sourced<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_first: Option<Sourced<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspends_max: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Sourced<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_program: Option<Sourced<bool>>,
}

/// `[ftl]`: see [`ssdlab_ssd::config::FtlConfig`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct FtlTable {
    pub mapping_unit: Sourced<String>,
    pub free_superblocks_low: Sourced<u32>,
    pub slc_superblocks: Sourced<u32>,
    pub journal_entry: Sourced<String>,
    pub commit_map_programs: Sourced<u32>,
    pub commit_closes_word_lines: Sourced<bool>,
    pub idle_after: Sourced<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_dram: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_entry: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_leaf_programs: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_serial_misses: Option<Sourced<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_superblocks: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub victim: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_free_superblocks: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_frontier: Option<Sourced<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separation: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_dynamic_above_free: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_full: Option<Sourced<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_pages: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression_pack: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<Sourced<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_reads: Option<Sourced<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_queued: Option<Sourced<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_time: Option<Sourced<String>>,
}

/// `[buffer]`: see [`ssdlab_ssd::config::BufferConfig`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct BufferTable {
    pub size: Sourced<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Sourced<String>>,
    pub protected: Sourced<bool>,
}

/// `[host]`: see [`ssdlab_ssd::config::HostConfig`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct HostTable {
    pub queue_depth: Sourced<u32>,
    pub link_rate: Sourced<String>,
    pub full_duplex: Sourced<bool>,
    pub command_overhead: Sourced<String>,
    pub latency: Sourced<String>,
}

/// `[energy]`: see [`ssdlab_ssd::config::EnergyConfig`]. Lists are by page kind, SLC mode last.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct EnergyTable {
    pub read: Sourced<Vec<String>>,
    pub program: Sourced<Vec<String>>,
    pub erase: Sourced<String>,
    pub channel: Sourced<String>,
    pub link: Sourced<String>,
    pub command: Sourced<String>,
    pub idle: Sourced<String>,
}

/// A drive of the catalogue: its file, and the model's configuration made of it.
#[derive(Clone, Debug)]
pub struct CatalogueDrive {
    /// As written, base merged in.
    pub file: DriveFile,
    /// As the model takes it.
    pub config: DriveConfig,
}

/// One parameter for showing: table, key, value, kind, source, fitted_to.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Parameter {
    /// `nand.program` and so on.
    pub key: String,
    /// As written.
    pub value: String,
    /// How it is known.
    pub kind: Kind,
    /// Where from.
    pub source: String,
    /// Figures it was fitted to.
    pub fitted_to: Vec<String>,
}

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
/// When there is no such drive; the message lists those there are.
pub fn drive(name: &str) -> Result<CatalogueDrive, LabError> {
    for &(source, text) in BUILT_IN {
        if header(text, source)?.0 == name {
            return parse(text, source);
        }
    }
    Err(LabError::refused(
        format!(
            "there is no drive `{name}` in the catalogue (there are: {})",
            families::in_groups(&names()?).join(", ")
        ),
        "`ssdlab drives list` describes them; a path ending in .toml reads your own",
    ))
}

/// A drive by name, or from a TOML file when `name` ends in `.toml`.
///
/// # Errors
/// When it cannot be found, read or understood.
pub fn open(name: &str) -> Result<CatalogueDrive, LabError> {
    if !name.ends_with(".toml") {
        return drive(name);
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
    resolve::check_sources(&file, source)?;
    let config = resolve::config(&file, source)?;
    resolve::wear(&file, source)?;
    config.validate().map_err(|error| LabError::BadValue {
        option: error.what,
        given: error.given,
        allowed: error.allowed,
        place: Place {
            source: source.into(),
            line: None,
        },
        hint: "raw capacity is channels x dies x planes x blocks x pages x page size".into(),
    })?;
    Ok(CatalogueDrive { file, config })
}

/// The file's table with its base's values where it gives none.
fn merged(text: &str, source: &str, depth: u32) -> Result<toml::Table, LabError> {
    let own: toml::Table = text
        .parse()
        .map_err(|error| toml_error(&error, text, source))?;
    let Some(base) = own.get("base").and_then(toml::Value::as_str) else {
        return Ok(own);
    };
    let found = BUILT_IN
        .iter()
        .find(|(s, t)| header(t, s).is_ok_and(|(name, _)| name == base));
    let Some((base_source, base_text)) = found.filter(|_| depth < 4) else {
        return Err(LabError::BadValue {
            option: "base".into(),
            given: base.into(),
            allowed: format!(
                "a drive of the catalogue is allowed: {}",
                names()?.join(", ")
            ),
            place: Place {
                source: source.into(),
                line: None,
            },
            hint: String::new(),
        });
    };
    let mut table = merged(base_text, base_source, depth + 1)?;
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

fn toml_error(error: &toml::de::Error, text: &str, source: &str) -> LabError {
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    let message = error.message().replace('\n', "; ");
    LabError::BadEntry {
        key: "drive file".into(),
        what: place::plainly(&message),
        place: Place {
            source: source.into(),
            line,
        },
        hint: "every value is { value = ..., kind = \"...\", source = \"...\" }; \
               `ssdlab drives show NAME --toml` prints a complete file"
            .into(),
    }
}

impl CatalogueDrive {
    /// Every parameter with its source, for showing.
    pub fn parameters(&self) -> Vec<Parameter> {
        resolve::parameters(&self.file)
    }

    /// The calibrated and assumed values, in a sentence each, for every place that shows figures
    /// of this drive as it comes from the factory: without those of wear.
    pub fn rests_on(&self) -> Vec<String> {
        self.rests_on_of(|key| !key.starts_with("wear."))
    }

    /// Those of wear.
    pub fn wear_rests_on(&self) -> Vec<String> {
        self.rests_on_of(|key| key.starts_with("wear."))
    }

    /// What the file gives of the media.
    ///
    /// # Errors
    /// Never for a drive that was read: its file has been looked at.
    pub fn wear_given(&self) -> Result<crate::media::law::Given, LabError> {
        resolve::wear(&self.file, &self.file.name)
    }

    fn rests_on_of(&self, wanted: fn(&str) -> bool) -> Vec<String> {
        self.parameters()
            .into_iter()
            .filter(|p| wanted(&p.key) && matches!(p.kind, Kind::Calibrated | Kind::Assumed))
            .map(|p| match p.kind {
                Kind::Calibrated => {
                    format!(
                        "{} = {}: calibrated to {}",
                        p.key,
                        p.value,
                        p.fitted_to.join(", ")
                    )
                }
                _ => format!("{} = {}: assumed ({})", p.key, p.value, p.source),
            })
            .collect()
    }

    /// Rated endurance in bytes; `None` when the drive has no such rating.
    pub fn rated_bytes_written(&self) -> Option<u64> {
        let rated = self.file.documented.rated_writes.as_ref()?;
        ssdlab_base::quantity::parse_size(&rated.value).ok()
    }

    /// Drive writes per day = rated writes / (user capacity x warranty in days).
    pub fn dwpd(&self) -> Option<f64> {
        let years = self.file.documented.warranty_years.as_ref()?.value;
        let days = f64::from(years) * 365.0;
        let rated = self.rated_bytes_written()? as f64;
        (days > 0.0).then(|| rated / (self.config.user_bytes as f64 * days))
    }

    /// The family's name; a drive alone is a family of its own.
    pub fn family(&self) -> &str {
        let family = self.file.family.as_ref();
        family.map_or(&self.file.name, |family| &family.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumer() -> &'static str {
        let found = BUILT_IN
            .iter()
            .find(|(file, _)| *file == "consumer-sata-1tb.toml");
        found.unwrap().1
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
    fn an_unknown_name_lists_the_known_ones() {
        let error = drive("nonesuch").unwrap_err().to_string();
        assert!(error.contains("consumer-sata-1tb-plp"), "{error}");
    }
}
