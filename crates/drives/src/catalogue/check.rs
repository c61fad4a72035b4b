//! What `ssdlab drives check` looks at beyond what reading a file does: the arithmetic of the
//! papers, and the rules of families.

use super::drive::CatalogueDrive;
use super::place::located;
use super::read;
use super::reader::QuantityReader;
use super::sourced::{Provenance, SourcedValue};
use ssdlab_base::LabError;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{Bytes, Nanos};
use std::collections::BTreeMap;
use std::path::Path;

/// Calibrated constants that a family may have: with more, anything could be met.
const CALIBRATED_MAX: usize = 3;
/// OP above which a file is not that of a product: the most known is 72 % (Intel 710), and flash as
/// much as the user capacity again would be sold as capacity. A member that inherits the dies of a
/// larger one has more.
const OP_MAX: f64 = 1.0;
/// Beginnings of ids of published figures.
const ARTICLES: [&str; 6] = ["s2d.", "zil.", "spare.", "myth.", "worn.", "fill."];
/// Beginning of the ids of figures of data sheets: `sheet.DRIVE.KEY`, a key of `[documented]`.
const SHEET: &str = "sheet.";

/// What the check found out about a good drive.
#[derive(Clone, Debug)]
pub struct CatalogueCheck {
    /// Bytes of the array.
    pub raw_bytes: u64,
    /// OP = (raw - user) / user.
    pub op: f64,
    /// Drive writes per day, from rated writes and warranty.
    pub dwpd: Option<f64>,
    /// Controller time for each moved slot that is usual, where the file gives none.
    pub usual_moved_slot: Option<Nanos>,
    /// How many values are known in which way, strongest first.
    pub kinds: BTreeMap<&'static str, usize>,
}

/// Checks one drive, `text` being its own file: name, ids, arithmetic, the family's rule.
///
/// # Errors
/// The first thing wrong, with its place.
pub fn check(drive: &CatalogueDrive, text: &str, source: &str) -> Result<CatalogueCheck, LabError> {
    let r = QuantityReader { source };
    let outcome = name(drive, &r)
        .and_then(|()| figures(drive, &r))
        .and_then(|()| member(drive, text, &r))
        .and_then(|()| arithmetic(drive, &r));
    outcome.map_err(|error| located(error, text))
}

fn name(drive: &CatalogueDrive, r: &QuantityReader<'_>) -> Result<(), LabError> {
    let stem = Path::new(r.source).file_stem().unwrap_or_default();
    if *stem == *drive.file.name {
        return Ok(());
    }
    let allowed = format!("the file's name, `{}`, is allowed", stem.display());
    Err(r.bad("name", &drive.file.name, allowed))
}

fn figures(drive: &CatalogueDrive, r: &QuantityReader<'_>) -> Result<(), LabError> {
    for p in drive.parameters() {
        for id in &p.fitted_to {
            let known = match id.strip_prefix(SHEET) {
                Some(figure) => is_in_a_sheet(figure, drive),
                None => ARTICLES.iter().any(|article| id.starts_with(article)),
            };
            if !known {
                let articles = ARTICLES.join(", ");
                let allowed =
                    format!("ids beginning with {articles} or {SHEET}DRIVE.KEY are allowed");
                return Err(r.bad(&p.key, id, allowed));
            }
        }
    }
    Ok(())
}

/// Whether `figure`, DRIVE.KEY, is a key of `[documented]` in the catalogue, or in `checked`.
fn is_in_a_sheet(figure: &str, checked: &CatalogueDrive) -> bool {
    let Some((drive, key)) = figure.split_once('.') else {
        return false;
    };
    let key = format!("documented.{key}");
    let parameters = if drive == checked.file.name {
        Ok(checked.parameters())
    } else {
        read::drive(drive).map(|drive| drive.parameters())
    };
    parameters.is_ok_and(|parameters| parameters.iter().any(|p| p.key == key))
}

/// A member gives only what the products differ in, and calibrates nothing of its own.
fn member(drive: &CatalogueDrive, text: &str, r: &QuantityReader<'_>) -> Result<(), LabError> {
    let (Some(family), Some(_)) = (&drive.file.family, &drive.file.base) else {
        return Ok(());
    };
    let own: toml::Table = text.parse().unwrap_or_default();
    if own.contains_key("family") {
        // Another family on the same controller, with a base of its own.
        return Ok(());
    }
    for (table, values) in &own {
        let Some(values) = values.as_table() else {
            continue;
        };
        for (key, value) in values {
            let key = format!("{table}.{key}");
            let kind = value.get("kind").and_then(toml::Value::as_str);
            if kind == Some("calibrated") {
                let allowed = "calibrated values belong to the family, in its base".into();
                return Err(r.bad(&key, "calibrated", allowed));
            }
            if table != "documented" && !family.members_differ_in.contains(&key) {
                let allowed = format!(
                    "members of {} differ in {} only",
                    family.name,
                    family.members_differ_in.join(", ")
                );
                return Err(r.bad(&key, "set by a member", allowed));
            }
        }
    }
    Ok(())
}

fn arithmetic(drive: &CatalogueDrive, r: &QuantityReader<'_>) -> Result<CatalogueCheck, LabError> {
    let documented = &drive.file.documented;
    let raw_bytes = Geometry::new(drive.config.shape).raw_bytes();
    if let Some(raw) = &documented.raw {
        let documented_bytes = r.size("documented.raw", raw)?;
        if documented_bytes.abs_diff(raw_bytes) > documented_bytes / 50 {
            let allowed = format!(
                "channels x dies x planes x blocks x pages x page make {}, which is more than \
                 2 % off",
                Bytes(raw_bytes)
            );
            return Err(r.bad("documented.raw", &raw.value, allowed));
        }
    }
    let op = drive.config.nominal_op();
    if op > OP_MAX {
        let allowed = format!(
            "at most {:.0} % of the user capacity as spare is allowed, and {} of flash leave \
             {:.0} %: nand.dies_per_channel or nand.blocks_per_plane may be of a larger drive",
            100.0 * OP_MAX,
            Bytes(raw_bytes),
            100.0 * op
        );
        return Err(r.bad("capacity.user", &drive.file.capacity.user.value, allowed));
    }
    let sizes = [
        ("dram", &documented.dram),
        ("rated_writes", &documented.rated_writes),
        ("rated_writes_8k", &documented.rated_writes_8k),
        ("rated_writes_20_spare", &documented.rated_writes_20_spare),
    ];
    for (key, value) in sizes {
        if let Some(value) = value {
            r.size(&format!("documented.{key}"), value)?;
        }
    }
    rates(drive, r)?;
    times(drive, r)?;
    let dwpd = drive.dwpd();
    check_dwpd(dwpd, documented.dwpd.as_ref(), r)?;
    let mut kinds = BTreeMap::new();
    for p in drive.parameters() {
        *kinds.entry(p.kind.name()).or_insert(0) += 1;
    }
    Ok(CatalogueCheck {
        raw_bytes,
        op,
        dwpd,
        usual_moved_slot: usual_moved_slot(drive),
        kinds,
    })
}

/// What the fitted families since 2012 have in common, geometric mean: the controller takes 1.94
/// times as long for a moved slot as for a command (`docs/catalogue.md`).
fn usual_moved_slot(drive: &CatalogueDrive) -> Option<Nanos> {
    let overhead = drive.config.host.command_overhead;
    let missing = drive.file.host.moved_slot.is_none();
    missing.then(|| Nanos(overhead.0 * 194 / 100))
}

fn rates(drive: &CatalogueDrive, r: &QuantityReader<'_>) -> Result<(), LabError> {
    let documented = &drive.file.documented;
    for (key, value) in [
        ("sequential_read", &documented.sequential_read),
        ("sequential_write", &documented.sequential_write),
    ] {
        if let Some(value) = value {
            r.rate(&format!("documented.{key}"), value)?;
        }
    }
    Ok(())
}

fn times(drive: &CatalogueDrive, r: &QuantityReader<'_>) -> Result<(), LabError> {
    let documented = &drive.file.documented;
    for (key, value) in [
        (
            "sequential_read_latency",
            &documented.sequential_read_latency,
        ),
        (
            "sequential_write_latency",
            &documented.sequential_write_latency,
        ),
        ("random_read_999", &documented.random_read_999),
        ("random_write_999", &documented.random_write_999),
    ] {
        if let Some(value) = value {
            r.time(&format!("documented.{key}"), &value.value)?;
        }
    }
    Ok(())
}

fn check_dwpd(
    ours: Option<f64>,
    documented: Option<&SourcedValue<f64>>,
    r: &QuantityReader<'_>,
) -> Result<(), LabError> {
    let (Some(ours), Some(said)) = (ours, documented) else {
        return Ok(());
    };
    if (ours - said.value).abs() <= 0.05 * said.value {
        return Ok(());
    }
    let allowed = format!(
        "rated writes / (user capacity x years x 365) is {ours:.2}, which is more than 5 % off"
    );
    Err(r.bad("documented.dwpd", &said.value.to_string(), allowed))
}

/// Checks what only a family's members together can tell: at most three calibrated constants.
///
/// # Errors
/// With all of them by name.
pub fn check_family(family: &str, members: &[&CatalogueDrive]) -> Result<(), LabError> {
    let mut keys: Vec<String> = members
        .iter()
        .flat_map(|drive| drive.parameters())
        .filter(|p| p.kind == Provenance::Calibrated)
        .map(|p| p.key)
        .collect();
    keys.sort();
    keys.dedup();
    if keys.len() <= CALIBRATED_MAX {
        return Ok(());
    }
    Err(LabError::refused(
        format!(
            "family {family} has {} calibrated constants: {}",
            keys.len(),
            keys.join(", ")
        ),
        format!("at most {CALIBRATED_MAX} are allowed: with more, anything could be met"),
    ))
}
