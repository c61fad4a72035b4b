//! How good the predictions are, and what knows as much without a model.
//!
//! ```text
//! row + first frozen prediction -> ScoredRow -> group, class, family -> table
//! nulls: the sheet; the median of the class; the nearest drive       (of other families)
//! ```
//! The error is exp of the mean of |ln(predicted / measured)|. A mean is first taken over the rows
//! of one drive in one publisher's figures, then over these, so that a source with many rows counts
//! once for each of its drives. Nothing is fitted here.

mod choice;
mod group;
mod nulls;
mod row;
mod table;
#[cfg(test)]
mod tests;

pub use group::{FigureGroup, class, link};
pub use row::ScoredRow;
pub use table::{docs, markdown, text};

use crate::load::{Figure, NoPrediction, Question, question};
use crate::model::{DriveKey, LedgerModel, choose, key, publisher};
use crate::predict::{FrozenPrediction, row_id};
use choice::Choices;
use nulls::Nulls;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_ledger::{Ledger, LedgerRow};
use ssdlab_life::draft::prior::DraftPrior;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A null beside the model, on the rows where both have a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct NullScore {
    /// Rows where it has a value.
    pub rows: usize,
    /// Its error.
    pub error: f64,
    /// The model's on the same rows.
    pub model: f64,
}

/// The scores of some rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ScoreLine {
    /// Whose.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Different drives.
    pub drives: usize,
    /// Different publishers.
    pub sources: usize,
    /// Geometric error of the model.
    pub error: f64,
    /// Geometric mean of predicted over measured.
    pub bias: f64,
    /// Share of figures within the 80 % interval.
    pub coverage: f64,
    /// Rank correlation over drives at one load, where at least four were measured.
    pub rank: Option<f64>,
    /// The sheet.
    pub sheet: Option<NullScore>,
    /// The median of other families of the class.
    pub class: Option<NullScore>,
    /// The nearest drive.
    pub nearest: Option<NullScore>,
    /// What the drive has of the best that each would have chosen.
    pub choices: Choices,
}

/// All scores.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Score {
    /// By kind of figure, over the families that are not set apart.
    pub groups: Vec<ScoreLine>,
    /// The same over those set apart.
    pub apart: Vec<ScoreLine>,
    /// By class of drive: durable and random writes.
    pub classes: Vec<ScoreLine>,
    /// By basis of the model.
    pub bases: Vec<ScoreLine>,
    /// By family, every kind of figure.
    pub families: Vec<ScoreLine>,
    /// Rows that were not predicted, by reason.
    pub unpredicted: BTreeMap<&'static str, usize>,
    /// Measured rows in all, and families set apart.
    pub measured: usize,
    /// See `measured`.
    pub families_apart: Vec<String>,
    /// Builds whose predictions are scored.
    pub builds: Vec<String>,
}

/// Every row that has a prediction, with its nulls.
pub fn rows<'a>(
    ledger: &'a Ledger,
    predictions: &BTreeMap<&str, &'a FrozenPrediction>,
) -> Vec<ScoredRow<'a>> {
    let mut nulls = Nulls::new(ledger);
    let mut scored = Vec::new();
    for row in ledger.all_rows() {
        let id = row_id(row);
        let (Some(prediction), Ok((question, _))) = (predictions.get(id.as_str()), question(row))
        else {
            continue;
        };
        let drive = format!("{} {:?}", row.drive.model, row.drive.capacity_gb);
        let address = ledger.source(&row.source).map_or("", |s| &s.address);
        scored.push(ScoredRow {
            row,
            prediction,
            group: FigureGroup::of(row, &question),
            sheet: nulls.sheet(row),
            class: nulls.class(row),
            nearest: nulls.nearest(row),
            unit: (drive, publisher(address)),
        });
    }
    scored
}

/// The scores of the ledger.
pub fn score(ledger: &Ledger, predictions: &BTreeMap<&str, &FrozenPrediction>) -> Score {
    let scored = rows(ledger, predictions);
    let is_apart = |row: &&ScoredRow<'_>| ledger.is_apart(&row.row.drive.family);
    let (apart, open): (Vec<_>, Vec<_>) = scored.iter().partition(is_apart);
    let writes = |row: &&&ScoredRow<'_>| {
        matches!(
            row.group,
            FigureGroup::DurableWrites | FigureGroup::RandomWrites
        )
    };
    let predicted: BTreeSet<String> = scored.iter().map(|s| s.prediction.row.clone()).collect();
    let mut unpredicted = BTreeMap::new();
    let (mut measured, mut models) = (0, HashMap::new());
    for row in ledger.all_rows().iter().filter(|row| row.is_measured()) {
        measured += 1;
        if !predicted.contains(&row_id(row)) {
            let why = why_not(row, ledger, &mut models);
            *unpredicted.entry(why).or_insert(0) += 1;
        }
    }
    let of_writes: Vec<&ScoredRow<'_>> = scored.iter().filter(|row| writes(&row)).collect();
    let builds: BTreeSet<String> = scored.iter().map(|s| s.prediction.build.clone()).collect();
    Score {
        groups: by(&open, |row| row.group.name().to_owned()),
        apart: by(&apart, |row| row.group.name().to_owned()),
        classes: by(&of_writes, |row| group::class(&row.row.drive)),
        bases: by(&scored.iter().collect::<Vec<_>>(), |row| {
            let basis = row.prediction.basis.split(':').collect::<Vec<_>>();
            match basis[..] {
                ["draft", kind] => format!("draft, {kind}"),
                _ => "catalogue".to_owned(),
            }
        }),
        families: by(&scored.iter().collect::<Vec<_>>(), |row| {
            row.row.drive.family.clone()
        }),
        unpredicted,
        measured,
        families_apart: ledger
            .apart()
            .families()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        builds: builds.into_iter().collect(),
    }
}

/// Why a row has no prediction.
fn why_not(row: &LedgerRow, ledger: &Ledger, models: &mut ChosenModels) -> &'static str {
    let address = ledger.source(&row.source).map_or("", |s| &s.address);
    let (question, _) = match question(row) {
        Ok(question) => question,
        Err(why) => return why.words(),
    };
    let model = models.entry(key(row, address));
    let model = model.or_insert_with(|| {
        choose(
            &row.drive,
            address,
            ledger.all_rows(),
            DraftPrior::built_in(),
        )
    });
    let figure = match question {
        Question::Run { figure, .. } => Some(figure),
        Question::Fill { .. } | Question::Service(_) => None,
    };
    match (model, figure) {
        (Err(why), _) => why.words(),
        (Ok(model), None) if model.is_written_in_place() => NoPrediction::WrittenInPlace.words(),
        (Ok(model), None) if !model.knows_cache => NoPrediction::CacheUnknown.words(),
        (Ok(_), Some(Figure::SyncOnly(_))) => NoPrediction::NoFlush.words(),
        (Ok(_), _) => "added after the last predictions",
    }
}

/// The model of a drive for a publisher, or why there is none.
type ChosenModels = HashMap<DriveKey, Result<LedgerModel, NoPrediction>>;

fn by(rows: &[&ScoredRow<'_>], name: impl Fn(&ScoredRow<'_>) -> String) -> Vec<ScoreLine> {
    let mut groups: BTreeMap<String, Vec<&ScoredRow<'_>>> = BTreeMap::new();
    for row in rows {
        groups.entry(name(row)).or_default().push(row);
    }
    groups
        .into_iter()
        .map(|(name, rows)| line(name, &rows))
        .collect()
}

/// The score of some rows.
fn line(name: String, rows: &[&ScoredRow<'_>]) -> ScoreLine {
    let logs = |row: &ScoredRow<'_>| row.ratio().ln();
    let mean_error = mean(rows, |row| Some(logs(row).abs())).unwrap_or(0.0);
    let covered = |row: &ScoredRow<'_>| Some(f64::from(u8::from(row.is_covered())));
    let distinct = |key: for<'r> fn(&'r ScoredRow<'_>) -> &'r str| {
        let keys: BTreeSet<&str> = rows.iter().map(|row| key(row)).collect();
        keys.len()
    };
    ScoreLine {
        rows: rows.len(),
        drives: distinct(|row| &row.unit.0),
        sources: distinct(|row| &row.unit.1),
        error: mean_error.exp(),
        bias: mean(rows, |row| Some(logs(row))).unwrap_or(0.0).exp(),
        coverage: mean(rows, covered).unwrap_or(0.0),
        rank: choice::rank(rows),
        sheet: null(rows, |row| row.sheet),
        class: null(rows, |row| row.class),
        nearest: null(rows, |row| row.nearest),
        choices: choice::choices(rows),
        name,
    }
}

fn null(
    rows: &[&ScoredRow<'_>],
    value: impl Fn(&ScoredRow<'_>) -> Option<f64>,
) -> Option<NullScore> {
    let with: Vec<&ScoredRow<'_>> = rows
        .iter()
        .copied()
        .filter(|r| value(r).is_some())
        .collect();
    let error = mean(&with, |row| {
        Some((value(row)? / row.row.figure.value).ln().abs())
    })?;
    Some(NullScore {
        rows: with.len(),
        error: error.exp(),
        model: mean(&with, |row| Some(row.ratio().ln().abs()))?.exp(),
    })
}

/// The mean over drives and publishers of the means over their rows.
fn mean(rows: &[&ScoredRow<'_>], value: impl Fn(&ScoredRow<'_>) -> Option<f64>) -> Option<f64> {
    let mut units: BTreeMap<&(String, String), (f64, usize)> = BTreeMap::new();
    for row in rows {
        let unit = units.entry(&row.unit).or_default();
        unit.0 += value(row)?;
        unit.1 += 1;
    }
    let count = units.len() as f64;
    let sum: f64 = units.values().map(|(sum, n)| sum / *n as f64).sum();
    (count > 0.0).then(|| sum / count)
}
