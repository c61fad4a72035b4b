//! Five folds by family: what each fold's figures are predicted as by the other four.

use super::steady::{is_steady_sheet, withheld};
use super::{Folds, fit};
use crate::frozen;
use crate::load::{FillFigure, Question, question};
use crate::predict::{FrozenPrediction, predict_with, row_id};
use crate::score::{self, ScoreLine};
use ssdlab_base::LabError;
use ssdlab_ledger::{Ledger, LedgerRow, Metric};
use ssdlab_life::draft::prior::DraftPrior;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Jobs up to which the scaling of commits is compared.
const JOBS_MAX: u32 = 16;
/// Numbers of jobs from which on a series has a shape.
const POINTS_MIN: usize = 3;

/// The scores of a kind of figure.
#[derive(Clone, Debug, Default)]
pub struct HoldOutLine {
    /// With the prior of the other folds.
    pub score: ScoreLine,
    /// Error without any prior.
    pub before: Option<f64>,
}

/// Steady random writes of enterprise sheets, withheld.
#[derive(Clone, Copy, Debug, Default)]
pub struct SteadyScore {
    /// Drives.
    pub drives: usize,
    /// Geometric error; bias is predicted over the sheet's.
    pub error: f64,
    /// See `error`.
    pub bias: f64,
    /// Share within the 80 % interval.
    pub coverage: f64,
    /// Error without any prior.
    pub before: f64,
    /// Error of the median of the other families of the class.
    pub class: f64,
}

/// What the hold-out says.
#[derive(Clone, Debug, Default)]
pub struct HoldOut {
    /// By kind of figure, drafts alone.
    pub lines: Vec<HoldOutLine>,
    /// Writes by class of drive.
    pub classes: Vec<HoldOutLine>,
    /// Steady random writes.
    pub steady: SteadyScore,
    /// pSLC volumes within 25 %, and all.
    pub volumes: (usize, usize),
    /// Rates of fills within 1.5 times, and all.
    pub rates: (usize, usize),
    /// Series over jobs: device and sync, measured and predicted shape.
    pub shapes: Vec<(String, &'static str, &'static str)>,
}

/// Predicts every open family by the others.
///
/// # Errors
/// When `stop` was set.
pub fn hold_out(ledger: &Ledger, stop: &AtomicBool) -> Result<HoldOut, LabError> {
    let folds = Folds::built_in();
    let rows = ledger.all_rows();
    let address = |id: &str| {
        let source = ledger.source(id);
        source.map_or_else(String::new, |source| source.address.clone())
    };
    let none = DraftPrior::none();
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let (mut steady, mut steady_before) = (Vec::new(), Vec::new());
    for fold in 0..folds.folds.len() {
        let is_trained = |family: &str| folds.fold(family) != fold;
        let fitted = fit(ledger, &is_trained, stop)?;
        let is_held = |row: &&LedgerRow| {
            let family = &row.drive.family;
            !ledger.is_apart(family) && folds.fold(family) == fold
        };
        let held: Vec<LedgerRow> = rows.iter().filter(is_held).cloned().collect();
        with.extend(predict_with(&held, rows, &address, &fitted.prior, stop)?.made);
        without.extend(predict_with(&held, rows, &address, &none, stop)?.made);
        let is_held_sheet = |row: &&LedgerRow| is_held(row) && is_steady_sheet(row);
        let sheets: Vec<&LedgerRow> = rows.iter().filter(is_held_sheet).collect();
        steady.extend(withheld(&sheets, rows, &fitted.prior, stop)?);
        steady_before.extend(withheld(&sheets, rows, &none, stop)?);
    }
    for predictions in [&mut with, &mut without] {
        predictions.retain(|made| made.basis.starts_with("draft"));
    }
    let (made, before) = (frozen::first(&with), frozen::first(&without));
    let after = score::score(ledger, &made);
    let earlier = score::score(ledger, &before);
    let mut result = HoldOut {
        lines: beside(after.groups, &earlier.groups),
        classes: beside(after.classes, &earlier.classes),
        steady: steady_score(&steady, &steady_before),
        shapes: shapes(ledger, &made),
        ..HoldOut::default()
    };
    count_fills(&mut result, ledger, &made);
    Ok(result)
}

fn beside(lines: Vec<ScoreLine>, before: &[ScoreLine]) -> Vec<HoldOutLine> {
    let with = |score: ScoreLine| {
        let same = |line: &&ScoreLine| line.name == score.name && line.rows == score.rows;
        HoldOutLine {
            before: before.iter().find(same).map(|line| line.error),
            score,
        }
    };
    lines.into_iter().map(with).collect()
}

fn steady_score(
    made: &[super::steady::Withheld<'_>],
    before: &[super::steady::Withheld<'_>],
) -> SteadyScore {
    let mean = |logs: Vec<f64>| (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
    let log =
        |sheet: &super::steady::Withheld<'_>| (sheet.answer.value / sheet.row.figure.value).ln();
    let class_of = |row: &LedgerRow| score::class(&row.drive);
    let null = |sheet: &super::steady::Withheld<'_>| {
        let own = class_of(sheet.row);
        let is_other = |other: &&super::steady::Withheld<'_>| {
            class_of(other.row) == own && other.row.drive.family != sheet.row.drive.family
        };
        let others = made.iter().filter(is_other);
        let median = crate::median(others.map(|other| other.row.figure.value).collect())?;
        Some((median / sheet.row.figure.value).ln().abs())
    };
    let covered = |sheet: &&super::steady::Withheld<'_>| {
        (sheet.answer.low..=sheet.answer.high).contains(&sheet.row.figure.value)
    };
    SteadyScore {
        drives: made.len(),
        error: mean(made.iter().map(|sheet| log(sheet).abs()).collect()),
        bias: mean(made.iter().map(log).collect()),
        coverage: made.iter().filter(covered).count() as f64 / made.len().max(1) as f64,
        before: mean(before.iter().map(|sheet| log(sheet).abs()).collect()),
        class: mean(made.iter().filter_map(null).collect()),
    }
}

fn count_fills(result: &mut HoldOut, ledger: &Ledger, made: &BTreeMap<&str, &FrozenPrediction>) {
    for row in ledger.all_rows() {
        let id = row_id(row);
        let (Some(made), Ok((Question::Fill { figure, .. }, _))) =
            (made.get(id.as_str()), question(row))
        else {
            continue;
        };
        let ratio = made.predicted / row.figure.value;
        let (count, largest) = match figure {
            FillFigure::End(_) => (&mut result.volumes, 1.25),
            FillFigure::Rate(_) | FillFigure::Mean => (&mut result.rates, 1.5),
        };
        count.0 += usize::from(ratio.max(1.0 / ratio) <= largest);
        count.1 += 1;
    }
}

/// How durable writes grow with the number of writers.
fn shape(series: &BTreeMap<u32, f64>) -> &'static str {
    let (Some((_, one)), Some((jobs, last))) = (series.first_key_value(), series.last_key_value())
    else {
        return "none";
    };
    let most = series.values().copied().fold(0.0, f64::max);
    if last / one >= 0.7 * f64::from(*jobs) {
        "linear"
    } else if *last < 0.8 * most {
        "falling"
    } else {
        "saturating"
    }
}

fn shapes(
    ledger: &Ledger,
    made: &BTreeMap<&str, &FrozenPrediction>,
) -> Vec<(String, &'static str, &'static str)> {
    type Series = BTreeMap<u32, f64>;
    let mut devices: BTreeMap<String, (Series, Series)> = BTreeMap::new();
    let rows = ledger.all_rows().iter();
    for row in rows.filter(|r| r.load.is_durable() && r.figure.metric == Metric::WriteIops) {
        let id = row_id(row);
        let (Some(made), Some(jobs)) = (made.get(id.as_str()), row.load.jobs) else {
            continue;
        };
        if jobs > JOBS_MAX {
            continue;
        }
        let sync = row.load.sync.map_or("", |sync| sync.word());
        let block = row.load.block_bytes.unwrap_or(0) >> 10;
        let gb = row.drive.capacity_gb.unwrap_or(0.0);
        // A series is of one drive, as one source measured it.
        let drive = format!("{} {gb} GB", row.drive.family);
        let name = format!("{drive}, {block} KiB {sync} ({})", row.source);
        let (measured, predicted) = devices.entry(name).or_default();
        // The last of several: sources list a short first run and then the series.
        measured.insert(jobs, row.figure.value);
        predicted.insert(jobs, made.predicted);
    }
    devices
        .into_iter()
        .filter(|(_, (measured, _))| measured.len() >= POINTS_MIN)
        .map(|(name, (measured, predicted))| (name, shape(&measured), shape(&predicted)))
        .collect()
}

impl HoldOut {
    /// As Markdown; `prior` is the one of all open families.
    pub fn markdown(&self, prior: &DraftPrior) -> String {
        let mut text = format!(
            "Code {}, rows {}, seed {}. Drafts alone.\n\n",
            prior.code, prior.data, prior.seed
        );
        text += &table("kind of figure", &self.lines);
        text += "\n";
        text += &table("writes, by class", &self.classes);
        let steady = &self.steady;
        text += &format!(
            "\nSteady random writes of {} enterprise sheets, withheld: error {:.2}, bias {:.2}, in \
             80 % {:.0} %; without the prior {:.2}, median of the class {:.2}.\n\n",
            steady.drives,
            steady.error,
            steady.bias,
            100.0 * steady.coverage,
            steady.before,
            steady.class
        );
        text += &format!(
            "pSLC volumes within 25 %: {} of {}. Rates of fills within 1.5 times: {} of {}.\n\n",
            self.volumes.0, self.volumes.1, self.rates.0, self.rates.1
        );
        text += "| durable writes, 1 to 16 jobs | measured | predicted |\n|---|---|---|\n";
        for (name, measured, predicted) in &self.shapes {
            text += &format!("| {name} | {measured} | {predicted} |\n");
        }
        let is_right = |shape: &&(String, &str, &str)| shape.1 == shape.2;
        let is_usual = |shape: &&(String, &str, &str)| shape.1 == "saturating";
        let count =
            |is: &dyn Fn(&&(String, &str, &str)) -> bool| self.shapes.iter().filter(is).count();
        text += &format!(
            "\nShapes right: {} of {}; \"saturating\" alone: {}.\n",
            count(&is_right),
            self.shapes.len(),
            count(&is_usual)
        );
        text
    }
}

fn table(head: &str, lines: &[HoldOutLine]) -> String {
    let mut text = format!(
        "| {head} | rows | drives | error | without prior | bias | in 80 % | class / model | \
         nearest / model | target met |\n|---|---:|---:|---:|---:|---:|---:|---|---|---|\n"
    );
    for line in lines {
        let score = &line.score;
        let null = |null: &Option<score::NullScore>| match null {
            Some(null) => format!("{:.2} / {:.2} ({})", null.error, null.model, null.rows),
            None => "-".to_owned(),
        };
        let before = line.before;
        text += &format!(
            "| {} | {} | {} | {:.2} | {} | {:.2} | {:.0} % | {} | {} | {} |\n",
            score.name,
            score.rows,
            score.drives,
            score.error,
            before.map_or("-".to_owned(), |error| format!("{error:.2}")),
            score.bias,
            100.0 * score.coverage,
            null(&score.class),
            null(&score.nearest),
            met(score)
        );
    }
    text
}

/// Whether a line meets what was set for it: coverage, nulls, and an error where one was set.
fn met(score: &ScoreLine) -> String {
    let mut missed = Vec::new();
    if !(0.75..=0.85).contains(&score.coverage) {
        missed.push("coverage");
    }
    let is_beaten = |null: &Option<score::NullScore>| null.is_some_and(|n| n.error < n.model);
    if is_beaten(&score.class) || is_beaten(&score.nearest) {
        missed.push("null");
    }
    if score.name == "durable writes" && score.error > 2.0 {
        missed.push("error");
    }
    if missed.is_empty() {
        "yes".to_owned()
    } else {
        format!("no: {}", missed.join(", "))
    }
}
