//! An inspection as lines for people: a label and a text each.

use super::forecast::is_used_up;
use super::inspection::Inspection;
use ssdlab_bench::device::health::EvidenceGrade;
use ssdlab_bench::device::health::ReportedValue;
use ssdlab_view::units::{self, decimal_bytes};

/// A label and its text.
pub type InspectionLine = (&'static str, String);

/// Rounded as far as its resolution carries.
fn number(reported: &ReportedValue) -> String {
    match reported.resolution {
        r if r >= 0.5 => format!("{:.0}", reported.value),
        _ => format!("{:.2}", reported.value),
    }
}

fn bytes(reported: &Option<ReportedValue>) -> Option<String> {
    reported
        .as_ref()
        .map(|reported| decimal_bytes(reported.value))
}

/// The lines, in order.
pub fn lines(i: &Inspection) -> Vec<InspectionLine> {
    let mut out = vec![("drive", drive(i)), ("health", health(i))];
    out.push(("power loss", protection(i)));
    out.push(("write cache", cache(i)));
    out.push(("life used", life(i)));
    out.push(("written", written(i)));
    if let Some(rating) = i.known.as_ref().and_then(|known| known.rating.as_ref()) {
        let years = rating
            .years
            .map_or(String::new(), |years| format!(" in {years} years"));
        out.push((
            "rated",
            format!(
                "{}{years}, {} ({})",
                decimal_bytes(rating.bytes_written as f64),
                rating.workload,
                rating.source
            ),
        ));
    }
    let (model, capacity) = (i.identity.model.as_deref(), i.identity.capacity);
    let others = crate::others::said(model, capacity, None);
    out.extend(others.map(|others| ("others have", others)));
    out.push(("power", power(i)));
    out.push(("errors", errors(i)));
    if let Some(timed) = &i.timed {
        out.push((
            "timed",
            format!(
                "{:.3} % of the rated cycles in {:.1} hours, {:.0} % of the commands reads",
                timed.media_wear_percent,
                timed.minutes / 60.0,
                timed.reads_percent
            ),
        ));
    }
    out.extend(i.notes.iter().map(|note| ("note", note.clone())));
    let unknown = unknown(i);
    if !unknown.is_empty() {
        out.push(("not reported", unknown.join(", ")));
    }
    out
}

fn drive(i: &Inspection) -> String {
    let id = &i.identity;
    let parts = [
        id.model.clone().or(Some("unknown model".into())),
        id.capacity.map(|bytes| decimal_bytes(bytes as f64)),
        id.protocol.clone(),
        id.firmware
            .as_ref()
            .map(|firmware| format!("firmware {firmware}")),
        id.serial.as_ref().map(|serial| format!("serial {serial}")),
        id.family.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn health(i: &Inspection) -> String {
    let passed = match i.passed {
        Some(true) => "passes its own judgement",
        Some(false) => "FAILS BY ITS OWN JUDGEMENT",
        None => "unknown",
    };
    if i.warnings.is_empty() {
        passed.into()
    } else {
        format!("{passed}; {}", i.warnings.join("; "))
    }
}

/// A grade in one word.
pub fn grade(grade: EvidenceGrade) -> &'static str {
    match grade {
        EvidenceGrade::None => "no evidence",
        EvidenceGrade::Assumed => "assumed",
        EvidenceGrade::Declared => "declared",
        EvidenceGrade::Documented => "documented",
        EvidenceGrade::MeasuredByOthers => "measured by others",
        EvidenceGrade::Behavioural => "behavioural",
        EvidenceGrade::ProvedByCuts => "proved by cuts",
    }
}

fn protection(i: &Inspection) -> String {
    let p = &i.protection;
    let holds = match p.holds {
        Some(true) => "protected",
        Some(false) => "NOT protected",
        None => return format!("unknown: {}", p.why),
    };
    format!("{holds} [{}]: {}", grade(p.grade), p.why)
}

fn cache(i: &Inspection) -> String {
    let c = &i.cache;
    let drive = match (c.volatile, c.enabled) {
        (Some(false), _) => "none by the drive's word",
        (_, Some(true)) => "on",
        (_, Some(false)) => "off",
        (Some(true), None) => "there is one; whether it is on is unknown",
        (None, None) => "unknown",
    };
    match &c.kernel {
        Some(kernel) => {
            let fua = match c.fua {
                Some(true) => ", FUA used",
                Some(false) => ", FUA not used",
                None => "",
            };
            format!("{drive}; the kernel takes it for {kernel}{fua}")
        }
        None => drive.into(),
    }
}

fn life(i: &Inspection) -> String {
    let used = match &i.life.used_percent {
        Some(used) if is_used_up(i) => {
            let percent = number(used);
            format!("{percent} %: the rated life is USED UP ({})", used.source)
        }
        Some(used) => format!("{} % ({})", number(used), used.source),
        None => "unknown".into(),
    };
    let mut out = vec![used];
    if let Some(spare) = &i.life.spare_percent {
        let limit = i
            .life
            .spare_threshold
            .map_or(String::new(), |limit| format!(", warns at {limit} %"));
        out.push(format!("spare {} %{limit}", number(spare)));
    }
    if let Some(cycles) = &i.life.cycles_average {
        out.push(format!("{} cycles on average", number(cycles)));
    }
    out.join("; ")
}

fn written(i: &Inspection) -> String {
    let mut out = match bytes(&i.life.host_bytes_written) {
        Some(host) => format!("{host} by the host"),
        None => "host writes unknown".into(),
    };
    if let (Some(host), Some(rating)) = (
        &i.life.host_bytes_written,
        i.known.as_ref().and_then(|known| known.rating.as_ref()),
    ) {
        let share = 100.0 * host.value / rating.bytes_written as f64;
        out += &format!(" ({share:.1} % of the rating)");
    }
    if let Some(nand) = bytes(&i.life.nand_bytes_written) {
        out += &format!(", {nand} to NAND");
    }
    if let Some(waf) = &i.life.waf {
        out += &format!("; write amplification {:.2}", waf.value);
    }
    out
}

fn power(i: &Inspection) -> String {
    let count = |count: Option<u64>, singular: &str| match count {
        Some(count) => units::plural(count, singular),
        None => format!("unknown {singular}s"),
    };
    format!(
        "{}, {}, {}",
        count(
            i.events
                .power_on_hours
                .map(|hours| hours.round_ties_even() as u64),
            "hour"
        ),
        count(i.events.power_cycles, "power cycle"),
        count(i.events.unsafe_shutdowns, "unsafe shutdown")
    )
}

fn errors(i: &Inspection) -> String {
    let count = |n: Option<u64>| n.map_or("unknown".to_owned(), |n| n.to_string());
    let celsius = i.events.temperature_c;
    let celsius = celsius.map_or("unknown".to_owned(), |c| format!("{c:.0} Celsius"));
    let retired = i.events.retired;
    let retired = retired.map_or(String::new(), |n| format!(", {n} retired"));
    format!(
        "{} uncorrectable{retired}; temperature {celsius}",
        count(i.events.media_errors)
    )
}

/// What a reader might look for and the drive does not tell.
fn unknown(i: &Inspection) -> Vec<&'static str> {
    let known = i.known.as_ref();
    [
        ("life used", i.life.used_percent.is_some()),
        ("host writes", i.life.host_bytes_written.is_some()),
        ("NAND writes or write amplification", i.life.waf.is_some()),
        (
            "rated endurance",
            known.is_some_and(|known| known.rating.is_some()),
        ),
        ("power-loss protection", i.protection.holds.is_some()),
        ("unsafe shutdowns", i.events.unsafe_shutdowns.is_some()),
    ]
    .into_iter()
    .filter_map(|(name, reported)| (!reported).then_some(name))
    .collect()
}
