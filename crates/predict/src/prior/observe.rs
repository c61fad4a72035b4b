//! What a constant of a drive must be, so that the model meets a measured figure.

use crate::answers::Answers;
use crate::load::{FillFigure, Question, ServiceFigure, question};
use crate::model::{Basis, LedgerModel, protection, sheet_facts};
use crate::predict::tasks;
use ssdlab_base::{LabError, parallel};
use ssdlab_drives::catalogue::{self, CatalogueDrive, Provenance};
use ssdlab_ledger::row::FigureKind;
use ssdlab_ledger::{Ledger, LedgerRow, Metric};
use ssdlab_life::draft::prior::{DraftPrior, PriorClass, PriorConstant};
use ssdlab_life::draft::{Cells, Interface, implied_moved_slot, link_rate, usual_moved_slot};
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
        let value = implied_moved_slot(&facts)? as f64 / usual_moved_slot(&facts) as f64;
        let class = PriorClass::of(&facts);
        (value > 0.0).then(|| Observation::of(row, class, PriorConstant::MovedSlot, value))
    };
    rows.iter().filter(is_one).filter_map(observe).collect()
}

/// Caches and rates by drives that were filled in order.
pub(super) fn of_fills(rows: &[LedgerRow]) -> Vec<Observation> {
    let observe = |row: &LedgerRow| {
        let Ok((Question::Fill { figure, .. }, _)) = question(row) else {
            return None;
        };
        let facts = sheet_facts(&row.drive, rows)?;
        let class = PriorClass::of(&facts);
        if class.protected || !matches!(class.cells, Cells::Tlc | Cells::Qlc) {
            return None;
        }
        let gb = row.drive.capacity_gb?;
        let measured = row.figure.value;
        let (constant, value) = match figure {
            FillFigure::End(1) if measured < WHOLE * gb => {
                (PriorConstant::CacheShare, measured / gb)
            }
            FillFigure::Rate(1) => {
                let link = link_rate(&facts) as f64;
                (PriorConstant::CacheRate, (measured / link).min(1.0))
            }
            FillFigure::Rate(2) => (PriorConstant::DirectRate, at_1_tb(measured, gb)),
            _ => return None,
        };
        Some(Observation::of(row, class, constant, value))
    };
    rows.iter().filter_map(observe).collect()
}

/// A rate past the cache in bytes a second, as of a drive of 1 TB.
fn at_1_tb(megabytes: f64, gb: f64) -> f64 {
    megabytes * 1e6 / (gb / 1000.0).sqrt()
}

/// Caches of drives of the catalogue whose rate past the cache was measured, and of which the
/// ledger has no row.
pub(super) fn of_catalogue(
    rows: &[LedgerRow],
    is_used: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<Observation> {
    let names = catalogue::names().unwrap_or_default();
    let drives = names.iter().filter_map(|name| catalogue::drive(name).ok());
    let is_new = |drive: &CatalogueDrive| {
        let name = &drive.file.name;
        let mut families = rows.iter().map(|row| &row.drive.family);
        is_used(name) && !families.any(|family| name.starts_with(family.as_str()))
    };
    drives
        .filter(is_new)
        .flat_map(|drive| cache_of(&drive).unwrap_or_default())
        .collect()
}

fn cache_of(drive: &CatalogueDrive) -> Option<Vec<Observation>> {
    let config = &drive.config;
    let rate = drive.file.documented.sequential_write.as_ref()?;
    let cells = match config.shape.bits_per_cell {
        3 => Cells::Tlc,
        4 => Cells::Qlc,
        _ => return None,
    };
    let slc = &config.ftl.slc;
    let dynamic = match slc.dynamic_above_free {
        0 => 0,
        above => config.shape.blocks_per_plane.saturating_sub(above),
    };
    let superblocks = f64::from(slc.superblocks + dynamic);
    let is_measured = rate.kind == Provenance::Measured && !config.buffer.protected;
    if superblocks == 0.0 || !is_measured {
        return None;
    }
    let blocks = f64::from(config.shape.blocks_per_plane);
    let raw = config.geometry().raw_bytes() as f64;
    let bits = f64::from(config.shape.bits_per_cell);
    let share = superblocks / blocks * raw / bits / config.user_bytes as f64;
    let megabytes =
        ssdlab_base::quantity::parse_size(rate.value.strip_suffix("/s")?).ok()? as f64 / 1e6;
    let interface = match drive.file.interface.as_str() {
        "sata" => Interface::Sata,
        _ => Interface::Pcie3,
    };
    let observation = |constant, value| Observation {
        constant,
        class: PriorClass {
            protected: false,
            interface,
            cells,
            maker: None,
        },
        family: drive.file.name.clone(),
        drive: drive.file.name.clone(),
        value,
    };
    let gb = config.user_bytes as f64 / 1e9;
    Some(vec![
        observation(PriorConstant::CacheShare, share),
        observation(PriorConstant::DirectRate, at_1_tb(megabytes, gb)),
    ])
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
