//! SATA drives: attributes by vendor, and the standard's device statistics where there are any.
//!
//! An attribute is taken for what smartctl's database calls it; names that smartctl gives any
//! drive by default are believed only of the vendors whose documents say so.

use super::inspection::{Inspection, TimedWorkload};
use super::json::Doc;
use ssdlab_bench::device::health::ReportedValue;
use ssdlab_drives::smart::TIMED_PENDING;

const MIB_32: f64 = (32_u64 << 20) as f64;
const GIB: f64 = (1_u64 << 30) as f64;

/// Raw values have seven bytes at most.
const RAW_MAX: f64 = (1_u64 << 56) as f64;

/// One attribute as smartctl prints it.
pub(super) struct AtaAttribute {
    pub id: u64,
    pub name: String,
    pub value: Option<f64>,
    pub threshold: Option<f64>,
    pub raw: Option<f64>,
}

pub(super) fn rows(doc: &Doc) -> Vec<AtaAttribute> {
    let row = |row: Doc| {
        Some(AtaAttribute {
            id: row.whole("id")?,
            name: row.text("name").unwrap_or_default(),
            value: row.number("value").filter(|v| (0.0..=255.0).contains(v)),
            threshold: row.number("thresh"),
            raw: row
                .number("raw.value")
                .filter(|raw| (0.0..RAW_MAX).contains(raw)),
        })
    };
    doc.rows("ata_smart_attributes.table")
        .filter_map(row)
        .collect()
}

impl AtaAttribute {
    fn reported(&self, unit: f64) -> Option<ReportedValue> {
        Some(ReportedValue {
            value: self.raw? * unit,
            resolution: unit,
            source: self.source(),
        })
    }

    fn source(&self) -> String {
        format!("attribute {} {}", self.id, self.name)
    }

    fn count(&self) -> Option<u64> {
        self.raw
            .filter(|raw| *raw < 2_f64.powi(48))
            .map(|raw| raw as u64)
    }
}

/// How the names of models begin that have SandForce's controller and are not in smartctl's
/// database, which then leaves their attributes unnamed. The Wildfire has an SF-2281 (Patriot).
const SANDFORCE: [&str; 1] = ["patriot wildfire"];

/// Whose attributes these are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vendor {
    Intel,
    Samsung,
    Micron,
    SandForce,
    Other,
}

fn vendor(found: &Inspection) -> Vendor {
    let family = found.identity.family.as_deref().unwrap_or("");
    let model = found.identity.model.as_deref().unwrap_or("");
    let is =
        |name: &str| family.to_lowercase().contains(name) || model.to_lowercase().starts_with(name);
    match () {
        () if is("sandforce") || SANDFORCE.into_iter().any(is) => Vendor::SandForce,
        () if is("intel") || model.starts_with("SSDSC") => Vendor::Intel,
        () if is("samsung") || model.starts_with("MZ7") => Vendor::Samsung,
        () if is("crucial") || is("micron") => Vendor::Micron,
        () => Vendor::Other,
    }
}

pub(super) fn read(doc: &Doc, found: &mut Inspection) {
    let rows = rows(doc);
    let vendor = vendor(found);
    found.cache.enabled = doc.flag("write_cache.enabled");
    found.cache.volatile = found.cache.enabled.map(|_| true);
    writes(&rows, vendor, found);
    wear(&rows, vendor, found);
    statistics(doc, found);
    events(&rows, vendor, found);
    timed(&rows, found);
    let below = |row: &&AtaAttribute| match (row.value, row.threshold) {
        (Some(value), Some(limit)) => limit > 0.0 && value <= limit,
        _ => false,
    };
    for row in rows.iter().filter(below) {
        found
            .warnings
            .push(format!("{} is at its threshold", row.source()));
    }
}

/// Whether the drive reports what only a disk with heads has. An SSD that smartctl does not know
/// may show one of these names by default, not both.
pub(super) fn has_heads(doc: &Doc) -> bool {
    let rows = rows(doc);
    let has = |names: &[&str]| rows.iter().any(|row| names.contains(&row.name.as_str()));
    has(&["Spin_Up_Time", "Spin_Retry_Count"]) && has(&["Seek_Error_Rate", "Head_Flying_Hours"])
}

fn named<'a>(rows: &'a [AtaAttribute], names: &[&str]) -> Option<&'a AtaAttribute> {
    names.iter().find_map(|name| {
        rows.iter()
            .find(|row| row.name == *name && row.raw.is_some())
    })
}

/// Names in smartctl's database that say their unit.
const HOST_WRITES: [(&str, f64); 5] = [
    ("Host_Writes_32MiB", MIB_32),
    ("Host_Writes_GiB", GIB),
    ("Lifetime_Writes_GiB", GIB),
    ("Total_Writes_GiB", GIB),
    ("Total_Writes_GB", 1e9),
];
const HOST_READS: [(&str, f64); 5] = [
    ("Host_Reads_32MiB", MIB_32),
    ("Host_Reads_GiB", GIB),
    ("Lifetime_Reads_GiB", GIB),
    ("Total_Reads_GiB", GIB),
    ("Total_Reads_GB", 1e9),
];
const NAND_WRITES: [(&str, f64); 9] = [
    ("NAND_Writes_32MiB", MIB_32),
    ("Flash_Writes_32MiB", MIB_32),
    ("Total_NAND_Writes_GiB", GIB),
    ("Total_NAND_Prog_Ct_GiB", GIB),
    ("NAND_Writes_1GiB", GIB),
    ("NAND_Writes_GiB", GIB),
    ("Flash_Writes_GiB", GIB),
    ("Lifetime_NAND_Prg_GiB", GIB),
    ("TLC_Writes_GiB", GIB),
];

fn in_unit(rows: &[AtaAttribute], names: &[(&str, f64)]) -> Option<ReportedValue> {
    names
        .iter()
        .find_map(|(name, unit)| named(rows, &[name])?.reported(*unit))
}

fn writes(rows: &[AtaAttribute], vendor: Vendor, found: &mut Inspection) {
    let life = &mut found.life;
    life.host_bytes_written = in_unit(rows, &HOST_WRITES);
    life.host_bytes_read = in_unit(rows, &HOST_READS);
    life.nand_bytes_written = in_unit(rows, &NAND_WRITES);
    let by_id = |id: u64| rows.iter().find(|row| row.id == id);
    // SandForce counts GiB, by these numbers whether or not smartctl has names for them.
    if vendor == Vendor::SandForce {
        let gib = |id| by_id(id).and_then(|row| row.reported(GIB));
        life.host_bytes_written = gib(241);
        life.host_bytes_read = gib(242);
        life.nand_bytes_written = gib(233);
    }
    // These two makers document sectors of 512 bytes; others count larger units under this name.
    if matches!(vendor, Vendor::Samsung | Vendor::Micron) {
        let sectors = |name| named(rows, &[name]).and_then(|row| row.reported(512.0));
        life.host_bytes_written = life
            .host_bytes_written
            .take()
            .or_else(|| sectors("Total_LBAs_Written"));
        life.host_bytes_read = life
            .host_bytes_read
            .take()
            .or_else(|| sectors("Total_LBAs_Read"));
    } else if let (None, Some(row)) = (&life.host_bytes_written, by_id(241)) {
        let reads = row.raw.map_or("nothing".into(), |raw| raw.to_string());
        found.notes.push(format!(
            "{} reads {reads}, in a unit that is not documented for this model",
            row.source()
        ));
    }
    if vendor == Vendor::Micron {
        life.waf = pages(rows);
    }
    // Western Digital and Silicon Motion count what went to either kind of cell.
    for (split, unit) in [
        (["NAND_GB_Written_TLC", "NAND_GB_Written_SLC"], GIB),
        (["TLC_Writes_32MiB", "SLC_Writes_32MiB"], MIB_32),
    ] {
        let [tlc, slc] = split.map(|name| named(rows, &[name])?.reported(unit));
        life.nand_bytes_written = match (tlc, slc) {
            (Some(tlc), Some(slc)) => Some(ReportedValue {
                value: tlc.value + slc.value,
                resolution: 2.0 * unit,
                source: format!("{} + {}", tlc.source, slc.source),
            }),
            // Without a pSLC cache there is nothing else.
            (Some(tlc), None) if unit == MIB_32 => Some(tlc),
            _ => continue,
        };
    }
}

/// Micron counts pages: WAF = 1 + pages of the translation layer's own / pages of the host.
fn pages(rows: &[AtaAttribute]) -> Option<ReportedValue> {
    let host = named(rows, &["Host_Program_Page_Count"])?;
    let own = named(rows, &["FTL_Program_Page_Count", "Bckgnd_Program_Page_Cnt"])?;
    let (pages, more) = (host.raw.filter(|pages| *pages >= 1e4)?, own.raw?);
    Some(ReportedValue {
        value: 1.0 + more / pages,
        resolution: (1.0 + more / pages) / pages,
        source: format!("1 + {} / {}", own.source(), host.source()),
    })
}

fn wear(rows: &[AtaAttribute], vendor: Vendor, found: &mut Inspection) {
    let whole = |value: f64, row: &AtaAttribute| ReportedValue {
        value,
        resolution: 1.0,
        source: row.source(),
    };
    let left_of = |row: &AtaAttribute| {
        let value = row.value.filter(|value| *value <= 100.0)?;
        Some(whole(100.0 - value, row))
    };
    let used_of = |name: &str| left_of(named(rows, &[name])?);
    let by_vendor = match vendor {
        // 100 when new, 1 when the rated cycles are used.
        Vendor::Intel => named(rows, &["Media_Wearout_Indicator"])
            .filter(|row| row.id == 233)
            .and_then(|row| {
                let value = row.value.filter(|value| (1.0..=100.0).contains(value))?;
                Some(whole((100.0 - value) / 0.99, row))
            })
            .or_else(|| left_by_raw(rows)),
        Vendor::Samsung => {
            let row = named(rows, &["Wear_Leveling_Count"]);
            found.life.cycles_average = row.and_then(|row| row.reported(1.0));
            used_of("Wear_Leveling_Count")
        }
        Vendor::Micron => {
            let names = ["Ave_Block-Erase_Count", "Avg_Block-Erase_Count"];
            found.life.cycles_average = named(rows, &names).and_then(|row| row.reported(1.0));
            used_of("Percent_Lifetime_Remain")
        }
        Vendor::SandForce => rows.iter().find(|row| row.id == 231).and_then(left_of),
        Vendor::Other => used_of("SSD_Life_Left"),
    };
    let used = &mut found.life.used_percent;
    *used = used.take().or(by_vendor).or_else(|| used_by_name(rows));
    let cycles = &mut found.life.cycles_average;
    let average = || named(rows, &AVERAGE_CYCLES).and_then(|row| row.reported(1.0));
    *cycles = cycles.take().or_else(average);
}

/// Names of smartctl's database for mean program and erase cycles.
const AVERAGE_CYCLES: [&str; 5] = [
    "Average_Erase_Count",
    "Ave_Block-Erase_Count",
    "Avg_Block-Erase_Count",
    "Avg_Write/Erase_Count",
    "Avg_Program/Erase_Ct",
];
/// Its names for the life that remains, per cent.
const LIFE_LEFT: [&str; 14] = [
    "Remaining_Lifetime_Perc",
    "Lifetime_Remaining%",
    "SSD_Life_Left",
    "SSD_LifeLeft",
    "SSD_Life_Left_Perc",
    "DriveLife_Remaining%",
    "Drive_Life_Remaining%",
    "Percent_Life_Remaining",
    "Percent_Lifetime_Remain",
    "Perc_Rated_Life_Remain",
    "PCT_Life_Remaining",
    "Remaining_Life",
    "Lifetime_Left",
    "Drive_Life_Remaining",
];
/// Its names for the life used.
const LIFE_USED: [&str; 5] = [
    "Perc_Rated_Life_Used",
    "Percent_Lifetime_Used",
    "Percent_Life_Used",
    "Drive_Life_Used%",
    "DriveLife_Used%",
];

/// Life used by an attribute whose name says what it counts. Makers put it into the raw value, the
/// normalized one, or both; one of which nothing follows is left.
fn used_by_name(rows: &[AtaAttribute]) -> Option<ReportedValue> {
    let whole = |used: f64, row: &AtaAttribute| ReportedValue {
        value: used,
        resolution: 1.0,
        source: row.source(),
    };
    // What a normalized value is while nothing is normalized.
    let is_constant = |value: f64| matches!(value as u64, 0 | 100 | 200 | 253 | 255);
    if let Some(row) = named(rows, &LIFE_LEFT) {
        let raw = row.raw.filter(|raw| *raw <= 100.0);
        let value = row.value.filter(|value| *value <= 100.0);
        let remainder = match (raw, value) {
            (Some(raw), Some(value)) if raw > 0.0 && is_constant(value) => raw,
            (Some(raw), None) => raw,
            (_, Some(value)) => value,
            (None, None) => return None,
        };
        return Some(whole(100.0 - remainder, row));
    }
    let row = named(rows, &LIFE_USED)?;
    let raw = row.raw.filter(|raw| *raw <= 255.0);
    let value = row.value.filter(|value| *value < 100.0 && *value > 0.0);
    match (raw, value) {
        (Some(raw), None) => Some(whole(raw, row)),
        (Some(raw), Some(_)) if raw > 0.0 => Some(whole(raw, row)),
        (_, Some(value)) => Some(whole(100.0 - value, row)),
        (None, None) => None,
    }
}

/// Dell's firmware of Intel drives: the raw value is the remaining life.
fn left_by_raw(rows: &[AtaAttribute]) -> Option<ReportedValue> {
    let row = named(rows, &["Percent_Life_Remaining"])?;
    let percent_left = row.raw.filter(|left| *left <= 100.0)?;
    Some(ReportedValue {
        value: 100.0 - percent_left,
        resolution: 1.0,
        source: row.source(),
    })
}

/// ACS-3 device statistics: page 1, and the percentage used of page 7.
fn statistics(doc: &Doc, found: &mut Inspection) {
    let sector = doc.whole("logical_block_size");
    let sector = sector
        .filter(|bytes| matches!(bytes, 512 | 4096))
        .unwrap_or(512) as f64;
    for page in doc.rows("ata_device_statistics.pages") {
        for row in page.rows("table") {
            let (Some(name), Some(value)) = (row.text("name"), row.number("value")) else {
                continue;
            };
            if row.flag("flags.valid") == Some(false) || value < 0.0 {
                continue;
            }
            let reported = |unit: f64| {
                Some(ReportedValue {
                    value: value * unit,
                    resolution: unit,
                    source: format!("device statistics, {name}"),
                })
            };
            let life = &mut found.life;
            match name.as_str() {
                "Logical Sectors Written" => life.host_bytes_written = reported(sector),
                "Logical Sectors Read" => life.host_bytes_read = reported(sector),
                "Percentage Used Endurance Indicator" if value <= 255.0 => {
                    life.used_percent = reported(1.0);
                }
                _ => {}
            }
        }
    }
}

fn events(rows: &[AtaAttribute], vendor: Vendor, found: &mut Inspection) {
    let count = |names: &[&str]| named(rows, names).and_then(AtaAttribute::count);
    let events = &mut found.events;
    events.unsafe_shutdowns = count(&[
        "Unsafe_Shutdown_Count",
        "Unexpect_Power_Loss_Ct",
        "Unexpected_Power_Loss",
        "POR_Recovery_Count",
    ]);
    events.media_errors = count(&[
        "Reported_Uncorrect",
        "Uncorrectable_Error_Cnt",
        "Reported_Uncorrectable_Errors",
    ]);
    events.retired = rows
        .iter()
        .find(|row| row.id == 5)
        .and_then(|row| row.raw)
        .map(|raw| raw as u64 & 0xffff);
    let reserve = [
        "Reserved_Block_Pct",
        "Available_Reservd_Space",
        "Perc_Avail_Resrvd_Space",
        "Reserve_Block_Count",
    ];
    // Micron counts blocks under this name, and its normalized value means nothing.
    let blocks = || named(rows, &["Unused_Rsvd_Blk_Cnt_Tot"]);
    let of_others = || blocks().filter(|_| vendor != Vendor::Micron);
    let row = named(rows, &reserve).or_else(of_others);
    let life = &mut found.life;
    if let (None, Some(row)) = (&life.spare_percent, row) {
        life.spare_percent = row
            .value
            .filter(|v| *v <= 100.0)
            .map(|value| ReportedValue {
                value,
                resolution: 1.0,
                source: row.source(),
            });
        life.spare_threshold = row.threshold.filter(|limit| *limit > 0.0);
    }
}

fn timed(rows: &[AtaAttribute], found: &mut Inspection) {
    let raw = |name| named(rows, &[name])?.raw;
    let three = [
        "Workld_Media_Wear_Indic",
        "Workld_Host_Reads_Perc",
        "Workload_Minutes",
    ]
    .map(raw);
    let [Some(wear), Some(reads), Some(minutes)] = three else {
        return;
    };
    let pending = TIMED_PENDING as f64;
    if wear == pending && reads == pending {
        return;
    }
    let powered = found.events.power_on_hours;
    found.timed = TimedWorkload::believed(wear, reads, minutes, powered);
    if found.timed.is_none() {
        found.notes.push(format!(
            "the timed workload ({minutes} minutes, {reads} % reads) does not fit the drive's age"
        ));
    }
}
