//! Article zil: mirrored log devices, and the media wear indicator.

use super::experiment::{Outcome, Setup};
use crate::experiments::mirror::{Mirror, MirrorSettings, indicator, mirrors, percentile};
use ssdlab_base::LabError;
use ssdlab_bench::analysis::stats;
use ssdlab_drives::catalogue;
use ssdlab_life::endurance::work::Work;
use ssdlab_life::endurance::{Asked, CAPACITY_USUAL, WARM_USUAL, worn_by};

/// Pairs of each kind of mirror.
const PAIRS: u32 = 24;
/// Short name, and the two sides.
pub const MIRRORS: [(&str, [&str; 2]); 3] = [
    ("equal", ["intel-710-100gb", "intel-710-100gb"]),
    ("with_200", ["intel-710-100gb", "intel-710-200gb"]),
    ("with_300", ["intel-710-100gb", "intel-710-300gb"]),
];

/// Lives the mirrors.
///
/// # Errors
/// When a drive is not possible, or the run was stopped.
pub fn run(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let mut outcome = Outcome::default();
    let all = MIRRORS.map(|(short, sides)| MirrorSettings {
        sides: sides.map(str::to_owned),
        // Unequal ones need no more than a look at how little they vary.
        pairs: if short == "equal" { PAIRS } else { PAIRS / 4 },
        seed: setup.seed,
    });
    for ((short, _), found) in MIRRORS.iter().zip(mirrors(&all, setup.stop)?) {
        measure(&mut outcome, short, &found);
    }
    let e9 = indicator("intel-710-100gb", setup.seed, setup.stop)?;
    let first = e9.points.first().map_or(f64::NAN, |point| point.1);
    let at_rating = e9.points.iter().find(|point| point.0 >= 1.0);
    outcome.value("e9_new", first);
    outcome.value("e9_at_rating", at_rating.map_or(f64::NAN, |point| point.1));
    let rises = e9.points.windows(2).filter(|two| two[1].1 > two[0].1);
    outcome.value("e9_rises", rises.count() as f64);
    outcome.curves.insert("e9".into(), e9.points);
    Ok(outcome)
}

/// Drives whose cells are held against their ratings.
pub const RATED: [(&str, &str); 5] = [
    ("710_100", "intel-710-100gb"),
    ("710_200", "intel-710-200gb"),
    ("710_300", "intel-710-300gb"),
    ("320_300", "intel-320-300gb"),
    ("consumer", "consumer-sata-1tb"),
];

/// What cells last for under JESD219's enterprise writes, over the ratings.
///
/// # Errors
/// As [`run`].
pub fn endurance(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let mut outcome = Outcome::default();
    let asked = Asked {
        capacity: Some(CAPACITY_USUAL),
        warm: WARM_USUAL,
        seed: setup.seed,
    };
    for (short, name) in RATED {
        let drive = catalogue::drive(name)?;
        let found = worn_by(&drive, &Work::Enterprise, &asked, setup.stop)?;
        let rated = found.rated_bytes.unwrap_or(f64::NAN);
        outcome.rests_on.extend(found.rests_on.clone());
        outcome.value(format!("{short}_waf"), found.waf);
        outcome.value(format!("{short}_lasts_tb"), found.bytes / 1e12);
        outcome.value(format!("{short}_over_rating"), found.bytes / rated);
        let days = 5.0 * 365.0;
        outcome.value(format!("{short}_gb_day"), found.bytes / days / 1e9);
    }
    let each = RATED[..3]
        .iter()
        .map(|(short, _)| format!("{short}_over_rating"));
    let least = each
        .map(|name| outcome.values[&name])
        .fold(f64::MAX, f64::min);
    outcome.value("710_over_rating_least", least);
    Ok(outcome)
}

fn measure(outcome: &mut Outcome, short: &str, found: &Mirror) {
    let faults = found.faults.join("; ");
    let whole = if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    };
    let drives = 2 * found.pairs.len();
    outcome.check(format!("{drives} dead drives, {}", found.sides[1]), whole);
    let (gaps, rated) = (found.gaps_pct(), found.rated_gaps_pct());
    for (name, percent) in [
        ("least", 0),
        ("p10", 10),
        ("median", 50),
        ("p90", 90),
        ("most", 100),
    ] {
        outcome.value(
            format!("{short}_gap_pct_{name}"),
            percentile(&gaps, percent),
        );
    }
    outcome.value(format!("{short}_rated_gap_pct"), stats::mean(&rated));
    for (side, bytes) in found.mean_bytes().iter().enumerate() {
        outcome.value(format!("{short}_life_tb_{side}"), bytes / 1e12);
    }
    let count = gaps.len() as f64;
    let share = |n: usize| 100.0 * (n as f64 + 1.0) / count;
    let points = gaps.iter().enumerate().map(|(n, gap)| (*gap, share(n)));
    outcome
        .curves
        .insert(format!("{short}_gaps"), points.collect());
}
