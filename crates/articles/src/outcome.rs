//! An experiment, and its outcome: typed measures, lines to plot, self-checks.

use crate::keys::{ExperimentKey, NoCurves};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_drives::rests_on::RestsOn;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Points of a line, (x, y).
pub type CurvePoints = Vec<(f64, f64)>;

/// Mean of the y of the last `count` points; `None` of an empty line.
pub(crate) fn level(points: &[(f64, f64)], count: usize) -> Option<f64> {
    let last = &points[points.len().saturating_sub(count)..];
    let sum: f64 = last.iter().map(|(_, y)| y).sum();
    (!last.is_empty()).then(|| sum / last.len() as f64)
}

/// Description of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentInfo {
    /// Its name in figures.
    pub name: &'static str,
    /// What is run, in a sentence without its full stop.
    pub what: &'static str,
    /// Roughly how many seconds it takes: the longest are begun first.
    pub weight: u32,
}

impl ExperimentInfo {
    /// Whether it takes minutes: it is run only when a figure of it is asked for by name.
    pub fn is_long(&self) -> bool {
        self.weight >= 1000
    }
}

/// What an experiment needs besides its name.
#[derive(Clone, Copy)]
pub(crate) struct ExperimentSetup<'a> {
    /// Seed of every random stream.
    pub seed: u64,
    /// Set to end early; what is not complete is then not a result.
    pub stop: &'a AtomicBool,
    /// A drive that `ssdlab age` saved, in the place of the life of article worn.
    pub aged: Option<&'a Path>,
}

/// One of the articles' experiments, with the types of its measures and lines.
pub(crate) struct Experiment<M, L = NoCurves> {
    /// Description.
    pub about: ExperimentInfo,
    /// Runs it.
    pub run: fn(&ExperimentSetup<'_>) -> Result<ExperimentOutcome<M, L>, LabError>,
}

/// An experiment of the registry, whatever its measures.
pub(crate) trait AnyExperiment: Sync {
    /// Description.
    fn about(&self) -> &ExperimentInfo;

    /// Names of its measures.
    fn measures(&self) -> Vec<String>;

    /// Runs it. A measure or line that it declares and does not deliver is a failed self-check.
    ///
    /// # Errors
    /// When a drive does not fit in memory, or the run was stopped.
    fn run(&self, setup: &ExperimentSetup<'_>) -> Result<ExperimentRecord, LabError>;
}

impl<M: ExperimentKey, L: ExperimentKey> AnyExperiment for Experiment<M, L> {
    fn about(&self) -> &ExperimentInfo {
        &self.about
    }

    fn measures(&self) -> Vec<String> {
        names::<M>().collect()
    }

    fn run(&self, setup: &ExperimentSetup<'_>) -> Result<ExperimentRecord, LabError> {
        Ok((self.run)(setup)?.finish())
    }
}

fn names<K: ExperimentKey>() -> impl Iterator<Item = String> {
    K::all().into_iter().map(ExperimentKey::name)
}

/// Values over time at equal steps.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ExperimentSeries {
    name: String,
    /// Seconds between points.
    pub step_s: f64,
    /// Values, from time 0.
    pub y: Vec<f64>,
}

/// The outcome of an experiment, as it is kept and written.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ExperimentRecord {
    values: BTreeMap<String, f64>,
    texts: BTreeMap<String, String>,
    series: Vec<ExperimentSeries>,
    curves: BTreeMap<String, CurvePoints>,
    /// Histogram of seek distances: lower bound of the bucket in sectors, count.
    pub(crate) seeks: Vec<(i64, u64)>,
    /// Random share of each interval, %.
    pub(crate) random_pct: Vec<u64>,
    /// Self-checks: name, and what is wrong.
    pub(crate) checks: Vec<(String, Option<String>)>,
    /// Calibrated and assumed values that the drives rest on.
    pub(crate) rests_on: Vec<RestsOn>,
}

/// The outcome of an experiment while it is gathered: it takes the experiment's own measures `M`
/// and lines `L` only.
pub(crate) struct ExperimentOutcome<M, L = NoCurves> {
    /// Everything but measures and lines.
    pub found: ExperimentRecord,
    /// Measures that were looked for and not seen.
    absent: BTreeSet<String>,
    of: PhantomData<(M, L)>,
}

impl<M: ExperimentKey, L: ExperimentKey> ExperimentOutcome<M, L> {
    /// Of drives that rest on these calibrated and assumed values.
    pub fn resting_on(rests_on: Vec<RestsOn>) -> ExperimentOutcome<M, L> {
        ExperimentOutcome {
            found: ExperimentRecord {
                rests_on,
                ..ExperimentRecord::default()
            },
            absent: BTreeSet::new(),
            of: PhantomData,
        }
    }

    /// Of drives that rest on nothing but documents.
    pub fn new() -> ExperimentOutcome<M, L> {
        ExperimentOutcome::resting_on(Vec::new())
    }

    /// Keeps a measure; `None` when it was looked for and not seen.
    pub fn value(&mut self, measure: M, value: impl Into<Option<f64>>) {
        let name = measure.name();
        match value.into() {
            Some(value) => {
                self.found.values.insert(name, value);
            }
            None => {
                self.absent.insert(name);
            }
        }
    }

    /// Keeps a measure in words, beside its number or in its place.
    pub fn text(&mut self, measure: M, text: impl Into<String>) {
        self.found.texts.insert(measure.name(), text.into());
    }

    /// A measure that was kept.
    pub fn get(&self, measure: M) -> Option<f64> {
        self.found.values.get(&measure.name()).copied()
    }

    /// One measure over another, both kept; NaN when one is not there.
    pub fn ratio(&self, over: M, under: M) -> f64 {
        let value_of = |measure| self.get(measure).unwrap_or(f64::NAN);
        value_of(over) / value_of(under)
    }

    /// Keeps a line.
    pub fn curve(&mut self, line: L, points: CurvePoints) {
        self.found.curves.insert(line.name(), points);
    }

    /// Keeps a line over time.
    pub fn series(&mut self, line: L, step_s: f64, y: Vec<f64>) {
        let name = line.name();
        self.found.series.push(ExperimentSeries { name, step_s, y });
    }

    /// Keeps a self-check.
    pub fn check(&mut self, name: impl Into<String>, result: Result<(), String>) {
        self.found.checks.push((name.into(), result.err()));
    }

    /// Everything that was kept, with a failed self-check if a measure or line is missing.
    pub fn finish(mut self) -> ExperimentRecord {
        let record = &self.found;
        let measured = |name: &String| {
            let recorded = record.values.contains_key(name) || record.texts.contains_key(name);
            recorded || self.absent.contains(name)
        };
        let drawn = |name: &String| {
            record.curves.contains_key(name) || record.series.iter().any(|line| line.name == *name)
        };
        let missing = names::<M>().filter(|name| !measured(name));
        let missing: Vec<String> = missing
            .chain(names::<L>().filter(|name| !drawn(name)))
            .collect();
        if !missing.is_empty() {
            let message = format!("declared and not delivered: {}", missing.join(", "));
            self.check("every measure is delivered", Err(message));
        }
        self.found
    }
}

/// What was run, by the names of the experiments.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ExperimentRecords(pub(crate) BTreeMap<String, ExperimentRecord>);

impl ExperimentRecords {
    /// Of an experiment; `None` when it was not run.
    pub(crate) fn record<M, L>(&self, experiment: &Experiment<M, L>) -> Option<&ExperimentRecord> {
        self.0.get(experiment.about.name)
    }

    /// A measure; `None` when it was not seen, or the experiment not run.
    pub(crate) fn value<M: ExperimentKey, L>(
        &self,
        experiment: &Experiment<M, L>,
        measure: M,
    ) -> Option<f64> {
        self.record(experiment)?
            .values
            .get(&measure.name())
            .copied()
    }

    /// A measure in words.
    pub(crate) fn text<M: ExperimentKey, L>(
        &self,
        experiment: &Experiment<M, L>,
        measure: M,
    ) -> Option<&str> {
        Some(self.record(experiment)?.texts.get(&measure.name())?)
    }

    /// A line; empty when the experiment was not run.
    pub(crate) fn curve<M, L: ExperimentKey>(
        &self,
        experiment: &Experiment<M, L>,
        line: L,
    ) -> CurvePoints {
        let points = self
            .record(experiment)
            .and_then(|f| f.curves.get(&line.name()));
        points.cloned().unwrap_or_default()
    }

    /// A line over time, its first point at `from_s`; empty when the experiment was not run.
    pub(crate) fn series<M, L: ExperimentKey>(
        &self,
        experiment: &Experiment<M, L>,
        line: L,
        from_s: f64,
    ) -> CurvePoints {
        let name = line.name();
        let lines = self
            .record(experiment)
            .map_or(&[][..], |record| &record.series);
        let Some(series) = lines.iter().find(|series| series.name == name) else {
            return Vec::new();
        };
        let point = |(i, y): (usize, &f64)| (from_s + i as f64 * series.step_s, *y);
        series.y.iter().enumerate().map(point).collect()
    }

    /// A measure by names that were resolved when the figures were read: its number, and in words
    /// where that says more.
    pub(crate) fn named(&self, experiment: &str, measure: &str) -> Option<(f64, Option<String>)> {
        let record = self.0.get(experiment)?;
        let text = record.texts.get(measure).cloned();
        Some(match record.values.get(measure) {
            Some(value) => (*value, text),
            // It was looked for and not seen: `Outcome::finish` holds that.
            None => (f64::NAN, Some("none".into())),
        })
    }
}

/// The error of an experiment that was stopped.
pub(crate) fn stopped() -> LabError {
    LabError::refused("stopped", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::keys;

    keys! {
        enum Planted {
            Kept = "kept",
            Absent = "absent",
            Forgotten = "forgotten",
        }
    }

    #[test]
    fn a_measure_that_is_declared_and_not_delivered_fails_the_self_check() {
        let run = |forget: bool| {
            let mut outcome: ExperimentOutcome<Planted> = ExperimentOutcome::new();
            outcome.value(Planted::Kept, 1.0);
            outcome.value(Planted::Absent, None);
            if !forget {
                outcome.text(Planted::Forgotten, "in words");
            }
            outcome.finish().checks
        };
        assert!(run(false).is_empty());
        let failed = run(true);
        let why = failed[0].1.as_ref().unwrap();
        assert!(why.ends_with("not delivered: forgotten"), "{why}");
    }
}
