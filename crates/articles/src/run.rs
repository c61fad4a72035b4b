//! The experiments that some figures need, over the cores.

use crate::figures::PublishedFigure;
use crate::outcome::{
    AnyExperiment, ExperimentInfo, ExperimentRecord, ExperimentRecords, ExperimentSetup,
};
use crate::registry::{self, EXPERIMENTS};
use crate::row::{FigureVerdict, ReproductionRow};
use serde::Serialize;
use ssdlab_base::{LabError, parallel};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Figures with ours beside them, and all that they rest on.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// Version of the program.
    pub ssdlab: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Ended by the user: some experiments were not run.
    pub stopped: bool,
    /// One per figure asked for.
    pub rows: Vec<ReproductionRow>,
    /// What was run, and what it gave.
    pub experiments: ExperimentRecords,
}

impl Reproduction {
    /// Rows of a verdict.
    pub fn count(&self, verdict: FigureVerdict) -> usize {
        self.rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    }

    /// Independent predictions: those met, and all. See [`ReproductionRow::is_test`].
    pub fn predictions(&self) -> (usize, usize) {
        let judged = |row: &&ReproductionRow| {
            matches!(row.verdict, FigureVerdict::Met | FigureVerdict::Missed)
        };
        let tests = self.rows.iter().filter(|row| row.is_test()).filter(judged);
        let met = tests
            .clone()
            .filter(|row| row.verdict == FigureVerdict::Met);
        (met.count(), tests.count())
    }

    /// Self-checks that failed: `experiment: check: what`. The numbers must then not be believed.
    pub fn failures(&self) -> Vec<String> {
        let failures_of = |(name, record): (&String, &ExperimentRecord)| -> Vec<String> {
            let failed = record.checks.iter().filter_map(|(check, failure)| {
                let why = failure.as_ref()?;
                Some(format!("{name}: {check}: {why}"))
            });
            failed.collect()
        };
        self.experiments.0.iter().flat_map(failures_of).collect()
    }

    /// Self-checks that were made.
    pub fn check_count(&self) -> usize {
        self.experiments
            .0
            .values()
            .map(|record| record.checks.len())
            .sum()
    }
}

/// Settings of a reproduction besides its figures.
#[derive(Clone, Copy, Debug)]
pub struct ReproductionSettings<'a> {
    /// Seed of every random stream.
    pub seed: u64,
    /// Also the experiments that take minutes.
    pub full: bool,
    /// A drive that `ssdlab age` saved, in the place of the life of article worn.
    pub aged: Option<&'a Path>,
}

impl ReproductionSettings<'_> {
    fn leaves_out(&self, experiment: &ExperimentInfo) -> bool {
        experiment.is_long() && !self.full && self.aged.is_none()
    }

    /// What is run of all that `figures` need, the longest first.
    fn todo(&self, figures: &[&PublishedFigure]) -> Vec<&'static dyn AnyExperiment> {
        let needed = |run: &&'static dyn AnyExperiment| {
            let name = run.about().name;
            figures
                .iter()
                .any(|figure| figure.experiments().contains(&name))
        };
        let needed_experiments = EXPERIMENTS.iter().copied().filter(needed);
        let mut experiments: Vec<_> = needed_experiments
            .filter(|run| !self.leaves_out(run.about()))
            .collect();
        experiments.sort_by_key(|run| std::cmp::Reverse(run.about().weight));
        experiments
    }

    /// Number of experiments that are run for `figures`.
    pub fn experiments(&self, figures: &[&PublishedFigure]) -> usize {
        self.todo(figures).len()
    }

    /// The figure as it is judged: pending where it needs an experiment that is left out.
    fn judged(&self, figure: &PublishedFigure) -> PublishedFigure {
        let left_out =
            |name: &&str| registry::named(name).is_some_and(|run| self.leaves_out(run.about()));
        let mut figure = figure.clone();
        if figure.experiments().iter().any(left_out) {
            figure.pending = LEFT_OUT.into();
        }
        figure
    }
}

/// Said of figures that need an experiment that was left out.
const LEFT_OUT: &str = "minutes long: run `ssdlab reproduce worn`";

/// Runs what `figures` need on `threads` threads and judges each. `done` hears of each experiment
/// that has ended, in no certain order; nothing else depends on the number of threads.
///
/// # Errors
/// When an experiment cannot be run. A figure that is missed, or a failed self-check, is not an
/// error: see [`Reproduction::failures`].
pub fn reproduce(
    figures: &[&PublishedFigure],
    settings: &ReproductionSettings<'_>,
    threads: usize,
    stop: &AtomicBool,
    mut on_experiment: impl FnMut(&ExperimentInfo),
) -> Result<Reproduction, LabError> {
    let todo = settings.todo(figures);
    let setup = ExperimentSetup {
        seed: settings.seed,
        stop,
        aged: settings.aged,
    };
    let mut records = BTreeMap::new();
    let mut failed = None;
    let work = |experiment: &&'static dyn AnyExperiment| {
        if stop.load(Ordering::Relaxed) {
            Ok(None)
        } else {
            experiment.run(&setup).map(Some)
        }
    };
    parallel::each(&todo, threads, work, |index, outcome| match outcome {
        Ok(Some(outcome)) => {
            let about = todo[index].about();
            records.insert(about.name.to_owned(), outcome);
            on_experiment(about);
        }
        Ok(None) => {}
        Err(_) if stop.load(Ordering::Relaxed) => {}
        Err(error) => {
            failed = Some(error);
            stop.store(true, Ordering::Relaxed);
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let experiments = ExperimentRecords(records);
    let row = |figure: &&PublishedFigure| {
        let figure = settings.judged(figure);
        let ours = figure.ours(&experiments);
        let null = figure.null_value(&experiments);
        ReproductionRow::new(figure, ours, null)
    };
    Ok(Reproduction {
        ssdlab: env!("CARGO_PKG_VERSION").to_owned(),
        seed: settings.seed,
        stopped: stop.load(Ordering::Relaxed),
        rows: figures.iter().map(row).collect(),
        experiments,
    })
}
