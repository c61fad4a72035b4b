//! What was measured and on what, in a few words: the terminal and the page say the same.

use crate::analysis::{SteadyState, WriteCliff};
use crate::device::{TargetFacts, TargetKind};
use crate::report::OpTotals;
use maud::{Markup, html};
use ssdlab_view::units;

/// Days per year for endurance ratings, as data sheets count.
const DAYS_PER_YEAR: f64 = 365.0;

/// One measure of every drive, the target first; `None` = not measured or not known.
pub struct ComparisonRow {
    /// Name of the measure.
    pub label: String,
    /// One cell a drive or run.
    pub cells: Vec<Option<String>>,
    /// Whether it belongs to the few that decide.
    pub leads: bool,
}

/// A cliff in a few words.
pub fn cliff(cliff: Option<&WriteCliff>) -> String {
    match cliff {
        Some(c) => format!(
            "at {}: {} to {} IOPS",
            units::clock(c.at_s),
            units::rate(c.before),
            units::rate(c.after)
        ),
        None => "none found".to_owned(),
    }
}

/// Steady state in a few words.
pub fn steady(steady: Option<&SteadyState>) -> String {
    match steady {
        Some(s) if s.attained => {
            let rate = units::rate(s.average);
            match s.left_for {
                Some(last) => format!(
                    "attained at {rate}, left again: {} in the end",
                    units::rate(last)
                ),
                None => format!("attained at {rate}"),
            }
        }
        Some(s) => format!(
            "not attained (range {:.0} %, slope {:.0} %)",
            s.range_share * 100.0,
            s.excursion_share * 100.0
        ),
        None => "too short to say".to_owned(),
    }
}

/// Bandwidth of a kind of command; a dash for one that moves no bytes, such as a flush.
pub fn bandwidth(totals: &OpTotals) -> String {
    match totals.bytes {
        0 => units::NOTHING.to_owned(),
        _ => units::throughput(totals.bytes_per_second()),
    }
}

/// Power-loss protection in a few words, without its source.
pub fn protection(facts: &TargetFacts) -> String {
    let answer = match facts.power_loss_protection {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    match facts.virtualised {
        Some(true) => format!("{answer} (virtual disk)"),
        _ if facts.power_loss_protection_assumed => format!("assumed {answer}"),
        _ => answer.to_owned(),
    }
}

/// `185 TB, 0.10 DWPD`.
pub fn endurance(facts: &TargetFacts) -> Option<String> {
    let written = facts.rated_bytes_written? as f64;
    let total = units::decimal_bytes(written);
    let per_day = facts
        .warranty_years
        .filter(|years| *years > 0.0)
        .map(|years| written / (years * DAYS_PER_YEAR));
    let drive_writes = per_day.map(|per_day| per_day / facts.capacity as f64);
    Some(match drive_writes {
        Some(d) if d < 100.0 => format!("{total}, {d:.2} DWPD"),
        Some(d) if d.is_finite() => format!("{total}, {} DWPD", units::rate(d)),
        _ => total,
    })
}

/// `1.00 TB`.
pub fn capacity(facts: &TargetFacts) -> String {
    units::decimal_bytes(facts.capacity as f64)
}

/// What kind of thing was measured.
pub fn kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Modelled => "modelled drive, in virtual time",
        TargetKind::Volume => "modelled volume of a cloud, in virtual time",
        TargetKind::File => "file on a file system",
        TargetKind::BlockDevice => "block device",
        TargetKind::Null => "nothing: completes everything at once",
    }
}

/// The facts that are known, as label and text.
pub fn facts(f: &TargetFacts) -> Vec<(&'static str, String)> {
    let yes_no = |b: bool| if b { "yes" } else { "no" }.to_owned();
    let mut known = vec![
        ("Kind", kind(f.kind).to_owned()),
        (
            "Capacity",
            format!("{} ({})", capacity(f), units::bytes(f.capacity)),
        ),
        ("Smallest unit", units::bytes(f.block_size.into())),
    ];
    let mut add = |label, text: Option<String>| known.extend(text.map(|t| (label, t)));
    add("Model", f.model.clone());
    add("Serial", f.serial.clone());
    add("Interface", f.interface.clone());
    add("File system", f.file_system.clone());
    add("Write cache", f.write_cache.clone());
    add("FUA used", f.fua.map(yes_no));
    add("Rotating", f.rotational.map(yes_no));
    add("Virtual disk", f.virtualised.map(yes_no));
    let source = f.power_loss_protection_source.as_deref();
    let source = source.map_or(String::new(), |s| format!(" ({s})"));
    add(
        "Power-loss protection",
        Some(format!("{}{source}", protection(f))),
    );
    add("Rated endurance", endurance(f));
    add("Warranty", f.warranty_years.map(|y| format!("{y} years")));
    known
}

/// What is known of a target.
pub fn facts_list(facts: &TargetFacts) -> Markup {
    html! {
        dl .facts {
            @for (label, text) in self::facts(facts) { dt { (label) } dd { (text) } }
        }
        @if !facts.notes.is_empty() {
            ul { @for note in &facts.notes { li { (note) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endurance_is_total_and_drive_writes_per_day() {
        let mut facts: TargetFacts = serde_json::from_value(serde_json::json!({
            "name": "x", "kind": "modelled", "capacity": 1_000_000_000_000u64,
            "block_size": 512, "rated_bytes_written": 185_000_000_000_000u64,
            "warranty_years": 5.0, "notes": []
        }))
        .unwrap();
        assert_eq!(endurance(&facts).unwrap(), "185 TB, 0.10 DWPD");
        facts.capacity = 0;
        assert_eq!(endurance(&facts).unwrap(), "185 TB");
        facts.rated_bytes_written = None;
        assert_eq!(endurance(&facts), None);
    }
}
