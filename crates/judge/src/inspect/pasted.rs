//! Reports in other forms than `smartctl --json`, as people save and paste them: smartctl's text,
//! nvme-cli's JSON and text, UTF-16. Each becomes the JSON that smartctl would have printed, as far
//! as it goes; a value that the report leaves out stays unknown.

use super::numbers::{decimal, whole};
use super::one_look::{DriveReport, REPORT_VERSION};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The text of a file in UTF-8 or UTF-16: PowerShell's `>` writes that, with a byte order
/// mark that some editors and pipes remove.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let units = |parts: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = parts
            .chunks_exact(2)
            .map(|pair| unit([pair[0], pair[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => units(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ if has_zeros(bytes, 1) => units(bytes, u16::from_le_bytes),
        _ if has_zeros(bytes, 0) => units(bytes, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Whether most bytes at even (0) or odd (1) places are zero, as in UTF-16 of mostly ASCII.
fn has_zeros(bytes: &[u8], parity: usize) -> bool {
    let sample = &bytes[..bytes.len().min(400)];
    let halves = sample.iter().skip(parity).step_by(2);
    let zeros = halves.clone().filter(|byte| **byte == 0).count();
    halves.len() >= 8 && zeros * 4 > halves.len() * 3
}

/// How smartctl's text about a drive begins.
const INFORMATION: &str = "=== START OF INFORMATION SECTION";

/// The reports that `text` holds, if it is text of smartctl, nvme-cli or FreeBSD's nvmecontrol.
pub(super) fn from_text(text: &str) -> Vec<DriveReport> {
    let text = unquoted(text);
    let has = |word: &str| text.contains(word);
    if has("=== START OF") || has("SMART/Health Information") || has("ID# ATTRIBUTE_NAME") {
        return drives(&text)
            .into_iter()
            .map(|drive| report_of(TextReport::new(drive).smartctl(), None))
            .collect();
    }
    let fields = NvmeFields::of_text(&text);
    let controller = controller_of_text(&text);
    let report = match (fields.is_health_log(), &controller) {
        (true, _) => fields.smartctl(),
        (false, Some(_)) => json!({"device": {"protocol": "NVMe"}}),
        (false, None) => return Vec::new(),
    };
    vec![report_of(report, controller)]
}

fn report_of(mut smartctl: Value, controller: Option<Value>) -> DriveReport {
    if let Some(controller) = &controller {
        add_controller(&mut smartctl, controller);
    }
    DriveReport {
        ssdlab_report: REPORT_VERSION,
        smartctl,
        nvme_controller: controller,
        ..DriveReport::default()
    }
}

/// The text without the marks by which mails and forums quote.
fn unquoted(text: &str) -> Cow<'_, str> {
    let is_quote = |line: &str| line.starts_with('>');
    if text.lines().filter(|line| is_quote(line)).count() < 3 {
        return Cow::Borrowed(text);
    }
    let plain = |line: &'_ str| line.trim_start_matches(['>', ' ']).to_owned();
    Cow::Owned(text.lines().map(plain).collect::<Vec<_>>().join("\n"))
}

/// smartctl's text of several drives, one after the other, in parts of one drive each.
fn drives(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.match_indices(INFORMATION).map(|(at, _)| at).collect();
    if starts.len() < 2 {
        return vec![text];
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &text[*start..end])
        .collect()
}

/// What `nvme id-ctrl` prints as text, by the names of its JSON.
fn controller_of_text(text: &str) -> Option<Value> {
    let field = |wanted: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find_map(|(name, value)| (name.trim() == wanted).then(|| value.trim()))
    };
    let mut controller = json!({"mn": field("mn")?, "sn": field("sn")?, "fr": field("fr")});
    for name in ["vwc", "tnvmcap"] {
        if let Some(number) = field(name).and_then(whole) {
            controller[name] = number.into();
        }
    }
    is_controller(&controller).then_some(controller)
}

/// What smartctl says where it cannot read a drive.
pub(super) fn refusal(text: &str) -> Option<&str> {
    const WORDS: [&str; 8] = [
        "Permission denied",
        "Unknown USB bridge",
        "Unable to detect device type",
        "open device:",
        "Read Device Identity failed",
        "specify device type with the -d option",
        "requires option '-d",
        "INQUIRY failed",
    ];
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| line.len() <= 200)
        .find(|line| WORDS.iter().any(|word| line.contains(word)))
}

/// A JSON object of nvme-cli's as smartctl's, if it is one: a health log or an identification.
pub(super) fn from_nvme_cli(value: &Value) -> Option<Value> {
    let fields = NvmeFields::of_json(value.as_object()?);
    fields.is_health_log().then(|| fields.smartctl())
}

/// Whether it is `nvme id-ctrl -o json`.
pub(super) fn is_controller(value: &Value) -> bool {
    ["mn", "sn", "vwc"]
        .iter()
        .all(|key| value.get(key).is_some())
}

/// What a controller's identification adds to smartctl's form of a health log.
pub(super) fn add_controller(report: &mut Value, controller: &Value) {
    let names = [
        ("mn", "model_name"),
        ("sn", "serial_number"),
        ("fr", "firmware_version"),
    ];
    for (from, to) in names {
        if let (Some(text), None) = (controller[from].as_str(), report.get(to)) {
            report[to] = text.trim().into();
        }
    }
    let capacity = &controller["tnvmcap"];
    if let (Some(bytes), None) = (capacity.as_u64(), report.get("nvme_total_capacity")) {
        report["nvme_total_capacity"] = bytes.into();
    }
}

/// Fields of a health log by nvme-cli's names, whichever way it was printed.
struct NvmeFields(Map<String, Value>);

/// nvme-cli's names in both of its forms, and smartctl's.
const HEALTH_LOG: [(&str, &str); 16] = [
    ("avail_spare", "available_spare"),
    ("available_spare", "available_spare"),
    ("spare_thresh", "available_spare_threshold"),
    ("available_spare_threshold", "available_spare_threshold"),
    ("percent_used", "percentage_used"),
    ("percentage_used", "percentage_used"),
    ("data_units_read", "data_units_read"),
    ("data_units_written", "data_units_written"),
    ("power_cycles", "power_cycles"),
    ("power_on_hours", "power_on_hours"),
    ("unsafe_shutdowns", "unsafe_shutdowns"),
    ("media_errors", "media_errors"),
    ("num_err_log_entries", "num_err_log_entries"),
    ("warning_temp_time", "warning_temp_time"),
    ("warning_temperature_time", "warning_temp_time"),
    ("critical_comp_time", "critical_comp_time"),
];

impl NvmeFields {
    fn of_json(object: &Map<String, Value>) -> NvmeFields {
        NvmeFields(object.clone())
    }

    /// `critical_warning : 0`, a line each; names are the same but for case and blanks.
    fn of_text(text: &str) -> NvmeFields {
        let field = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let name = name.trim().to_ascii_lowercase().replace(' ', "_");
            let text = value.trim().trim_start_matches('-');
            Some((name, Value::from(whole(text)?)))
        };
        NvmeFields(text.lines().filter_map(field).collect())
    }

    fn is_health_log(&self) -> bool {
        let has = |names: &[&str]| names.iter().any(|name| self.0.contains_key(*name));
        has(&["percent_used", "percentage_used"]) && has(&["critical_warning", "avail_spare"])
    }

    fn number(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Value::String(text) => whole(text),
            // With --verbose the bits stand beside the value.
            Value::Object(parts) => parts.get("value")?.as_u64(),
            value => value.as_u64(),
        }
    }

    fn smartctl(&self) -> Value {
        let mut log = Map::new();
        for (from, to) in HEALTH_LOG {
            // Wide counters go through as they are: text where they pass 64 bits.
            if let Some(value) = self.0.get(from).filter(|value| !value.is_object()) {
                log.insert(to.to_owned(), value.clone());
            }
        }
        let critical = self.number("critical_warning");
        log.insert("critical_warning".to_owned(), critical.into());
        let mut report = json!({
            "device": {"protocol": "NVMe"},
            "nvme_smart_health_information_log": log,
        });
        if let Some(critical) = critical {
            report["smart_status"] = json!({"passed": critical == 0});
        }
        // Kelvin in JSON and in old text, Celsius in new text.
        if let Some(degrees) = self.number("temperature") {
            let celsius = if degrees >= 200 {
                degrees as f64 - 273.0
            } else {
                degrees as f64
            };
            report["temperature"] = json!({"current": celsius});
        }
        for (from, to) in [("power_on_hours", "hours"), ("power_cycles", "count")] {
            let Some(number) = self.number(from) else {
                continue;
            };
            match to {
                "hours" => report["power_on_time"] = json!({"hours": number}),
                _ => report["power_cycle_count"] = number.into(),
            }
        }
        report
    }
}

/// smartctl's text.
struct TextReport<'a> {
    text: &'a str,
}

/// Lines of the health log in text of smartctl and nvmecontrol; their names in smartctl's JSON.
const NVME_LINES: [(&str, &str); 20] = [
    ("Critical Warning", "critical_warning"),
    ("Available Spare", "available_spare"),
    ("Available Spare Threshold", "available_spare_threshold"),
    ("Percentage Used", "percentage_used"),
    ("Data Units Read", "data_units_read"),
    ("Data Units Written", "data_units_written"),
    ("Power Cycles", "power_cycles"),
    ("Power On Hours", "power_on_hours"),
    ("Unsafe Shutdowns", "unsafe_shutdowns"),
    ("Media and Data Integrity Errors", "media_errors"),
    ("Error Information Log Entries", "num_err_log_entries"),
    ("Warning  Comp. Temperature Time", "warning_temp_time"),
    ("Critical Comp. Temperature Time", "critical_comp_time"),
    ("Critical Warning State", "critical_warning"),
    ("Data units (512,000 byte) read", "data_units_read"),
    ("Data units written", "data_units_written"),
    ("Media errors", "media_errors"),
    ("No. error info log entries", "num_err_log_entries"),
    ("Warning Temp Composite Time", "warning_temp_time"),
    ("Error Temp Composite Time", "critical_comp_time"),
];

impl<'a> TextReport<'a> {
    fn new(text: &'a str) -> TextReport<'a> {
        TextReport { text }
    }

    /// The value of the first line `name: value` among `names`, in letters of either case:
    /// nvmecontrol writes the same names in small ones.
    fn value(&self, names: &[&str]) -> Option<&'a str> {
        let field = |line: &'a str| {
            let (name, value) = line.split_once(':')?;
            let is_named = names.iter().any(|n| n.eq_ignore_ascii_case(name.trim()));
            (is_named && !value.trim().is_empty()).then(|| value.trim())
        };
        self.text.lines().find_map(field)
    }

    fn number(&self, names: &[&str]) -> Option<u64> {
        self.value(names).and_then(whole)
    }

    fn smartctl(&self) -> Value {
        let is_nvme =
            self.text.contains("SMART/Health Information") || self.text.contains("NVMe Log 0x02");
        let is_scsi = self
            .value(&["SMART Health Status", "Transport protocol"])
            .is_some();
        let protocol = match (is_nvme, is_scsi) {
            (true, _) => "NVMe",
            (false, true) => "SCSI",
            (false, false) => "ATA",
        };
        let mut report = json!({"device": {"protocol": protocol}});
        self.identify(&mut report);
        match protocol {
            "NVMe" => self.health_log(&mut report),
            "SCSI" => self.scsi(&mut report),
            _ => self.ata(&mut report),
        }
        report
    }

    fn identify(&self, report: &mut Value) {
        let vendor = self.value(&["Vendor"]);
        let model = self.value(&["Device Model", "Model Number", "Product"]);
        if let Some(model) = model {
            let name = vendor.map_or(model.to_owned(), |vendor| format!("{vendor} {model}"));
            report["model_name"] = name.into();
        }
        for (names, to) in [
            (&["Model Family"][..], "model_family"),
            (&["Serial Number", "Serial number"], "serial_number"),
            (&["Firmware Version", "Revision"], "firmware_version"),
        ] {
            if let Some(text) = self.value(names) {
                report[to] = text.into();
            }
        }
        let capacity = [
            "User Capacity",
            "Namespace 1 Size/Capacity",
            "Total NVM Capacity",
        ];
        if let Some(bytes) = self.number(&capacity) {
            report["user_capacity"] = json!({"bytes": bytes});
        }
        if let Some(rate) = self.value(&["Rotation Rate"]) {
            report["rotation_rate"] = whole(rate).unwrap_or(0).into();
        }
        let verdict = self.value(&[
            "SMART overall-health self-assessment test result",
            "SMART Health Status",
        ]);
        if let Some(verdict) = verdict {
            let passes = verdict.starts_with("PASSED") || verdict.starts_with("OK");
            report["smart_status"] = json!({"passed": passes});
        }
        // There are several such lines: first whether there is SMART, then whether it is on.
        if self
            .value(&["SMART support is"])
            .is_some_and(|state| state.starts_with("Unavailable"))
        {
            report["smart_support"] = json!({"available": false});
        }
        if let Some(state) = self.value(&["Write cache is"]) {
            report["write_cache"] = json!({"enabled": state.starts_with("Enabled")});
        }
        let celsius = [
            "Temperature",
            "Current Drive Temperature",
            "Current Temperature",
        ];
        if let Some(celsius) = self.number(&celsius) {
            report["temperature"] = json!({"current": celsius});
        }
    }

    fn health_log(&self, report: &mut Value) {
        let mut log = Map::new();
        for (from, to) in NVME_LINES {
            if let Some(number) = self.number(&[from]) {
                log.entry(to).or_insert(number.into());
            }
        }
        // nvmecontrol: 313 K, 39.85 C, 103.73 F.
        let kelvin = self.value(&["Temperature"]).filter(|t| t.contains(" K,"));
        if let Some(kelvin) = kelvin.and_then(whole) {
            report["temperature"] = json!({"current": kelvin as f64 - 273.0});
        }
        if let (None, Some(critical)) = (
            report.get("smart_status"),
            log.get("critical_warning").and_then(Value::as_u64),
        ) {
            report["smart_status"] = json!({"passed": critical == 0});
        }
        self.power(report, log.get("power_on_hours"), log.get("power_cycles"));
        report["nvme_smart_health_information_log"] = log.into();
    }

    fn power(&self, report: &mut Value, hours: Option<&Value>, cycles: Option<&Value>) {
        if let Some(hours) = hours {
            report["power_on_time"] = json!({"hours": hours});
        }
        if let Some(cycles) = cycles {
            report["power_cycle_count"] = cycles.clone();
        }
    }

    fn ata(&self, report: &mut Value) {
        let table: Vec<Value> = self.text.lines().filter_map(attribute).collect();
        let raw = |id: u64| {
            let row = table.iter().find(|row| row["id"] == id)?;
            row["raw"].get("value").cloned()
        };
        self.power(report, raw(9).as_ref(), raw(12).as_ref());
        if report.get("temperature").is_none()
            && let Some(celsius) = raw(194).or_else(|| raw(190))
        {
            report["temperature"] = json!({"current": celsius});
        }
        report["ata_smart_attributes"] = json!({"table": table});
        let statistics: Vec<Value> = self.text.lines().filter_map(statistic).collect();
        if !statistics.is_empty() {
            report["ata_device_statistics"] = json!({"pages": [{"table": statistics}]});
        }
    }

    fn scsi(&self, report: &mut Value) {
        let used = [
            "Percentage used endurance indicator",
            "SS Media used endurance indicator",
        ];
        if let Some(used) = self.number(&used) {
            report["scsi_percentage_used_endurance_indicator"] = used.into();
        }
        if let Some(defects) = self.number(&["Elements in grown defect list"]) {
            report["scsi_grown_defect_list"] = defects.into();
        }
        if let Some(cycles) = self.number(&["Accumulated load-unload cycles"]) {
            report["scsi_start_stop_cycle_counter"] =
                json!({"accumulated_load_unload_cycles": cycles});
        }
        // `... hours:minutes 21034:17`, or `number of hours powered up = 21034.28`.
        let after = |name: &str, before: char| {
            let line = self.text.lines().find(|line| line.contains(name))?;
            let value = line.rsplit_once(before)?.1;
            value.split(['.', ':']).next().and_then(whole)
        };
        let hours = after("hours:minutes", ' ').or_else(|| after("hours powered up", '='));
        self.power(report, hours.map(Value::from).as_ref(), None);
        // Errors corrected by ECC fast, delayed, rereads, total, algorithm, gigabytes, uncorrected.
        for way in ["read", "write"] {
            let Some(counters) = self.value(&[way]) else {
                continue;
            };
            let fields: Vec<&str> = counters.split_whitespace().collect();
            if let [_, _, _, _, _, gigabytes, uncorrected] = fields[..] {
                report["scsi_error_counter_log"][way] = json!({
                    "gigabytes_processed": decimal(gigabytes),
                    "total_uncorrected_errors": whole(uncorrected),
                });
            }
        }
    }
}

/// `  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0`, or
/// with the flags in letters, as `-x` prints them.
fn attribute(line: &str) -> Option<Value> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [id, name, flags, value, worst, threshold, rest @ ..] = &fields[..] else {
        return None;
    };
    let id: u64 = id.parse().ok().filter(|id| (1..=255).contains(id))?;
    let is_letters = flags.len() == 6 && flags.chars().all(|c| c.is_ascii_uppercase() || c == '-');
    if !(flags.starts_with("0x") || is_letters) {
        return None;
    }
    // TYPE UPDATED WHEN_FAILED RAW, or FAIL RAW.
    let raw = rest.get(if is_letters { 1 } else { 3 })?;
    let number = |text: &str| text.parse::<u64>().ok();
    worst.parse::<u64>().ok()?;
    Some(json!({
        "id": id,
        "name": name,
        "value": number(value),
        "thresh": number(threshold),
        "raw": {"value": whole(raw), "string": raw},
    }))
}

/// `0x01  0x018  6     1234567  ---  Logical Sectors Written`, of the device statistics.
fn statistic(line: &str) -> Option<Value> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [page, offset, size, value, flags, name @ ..] = &fields[..] else {
        return None;
    };
    let is_row = page.starts_with("0x") && offset.starts_with("0x") && size.parse::<u8>().is_ok();
    if !is_row || name.is_empty() {
        return None;
    }
    Some(json!({
        "name": name.join(" "),
        "value": whole(value)?,
        "flags": {"valid": *flags != "-"},
    }))
}
