//! The experiments that some figures need, over the cores, and what follows from several of them.

use super::experiment::{ALL, Experiment, Outcome, Setup};
use super::figures::{Figure, Row, Verdict, number};
use serde::Serialize;
use ssdlab_base::LabError;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
    pub rows: Vec<Row>,
    /// What was run, and what it gave.
    pub experiments: BTreeMap<String, Outcome>,
}

impl Reproduction {
    /// Rows of a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    }

    /// Self-checks that failed: `experiment: check: what`. The numbers must then not be believed.
    pub fn failures(&self) -> Vec<String> {
        let of = |(name, outcome): (&String, &Outcome)| -> Vec<String> {
            let failed = outcome.checks.iter().filter_map(|(check, failure)| {
                failure
                    .as_ref()
                    .map(|why| format!("{name}: {check}: {why}"))
            });
            failed.collect()
        };
        self.experiments.iter().flat_map(of).collect()
    }

    /// Self-checks that were made.
    pub fn check_count(&self) -> usize {
        self.experiments
            .values()
            .map(|outcome| outcome.checks.len())
            .sum()
    }
}

/// What a reproduction is told besides its figures.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Seed of every random stream.
    pub seed: u64,
    /// Also the experiments that take minutes.
    pub full: bool,
    /// A drive that `ssdlab age` saved, in the place of the life of article worn.
    pub aged: Option<&'a Path>,
}

impl Settings<'_> {
    fn runs(&self, experiment: &Experiment) -> bool {
        self.full || self.aged.is_some() || !experiment.is_long()
    }

    /// What is run of all that `figures` need, the longest first.
    pub fn experiments(&self, figures: &[&Figure]) -> Vec<&'static Experiment> {
        let mut all = needed(figures);
        all.retain(|experiment| self.runs(experiment));
        all
    }

    /// The figure as it is judged: pending where it needs what is left out.
    fn judged(&self, figure: &Figure) -> Figure {
        let left_out =
            |name: &&str| Experiment::named(name).is_some_and(|experiment| !self.runs(experiment));
        let mut figure = figure.clone();
        if figure.experiments().iter().any(left_out) {
            figure.pending = LEFT_OUT.into();
        }
        figure
    }
}

/// Said of figures that need an experiment that was left out.
const LEFT_OUT: &str = "minutes long: run `ssdlab reproduce worn`";

/// Experiments that `figures` need, the longest first.
pub fn needed(figures: &[&Figure]) -> Vec<&'static Experiment> {
    let mut found: Vec<&Experiment> = ALL
        .iter()
        .filter(|e| {
            figures
                .iter()
                .any(|figure| figure.experiments().contains(&e.name))
        })
        .collect();
    found.sort_by_key(|experiment| std::cmp::Reverse(experiment.weight));
    found
}

/// Runs all that `figures` need; see [`reproduce_with`].
///
/// # Errors
/// As there.
pub fn reproduce(
    figures: &[&Figure],
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
    done: impl Fn(&Experiment) + Sync,
) -> Result<Reproduction, LabError> {
    let settings = Settings {
        seed,
        full: true,
        aged: None,
    };
    reproduce_with(figures, &settings, threads, stop, done)
}

/// Runs what `figures` need on `threads` threads and judges each. `done` hears of each experiment
/// that has ended, in no certain order; nothing else depends on the number of threads.
///
/// # Errors
/// When an experiment cannot be run. A figure that is missed, or a failed self-check, is not an
/// error: see [`Reproduction::failures`].
pub fn reproduce_with(
    figures: &[&Figure],
    settings: &Settings<'_>,
    threads: usize,
    stop: &AtomicBool,
    done: impl Fn(&Experiment) + Sync,
) -> Result<Reproduction, LabError> {
    let todo = settings.experiments(figures);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    let failed: Mutex<Option<LabError>> = Mutex::new(None);
    let setup = Setup {
        seed: settings.seed,
        stop,
        aged: settings.aged,
    };
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let Some(experiment) = todo.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            match experiment.run(&setup) {
                Ok(outcome) => {
                    lock(&found).insert(experiment.name.to_owned(), outcome);
                    done(experiment);
                }
                Err(_) if stop.load(Ordering::Relaxed) => return,
                Err(error) => {
                    *lock(&failed) = Some(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, todo.len().max(1)) {
            scope.spawn(work);
        }
    });
    if let Some(error) = lock(&failed).take() {
        return Err(error);
    }
    let experiments = std::mem::take(&mut *lock(&found));
    let row = |figure: &&Figure| {
        let figure = settings.judged(figure);
        Row::new(&figure, ours(&figure, &experiments))
    };
    Ok(Reproduction {
        ssdlab: env!("CARGO_PKG_VERSION").to_owned(),
        seed: settings.seed,
        stopped: stop.load(Ordering::Relaxed),
        rows: figures.iter().map(row).collect(),
        experiments,
    })
}

/// What a lock holds, also when a thread that held it has panicked: the panic itself goes on.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

type Outcomes = BTreeMap<String, Outcome>;

/// Our value of a figure, and in words where that says more.
fn ours(figure: &Figure, outcomes: &Outcomes) -> Option<(f64, Option<String>)> {
    if !figure.pending.is_empty() {
        return None;
    }
    if let Some(name) = figure.ours.strip_prefix('=') {
        return derived(name, &figure.needs, outcomes);
    }
    let (experiment, measure) = figure.ours.split_once('/')?;
    let outcome = outcomes.get(experiment)?;
    let value = outcome.values.get(measure).copied();
    // An experiment that was run and has no such measure did not see what was looked for.
    let text = outcome.texts.get(measure).cloned();
    Some(match value {
        Some(value) => (value, text),
        None => (f64::NAN, Some("none".into())),
    })
}

/// What follows from several experiments.
fn derived(name: &str, needs: &[String], outcomes: &Outcomes) -> Option<(f64, Option<String>)> {
    let each = |measure: &str| -> Option<Vec<f64>> {
        let one = |need: &String| outcomes.get(need)?.values.get(measure).copied();
        needs.iter().map(one).collect()
    };
    let extreme = |values: Vec<f64>, pick: fn(f64, f64) -> f64| {
        let found = values.into_iter().reduce(pick)?;
        Some((found, None))
    };
    match name {
        "order_710" => {
            let iops = each("iops")?;
            let holds = iops[1] > iops[2] && iops[2] > iops[0];
            let text = format!(
                "200: {}, 300: {}, 100: {}",
                number(iops[1]),
                number(iops[2]),
                number(iops[0])
            );
            Some((f64::from(u8::from(holds)), Some(text)))
        }
        "degrade_early" => extreme(each("minute_11_over_1")?, f64::max),
        "degrade_late" => extreme(each("minute_80_over_1")?, f64::max),
        "degrade_idle" => extreme(each("after_idle_over_before")?, f64::max),
        _ => None,
    }
}

/// Names that [`derived`] knows.
#[cfg(test)]
pub(super) const DERIVED: [&str; 4] =
    ["order_710", "degrade_early", "degrade_late", "degrade_idle"];
