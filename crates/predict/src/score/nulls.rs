//! What knows without a model: the sheet, the class, the nearest drive.

use super::group::{class, link};
use crate::facts::median;
use crate::load::Durability;
use crate::load::{Figure, FillFigure, Question, ServiceFigure, question};
use crate::model::{known_family, sheet_facts};
use ssdlab_ledger::row::{LedgerDrive, LoadKind, SyncMethod};
use ssdlab_ledger::{Ledger, LedgerRow};
use ssdlab_life::draft::DatasheetFacts;
use std::collections::{BTreeMap, HashMap};

/// Everything of a load that has to agree before two drives are compared.
pub type LoadKey = (
    &'static str,
    &'static str,
    Option<u64>,
    Option<u32>,
    Option<u32>,
    &'static str,
);

/// The load of a row.
pub fn load_key(row: &LedgerRow) -> LoadKey {
    let load = &row.load;
    (
        row.figure.metric.name(),
        load.rw.map_or("", LoadKind::word),
        load.block_bytes,
        load.queue_depth,
        load.jobs,
        load.sync.map_or("", SyncMethod::word),
    )
}

/// A drive that was measured at a load: the median of its figures.
struct MeasuredDrive<'a> {
    drive: &'a LedgerDrive,
    value: f64,
}

/// The nulls of a ledger.
pub struct Nulls<'a> {
    ledger: &'a Ledger,
    by_load: BTreeMap<LoadKey, Vec<MeasuredDrive<'a>>>,
    sheets: HashMap<(String, String), Option<DatasheetFacts>>,
}

impl<'a> Nulls<'a> {
    /// Of a ledger.
    pub fn new(ledger: &'a Ledger) -> Nulls<'a> {
        type Figures<'a> = BTreeMap<(&'a str, u64), (&'a LedgerDrive, Vec<f64>)>;
        let mut loads: BTreeMap<LoadKey, Figures<'a>> = BTreeMap::new();
        for row in ledger.drive_rows().filter(|row| row.is_measured()) {
            let gb = row.drive.capacity_gb.unwrap_or(0.0) as u64;
            let drives = loads.entry(load_key(row)).or_default();
            let figures = drives.entry((row.drive.model.as_str(), gb));
            let figures = figures.or_insert_with(|| (&row.drive, Vec::new()));
            figures.1.push(row.figure.value);
        }
        let measured = |(drive, values)| {
            let value = median(values)?;
            Some(MeasuredDrive { drive, value })
        };
        let drives = |figures: Figures<'a>| figures.into_values().filter_map(measured).collect();
        Nulls {
            ledger,
            by_load: loads.into_iter().map(|(key, f)| (key, drives(f))).collect(),
            sheets: HashMap::new(),
        }
    }

    /// The drives of other families that were measured at the load of a row and are of its class.
    fn others(&self, row: &LedgerRow) -> Vec<&MeasuredDrive<'a>> {
        let own = class(&row.drive);
        let is_other = |other: &&MeasuredDrive<'_>| {
            other.drive.family != row.drive.family && class(other.drive) == own
        };
        let drives = self.by_load.get(&load_key(row));
        drives.into_iter().flatten().filter(is_other).collect()
    }

    /// The median of other families of the class.
    pub fn class(&self, row: &LedgerRow) -> Option<f64> {
        median(self.others(row).iter().map(|drive| drive.value).collect())
    }

    /// The drive of another family that is nearest: of the class, then by capacity and year.
    pub fn nearest(&self, row: &LedgerRow) -> Option<f64> {
        const YEARS_LIKE_TWICE_THE_CAPACITY: f64 = 3.0;
        let distance = |other: &MeasuredDrive<'_>| {
            let (a, b) = (&row.drive, other.drive);
            let capacity = a.capacity_gb.zip(b.capacity_gb);
            let capacity = capacity.map_or(1.0, |(a, b)| (a / b).log2().abs());
            let years = a
                .year
                .zip(b.year)
                .map_or(1.0, |(a, b)| f64::from(a.abs_diff(b)));
            let generation = f64::from(u8::from(a.interface != b.interface));
            capacity + years / YEARS_LIKE_TWICE_THE_CAPACITY + generation
        };
        let others = self.others(row);
        let nearest = others
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(|drive| drive.value)
    }

    /// What the sheet of the drive would have one believe.
    pub fn sheet(&mut self, row: &LedgerRow) -> Option<f64> {
        let drive = &row.drive;
        let capacity = drive.capacity_gb?;
        let key = (drive.model.clone(), format!("{capacity} {}", link(drive)));
        let rows = self.ledger.all_rows();
        let facts = self.sheets.entry(key);
        let facts = facts.or_insert_with(|| sheet_facts(drive, rows)).as_ref()?;
        let (question, _) = question(row).ok()?;
        believed(&question, facts, drive).filter(|value| *value > 0.0)
    }
}

/// The figure of a sheet that answers a question.
fn believed(question: &Question, facts: &DatasheetFacts, drive: &LedgerDrive) -> Option<f64> {
    let number = |count: Option<u32>| count.map(f64::from);
    let bytes = |rate: Option<u64>| rate.map(|rate| rate as f64);
    match question {
        Question::Service(ServiceFigure::HostTb) => rated_writes(facts, drive).map(|tb| tb / 100.0),
        Question::Service(_) => None,
        Question::Fill {
            figure: FillFigure::Mean | FillFigure::Rate(_),
            ..
        } => bytes(facts.sequential_write).map(|rate| rate / 1e6),
        Question::Fill { .. } => None,
        Question::Run { load, figure, .. } => {
            let block = f64::from(load.block);
            let in_order = load.order == crate::load::AddressOrder::Sequential;
            let commands = |random: Option<u32>, rate: Option<u64>| {
                let by_rate = bytes(rate).map(|rate| rate / block);
                match (number(random).filter(|_| !in_order), by_rate) {
                    (Some(random), Some(by_rate)) => Some(random.min(by_rate)),
                    (random, by_rate) => random.or(by_rate),
                }
            };
            let writes = commands(facts.random_write, facts.sequential_write);
            let reads = commands(facts.random_read, facts.sequential_read);
            let latency_us = |time: Option<ssdlab_base::Nanos>| time.map(|t| t.0 as f64 / 1e3);
            let is_single = load.outstanding == 1;
            match figure {
                Figure::Writes(times) if load.sync != Durability::None || is_single => {
                    let outstanding = f64::from(load.outstanding);
                    let by_time = latency_us(facts.write_latency).map(|us| outstanding * 1e6 / us);
                    by_time
                        .map(|rate| rate.min(writes.unwrap_or(rate)))
                        .or(writes)
                        .map(|rate| rate * times)
                }
                Figure::Writes(times) => Some(writes? * times),
                Figure::Reads(times) => Some(reads? * times),
                Figure::All => None,
                Figure::Durable(None) | Figure::Write(None) | Figure::SyncOnly(None) => {
                    latency_us(facts.write_latency).filter(|_| is_single)
                }
                Figure::Read(None) => latency_us(facts.random_read_latency).filter(|_| is_single),
                _ => None,
            }
        }
    }
}

/// Rated writes in TB: of the sheet, else of `drives known`.
fn rated_writes(facts: &DatasheetFacts, drive: &LedgerDrive) -> Option<f64> {
    if let Some(bytes) = facts.rated_writes {
        return Some(bytes as f64 / 1e12);
    }
    let rating = known_family(drive)?.rating((drive.capacity_gb? * 1e9) as u64)?;
    Some(rating.bytes_written as f64 / 1e12)
}
