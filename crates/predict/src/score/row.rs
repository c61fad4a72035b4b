//! A measured row beside its prediction.

use super::group::FigureGroup;
use crate::predict::FrozenPrediction;
use ssdlab_ledger::LedgerRow;

/// A row with what was predicted, and what knows without a model.
#[derive(Clone, Debug)]
pub struct ScoredRow<'a> {
    /// The row.
    pub row: &'a LedgerRow,
    /// Its prediction.
    pub prediction: &'a FrozenPrediction,
    /// What kind of figure it is.
    pub group: FigureGroup,
    /// By the drive's sheet.
    pub sheet: Option<f64>,
    /// By the median of other families of its class at the same load.
    pub class: Option<f64>,
    /// By the nearest drive of another family.
    pub nearest: Option<f64>,
    /// Drive and publisher: rows that agree in both count as one.
    pub unit: (String, String),
}

impl ScoredRow<'_> {
    /// Predicted over measured.
    pub fn ratio(&self) -> f64 {
        self.prediction.predicted / self.row.figure.value
    }

    /// Whether the figure lies within the interval.
    pub fn is_covered(&self) -> bool {
        let value = self.row.figure.value;
        (self.prediction.low..=self.prediction.high).contains(&value)
    }
}
