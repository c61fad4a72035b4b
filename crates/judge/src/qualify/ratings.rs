//! What is promised of a drive's endurance, and what of it is used up, as a measure.

use super::reading::{MeasureReading, unknown};
use super::{Evidence, EvidenceGrade};
use ssdlab_bench::device::TargetKind;
use ssdlab_bench::device::health::ReportedValue;

fn bytes_per_day(e: &Evidence) -> Option<(u64, f64, f64)> {
    let rated = e.facts.rated_bytes_written?;
    let years = e.facts.warranty_years.filter(|y| *y > 0.0)?;
    Some((rated, years, rated as f64 / (years * 365.0)))
}

/// A rating, and what the drive says is used of it: once it is used up, nothing is left of it.
fn documented(e: &Evidence, value: f64, rated: u64, years: f64) -> MeasureReading {
    let mut why = format!(
        "Rated for {:.0} TB written over {years} years.",
        rated as f64 / 1e12
    );
    let health = e.facts.health.as_ref();
    match health.and_then(|health| health.used_percent.as_ref()) {
        Some(used) if used.value >= 100.0 => return used_up(used, &format!("{why} ")),
        Some(used) => {
            why += &format!(
                " The drive says that {:.0} % of its rated life is used ({}).",
                used.value, used.source
            );
        }
        None => {}
    }
    MeasureReading::Number {
        value,
        grade: EvidenceGrade::Documented,
        why,
    }
}

fn no_rating(e: &Evidence) -> MeasureReading {
    let used = e
        .facts
        .health
        .as_ref()
        .and_then(|health| health.used_percent.as_ref());
    match used.filter(|used| used.value >= 100.0) {
        Some(used) => used_up(used, ""),
        None => unknown("The rated endurance is not known.".into()),
    }
}

fn used_up(used: &ReportedValue, rating: &str) -> MeasureReading {
    MeasureReading::Number {
        value: 0.0,
        grade: EvidenceGrade::Declared,
        why: format!(
            "{rating}The drive says that its rated life is used up ({}).",
            used.source
        ),
    }
}

/// The capacity that is printed on the drive, where the number of its sectors is the industry's
/// for that many gigabytes (IDEMA LBA1-03): makers count drive writes a day by it.
fn nominal(capacity: u64) -> u64 {
    const AT_50_GB: u64 = 97_696_368;
    const PER_GB: u64 = 1_953_504;
    match (capacity / 512).checked_sub(AT_50_GB) {
        Some(more) if more.is_multiple_of(PER_GB) => (50 + more / PER_GB) * 1_000_000_000,
        _ => capacity,
    }
}

/// DWPD = rated bytes written / (capacity x 365 x years) (docs/roles.md, section 4.8).
pub(super) fn endurance_dwpd(e: &Evidence) -> MeasureReading {
    // A file's capacity is the file's, not the drive's.
    if e.facts.kind == TargetKind::File || e.facts.capacity == 0 {
        return no_rating(e);
    }
    match bytes_per_day(e) {
        Some((rated, years, day)) => {
            documented(e, day / nominal(e.facts.capacity) as f64, rated, years)
        }
        None => no_rating(e),
    }
}

pub(super) fn endurance_tb_per_day(e: &Evidence) -> MeasureReading {
    match bytes_per_day(e) {
        Some((rated, years, day)) => documented(e, day / 1e12, rated, years),
        None => no_rating(e),
    }
}
