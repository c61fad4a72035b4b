//! What commits of measured drives take beside the programs of the model.
//!
//! A draft runs with commits that take no time of the controller; what is missing to a measured
//! write of a single writer is that time. The limit of many writers is that time too, where each
//! has a flush of its own. How many writes by FUA take it side by side is what several writers gain
//! over one. What the other families then predict for a drive, over what was
//! measured, is how good predictions are.

use super::estimate;
use super::observe::Observation;
use crate::answers::Answers;
use crate::load::{ClosedLoad, Durability, Figure, Question};
use crate::model::protection;
use crate::predict::{ModelTask, tasks};
use ssdlab_base::{LabError, parallel};
use ssdlab_ledger::{LedgerRow, Metric};
use ssdlab_life::draft::Interface;
use ssdlab_life::draft::prior::{DraftPrior, PriorClass, PriorConstant};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// Least time of a commit in ns, volatile and protected: programs alone may take all of what was
/// measured.
const TIME_MIN: f64 = 20_000.0;
const TIME_MIN_PROTECTED: f64 = 1_000.0;
/// Largest block of a durable write from which the time of a commit is taken: the programs of
/// larger ones outweigh it.
const SMALL_BLOCK: u32 = 64 << 10;
/// Writers from which on a rate is taken as the limit of many.
const MANY: u32 = 8;
/// Writers from which on what they gain is taken as the writes that run side by side.
const SEVERAL: u32 = 4;

/// Flushes and writes by FUA of a durable write.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CommitCount {
    flushes: f64,
    fua: f64,
}

impl CommitCount {
    /// Over SATA a write by FUA is a write and a flush; over others protected drives get neither,
    /// and what a write takes that is waited for alone stands as its FUA.
    fn of(load: &ClosedLoad, is_sata: bool, is_protected: bool) -> CommitCount {
        let (flushes, fua) = match (load.sync, is_sata) {
            (Durability::Flush, false) if is_protected => (0.0, 1.0),
            (Durability::Flush, _) | (Durability::Fua, true) => (1.0, 0.0),
            (Durability::Fua, false) => (0.0, 1.0),
            (Durability::Journal, true) => (2.0, 0.0),
            (Durability::Journal, false) => (1.0, 1.0),
            (Durability::FuaJournal, true) => (3.0, 0.0),
            (Durability::FuaJournal, false) => (1.0, 2.0),
            (Durability::None, _) => (0.0, 0.0),
        };
        let sees_flushes = is_sata || !is_protected;
        CommitCount {
            flushes: if sees_flushes { flushes } else { 0.0 },
            fua,
        }
    }
}

/// A measured rate of durable writes, and what the model takes for one without the controller.
struct DurableFigure<'a> {
    row: &'a LedgerRow,
    class: PriorClass,
    load: ClosedLoad,
    count: CommitCount,
    measured_ns: f64,
    without_ns: f64,
}

impl DurableFigure<'_> {
    fn is_single(&self) -> bool {
        self.load.outstanding == 1
    }

    fn observation(&self, constant: PriorConstant, value: f64) -> Observation {
        Observation::of(self.row, self.class, constant, value)
    }

    fn least(&self) -> f64 {
        if self.class.protected {
            TIME_MIN_PROTECTED
        } else {
            TIME_MIN
        }
    }

    /// The time of a commit, where the figure has commits of one kind.
    fn time(&self) -> Option<Observation> {
        let CommitCount { flushes, fua } = self.count;
        let missing = self.measured_ns - self.without_ns;
        let time = |constant, count: f64| Observation {
            beside: self.without_ns / count,
            ..self.observation(constant, (missing / count).max(self.least()))
        };
        if self.is_single() && flushes > 0.0 && fua == 0.0 {
            return Some(time(PriorConstant::FlushTime, flushes));
        }
        if self.is_single() && flushes == 0.0 && fua > 0.0 {
            return Some(time(PriorConstant::FuaTime, fua));
        }
        // Of many flushes none waits for anything else.
        let has_own = self.class.interface != Interface::Sata && !self.class.protected;
        let is_limit = has_own && self.load.sync == Durability::Flush;
        (is_limit && self.load.outstanding >= MANY)
            .then(|| self.observation(PriorConstant::FlushTime, self.measured_ns))
    }

    /// What `prior` predicts over what was measured.
    fn ratio(&self, prior: &DraftPrior) -> Observation {
        let constants = prior.constants(self.class, |_| 0.0);
        let time = |constant| {
            constants
                .get(constant)
                .map_or(0.0, |estimate| estimate.value)
        };
        let predicted_ns = self.without_ns
            + self.count.flushes * time(PriorConstant::FlushTime)
            + self.count.fua * time(PriorConstant::FuaTime);
        let ratio = self.measured_ns / predicted_ns;
        self.observation(PriorConstant::DurableRatio, ratio)
    }
}

/// How many writes by FUA take the controller's time side by side: what many writers gain over one.
fn at_once(many: &DurableFigure<'_>, figures: &[DurableFigure<'_>]) -> Option<Observation> {
    let is_by_fua = many.count.flushes == 0.0 && many.count.fua > 0.0 && !many.class.protected;
    if !is_by_fua || many.load.outstanding < SEVERAL {
        return None;
    }
    let is_one = |one: &&DurableFigure<'_>| {
        one.is_single()
            && one.count == many.count
            && one.load.block == many.load.block
            && one.row.source == many.row.source
            && one.row.drive == many.row.drive
    };
    let one = figures.iter().find(is_one)?;
    let gain = (one.measured_ns / many.measured_ns).max(1.0);
    Some(many.observation(PriorConstant::FuaAtOnce, gain))
}

/// Times of commits, and how good predictions with those of other families are.
pub(super) fn observe(
    rows: &[LedgerRow],
    prior: &DraftPrior,
    stop: &AtomicBool,
) -> Result<Vec<Observation>, LabError> {
    let is_durable = |row: &&LedgerRow| {
        row.load.is_durable()
            && row.figure.metric == Metric::WriteIops
            && protection(&row.drive).is_some()
    };
    let durable: Vec<LedgerRow> = rows.iter().filter(is_durable).cloned().collect();
    // Their sheets stay: models are drafts of them.
    let tasks = tasks(
        &durable,
        rows,
        &|_| String::new(),
        &prior.with_instant_commits(),
    );
    let figures = parallel::all(&tasks, parallel::cores(), |task| of_task(task, stop))?;
    let figures: Vec<DurableFigure<'_>> = figures.into_iter().flatten().collect();
    let mut times: Vec<Observation> = figures.iter().filter_map(DurableFigure::time).collect();
    let families: BTreeSet<&str> = figures
        .iter()
        .map(|figure| figure.row.drive.family.as_str())
        .collect();
    times.extend(figures.iter().filter_map(|many| at_once(many, &figures)));
    let mut ratios = Vec::new();
    for family in families {
        let others = times.iter().filter(|time| time.family != family);
        let others: Vec<Observation> = others.cloned().collect();
        let by_others = DraftPrior {
            classes: estimate::classes(&others),
            ..prior.clone()
        };
        let own = figures.iter().filter(|f| f.row.drive.family == family);
        let single = own.filter(|figure| figure.is_single());
        ratios.extend(single.map(|figure| figure.ratio(&by_others)));
    }
    times.extend(ratios);
    Ok(times)
}

fn of_task<'a>(
    task: &ModelTask<'a>,
    stop: &AtomicBool,
) -> Result<Vec<DurableFigure<'a>>, LabError> {
    let mut answers = Answers::new(&task.model, &task.prior);
    let mut figures = Vec::new();
    let Some(facts) = &task.model.facts else {
        return Ok(figures);
    };
    let class = PriorClass::of(facts);
    for asked in &task.asked {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused("stopped", ""));
        }
        let Question::Run { state, load, .. } = asked.question else {
            continue;
        };
        if load.read_pct > 0 || load.block > SMALL_BLOCK {
            continue;
        }
        let without_ns = if load.outstanding == 1 {
            match answers.of_median(state, load, Figure::Durable(None)) {
                Ok(without) => without * 1e3,
                Err(_) => continue,
            }
        } else {
            0.0
        };
        figures.push(DurableFigure {
            row: asked.row,
            class,
            load,
            count: CommitCount::of(&load, task.model.is_sata, class.protected),
            measured_ns: 1e9 / asked.row.figure.value,
            without_ns,
        });
    }
    Ok(figures)
}
