//! The published figures, where ours comes from, and the rules by which it is judged.

use crate::experiments::rw80::run::{CrossDriveMeasure, DRIVES};
use crate::number::number;
use crate::outcome::{AnyExperiment, ExperimentRecords};
use crate::published::FILES;
use crate::registry::{self, EXPERIMENTS};
use crate::story::begins;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use std::sync::LazyLock;

/// Relation of a published figure to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureBasis {
    /// The drive or the host was fitted to it.
    Calibrated,
    /// Nothing was fitted to it.
    Predicted,
    /// A claim without a number.
    Shape,
    /// Follows from other published numbers.
    Arithmetic,
    /// A fact that the catalogue carries.
    Documented,
    /// A difference that wear as the model knows it does not make: something else was changed
    /// between the two measurements, too.
    NotWear,
    /// Of a mechanism that no source confirms, off in every drive; counts as no prediction.
    Hypothesis,
}

impl FigureBasis {
    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            FigureBasis::Calibrated => "calibrated",
            FigureBasis::Predicted => "predicted",
            FigureBasis::Shape => "shape",
            FigureBasis::Arithmetic => "arithmetic",
            FigureBasis::Documented => "documented",
            FigureBasis::NotWear => "not wear",
            FigureBasis::Hypothesis => "hypothesis",
        }
    }
}

/// When ours is as good as the published number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToleranceRule {
    /// Off by at most this share of the published number.
    Relative(f64),
    /// Off by at most this, in the figure's unit.
    Absolute(f64),
    /// From the first to the second.
    Between([f64; 2]),
    /// Not above.
    AtMost(f64),
    /// Not below.
    AtLeast(f64),
}

impl ToleranceRule {
    /// Whether `ours` is good enough beside `published`.
    pub fn holds(self, published: Option<f64>, ours: f64) -> bool {
        let off = published.map(|published| (ours - published).abs());
        match self {
            ToleranceRule::Relative(share) => published
                .zip(off)
                .is_some_and(|(published, off)| off <= share * published.abs()),
            ToleranceRule::Absolute(most) => off.is_some_and(|off| off <= most),
            ToleranceRule::Between([low, high]) => (low..=high).contains(&ours),
            ToleranceRule::AtMost(most) => ours <= most,
            ToleranceRule::AtLeast(least) => ours >= least,
        }
    }

    /// In words.
    pub fn text(self) -> String {
        match self {
            ToleranceRule::Relative(share) => format!("within {} %", number(share * 100.0)),
            ToleranceRule::Absolute(0.0) => "the same".into(),
            ToleranceRule::Absolute(most) => format!("within {}", number(most)),
            ToleranceRule::Between([low, high]) => format!("{} to {}", number(low), number(high)),
            ToleranceRule::AtMost(most) => format!("at most {}", number(most)),
            ToleranceRule::AtLeast(least) => format!("at least {}", number(least)),
        }
    }
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigure {
    /// Id in the list of published figures; several rows may share one.
    pub id: String,
    /// Which of the id's numbers it is; empty when there is one.
    #[serde(default)]
    pub what: String,
    /// The published number.
    pub published: Option<f64>,
    /// How it was worded, where it was no plain number.
    #[serde(default)]
    pub text: String,
    /// Unit of both numbers.
    #[serde(default)]
    pub unit: String,
    /// What it is to the model.
    pub kind: FigureBasis,
    /// `experiment/measure`, or `=name` for what follows from all of `needs`.
    #[serde(default)]
    pub ours: String,
    /// Experiments of a `=name`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Condition under which ours is good enough; `None` while pending.
    pub rule: Option<ToleranceRule>,
    /// What a model without the mechanism would say; predicted figures have one, and no others.
    pub null: Option<NullModel>,
    /// Likely reason of a miss.
    #[serde(default)]
    pub reason: String,
    /// What a reader should know in any case.
    #[serde(default)]
    pub note: String,
    /// What must exist before ours can be measured; empty when it can.
    #[serde(default)]
    pub pending: String,
    /// Why the figure cannot hold, where another source or the article itself contradicts it.
    pub contradicted: Option<FigureContradiction>,
    /// `ours` and `needs`, resolved.
    #[serde(skip)]
    source: FigureSource,
}

/// What a figure contradicts. The row then counts neither as met nor as a prediction, whatever ours
/// is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureContradiction {
    /// Where the facts are that it contradicts.
    pub source: String,
    /// How they contradict it, in numbers.
    pub arithmetic: String,
}

impl FigureContradiction {
    /// Whether it names a source, and numbers of both sides.
    fn is_argued(&self) -> bool {
        let numbers = self.arithmetic.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter(|digits| !digits.is_empty()).count();
        !self.source.trim().is_empty() && numbers >= 2
    }
}

/// A model that knows nothing of what a figure is about.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NullModel {
    /// Its name.
    pub model: String,
    /// What it says, in the figure's unit; `None`: `ours` says it.
    pub value: Option<f64>,
    /// The `experiment/measure` that says it; empty: `value` does.
    #[serde(default)]
    pub ours: String,
    #[serde(skip)]
    source: FigureSource,
}

impl NullModel {
    /// What it says; `None` when what it needs was not run.
    fn result(&self, records: &ExperimentRecords) -> Option<f64> {
        self.value
            .or_else(|| self.source.value(records).map(|(value, _)| value))
    }
}

/// Where ours comes from.
#[derive(Clone, Debug, Default, PartialEq)]
enum FigureSource {
    /// Nowhere yet.
    #[default]
    Pending,
    /// A measure of an experiment.
    Measure {
        experiment: &'static str,
        measure: String,
    },
    /// Several drives of the 80-minute experiment, as indices.
    Combined(CrossDriveMeasure, Vec<usize>),
}

impl FigureSource {
    fn value(&self, records: &ExperimentRecords) -> Option<(f64, Option<String>)> {
        match self {
            FigureSource::Pending => None,
            FigureSource::Measure {
                experiment,
                measure,
            } => records.named(experiment, measure),
            FigureSource::Combined(combined, drives) => {
                let drives: Vec<_> = drives.iter().map(|n| DRIVES[*n]).collect();
                combined.of(&drives, records)
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FiguresFile {
    figure: Vec<PublishedFigure>,
}

/// Reads the figures of the file `name` and resolves their names.
///
/// # Errors
/// When the text is no list of figures, or names an experiment or a measure that does not exist:
/// the error says which exist.
fn parse(name: &str, text: &str) -> Result<Vec<PublishedFigure>, LabError> {
    let file: FiguresFile = toml::from_str(text)
        .map_err(|error| LabError::refused(format!("published/{name}.toml: {error}"), ""))?;
    let mut figures = file.figure;
    for figure in &mut figures {
        figure.source = figure.resolve(&figure.ours)?;
        let null = figure.null.clone().map(|null| match null.value {
            Some(_) => Ok(null),
            None => Ok(NullModel {
                source: figure.resolve(&null.ours)?,
                ..null
            }),
        });
        figure.null = null.transpose()?;
        if figure.null.is_some() != (figure.kind == FigureBasis::Predicted) {
            let message = format!("figure {} {}: `null`", figure.id, figure.what);
            let hint = "a predicted figure has a null model, and no other has one";
            return Err(LabError::refused(message, hint));
        }
        if !figure
            .contradicted
            .iter()
            .all(FigureContradiction::is_argued)
        {
            let message = format!("figure {} {}: `contradicted`", figure.id, figure.what);
            let hint = "a contradiction has a source, and arithmetic with numbers of both sides";
            return Err(LabError::refused(message, hint));
        }
    }
    Ok(figures)
}

static FIGURES: LazyLock<Vec<PublishedFigure>> = LazyLock::new(|| {
    let figures = FILES.map(|(name, text)| parse(name, text));
    let figures: Result<Vec<_>, LabError> = figures.into_iter().collect();
    let figures = figures.unwrap_or_else(|error| panic!("{error}; {}", error.hint()));
    figures.concat()
});

/// All figures, in the order of the articles.
pub fn all() -> &'static [PublishedFigure] {
    &FIGURES
}

impl PublishedFigure {
    /// Names of the experiments that it needs.
    pub fn experiments(&self) -> Vec<&'static str> {
        match &self.source {
            _ if !self.pending.is_empty() => Vec::new(),
            FigureSource::Pending => Vec::new(),
            FigureSource::Measure { experiment, .. } => vec![experiment],
            FigureSource::Combined(_, drives) => {
                drives.iter().map(|n| DRIVES[*n].about.name).collect()
            }
        }
    }

    /// Our value, and in words where that says more; `None` when what it needs was not run.
    pub(crate) fn ours(&self, records: &ExperimentRecords) -> Option<(f64, Option<String>)> {
        if self.pending.is_empty() {
            self.source.value(records)
        } else {
            None
        }
    }

    /// What the null model says.
    pub(crate) fn null_value(&self, records: &ExperimentRecords) -> Option<f64> {
        self.null.as_ref()?.result(records)
    }

    fn resolve(&self, ours: &str) -> Result<FigureSource, LabError> {
        if !self.pending.is_empty() {
            return Ok(FigureSource::Pending);
        }
        let unknown = |what: &str, given: &str, mut allowed: Vec<String>| {
            allowed.sort_unstable();
            let message = format!("figure {}: there is no {what} `{given}`", self.id);
            LabError::refused(message, format!("there are {}", allowed.join(", ")))
        };
        if let Some(name) = ours.strip_prefix('=') {
            let names = || {
                CrossDriveMeasure::NAMES
                    .iter()
                    .map(|(name, _)| (*name).to_owned())
            };
            let combined = CrossDriveMeasure::NAMES
                .iter()
                .find(|known| known.0 == name);
            let combined = combined
                .ok_or_else(|| unknown("combined figure", name, names().collect()))?
                .1;
            let drive = |need: &String| {
                let index = DRIVES.iter().position(|drive| drive.about.name == need);
                let names = DRIVES.iter().map(|drive| drive.about.name.to_owned());
                index.ok_or_else(|| unknown("80-minute experiment", need, names.collect()))
            };
            let drives: Result<Vec<usize>, LabError> = self.needs.iter().map(drive).collect();
            return Ok(FigureSource::Combined(combined, drives?));
        }
        let (name, measure) = ours.split_once('/').unwrap_or((ours, ""));
        let names = || EXPERIMENTS.iter().map(|run| run.about().name.to_owned());
        let experiment: &dyn AnyExperiment =
            registry::named(name).ok_or_else(|| unknown("experiment", name, names().collect()))?;
        let measures = experiment.measures();
        if !measures.iter().any(|known| known == measure) {
            return Err(unknown("measure", ours, measures));
        }
        Ok(FigureSource::Measure {
            experiment: experiment.about().name,
            measure: measure.to_owned(),
        })
    }

    /// The published figure as people read it.
    pub fn published_text(&self) -> String {
        let value = || self.published.map_or(String::new(), number);
        let text = if self.text.is_empty() {
            value()
        } else {
            self.text.clone()
        };
        if self.unit.is_empty() || self.text.contains(' ') && self.published.is_none() {
            text
        } else {
            with_unit(&text, &self.unit)
        }
    }
}

/// `text` with its unit behind it, where it ends in a number.
pub(crate) fn with_unit(text: &str, unit: &str) -> String {
    if text.ends_with(|c: char| c.is_ascii_digit() || c == '+') {
        format!("{text} {unit}")
    } else {
        text.to_owned()
    }
}

/// The figures that `wanted` names: ids, articles, or the beginning of ids up to a dot. All of
/// them when nothing is named.
///
/// # Errors
/// When a name is not among these.
pub fn select(selection: &[String]) -> Result<Vec<&'static PublishedFigure>, LabError> {
    let names = |figure: &PublishedFigure, name: &str| begins(&figure.id, name);
    if let Some(unknown) = selection
        .iter()
        .find(|name| !all().iter().any(|figure| names(figure, name)))
    {
        return Err(unknown_id(unknown));
    }
    let chosen = |figure: &&PublishedFigure| {
        selection.is_empty() || selection.iter().any(|name| names(figure, name))
    };
    Ok(all().iter().filter(chosen).collect())
}

/// Ids without their repetitions, in order.
pub fn ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = all().iter().map(|figure| figure.id.as_str()).collect();
    ids.dedup();
    ids
}

fn unknown_id(name: &str) -> LabError {
    let article = name.split('.').next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    let same = |id: &&str| id.split('.').next() == Some(article);
    let mut near: Vec<&str> = ids()
        .into_iter()
        .filter(|id| !last.is_empty() && id.contains(last))
        .collect();
    if near.is_empty() {
        near = ids().into_iter().filter(same).collect();
    }
    near.truncate(5);
    let hint = if near.is_empty() {
        "`ssdlab reproduce --list` shows all".to_owned()
    } else {
        format!(
            "such as {}; `ssdlab reproduce --list` shows all",
            near.join(", ")
        )
    };
    let allowed = "an id of a published figure, the beginning of ids (zil.rw80), or an article \
                   (s2d, zil, spare, myth, worn) is allowed";
    LabError::bad_option("ID", name, allowed, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(ours: &str, needs: &str) -> LabError {
        let text = format!(
            "[[figure]]\nid = \"zil.rw80\"\nkind = \"predicted\"\nours = \"{ours}\"\nneeds = \
             [{needs}]\nrule = {{ at_least = 1 }}\n"
        );
        parse("planted", &text).unwrap_err()
    }

    #[test]
    fn a_contradiction_without_a_source_or_numbers_is_refused() {
        let read = |source: &str, arithmetic: &str| {
            let text = format!(
                "[[figure]]\nid = \"zil.rw80\"\nkind = \"shape\"\nours = \"facts/hk4e\"\nrule = {{ \
                 at_least = 1 }}\ncontradicted = {{ source = \"{source}\", arithmetic = \
                 \"{arithmetic}\" }}\n"
            );
            parse("planted", &text)
        };
        assert!(read("Micron L74A", "256 pages, not 128").is_ok());
        for (source, arithmetic) in [
            ("", "256 pages, not 128"),
            ("Micron L74A", ""),
            ("Micron L74A", "more pages than 128"),
        ] {
            let error = read(source, arithmetic).unwrap_err();
            assert!(
                error.hint().contains("source"),
                "{source}, {arithmetic}: {error}"
            );
        }
    }

    #[test]
    fn a_misspelt_name_is_an_error_that_says_which_exist() {
        for (ours, needs, allowed) in [
            (
                "zil.one/sek_zero",
                "",
                "random_mean, seek_distance, seek_zero",
            ),
            ("zil.one", "", "seek_zero"),
            ("zil.won/seek_zero", "", "zil.five, zil.one"),
            (
                "=degrade_erly",
                "\"rw80.x1\"",
                "degrade_early, degrade_idle",
            ),
            ("=degrade_early", "\"rw80.x2\"", "rw80.710_300, rw80.x1"),
        ] {
            let error = planted(ours, needs);
            assert!(error.to_string().contains("there is no"), "{error}");
            assert!(error.hint().contains(allowed), "{}", error.hint());
        }
    }
}
