//! From a report of smartctl and nvme to an [`Inspection`].

use super::inspection::{DriveIdentity, FORMAT_VERSION, HOURS_MAX, Inspection, percent};
use super::json::Doc;
use super::report::{DriveReport, HOW_TO_ASK};
use super::{ata, nvme, protection, scsi};
use ssdlab_base::LabError;
use ssdlab_bench::device::health::ReportedValue;
use ssdlab_drives::known::known;

/// The year 4147, in seconds since 1970.
const TIME_MAX: u64 = 1 << 36;

/// Reads a report.
///
/// # Errors
/// When the tools could not read the drive, or it is a rotating disk.
pub fn inspect(report: &DriveReport) -> Result<Inspection, LabError> {
    let doc = Doc::new(&report.smartctl);
    refuse_failed(&doc, &report.source)?;
    refuse_rotating(&doc, &report.source)?;
    let mut inspection = Inspection {
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
    inspection.known = inspection
        .identity
        .model
        .as_deref()
        .and_then(|model| known(model, inspection.identity.capacity));
    common(&doc, &mut inspection);
    match inspection.identity.protocol.as_deref() {
        Some("ATA") => ata::read(&doc, &mut inspection),
        Some("NVMe") => nvme::read(&doc, report, &mut inspection),
        Some("SCSI") => scsi::read(&doc, &mut inspection),
        _ => {}
    }
    if hides_drives(&doc, &inspection.identity) {
        inspection.notes.push(
            "it is a RAID controller's volume or behind a bridge, and says nothing of the drive: \
             ask the drive itself by --device-type (`megaraid,0`, `cciss,0`; `sat`, \
             `sntjmicron`, `sntasmedia` or `sntrealtek` for USB)"
                .into(),
        );
    }
    if inspection.identity.is_virtual {
        inspection.notes.push(
            "a virtual machine's disk: what it says of health and wear, if anything, is not the \
             drive's underneath"
                .into(),
        );
    }
    disbelieve_bytes(&mut inspection);
    amplification(&mut inspection);
    protection::judge(&doc, report, &mut inspection);
    if let Some(kernel) = &report.kernel {
        inspection.cache.kernel = kernel.write_cache.clone();
        inspection.cache.fua = kernel.fua;
    }
    Ok(inspection)
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
    let messages = doc.messages().join("; ");
    let message = if messages.is_empty() {
        format!("{source}: this is no report of smartctl about a drive")
    } else {
        format!("{source}: smartctl could not read the drive: {messages}")
    };
    Err(LabError::refused(message, HOW_TO_ASK))
}

fn refuse_rotating(doc: &Doc, source: &str) -> Result<(), LabError> {
    // 0 and 1 both mean that nothing turns (ACS-3 word 217; smartctl writes 0).
    let why = match doc.number("rotation_rate") {
        Some(rate) if rate > 1.0 => format!("{rate} turns a minute"),
        None if ata::has_heads(doc) => "it reports how it spins up and seeks".to_owned(),
        None if scsi::has_heads(doc) => "it counts how it loads and unloads its heads".to_owned(),
        _ => return Ok(()),
    };
    Err(LabError::refused(
        format!(
            "{source}: {} is a rotating disk ({why}), not an SSD",
            identity(doc).model.unwrap_or("this".into())
        ),
        "`inspect` knows the wear of SSDs; for disks read `smartctl -x`",
    ))
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
        capacity: capacity(doc),
        is_virtual,
    }
}

/// Whether the report is that of what stands between the host and the drives.
fn hides_drives(doc: &Doc, identity: &DriveIdentity) -> bool {
    const CONTROLLERS: [&str; 10] = [
        " perc ",
        "megaraid",
        "avago mr",
        "broadcom mr",
        "lsi mr",
        "serveraid",
        "logical volume",
        "smart array",
        "adaptec",
        "areca",
    ];
    let model = identity.model.as_deref().unwrap_or("").to_lowercase();
    let model = format!(" {model} ");
    let is_controller = CONTROLLERS.iter().any(|name| model.contains(name));
    let is_silent = doc.flag("smart_support.available") == Some(false);
    (is_controller || is_silent) && !identity.is_virtual
}

/// Bytes of the first namespace; smartctl gives those of the whole drive instead when it has many
/// namespaces or is asked for none.
fn capacity(doc: &Doc) -> Option<u64> {
    ["user_capacity.bytes", "nvme_total_capacity"]
        .iter()
        .find_map(|path| doc.whole(path).filter(|bytes| *bytes > 0))
}

/// A temperature of a drive that can still answer, Celsius.
const CELSIUS: std::ops::RangeInclusive<f64> = -40.0..=125.0;

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

/// No drive writes or reads faster, B/s.
const RATE_MAX: f64 = 20e9;

/// Counters of bytes beyond what the drive could have moved since it was made are unknown: some
/// bridges fill wide counters with ones.
fn disbelieve_bytes(found: &mut Inspection) {
    let (hours, time) = match found.events.power_on_hours {
        // The hour that has begun is not counted.
        Some(hours) => (hours + 1.0, format!("its {hours:.0} hours")),
        None => (HOURS_MAX, "50 years".to_owned()),
    };
    let most = RATE_MAX * hours * 3600.0;
    let life = &mut found.life;
    for counter in [
        &mut life.host_bytes_written,
        &mut life.host_bytes_read,
        &mut life.nand_bytes_written,
    ] {
        if let Some(reported) = counter.take_if(|reported| reported.value > most) {
            found.notes.push(format!(
                "{} gives {:.1e} bytes, more than any drive moves in {time}: not believed",
                reported.source, reported.value
            ));
        }
    }
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
    life.waf = Some(ReportedValue {
        value,
        resolution: value * relative,
        source: format!("{} / {}", nand.source, host.source),
    });
}
