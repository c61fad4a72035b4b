//! A twin in its directory: `twin.json`, and its best model as a drive file.

use crate::ensemble::EnsembleMember;
use crate::fit::{Knob, Twin, ValueGrade};
use crate::structure::{self, SLOT};
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_drives::catalogue::{self, CatalogueDrive, DriveFile, Provenance, SourcedValue};
use ssdlab_ssd::DriveConfig;
use std::path::Path;
use toml::{Table, Value as Toml};

/// The ensemble's file.
pub const FILE: &str = "twin.json";
/// The best model's file.
pub const DRIVE: &str = "drive.toml";
/// Fewest and most blocks per plane of a drive that is made.
const BLOCKS: (u32, u32) = (32, 1 << 20);

/// Reads the twin of a directory.
///
/// # Errors
/// When the directory holds no twin, or one of another version.
pub fn load(dir: &Path) -> Result<Twin, LabError> {
    let path = dir.join(FILE);
    let text =
        std::fs::read_to_string(&path).map_err(|error| LabError::file("reading", &path, error))?;
    let bad = |problem: String| LabError::BadEntry {
        key: "twin".into(),
        what: problem,
        place: InputLocation {
            source: path.display().to_string(),
            line: None,
        },
        hint: "name a directory that `ssdlab twin fit` of this version has written".into(),
    };
    let twin: Twin = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if (twin.format.as_str(), twin.version) != ("ssdlab-twin", 1) {
        let problem = format!(
            "format {} {}: ssdlab-twin 1 is allowed",
            twin.format, twin.version
        );
        return Err(bad(problem));
    }
    Ok(twin)
}

/// Where a value comes from: its source, and the rows that it was fitted to.
struct ValueProvenance {
    grade: ValueGrade,
    source: String,
    rows: Vec<String>,
}

fn sourced<T>(value: T, why: &ValueProvenance) -> SourcedValue<T> {
    let source = &why.source;
    match why.grade {
        ValueGrade::Value | ValueGrade::Range => SourcedValue {
            value,
            kind: Provenance::Calibrated,
            source: source.clone(),
            fitted_to: why.rows.clone(),
        },
        ValueGrade::Unknown => SourcedValue {
            value,
            kind: Provenance::Assumed,
            source: format!("the best model of the twin; no row decides it ({source})"),
            fitted_to: Vec::new(),
        },
    }
}

/// File and line of every row that is evidence.
fn rows(twin: &Twin) -> Vec<String> {
    let table = Path::new(&twin.table.source);
    let name = table.file_name().unwrap_or_default().display();
    let used = twin.table.used();
    used.map(|row| format!("{name}:{}", row.line)).collect()
}

fn why(twin: &Twin, knob: &Knob) -> ValueProvenance {
    let [low, high] = knob.interval;
    ValueProvenance {
        grade: knob.grade,
        source: format!("twin; {}: 90 % {low:.3} to {high:.3}", knob.name),
        rows: rows(twin),
    }
}

/// The best model as a drive file: `from` with its user capacity, spare area, layout and costs.
///
/// # Errors
/// When no such drive can be built of the parts of `from`.
pub fn drive_file(twin: &Twin, from: &CatalogueDrive) -> Result<Option<String>, LabError> {
    let (Some(best), Some(layout), [spare, moved, scattered]) =
        (&twin.best, &twin.layout, twin.knobs.as_slice())
    else {
        return Ok(None);
    };
    let mut file = from.file.clone();
    file.name = format!("{}-twin", from.file.name);
    file.title = format!("twin of a measured drive, from {}", from.file.name);
    (file.base, file.family) = (None, None);
    file.capacity.user = SourcedValue {
        value: format!("{} B", twin.capacity),
        kind: Provenance::Assumed,
        source: "as given to `ssdlab twin fit`".into(),
        fitted_to: Vec::new(),
    };
    shape(&mut file, from, best, twin.capacity, &why(twin, spare))?;
    let layout_source = format!(
        "twin: {}, probability {:.2}",
        layout.text, layout.probability
    );
    let of_layout = ValueProvenance {
        grade: layout.grade,
        source: layout_source,
        rows: rows(twin),
    };
    let own = &structure::ALL[best.layout];
    let ftl = &mut file.ftl;
    ftl.victim = Some(sourced(own.victim_setting(), &of_layout));
    ftl.shared_frontier = Some(sourced(own.shared, &of_layout));
    ftl.streams = Some(sourced(own.streams(), &of_layout));
    let separation = if own.by_lifespan {
        "lifespan"
    } else {
        "single"
    };
    ftl.separation = Some(sourced(separation.into(), &of_layout));
    let apart = u32::from(from.config.map_is_apart());
    let low = ftl
        .free_superblocks_low
        .value
        .max(2 * own.streams() + 1 + apart);
    ftl.free_superblocks_low.value = low;
    let ns = |bytes: f64| format!("{:.0} ns", bytes / twin.table.sequential * 1e9);
    let write = ns(SLOT as f64 * (1.0 + best.scattered_cost));
    file.host.write_overhead = Some(sourced(write, &why(twin, scattered)));
    let slot = f64::from(from.config.shape.slot_bytes);
    file.host.moved_slot = Some(sourced(ns(slot * best.moved_cost), &why(twin, moved)));
    let is_same_size = from.config.user_bytes.abs_diff(twin.capacity) < from.config.user_bytes / 50;
    let text = text(&file, is_same_size)
        .map_err(|error| LabError::refused(format!("writing TOML: {error}"), ""))?;
    // The file must be readable.
    catalogue::parse(&text, DRIVE)?;
    Ok(Some(text))
}

/// The file with the figures of a sheet that are the drive's own: of one of `from`'s size, and not
/// assumed of its class. A rating of another drive would decide a verdict.
fn text(file: &DriveFile, is_same_size: bool) -> Result<String, toml::ser::Error> {
    let mut table = Table::try_from(file)?;
    if let Some(Toml::Table(documented)) = table.get_mut("documented") {
        documented.retain(|key, value| {
            let kind = value.get("kind").and_then(Toml::as_str);
            let is_of_sheet = kind == Some(Provenance::Datasheet.name());
            key == "power_loss_protection" || (is_same_size && is_of_sheet)
        });
    }
    toml::to_string(&table)
}

/// Sets blocks and pages so that the drive has the best model's superblocks and spare area.
fn shape(
    file: &mut DriveFile,
    from: &CatalogueDrive,
    best: &EnsembleMember,
    capacity: u64,
    why: &ValueProvenance,
) -> Result<(), LabError> {
    let own = &structure::ALL[best.layout];
    let mut config: DriveConfig = from.config.clone();
    config.user_bytes = capacity / SLOT * SLOT;
    config.ftl.reclaim.streams = own.streams();
    config.ftl.reclaim.shared_frontier = own.shared;
    let bits = config.shape.bits_per_cell;
    let dies = u64::from(config.shape.channel_count * config.shape.dies_per_channel);
    let page = u64::from(config.shape.planes_per_die) * u64::from(config.shape.page_bytes);
    let line = (dies * page * u64::from(bits)) as f64;
    let superblock = capacity as f64 * (1.0 + best.spare) / f64::from(own.superblocks);
    config.shape.pages_per_block = bits * (superblock / line).round().max(2.0) as u32;
    let enough = |blocks: u32| {
        let mut config = config.clone();
        config.shape.blocks_per_plane = blocks;
        config.effective_op() >= best.spare
    };
    let (mut few, mut many) = BLOCKS;
    if !enough(many) {
        let problem = format!("{} has no parts for {capacity} bytes", from.file.name);
        return Err(LabError::refused(
            problem,
            "give --from a drive of about that capacity",
        ));
    }
    while many - few > 1 {
        let middle = few.midpoint(many);
        if enough(middle) {
            many = middle;
        } else {
            few = middle;
        }
    }
    let pages = config.shape.pages_per_block;
    file.nand.blocks_per_plane = sourced(many, why);
    file.nand.pages_per_block = sourced(pages, why);
    Ok(())
}
