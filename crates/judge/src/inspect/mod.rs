//! What a real drive tells of itself: identity, cache, protection, wear, and how long it will last.
//!
//! The drive is asked by `smartctl --json=c -x`, and by `nvme` for what smartctl leaves out; their
//! answers are read here, from the drive or from files saved elsewhere. Two rules hold throughout.
//! What is not told is unknown, never a number out of nothing. And a counter whose unit is not
//! documented for the model is not converted: attribute 241 is called Total_LBAs_Written in many
//! drives that count 32 MiB or 1 GiB there.

mod ata;
mod collect;
pub mod forecast;
mod json;
pub mod models;
mod nvme;
mod protection;
pub mod report;
mod scsi;
mod show;
mod target;
#[cfg(test)]
mod tests;

pub use collect::collect;
pub use forecast::{Forecast, forecasts};
pub use models::{KnownModel, known};
pub use protection::Protection;
pub use report::{DriveReport, drive_reports};
pub use show::lines;
pub use target::{drive_of, enrich};

pub use ssdlab_bench::device::health::{DriveHealth, Reported};

use json::Doc;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;

/// Format of [`Inspection`] as JSON.
pub const FORMAT_VERSION: u32 = 1;

/// The year 4147, in seconds since 1970.
const TIME_MAX: u64 = 1 << 36;

/// What the drive is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveIdentity {
    /// As the drive says.
    pub model: Option<String>,
    /// Family in smartctl's database.
    pub family: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// `ATA`, `NVMe`, `SCSI`.
    pub protocol: Option<String>,
    /// Bytes the host may address.
    pub capacity: Option<u64>,
    /// A virtual machine's disk.
    pub is_virtual: bool,
}

/// Cache as drive and kernel see it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Whether the drive says that it has a volatile write cache that could be on.
    pub volatile: Option<bool>,
    /// Whether it is on.
    pub enabled: Option<bool>,
    /// `write back` or `write through`: what the kernel believes.
    pub kernel: Option<String>,
    /// Whether the kernel sends FUA.
    pub fua: Option<bool>,
}

/// Wear, writes and what is left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// Per cent of the rated life used, by the drive's own estimate; may pass 100.
    pub used_percent: Option<Reported>,
    /// Bytes the host wrote.
    pub host_bytes_written: Option<Reported>,
    /// Bytes the host read.
    pub host_bytes_read: Option<Reported>,
    /// Bytes programmed into NAND.
    pub nand_bytes_written: Option<Reported>,
    /// NAND bytes programmed per host byte written, over the drive's life.
    pub waf: Option<Reported>,
    /// Per cent of the spare left.
    pub spare_percent: Option<Reported>,
    /// The spare at which the drive warns, per cent.
    pub spare_threshold: Option<f64>,
    /// Mean program and erase cycles.
    pub cycles_average: Option<Reported>,
}

/// Counters of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// Hours powered.
    pub power_on_hours: Option<f64>,
    /// Times powered up.
    pub power_cycles: Option<u64>,
    /// Of these, after power was lost without notice.
    pub unsafe_shutdowns: Option<u64>,
    /// Errors that error correction could not save.
    pub media_errors: Option<u64>,
    /// Blocks or sectors retired since it left the factory.
    pub retired: Option<u64>,
    /// Celsius now.
    pub temperature_c: Option<f64>,
}

/// Intel's timed workload: E2, E3, E4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedWorkload {
    /// Per cent of rated cycles used since the timer was reset (raw / 1,024).
    pub media_wear_percent: f64,
    /// Per cent of the commands that read.
    pub reads_percent: f64,
    /// Minutes since.
    pub minutes: f64,
}

/// Everything a drive tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// [`FORMAT_VERSION`].
    pub version: u32,
    /// The file or device.
    pub source: String,
    /// When it was asked, seconds since 1970.
    pub taken_at: Option<i64>,
    /// What it is.
    pub identity: DriveIdentity,
    /// Whether it passes its own judgement.
    pub passed: Option<bool>,
    /// What it warns of, in words.
    pub warnings: Vec<String>,
    /// Cache.
    pub cache: Cache,
    /// Power-loss protection, by grade of evidence.
    pub protection: Protection,
    /// Wear and writes.
    pub life: Life,
    /// Counters.
    pub events: Events,
    /// Timed workload, where it is running and plausible.
    pub timed: Option<TimedWorkload>,
    /// What published sources say of the model.
    pub known: Option<KnownModel>,
    /// What was there and could not be used, and why.
    pub notes: Vec<String>,
}

/// Reads a report.
///
/// # Errors
/// When the tools could not read the drive, or it is a rotating disk.
pub fn inspect(report: &DriveReport) -> Result<Inspection, LabError> {
    let doc = Doc::new(&report.smartctl);
    refuse_failed(&doc, &report.source)?;
    refuse_rotating(&doc, &report.source)?;
    let mut found = Inspection {
        version: FORMAT_VERSION,
        source: report.source.clone(),
        taken_at: doc
            .whole("local_time.time_t")
            .filter(|t| *t < TIME_MAX)
            .and_then(|t| i64::try_from(t).ok()),
        identity: identity(&doc),
        passed: doc.flag("smart_status.passed"),
        ..Inspection::default()
    };
    found.known = found
        .identity
        .model
        .as_deref()
        .and_then(|model| models::known(model, found.identity.capacity));
    common(&doc, &mut found);
    match found.identity.protocol.as_deref() {
        Some("ATA") => ata::read(&doc, &mut found),
        Some("NVMe") => nvme::read(&doc, report, &mut found),
        Some("SCSI") => scsi::read(&doc, &mut found),
        _ => {}
    }
    if found.identity.is_virtual {
        found.notes.push(
            "a virtual machine's disk: what it says of health and wear, if anything, is not the \
             drive's underneath"
                .into(),
        );
    }
    amplification(&mut found);
    protection::judge(&doc, report, &mut found);
    if let Some(kernel) = &report.kernel {
        found.cache.kernel = kernel.write_cache.clone();
        found.cache.fua = kernel.fua;
    }
    Ok(found)
}

/// smartctl says on exit whether it could read the drive at all.
fn refuse_failed(doc: &Doc, source: &str) -> Result<(), LabError> {
    let status = doc.whole("smartctl.exit_status").unwrap_or(0);
    let drive = doc.has("model_name") || doc.has("scsi_model_name") || doc.has("device");
    if doc.has("smartctl") && (status & 3 == 0 || doc.has("model_name")) && drive {
        return Ok(());
    }
    if !doc.has("smartctl") && drive {
        return Ok(());
    }
    let said = doc.messages().join("; ");
    let what = match said.is_empty() {
        true => format!("{source}: this is no report of smartctl about a drive"),
        false => format!("{source}: smartctl could not read the drive: {said}"),
    };
    Err(LabError::refused(
        what,
        "make one with `smartctl --json=c -x /dev/DEVICE`, as root; drives behind a RAID \
         controller need its -d option, for instance `-d megaraid,0`; most disks of virtual \
         machines answer nothing",
    ))
}

fn refuse_rotating(doc: &Doc, source: &str) -> Result<(), LabError> {
    // 0 and 1 both mean that nothing turns (ACS-3 word 217; smartctl writes 0).
    match doc.number("rotation_rate") {
        Some(rate) if rate > 1.0 => Err(LabError::refused(
            format!(
                "{source}: {} is a rotating disk ({rate} turns a minute), not an SSD",
                identity(doc).model.unwrap_or("this".into())
            ),
            "`inspect` knows the wear of SSDs; for disks read `smartctl -x`",
        )),
        _ => Ok(()),
    }
}

fn identity(doc: &Doc) -> DriveIdentity {
    let model = doc
        .text("model_name")
        .or_else(|| doc.text("scsi_model_name"));
    const VIRTUAL: [&str; 5] = ["qemu", "vbox", "vmware", "virtual", "msft"];
    let is_virtual = model.as_ref().is_some_and(|model| {
        let model = model.to_lowercase();
        VIRTUAL.iter().any(|name| model.contains(name))
    });
    let blank = |text: &String| text != "REDACTED";
    DriveIdentity {
        model,
        family: doc.text("model_family"),
        serial: doc.text("serial_number").filter(blank),
        firmware: doc
            .text("firmware_version")
            .or_else(|| doc.text("scsi_revision"))
            .or_else(|| doc.text("revision"))
            .filter(blank),
        protocol: doc.text("device.protocol"),
        capacity: doc.whole("user_capacity.bytes").filter(|bytes| *bytes > 0),
        is_virtual,
    }
}

/// A temperature of a drive that can still answer, Celsius.
const CELSIUS: std::ops::RangeInclusive<f64> = -40.0..=125.0;
/// Longer than any SSD has existed.
const HOURS_MAX: f64 = 50.0 * 8760.0;

impl TimedWorkload {
    /// What the three counters say, unless that cannot be: less than the hour after which they
    /// count, or longer than the drive has been powered.
    fn believed(wear: f64, reads: f64, minutes: f64, powered_hours: Option<f64>) -> Option<Self> {
        let most = 60.0 * (powered_hours.unwrap_or(HOURS_MAX) + 1.0);
        let fits = (60.0..=most).contains(&minutes) && (0.0..=100.0).contains(&reads);
        (fits && wear >= 0.0).then_some(TimedWorkload {
            media_wear_percent: wear / 1024.0,
            reads_percent: reads,
            minutes,
        })
    }
}

/// What smartctl gives under the same name for every protocol.
fn common(doc: &Doc, found: &mut Inspection) {
    let events = &mut found.events;
    let celsius = doc.number("temperature.current");
    events.temperature_c = celsius.filter(|c| CELSIUS.contains(c));
    if let (Some(celsius), None) = (celsius, events.temperature_c) {
        found.notes.push(format!(
            "a temperature of {celsius} Celsius was not believed"
        ));
    }
    let hours = doc.number("power_on_time.hours");
    events.power_on_hours = hours.filter(|h| (0.0..=HOURS_MAX).contains(h));
    if let (Some(hours), None) = (hours, events.power_on_hours) {
        found
            .notes
            .push(format!("{hours} power-on hours were not believed"));
    }
    events.power_cycles = doc.whole("power_cycle_count");
    // smartctl 7.4 and later say these for every protocol.
    found.life.used_percent = percent(doc, "endurance_used.current_percent", 255.0);
    found.life.spare_percent = percent(doc, "spare_available.current_percent", 100.0);
    found.life.spare_threshold = doc
        .number("spare_available.threshold_percent")
        .filter(|p| (0.0..=100.0).contains(p));
}

/// A whole per cent from `path`, if it is one.
fn percent(doc: &Doc, path: &str, most: f64) -> Option<Reported> {
    let value = doc.number(path)?;
    let source = path.to_owned();
    (0.0..=most).contains(&value).then_some(Reported {
        value,
        resolution: 1.0,
        source,
    })
}

/// Write amplification, where both counters are there and make sense together.
fn amplification(found: &mut Inspection) {
    let life = &mut found.life;
    let (None, Some(host), Some(nand)) = (
        &life.waf,
        &life.host_bytes_written,
        &life.nand_bytes_written,
    ) else {
        return;
    };
    // Below some hundred units the quotient is mostly rounding.
    if host.value < 100.0 * host.resolution.max(nand.resolution) {
        found
            .notes
            .push("too little was written for a write amplification factor".into());
        return;
    }
    let value = nand.value / host.value;
    let relative = nand.resolution / nand.value.max(1.0) + host.resolution / host.value;
    life.waf = Some(Reported {
        value,
        resolution: value * relative,
        source: format!("{} / {}", nand.source, host.source),
    });
}
