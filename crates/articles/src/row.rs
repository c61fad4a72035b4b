//! A published figure with ours beside it, and the verdict.

use crate::figures::{PublishedFigure, ToleranceRule, with_unit};
use crate::number::number;
use schemars::JsonSchema;
use serde::Serialize;

/// How ours compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FigureVerdict {
    /// Ours is good enough by the figure's rule.
    Met,
    /// It is not.
    Missed,
    /// Another source, or the article itself, contradicts the figure.
    Contradicted,
    /// It cannot be measured yet.
    Pending,
    /// It was not measured: the run was stopped.
    NotRun,
}

impl FigureVerdict {
    /// Every verdict, the best first.
    pub(crate) const ALL: [FigureVerdict; 5] = [
        FigureVerdict::Met,
        FigureVerdict::Missed,
        FigureVerdict::Contradicted,
        FigureVerdict::Pending,
        FigureVerdict::NotRun,
    ];

    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            FigureVerdict::Met => "met",
            FigureVerdict::Missed => "MISSED",
            FigureVerdict::Contradicted => "contradicted",
            FigureVerdict::Pending => "pending",
            FigureVerdict::NotRun => "not run",
        }
    }
}

/// A figure with ours beside it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReproductionRow {
    /// The figure.
    #[serde(flatten)]
    pub figure: PublishedFigure,
    /// Our value, in the figure's unit.
    pub value: Option<f64>,
    /// Ours in words, where the number alone does not say it.
    pub value_text: Option<String>,
    /// ours / published - 1, where both are numbers and the rule is a relative one.
    pub error: Option<f64>,
    /// How it compares.
    pub verdict: FigureVerdict,
    /// What the figure's null model says, where it has one.
    pub null_value: Option<f64>,
}

impl ReproductionRow {
    /// Judges a measured value beside what the null model says.
    pub(crate) fn new(
        figure: PublishedFigure,
        ours: Option<(f64, Option<String>)>,
        null_value: Option<f64>,
    ) -> ReproductionRow {
        let value = ours.as_ref().map(|ours| ours.0);
        let verdict = match (&figure.rule, value) {
            _ if !figure.pending.is_empty() => FigureVerdict::Pending,
            (Some(_), Some(_)) if figure.contradicted.is_some() => FigureVerdict::Contradicted,
            (Some(rule), Some(value)) if rule.holds(figure.published, value) => FigureVerdict::Met,
            (Some(_), Some(_)) => FigureVerdict::Missed,
            _ => FigureVerdict::NotRun,
        };
        let error = match (figure.published, value) {
            (Some(published), Some(value)) if published != 0.0 => Some(value / published - 1.0),
            _ => None,
        };
        ReproductionRow {
            figure,
            value,
            value_text: ours.and_then(|ours| ours.1),
            error,
            verdict,
            null_value,
        }
    }

    /// Whether the null model is good enough by the figure's rule, too.
    pub fn null_meets(&self) -> bool {
        let held = |(rule, null): (ToleranceRule, f64)| rule.holds(self.figure.published, null);
        self.figure.rule.zip(self.null_value).is_some_and(held)
    }

    /// Whether it tests the model: nothing was fitted to it, the null model does not meet it, and
    /// nothing contradicts it.
    pub fn is_test(&self) -> bool {
        self.null_value.is_some() && !self.null_meets() && self.figure.contradicted.is_none()
    }

    /// Why it is not met, as people read it: the contradiction, or the likely reason of a miss.
    /// `None` where it is met, or no reason is known.
    pub fn why(&self) -> Option<String> {
        match (self.verdict, &self.figure.contradicted) {
            (FigureVerdict::Contradicted, Some(contradicted)) => Some(format!(
                "contradicted by {}: {}",
                contradicted.source, contradicted.arithmetic
            )),
            (FigureVerdict::Missed, _) => Some(self.figure.reason.clone()),
            _ => None,
        }
        .filter(|why| !why.is_empty())
    }

    /// What the figure is to the model, as people read it.
    pub fn kind_text(&self) -> &'static str {
        if self.null_meets() {
            "not a test"
        } else {
            self.figure.kind.name()
        }
    }

    /// What the null model says, as people read it.
    pub fn null_text(&self) -> String {
        self.null_value.map_or("-".into(), number)
    }

    /// Ours as people read it.
    pub fn ours_text(&self) -> String {
        match (&self.value_text, self.value) {
            (Some(text), _) => text.clone(),
            (None, Some(value)) => {
                let text = number(value);
                if self.figure.unit.is_empty() {
                    text
                } else {
                    with_unit(&text, &self.figure.unit)
                }
            }
            (None, None) => "-".into(),
        }
    }

    /// The error as people read it.
    pub fn error_text(&self) -> String {
        let exact = |error: f64| error.abs() < 0.0005;
        match (self.error, self.figure.rule) {
            (Some(error), Some(ToleranceRule::Relative(_) | ToleranceRule::Absolute(_)))
                if exact(error) =>
            {
                "0 %".into()
            }
            (Some(error), Some(ToleranceRule::Relative(_))) => format!("{:+.0} %", error * 100.0),
            (Some(_), Some(ToleranceRule::Absolute(_))) => {
                let published = self.figure.published.unwrap_or(0.0);
                let off = self.value.unwrap_or(0.0) - published;
                format!("{off:+.1}")
            }
            (Some(error), Some(ToleranceRule::Between(_))) => format!("{:+.0} %", error * 100.0),
            _ => "-".into(),
        }
    }
}
