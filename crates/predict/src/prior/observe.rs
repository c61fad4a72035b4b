//! What a constant of a drive must be, so that the model meets a measured figure.

use crate::answers::Answers;
use crate::load::{FillFigure, Question, ServiceFigure, question};
use crate::model::{Basis, LedgerModel, is_crosspoint, protection, sheet_facts};
use crate::predict::tasks;
use ssdlab_base::{LabError, parallel};
use ssdlab_ledger::row::FigureKind;
use ssdlab_ledger::{Ledger, LedgerRow, Metric};
use ssdlab_life::draft::prior::{DraftPrior, PriorClass, PriorConstant};
use ssdlab_life::draft::{Cells, implied_moved_slot, link_rate};
use std::sync::atomic::{AtomicBool, Ordering};

/// Share of the drive past which a fill at one rate shows no cache.
const WHOLE: f64 = 0.95;

/// A constant of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Which.
    pub constant: PriorConstant,
    /// Class of the drive.
    pub class: PriorClass,
    /// Its family.
    pub family: String,
    /// Model, capacity and source.
    pub drive: String,
    /// The value.
    pub value: f64,
    /// Of a time: what the drive takes besides it for the same command, in the same unit.
    pub beside: f64,
}

impl Observation {
    pub(super) fn of(
        row: &LedgerRow,
        class: PriorClass,
        constant: PriorConstant,
        value: f64,
    ) -> Observation {
        let gb = row.drive.capacity_gb.unwrap_or(0.0);
        Observation {
            constant,
            class,
            family: row.drive.family.clone(),
            drive: format!("{} {gb} {}", row.drive.model, row.source),
            value,
            beside: 0.0,
        }
    }
}

/// Times of moved slots by the steady random writes of enterprise sheets.
pub(super) fn of_sheets(rows: &[LedgerRow]) -> Vec<Observation> {
    let is_one = |row: &&LedgerRow| {
        row.kind == FigureKind::Sheet
            && row.figure.metric == Metric::WriteIops
            && protection(&row.drive) == Some(true)
    };
    let observe = |row: &LedgerRow| {
        let facts = sheet_facts(&row.drive, rows)?;
        let (value, beside) = implied_moved_slot(&facts)?;
        let class = PriorClass::of(&facts);
        let observation = Observation::of(row, class, PriorConstant::MovedSlot, value);
        (value > 0.0).then_some(Observation {
            beside,
            ..observation
        })
    };
    rows.iter().filter(is_one).filter_map(observe).collect()
}

/// Rates of writes in order by the sheets of protected drives.
pub(super) fn of_write_rates(rows: &[LedgerRow]) -> Vec<Observation> {
    let is_one = |row: &&LedgerRow| {
        row.kind == FigureKind::Sheet
            && row.is_of_a_drive()
            && row.figure.metric == Metric::WriteRate
            && protection(&row.drive) == Some(true)
            && !is_crosspoint(&row.drive)
    };
    let observe = |row: &LedgerRow| {
        let facts = sheet_facts(&row.drive, rows)?;
        let at_1_tb = at_1_tb(row.figure.value, row.drive.capacity_gb?);
        let value = at_1_tb / (link_rate(&facts) * 1_000_000) as f64;
        let class = PriorClass::of(&facts);
        Some(Observation::of(row, class, PriorConstant::WriteRate, value))
    };
    rows.iter().filter(is_one).filter_map(observe).collect()
}

/// Caches and rates by drives that were filled in order.
pub(super) fn of_fills(rows: &[LedgerRow]) -> Vec<Observation> {
    let observe = |row: &LedgerRow| {
        let figure = fill_figure(row)?;
        let facts = sheet_facts(&row.drive, rows)?;
        let class = PriorClass::of(&facts);
        let bits = match class.cells {
            Cells::Tlc => 3.0,
            Cells::Qlc => 4.0,
            Cells::Slc | Cells::Mlc => return None,
        };
        if class.protected {
            return None;
        }
        let gb = row.drive.capacity_gb?;
        let in_cache = phases_within(row, rows, gb / bits).max(1);
        let measured = row.figure.value;
        let (constant, value) = match figure {
            FillFigure::End(number) if number == in_cache && measured < WHOLE * gb => {
                (PriorConstant::CacheShare, measured / gb)
            }
            FillFigure::Rate(1) => {
                let link = link_rate(&facts) as f64;
                (PriorConstant::CacheRate, (measured / link).min(1.0))
            }
            FillFigure::Rate(number) if number == in_cache + 1 => {
                (PriorConstant::DirectRate, at_1_tb(measured, gb))
            }
            _ => return None,
        };
        Some(Observation::of(row, class, constant, value))
    };
    rows.iter().filter_map(observe).collect()
}

/// Phases of a row's fill that end within `gb`, which cells in SLC mode can hold: a second rate
/// within them is not that of native cells.
fn phases_within(row: &LedgerRow, rows: &[LedgerRow], gb: f64) -> usize {
    let is_beside = |other: &&LedgerRow| {
        other.drive.model == row.drive.model
            && other.drive.capacity_gb == row.drive.capacity_gb
            && other.source == row.source
    };
    let ends_within = |other: &&LedgerRow| {
        matches!(fill_figure(other), Some(FillFigure::End(_))) && other.figure.value <= gb
    };
    rows.iter().filter(is_beside).filter(ends_within).count()
}

fn fill_figure(row: &LedgerRow) -> Option<FillFigure> {
    match question(row) {
        Ok((Question::Fill { figure, .. }, _)) => Some(figure),
        _ => None,
    }
}

/// A rate past the cache in bytes a second, as of a drive of 1 TB.
fn at_1_tb(megabytes: f64, gb: f64) -> f64 {
    megabytes * 1e6 / (gb / 1000.0).sqrt()
}

/// Cycles and write amplification by drives in service.
pub(super) fn of_service(
    rows: &[LedgerRow],
    ledger: &Ledger,
    prior: &DraftPrior,
    stop: &AtomicBool,
) -> Result<Vec<Observation>, LabError> {
    let is_of_service = |row: &&LedgerRow| {
        matches!(question(row), Ok((Question::Service(_), _))) && row.figure.value > 0.0
    };
    let in_service: Vec<LedgerRow> = rows.iter().filter(is_of_service).cloned().collect();
    let address = |id: &str| {
        let source = ledger.source(id);
        source.map_or_else(String::new, |source| source.address.clone())
    };
    let tasks = tasks(&in_service, rows, &address, prior);
    let observed = parallel::all(&tasks, parallel::cores(), |task| {
        let mut answers = Answers::new(&task.model, &task.prior);
        let mut observed = Vec::new();
        for asked in &task.asked {
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::refused("stopped", ""));
            }
            observed.extend(of_service_row(&task.model, &mut answers, asked.row));
        }
        Ok(observed)
    })?;
    Ok(observed.into_iter().flatten().collect())
}

fn of_service_row(
    model: &LedgerModel,
    answers: &mut Answers<'_>,
    row: &LedgerRow,
) -> Option<Observation> {
    let facts = model.facts.as_ref()?;
    let Ok((Question::Service(figure), _)) = question(row) else {
        return None;
    };
    if matches!(model.basis, Basis::Catalogue(_)) {
        return None;
    }
    let raw = model.config.geometry().raw_bytes() as f64;
    let user = model.config.user_bytes as f64;
    let measured = row.figure.value;
    let mut waf = |figure| {
        let answer = answers.answer(Question::Service(figure));
        answer.ok().map(|answer| answer.value)
    };
    let (constant, value) = match figure {
        ServiceFigure::Cycles => (PriorConstant::Cycles, measured),
        ServiceFigure::NandDriveWrites => {
            (PriorConstant::WearCycles, measured * 100.0 * user / raw)
        }
        ServiceFigure::HostTb => {
            let host = measured * 1e14 / raw;
            let waf = waf(ServiceFigure::WafMedian)?;
            (PriorConstant::WearCycles, host * waf)
        }
        ServiceFigure::WafLow => (PriorConstant::WafLow, measured / waf(figure)?),
        ServiceFigure::WafMedian => (PriorConstant::WafMedian, measured / waf(figure)?),
        ServiceFigure::WafHigh => (PriorConstant::WafHigh, measured / waf(figure)?),
        ServiceFigure::WafUniform => return None,
    };
    Some(Observation::of(row, PriorClass::of(facts), constant, value))
}
