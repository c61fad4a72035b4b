//! Steady random writes of enterprise sheets, predicted from the rest of the sheet.

use crate::answers::{Answer, Answers};
use crate::load::{AddressOrder, ClosedLoad, Durability, Figure, Question, StateBefore};
use crate::model::{Basis, LedgerModel, protection, sheet_facts};
use ssdlab_base::{LabError, parallel};
use ssdlab_ledger::row::{DriveState, FigureKind, LoadKind};
use ssdlab_ledger::{LedgerRow, Metric};
use ssdlab_life::draft::prior::DraftPrior;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes at random over the whole drive, as sheets have them.
const LOAD: ClosedLoad = ClosedLoad {
    order: AddressOrder::Random,
    read_pct: 0,
    block: 4096,
    outstanding: 128,
    sync: Durability::None,
};

/// A sheet's steady random writes, and what is said without them.
#[derive(Clone, Debug)]
pub(super) struct Withheld<'a> {
    /// The row of the sheet.
    pub row: &'a LedgerRow,
    /// The prediction.
    pub answer: Answer,
}

/// Whether a row is the steady random write rate of an enterprise sheet: one of a fresh drive is
/// something else.
pub(super) fn is_steady_sheet(row: &LedgerRow) -> bool {
    row.kind == FigureKind::Sheet
        && row.state.state == DriveState::Steady
        && row.is_of_a_drive()
        && row.figure.metric == Metric::WriteIops
        && row.load.rw == Some(LoadKind::RandWrite)
        && row.load.block_bytes == Some(4096)
        && protection(&row.drive) == Some(true)
}

/// Predicts the sheets among `rows`; `all` has the rest of each sheet.
pub(super) fn withheld<'a>(
    rows: &[&'a LedgerRow],
    all: &[LedgerRow],
    prior: &DraftPrior,
    stop: &AtomicBool,
) -> Result<Vec<Withheld<'a>>, LabError> {
    let predicted = parallel::all(rows, parallel::cores(), |row| {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused("stopped", ""));
        }
        Ok(of_sheet(row, all, prior))
    })?;
    let rows = rows.iter().zip(predicted);
    Ok(rows
        .filter_map(|(row, answer)| {
            Some(Withheld {
                row,
                answer: answer?,
            })
        })
        .collect())
}

fn of_sheet(row: &LedgerRow, all: &[LedgerRow], prior: &DraftPrior) -> Option<Answer> {
    let mut facts = sheet_facts(&row.drive, all)?;
    facts.random_write = None;
    facts.mixed = None;
    let model = LedgerModel::draft(&facts, Basis::Sheet, prior).ok()?;
    let question = Question::Run {
        state: StateBefore::Steady,
        load: LOAD,
        figure: Figure::Writes(1.0),
    };
    Answers::new(&model, prior).answer(question).ok()
}
