//! Every row of the ledger that a model can speak of, predicted.

use crate::answers::Answers;
use crate::load::{NoPrediction, Question, question};
use crate::model::{DriveKey, LedgerModel, choose, key};
use serde::{Deserialize, Serialize};
use ssdlab_base::{LabError, parallel};
use ssdlab_ledger::LedgerRow;
use ssdlab_ledger::row::{LoadKind, SyncMethod};
use ssdlab_life::draft::prior::{DraftPrior, PriorClass};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use twox_hash::XxHash3_64;

/// A prediction of a row, as it is frozen. Values are in the unit of the row's metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenPrediction {
    /// Id of the row: see [`row_id`].
    pub row: String,
    /// Family.
    pub family: String,
    /// Model.
    pub model: String,
    /// Capacity in 10^9 bytes.
    pub capacity_gb: f64,
    /// Metric.
    pub metric: String,
    /// Id of the source.
    pub source: String,
    /// What the model says.
    pub predicted: f64,
    /// One in ten is below.
    pub low: f64,
    /// One in ten is above.
    pub high: f64,
    /// `catalogue:NAME`, `draft:sheet` or `draft:class`.
    pub basis: String,
    /// Hash of the model's configuration.
    pub config: String,
    /// What was assumed about state, path and load.
    pub assumed: String,
    /// Version and hash of catalogue and rules.
    pub build: String,
    /// When.
    pub date: String,
}

/// A row that no model can speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpredicted {
    /// Which row of the ledger.
    pub index: usize,
    /// Why.
    pub why: NoPrediction,
}

/// What a build says of the ledger.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    /// In the order of the rows.
    pub made: Vec<FrozenPrediction>,
    /// Rows left out.
    pub unpredicted: Vec<Unpredicted>,
}

/// Identity of a row: everything that decides the figure, and not the figure.
pub fn row_id(row: &LedgerRow) -> String {
    let (drive, load) = (&row.drive, &row.load);
    let text = format!(
        "{}|{}|{:?}|{}|{}|{}|{}|{}|{:?}|{:?}|{:?}|{:?}|{}|{}|{}|{}",
        drive.family,
        drive.model,
        drive.capacity_gb,
        row.state.state.word(),
        row.state.how,
        row.path.through.word(),
        row.path.how,
        load.rw.map_or("", LoadKind::word),
        load.read_pct,
        load.block_bytes,
        load.queue_depth,
        load.jobs,
        load.sync.map_or("", SyncMethod::word),
        row.figure.metric.name(),
        row.source,
        row.place,
    );
    format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

/// A row with what it asks.
pub(crate) struct AskedRow<'a> {
    index: usize,
    pub row: &'a LedgerRow,
    pub question: Question,
    assumed: String,
}

/// Rows of one model.
pub(crate) struct ModelTask<'a> {
    pub model: LedgerModel,
    /// What drafts draw constants from.
    pub prior: DraftPrior,
    pub asked: Vec<AskedRow<'a>>,
}

/// An answered row, or why it is not.
type RowResult = (usize, Result<FrozenPrediction, NoPrediction>);

/// Predicts every row; `address` gives the address of a source by its id.
///
/// # Errors
/// When `stop` was set.
pub fn predict(
    rows: &[LedgerRow],
    address: &(dyn Fn(&str) -> String + Sync),
    date: &str,
    stop: &AtomicBool,
) -> Result<Predictions, LabError> {
    let of = PredictionTasks::of(rows, rows, address, DraftPrior::built_in());
    of.answered(date, stop)
}

/// The same with another prior; `all` has the sheets of the rows' drives.
pub(crate) fn predict_with(
    rows: &[LedgerRow],
    all: &[LedgerRow],
    address: &dyn Fn(&str) -> String,
    prior: &DraftPrior,
    stop: &AtomicBool,
) -> Result<Predictions, LabError> {
    PredictionTasks::of(rows, all, address, prior).answered("", stop)
}

/// The models of rows with their questions.
pub(crate) fn tasks<'a>(
    rows: &'a [LedgerRow],
    all: &[LedgerRow],
    address: &dyn Fn(&str) -> String,
    prior: &DraftPrior,
) -> Vec<ModelTask<'a>> {
    PredictionTasks::of(rows, all, address, prior).tasks
}

/// Rows by model, and those of which no model can speak.
struct PredictionTasks<'a> {
    tasks: Vec<ModelTask<'a>>,
    unpredicted: Vec<Unpredicted>,
}

impl<'a> PredictionTasks<'a> {
    fn of(
        rows: &'a [LedgerRow],
        all: &[LedgerRow],
        address: &dyn Fn(&str) -> String,
        prior: &DraftPrior,
    ) -> PredictionTasks<'a> {
        let mut unpredicted = Vec::new();
        let mut by_drive: BTreeMap<DriveKey, Vec<AskedRow<'a>>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            match question(row) {
                Ok((question, assumed)) => {
                    let question_row = AskedRow {
                        index,
                        row,
                        question,
                        assumed,
                    };
                    let key = key(row, &address(&row.source));
                    by_drive.entry(key).or_default().push(question_row);
                }
                Err(why) => unpredicted.push(Unpredicted { index, why }),
            }
        }
        let mut tasks: BTreeMap<(String, String, String), ModelTask<'a>> = BTreeMap::new();
        for asked in by_drive.into_values() {
            let first = asked[0].row;
            match choose(&first.drive, &address(&first.source), all, prior) {
                Ok(model) => {
                    // Of drives with the same configuration, constants still differ by class.
                    let class = model.facts.as_ref().map(PriorClass::of);
                    let key = (model.hash(), model.basis.name(), format!("{class:?}"));
                    let asked_before = tasks.entry(key).or_insert_with(|| ModelTask {
                        model,
                        prior: prior.clone(),
                        asked: Vec::new(),
                    });
                    asked_before.asked.extend(asked);
                }
                Err(why) => unpredicted.extend(asked.iter().map(|asked| Unpredicted {
                    index: asked.index,
                    why,
                })),
            }
        }
        PredictionTasks {
            tasks: tasks.into_values().collect(),
            unpredicted,
        }
    }

    fn answered(mut self, date: &str, stop: &AtomicBool) -> Result<Predictions, LabError> {
        let build = build();
        let answered = parallel::all(&self.tasks, parallel::cores(), |task| {
            answer(task, &build, date, stop)
        })?;
        let mut answered: Vec<RowResult> = answered.into_iter().flatten().collect();
        answered.sort_by_key(|(index, _)| *index);
        let mut made = Vec::new();
        for (index, result) in answered {
            match result {
                Ok(prediction) => made.push(prediction),
                Err(why) => self.unpredicted.push(Unpredicted { index, why }),
            }
        }
        self.unpredicted.sort_by_key(|row| row.index);
        Ok(Predictions {
            made,
            unpredicted: self.unpredicted,
        })
    }
}

fn answer(
    task: &ModelTask<'_>,
    build: &str,
    date: &str,
    stop: &AtomicBool,
) -> Result<Vec<RowResult>, LabError> {
    let mut answers = Answers::new(&task.model, &task.prior);
    let mut results = Vec::new();
    let config = task.model.hash();
    for asked in &task.asked {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused("stopped", ""));
        }
        let frozen = answers
            .answer(asked.question)
            .map(|answer| FrozenPrediction {
                row: row_id(asked.row),
                family: asked.row.drive.family.clone(),
                model: asked.row.drive.model.clone(),
                capacity_gb: asked.row.drive.capacity_gb.unwrap_or(0.0),
                metric: asked.row.figure.metric.name().to_owned(),
                source: asked.row.source.clone(),
                predicted: rounded(answer.value),
                low: rounded(answer.low),
                high: rounded(answer.high),
                basis: task.model.basis.name(),
                config: config.clone(),
                assumed: asked.assumed.clone(),
                build: build.to_owned(),
                date: date.to_owned(),
            });
        results.push((asked.index, frozen));
    }
    Ok(results)
}

/// Four significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Version of the program, and hash of the catalogue and the prior that drafts come from.
pub fn build() -> String {
    let prior = format!("{:?}", DraftPrior::built_in().classes);
    format!("{}+{}", env!("CARGO_PKG_VERSION"), catalogue_hash(&prior))
}

/// The same without the prior: what the prior is made with.
pub(crate) fn code() -> String {
    format!("{}+{}", env!("CARGO_PKG_VERSION"), catalogue_hash(""))
}

fn catalogue_hash(more: &str) -> String {
    let mut text = String::new();
    for (name, file) in ssdlab_drives::catalogue::files() {
        text += &format!("{name}\n{file}\n");
    }
    text += more;
    format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}
