//! Order of drives, and which one would have been chosen.

use super::nulls::{LoadKey, load_key};
use super::row::ScoredRow;
use crate::facts::median;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewest drives at one load that an order is looked for in.
const DRIVES_MIN: usize = 4;

/// What each would have chosen among the drives that were measured at one load, as the share of the
/// best drive's figure that the chosen one has; the mean over loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Choices {
    /// Loads.
    pub loads: usize,
    /// The model.
    pub model: f64,
    /// The sheet, where every drive has one.
    pub sheet: Option<f64>,
    /// A drive taken at random.
    pub random: f64,
}

/// A drive at a load: the medians of what was measured and predicted.
struct Candidate {
    measured: f64,
    predicted: f64,
    sheet: Option<f64>,
}

/// The drives of each load with enough of them; figures turned so that more is better.
fn loads(rows: &[&ScoredRow<'_>]) -> Vec<Vec<Candidate>> {
    let mut loads: BTreeMap<LoadKey, BTreeMap<&str, Vec<&ScoredRow<'_>>>> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|r| r.row.figure.metric.higher_is_better().is_some())
    {
        let drives = loads.entry(load_key(row.row)).or_default();
        drives.entry(row.unit.0.as_str()).or_default().push(row);
    }
    let candidate = |rows: Vec<&ScoredRow<'_>>| {
        let higher = rows[0].row.figure.metric.higher_is_better() != Some(false);
        let turned = |value: f64| if higher { value } else { 1.0 / value };
        let median_by = |value: &dyn Fn(&ScoredRow<'_>) -> Option<f64>| {
            let values = rows.iter().filter_map(|row| value(row).map(turned));
            median(values.collect())
        };
        Some(Candidate {
            measured: median_by(&|row| Some(row.row.figure.value))?,
            predicted: median_by(&|row| Some(row.prediction.predicted))?,
            sheet: median_by(&|row| row.sheet),
        })
    };
    let candidates = |drives: BTreeMap<&str, Vec<&ScoredRow<'_>>>| {
        drives
            .into_values()
            .filter_map(candidate)
            .collect::<Vec<_>>()
    };
    let loads = loads.into_values().map(candidates);
    loads.filter(|drives| drives.len() >= DRIVES_MIN).collect()
}

/// Spearman's rank correlation of predicted and measured, weighted by drives.
pub fn rank(rows: &[&ScoredRow<'_>]) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for drives in loads(rows) {
        let measured: Vec<f64> = drives.iter().map(|drive| drive.measured).collect();
        let predicted: Vec<f64> = drives.iter().map(|drive| drive.predicted).collect();
        if let Some(rank) = spearman(&measured, &predicted) {
            sum += rank * drives.len() as f64;
            weight += drives.len() as f64;
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

/// Spearman's rank correlation; ties share their mean rank. `None` where all of one side are equal.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (product(&a, &a) * product(&b, &b)).sqrt();
    (spread > 0.0).then(|| product(&a, &b) / spread)
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// What each would have chosen.
pub fn choices(rows: &[&ScoredRow<'_>]) -> Choices {
    let loads = loads(rows);
    let count = loads.len();
    if count == 0 {
        return Choices::default();
    }
    let best = |drives: &[Candidate]| drives.iter().map(|d| d.measured).fold(0.0, f64::max);
    // Drives that are predicted alike are drawn from.
    let chosen = |drives: &[Candidate], by: &dyn Fn(&Candidate) -> Option<f64>| {
        let values: Vec<f64> = drives.iter().filter_map(by).collect();
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let first = drives.iter().filter(|drive| by(drive) == Some(most));
        let shares: Vec<f64> = first.map(|d| d.measured / best(drives)).collect();
        let whole = values.len() == drives.len();
        whole.then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let mean = |shares: Vec<f64>| {
        let count = shares.len() as f64;
        (count > 0.0).then(|| shares.iter().sum::<f64>() / count)
    };
    let by = |by: &dyn Fn(&Candidate) -> Option<f64>| {
        mean(
            loads
                .iter()
                .filter_map(|drives| chosen(drives, by))
                .collect(),
        )
    };
    Choices {
        loads: count,
        model: by(&|drive| Some(drive.predicted)).unwrap_or(0.0),
        sheet: by(&|drive| drive.sheet),
        random: by(&|_| Some(1.0)).unwrap_or(0.0),
    }
}
