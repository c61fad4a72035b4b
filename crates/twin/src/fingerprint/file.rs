//! A fingerprint as a drive file: probed values measured, the others those of an archetype.

use super::course::Fingerprint;
use super::values::FingerprintValue;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue::{self, CatalogueDrive};
use ssdlab_drives::scaling::{scaled, sized};
use ssdlab_ssd::DriveConfig;
use toml::{Table, Value as Toml};

/// Name of the drive, and of its file.
pub const NAME: &str = "fingerprint";
/// Its file.
pub const FILE: &str = "fingerprint.toml";
/// Logarithms to base 2 of the fewest and of more than the most blocks per plane.
const BLOCKS: (u32, u32) = (4, 21);
/// Superblocks that a target has room for, if nothing is known of their size.
const SUPERBLOCKS_MIN: u32 = 64;

/// The archetype that the rest comes from.
fn archetype(fingerprint: &Fingerprint) -> &'static str {
    let protected = fingerprint
        .known("buffer.protected")
        .and_then(|value| value.value)
        == Some(1.0);
    match (fingerprint.target.interface.as_deref(), protected) {
        (Some("sata"), false) => "consumer-sata-1tb",
        (Some("sata"), true) => "consumer-sata-1tb-plp",
        (_, false) => "tlc-client-nvme-1tb",
        (_, true) => "tlc-enterprise-nvme-1920gb",
    }
}

/// A drive file under construction.
struct DriveFileDraft {
    file: Table,
}

impl DriveFileDraft {
    fn set(&mut self, key: &str, value: impl Into<Toml>, kind: &str, source: String) {
        let (table, key) = key.split_once('.').unwrap_or(("", key));
        let mut entry = Table::new();
        entry.insert("value".into(), value.into());
        entry.insert("kind".into(), kind.into());
        entry.insert("source".into(), source.into());
        if let Some(Toml::Table(table)) = self.file.get_mut(table) {
            table.insert(key.into(), Toml::Table(entry));
        }
    }

    /// Everything of `from`, assumed.
    fn assumed(from: &CatalogueDrive) -> Result<DriveFileDraft, LabError> {
        let mut file = Table::try_from(&from.file)
            .map_err(|error| LabError::refused(format!("writing TOML: {error}"), ""))?;
        for key in ["base", "family", "energy", "heat"] {
            file.remove(key);
        }
        if let Some(Toml::Table(documented)) = file.get_mut("documented") {
            documented.retain(|key, _| key == "power_loss_protection");
        }
        for (_, table) in file.iter_mut() {
            let entries = table
                .as_table_mut()
                .into_iter()
                .flat_map(|table| table.iter_mut());
            for entry in entries.filter_map(|(_, entry)| entry.as_table_mut()) {
                entry.remove("fitted_to");
                entry.insert("kind".into(), "assumed".into());
                let source = format!("not probed, or UNKNOWN; as {}", from.file.name);
                entry.insert("source".into(), source.into());
            }
        }
        Ok(DriveFileDraft { file })
    }
}

fn source_of(value: &FingerprintValue) -> String {
    let interval = value.interval.map_or(String::new(), |[low, high]| {
        format!(" {:.4e} to {:.4e} {};", low, high, value.unit)
    });
    format!("ssdlab fingerprint:{interval} {}", value.why)
}

/// The drive file of a fingerprint.
///
/// # Errors
/// When no drive of this size can be built of the archetype's parts.
pub fn drive_file(fingerprint: &Fingerprint) -> Result<String, LabError> {
    let from = catalogue::open(archetype(fingerprint))?;
    let user = fingerprint.bytes;
    let mut config = if user < from.config.user_bytes {
        scaled(&from.config, user)?.config
    } else {
        sized(&from.config, user)?.config
    };
    config.user_bytes = user;
    let mut draft = DriveFileDraft::assumed(&from)?;
    let text = |text: &str| Toml::String(text.into());
    draft.file.insert("name".into(), text(NAME));
    let title = format!("fingerprint of {}", fingerprint.target.name);
    draft.file.insert("title".into(), text(&title));
    let source = "as many bytes as the fingerprint used".to_string();
    draft.set("capacity.user", format!("{user} B"), "measured", source);
    array(&mut draft, fingerprint, config, &from)?;
    host(&mut draft, fingerprint);
    let text = toml::to_string(&draft.file)
        .map_err(|error| LabError::refused(format!("writing TOML: {error}"), ""))?;
    let drive = catalogue::parse(&text, FILE)?;
    catalogue::check(&drive, &text, FILE)?;
    Ok(text)
}

/// Buffer and host side.
fn host(draft: &mut DriveFileDraft, fingerprint: &Fingerprint) {
    for value in &fingerprint.values {
        let Some(known) = value.value else { continue };
        let text = match (value.key, value.unit) {
            ("nand.read" | "nand.program", _) => continue,
            (_, "B") => format!("{} B", (known / 4096.0).round() as u64 * 4096),
            (_, "B/s") => format!("{known:.0} B/s"),
            (_, "ns") => format!("{known:.0} ns"),
            _ => continue,
        };
        if ["buffer", "host"].contains(&value.key.split('.').next().unwrap_or_default()) {
            draft.set(value.key, text, "measured", source_of(value));
        }
    }
    for key in ["buffer.protected", "ftl.shared_frontier"] {
        if let Some(value) = fingerprint.known(key) {
            draft.set(key, value.value == Some(1.0), "measured", source_of(value));
        }
    }
}

/// A known value and its number.
fn measured<'a>(fingerprint: &'a Fingerprint, key: &str) -> Option<(&'a FingerprintValue, f64)> {
    let value = fingerprint.known(key)?;
    value.value.map(|number| (value, number))
}

/// Superblock, spare area, caches and times of the array.
fn array(
    draft: &mut DriveFileDraft,
    fingerprint: &Fingerprint,
    mut config: DriveConfig,
    from: &CatalogueDrive,
) -> Result<(), LabError> {
    let archetype = from.file.name.as_str();
    let known = |key: &str| measured(fingerprint, key);
    let spare = known("spare");
    let spare_share = spare.map_or(from.config.effective_op(), |(_, spare)| spare);
    // A small target would have too few superblocks of the archetype's size.
    let most = config.user_bytes as f64 / f64::from(SUPERBLOCKS_MIN);
    match known("superblock") {
        Some((_, size)) => fit_superblock(&mut config, size),
        None if superblock(&config) > most => fit_superblock(&mut config, most),
        None => {}
    }
    if let Some((_, size)) = known("pSLC") {
        let full = known("static pSLC").map_or(size, |(_, full)| full);
        caches(draft, fingerprint, &mut config, size, full);
    } else {
        let slc = config.ftl.slc;
        let source = || format!("UNKNOWN; scaled from {archetype}");
        let superblocks = i64::from(slc.superblocks);
        draft.set("ftl.slc_superblocks", superblocks, "assumed", source());
        let above = i64::from(slc.dynamic_above_free);
        draft.set("ftl.slc_dynamic_above_free", above, "assumed", source());
    }
    fit_blocks(&mut config, spare_share, archetype)?;
    let (kind, source) = match spare {
        Some((value, _)) => (
            "measured",
            format!("spare area {spare_share:.4}: {}", source_of(value)),
        ),
        None => (
            "assumed",
            format!("spare area {spare_share:.4} as {archetype}"),
        ),
    };
    draft.set(
        "nand.blocks_per_plane",
        i64::from(config.shape.blocks_per_plane),
        kind,
        source,
    );
    let (kind, source) = match fingerprint.known("superblock") {
        Some(value) => ("measured", format!("the superblock: {}", source_of(value))),
        None => ("assumed", format!("scaled from {archetype}")),
    };
    draft.set(
        "nand.pages_per_block",
        i64::from(config.shape.pages_per_block),
        kind,
        source,
    );
    let shape = config.shape;
    let dies = [
        ("nand.channels", shape.channel_count),
        ("nand.dies_per_channel", shape.dies_per_channel),
        ("nand.planes_per_die", shape.planes_per_die),
    ];
    for (key, count) in dies {
        let source = format!("from {archetype}, fewer where the superblock is smaller");
        draft.set(key, i64::from(count), "assumed", source);
    }
    times(draft, fingerprint, &config);
    Ok(())
}

/// Times of programs and reads.
fn times(draft: &mut DriveFileDraft, fingerprint: &Fingerprint, config: &DriveConfig) {
    let known = |key: &str| measured(fingerprint, key);
    let (shape, bits) = (config.shape, config.shape.bits_per_cell);
    let units = f64::from(shape.channel_count * shape.dies_per_channel * shape.planes_per_die);
    let list = |ns: f64| Toml::Array(vec![Toml::String(format!("{ns:.0} ns")); bits as usize]);
    if let Some((value, rate)) = known("nand.program") {
        let ns = (units * f64::from(shape.page_bytes) / rate * 1e9).max(1_000.0);
        let source = format!("{rate:.0} B/s over {units} planes: {}", source_of(value));
        draft.set("nand.program", list(ns), "measured", source);
    }
    if let Some((value, ns)) = known("nand.read") {
        draft.set("nand.read", list(ns), "measured", source_of(value));
    }
}

/// Bytes of a superblock.
fn superblock(config: &DriveConfig) -> f64 {
    row(config) / f64::from(config.shape.bits_per_cell) * f64::from(config.shape.pages_per_block)
}

fn row(config: &DriveConfig) -> f64 {
    let s = &config.shape;
    let planes = s.channel_count * s.dies_per_channel * s.planes_per_die;
    f64::from(planes) * f64::from(s.page_bytes) * f64::from(s.bits_per_cell)
}

/// Word lines, and dies where even few of them are too many, for a superblock of `size` bytes.
fn fit_superblock(config: &mut DriveConfig, size: f64) {
    while row(config) * 8.0 > size {
        let parity = config.ftl.parity;
        let shape = &mut config.shape;
        // Parity needs dies to be over.
        if parity && shape.dies_per_channel * shape.channel_count <= 4 {
            break;
        }
        if shape.dies_per_channel > 1 {
            shape.dies_per_channel /= 2;
        } else if shape.channel_count > 1 {
            shape.channel_count /= 2;
        } else if shape.planes_per_die > 1 {
            shape.planes_per_die /= 2;
        } else {
            break;
        }
    }
    let lines = (size / row(config)).round().max(1.0);
    config.shape.pages_per_block = config.shape.bits_per_cell * lines as u32;
}

/// The least number of blocks with the effective over-provisioning `spare`.
fn fit_blocks(config: &mut DriveConfig, spare: f64, archetype: &str) -> Result<(), LabError> {
    let enough = |blocks: u32| {
        let mut config = config.clone();
        config.shape.blocks_per_plane = blocks;
        config.effective_op() >= spare && config.validate().is_ok()
    };
    // Far too many are as impossible as too few.
    let mut powers = (BLOCKS.0..BLOCKS.1).map(|power| 1 << power);
    let Some(mut many) = powers.find(|&blocks| enough(blocks)) else {
        let why = config
            .validate()
            .err()
            .map(|error| format!(": {error}"))
            .unwrap_or_default();
        let problem = format!(
            "{archetype} has no parts for {} bytes{why}",
            config.user_bytes
        );
        return Err(LabError::refused(problem, "give a smaller --size"));
    };
    let mut few = many / 2;
    while many - few > 1 {
        let middle = few.midpoint(many);
        if enough(middle) {
            many = middle;
        } else {
            few = middle;
        }
    }
    config.shape.blocks_per_plane = many;
    Ok(())
}

/// The pSLC cache: `full` bytes of its own, the rest of `size` in free superblocks.
fn caches(
    draft: &mut DriveFileDraft,
    fingerprint: &Fingerprint,
    config: &mut DriveConfig,
    size: f64,
    full: f64,
) {
    let superblock = superblock(config);
    let own = f64::from(config.shape.bits_per_cell) / superblock;
    let source = |key| fingerprint.known(key).map(source_of).unwrap_or_default();
    config.ftl.slc.superblocks = (full * own).round() as u32;
    let count = i64::from(config.ftl.slc.superblocks);
    draft.set(
        "ftl.slc_superblocks",
        count,
        "measured",
        source("static pSLC") + &source("pSLC"),
    );
    let opened = ((size - full) * own).round();
    let native = config.user_bytes as f64 * (1.0 + config.effective_op()) / superblock;
    let above = if opened < 1.0 {
        0.0
    } else {
        (native - opened).max(4.0)
    };
    let text = source("pSLC");
    config.ftl.slc.dynamic_above_free = above as u32;
    draft.set("ftl.slc_dynamic_above_free", above as i64, "measured", text);
}
